"""Features of a group of candidates, as numbers: what the light judge weighs.

Each figure describes one group among those of a question, computed without a model from what the pipeline has when it
chooses: votes, log-probabilities, results, and the query against the question. Query and result of a group are those of
its representative. No feature depends on which group is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from math import exp, log, log1p
from typing import Final

from sqljury.context import Context
from sqljury.language import cues
from sqljury.language.alike import likeness, pieces, question_words
from sqljury.language.keywords import quoted
from sqljury.language.words import NUMBER_WORDS
from sqljury.sql.compare import VOTES, canonical, cell_key
from sqljury.sql.features import Anatomy, anatomy
from sqljury.stages.select.base import members, representatives
from sqljury.stages.select.sketch import NOTHING, Sketch
from sqljury.types import Candidate, Question, Result, Schema, Task
from sqljury.types.candidate import total_weight

ROWS: Final = 1000
"""Rows of a result that are read."""
ALIKE: Final = 0.7
"""Likeness from which on a word of the question counts as naming a column or table, see ``language.alike.likeness``."""
LEAST_LOGPROB: Final = -60.0
TESTED: Final = "tests_passed"
JUDGED: Final = "judge_score"
"""These two features cost calls of a model, and are computed only where they have weights."""

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"\w+")
_QUOTES: Final = re.compile(r"('[^']*'|\"[^\"]*\")")
_SPELT: Final = {word: str(number) for number, word in enumerate(NUMBER_WORDS[2:], 2)}


@dataclass(frozen=True, slots=True)
class Opinions:
    """What tests and a judge say, by query: the share of tests that it passed, and its score by a ``Scorer``."""

    tests: Mapping[str, float] = field(default_factory=dict)
    judge: Mapping[str, float] = field(default_factory=dict)


NONE: Final = Opinions()


def passed(tests: Iterable[tuple[Sequence[str], Sequence[bool | None], float]]) -> dict[str, float]:
    """By query the weighted share of tests that it passed; each test has its queries, their outcomes and its weight.

    An outcome of None does not count; a query without any other outcome is left out.
    """
    weights: dict[str, list[float]] = {}
    for queries, outcomes, weight in tests:
        for sql, outcome in zip(queries, outcomes, strict=False):
            if outcome is not None:
                known = weights.setdefault(sql, [0.0, 0.0])
                known[not outcome] += weight
    return {sql: good / (good + bad) for sql, (good, bad) in weights.items() if good + bad > 0}


@dataclass(frozen=True, slots=True)
class Described:
    """What candidates say by themselves: the parts of each one's query, and features of each group, by name."""

    queries: Sequence[Anatomy]
    groups: Mapping[int, Mapping[str, float]]


def described(candidates: Sequence[Candidate], task: Task) -> Described:
    """What `features` rests on but for opinions and a sketch; candidates are grouped."""
    chosen = representatives(candidates)
    parsed = {sql: anatomy(sql, task.known) for sql in dict.fromkeys(candidate.sql for candidate in candidates)}
    queries = [parsed[candidate.sql] for candidate in candidates]
    overlapping = overlaps(candidates, chosen)
    likely = _probabilities(candidates, list(chosen))
    groups = {
        group: {
            **_votes(candidates, group),
            "overlap": overlapping[group],
            **_sharing(queries[index], list(zip(queries, candidates, strict=True))),
            **likely[group],
            **_of_representative(candidates[index], queries[index], task),
        }
        for group, index in chosen.items()
    }
    return Described(queries, groups)


def described_once(candidates: Sequence[Candidate], task: Task, context: Context) -> Described:
    """The same, made once for the candidates of the context's question, whoever asks first."""
    identity = tuple(
        (query.sql, query.generator, query.logprob, query.group, query.part, query.fixes, query.weight)
        for query in candidates
    )
    key = ("features", identity, task.question, task.notes, task.hits)
    return context.once.get(key, lambda: described(candidates, task), context.cancel)


