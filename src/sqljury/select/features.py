"""What can be said of a group of candidates without a model, in numbers: for the light judge.

Every figure is of one group among those of the same question, computed from what the pipeline has when it chooses.
Nothing here knows which group is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import exp, log, log1p
from typing import Final

from sqljury.schema.alike import likeness, pieces, question_words
from sqljury.schema.keywords import quoted
from sqljury.select import cues
from sqljury.select.anatomy import Anatomy, anatomy
from sqljury.select.base import members
from sqljury.select.judge import spokesman
from sqljury.types import Candidate, Question, Result, Schema, Task

ALIKE: Final = 0.7
"""From here on a word of the question counts as naming a column or table, see ``schema.alike.likeness``."""
TESTED: Final = "tests_passed"
"""The one feature that costs something to know; whoever chooses asks for it only where it has a weight."""
NO_OPINIONS: Final[Mapping[str, float]] = {}
LEAST_LOGPROB: Final = -60.0
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"\w+")
_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELT: Final = {word: str(number) for number, word in enumerate(_WORDS, 2)}


def features(
    candidates: Sequence[Candidate], group: int, task: Task, opinions: Mapping[str, float] = NO_OPINIONS
) -> dict[str, float]:
    """The figures of one group by name, always the same names in the same order; candidates are grouped.

    ``opinions`` are the shares of tests that queries passed. A query without one counts as having passed half: where
    nothing was tested, that is the same for all groups and decides nothing.
    """
    own = [candidates[place] for place in members(candidates, group)]
    speaker = candidates[spokesman(candidates, group)]
    question = f"{task.question.text} {task.question.evidence}".strip()
    query = anatomy(speaker.sql, task.schema)
    return {
        **_votes(own, candidates, group),
        **_probability(own, speaker),
        **_fixes(own),
        **_result(speaker.result),
        **_shape(query),
        **_cues(question, query),
        **_constants(question, query),
        **_names(question, query, task.schema),
        TESTED: opinions.get(speaker.sql, 0.5),
    }


def opinions(told: Iterable[tuple[Sequence[str], Sequence[bool | None], float]]) -> dict[str, float]:
    """By query the share of tests that it passed, of those that say; each test has its queries, passes and sureness."""
    weights: dict[str, list[float]] = {}
    for queries, passed, sureness in told:
        for sql, outcome in zip(queries, passed, strict=False):
            if outcome is not None:
                known = weights.setdefault(sql, [0.0, 0.0])
                known[not outcome] += sureness
    return {sql: good / (good + bad) for sql, (good, bad) in weights.items() if good + bad > 0}


def _votes(own: Sequence[Candidate], candidates: Sequence[Candidate], group: int) -> dict[str, float]:
    parts = {one.part for one in candidates}
    return {
        "votes_share": len(own) / len(candidates),
        "votes_log": log(len(own)),
        "votes_first": float(group == 0),
        "votes_alone": float(len(own) == 1),
        "parts_share": len({one.part for one in own}) / len(parts),
        "first_part": float(min(parts) in {one.part for one in own}),
        "queries_log": log(len({_bare(one.sql) for one in own})),
    }


def _bare(sql: str) -> str:
    return " ".join(sql.casefold().split())


def _probability(own: Sequence[Candidate], speaker: Candidate) -> dict[str, float]:
    """Log-probabilities, all 0 where the backend gives none; ``mass`` is that of the group's different queries."""
    known = {_bare(one.sql): max(one.logprob, LEAST_LOGPROB) for one in own if one.logprob is not None}
    best = max(known.values(), default=0.0)
    return {
        "logprob_best": best,
        "logprob_per_letter": 20 * best / max(20, len(speaker.sql)),
        "logprob_mass": best + log(sum(exp(one - best) for one in known.values())) if known else 0.0,
    }


def _fixes(own: Sequence[Candidate]) -> dict[str, float]:
    """The share of candidates that needed a repair of each kind."""
    kinds = ("schema", "dialect", "values", "model")
    return {f"fixed_{kind}": sum(any(fix.by == kind for fix in one.fixes) for one in own) / len(own) for kind in kinds}


