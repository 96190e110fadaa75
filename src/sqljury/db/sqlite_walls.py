"""The walls inside SQLite: what its authorizer lets a statement do, and how long its values may get.

Imported by the worker, so it imports nothing that takes long.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MIB: Final = 1024 * 1024
MIN_VALUE_BYTES: Final = 1 * MIB
MAX_VALUE_BYTES: Final = 16 * MIB

_AGGREGATES: Final = """
    avg count group_concat max median min percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
"""
_VALUES: Final = """
    abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower
    ltrim nullif octet_length printf quote random regexp replace round rtrim sign soundex substr substring
    trim typeof unhex unicode unlikely upper
    current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi
    pow power radians sin sinh sqrt tan tanh trunc
"""
_DOCUMENTS: Final = """
    -> ->> json json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace
    json_set json_type json_valid jsonb jsonb_array jsonb_extract jsonb_object
    bm25 highlight match snippet
"""
FUNCTIONS: Final = frozenset(f"{_AGGREGATES} {_VALUES} {_DOCUMENTS}".split())
"""SQLite functions a query may call; everything else is denied, what a later SQLite adds too.

``random`` is allowed: "any three customers" is a question. The clock is, as in "this year".
"""

WIDE_FORMAT: Final = r"%[^a-zA-Z%]*(?:\*|\d{4})"
"""A printf format that asks for 1,000 characters or more, or takes the width from an argument; as a text, for ``re``
takes long to import."""

_CALL: Final = r"""(?i)\b(?:printf|format)\b["'`\]]?\s*(?:\(|/\*|--)"""
_PLAIN_CALL: Final = r"(?i)\b(?:printf|format)\s*\(\s*'([^']*)'"

INTERNAL_NAMES: Final = frozenset({"dbstat", "bytecode", "tables_used", "fsdir", "completion"})
"""Tables that show SQLite's inside or other files, whose names a database may give to tables of its own."""

_INTERNAL_TABLES: Final = INTERNAL_NAMES | {"sqlite_dbpage", "sqlite_stmt"}


Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]


def authorizer(functions: frozenset[str] = FUNCTIONS, own: frozenset[str] = frozenset()) -> Authorizer:
    """SQLite's authorizer callback: reads, selects, recursion and these functions pass, all else is denied.

    ``own`` are those of ``INTERNAL_NAMES`` that can mean nothing but tables of the database.
    """
    own &= INTERNAL_NAMES

    def authorize(
        action: int, first: str | None, second: str | None, _database: str | None, _source: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            allowed = not is_internal_table(first or "") or (first or "").lower() in own
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in functions
        elif action == sqlite3.SQLITE_PRAGMA:
            # FTS5 asks for it on its own behalf, to see whether its cache is stale.
            allowed = (first or "").lower() == "data_version" and second is None
        else:
            allowed = False
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorize


MayRead = Callable[[str, str, str], bool]
"""Whether a column may be read: its table, its name (empty where only rows are counted), and the view that reads it."""


def narrowed(authorize: Authorizer, may_read: MayRead) -> Authorizer:
    """The same authorizer, which lets only those columns be read."""

    def decide(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
        if action == sqlite3.SQLITE_READ and not may_read(first or "", second or "", source or ""):
            return sqlite3.SQLITE_DENY
        return authorize(action, first, second, database, source)

    return decide


def functions_for(definitions: Iterable[str]) -> frozenset[str]:
    """The functions allowed on a database with these tables and views.

    One call of printf can be made to work for minutes, during which nothing can stop it. The parser sees to
    the calls in a query; where a view has one it cannot vouch for, printf and format are denied altogether.
    """
    narrow = all(_formats_narrowly(sql) for sql in definitions if "printf" in sql.lower() or "format" in sql.lower())
    return FUNCTIONS if narrow else FUNCTIONS - {"printf", "format"}


def _formats_narrowly(definition: str) -> bool:
    """Whether every call of printf in it has a literal format of modest width."""
    import re

    if not re.search(_CALL, definition):
        return True
    formats = re.findall(_PLAIN_CALL, definition)
    wide = any(re.search(WIDE_FORMAT, text) for text in formats)
    return len(formats) == len(re.findall(_CALL, definition)) and not wide


def is_internal_table(name: str) -> bool:
    """Whether this table shows SQLite's inside rather than data; the list of tables itself may be read."""
    lowered = name.lower()
    return lowered in _INTERNAL_TABLES or lowered.startswith("pragma_")


def harden(connection: sqlite3.Connection, file_bytes: int) -> None:
    """Give a fresh connection its settings and limits; the authorizer comes last, by the caller."""
    if hasattr(connection, "enable_load_extension"):  # absent where Python was built without it
        connection.enable_load_extension(False)
    _configure(connection)
    for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA temp_store=FILE")  # a huge sort goes to disk, where it is counted
    # No stored value is longer than its file, so only a large file needs room for large values. The
    # tighter this is, the less memory and time one call of a text function can take.
    value_bytes = min(max(file_bytes, MIN_VALUE_BYTES), MAX_VALUE_BYTES)
    for category, limit in (
        (sqlite3.SQLITE_LIMIT_LENGTH, value_bytes),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, MIB),  # definitions in the schema count too
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 1000),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 200),
        (sqlite3.SQLITE_LIMIT_VDBE_OP, 250_000),
        (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 127),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),  # the bytes written are counted by thread
    ):
        connection.setlimit(category, limit)


def _configure(connection: sqlite3.Connection) -> None:
    """Switches that Python reaches from 3.12 on; before it the other walls stand alone."""
    setconfig = getattr(connection, "setconfig", None)
    if setconfig is None:
        return
    for name, value in (
        ("DEFENSIVE", True),
        ("TRUSTED_SCHEMA", False),
        ("WRITABLE_SCHEMA", False),
        ("ENABLE_TRIGGER", False),
        ("ENABLE_FTS3_TOKENIZER", False),
        ("ENABLE_LOAD_EXTENSION", False),
        ("DQS_DML", True),  # "text" in double quotes is a literal where no column has that name
    ):
        option = getattr(sqlite3, f"SQLITE_DBCONFIG_{name}", None)
        if option is not None:  # an older SQLite lacks some
            setconfig(option, value)
