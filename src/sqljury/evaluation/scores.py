"""What an evaluation amounts to: totals with intervals, slices, files a spreadsheet can read, and what it rests on.

All that an evaluation found, as one value: what JSON holds and what the page is made from.
"""

from __future__ import annotations

import hashlib
import platform
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document
from sqljury.evaluation.agree import REFERENCES, agree
from sqljury.evaluation.judge import Evaluation, Judged
from sqljury.metrics import agreement, partial
from sqljury.metrics.features import features
from sqljury.metrics.hardness import LEVELS

TABLE_BEGINS: Final = "index\thardness"
"""How the table of queries begins, as other programs expect it; the metrics' columns follow."""

BIRD_LEVELS = ("simple", "moderate", "challenging")


def summary(evaluation: Evaluation, seed: int = 0) -> dict[str, Any]:
    """Faults of gold first, then each metric's mean in percent: overall with its interval, by level, by turn.

    Plain lists, numbers and strings, ready for JSON. Percentages of VES may pass 100. ``left_out`` counts the queries
    that no metric has a score for; each metric's ``judged`` is how many it has one for.
    """
    found: dict[str, Any] = {
        "queries": len(evaluation.judged),
        "seconds": round(evaluation.seconds, 2),
        "gold": faults(evaluation),
        "left_out": sum(one.left_out for one in evaluation.judged),
        "metrics": {metric.name: _metric(evaluation, metric.name, seed) for metric in evaluation.metrics},
    }
    if any(one.parts for one in evaluation.judged):
        found["partial"] = _partial(evaluation)
    return found


