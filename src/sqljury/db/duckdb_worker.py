"""What runs in a process of its own: DuckDB, behind its own walls, one query at a time.

Orders come as lines of JSON on standard input, replies go out as lines of JSON. A process, because one call of a
function in DuckDB can take minutes and gigabytes without looking whether it was interrupted; a process can be ended,
and the system limits its memory. It may be running hostile data, so nothing it says is ever unpickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any, Final

from sqljury.db.worker_process import limit_process
from sqljury.parallel.bare import BARE, PACKAGE

if TYPE_CHECKING:
    import duckdb

Reply = dict[str, Any]

_FIRST_ROWS: Final = 64
_CHUNK_ROWS: Final = 1024
_ROW_LIST_BYTES: Final = 8
_PLAIN: Final = re.compile(
    r'(BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|BLOB|"NULL"|ENUM\(.*\)|JSON)',
    re.DOTALL,
)
_NESTED: Final = re.compile(r".*\]|(STRUCT|MAP|UNION|TUPLE)\(.*\)|STRUCT|VARIANT", re.DOTALL)
_PLACE: Final = re.compile(r"\n+LINE \d+:.*", re.DOTALL)
_ADVICE: Final = re.compile(r"\n+Possible solutions:.*", re.DOTALL)
_READ_ONLY: Final = ("read-only", "read only", "has been locked", "disabled by configuration", "disabled through")
_SCHEMAS: Final = (
    "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() "
    "AND schema_name NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"
)
_MACROS: Final = "SELECT DISTINCT function_name FROM system.main.duckdb_functions() WHERE NOT internal"
"""With its schema, or a macro ``duckdb_functions`` of the database would answer, and leave itself out."""


def main(build: Callable[[Reply], Reply] | None = None) -> None:
    """Serve orders until standard input ends, which it does with the process that started this one.

    With ``build``, which replies to every order, it serves no queries.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # nothing that a library prints may get between the replies
    os.dup2(silence, 2)
    orders: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    server = _Server(build)
    reader = threading.Thread(target=_read, args=(sys.stdin.buffer, orders, server.interrupt), daemon=True)
    reader.start()
    while True:
        reply = server.serve(orders.get())
        replies.write(json.dumps(reply, ensure_ascii=True, default=_encode) + "\n")
        replies.flush()


def _read(source: IO[bytes], orders: queue.SimpleQueue[Reply], interrupt: Callable[[], None]) -> None:
    for line in source:
        order = json.loads(line)
        if "interrupt" in order:
            interrupt()
        else:
            orders.put(order)
    os._exit(0)


def _encode(value: Any) -> Any:
    """What JSON has no form for: bytes, and what a later DuckDB may give."""
    return {"bytes": value.hex()} if isinstance(value, bytes | bytearray | memoryview) else str(value)


