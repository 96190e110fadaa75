"""Makes a small database with a view for each file; runs in the process of ``duckdb_worker``."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import re
from typing import IO, TYPE_CHECKING, Any, Final

from sqljury.db.duckdb_worker import Reply, explain, literal
from sqljury.db.files_names import FileError, Names

if TYPE_CHECKING:
    import duckdb

_WHOLE_BYTES: Final = 64 * 1024**2
"""A file up to this size is read whole to find out its types, of a larger one the first rows."""

_CHECKED_BYTES: Final = 256 * 1024**2
"""How much of a file is looked at to tell UTF-8 from older encodings."""

_SAMPLE_ROWS: Final = 200_000
_PIECE: Final = 1 << 20
_BOMS: Final = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_TEXT: Final = re.compile(r": 'VARCHAR'")
_COLUMN: Final = re.compile(r"'(?:[^']|'')*': '(?:[^']|'')*'")


def build(order: Reply) -> Reply:
    """Build the database that ``order`` describes; the reply names the files that its views read."""
    import duckdb

    readable: list[str] = []
    names = Names()
    with duckdb.connect(order["build"], config=order["config"]) as connection:
        for number, source in enumerate(order["sources"]):
            copy = os.path.join(order["folder"], f"copy_{number}")
            try:
                readable += _add(connection, source, names, copy)
            except FileError as error:
                return {"kind": "file", "message": str(error), "shown": source["shown"]}
            except Exception as error:
                return {**_refusal(error, source["kind"]), "shown": source["shown"]}
    return {"readable": readable}


def _refusal(error: Exception, kind: str) -> Reply:
    found = explain(error)
    if found["kind"] in ("missing", "memory", "interrupted"):
        return found
    return {"kind": "file", "message": f"cannot be read as {kind} ({found['message']})"}


def _add(connection: duckdb.DuckDBPyConnection, source: Reply, names: Names, copy: str) -> list[str]:
    """Add the tables of one file; the paths that reading them needs."""
    path, kind = str(source["path"]), source["kind"]
    if kind == "xlsx":
        from sqljury.db.files_xlsx import add_workbook

        add_workbook(connection, path, source["stem"], names, copy)
        return []
    if kind == "csv":
        path = as_utf8(path, copy)
        query = csv_query(connection, path)
    elif kind == "json":
        query = f"FROM read_json({literal(path)}, sample_size={_samples(path)})"
    else:
        query = f"FROM read_parquet({literal(path)})"
    name = f'"{names.table(source["stem"])}"'
    connection.execute(f"CREATE VIEW {name} AS {query}")
    connection.execute(f"FROM {name} LIMIT 1").fetchall()
    return [path]


def _samples(path: str) -> int:
    """How many rows to look at for their types; -1 for all."""
    return -1 if os.path.getsize(path) <= _WHOLE_BYTES else _SAMPLE_ROWS


def csv_query(connection: duckdb.DuckDBPyConnection, path: str) -> str:
    """What reads this file, with everything that was found out about it written down."""
    options = [f"sample_size={_samples(path)}"]
    if _samples(path) > 0:
        options.append("quote='\"'")  # the rows looked at may have none
    found = _sniff(connection, path, options)
    with contextlib.suppress(Exception):  # where this fails, the plain way was right
        loose = [*options, "null_padding=true", "strict_mode=false"]
        padded = _sniff(connection, path, loose)
        if _is_better(padded, found, path):
            found, options = padded, loose
    if found["Delimiter"] != "," and _TEXT.search(found["Prompt"]):
        for extra in (["decimal_separator=','"], ["decimal_separator=','", "thousands='.'"]):
            with contextlib.suppress(Exception):
                comma = _sniff(connection, path, options + extra)
                if len(_TEXT.findall(comma["Prompt"])) < len(_TEXT.findall(found["Prompt"])):
                    found = comma
    return str(found["Prompt"]).strip().rstrip(";")


def _sniff(connection: duckdb.DuckDBPyConnection, path: str, options: list[str]) -> Reply:
    cursor = connection.execute(f"FROM sniff_csv({literal(path)}, {', '.join(options)})")
    names = [column[0] for column in cursor.description or ()]
    row: Any = cursor.fetchone()
    return dict(zip(names, row, strict=True))


def _is_better(padded: Reply, plain: Reply, path: str) -> bool:
    """Whether reading rows of unequal length loses less: DuckDB leaves out, or does not split, what does not fit."""
    columns, plain_columns = len(_COLUMN.findall(padded["Prompt"])), len(_COLUMN.findall(plain["Prompt"]))
    if columns > plain_columns:
        return True
    if not plain["SkipRows"] or padded["SkipRows"] >= plain["SkipRows"]:
        return False
    with _open(path) as file:  # a line above the table, such as a title, is rightly left out
        return str(padded["Delimiter"]).encode() in file.readline(_PIECE)


def as_utf8(path: str, copy: str) -> str:
    """The path of the file in UTF-8: its own, or ``copy``, made where it is in UTF-16 or an older encoding."""
    with _open(path) as file:
        start = file.read(4)
        encoding = next((name for bom, name in _BOMS if start.startswith(bom)), None)
        if encoding is None:
            file.seek(0)
            if _is_utf8(file):
                return path
            encoding = "cp1252"
        file.seek(0)
        reader = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        with open(copy, "w", encoding="utf-8", newline="") as target:
            while piece := reader.read(_PIECE):
                target.write(piece)
    return copy


def _is_utf8(file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    seen = 0
    try:
        while seen < _CHECKED_BYTES and (piece := file.read(_PIECE)):
            seen += len(piece)
            decoder.decode(piece)
            if seen == len(piece) and not piece.strip(b"\xef\xbb\xbf \t\r\n"):
                raise FileError("is an empty file; there is nothing to ask about")
            if b"\x00" in piece:
                raise FileError("has zero bytes in it, so it is no text; check the file")
    except UnicodeDecodeError:
        return False
    return True


def _open(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]
