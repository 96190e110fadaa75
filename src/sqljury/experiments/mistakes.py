"""The wrong answers of a run by kind (CHASE-SQL, Appendix A.4): only what a program can decide, each with its ids.

Three views, each of which puts every wrong answer in one kind: whether another candidate was right, what the answer
returns beside gold, and how its text differs from gold's. A difference of texts need not be the mistake, and an answer
that no database tells from gold is not here at all. Where gold itself may be wrong, ``sqljury audit`` says more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from sqljury.audit.finding import difference
from sqljury.bench.stored import FIXED, REPAIRED, WRITTEN, Asked, StoredRun
from sqljury.engines.databases import Engine
from sqljury.evaluation.report import Share
from sqljury.evaluation.verdicts import DEVIATIONS
from sqljury.metrics.hardness import LEVELS
from sqljury.sql.features import tables
from sqljury.sql.parse import errors, exp, quiet
from sqljury.sql.tree import DIALECT, tree_of

CANDIDATES: Final = {
    "not chosen": "a right one was there and not chosen",
    "unmade": "one was right until it was repaired",
    "none right": "none was right",
    "none": "there was none",
}
QUERIES: Final = {
    "unread": "no query, or one of the two cannot be parsed",
    "tables missing": "tables of gold are missing",
    "tables added": "tables that gold has not",
    "tables": "other tables",
    "wrong value": "other constants alone",
    "deduplication": "DISTINCT alone",
    "data type": "other casts",
    "aggregation": "other aggregates or groups",
    "wrong column": "other columns selected",
    "semantic logic": "anything else, such as conditions, joins, order",
}
"""By name, the first in this order that holds."""


def mistakes(run: StoredRun) -> dict[str, Any]:
    """The wrong answers by kind, ready for JSON: each kind's label and ids, of those kinds that there are.

    ``hardness`` and ``databases`` have the share of wrong answers.
    """
    wrong = [one for one in run.questions if not one.right(one.sql)]
    of_copies = Engine.of(run.described["dataset"]).name != "sqlite"  # texts are compared in SQLite's dialect
    return {
        "questions": len(run.questions),
        "wrong": len(wrong),
        "candidates": _by_kind(wrong, _of_candidates, CANDIDATES),
        "results": _by_kind(wrong, lambda one: one.tried(one.sql).deviation, DEVIATIONS),
        "queries": [] if of_copies else _by_kind(wrong, _of_queries, QUERIES),
        "hardness": {level: _share(one for one in run.questions if one.hardness == level) for level in LEVELS},
        "databases": {
            name: _share(one for one in run.questions if one.db_id == name)
            for name in sorted({one.db_id for one in run.questions})
        },
    }


def _by_kind(wrong: Sequence[Asked], kind: Callable[[Asked], str], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    ids: dict[str, list[str]] = {name: [] for name in labels}
    for one in wrong:
        ids[kind(one)].append(one.id)
    return [{"kind": name, "label": labels[name], "ids": own} for name, own in ids.items() if own]


def _share(questions: Iterable[Asked]) -> dict[str, Any]:
    wrong = [not one.right(one.sql) for one in questions]
    return Share(sum(wrong), len(wrong)).figures()


def _of_candidates(question: Asked) -> str:
    if not any(one.queries[FIXED] for one in question.candidates):
        return "none"
    if any(question.right(one.queries[FIXED]) for one in question.candidates):
        return "not chosen"
    before = (one.queries[stage] for one in question.candidates for stage in (WRITTEN, REPAIRED))
    return "unmade" if any(map(question.right, before)) else "none right"


@quiet()
def _of_queries(question: Asked) -> str:
    read = [_tree(sql) for sql in (question.gold, question.sql)]
    known = {name for tree in read if tree is not None for name in _bare(tree)}
    gold, own = (_tree(sql, known) for sql in (question.gold, question.sql))
    if gold is None or own is None:
        return "unread"
    asked, used = set(tables(gold)), set(tables(own))
    missing, added = asked - used, used - asked
    if missing or added:
        return "tables" if missing and added else "tables missing" if missing else "tables added"
    try:
        return difference(gold.sql(dialect=DIALECT), own.sql(dialect=DIALECT))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return "unread"  # sqlglot's generators may stumble over arguments that a dialect does not have


def _tree(sql: str, columns: Collection[str] = ()) -> exp.Expr | None:
    return tree_of(sql, columns)


def _bare(tree: exp.Expr) -> set[str]:
    """Columns that stand without quotes: what stands in double quotes and is none of them is taken for a text."""
    return {column.name.lower() for column in tree.find_all(exp.Column)}
