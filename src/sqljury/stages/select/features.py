"""How far a group is backed by candidates beyond its own: results that overlap, queries that share a part.

What others say of queries: tests and the critic, as the light judge hears them.

What can be said of a group of candidates without a model, in numbers: for the light judge.

Every figure is of one group among those of the same question, computed from what the pipeline has when it chooses, and
what is said of its query and result is said of its speaker's. Nothing here knows which group is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from math import exp, log, log1p
from typing import Any, Final

from sqljury.language.alike import likeness, pieces, question_words
from sqljury.language.keywords import quoted
from sqljury.sql.features import Anatomy, anatomy
from sqljury.stages.select import cues
from sqljury.stages.select import cues as asked
from sqljury.stages.select.base import groups, members, spokesman
from sqljury.stages.select.consistency import rounded
from sqljury.stages.select.sketch import NOTHING, Sketch
from sqljury.types import Candidate, Question, Result, Schema, Task

ROWS: Final = 1000
"""Rows of a result that are looked at."""

Cells = Counter[Hashable]


def overlaps(candidates: Sequence[Candidate], speakers: Mapping[int, int]) -> dict[int, float]:
    """By group the mean overlap of its speaker's result with those of all candidates: 1 with its own, 0 with failed.

    ``speakers`` are places of candidates by group. Another group's candidates all count as their speaker.
    """
    sizes = Counter(one.group for one in candidates)
    cells = {group: _cells(candidates[place].result) for group, place in speakers.items()}
    return {
        group: sum(sizes[other] * (1.0 if other == group else overlap(own, cells[other])) for other in cells)
        / len(candidates)
        for group, own in cells.items()
    }


def overlap(one: Cells, other: Cells) -> float:
    """F1 of the cells of two results, from 0 to 1, whatever the order of rows and columns; 0 where one has none."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total and one and other else 0.0


def _cells(result: Result) -> Cells:
    shown = rounded(Result(rows=result.rows[:ROWS]))
    return Counter(_hashable(cell) for row in shown.rows for cell in row)


def _hashable(cell: Any) -> Hashable:
    """Cells of some engines are lists."""
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell  # type: ignore[no-any-return]


def sharing(own: Anatomy, queries: Sequence[Anatomy]) -> dict[str, float]:
    """The shares of all candidates whose query agrees with the group's in a part; ``queries`` are of all of them."""
    return {
        "same_tables": _share(set(one.tables) == set(own.tables) for one in queries if one.parsed),
        "same_items": _share(one.items == own.items for one in queries if one.parsed),
        "same_restrictions": _share(one.restrictions == own.restrictions for one in queries if one.parsed),
        "same_elements": _share(one.elements == own.elements for one in queries if one.parsed),
    }


def _share(agreeing: Iterable[bool]) -> float:
    listed = list(agreeing)
    return sum(listed) / len(listed) if listed else 0.0


TESTED: Final = "tests_passed"
CRITIC: Final = "critic"
"""With the tests what costs something to know; whoever chooses asks for these only where they have weights."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What others say of queries, by their text: the share of tests that each passed, and the critic's score of it."""

    tests: Mapping[str, float] = field(default_factory=dict)
    critic: Mapping[str, float] = field(default_factory=dict)


NONE: Final = Opinions()


def passed(told: Iterable[tuple[Sequence[str], Sequence[bool | None], float]]) -> dict[str, float]:
    """By query the share of tests that it passed, of those that say; each test has its queries, passes and sureness."""
    weights: dict[str, list[float]] = {}
    for queries, passed, sureness in told:
        for sql, outcome in zip(queries, passed, strict=False):
            if outcome is not None:
                known = weights.setdefault(sql, [0.0, 0.0])
                known[not outcome] += sureness
    return {sql: good / (good + bad) for sql, (good, bad) in weights.items() if good + bad > 0}


ALIKE: Final = 0.7
"""From here on a word of the question counts as naming a column or table, see ``schema.alike.likeness``."""
LEAST_LOGPROB: Final = -60.0
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"\w+")
_QUOTES: Final = re.compile(r"('[^']*'|\"[^\"]*\")")
_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELT: Final = {word: str(number) for number, word in enumerate(_WORDS, 2)}


