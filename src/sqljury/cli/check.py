"""``sqljury check``: is this query right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import case_tables, show, terminal
from sqljury.cli.eval_options import TextForm
from sqljury.cli.groups import SessionOptions, grouped
from sqljury.cli.options import EvidenceOption, Tests
from sqljury.cli.terminal import interruptible
from sqljury.llm.replies import lines_of
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.stages.check import Checked
    from sqljury.types import Tried

WRONG = 10
UNCLEAR = 11
CODES = {"right": 0, "wrong": WRONG, "unclear": UNCLEAR}
"""What the command ends with, by verdict."""

TITLES = {"right": "Right", "wrong": "Wrong", "unclear": "Cannot say"}
SHOWN = 3
"""Tests that are printed; JSON has all."""


@grouped
def check(
    question: Annotated[str, typer.Argument(help="The question that the query should answer, in plain language.")],
    sql: Annotated[str, typer.Option(help="The query to check; it is refused if it does more than read.")],
    options: SessionOptions,
    evidence: EvidenceOption = "",
    tests: Annotated[Tests | None, typer.Option(help="The kind of tests; by default the recipe's, or suite.")] = None,
    output: Annotated[TextForm, typer.Option(help="The output format.")] = TextForm.TABLE,
) -> None:
    """Check a query by tests on small databases; exit code 0 for right, 10 for wrong, 11 for unclear."""
    from sqljury.api import Session

    arguments = options.arguments()
    with (
        show.progress() as report,
        interruptible() as cancel,
        Session(**arguments, progress=report, cancel=cancel) as session,
    ):
        checked = session.check(question, sql, evidence=evidence, tests=tests.value if tests else "")
        dialect = session.database.dialect
    if output is TextForm.JSON:
        print(terminal.to_json(checked.to_dict()))
    else:
        _print(checked, dialect)
    if code := CODES[checked.verdict]:
        raise typer.Exit(code)


def _print(checked: Checked, dialect: str) -> None:
    """The verdict, who agrees, the tests that say most, and the correction."""
    terminal.show(f"{TITLES[checked.verdict]}: {terminal.clean(checked.why)}.")
    terminal.show(_votes(checked))
    shown = _telling(checked)
    for number, test in enumerate(shown, 1):
        title = f"Test {number} of {len(checked.tests)}" if len(checked.tests) > 1 else "The test"
        _test(test, f"{title}, {case_tables.ORIGINS.get(test.how, 'made for this')}:", checked)
    if len(shown) < len(checked.tests):
        terminal.show("", f"{len(checked.tests) - len(shown)} more tests with --output json.")
    if checked.correction is not None:
        terminal.show("", "A query that does better:" if checked.tests else "A query that runs:")
        terminal.show(f"  {written.one_line(checked.correction.sql, dialect)}")
        terminal.show("  On the database it returns:", case_tables.table_of(checked.correction.result))


def _votes(checked: Checked) -> str:
    count = len(checked.candidates)
    if count == 1:
        same = "the same" if checked.agreeing else "something else"
        return f"The query that the model wrote for the question returns {same} on the database."
    return (
        f"Of {count} queries that the model wrote for the question {checked.agreeing} return the same on the database."
    )


def _telling(checked: Checked) -> list[Tried]:
    """The tests that speak for the verdict first: those that the query fails, or passes where it is right."""
    wanted = checked.verdict == "right"
    return sorted(checked.tests, key=lambda test: (test.passed[0] is not wanted, test.case.size))[:SHOWN]


def _test(test: Tried, title: str, checked: Checked) -> None:
    terminal.show("", title)
    case_tables.rows(test)
    terminal.show(
        "", f"The query returns there{case_tables.judged(test.passed[0])}:", case_tables.table_of(test.results[0])
    )
    case_tables.expectation(test)
    if test.code:
        terminal.show("", "The program:", *(f"    {terminal.clean(line)}" for line in lines_of(test.code)))
    if checked.correction is not None and checked.correction.sql in test.queries:
        index = test.queries.index(checked.correction.sql)
        heading = f"The query below returns{case_tables.judged(test.passed[index])}:"
        terminal.show("", heading, case_tables.table_of(test.results[index]))
