"""Names, values and remarks as they may stand in a prompt: on one line, cut, unable to leave their place."""

from __future__ import annotations

import re
from typing import Final

from sqljury.prompts import unmarked
from sqljury.sql.names import quote_name, quote_table

CELL_CHARS: Final = 40
COMMENT_CHARS: Final = 160
NAME_CHARS: Final = 120

_PLAIN_TYPE: Final = re.compile(r"\w[\w ]{0,38}(\([\w ,]{1,20}\))?(\[\])?")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_SINGLE: Final = re.compile(r"\d|_|[^\w\s]|\n")
_LETTERS_A_TOKEN: Final = 5


def tokens(text: str) -> int:
    """About how many tokens a model reads ``text`` as, rather too many than too few.

    A token for every five letters begun of a word, every digit, mark and line end, and every byte of a word in
    another script; and a twentieth more. On the 130 schemas of Spider in all three forms that is 1.04 to 1.75 times
    what the embedded model counts, and 1.25 times in the middle.
    """
    words = _LETTERS.findall(text)
    letters = sum(-(-len(word) // _LETTERS_A_TOKEN) if word.isascii() else len(word.encode()) for word in words)
    single = sum(len(mark.encode()) for mark in _SINGLE.findall(text))
    return -(-(letters + single) * 21 // 20)


def cell_text(value: object, chars: int = CELL_CHARS) -> str:
    """A value on one line and no longer than ``chars``, unable to end the comment it stands in."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return plain(str(value), chars)


def literal(value: object, chars: int = CELL_CHARS) -> str:
    """A value as a query would write it: text in quotes, numbers bare."""
    if isinstance(value, bool | int | float):
        return plain(str(value), chars)
    return "'" + plain(str(value), chars).replace("'", "''") + "'"


def plain(text: str, chars: int) -> str:
    """Printable, cut, without marks that open or close a comment.

    A database's content may be made to address the model: it must not get out of its line.
    """
    text = text[: chars * 4 + 1]
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("*/", "* /").replace("/*", "/ *")
    text = unmarked(text)
    return text if len(text) <= chars else text[: max(chars - 1, 0)] + "…"


def remark(text: str, chars: int = COMMENT_CHARS) -> str:
    """A comment or description as ``plain`` gives it, its white space made single blanks."""
    return plain(" ".join(text[: chars * 8].split()), chars).strip()


def name(name: str, dialect: str) -> str:
    """A name for use in a query; one with unprintable characters loses them, and cannot be queried anyway."""
    return quote_name(printable(name), dialect)


def table_name(name: str, schema: str, dialect: str) -> str:
    """A table's name for use in a query, as ``name`` treats it."""
    return quote_table(printable(name), printable(schema), dialect)


def names(columns: tuple[str, ...], dialect: str) -> str:
    """Names for use in a query, with commas between them."""
    return ", ".join(name(column, dialect) for column in columns)


def type_text(declared: str) -> str:
    """The declared type where it looks like one: SQLite takes any text for a type, a message too."""
    match = _PLAIN_TYPE.match(" ".join(declared.split()))
    return match.group().strip() if match else ""


def printable(name: str) -> str:
    """A name as prompts show it, before it is quoted: the name itself unless it cannot stand there."""
    as_it_is = name.isprintable() and len(name) <= NAME_CHARS and unmarked(name) == name
    return name if as_it_is else plain(name, NAME_CHARS)
