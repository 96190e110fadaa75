"""Runs the approved pairs of a database: whether their queries still run, and whether questions get their results."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree

from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.errors import CancelledError, ModelError, SqljuryError
from sqljury.project.folder import Approved
from sqljury.sql.compare import VOTES, same
from sqljury.sql.parse import read_query
from sqljury.types import Answer, Limits, Result

Status = Literal["passed", "differs", "no answer", "broken"]

_INVALID: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one approved pair, ``why``, and the query of the answer, empty where there is none.

    ``broken``: the approved query fails; ``differs``: the answer's result is another one than the approved query's;
    ``no answer``: no candidate could be run.
    """

    pair: Approved
    status: Status
    why: str = ""
    sql: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing has broken."""
        return self.status == "passed"


def run(
    pairs: Iterable[Approved],
    db: Database,
    answer: Callable[[str], Answer] | None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Outcome]:
    """The outcome of each pair; without ``answer``, of its query alone.

    Results are compared as candidates that vote are: columns in any order, and rows too, unless the approved query
    sorts them. Raises what stops all of them, such as a model that cannot be used.
    """
    for pair in pairs:
        began = time.monotonic()
        status, why, sql = _judged(pair, db, answer, limits)
        yield Outcome(pair, status, why, sql, time.monotonic() - began)


def _judged(
    pair: Approved, db: Database, answer: Callable[[str], Answer] | None, limits: Limits
) -> tuple[Status, str, str]:
    expected = db.execute(pair.sql, limits)
    if expected.error is not None:
        return "broken", f"the approved query fails: {expected.error}", ""
    if answer is None:
        return "passed", "", ""
    try:
        given = answer(pair.question)
    except (ModelError, CancelledError):
        raise
    except SqljuryError as error:
        return "no answer", str(error), ""
    actual = Result(given.columns, given.rows, given.truncated)
    if same(expected, actual, VOTES, ordered=_sorts(pair.sql, db.dialect)):
        return "passed", "", given.sql
    return "differs", f"{_size(expected)} expected, {_size(actual)} returned{_first(expected, actual)}", given.sql


def _sorts(sql: str, dialect: str) -> bool:
    tree = read_query(sql, dialect)
    return tree is not None and tree.args.get("order") is not None


def _size(result: Result) -> str:
    rows = f"{len(result.rows):,}{'+' if result.truncated else ''} row{'' if len(result.rows) == 1 else 's'}"
    return f"{rows} of {len(result.columns)} column{'' if len(result.columns) == 1 else 's'}"


def _first(expected: Result, actual: Result) -> str:
    """The first rows that differ, where both results have one."""
    for wanted, given in zip(expected.rows, actual.rows, strict=False):
        if wanted != given:
            return f"; {_cells(wanted)} became {_cells(given)}"
    return ""


def _cells(row: tuple[object, ...]) -> str:
    text = ", ".join("NULL" if cell is None else str(cell) for cell in row)
    return text if len(text) <= 80 else f"{text[:79]}…"


def junit(outcomes: Iterable[Outcome], name: str) -> str:
    """The outcomes as JUnit XML, in one suite of this name; a broken query is an error, the others are failures."""
    cases = list(outcomes)
    suite = ElementTree.Element(
        "testsuite",
        name=_text(name),
        tests=str(len(cases)),
        failures=str(sum(case.status in ("differs", "no answer") for case in cases)),
        errors=str(sum(case.status == "broken" for case in cases)),
        skipped="0",
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_text(f"sqljury.{case.pair.database}"),
            name=_text(case.pair.question),
            file=_text(case.pair.place),
            time=f"{case.seconds:.3f}",
        )
        if not case.passed:
            kind = "error" if case.status == "broken" else "failure"
            problem = ElementTree.SubElement(element, kind, type=case.status, message=_text(case.why))
            problem.text = _text(f"{case.pair.place}\napproved: {case.pair.sql}\nanswer: {case.sql or '(none)'}")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _text(text: str) -> str:
    return _INVALID.sub("\ufffd", text)
