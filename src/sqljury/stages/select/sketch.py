"""What a question lets one expect of its query, learned from questions and gold queries alone: its sketch.

A sketch (Xu et al. 2017, SQLNet) is a query without names and constants. Here it is a set of elements, such as GROUP BY
or three selected items; each has a logistic regression over the phrases of the question, in which names of the schema
and constants are masked, so that what was learned on some databases holds on others. Which tables and columns the query
reads is expected too, see ``select.linking``.
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
"""Of log-odds, as they are kept."""
LARGEST: Final = 1e6
"""Of a number in a file, either way."""
WIDE: Final = 1_000
"""Of a schema with more columns nothing is expected: it would take longer than all else that the judge looks at."""
LEAST: Final = 0.005
"""No element is taken for surer than this, or for surer than this not to be there."""
NAMED: Final = 0.8
"""From here on a word is taken for a name of the schema."""
_TOKEN: Final = re.compile(r"""(?<!\w)'[^']*'|"[^"]*"|“[^”]*”|\w+(?:['’]\w+)?|[^\w\s]""")
_LENGTH: Final = 4
_MANY: Final = {"columns": ("<column>", 5), "tables": ("<table>", 4), "ands": ("and", 3), "commas": (",", 3)}


@dataclass(frozen=True)
class Sketch:
    """What was learned: ``phrases`` have log-odds by element, ``start`` those without any phrase.

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
                name: _log(chances, frozenset(there))
                for name, chances, there in zip(
                    FIGURES, expected, (elements(query), query.tables, query.columns), strict=True
                )
            }
            for query in queries
        ]

    def to_json(self) -> dict[str, Any]:
        """As ``read_sketch`` takes it: of a phrase the places of elements, each before its log-odds in hundredths."""
        places = {element: place for place, element in enumerate(self.start)}
        return {
            "start": dict(self.start),
            "phrases": {
                phrase: [one for name, odds in own.items() for one in (places[name], round(odds * 10**DIGITS))]
                for phrase, own in self.phrases.items()
            },
            "tables": list(self.tables),
            "columns": list(self.columns),
        }


def wide(schema: Schema) -> bool:
    """Whether it has more columns than anything is expected of."""
    return sum(len(table.columns) for table in schema.tables) > WIDE


FIGURES: Final = ("sketch", "tables_expected", "columns_expected")
NOTHING: Final[Mapping[str, float]] = dict.fromkeys(FIGURES, 0.0)
"""The figures where nothing was learned: the same for all queries, so they decide nothing."""


def read_sketch(loaded: Any) -> Sketch:
    """What ``to_json`` gave; raises ``InputError`` for anything else."""
    if not isinstance(loaded, dict):
        raise InputError("its sketch is none")
    start, told = loaded.get("start"), loaded.get("phrases")
    if not isinstance(start, dict) or not isinstance(told, dict) or not _numbers(list(start.values())):
        raise InputError("its sketch has no phrases, or no elements")
    names = list(start)
    for phrase, own in told.items():
        if not _numbers(own) or len(own) % 2 or not all(type(at) is int and 0 <= at < len(names) for at in own[::2]):
            raise InputError(f"its sketch knows no such elements as the phrase {phrase!r} calls for")
    for kind, figures in (("tables", linking.TABLE), ("columns", linking.COLUMN)):
        if not _numbers(loaded.get(kind)) or len(loaded[kind]) != len(figures):
            raise InputError(f"its sketch weighs other figures of {kind} than this version")
    odds = {
        phrase: {names[at]: odds / 10**DIGITS for at, odds in zip(own[::2], own[1::2], strict=True)}
        for phrase, own in told.items()
    }
    return Sketch(start, odds, loaded["tables"], loaded["columns"])


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) in (int, float) and abs(one) <= LARGEST for one in value)


def elements(query: Anatomy) -> frozenset[str]:
    """The sketch of a query, the same for most ways to write the same.

    What its items are; how many items, tables, and conditions with a constant there are, each up to a number; and what
    else it does: IN with a subquery is but another join, ORDER BY with LIMIT another MAX or MIN.
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
    """One to three tokens in a row, how often some occur, and about how long the question is."""
    told = list(_once(["^", *_masked(question[: linking.CHARS], _names(schema)), "$"]))
    rows = (zip(*(told[start:] for start in range(length)), strict=False) for length in (1, 2, 3))
    counts = (f"{name} {min(told.count(token), most)}" for name, (token, most) in _MANY.items())
    size = f"length {min(len(told) // _LENGTH, 6)}"
    return frozenset({*(" ".join(row) for own in rows for row in own), *counts, size})


Names = tuple[frozenset[str], frozenset[str]]
"""The words of tables' names, and of columns'."""


@lru_cache(maxsize=8)
def _names(schema: Schema) -> Names:
    tables = {piece for table in schema.tables for piece in pieces(linking.bare(table))}
    return frozenset(tables), frozenset(p for table in schema.tables for c in table.columns for p in pieces(c.name))


def _masked(question: str, names: Names) -> Iterator[str]:
    for place, token in enumerate(_TOKEN.findall(question)):
        low = token.lower()
        if token[0] in "'\"“" and len(token) > 1:
            yield "<text>"
        elif low.isdigit():
            yield "<number>"
        elif kind := _kind(low, names):
            yield kind
        else:
            yield "<name>" if place and token[0].isupper() else low


@lru_cache(maxsize=1 << 16)
def _kind(word: str, names: Names) -> str:
    """Whether a word of the question names a table or a column; of both, what it is exactly, then a table."""
    own = words(word)
    if word in STOP_WORDS or len(word) < 3 or not own:
        return ""
    for least in (1.0, NAMED):
        for kind, known in zip(("<table>", "<column>"), names, strict=True):
            if own[0] in known or (least < 1 and any(likeness(own[0], piece) >= least for piece in known)):
                return kind
    return ""


def _once(tokens: Sequence[str]) -> Iterator[str]:
    """Without what repeats a mask right behind it."""
    for place, token in enumerate(tokens):
        if not (token[0] == "<" and place and tokens[place - 1] == token):
            yield token


def _linked(weights: Sequence[float], rows: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {
        name: _chance(sum(weight * figure for weight, figure in zip(weights, row, strict=True)))
        for name, row in rows.items()
    }


def _chance(odds: float) -> float:
    return min(max(1 / (1 + exp(-min(max(odds, -30.0), 30.0))), LEAST), 1 - LEAST)


def _log(chances: Mapping[str, float], there: frozenset[str]) -> float:
    """The log-probability that just these are there, of all that have a chance."""
    return sum(log(chance if name in there else 1 - chance) for name, chance in chances.items())
