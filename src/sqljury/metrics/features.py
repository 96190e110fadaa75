"""What a query is made of, for slices of results: read off its text, so it holds for every dialect."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

from sqljury.sql.scan import pieces

_WORDS: Final = {
    "where": "WHERE",
    "having": "HAVING",
    "limit": "LIMIT",
    "distinct": "DISTINCT",
    "like": "LIKE",
    "in": "IN",
    "between": "BETWEEN",
    "exists": "EXISTS",
    "or": "OR",
    "not": "NOT",
    "case": "CASE",
    "over": "window",
    "union": "set operator",
    "intersect": "set operator",
    "except": "set operator",
}
_PAIRS: Final = {("group", "by"): "GROUP BY", ("order", "by"): "ORDER BY", ("is", "null"): "IS NULL"}
_AGGREGATES: Final = frozenset({"count", "sum", "avg", "min", "max", "total", "group_concat"})
_SET_OPERATORS: Final = frozenset({"union", "intersect", "except"})


class Features(NamedTuple):
    """``clauses`` in alphabetical order, each once; ``joins`` counts the word JOIN, not commas in FROM."""

    clauses: tuple[str, ...]
    joins: int


def features(sql: str) -> Features:
    """The clauses and joins of a query, those of its subqueries among them."""
    words = [piece.lower() for _, piece in pieces(sql)]
    found = {_WORDS[word] for word in words if word in _WORDS}
    for pair in pairwise(words):
        if pair in _PAIRS:
            found.add(_PAIRS[pair])
        if pair[0] in _AGGREGATES and pair[1] == "(":
            found.add("aggregate")
    if words.count("select") > 1 + sum(word in _SET_OPERATORS for word in words):
        found.add("subquery")
    if words[:1] == ["with"]:
        found.add("WITH")
    joins = words.count("join")
    if joins:
        found.add("JOIN")
    return Features(tuple(sorted(found)), joins)