def features(
    candidates: Sequence[Candidate],
    task: Task,
    opinions: Opinions = NONE,
    sketch: Sketch | None = None,
    known: Described | None = None,
) -> dict[int, dict[str, float]]:
    """By group its features by name, always the same names in the same order; candidates are grouped.

    ``known`` is what ``described`` made of the same candidates. A query without tests counts as having passed half of
    them, one without the judge's score as having 0. Where nothing was tested or judged, and without a sketch, these
    are the same for all groups, so they decide nothing.
    """
    known = known or described(candidates, task)
    chosen = representatives(candidates)
    expected = _expected(task, [known.queries[index] for index in chosen.values()], sketch)
    return {
        group: {
            **known.groups[group],
            **from_sketch,
            TESTED: opinions.tests.get(candidates[index].sql, 0.5),
            JUDGED: opinions.judge.get(candidates[index].sql, 0.0),
        }
        for (group, index), from_sketch in zip(chosen.items(), expected, strict=True)
    }


@cache
def names() -> tuple[str, ...]:
    """All features, in their order."""
    nothing = Task(Question(""), Schema("", "sqlite", ()), "")
    return tuple(features((Candidate("", "", group=0),), nothing)[0])


def _of_representative(candidate: Candidate, query: Anatomy, task: Task) -> dict[str, float]:
    question = task.question.whole
    return {
        **_result(candidate.result),
        **_asked_shape(task.question.text, candidate.result),
        **_shape(query),
        **_cues(question, query),
        **_constants(question, query, task),
        **_names(question, query, task.known),
    }


def _votes(candidates: Sequence[Candidate], group: int) -> dict[str, float]:
    voters = [candidates[index] for index in members(candidates, group)]
    kinds = ("schema", "dialect", "values", "model")
    votes = total_weight(voters)
    different: dict[str, float] = {}
    for voter in voters:
        different[_bare(voter.sql)] = different.get(_bare(voter.sql), 0.0) + voter.weight
    return {
        "votes_share": votes / total_weight(candidates),  # of all candidates, failed ones too
        "votes_log": log(votes),
        "votes_first": float(group == 0),  # whether votes choose it
        # greedy in most recipes
        "first_part": float(min(candidate.part for candidate in candidates) in {voter.part for voter in voters}),
        "queries_log": log(sum(min(1.0, weight) for weight in different.values())),  # different queries that agree
        # the share of its candidates that needed a repair of each kind
        **{
            f"fixed_{kind}": _mean(float(any(fix.by == kind for fix in voter.fixes)) for voter in voters)
            for kind in kinds
        },
    }


def _bare(sql: str) -> str:
    """The query with case folded and blanks collapsed, except in quotes."""
    pieces = _QUOTES.split(sql)
    return "".join(piece if at % 2 else " ".join(piece.casefold().split()) for at, piece in enumerate(pieces))


Cells = Counter[Hashable]


def overlaps(candidates: Sequence[Candidate], chosen: Mapping[int, int]) -> dict[int, float]:
    """By group the mean overlap of its result with those of all candidates: 1 with its own, 0 with failed ones.

    ``chosen`` holds the index of each group's representative, whose result stands for all of the group.
    """
    sizes = {group: total_weight(candidates[index] for index in members(candidates, group)) for group in chosen}
    whole = total_weight(candidates)
    if len(chosen) < 2:
        return {group: size / whole for group, size in sizes.items()}
    cells = {group: _cells(candidates[index].result) for group, index in chosen.items()}
    return {
        group: sum(sizes[other] * (1.0 if other == group else _overlap(counts, cells[other])) for other in cells)
        / whole
        for group, counts in cells.items()
    }


