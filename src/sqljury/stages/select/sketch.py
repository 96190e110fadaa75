"""Predicts a query's sketch from its question; learned from questions and gold queries alone.

A sketch (Xu et al. 2017, SQLNet) is a query without names and constants. Here it is a set of elements, such as GROUP BY
or three selected items. Each element has a logistic regression over the phrases of the question, in which names of the
schema and constants are masked so that it transfers to other databases. The tables and columns that the query reads are
predicted too, see ``language.linking``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Any, Final

from sqljury.errors import InputError
from sqljury.language import linking
from sqljury.language.alike import likeness, pieces
from sqljury.language.words import STOP_WORDS, words
from sqljury.sql.features import Anatomy
from sqljury.types import Schema

DIGITS: Final = 2
"""Decimal places of log-odds in a file."""
LARGEST: Final = 1e6
"""Largest number in a file, positive or negative."""
WIDE: Final = 1_000
"""Columns of a schema up to which anything is predicted; beyond, it would take longer than the rest of the judge."""
LEAST: Final = 0.005
"""Probabilities stay at least this far from 0 and 1."""
NAMED: Final = 0.8
"""Likeness from which on a word counts as a name of the schema."""
_TOKEN: Final = re.compile(r"""(?<!\w)'[^']*'|"[^"]*"|“[^”]*”|\w+(?:['’]\w+)?|[^\w\s]""")
_LENGTH: Final = 4
_MANY: Final = {"columns": ("<column>", 5), "tables": ("<table>", 4), "ands": ("and", 3), "commas": (",", 3)}


@dataclass(frozen=True)
class Sketch:
    """Learned log-odds: ``phrases`` by phrase and element, ``start`` those of each element without any phrase.

    ``tables`` and ``columns`` are the weights of ``linking.tables`` and ``linking.columns``.
    """

    start: Mapping[str, float]
    phrases: Mapping[str, Mapping[str, float]]
    tables: Sequence[float]
    columns: Sequence[float]

    def elements(self, question: str, schema: Schema) -> dict[str, float]:
        """The probability of each element."""
        sums = dict(self.start)
        for phrase in sorted(phrases(question, schema)):  # sums of the same numbers in another order differ
            for element, weight in self.phrases.get(phrase, {}).items():
                sums[element] += weight
        return {element: _chance(odds) for element, odds in sums.items()}

    def figures(self, question: str, schema: Schema, queries: Sequence[Anatomy]) -> list[dict[str, float]]:
        """The log-probability of the sketch, the tables and the columns of each query."""
        if wide(schema):
            return [dict(NOTHING) for _ in queries]
        named = linking.Named(question, schema)
        expected = (
            self.elements(question, schema),
            _linked(self.tables, linking.tables(named)),
            _linked(self.columns, linking.columns(named)),
        )
        return [
            {
                name: _log(chances, frozenset(present))
                for name, chances, present in zip(
                    FIGURES, expected, (elements(query), query.tables, query.columns), strict=True
                )
            }
            for query in queries
        ]

    def to_json(self) -> dict[str, Any]:
        """The format of ``read_sketch``: for each phrase, pairs of an element's index and log-odds in hundredths."""
        indices = {element: index for index, element in enumerate(self.start)}
        return {
            "start": dict(self.start),
            "phrases": {
                phrase: [n for name, odds in weights.items() for n in (indices[name], round(odds * 10**DIGITS))]
                for phrase, weights in self.phrases.items()
            },
            "tables": list(self.tables),
            "columns": list(self.columns),
        }


def wide(schema: Schema) -> bool:
    """Whether the schema has too many columns for a prediction."""
    return sum(len(table.columns) for table in schema.tables) > WIDE


FIGURES: Final = ("sketch", "tables_expected", "columns_expected")
NOTHING: Final[Mapping[str, float]] = dict.fromkeys(FIGURES, 0.0)
"""The figures without a prediction: the same for all queries, so they decide nothing."""


