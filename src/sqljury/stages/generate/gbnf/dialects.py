"""What the dialects do not share, as the slots of ``sql.txt``, and the functions that each of them has."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Final

from sqljury.db.unstoppable import BOUNDED
from sqljury.stages.generate.gbnf import Names

PLAIN: Final = ("row", "if")
"""Kinds of functions that work on one row."""

_TEXT: Final = '"\'" ([^\'`\\x00-\\x1F\\x7F] | "\'\'"){0,100} "\'"'
"""A text holds no backtick, which could close the fence around the query, and nothing that breaks a line."""

_NUMERIC: Final = '(DECIMAL | NUMERIC) (w "(" w [0-9]{1,2} (comma [0-9]{1,2})? w ")")?'
_CHARS: Final = 'VARCHAR (w "(" w [0-9]{1,4} w ")")?'
_PARTS: Final = "(YEAR | QUARTER | MONTH | WEEK | DAY | HOUR | MINUTE | SECOND)"
_DATES: Final = f'| (DATE | TIMESTAMP) ws string | EXTRACT open {_PARTS} ws FROM ws arith@ w ")"'

_STANDARD: Final = {
    "nulls": "(ws NULLS ws (FIRST | LAST))?",
    "limit_pair": "",
    "untitled": "?",
    "full": "| FULL (ws OUTER)?",
    "like": "LIKE",
    "any": "",
    "more": "",
    "as_type": "",
    "filter": '(ws FILTER w "(" w WHERE ws expr%s w ")")?',
    "separator": "(comma string)?",
    "string": _TEXT,
    "open": 'w "(" w',
    "operator": '"+" | "-" | "*" | "/" | "%" | "||"',
    "type": f"INTEGER | INT | BIGINT | REAL | FLOAT | DOUBLE | TEXT | DATE | {_CHARS} | {_NUMERIC}",
}
_ANY: Final = '| w compare w (ANY | ALL) w "(" w nested% w ")"'
_SLOTS: Final[dict[str, dict[str, str]]] = {
    "sqlite": {"limit_pair": "| comma [0-9]{1,6}", "like": "LIKE | GLOB"},
    "duckdb": {
        "like": "LIKE | ILIKE | SIMILAR ws TO",
        "any": _ANY,
        "more": f"{_DATES} | INTERVAL ws (string | [0-9]{{1,6}} ws {_PARTS})",
        "as_type": '("::" type){0,2}',
        "separator": "(comma string)? (ws ORDER ws BY ws sort%)?",
        "type": f"{_STANDARD['type']} | TIMESTAMP | TIME | BOOLEAN",
    },
    "postgres": {
        "untitled": "",
        "like": "LIKE | ILIKE | SIMILAR ws TO",
        "any": _ANY,
        "more": f"{_DATES} | INTERVAL ws string",
        "as_type": '("::" type){0,2}',
        "separator": "(comma string)? (ws ORDER ws BY ws sort%)?",
        "type": "INTEGER | INT | BIGINT | REAL | FLOAT | DOUBLE ws PRECISION | TEXT | DATE | TIMESTAMP | TIME | BOOLEAN"
        f" | {_CHARS} | {_NUMERIC}",
    },
    "mysql": {
        "nulls": "",
        "limit_pair": "| comma [0-9]{1,6}",
        "untitled": "",
        "full": "",
        "like": "LIKE | RLIKE | REGEXP",
        "any": _ANY,
        "more": f"{_DATES} | INTERVAL ws (string | [0-9]{{1,6}}) ws {_PARTS}",
        "filter": "",
        "separator": "(ws ORDER ws BY ws sort%)? (ws SEPARATOR ws string)?",
        # A backslash is an escape there, and a blank before the bracket makes a function another name.
        "string": _TEXT.replace("[^'`", "[^'`\\\\"),
        "open": '"(" w',
        "operator": '"+" | "-" | "*" | "/" | "%"',
        "type": f"SIGNED | UNSIGNED | DOUBLE | FLOAT | DATE | DATETIME | TIME | CHAR | {_NUMERIC}",
    },
}


def slots(dialect: str) -> dict[str, str]:
    """What stands in the slots of ``sql.txt``, by their names; standard SQL for a dialect that is not known."""
    return _STANDARD | _SLOTS.get(dialect, {})


@functools.cache
def functions(dialect: str) -> dict[str, tuple[str, int, int]]:
    """Functions by name: their kind, and the least and the most arguments they take.

    Those that only some arguments are allowed to are not among them, for a grammar cannot say which.
    """
    by_name: dict[str, tuple[str, int, int]] = {}
    for line in _lines():
        dialects, kind, names = line.split(":")
        if dialect not in dialects.split():
            continue
        for item in names.split():
            name, _, count = item.partition("/")
            if name.lower() in BOUNDED.get(dialect, ()):
                continue
            least, _, most = count.partition("-")
            by_name[name] = kind.strip(), int(least or 1), int(most or least or 1)
    return by_name


def calls(dialect: str, grade: str) -> str:
    """The alternatives of functions with what follows each, for expressions of this grade; see ``sql.txt``."""
    names = Names()
    for name, (kind, least, most) in functions(dialect).items():
        if kind in PLAIN:
            names.add(name, f"{kind}{least}-{most}@")
        elif grade == "a":
            names.add(name, f"{kind}%")
    return names.write()


def arguments(kind: str, least: int, most: int) -> str:
    """The rule for so many arguments in brackets, of which the first of an ``if`` is a condition."""
    if not most:
        return 'open ")"'
    more = f" (comma arith@){{{max(least, 1) - 1},{most - 1}}}" if most > 1 else ""
    inside = f"{'expr@' if kind == 'if' else 'arith@'}{more} w"
    return f'open {inside} ")"' if least else f'open ({inside})? ")"'


def _lines() -> list[str]:
    text = (files("sqljury.stages.generate.gbnf") / "functions.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
