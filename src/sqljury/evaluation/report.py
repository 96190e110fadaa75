"""The figures of a run: execution accuracy overall, by hardness, and after each step of the pipeline."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqljury.datasets.pairs import Prediction
from sqljury.engines.databases import Databases
from sqljury.errors import DatasetError
from sqljury.evaluation.judge import Batch, BatchJudge, judge_batches
from sqljury.evaluation.run_folder import Record, forms_of, moved, records
from sqljury.evaluation.targets import Targets
from sqljury.evaluation.verdicts import Verdicts, Work, judge_all
from sqljury.metrics.execution import LIMITS
from sqljury.metrics.hardness import levels_of
from sqljury.metrics.registry import METRICS
from sqljury.parallel.crew import Crew
from sqljury.stages.select.consistency import choose, group
from sqljury.types import Candidate

STEPS = (
    "first candidate",
    "first candidate, names bound",
    "votes",
    "votes, names bound",
    "answer",
    "one of the candidates",
)
"""The first candidate as written; with its names bound; the majority's query; that with names bound; the answer after
all repairs; and the bound, at least one right candidate."""


class Share(NamedTuple):
    """``right`` of ``total``; a fraction where it is an expected number."""

    right: float
    total: int

    @property
    def percent(self) -> float:
        """In percent; 0 for no questions."""
        return 100 * self.right / self.total if self.total else 0.0

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """Wilson's interval in percent, by default of 95 %."""
        if not self.total:
            return 0.0, 100.0
        n, p = self.total, self.right / self.total
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)

    def figures(self) -> dict[str, Any]:
        """The numbers, the percentage and its interval, ready for JSON."""
        low, high = self.interval()
        return {
            "right": round(self.right, 4),
            "total": self.total,
            "percent": round(self.percent, 1),
            "low": round(low, 1),
            "high": round(high, 1),
        }

    def to_json(self) -> dict[str, Any]:
        """The same; see ``findings.to_json``."""
        return self.figures()


def share_of(outcomes: Iterable[bool]) -> Share:
    """The share of outcomes that are true."""
    listed = list(outcomes)
    return Share(sum(listed), len(listed))


@dataclass(frozen=True, slots=True)
class Verdict:
    """One question of a run, judged: its hardness, and whether each of ``STEPS`` is right.

    ``runs`` counts candidates that run as written, of ``candidates``. ``exe`` judges the answer with DISTINCT dropped
    from both queries, as the published test-suite program does. ``reason`` is why the answer is wrong. ``fault`` is why
    nothing can be judged: gold fails, or its database cannot be used; then no figure counts the question.
    """

    id: str
    db_id: str
    hardness: str
    steps: Mapping[str, bool]
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


@dataclass(frozen=True, slots=True)
class Spread:
    """What questions took; 0 for no questions."""

    mean: float
    median: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of these values, rounded."""
        if not values:
            return cls(0.0, 0.0, 0.0)
        return cls(round(statistics.mean(values), 2), round(statistics.median(values), 2), round(max(values), 2))


@dataclass(frozen=True, slots=True)
class RunFindings:
    """The figures of a run, over the ``questions`` that can be judged; ``faults`` are the others, by id and reason."""

    questions: int
    faults: Sequence[tuple[str, str]]
    ex: Share
    exe: Share
    hardness: Mapping[str, Share]
    steps: Mapping[str, Share]
    executable: Share
    seconds: Spread
    tokens: Spread


class Faulty(Protocol):
    """A question that may not be judgeable."""

    @property
    def id(self) -> str:
        """The question's."""

    @property
    def fault(self) -> str:
        """Why it cannot be judged; empty where it can."""


def refuse_if_nothing_judged(run: Path, verdicts: Sequence[Faulty]) -> None:
    """Raise ``DatasetError`` with the first reason where no question of a run can be judged."""
    if verdicts and all(verdict.fault for verdict in verdicts):
        first = verdicts[0]
        if not any(record.get("gold") for record in records(run)):
            raise DatasetError(
                f"{run}: none of its {len(verdicts)} questions has a gold query; judge its file by gold: "
                "sqljury eval --gold FILE --pred PREDICTIONS --db-dir DIR"
            )
        raise DatasetError(
            f"{run}: none of its {len(verdicts)} questions can be judged; {first.id}: {first.fault}; {moved(run)}"
        )