def features(
    candidates: Sequence[Candidate], task: Task, opinions: Opinions = NONE, sketch: Sketch | None = None
) -> dict[int, dict[str, float]]:
    """By group its figures by name, always the same names in the same order; candidates are grouped.

    A query that was not tested counts as having passed half, one that the critic did not see as having no score: where
    nobody was asked, that is the same for all groups and decides nothing. So it is without a sketch.
    """
    taking_part = groups(candidates)
    speakers = {group: spokesman(candidates, group) for group in taking_part}
    read = {sql: anatomy(sql, task.known) for sql in dict.fromkeys(one.sql for one in candidates)}
    queries = [read[one.sql] for one in candidates]
    overlapping = overlaps(candidates, speakers)
    likely = _probabilities(candidates, taking_part)
    expected = _expected(task, [queries[place] for place in speakers.values()], sketch)
    return {
        group: {
            **_votes(candidates, group),
            "overlap": overlapping[group],
            **sharing(queries[speakers[group]], queries),
            **likely[group],
            **_of_speaker(candidates[speakers[group]], queries[speakers[group]], task),
            **expected[place],
            TESTED: opinions.tests.get(candidates[speakers[group]].sql, 0.5),
            CRITIC: opinions.critic.get(candidates[speakers[group]].sql, 0.0),
        }
        for place, group in enumerate(taking_part)
    }


def _expected(task: Task, queries: Sequence[Anatomy], sketch: Sketch | None) -> Sequence[Mapping[str, float]]:
    """Of each query how far it is what the question lets expect; one that no parser reads is as far as the farthest."""
    if sketch is None:
        return [NOTHING for _ in queries]
    found = sketch.figures(task.question.whole, task.known, queries)
    read = [figures for figures, query in zip(found, queries, strict=True) if query.parsed]
    if not read:
        return [NOTHING for _ in queries]
    worst = {name: min(figures[name] for figures in read) for name in NOTHING}
    return [figures if query.parsed else worst for figures, query in zip(found, queries, strict=True)]


def _of_speaker(speaker: Candidate, query: Anatomy, task: Task) -> dict[str, float]:
    question = task.question.whole
    return {
        **_result(speaker.result),
        **_asked_shape(task.question.text, speaker.result),
        **_shape(query),
        **_cues(question, query),
        **_constants(question, query, task),
        **_names(question, query, task.known),
    }


def _votes(candidates: Sequence[Candidate], group: int) -> dict[str, float]:
    own = [candidates[place] for place in members(candidates, group)]
    kinds = ("schema", "dialect", "values", "model")
    return {
        "votes_share": len(own) / len(candidates),  # of all candidates, failed ones too
        "votes_log": log(len(own)),
        "votes_first": float(group == 0),  # whether it is what votes choose
        "first_part": float(min(one.part for one in candidates) in {one.part for one in own}),  # greedy in most recipes
        "queries_log": log(len({_bare(one.sql) for one in own})),  # different queries that agree
        # the share of its candidates that needed a repair of each kind
        **{f"fixed_{kind}": _mean(float(any(fix.by == kind for fix in one.fixes)) for one in own) for kind in kinds},
    }


def _bare(sql: str) -> str:
    """Without what case and blanks mean nothing: all but what is quoted."""
    pieces = _QUOTES.split(sql)
    return "".join(piece if place % 2 else " ".join(piece.casefold().split()) for place, piece in enumerate(pieces))


def _probabilities(candidates: Sequence[Candidate], taking_part: Sequence[int]) -> dict[int, dict[str, float]]:
    """By group its log-probabilities, less the best that the same generator's candidates have: prompts differ.

    All 0 where the backend gives none; the worst measure for a group without one where others have some.
    """
    known = [one for one in candidates if one.group is not None and one.logprob is not None]
    whole = _relative([(one, max(one.logprob or 0.0, LEAST_LOGPROB)) for one in known])
    even = _relative([(one, 20 * max(one.logprob or 0.0, LEAST_LOGPROB) / max(20, len(one.sql))) for one in known])
    best, spread = _best(whole), _best(even)
    worst = LEAST_LOGPROB if known else 0.0
    return {
        group: {
            "logprob_best": best.get(group, worst),  # its likeliest candidate
            "logprob_even": spread.get(group, worst),  # the same for 20 letters of the query
            "logprob_mass": _mass(whole, group, worst),  # its different queries together
            "logprob_rank": log1p(sum(other > best.get(group, worst) for other in best.values())),  # likelier groups
        }
        for group in taking_part
    }


Figures = Sequence[tuple[Candidate, float]]


def _relative(figures: Figures) -> Figures:
    """Each less the greatest of the same generator."""
    best: dict[str, float] = {}
    for one, figure in figures:
        best[one.generator] = max(figure, best.get(one.generator, figure))
    return [(one, figure - best[one.generator]) for one, figure in figures]


