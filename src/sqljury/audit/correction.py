"""Corrected gold queries, and the file that holds them (TS-SQL, section 4.1).

Only faults whose correction a program can write: values and joins spelled otherwise than stored, numbers kept as text,
a DISTINCT that the question asks for. For other faults there is the better query of a test, which a model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.audit.checks_conditions import misspelled_joins
from sqljury.audit.checks_values import as_numbers, compared, finds, folded, mostly_numbers, ordered_columns, texts_of
from sqljury.audit.finding import LIKELY, Finding
from sqljury.audit.subject import Subject
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation.run_folder import Record
from sqljury.resources import must_write, write_whole
from sqljury.sql.parse import exp, quiet
from sqljury.sql.tree import DIALECT
from sqljury.types import serialize


@quiet()
def corrected(subject: Subject, findings: Sequence[Finding]) -> str:
    """The query with the errors of likely findings corrected; empty if that is impossible or changes nothing.

    A correction runs, and returns other rows than the query; some rows where the query returns none.
    """
    checks = {finding.check for finding in findings if finding.confidence >= LIKELY}
    mended = subject
    for check, mend in _MENDERS.items():
        if check in checks and mended.tree is not None:
            try:
                mended = replace(subject, sql=mend(mended).sql(dialect=DIALECT))
            except ValueError:  # sqlglot reads what it cannot write
                return ""
    if mended is subject or mended.tree is None:
        return ""
    changed = subject.differs(mended.tree, ordered=True)
    failed = subject.rows is None and mended.rows is not None
    return mended.sql if failed or (changed is not None and changed[1]) else ""


def _spelled(subject: Subject) -> exp.Expr:
    """Texts as their columns store them."""
    assert subject.tree is not None
    for column, literal in list(compared(subject)):
        owner = subject.owner(column)
        values = () if owner is None else subject.data.values(owner[1], column.name) or ()
        alike = [value for value in values if isinstance(value, str) and folded(value) == folded(literal.name)]
        if owner is None or not alike or literal.name in values or finds(subject, owner[1], column.name, literal):
            continue
        texts = [exp.Literal.string(value) for value in alike]
        if len(texts) > 1 and isinstance(literal.parent, exp.EQ):
            literal.parent.replace(exp.In(this=column.copy(), expressions=texts))
        else:
            literal.replace(texts[0])
    return subject.tree


def _joined(subject: Subject) -> exp.Expr:
    """Joins without the spaces and the case in which the values of their columns differ."""
    assert subject.tree is not None
    for node in misspelled_joins(subject):
        for side in (node.this, node.expression):
            side.replace(exp.Lower(this=exp.Trim(this=side.copy())))
    return subject.tree


def _numbered(subject: Subject) -> exp.Expr:
    """Numbers stored as text, cast to numbers wherever they are sorted or summed up."""
    tree = subject.tree
    assert tree is not None
    names: dict[str, exp.Column] = {}
    for column, _ in ordered_columns(subject):
        if mostly_numbers(texts_of(subject, column)):
            names.setdefault(column.name.lower(), column)
    for column in names.values():
        tree = as_numbers(tree, column)
    return tree


def _distinct(subject: Subject) -> exp.Expr:
    assert subject.tree is not None
    return subject.tree.distinct() if isinstance(subject.tree, exp.Select) else subject.tree


_MENDERS: Final[dict[str, Callable[[Subject], exp.Expr]]] = {
    "spelling": _spelled,
    "join-spelling": _joined,
    "number-as-text": _numbered,
    "no-distinct": _distinct,
}
"""By check: a function that returns the tree of the query without the error."""


def is_about(line: Record, example: Example) -> bool:
    """Whether an audit's line is of the example as it is now: a dataset's questions and gold queries are mended."""
    return asked_of(line) == (example.question.text, example.gold_sql, example.db_id)


def asked_of(line: Record) -> tuple[str, str, str]:
    """What a line was audited for: the question, its gold query and its database."""
    return line["question"], line["gold"], line["db_id"]


class Exported(NamedTuple):
    """How many gold queries of a file were corrected by program checks and by tests, and how many stayed."""

    by_checks: int
    by_tests: int
    unchanged: int


def export(
    file: Path, examples: Sequence[Example], lines: Mapping[str, Record], tests: Mapping[str, Record], least: float
) -> Exported:
    """Write the gold query of each example, corrected where ``lines`` or ``tests`` have a correction, in their order.

    ``lines`` are those of the program checks by question, ``tests`` those of the checks by tests. A correction counts
    where a finding has the confidence ``least``; one by program checks comes first. A file named ``*.jsonl`` holds an
    object a line (id, db_id, gold), any other Spider's lines of query, tab and database; `sqljury eval --gold` reads
    both. Raises ``InputError`` for a gold query that cannot stand on one line, ``DatasetError`` for a file that cannot
    be written.
    """
    as_json = file.suffix == ".jsonl"
    written, counts = [], {"checks": 0, "tests": 0, "": 0}
    for example in examples:
        gold, by = _correction(example, lines, tests, least, as_json)
        counts[by] += 1
        if as_json:
            entry = {"id": example.id, "db_id": example.db_id, "gold": gold}
            written.append(json.dumps(entry))
        elif not _on_one_line(gold):
            raise InputError(f"{example.id}: its query cannot stand on one line; name a file that ends in .jsonl")
        else:
            written.append(f"{serialize.one_line(gold, DIALECT)}\t{example.db_id}")
    with must_write(file, DatasetError, "name another file"):
        write_whole(file, "\n".join((*written, "")))
    return Exported(counts["checks"], counts["tests"], counts[""])


def _correction(
    example: Example, lines: Mapping[str, Record], tests: Mapping[str, Record], least: float, as_json: bool
) -> tuple[str, str]:
    """The query to write, and what corrected it: ``checks``, ``tests`` or, for unchanged gold, an empty text."""
    for by, line in (("checks", lines.get(example.id)), ("tests", tests.get(example.id))):
        if line is None or not line["correction"] or not is_about(line, example):
            continue
        likely = any(finding["confidence"] >= least for finding in line["findings"])
        if likely and (as_json or _on_one_line(line["correction"])):
            return line["correction"], by
    return example.gold_sql, ""


def _on_one_line(sql: str) -> bool:
    """Whether the query means the same on one line: no text in it has a line end or an invisible character."""
    flat = serialize.one_line(sql, DIALECT)
    return flat.count("\\n") == sql.count("\\n") and not serialize.has_escapes(sql, DIALECT)
