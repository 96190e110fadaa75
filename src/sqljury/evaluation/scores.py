"""Computes the findings of an evaluation: totals with intervals, slices, comparison; and a table of all queries."""

from __future__ import annotations

import hashlib
import platform
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.datasets.reading import Document
from sqljury.evaluation.agree import REFERENCES, agree
from sqljury.evaluation.findings import (
    Against,
    Dialogues,
    Findings,
    GoldFault,
    Mean,
    MetricFindings,
    Provenance,
    Settings,
)
from sqljury.evaluation.judge import Evaluation, Judged
from sqljury.metrics import agreement
from sqljury.metrics.hardness import BIRD_LEVELS, LEVELS
from sqljury.metrics.partial import Shares, table
from sqljury.sql.scan import pieces

TABLE_BEGINS: Final = "index\thardness"
"""The first columns of the table of queries, as other programs expect them."""


def findings(evaluation: Evaluation, against: Evaluation | None = None, seed: int = 0) -> Findings:
    """All findings: agreement where there is an execution metric, comparison where ``against`` is another file's.

    ``seed`` draws the intervals. Percentages of VES may pass 100.
    """
    options, names = evaluation.options, list(evaluation.titles)
    by_slice = {name: slices(evaluation, name) for name in names}
    return Findings(
        queries=len(evaluation.judged),
        seconds=round(evaluation.seconds, 2),
        gold=faults(evaluation),
        left_out=sum(judged.left_out for judged in evaluation.judged),
        metrics={name: _metric(evaluation, name, by_slice[name]["hardness"], seed) for name in names},
        partial=_partial(evaluation) if any(judged.parts for judged in evaluation.judged) else None,
        slices=by_slice,
        settings=Settings(options.plug_values, options.limits.seconds, sorted(options.esm_plus.disabled), seed),
        against={} if against is None else comparisons(against, evaluation, seed),
        agreement=agree(evaluation) if set(names) & set(REFERENCES) else None,
    )


def faults(evaluation: Evaluation) -> list[GoldFault]:
    """What is wrong with gold, query by query."""
    return [
        GoldFault(index, judged.pair.gold.id, judged.pair.gold.place, judged.fault)
        for index, judged in enumerate(evaluation.judged)
        if judged.fault
    ]


def comparisons(first: Evaluation, second: Evaluation, seed: int = 0) -> dict[str, Against]:
    """The second file against the first by each metric that both have; wins and losses are indices from 0.

    Judgements by hand are of one file alone.
    """
    databases = [judged.pair.gold.db_id for judged in second.judged]
    return {
        name: Against(title, agreement.compare(first.column(name), second.column(name), databases, seed))
        for name, title in second.titles.items()
        if name in first.titles
    }


def slices(evaluation: Evaluation, metric: str) -> dict[str, dict[str, agreement.Slice]]:
    """One metric's mean by hardness, by clause of gold, by its number of joins, and by database."""
    scores = evaluation.column(metric)
    gold = [judged.pair.gold for judged in evaluation.judged]
    # A query without a score is in no slice, and reading a text that is too long would take a while.
    parts = [features("" if judged.left_out else judged.pair.gold.sql) for judged in evaluation.judged]
    by_level = agreement.slices(scores, [[judged.hardness] if judged.hardness else [] for judged in evaluation.judged])
    return {
        "hardness": {level: by_level[level] for level in (*LEVELS, *BIRD_LEVELS) if level in by_level},
        "clause": agreement.slices(scores, [part.clauses for part in parts]),
        "joins": agreement.slices(scores, [["3+" if part.joins > 2 else str(part.joins)] for part in parts]),
        "database": agreement.slices(scores, [[query.db_id] for query in gold]),
    }