class _Server:
    def __init__(self, build: Callable[[Reply], Reply] | None) -> None:
        self._build = build
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._cursor: duckdb.DuckDBPyConnection | None = None
        self._search_path = ""

    def interrupt(self) -> None:
        """Ask the running query to end; called from the thread that reads orders."""
        cursor = self._cursor
        if cursor is not None:
            cursor.interrupt()

    def serve(self, order: Reply) -> Reply:
        """The reply to one order, whatever goes wrong with it."""
        try:
            if "process_bytes" in order:
                limit_process(order["process_bytes"], order["file_bytes"])
            if self._build is not None:
                return self._build(order)
            return {"ok": True, "macros": self._open(order)} if "open" in order else self._query(order)
        except MemoryError:
            return {"kind": "memory", "message": "out of memory"}
        except Exception as error:  # DuckDB's own classes among them; the process must outlive them all
            return explain(error)

    def _open(self, order: Reply) -> list[str]:
        import duckdb

        deadline = time.monotonic() + order["lock_seconds"]
        while True:
            try:
                self._connection = duckdb.connect(order["open"], read_only=True, config=order["config"])
                break
            except duckdb.IOException as error:
                if not is_lock(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(0.05)
        restrict(self._connection, order["files"])
        self._search_path = order["search_path"]
        schemas = self._connection.execute(_SCHEMAS).fetchall()  # a damaged catalogue shows itself here, too
        known = [name for (name,) in schemas]
        for schema in order["schemas"]:
            if schema not in known:
                raise _NoSchemaError(f"has no schema {schema!r}; it has {', '.join(known)}")
        return [name for (name,) in self._connection.execute(_MACROS).fetchall()]

    def _query(self, order: Reply) -> Reply:
        """Run one query on a cursor of its own, inside a transaction that may only read and is never committed."""
        if self._connection is None:
            raise RuntimeError("no database was opened")
        cursor = self._connection.cursor()
        self._cursor = cursor
        try:
            if self._search_path:
                cursor.execute(f"SET search_path = {literal(self._search_path)}")
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            sql, columns = order["sql"], None
            if not order["trusted"]:
                sql = single_select(cursor, sql)
            if not order["parameters"]:
                columns, sql = readable(cursor, sql)
            cursor.execute(sql, order["parameters"])
            return _fetch(cursor, columns, order)
        finally:
            self._cursor = None
            with contextlib.suppress(Exception):  # it holds nothing worth keeping
                cursor.close()


def literal(text: str) -> str:
    """The text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def restrict(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    """Shut it off from all files but these; DuckDB takes this only once it runs, before a database's own SQL does."""
    connection.execute(f"SET allowed_paths = [{', '.join(literal(path) for path in files)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def single_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> str:
    """The statement without what ends it; raises unless DuckDB's own parser, too, sees one SELECT."""
    statements = cursor.extract_statements(sql)
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        raise _RefusedError("only one SELECT at a time is allowed; write one SELECT")
    return statements[0].query.rstrip().rstrip(";")


def readable(cursor: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], str]:
    """The column names of a query, and the query with every column in a form that is a plain cell.

    Dates, times and intervals become text as DuckDB writes it, lists, structs and maps JSON, FLOAT the shortest
    number that it stands for.
    """
    described = cursor.execute(f"DESCRIBE {sql}").fetchall()
    forms = [_form(number, kind) for number, (_, kind, *_) in enumerate(described, 1)]
    names = [str(row[0]) for row in described]
    if all(form.startswith("#") for form in forms):
        return names, sql
    return names, f"SELECT {', '.join(forms)} FROM (\n{sql}\n) AS answer"  # noqa: S608


def _form(number: int, kind: str) -> str:
    if _PLAIN.fullmatch(kind):
        return f"#{number}"
    if kind == "FLOAT":
        return f"CAST(CAST(#{number} AS VARCHAR) AS DOUBLE)"
    if _NESTED.fullmatch(kind):
        return f"CAST(to_json(#{number}) AS VARCHAR)"
    return f"CAST(#{number} AS VARCHAR)"


def _fetch(cursor: duckdb.DuckDBPyConnection, columns: list[str] | None, order: Reply) -> Reply:
    rows: list[list[Any]] = []
    size, chunk = 0, _FIRST_ROWS
    names = columns or [str(column[0]) for column in cursor.description or ()]
    while batch := cursor.fetchmany(min(chunk, order["rows"] - len(rows) + 1)):
        for row in batch:
            if len(rows) >= order["rows"]:
                return {"columns": names, "rows": rows, "truncated": True}
            cells = [plain(cell) for cell in row]
            size += sum(len(cell) if isinstance(cell, str | bytes) else _ROW_LIST_BYTES for cell in cells)
            if size > order["bytes"]:
                reason = f"the rows take more than {order['bytes']} bytes; select fewer columns or rows"
                return {"kind": "limit", "message": reason}
            rows.append(cells)
        chunk = _CHUNK_ROWS
    return {"columns": names, "rows": rows, "truncated": False}


def plain(cell: Any) -> Any:
    """A cell as ``types.Cell`` has it: a decimal number is an int where it has no point, else the nearest float."""
    if cell is None or isinstance(cell, str | int | float | bytes):
        return cell
    if isinstance(cell, Decimal):
        return float(cell) if cell.as_tuple().exponent else int(cell)
    return bytes(cell) if isinstance(cell, bytearray | memoryview) else str(cell)


class _NoSchemaError(Exception):
    """A schema was asked for that is not there."""


class _RefusedError(Exception):
    """The statement is not a plain read."""


def is_lock(error: Exception) -> bool:
    """Whether another process holds the file."""
    return "Could not set lock" in str(error) or "being used by another process" in str(error)


def explain(error: Exception) -> Reply:
    """Why an order failed, as a kind and a message."""
    name = type(error).__name__
    message = _ADVICE.sub("", _PLACE.sub("", str(error)))
    if isinstance(error, _RefusedError):
        return {"kind": "refused", "message": message}
    if isinstance(error, _NoSchemaError):
        return {"kind": "schema", "message": message}
    if name == "InterruptException":
        return {"kind": "interrupted", "message": "stopped"}
    if is_lock(error):
        return {"kind": "locked", "message": message}
    if name in ("OutOfMemoryException", "MemoryError"):
        return {"kind": "memory", "message": message}
    if name == "PermissionException" or any(words in message for words in _READ_ONLY):
        return {"kind": "refused", "message": message}
    if name == "ModuleNotFoundError":
        return {"kind": "missing", "message": message}
    if name in ("FatalException", "InternalException", "IOException", "SerializationException"):
        return {"kind": "database", "message": message}
    return {"kind": "sql", "message": message}


def arguments(paths: Sequence[str], module: str = "duckdb_worker") -> list[str]:
    """The command line that runs ``main`` of a module of ``db`` in a Python without the user's start-up files."""
    code = (
        f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); {BARE}; from sqljury.db.{module} import main; main()"
    )
    return [sys.executable, "-I", "-c", code, json.dumps(list(paths)), PACKAGE]
