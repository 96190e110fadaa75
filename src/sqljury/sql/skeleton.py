"""A query's form without what belongs to its database: names and values masked (DAIL-SQL, section 3.2)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

# Read by this pattern and not by the parser's tokenizer: examples come in any dialect, with any quotes, and may not
# even be SQL, and a pool of ten thousand is read before its first question is answered.
_TOKEN: Final = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]\d][^\]]*\])"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<mark><>|!=|<=|>=|\|\||[^\s\w;])",
    re.DOTALL,
)
_WORDS: Final = """
    all and any avg between by case cast count desc distinct else end except exists from full group having in
    intersect interval is join left like limit max min not null offset on or order over partition recursive right
    select sum then union when where window with
"""
_KEPT: Final = frozenset(_WORDS.split())
_DROPPED: Final = frozenset(["as", "asc", "inner", "outer"])
_SAME: Final = {"<>": "!="}
MASK: Final = "_"

# In this order: aliases and lists of names become one mask, then the conditions that only follow keys go.
_FOLDS: Final = (
    (re.compile(r"\b_(?: \. (?:_|\*))+"), "_"),
    (re.compile(r"\b_(?: _)+\b"), "_"),
    (re.compile(r" on _ = _(?: and _ = _)*\b"), ""),
    (re.compile(r"\b_(?: , _)+\b"), "_"),
)


class Reading(NamedTuple):
    """A query taken apart: its form, the names that stand in it, and its text values; a name in quotes is in both."""

    form: str
    names: tuple[str, ...]
    values: tuple[str, ...]


def read(sql: str) -> Reading:
    """Take a query apart, of any dialect; text that is no query gives a form too, like that of no other."""
    form, names, values = list[str](), list[str](), list[str]()
    for match in _TOKEN.finditer(sql):
        kind, token = match.lastgroup, match[0]
        if kind == "mark":
            form.append(_SAME.get(token, token))
        elif kind == "word":
            word = token.lower()
            if word in _KEPT or sql[match.end() : match.end() + 1] == "(":
                form.append(word)
            elif word not in _DROPPED:
                names.append(token)
                form.append(MASK)
        elif kind in ("text", "number"):
            form.append(MASK)
            if kind == "text":
                values.append(token[1:-1])
                if token[0] != "'":
                    names.append(token[1:-1])
    return Reading(_folded(" ".join(form)), tuple(names), tuple(values))


def _folded(form: str) -> str:
    for pattern, put in _FOLDS:
        form = pattern.sub(put, form)
    return form


def features(form: str) -> frozenset[str]:
    """What two forms are compared by: their tokens, and each token with the one after it."""
    tokens = form.split()
    return frozenset(tokens) | {f"{token} {following}" for token, following in pairwise(tokens)}


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """The share of the features of either that both have (Jaccard), 0 to 1."""
    shared = len(left & right)
    return shared / max(len(left) + len(right) - shared, 1)


def bare(sql: str) -> str:
    """The query without its comments and the semicolon at its end, so that it may stand on one line."""
    kept = _TOKEN.sub(lambda match: " " if match.lastgroup == "comment" else match[0], sql)
    return kept.strip().rstrip("; \n")
