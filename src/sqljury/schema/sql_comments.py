"""Comments in the text of a CREATE TABLE, which SQLite keeps as it was typed: often all the documentation there is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MAX_CHARS: Final = 1_000_000
"""A longer definition is not searched."""

_TOKEN: Final = re.compile(
    r"(?P<line>--[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<text>'(?:[^']|'')*(?:'|\Z))"
    r"|(?P<name>\"(?:[^\"]|\"\")*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|[\w$]+)"
    r"|(?P<space>\s+)|(?P<mark>.)",
    re.DOTALL,
)  # what is opened and never closed goes on to the end, so that no character is looked at twice
_CONSTRAINTS: Final = frozenset(("constraint", "primary", "unique", "check", "foreign"))
_TABLE: Final = ""


class Comments(NamedTuple):
    """The table's comment, and those of columns by their names in small letters."""

    table: str
    columns: dict[str, str]


class _Token(NamedTuple):
    kind: str
    text: str
    column: int
    """How far from the beginning of its line it begins."""
    opens_line: bool
    """Nothing but white space stands before it on its line."""


def read_comments(definition: str) -> Comments:
    """The comments of a CREATE TABLE, each with the column it speaks of.

    A comment behind something on its line speaks of that; one alone on its line continues the one above if it
    begins below it, and else speaks of what follows. Before the first and after the last column it is the table's.
    Comments made of marks alone say nothing and are left out.
    """
    if len(definition) > MAX_CHARS or ("--" not in definition and "/*" not in definition):
        return Comments("", {})
    found: dict[str, list[str]] = defaultdict(list)
    for owner, text in _owned(list(_tokens(definition))):
        if said := _said(text):
            found[owner].append(said)
    joined = {owner: " ".join(texts) for owner, texts in found.items()}
    return Comments(joined.pop(_TABLE, ""), joined)


def _tokens(definition: str) -> Iterator[_Token]:
    opens_line, line_start = True, 0
    for match in _TOKEN.finditer(definition):
        kind, text = str(match.lastgroup), match.group()
        if kind == "space":
            opens_line = opens_line or "\n" in text
        else:
            yield _Token(kind, text, match.start() - line_start, opens_line)
            opens_line = False
        if "\n" in text:
            line_start = match.start() + text.rindex("\n") + 1


def _owned(tokens: Sequence[_Token]) -> Iterator[tuple[str, str]]:
    """Each comment with its owner: a column's name in small letters, or ``""`` for the table."""
    owners = _owners(tokens)
    previous: tuple[str, int] | None = None
    for number, token in enumerate(tokens):
        if token.kind not in ("line", "block"):
            if token.opens_line:
                previous = None
            continue
        if not token.opens_line:
            follows = number + 1 < len(tokens) and not tokens[number + 1].opens_line
            after_comma = tokens[number - 1].text == ","
            owner = owners[number][1 if token.kind == "block" and follows and after_comma else 0]
        elif previous is not None and previous[1] == token.column:
            owner = previous[0]
        else:
            owner = owners[number][1]
            yield owner, token.text
            continue
        previous = owner, token.column
        yield owner, token.text


def _owners(tokens: Sequence[_Token]) -> list[tuple[str, str]]:
    """For the place of each token, the item that was last under way and the one that is, or comes next."""
    depth, behind, items = 0, False, [_TABLE]
    place: list[int] = []  # by token, the item under way or, behind a comma, the next one
    commas: list[bool] = []
    for token in tokens:
        place.append(len(items) if behind else len(items) - 1)
        commas.append(behind)
        if token.kind in ("line", "block"):
            continue
        if behind and depth == 1 and token.text not in (",", ")"):
            items.append(_column(token))
            behind = False
        depth += (token.text == "(") - (token.text == ")")
        if (token.text == "(" and depth == 1 and len(items) == 1) or (token.text == "," and depth == 1):
            behind = True
        elif token.text == ")" and depth == 0:
            items.append(_TABLE)
            behind = False
    items.append(_TABLE)
    return [
        (items[min(at, len(items) - 1) - comma], items[min(at, len(items) - 1)])
        for at, comma in zip(place, commas, strict=True)
    ]


def _column(token: _Token) -> str:
    """The column that an item defines, ``""`` for a constraint, whose comments are the table's."""
    text = token.text
    if text[:1] in '"`[':
        inner = text[1:-1]
        return (inner if text[0] == "[" else inner.replace(text[0] * 2, text[0])).lower()
    return _TABLE if text.lower() in _CONSTRAINTS else text.lower()


def _said(comment: str) -> str:
    body = comment[2:] if comment.startswith("--") else comment[2:].removesuffix("*/")
    lines = (line.strip().strip("*-=#").strip() for line in body.splitlines())
    text = " ".join(" ".join(lines).split())
    return text if any(c.isalnum() for c in text) else ""