def judge_run(
    records: Sequence[Record],
    databases: Databases,
    processes: int | Crew = 1,
    on_judged: Callable[[], None] = lambda: None,
) -> list[Verdict]:
    """A verdict for each record, on the databases of its run; ``on_judged`` is called after each question."""
    work = [Work.of(record, databases, LIMITS) for record in records]
    by_ex = judge_all(work, databases, processes, on_judged)
    targets = Targets({item.db_id: (databases.target(item.db_id),) for item in work})
    answers = [
        Batch(item.asked, (Prediction(item.id, record["sql"]),)) for item, record in zip(work, records, strict=True)
    ]
    metrics = METRICS["ex"], METRICS["exe"]
    judged = judge_batches(answers, BatchJudge(targets, metrics), processes, lambda _: on_judged())
    verdicts = []
    for record, verdict, (answer,) in zip(records, by_ex, judged, strict=True):
        ex, exe = answer.scores["ex"], answer.scores["exe"]
        fault = verdict.fault or ("" if ex is not None and exe is not None else answer.fault)
        reason = "" if fault or ex is None else ex.reason if record["sql"] else "no query"
        verdicts.append(_verdict(record, verdict, fault, reason, exe is not None and exe.value == 1))
    return verdicts


def summary(verdicts: Sequence[Verdict]) -> RunFindings:
    """The figures of a run; seconds and tokens are those of one question."""
    judged = [verdict for verdict in verdicts if not verdict.fault]
    return RunFindings(
        questions=len(judged),
        faults=[(verdict.id, verdict.fault) for verdict in verdicts if verdict.fault],
        ex=share_of(verdict.right for verdict in judged),
        exe=share_of(verdict.exe for verdict in judged),
        hardness={
            level: share_of(verdict.right for verdict in judged if verdict.hardness == level)
            for level in levels_of(verdict.hardness for verdict in judged)
        },
        steps={step: share_of(verdict.steps[step] for verdict in judged) for step in STEPS},
        executable=Share(sum(verdict.runs for verdict in judged), sum(verdict.candidates for verdict in judged)),
        seconds=Spread.of([verdict.seconds for verdict in judged]),
        tokens=Spread.of([verdict.tokens for verdict in judged]),
    )


def stages(candidate: Record) -> tuple[str, str, str]:
    """A candidate's query as written, after the repairs that need no model, and after all repairs."""
    forms = forms_of(candidate)
    by_model = [index for index, fix in enumerate(candidate["fixes"]) if fix["by"] in ("model", "tests")]
    return forms[0], forms[by_model[0] if by_model else -1], forms[-1]


def _verdict(record: Record, verdicts: Verdicts, fault: str, reason: str, exe: bool) -> Verdict:
    cost = record["cost"]
    candidates = record["candidates"]
    written, bound, final = ([stages(candidate)[stage] for candidate in candidates] for stage in range(3))

    def right(sql: str) -> bool:
        return verdicts.tried(sql).right

    right_by_step = {
        "first candidate": bool(written) and right(written[0]),
        "first candidate, names bound": bool(bound) and right(bound[0]),
        "votes": right(_vote(written, candidates, verdicts)),
        "votes, names bound": right(_vote(bound, candidates, verdicts)),
        "answer": right(record["sql"]),
        "one of the candidates": any(map(right, final)),
    }
    return Verdict(
        id=record["id"],
        db_id=record["db_id"],
        hardness="" if fault else verdicts.hardness,
        steps=dict.fromkeys(STEPS, False) if fault else right_by_step,
        exe=exe and not fault,
        runs=0 if fault else sum(verdicts.tried(sql).error is None for sql in written),
        candidates=len(candidates),
        seconds=cost["seconds"],
        tokens=int(cost["prompt_tokens"] - cost["cached_tokens"] + cost["completion_tokens"]),
        reason=reason,
        fault=fault,
    )


def _vote(queries: Sequence[str], stored: Sequence[Record], verdicts: Verdicts) -> str:
    """The query that votes alone would choose among these of the stored candidates; empty for none."""
    candidates = [
        Candidate(
            sql,
            "stored",
            candidate["logprob"],
            verdicts.stand_in(sql),
            weight=candidate.get("weight", 1.0),
            opinion=candidate.get("opinion", False),
        )
        for sql, candidate in zip(queries, stored, strict=True)
    ]
    chosen = choose(group(candidates))
    return "" if chosen is None else queries[chosen]