def faults(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What is wrong with gold, query by query, ready for JSON."""
    return [
        {"index": index, "id": one.pair.gold.id, "place": one.pair.gold.place, "fault": one.fault}
        for index, one in enumerate(evaluation.judged)
        if one.fault
    ]


def slices(evaluation: Evaluation, metric: str) -> dict[str, dict[str, agreement.Slice]]:
    """One metric's mean by hardness, by clause of gold, by its number of joins, and by database."""
    scores = evaluation.column(metric)
    gold = [one.pair.gold for one in evaluation.judged]
    # What has no score is in no slice, and reading a text that is too long would take a while.
    made_of = [features("" if one.left_out else one.pair.gold.sql) for one in evaluation.judged]
    by_level = agreement.slices(scores, [[one.hardness] if one.hardness else [] for one in evaluation.judged])
    return {
        "hardness": {level: by_level[level] for level in (*LEVELS, *BIRD_LEVELS) if level in by_level},
        "clause": agreement.slices(scores, [one.clauses for one in made_of]),
        "joins": agreement.slices(scores, [["3+" if one.joins > 2 else str(one.joins)] for one in made_of]),
        "database": agreement.slices(scores, [[query.db_id] for query in gold]),
    }


def tsv(evaluation: Evaluation) -> str:
    """A line a query: its place counted from 0, its hardness, a column a metric, its id; empty for no score."""
    lines = ["\t".join((TABLE_BEGINS, *(metric.name for metric in evaluation.metrics), "id"))]
    for index, one in enumerate(evaluation.judged):
        cells = (_cell(one, metric.name, metric.graded) for metric in evaluation.metrics)
        lines.append("\t".join((str(index), one.hardness, *cells, _plain(one.pair.gold.id))))
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """On one line, in one cell."""
    return " ".join("".join(part if part.isprintable() else " " for part in text).split())


def provenance(files: Iterable[Path | Document], databases: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """SHA-256 of the dataset's files and of each database, all its files together, and the versions that matter.

    Of a ``Document`` it is that of what was read, whatever has become of the file.
    """
    digests = {name: _digest(paths) for name, paths in sorted(databases.items())}
    together = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return {
        "files": {
            str(file): hashlib.sha256(file.raw).hexdigest() if isinstance(file, Document) else _digest([file])
            for file in files
        },
        "databases": digests,
        "all_databases": hashlib.sha256(together.encode()).hexdigest(),
        "sqljury": version("sqljury"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def _metric(evaluation: Evaluation, name: str, seed: int) -> dict[str, Any]:
    scores = evaluation.column(name)
    interval = agreement.bootstrap(scores, [one.pair.gold.db_id for one in evaluation.judged], seed=seed)
    found = {
        "title": next(metric.title for metric in evaluation.metrics if metric.name == name),
        "judged": sum(score is not None for score in scores),
        "percent": _percent(agreement.mean(scores)),
        "low": _percent(interval.low),
        "high": _percent(interval.high),
        "hardness": {
            level: {"queries": part.queries, "percent": _percent(part.mean)}
            for level, part in slices(evaluation, name)["hardness"].items()
        },
    }
    interactions = _interactions(evaluation, name)
    return {**found, "interactions": interactions} if interactions else found


def _interactions(evaluation: Evaluation, name: str) -> dict[str, Any]:
    """Whole dialogues are right when every turn is (Yu et al. 2019, "CoSQL"); turns are counted from 1.

    Turns without a score are passed over, and dialogues without any.
    """
    dialogues: dict[int, list[float | None]] = {}
    for one, score in zip(evaluation.judged, evaluation.column(name), strict=True):
        dialogues.setdefault(one.pair.gold.interaction, []).append(score)
    if len(dialogues) < 2:
        return {}
    scored = [[score for score in turns if score is not None] for turns in dialogues.values()]
    right = [all(score >= 1 for score in own) for own in scored if own]
    turns: dict[str, list[float | None]] = {}
    for scores in dialogues.values():
        for number, score in enumerate(scores, 1):
            turns.setdefault(str(number) if number < 5 else "> 4", []).append(score)
    return {
        "interactions": len(right),
        "percent": _percent(sum(right) / len(right)) if right else 0.0,
        "turns": {
            turn: {
                "queries": sum(score is not None for score in scores),
                "percent": _percent(agreement.mean(scores)),
            }
            for turn, scores in sorted(turns.items(), key=lambda item: (len(item[0]), item[0]))
        },
    }


def _partial(evaluation: Evaluation) -> dict[str, Any]:
    parts = [(one.hardness, one.parts) for one in evaluation.judged if one.parts is not None]
    return {
        clause: {
            level: {
                "precision": round(shares.precision, 3),
                "recall": round(shares.recall, 3),
                "f1": round(shares.f1, 3),
            }
            for level, shares in levels.items()
        }
        for clause, levels in partial.table(parts, LEVELS).items()
    }


def _cell(one: Judged, metric: str, graded: bool) -> str:
    score = one.scores[metric]
    if score is None:
        return ""
    return f"{score.value:.4f}" if graded else str(int(score.value))


def _percent(share: float) -> float:
    return round(100 * share, 4)


def _digest(paths: Sequence[Path]) -> str:
    """Of one file what ``sha256sum`` says; of several that of their digests, one after another."""
    digests = []
    for path in paths:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256"))
    if len(digests) == 1:
        return digests[0].hexdigest()
    return hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()


def findings(evaluation: Evaluation, against: Evaluation | None = None, seed: int = 0) -> dict[str, Any]:
    """The summary, gold's faults first; slices, agreement where an execution metric is there, and the comparison."""
    slices = {metric.name: slices(evaluation, metric.name) for metric in evaluation.metrics}
    found = {
        **summary(evaluation, seed),
        "slices": {
            name: {by: {key: part._asdict() for key, part in parts.items()} for by, parts in kinds.items()}
            for name, kinds in slices.items()
        },
        "settings": _settings(evaluation, seed),
        "against": {} if against is None else comparisons(against, evaluation, seed),
    }
    if {metric.name for metric in evaluation.metrics} & set(REFERENCES):
        found["agreement"] = agree(evaluation)
    return found


def comparisons(first: Evaluation, second: Evaluation, seed: int = 0) -> dict[str, Any]:
    """The second file against the first by each metric; wins and losses are places, counted from 0."""
    groups = [one.pair.gold.db_id for one in second.judged]
    found = {}
    for metric in second.metrics:
        result = agreement.compare(first.column(metric.name), second.column(metric.name), groups, seed)
        found[metric.name] = {"title": metric.title, **result._asdict(), "interval": list(result.interval)}
    return found


def _settings(evaluation: Evaluation, seed: int) -> dict[str, Any]:
    options = evaluation.options
    return {
        "plug_values": options.plug_values,
        "seconds_a_query": options.limits.seconds,
        "disabled_rules": sorted(options.esm_plus.disabled),
        "seed": seed,
    }
