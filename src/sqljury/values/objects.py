"""Tables, columns and values of a database that a text may mean, best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from sqljury.schema.index import Index
from sqljury.values.index import ValueIndex

Kind = Literal["table", "column", "value"]

_BY_NAME: Final = {"equal": 1.0, "begins": 0.9, "within": 0.8}
_BY_MEANING: Final = 0.7
"""The score of the table or column that is nearest in words or meaning; others have their share of it."""
_LEAST: Final = 0.3
"""Of that nearest one's score: below it lie columns of frequent words."""


@dataclass(frozen=True, slots=True)
class Found:
    """A table, a column of one, or a value in one, with a score in (0, 1]; ``about`` is its type and comment."""

    kind: Kind
    table: str
    column: str
    value: str
    score: float
    about: str


def search(text: str, index: Index, values: ValueIndex | None = None, limit: int = 10) -> list[Found]:
    """At most ``limit`` objects of each kind that ``text`` may mean, by name, comment, spelling or meaning."""
    if not text.strip():
        return []
    tables = sorted(_tables(text, index), key=_first)[:limit]
    columns = sorted(_columns(text, index), key=_first)[:limit]
    matches = [] if values is None else values.search(text, limit)
    held = [Found("value", match.table, match.column, match.value, match.score, match.how) for match in matches]
    return sorted((*tables, *columns, *held), key=_first)


def _first(item: Found) -> tuple[float, str, str, str]:
    return -item.score, item.table, item.column, item.value


def _tables(text: str, index: Index) -> Iterator[Found]:
    scores = index.scores(text).tables
    for table, score in zip(index.schema.tables, _shares(scores), strict=True):
        if best := max(_named(text, table.name), score):
            yield Found("table", table.name, "", "", best, table.comment)


def _columns(text: str, index: Index) -> Iterator[Found]:
    scores = index.scores(text).columns
    flat = iter(_shares([score for table in scores for score in table]))
    for table in index.schema.tables:
        for column in table.columns:
            score = next(flat)
            if best := max(_named(text, column.name), score):
                about = "; ".join(filter(None, (column.type, column.comment)))
                yield Found("column", table.name, column.name, "", best, about)


def _shares(scores: list[float]) -> list[float]:
    """The scores as shares of the best one; 0 for small ones."""
    most = max(scores, default=0.0)
    return [_BY_MEANING * score / most if most and score >= _LEAST * most else 0.0 for score in scores]


def _named(text: str, name: str) -> float:
    """How far the text is the name, regardless of case, blanks and underscores."""
    wanted, known = _bare(text), _bare(name)
    if wanted and wanted == known:
        return _BY_NAME["equal"]
    if len(wanted) < 2:
        return 0.0
    if known.startswith(wanted):
        return _BY_NAME["begins"]
    return _BY_NAME["within"] if wanted in known else 0.0


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