def read_sketch(loaded: Any) -> Sketch:
    """The sketch in the format of ``to_json``; raises ``InputError`` for anything else."""
    if not isinstance(loaded, dict):
        raise InputError("its sketch is not an object")
    start, stored = loaded.get("start"), loaded.get("phrases")
    if not isinstance(start, dict) or not isinstance(stored, dict) or not _numbers(list(start.values())):
        raise InputError("its sketch has no phrases, or no elements")
    names = list(start)
    for phrase, pairs in stored.items():
        if (
            not _numbers(pairs)
            or len(pairs) % 2
            or not all(type(at) is int and 0 <= at < len(names) for at in pairs[::2])
        ):
            raise InputError(f"its sketch lacks an element of the phrase {phrase!r}")
    for kind, figures in (("tables", linking.TABLE), ("columns", linking.COLUMN)):
        if not _numbers(loaded.get(kind)) or len(loaded[kind]) != len(figures):
            raise InputError(f"its sketch has weights for other figures of {kind} than this version")
    odds = {
        phrase: {names[at]: odds / 10**DIGITS for at, odds in zip(pairs[::2], pairs[1::2], strict=True)}
        for phrase, pairs in stored.items()
    }
    return Sketch(start, odds, loaded["tables"], loaded["columns"])


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) in (int, float) and abs(number) <= LARGEST for number in value)


def elements(query: Anatomy) -> frozenset[str]:
    """The sketch of a query, the same for most equivalent queries.

    Its elements are the kinds of items, the capped numbers of items, tables and conditions with a constant, and other
    clauses. IN with a subquery counts as a join, ORDER BY with LIMIT as MAX or MIN.
    """
    kept = query.elements & {"distinct", "group", "having", "not", "both", "compare", "like", "sorted"}
    return kept | {
        *(f"item {head}" for head in query.heads & {"count", "avg", "sum", "max", "min", "distinct"}),
        f"items {min(len(query.selected), 4)}",
        f"tables {min(len(query.tables), 4)}",
        f"constants {min(query.constants, 3)}",
        *(["greatest"] if query.elements & {"up", "max"} else []),
        *(["smallest"] if query.elements & {"down", "min"} else []),
    }


def phrases(question: str, schema: Schema) -> frozenset[str]:
    """Runs of one to three tokens, how often some occur, and the approximate length of the question."""
    tokens = list(_once(["^", *_masked(question[: linking.CHARS], _names(schema)), "$"]))
    rows = (zip(*(tokens[start:] for start in range(length)), strict=False) for length in (1, 2, 3))
    counts = (f"{name} {min(tokens.count(token), most)}" for name, (token, most) in _MANY.items())
    size = f"length {min(len(tokens) // _LENGTH, 6)}"
    return frozenset({*(" ".join(row) for runs in rows for row in runs), *counts, size})


Names = tuple[frozenset[str], frozenset[str]]
"""The words of tables' names, and of columns'."""


@lru_cache(maxsize=8)
def _names(schema: Schema) -> Names:
    tables = {piece for table in schema.tables for piece in pieces(linking.bare(table))}
    return frozenset(tables), frozenset(p for table in schema.tables for c in table.columns for p in pieces(c.name))


def _masked(question: str, names: Names) -> Iterator[str]:
    for index, token in enumerate(_TOKEN.findall(question)):
        low = token.lower()
        if token[0] in "'\"“" and len(token) > 1:
            yield "<text>"
        elif low.isdigit():
            yield "<number>"
        elif kind := _kind(low, names):
            yield kind
        else:
            yield "<name>" if index and token[0].isupper() else low


@lru_cache(maxsize=1 << 16)
def _kind(word: str, names: Names) -> str:
    """Whether a word of the question names a table or a column: an exact match first, of equal ones the table."""
    parts = words(word)
    if word in STOP_WORDS or len(word) < 3 or not parts:
        return ""
    for least in (1.0, NAMED):
        for kind, known in zip(("<table>", "<column>"), names, strict=True):
            if parts[0] in known or (least < 1 and any(likeness(parts[0], piece) >= least for piece in known)):
                return kind
    return ""


def _once(tokens: Sequence[str]) -> Iterator[str]:
    """The tokens without repetitions of a mask."""
    for index, token in enumerate(tokens):
        if not (token[0] == "<" and index and tokens[index - 1] == token):
            yield token


def _linked(weights: Sequence[float], rows: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {
        name: _chance(sum(weight * figure for weight, figure in zip(weights, row, strict=True)))
        for name, row in rows.items()
    }


def _chance(odds: float) -> float:
    return min(max(1 / (1 + exp(-min(max(odds, -30.0), 30.0))), LEAST), 1 - LEAST)


def _log(chances: Mapping[str, float], present: frozenset[str]) -> float:
    """The log-probability that exactly these names are present."""
    return sum(log(chance if name in present else 1 - chance) for name, chance in chances.items())