def _result(result: Result) -> dict[str, float]:
    cells = [cell for row in result.rows[:1000] for cell in row]
    rows = result.rows[:1000]
    return {
        "rows_none": float(not rows),
        "rows_one": float(len(result.rows) == 1),
        "rows_log": log1p(len(result.rows)),
        "rows_cut": float(result.truncated),
        "rows_repeat": float(len({repr(row) for row in rows}) < len(rows)),
        "cells_null": sum(cell is None for cell in cells) / len(cells) if cells else 0.0,
        "only_nothing": float(bool(cells) and all(cell is None or cell in (0, "") for cell in cells)),
        "columns": float(len(result.rows[0]) if result.rows else 0),
    }


def _shape(query: Anatomy) -> dict[str, float]:
    return {
        "unread": float(not query.parsed),
        "tables": float(len(query.tables)),
        "joins": float(query.joins),
        "selects": float(query.selects),
        "conditions": float(query.conditions),
        "star": float("star" in query.elements and "count" not in query.elements),
        "bounded": float("bounded" in query.elements),
        "tables_unjoined": float(len(query.tables) > 1 and query.joins == 0 and query.selects == 1),
    }


def _cues(question: str, query: Anatomy) -> dict[str, float]:
    missing, uncalled = cues.missing(question, query), cues.uncalled(question, query)
    return {
        "missing": sum(missing.values()),
        "extra": sum(uncalled.values()),
        **{f"missing_{name}": value for name, value in missing.items()},
        **{f"extra_{name}": value for name, value in uncalled.items()},
        "direction": cues.direction(question, query),
    }


def _constants(question: str, query: Anatomy) -> dict[str, float]:
    """Texts and numbers that the question has and the query lacks, and the other way round."""
    said = question.casefold()
    texts = [text.casefold().strip("% ") for text in query.texts]
    asked = {*_NUMBER.findall(said), *(_SPELT[word] for word in _WORD.findall(said) if word in _SPELT)}
    used = {number for text in (*query.numbers, *texts) for number in _NUMBER.findall(text)}
    marks = [text.casefold() for text in quoted(question)]
    return {
        "numbers_missing": float(len(asked - used)),
        "numbers_unfounded": float(len({one for one in query.numbers if one not in asked and one not in "01"})),
        "texts": float(len(texts)),
        "texts_unfounded": float(sum(text not in said for text in texts)),
        "quotes_missing": float(sum(not any(one in text or text in one for text in texts if text) for one in marks)),
    }


def _names(question: str, query: Anatomy, schema: Schema) -> dict[str, float]:
    """How far the names that the query uses are those of the question, and how much of the question they cover."""
    words = question_words(question)
    named = [piece for name in (*query.tables, *query.columns, *query.texts) for piece in pieces(name)]
    selected, keys = [name for name in query.selected if name], _keys(schema)
    return {
        "words_covered": _mean(float(_said(word, named)) for word in words),
        "tables_unasked": float(sum(not _asked(name, words) for name in query.tables)),
        "columns_unasked": float(sum(not _asked(name, words) for name in query.columns)),
        "selected": float(len(query.selected)),
        "selected_unasked": float(sum(not _asked(name, words) for name in selected)),
        "selected_likeness": _mean(_likeness(name, words) for name in selected),
        "selected_key": float(sum(name in keys for name in selected)),
    }


def _keys(schema: Schema) -> frozenset[str]:
    return frozenset(name.lower() for table in schema.tables for name in table.primary_key)


def _said(word: str, names: Sequence[str]) -> bool:
    return any(likeness(word, piece) >= ALIKE for piece in names)


def _asked(name: str, words: Sequence[str]) -> bool:
    """Whether the question has a word for any piece of the name."""
    return any(_said(word, pieces(name)) for word in words)


def _likeness(name: str, words: Sequence[str]) -> float:
    """The mean, over the pieces of a name, of the likest word of the question."""
    return _mean(max((likeness(word, piece) for word in words), default=0.0) for piece in pieces(name))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


@cache
def names() -> tuple[str, ...]:
    """All features, in their order."""
    nothing = Task(Question(""), Schema("", "sqlite", ()), "")
    return tuple(features((Candidate("", "", group=0),), 0, nothing))