def _best(figures: Figures) -> dict[int, float]:
    found: dict[int, float] = {}
    for one, figure in figures:
        if one.group is not None:
            found[one.group] = max(figure, found.get(one.group, figure))
    return found


def _mass(figures: Figures, group: int, worst: float) -> float:
    """The log of the sum over different queries, each by each generator once, at its likeliest."""
    known: dict[tuple[str, str], float] = {}
    for one, figure in figures:
        if one.group == group:
            key = (one.generator, _bare(one.sql))
            known[key] = max(figure, known.get(key, figure))
    if not known:
        return worst
    best = max(known.values())
    return best + log(sum(exp(one - best) for one in known.values()))


def _result(result: Result) -> dict[str, float]:
    rows = result.rows[:ROWS]
    cells = [cell for row in rows for cell in row]
    return {
        "rows_none": float(not rows),
        "rows_one": float(len(result.rows) == 1),
        "rows_log": log1p(len(result.rows)),
        "rows_cut": float(result.truncated),
        "rows_repeat": float(_repeats(result)),
        "cells_null": sum(cell is None for cell in cells) / len(cells) if cells else 0.0,
        "only_nothing": float(bool(cells) and all(cell is None or cell in (0, "") for cell in cells)),
        "columns": float(len(result.columns)),
    }


def _repeats(result: Result) -> bool:
    rows = result.rows[:ROWS]
    return len({repr(row) for row in rows}) < len(rows)


def _asked_shape(question: str, result: Result) -> dict[str, float]:
    """How the result's shape differs from what the question asks for, see ``select.asked``."""
    listed, count = asked.items(question), len(result.rows)
    figures = any(isinstance(cell, (int, float, Decimal)) for cell in (result.rows[0] if result.rows else ()))
    faults = {
        "not_one": asked.one_row(question) and count != 1,  # a superlative, or how many, and not one row
        "not_several": asked.groups(question) and count == 1,  # for each of several, and one row
        "no_number": asked.number(question) and not figures,  # how many, and no number
        "told_twice": asked.different(question) and _repeats(result),  # different ones, and rows repeat
        "columns_over": 0 < listed < len(result.columns),  # more columns than asked for
        "columns_under": listed > len(result.columns),  # fewer
    }
    return {"faults": float(sum(faults.values())), **{name: float(fault) for name, fault in faults.items()}}


def _shape(query: Anatomy) -> dict[str, float]:
    return {
        "unread": float(not query.parsed),
        "tables": float(len(query.tables)),
        "joins": float(query.joins),
        "joins_unlinked": float(query.unlinked),  # joins without any condition
        "tables_idle": float(len(query.idle)),  # joined, and nothing is asked of them
        "ties_strange": float(query.strange),  # columns taken for the same that no key ties, nor their name
        "ties_namesake": float(query.namesakes),  # the same with one name
        "selects": float(query.selects),
        "conditions": float(query.conditions),
        "star": float("star" in query.elements and "count" not in query.elements),
        "bounded": float("bounded" in query.elements),  # LIMIT without ORDER BY
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


def _constants(question: str, query: Anatomy, task: Task) -> dict[str, float]:
    """Texts and numbers that the question has and the query lacks, and the other way round."""
    said = question.casefold()
    told = "\n".join((said, *task.notes)).casefold()  # values of the database that the question seems to mean
    texts = [text.casefold().strip("% ") for text in query.texts]
    named = {*_NUMBER.findall(said), *(_SPELT[word] for word in _WORD.findall(said) if word in _SPELT)}
    used = {number for text in (*query.numbers, *texts) for number in _NUMBER.findall(text)}
    marks = [text.casefold() for text in quoted(question)]
    return {
        "numbers_missing": float(len(named - used)),
        "numbers_unfounded": float(len({one for one in query.numbers if one not in named and one not in "01"})),
        "texts": float(len(texts)),
        "texts_unsaid": float(sum(text not in said for text in texts)),  # not in the question
        "texts_unfounded": float(sum(text not in told for text in texts)),  # nor among values that it may mean
        "quotes_missing": float(sum(not any(one in text or text in one for text in texts if text) for one in marks)),
        **_values(query, task.hits),
    }


def _values(query: Anatomy, hits: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Columns with values that the question seems to name, and the query does not use."""
    unused = [(score, column.lower() not in query.columns) for _, column, score in hits]
    total = sum(score for score, _ in unused)
    return {
        "values_unused": sum(score for score, missed in unused if missed) / total if total else 0.0,
        "value_unused": float(max(unused, default=(0.0, False))[1]),  # the surest of them
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
    return tuple(features((Candidate("", "", group=0),), nothing)[0])
