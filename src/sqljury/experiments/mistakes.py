"""The wrong answers of a run by kind (CHASE-SQL, Appendix A.4): only what a program can decide, each with its ids.

Of a refined run, also the kinds of the queries that were corrected and misled (TS-SQL, Figure 6).

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
from sqljury.metrics.hardness import levels_of
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

CORRECTIONS: Final = {
    "syntax": "the query fails",
    "table": "other tables",
    "deduplication": "DISTINCT alone",
    "column": "other columns selected",
    "string": "other processing of texts",
    "filter": "other conditions",
    "other": "anything else, such as groups, order, limit",
}
"""The types of Figure 6 of TS-SQL as far as two texts tell them, the first in this order that holds."""

_TEXTS: Final = (exp.Substring, exp.Trim, exp.Replace, exp.Upper, exp.Lower, exp.Concat, exp.DPipe, exp.StrToTime)


def mistakes(run: StoredRun) -> dict[str, Any]:
    """The wrong answers by kind, ready for JSON: each kind's label and ids, of those kinds that there are.

    ``hardness`` and ``databases`` have the share of wrong answers, ``refined`` what ``corrections`` finds.
    """
    wrong = [question for question in run.questions if not question.right(question.sql)]
    of_copies = Engine.of(run.described["dataset"]).name != "sqlite"  # texts are compared in SQLite's dialect
    return {
        "questions": len(run.questions),
        "wrong": len(wrong),
        "candidates": _by_kind(wrong, _of_candidates, CANDIDATES),
        "results": _by_kind(wrong, lambda question: question.tried(question.sql).deviation, DEVIATIONS),
        "queries": [] if of_copies else _by_kind(wrong, _of_queries, QUERIES),
        "refined": [] if of_copies else corrections(run.questions),
        "hardness": {
            level: _share(question for question in run.questions if question.hardness == level)
            for level in levels_of(question.hardness for question in run.questions)
        },
        "databases": {
            name: _share(question for question in run.questions if question.db_id == name)
            for name in sorted({question.db_id for question in run.questions})
        },
    }


def corrections(questions: Sequence[Asked]) -> list[dict[str, Any]]:
    """What refinement did to each type of error, for those that there are (TS-SQL, section 4.4.3, Figure 6).

    The type is that of the wrong query beside gold, by ``CORRECTIONS``: how many queries of it there were ``before``
    and ``after``, and the ids of those ``corrected`` and ``misled``. Empty for a run that refined nothing.
    """
    rows: dict[str, dict[str, Any]] = {
        name: {"kind": name, "label": label, "before": 0, "after": 0, "corrected": [], "misled": []}
        for name, label in CORRECTIONS.items()
    }
    for question in questions:
        if question.before is None:
            continue
        began, ended = (_correction(question, sql) for sql in (question.before, question.sql))
        if began:
            rows[began]["before"] += 1
        if ended:
            rows[ended]["after"] += 1
        if began and not ended:
            rows[began]["corrected"].append(question.id)
        if ended and not began:
            rows[ended]["misled"].append(question.id)
    return [row for row in rows.values() if row["before"] or row["after"]]


@quiet()
def _correction(question: Asked, sql: str) -> str:
    """The type of a wrong query's error; empty for a right one."""
    if question.right(sql):
        return ""
    gold, predicted = _trees(question.gold, sql)
    if not question.runs(sql) or predicted is None:
        return "syntax"
    if gold is None:
        return "other"
    if set(tables(gold)) != set(tables(predicted)):
        return "table"
    try:
        narrow = difference(gold.sql(dialect=DIALECT), predicted.sql(dialect=DIALECT))
        if narrow in ("deduplication", "wrong column"):
            return "deduplication" if narrow == "deduplication" else "column"
        if _parts(gold, _TEXTS) != _parts(predicted, _TEXTS):
            return "string"
        return "filter" if _conditions(gold) != _conditions(predicted) else "other"
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return "other"


def _parts(tree: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> list[str]:
    return sorted(type(node).__name__ for node in tree.find_all(*kinds))


def _conditions(tree: exp.Expr) -> list[str]:
    """What WHERE and HAVING hold, without the names of tables, which may be aliases."""
    conditions = []
    for clause in tree.find_all(exp.Where, exp.Having):
        bare = clause.copy()
        for column in bare.find_all(exp.Column):
            column.set("table", None)
        conditions.append(bare.sql(dialect=DIALECT).lower())
    return sorted(conditions)


def _by_kind(wrong: Sequence[Asked], kind: Callable[[Asked], str], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    ids: dict[str, list[str]] = {name: [] for name in labels}
    for question in wrong:
        ids[kind(question)].append(question.id)
    return [
        {"kind": name, "label": labels[name], "ids": question_ids} for name, question_ids in ids.items() if question_ids
    ]


def _share(questions: Iterable[Asked]) -> dict[str, Any]:
    wrong = [not question.right(question.sql) for question in questions]
    return Share(sum(wrong), len(wrong)).figures()


def _of_candidates(question: Asked) -> str:
    if not any(candidate.queries[FIXED] for candidate in question.candidates):
        return "none"
    if any(question.right(candidate.queries[FIXED]) for candidate in question.candidates):
        return "not chosen"
    before = (candidate.queries[stage] for candidate in question.candidates for stage in (WRITTEN, REPAIRED))
    return "unmade" if any(map(question.right, before)) else "none right"


@quiet()
def _of_queries(question: Asked) -> str:
    gold, predicted = _trees(question.gold, question.sql)
    if gold is None or predicted is None:
        return "unread"
    asked, used = set(tables(gold)), set(tables(predicted))
    missing, added = asked - used, used - asked
    if missing or added:
        return "tables" if missing and added else "tables missing" if missing else "tables added"
    try:
        return difference(gold.sql(dialect=DIALECT), predicted.sql(dialect=DIALECT))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return "unread"  # sqlglot's generators may stumble over arguments that a dialect does not have


def _trees(gold: str, sql: str) -> tuple[exp.Expr | None, exp.Expr | None]:
    """Both queries, read with the columns that either names."""
    read = [_tree(text) for text in (gold, sql)]
    known = {name for tree in read if tree is not None for name in _bare(tree)}
    return _tree(gold, known), _tree(sql, known)


def _tree(sql: str, columns: Collection[str] = ()) -> exp.Expr | None:
    return tree_of(sql, columns)


def _bare(tree: exp.Expr) -> set[str]:
    """Columns that stand without quotes: what stands in double quotes and is none of them is taken for a text."""
    return {column.name.lower() for column in tree.find_all(exp.Column)}
