"""How long a server stays busy with one call after a cancel: ``with_servers.py python busy.py POSTGRES MARIADB``.

Each statement below is one call on text made for the purpose. It is sent without sqljury's checks and stopped by the
server's own time limit of one second, which is the signal that a cancel sends; what counts is how late it ends. A
call that does not end within the patience is left behind, and the server with it when it is stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import time
from typing import Any

from sqljury.db.mysql_url import read_url

TEXT = "repeat('a', 5000000)"
HALF = "repeat('a', 2500000) || 'b'"
NUMBERS = "concat('[', repeat('1,', 100000), '1]')"
OTHERS = "concat('[', repeat('2,', 100000), '2]')"
POSTGRES = {
    "normalize": "SELECT length(normalize(repeat(U&'\\0301\\0327', 300000), NFC))",
    "translate": f"SELECT length(translate({TEXT}, repeat('b', 1000000), ''))",
    "btrim": f"SELECT length(btrim({TEXT}, repeat('b', 1000000) || 'a'))",
    "ltrim": f"SELECT length(ltrim({TEXT}, repeat('b', 1000000) || 'a'))",
    "strpos": f"SELECT strpos({TEXT}, {HALF})",
    "position": f"SELECT position(({HALF}) IN {TEXT})",
    "replace": f"SELECT length(replace({TEXT}, {HALF}, ''))",
    "split_part": f"SELECT length(split_part({TEXT}, {HALF}, 2))",
    "string_to_array": f"SELECT cardinality(string_to_array({TEXT}, {HALF}))",
    "regexp_replace": "SELECT length(regexp_replace(repeat('a', 300000), '(a*)*b', ''))",
    "like": f"SELECT {TEXT} LIKE '%' || repeat('a%', 1000) || 'b'",
    "array @> array": "SELECT (SELECT array_agg(x) FROM generate_series(1, 200000) x) <@ "
    "(SELECT array_agg(-x) || array_agg(x) FROM generate_series(1, 200000) x)",
    "array && array": "SELECT (SELECT array_agg(x) FROM generate_series(1, 200000) x) && "
    "(SELECT array_agg(-x) FROM generate_series(1, 200000) x)",
    "jsonb @> jsonb": "SELECT (SELECT jsonb_agg(jsonb_build_array(x)) FROM generate_series(1, 30000) x) @> "
    "(SELECT jsonb_agg(jsonb_build_array(-x)) FROM generate_series(1, 30000) x)",
    "to_tsvector": "SELECT length(to_tsvector('english', repeat('abc def ', 20000000)))",
    "ts_headline": "SELECT length(ts_headline(repeat('abc def ', 500000), 'abc & def'::tsquery))",
    "md5": "SELECT md5(repeat('a', 1000000000))",
    "upper": "SELECT length(upper(repeat('é', 400000000)))",
    "reverse": "SELECT length(reverse(repeat('é', 400000000)))",
    "factorial": "SELECT length(factorial(30000)::text)",
    "power": "SELECT length(power(1.000000000001::numeric(1000, 900), 12345.678::numeric(1000, 900))::text)",
    "numeric * numeric": "SELECT length((repeat('9', 130000)::numeric * repeat('9', 130000)::numeric(1000))::text)",
    "string_agg": "SELECT length(string_agg(repeat('a', 1000), ',')) FROM generate_series(1, 900000)",
    "array_fill": "SELECT cardinality(array_fill(1, ARRAY[130000000]))",
    "format": "SELECT length(format('%1000000000s', 'a'))",
    "lpad": "SELECT length(lpad('a', 1000000000, 'bc'))",
}
MARIADB = {
    "replace": "SELECT length(replace(repeat('a', 8000000), concat(repeat('a', 4000000), 'b'), ''))",
    "locate": "SELECT locate(concat(repeat('a', 4000000), 'b'), repeat('a', 8000000))",
    "instr": "SELECT instr(repeat('a', 8000000), concat(repeat('a', 4000000), 'b'))",
    "substring_index": "SELECT length(substring_index(repeat('a', 8000000), concat(repeat('a', 4000000), 'b'), 1))",
    "trim": "SELECT length(trim(BOTH concat(repeat('a', 4000), 'b') FROM repeat('a', 8000000)))",
    "find_in_set": "SELECT find_in_set(repeat('a', 4000000), repeat(concat(repeat('a', 4000), ','), 3000))",
    "regexp_replace": "SELECT length(regexp_replace(repeat('a', 30000), '(a*)*b', ''))",
    "like": "SELECT repeat('a', 400000) LIKE concat(repeat('%a', 20000), '%b')",
    "json_contains": f"SELECT json_contains({NUMBERS}, {OTHERS})",
    "json_overlaps": f"SELECT json_overlaps({NUMBERS}, {OTHERS})",
    "json_merge_patch": "SELECT length(json_merge_patch(concat('{', repeat('\"a\":1,', 100000), '\"b\":1}'), "
    "concat('{', repeat('\"c\":1,', 100000), '\"b\":1}')))",
    "json_search": "SELECT length(json_search(concat('[', repeat('\"aaaaaaaaaa\",', 500000), '1]'), "
    "'all', '%a%a%a%b'))",
    "json_normalize": "SELECT length(json_normalize(concat('{', repeat('\"a\":1,', 300000), '\"b\":1}')))",
    "soundex": "SELECT length(soundex(repeat('ab', 4000000)))",
    "natural_sort_key": "SELECT length(natural_sort_key(repeat('1a', 4000000)))",
    "sha2": "SELECT sha2(repeat('a', 16000000), 512)",
    "reverse": "SELECT length(reverse(repeat('é', 8000000)))",
    "weight_string": "SELECT length(weight_string(repeat('é', 4000000)))",
    "conv": "SELECT conv(repeat('1', 16000000), 10, 2)",
    "group_concat": "SELECT length(group_concat(seq)) FROM seq_1_to_10000000",
    "lpad": "SELECT length(lpad('a', 16000000, 'bc'))",
}


def main() -> None:
    """Print a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("urls", nargs="+", metavar="URL", help="a server, as for sqljury --db")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds to wait for a call (default 30)")
    options = parser.parse_args()
    for url in options.urls:
        engine = "postgres" if url.startswith("postgres") else "mariadb"
        for name, sql in (POSTGRES if engine == "postgres" else MARIADB).items():
            print(f"{engine:<10} {name:<18} {busy(url, engine, sql, options.patience)}", flush=True)


def busy(url: str, engine: str, sql: str, patience: float) -> str:
    """How the call ended, and how long after its limit of one second."""
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(_ended(url, engine, sql)), daemon=True)
    start = time.monotonic()
    thread.start()
    thread.join(1.0 + patience)
    late = max(time.monotonic() - start - 1.0, 0.0)
    return f"{late:>6.1f} s  {said[0][:60]}" if said else f"> {late:>4.0f} s"


def _ended(url: str, engine: str, sql: str) -> str:
    try:
        with contextlib.closing(_connect(url, engine)) as connection, connection.cursor() as cursor:
            limit = "statement_timeout = 1000" if engine == "postgres" else "max_statement_time = 1"
            cursor.execute(f"SET {limit}")
            cursor.execute(sql)
            cursor.fetchall()
    except Exception as error:  # of either driver
        return str(error).splitlines()[0]
    return "answered"


def _connect(url: str, engine: str) -> Any:
    if engine == "postgres":
        import psycopg

        return psycopg.connect(url, autocommit=True)
    import pymysql

    return pymysql.connect(**read_url(url, ()).arguments(), charset="utf8mb4")


if __name__ == "__main__":
    main()
