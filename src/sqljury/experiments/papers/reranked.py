"""Re-ranking by tests on stored candidates: EM and EX of each way to choose, and what perfect tests would give.

Li & Xie 2024, Table 4. With perfect expectations, gold's own result on each small database is expected: what the method
could reach with these databases, without a model. Gold is known here only.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqljury.bench import choices
from sqljury.bench.stored import FIXED, Asked, StoredRun
from sqljury.datasets.pairs import Gold, Pair, Prediction
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases, Engine, of_run
from sqljury.errors import DatabaseError, DatasetError
from sqljury.evaluation import run_folder
from sqljury.evaluation.scores import findings
from sqljury.experiments.papers.files import percent
from sqljury.experiments.papers.inputs import Inputs, System, stored_runs
from sqljury.experiments.papers.registry import Grid, Row
from sqljury.llm.base import derive_seed
from sqljury.schema.introspect import introspect
from sqljury.stages.select.base import representatives
from sqljury.stages.select.consistency import group, likelihood
from sqljury.testing.separate import Search
from sqljury.testing.suite import separating_suite
from sqljury.testing.trial import run_case
from sqljury.types import Candidate, Tried

SECONDS: Final = 60.0
"""Of one search for databases: long enough that a busy machine does not change what is found."""

_PAIRS: Final = Search(seconds=SECONDS)

PERFECT: Final = {
    "re-rank, perfect expectations": _PAIRS,
    **{f"the same, {cases} tests a question": replace(_PAIRS, keep="all", cases=cases) for cases in (5, 10, 15)},
    "the same, made-up rows": replace(_PAIRS, fuzzing=True),
}
"""Ways to search for the databases on which gold's result is expected.

Besides tests that tell every two results apart (1.35 a question) there are as many as the paper asks for, the same
classes again (section 5.3), and tests by fuzzing (section 2.1).
"""


def reranked(inputs: Inputs) -> Grid:
    """EM and EX of the first query, votes, stored choices by tests, perfect expectations and the best choice."""
    rows: dict[str, Row] = {}
    notes: list[str] = []
    for label, run in stored_runs(inputs):
        data = inputs.data or run_folder.data_of(run.folder)
        ways, tests = _ways(run, data, inputs)
        told_apart = sum(len(_results(question)[1]) > 1 for question in run.questions)
        means = ", ".join(f"{sum(made) / max(1, told_apart):.2f} ({name})" for name, made in tests.items())
        notes.append(f"{label}: {len(run.questions)} questions, {told_apart} of them with results to tell apart")
        notes.append(f"{label}: tests of each of these: {means}")
        for name, queries in ways.items():
            row = name if len(inputs.runs) == 1 else f"{label}: {name}"
            rows[row] = _em_ex(label, run, queries, data, inputs)
    return Grid(("EM", "EX"), rows, tuple(notes))


def _ways(run: StoredRun, data: Path, inputs: Inputs) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """By way to choose the chosen query of each question; and by search how many tests each question has."""
    questions = run.questions
    ways = {
        "first query": [question.candidates[0].queries[FIXED] if question.candidates else "" for question in questions],
        "self-consistency": [question.voted(question.candidates) for question in questions],
    }
    for name, chosen in choices.stored(run.folder, questions, run.numbers).items():
        if name.startswith("rerank") and all(question.id in chosen for question in questions):
            ways[name] = [chosen[question.id].sql for question in questions]
    tests: dict[str, list[int]] = {}
    if Engine.of(run.described["dataset"]).copies:
        raise DatasetError(f"{run.folder}: ran on copies of the databases; give a run on the dataset's own files")
    with of_run(run.described, data, run.folder) as databases:
        for question in questions:
            for name, (sql, count) in perfectly(question, databases, int(run.described["seed"])).items():
                ways.setdefault(name, []).append(sql)
                tests.setdefault(name, []).append(count)
            inputs.stop_if_cancelled()
    ways["best choice"] = [_best(question) for question in questions]
    return ways, tests


def _results(question: Asked) -> tuple[tuple[Candidate, ...], list[Candidate]]:
    """The candidates in groups, and one for each result."""
    candidates = group([question.candidate(candidate) for candidate in question.candidates])
    return candidates, [candidates[index] for index in representatives(candidates, 0).values()]


def perfectly(question: Asked, databases: Databases, seed: int) -> dict[str, tuple[str, int]]:
    """By search of ``PERFECT`` the query that passes most tests which expect gold's result, and the number of tests.

    Ties go to the likeliest query, as in the selector ``rerank``; votes decide where no test can be made. The searches
    draw by ``seed`` and the question.
    """
    candidates, best = _results(question)
    by_votes = (best[0].sql if best else "", 0)
    if len(best) < 2:
        return dict.fromkeys(PERFECT, by_votes)
    seeded = str(derive_seed(derive_seed(seed, question.id), "tests"))
    queries, likeliest = (
        [candidate.sql for candidate in best],
        [_likelihood(candidates, candidate) for candidate in best],
    )
    chosen = dict.fromkeys(PERFECT, by_votes)
    with suppress(DatabaseError), connect(databases.lazy(question.db_id)) as db:
        schema = introspect(db)
        for name, search in PERFECT.items():
            with suppress(DatabaseError):
                suite = separating_suite(queries, schema, db, replace(search, seed=seeded))
                tests = [expecting_gold(test, question.gold) for test in suite.tests]
                scores = [sum(bool(test.passed[at]) for test in tests) for at in range(len(best))]
                winner = max(range(len(best)), key=lambda at: (scores[at], likeliest[at], -at))
                chosen[name] = best[winner].sql, len(tests)
    return chosen


def expecting_gold(test: Tried, gold: str) -> Tried:
    """The test with gold's result there as the expected one; none where gold cannot be run on its tables."""
    result = run_case(test.case, [gold]).results[0]
    return run_case(replace(test.case, expected=result if result.ok else None), test.queries)


def _likelihood(candidates: Sequence[Candidate], representative: Candidate) -> float:
    """Of the likeliest query in the group."""
    return max(likelihood(candidate) for candidate in candidates if candidate.group == representative.group)


def _best(question: Asked) -> str:
    queries = [candidate.queries[FIXED] for candidate in question.candidates]
    return next((sql for sql in queries if question.right(sql)), question.voted(question.candidates))


def _em_ex(label: str, run: StoredRun, queries: Sequence[str], data: Path, inputs: Inputs) -> Row:
    pairs = tuple(
        Pair(Gold(question.id, question.gold, question.db_id), Prediction(question.id, sql))
        for question, sql in zip(run.questions, queries, strict=True)
    )
    tables = data / "tables.json"
    system = System(label, pairs, data / "database", tables if tables.is_file() else None)
    metrics = findings(system.judged(inputs, ["esm", "ex"])).metrics
    return tuple(percent(metrics[name]) for name in ("esm", "ex"))
