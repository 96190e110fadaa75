"""``sqljury check``: is this query right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import case_tables, show, terminal
from sqljury.cli.eval_options import TextForm
from sqljury.cli.groups import Limited, Rules, grouped
from sqljury.cli.options import DbOption, EvidenceOption, NotesOption, ProjectOption, SchemaOption, Tests
from sqljury.cli.target import session_options
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
    *,
    db: DbOption = None,
    project: ProjectOption = None,
    schema: SchemaOption = None,
    evidence: EvidenceOption = "",
    notes: NotesOption = None,
    tests: Annotated[Tests | None, typer.Option(help="The kind of tests; by default the recipe's, or suite.")] = None,
    output: Annotated[TextForm, typer.Option(help="The output format.")] = TextForm.TABLE,
    answering: Limited,
    rules: Rules,
) -> None:
    """Check a query by tests on small databases; exit code 0 for right, 10 for wrong, 11 for unclear."""
    from sqljury.api import Session

    target = session_options(db, project, schemas=schema, notes=notes, **answering.target(), **rules.target())
    with (
        show.progress() as report,
        interruptible() as cancel,
        Session(**target, **answering.session(), progress=report, cancel=cancel) as session,
    ):
        found = session.check(question, sql, evidence=evidence, tests=tests.value if tests else "")
        dialect = session.database.dialect
    if output is TextForm.JSON:
        print(terminal.to_json(found.to_dict()))
    else:
        _print(found, dialect)
    if code := CODES[found.verdict]:
        raise typer.Exit(code)


def _print(found: Checked, dialect: str) -> None:
    """The verdict, who agrees, the tests that say most, and the correction."""
    terminal.show(f"{TITLES[found.verdict]}: {terminal.clean(found.why)}.")
    terminal.show(_votes(found))
    told = _telling(found)
    for number, test in enumerate(told, 1):
        title = f"Test {number} of {len(found.tests)}" if len(found.tests) > 1 else "The test"
        _test(test, f"{title}, {case_tables.ORIGINS.get(test.how, 'made for this')}:", found)
    if len(told) < len(found.tests):
        terminal.show("", f"{len(found.tests) - len(told)} more tests with --output json.")
    if found.correction is not None:
        terminal.show("", "A query that does better:" if found.tests else "A query that runs:")
        terminal.show(f"  {written.one_line(found.correction.sql, dialect)}")
        terminal.show("  On the database it returns:", case_tables.table_of(found.correction.result))


def _votes(found: Checked) -> str:
    count = len(found.candidates)
    if count == 1:
        same = "the same" if found.agreeing else "something else"
        return f"The query that the model wrote for the question returns {same} on the database."
    return f"Of {count} queries that the model wrote for the question {found.agreeing} return the same on the database."


def _telling(found: Checked) -> list[Tried]:
    """The tests that speak for the verdict first: those that the query fails, or passes where it is right."""
    wanted = found.verdict == "right"
    return sorted(found.tests, key=lambda test: (test.passed[0] is not wanted, test.case.size))[:SHOWN]


def _test(test: Tried, title: str, found: Checked) -> None:
    terminal.show("", title)
    case_tables.rows(test)
    terminal.show(
        "", f"The query returns there{case_tables.judged(test.passed[0])}:", case_tables.table_of(test.results[0])
    )
    case_tables.expectation(test)
    if test.code:
        terminal.show("", "The program:", *(f"    {terminal.clean(line)}" for line in lines_of(test.code)))
    if found.correction is not None and found.correction.sql in test.queries:
        place = test.queries.index(found.correction.sql)
        told = f"The query below returns{case_tables.judged(test.passed[place])}:"
        terminal.show("", told, case_tables.table_of(test.results[place]))