def _overlap(first: Cells, second: Cells) -> float:
    """F1 of the cells of two results, whatever the order of rows and columns; 0 where one has none."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total and first and second else 0.0


def _cells(result: Result) -> Cells:
    return Counter(cell_key(cell) for row in canonical(result.rows[:ROWS], VOTES) for cell in row)


def _sharing(representative: Anatomy, queries: Sequence[tuple[Anatomy, Candidate]]) -> dict[str, float]:
    """The shares of all candidates' queries that agree with the group's in a part."""
    parsed = [(query, candidate) for query, candidate in queries if query.parsed]
    whole = total_weight(candidate for _, candidate in parsed)

    def share(agrees: Callable[[Anatomy], bool]) -> float:
        return total_weight(candidate for query, candidate in parsed if agrees(query)) / whole if parsed else 0.0

    return {
        "same_tables": share(lambda query: set(query.tables) == set(representative.tables)),
        "same_items": share(lambda query: query.items == representative.items),
        "same_restrictions": share(lambda query: query.restrictions == representative.restrictions),
        "same_elements": share(lambda query: query.elements == representative.elements),
    }


Logprobs = Sequence[tuple[Candidate, float]]


def _probabilities(candidates: Sequence[Candidate], taking_part: Sequence[int]) -> dict[int, dict[str, float]]:
    """By group its log-probabilities, less the best that the same generator's candidates have: prompts differ.

    All 0 where the backend gives none; the worst value for a group without one where others have some.
    """
    known = [candidate for candidate in candidates if candidate.group is not None and candidate.logprob is not None]
    whole = _relative([(candidate, max(candidate.logprob or 0.0, LEAST_LOGPROB)) for candidate in known])
    even = _relative(
        [
            (candidate, 20 * max(candidate.logprob or 0.0, LEAST_LOGPROB) / max(20, len(candidate.sql)))
            for candidate in known
        ]
    )
    best, best_even = _best(whole), _best(even)
    worst = LEAST_LOGPROB if known else 0.0
    return {
        group: {
            "logprob_best": best.get(group, worst),  # its likeliest candidate
            "logprob_even": best_even.get(group, worst),  # the same for 20 characters of the query
            "logprob_mass": _mass(whole, group, worst),  # its different queries together
            "logprob_rank": log1p(sum(value > best.get(group, worst) for value in best.values())),  # likelier groups
        }
        for group in taking_part
    }


def _relative(logprobs: Logprobs) -> Logprobs:
    """Each less the greatest of the same generator."""
    best: dict[str, float] = {}
    for candidate, logprob in logprobs:
        best[candidate.generator] = max(logprob, best.get(candidate.generator, logprob))
    return [(candidate, logprob - best[candidate.generator]) for candidate, logprob in logprobs]


def _best(logprobs: Logprobs) -> dict[int, float]:
    best: dict[int, float] = {}
    for candidate, logprob in logprobs:
        if candidate.group is not None:
            best[candidate.group] = max(logprob, best.get(candidate.group, logprob))
    return best


def _mass(logprobs: Logprobs, group: int, worst: float) -> float:
    """The log of the sum over different queries, each by each generator once, at its likeliest."""
    known: dict[tuple[str, str], float] = {}
    for candidate, logprob in logprobs:
        if candidate.group == group:
            key = (candidate.generator, _bare(candidate.sql))
            known[key] = max(logprob, known.get(key, logprob))
    if not known:
        return worst
    best = max(known.values())
    return best + log(sum(exp(logprob - best) for logprob in known.values()))


def _expected(task: Task, queries: Sequence[Anatomy], sketch: Sketch | None) -> Sequence[Mapping[str, float]]:
    """The sketch's figures for each query; for one that does not parse, the lowest of those that do."""
    if sketch is None:
        return [NOTHING for _ in queries]
    figures = sketch.figures(task.question.whole, task.known, queries)
    parsed = [values for values, query in zip(figures, queries, strict=True) if query.parsed]
    if not parsed:
        return [NOTHING for _ in queries]
    worst = {name: min(values[name] for values in parsed) for name in NOTHING}
    return [values if query.parsed else worst for values, query in zip(figures, queries, strict=True)]


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
    """How the result's shape differs from what the question asks for, see ``language.cues``."""
    listed, count = cues.items(question), len(result.rows)
    numbers = any(isinstance(cell, (int, float, Decimal)) for cell in (result.rows[0] if result.rows else ()))
    faults = {
        "not_one": cues.one_row(question) and count != 1,  # a superlative, or how many, and not one row
        "not_several": cues.groups(question) and count == 1,  # for each of several, and one row
        "no_number": cues.number(question) and not numbers,  # how many, and no number
        "told_twice": cues.different(question) and _repeats(result),  # different ones, and rows repeat
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
        "tables_idle": float(len(query.idle)),  # joined, and not used
        "ties_strange": float(query.strange),  # column pairs that the query equates, without a key or a common name
        "ties_namesake": float(query.namesakes),  # the same with a common name
        "selects": float(query.selects),
        "conditions": float(query.conditions),
        "star": float("star" in query.elements and "count" not in query.elements),
        "bounded": float("bounded" in query.elements),  # LIMIT without ORDER BY
    }