def tsv(evaluation: Evaluation) -> str:
    """A line a query: its index from 0, its hardness, a column a metric (empty for no score), its id."""
    lines = ["\t".join((TABLE_BEGINS, *(metric.name for metric in evaluation.metrics), "id"))]
    for index, judged in enumerate(evaluation.judged):
        cells = (_cell(judged, metric.name, metric.graded) for metric in evaluation.metrics)
        lines.append("\t".join((str(index), judged.hardness, *cells, _plain(judged.pair.gold.id))))
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """On one line, in one cell."""
    return " ".join("".join(part if part.isprintable() else " " for part in text).split())


def provenance(files: Iterable[Path | Document], databases: Mapping[str, Sequence[Path]]) -> Provenance:
    """SHA-256 of the dataset's files and of each database, all its files together, and the versions that matter.

    A ``Document``'s hash is of what was read, whatever has become of the file since.
    """
    digests = {name: _digest(paths) for name, paths in sorted(databases.items())}
    together = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return Provenance(
        files={
            str(file): hashlib.sha256(file.raw).hexdigest() if isinstance(file, Document) else _digest([file])
            for file in files
        },
        databases=digests,
        all_databases=hashlib.sha256(together.encode()).hexdigest(),
        sqljury=version("sqljury"),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
    )


def _metric(evaluation: Evaluation, name: str, by_level: Mapping[str, agreement.Slice], seed: int) -> MetricFindings:
    scores = evaluation.column(name)
    interval = agreement.bootstrap(scores, [judged.pair.gold.db_id for judged in evaluation.judged], seed=seed)
    return MetricFindings(
        title=evaluation.titles[name],
        judged=sum(score is not None for score in scores),
        percent=_percent(agreement.mean(scores)),
        low=_percent(interval.low),
        high=_percent(interval.high),
        hardness={level: Mean(part.queries, _percent(part.mean)) for level, part in by_level.items()},
        interactions=_dialogues(evaluation, name),
    )


def _dialogues(evaluation: Evaluation, name: str) -> Dialogues | None:
    """Whole dialogues are right when every turn is (Yu et al. 2019, "CoSQL"); turns are counted from 1.

    Turns without a score are passed over, and dialogues without any.
    """
    dialogues: dict[int, list[float | None]] = {}
    for judged, score in zip(evaluation.judged, evaluation.column(name), strict=True):
        dialogues.setdefault(judged.pair.gold.interaction, []).append(score)
    if len(dialogues) < 2:
        return None
    scored = [[score for score in turns if score is not None] for turns in dialogues.values()]
    right = [all(score >= 1 for score in turns) for turns in scored if turns]
    by_turn: dict[str, list[float | None]] = {}
    for scores in dialogues.values():
        for number, score in enumerate(scores, 1):
            by_turn.setdefault(str(number) if number < 5 else "> 4", []).append(score)
    means = {
        turn: Mean(sum(score is not None for score in scores), _percent(agreement.mean(scores)))
        for turn, scores in sorted(by_turn.items(), key=lambda item: (len(item[0]), item[0]))
    }
    return Dialogues(len(right), _percent(sum(right) / len(right)) if right else 0.0, means)


def _partial(evaluation: Evaluation) -> dict[str, dict[str, Shares]]:
    parts = [(judged.hardness, judged.parts) for judged in evaluation.judged if judged.parts is not None]
    return {
        clause: {
            level: Shares(round(shares.precision, 3), round(shares.recall, 3), round(shares.f1, 3))
            for level, shares in levels.items()
        }
        for clause, levels in table(parts, LEVELS).items()
    }


def _cell(judged: Judged, metric: str, graded: bool) -> str:
    score = judged.scores[metric]
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
    clauses = {_WORDS[word] for word in words if word in _WORDS}
    for pair in pairwise(words):
        if pair in _PAIRS:
            clauses.add(_PAIRS[pair])
        if pair[0] in _AGGREGATES and pair[1] == "(":
            clauses.add("aggregate")
    if words.count("select") > 1 + sum(word in _SET_OPERATORS for word in words):
        clauses.add("subquery")
    if words[:1] == ["with"]:
        clauses.add("WITH")
    joins = words.count("join")
    if joins:
        clauses.add("JOIN")
    return Features(tuple(sorted(clauses)), joins)
