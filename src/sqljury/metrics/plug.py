"""Gold's values in the place of the predicted ones, for models that do not predict values (Zhong et al. 2020).

The published test-suite program does so under ``--plug_value``: a prediction is right when it is as written, or with
some choice of gold's values in its places for values. What follows is read off its behaviour: strings, in whichever
quotes, and numbers are values, the one behind LIMIT too; a value of gold may be used in several places or in none; and
``T1.*`` to ``T3.*`` are read as the star.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Final, NamedTuple

MAX_VARIANTS: Final = 4096
"""Variants of one prediction that are tried; the published program has no such limit and may try for days."""

_TOKEN: Final = re.compile(
    r"""
      (?P<string> '(?:[^']|'')*' | "(?:[^"]|"")*" )
    | (?P<name> `[^`]*` | \[[^\]]*\] | [^\W\d]\w* )
    | (?P<number> \d+(?:\.\d*)? | \.\d+ )
    | (?P<other> \S )
    """,
    re.VERBOSE,
)
_STAR: Final = re.compile(r"\b[tT][123]\.\*")
_BEFORE_SIGNS: Final = frozenset(
    {"and", "between", "by", "case", "else", "having", "in", "like", "limit", "not", "offset", "on", "or", "select"}
    | {"then", "values", "when", "where"}
)


class _Template(NamedTuple):
    """A query cut at its values: ``pieces`` are what stands before, between and behind ``values``."""

    pieces: list[str]
    values: list[str]


def plugged(gold_sql: str, predicted_sql: str) -> Iterator[str]:
    """The prediction as written, then with gold's values in every way, at most ``MAX_VARIANTS`` of them."""
    yield predicted_sql
    values = list(dict.fromkeys(_template(gold_sql).values))
    pieces, slots = _template(_STAR.sub("*", predicted_sql))
    for choice in islice(product(values, repeat=len(slots)), MAX_VARIANTS):
        yield pieces[0] + "".join(value + piece for value, piece in zip(choice, pieces[1:], strict=True))


def _template(sql: str) -> _Template:
    pieces, values, end = [], [], 0
    for start, stop in _spans(sql):
        pieces.append(sql[end:start])
        values.append(sql[start:stop])
        end = stop
    return _Template([*pieces, sql[end:]], values)


def _spans(sql: str) -> Iterator[tuple[int, int]]:
    """Where the values stand; a minus that cannot be a subtraction is part of its number."""
    before, sign = "", -1
    for match in _TOKEN.finditer(sql):
        if match["string"] or match["number"]:
            yield (match.start() if sign < 0 else sign), match.end()
        if match["other"] == "-" and (before in _BEFORE_SIGNS or before in set("=<>!(,+-*/%|")):
            sign = match.start()
        else:
            sign = -1
        # What a minus can be subtracted from counts as a name.
        before = (match["name"] or match["other"] or "value").lower()