def _cues(question: str, query: Anatomy) -> dict[str, float]:
    missing, uncalled = cues.missing(question, query.elements), cues.uncalled(question, query.elements)
    return {
        "missing": sum(missing.values()),
        "extra": sum(uncalled.values()),
        **{f"missing_{name}": value for name, value in missing.items()},
        **{f"extra_{name}": value for name, value in uncalled.items()},
        "direction": cues.direction(question, query.elements),
    }


def _constants(question: str, query: Anatomy, task: Task) -> dict[str, float]:
    """Strings and numbers of the question that the query lacks, and the reverse."""
    folded = question.casefold()
    with_notes = "\n".join((folded, *task.notes)).casefold()  # notes hold values that the question may name
    texts = [text.casefold().strip("% ") for text in query.texts]
    named = {*_NUMBER.findall(folded), *(_SPELT[word] for word in _WORD.findall(folded) if word in _SPELT)}
    used = {number for text in (*query.numbers, *texts) for number in _NUMBER.findall(text)}
    marks = [text.casefold() for text in quoted(question)]
    return {
        "numbers_missing": float(len(named - used)),
        "numbers_unfounded": float(
            len({number for number in query.numbers if number not in named and number not in "01"})
        ),
        "texts": float(len(texts)),
        "texts_unsaid": float(sum(text not in folded for text in texts)),  # not in the question
        "texts_unfounded": float(sum(text not in with_notes for text in texts)),  # nor among values that it may name
        "quotes_missing": float(sum(not any(mark in text or text in mark for text in texts if text) for mark in marks)),
        **_values(query, task.hits),
    }


def _values(query: Anatomy, hits: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Columns with values that the question seems to name, which the query does not use."""
    unused = [(score, column.lower() not in query.columns) for _, column, score in hits]
    total = sum(score for score, _ in unused)
    return {
        "values_unused": sum(score for score, missed in unused if missed) / total if total else 0.0,
        "value_unused": float(max(unused, default=(0.0, False))[1]),  # the best match of them
    }


def _names(question: str, query: Anatomy, schema: Schema) -> dict[str, float]:
    """How well the names in the query match words of the question, and how many of its words they cover."""
    words = question_words(question)
    named = [piece for name in (*query.tables, *query.columns, *query.texts) for piece in pieces(name)]
    selected, keys = [name for name in query.selected if name], _keys(schema)
    return {
        "words_covered": _mean(float(_named(word, named)) for word in words),
        "tables_unasked": float(sum(not _asked(name, words) for name in query.tables)),
        "columns_unasked": float(sum(not _asked(name, words) for name in query.columns)),
        "selected": float(len(query.selected)),
        "selected_unasked": float(sum(not _asked(name, words) for name in selected)),
        "selected_likeness": _mean(_likeness(name, words) for name in selected),
        "selected_key": float(sum(name in keys for name in selected)),
    }


def _keys(schema: Schema) -> frozenset[str]:
    return frozenset(name.lower() for table in schema.tables for name in table.row_key)


def _named(word: str, names: Sequence[str]) -> bool:
    return any(likeness(word, piece) >= ALIKE for piece in names)


def _asked(name: str, words: Sequence[str]) -> bool:
    """Whether the question has a word for any piece of the name."""
    return any(_named(word, pieces(name)) for word in words)


def _likeness(name: str, words: Sequence[str]) -> float:
    """The mean, over the pieces of a name, of the greatest likeness to a word of the question."""
    return _mean(max((likeness(word, piece) for word in words), default=0.0) for piece in pieces(name))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
