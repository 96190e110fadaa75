"""What a run is worth: execution accuracy overall, by hardness, and after each step of the pipeline."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatasetError
from sqljury.evaluation.run_folder import Record
from sqljury.metrics.execution import EX, EXE, LIMITS, Rules, judge, run_gold
from sqljury.metrics.hardness import LEVELS, hardness
from sqljury.metrics.spider import Names, parse_or_empty
from sqljury.schema.introspect import introspect
from sqljury.sql.scan import text_fault
from sqljury.stages.select.consistency import choose, group
from sqljury.types import Candidate, Limits, QueryFailure, Result

STEPS = (
    "first candidate",
    "first candidate, names bound",
    "votes",
    "votes, names bound",
    "answer",
    "one of the candidates",
)
"""The first candidate as written, greedy or not; with its names bound; the majority's; theirs with names bound; all
repairs; the bound."""


class Share(NamedTuple):
    """``right`` of ``total``; a fraction where it is an expected number."""

    right: float
    total: int

    @property
    def percent(self) -> float:
        """In percent; 0 for no questions."""
        return 100 * self.right / self.total if self.total else 0.0

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """Wilson's interval in percent, by default of 95 %: what the share may be on questions like these."""
        if not self.total:
            return 0.0, 100.0
        n, p = self.total, self.right / self.total
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)

    def figures(self) -> dict[str, Any]:
        """For a report: the numbers, the percentage, and its interval, ready for JSON."""
        low, high = self.interval()
        return {
            "right": round(self.right, 4),
            "total": self.total,
            "percent": round(self.percent, 1),
            "low": round(low, 1),
            "high": round(high, 1),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """One question of a run, judged: its hardness, and whether each of ``STEPS`` is right.

    ``runs`` counts candidates that run as written, of ``candidates``. ``exe`` is the answer with DISTINCT dropped
    from both queries, as the published test-suite program does. ``fault`` says why nothing can be judged: gold fails,
    or its database cannot be used; then no step is right, and no figure counts the question.
    """

    id: str
    db_id: str
    hardness: str
    steps: dict[str, bool]
    exe: bool
    runs: int
    candidates: int
    seconds: float
    tokens: int
    reason: str
    fault: str = ""

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.steps["answer"]


class Faulty(Protocol):
    """A question that may turn out to be none that can be judged."""

    @property
    def id(self) -> str:
        """The question's."""

    @property
    def fault(self) -> str:
        """Why it cannot be judged; empty where it can."""


def judge_run(
    records: Sequence[Record], data: Path, on_verdict: Callable[[Verdict], None] = lambda _: None
) -> list[Verdict]:
    """A verdict a record, on the databases under ``data``; one with a ``fault`` where gold does not run."""
    verdicts = []
    for record in records:
        name = record["db_id"]
        try:
            if why := text_fault(record["gold"]):
                raise DatasetError(f"no query can be judged by gold: {why}")
            with connect(data / "database" / name / f"{name}.sqlite") as db:
                verdicts.append(_judge(record, db))
        except DatabaseError as error:
            verdicts.append(_unjudged(record, f"its database cannot be used: {error}"))
        except DatasetError as error:
            verdicts.append(_unjudged(record, str(error)))
        on_verdict(verdicts[-1])
    return verdicts


def refuse_if_nothing_judged(run: Path, verdicts: Sequence[Faulty]) -> None:
    """Raise ``DatasetError`` with the first reason where no question of a run can be judged."""
    if verdicts and all(verdict.fault for verdict in verdicts):
        first = verdicts[0]
        raise DatasetError(
            f"{run}: none of its {len(verdicts)} questions can be judged; {first.id}: {first.fault}; "
            "if the dataset has moved, name its folder with --data"
        )


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The figures of a run: shares are of questions, seconds and tokens a question.

    ``faults`` are the questions that cannot be judged, by id and reason; all else is of the other ``questions``.
    """
    faults = [[verdict.id, verdict.fault] for verdict in verdicts if verdict.fault]
    verdicts = [verdict for verdict in verdicts if not verdict.fault]
    right = _share(verdict.right for verdict in verdicts)
    return {
        "questions": len(verdicts),
        "faults": faults,
        "ex": right.figures(),
        "exe": _share(verdict.exe for verdict in verdicts).figures(),
        "hardness": {
            level: _share(verdict.right for verdict in verdicts if verdict.hardness == level).figures()
            for level in LEVELS
        },
        "steps": {step: _share(verdict.steps[step] for verdict in verdicts).figures() for step in STEPS},
        "executable": Share(sum(v.runs for v in verdicts), sum(v.candidates for v in verdicts)).figures(),
        "seconds": _spread([verdict.seconds for verdict in verdicts]),
        "tokens": _spread([verdict.tokens for verdict in verdicts]),
    }


def _judge(record: Record, db: Database) -> Verdict:
    results: dict[str, Result] = {"": Result(error=QueryFailure("missing", "no query"))}

    def run(sql: str, limits: Limits = LIMITS) -> Result:
        if sql not in results:
            results[sql] = db.execute(sql, limits)
        return results[sql]

    gold = run_gold(db, record["gold"])
    ordered = EX.ordered(record["gold"])

    def right(sql: str) -> bool:
        return judge(gold, run(EX.prepare(sql)), ordered).correct

    queries = [stages(candidate) for candidate in record["candidates"]]
    probabilities = [candidate["logprob"] for candidate in record["candidates"]]
    written, bound, final = (list(stage) for stage in zip(*queries, strict=True)) if queries else ([], [], [])
    steps = {
        "first candidate": bool(written) and right(written[0]),
        "first candidate, names bound": bool(bound) and right(bound[0]),
        "votes": right(_vote(written, probabilities, run)),
        "votes, names bound": right(_vote(bound, probabilities, run)),
        "answer": right(record["sql"]),
        "one of the candidates": any(map(right, final)),
    }
    return Verdict(
        id=record["id"],
        db_id=record["db_id"],
        hardness=hardness(parse_or_empty(record["gold"], Names.of_schema(introspect(db)))),
        steps=steps,
        exe=_exe(record, db, EXE),
        runs=sum(run(sql).ok for sql in written),
        candidates=len(written),
        seconds=record["cost"]["seconds"],
        tokens=_tokens(record),
        reason=judge(gold, run(EX.prepare(record["sql"])), ordered).reason,
    )


def _unjudged(record: Record, fault: str) -> Verdict:
    return Verdict(
        id=record["id"],
        db_id=record["db_id"],
        hardness="",
        steps=dict.fromkeys(STEPS, False),
        exe=False,
        runs=0,
        candidates=len(record["candidates"]),
        seconds=record["cost"]["seconds"],
        tokens=_tokens(record),
        reason="",
        fault=fault,
    )


def _tokens(record: Record) -> int:
    """What was computed, read and written."""
    cost = record["cost"]
    return int(cost["prompt_tokens"] - cost["cached_tokens"] + cost["completion_tokens"])


def _exe(record: Record, db: Database, rules: Rules) -> bool:
    gold = run_gold(db, record["gold"], rules)
    return judge(gold, db.execute(rules.prepare(record["sql"]), LIMITS), rules.ordered(record["gold"])).correct


def stages(candidate: Record) -> tuple[str, str, str]:
    """A candidate's query as written, after the repairs that need no model, and after all repairs."""
    fixes = candidate["fixes"]
    queries = [*(fix["before"] for fix in fixes), candidate["sql"]]
    by_model = [place for place, fix in enumerate(fixes) if fix["by"] in ("model", "tests")]
    return queries[0], queries[by_model[0] if by_model else -1], candidate["sql"]


def _vote(queries: list[str], probabilities: list[float | None], run: Callable[[str], Result]) -> str:
    """The query that votes alone would choose among these."""
    candidates = [
        Candidate(sql, "stored", logprob, run(sql)) for sql, logprob in zip(queries, probabilities, strict=True)
    ]
    chosen = choose(group(candidates))
    return "" if chosen is None else queries[chosen]


def _share(outcomes: Iterable[bool]) -> Share:
    listed = list(outcomes)
    return Share(sum(listed), len(listed))


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {"mean": 0.0, "median": 0.0, "max": 0.0}
    return {
        "mean": round(statistics.mean(values), 2),
        "median": round(statistics.median(values), 2),
        "max": round(max(values), 2),
    }
