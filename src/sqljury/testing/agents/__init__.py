"""Test cases by agents (TS-SQL): data that a question needs, and a program that computes what is expected there.

Linking, data, code, inspection and voting are a module each; see docs/recipes/tssql.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sqljury.context import Context
from sqljury.errors import DatabaseError
from sqljury.llm.base import derive_seed
from sqljury.recipes.parts import TestsPart
from sqljury.testing.agents import frames
from sqljury.testing.agents.code import Ran, Runner, conversation, write_programs
from sqljury.testing.agents.data import make_rows, write_rows
from sqljury.testing.agents.inspection import Inspection, asks_for_a_number, opinion
from sqljury.testing.agents.judging import Judge
from sqljury.testing.agents.linking import Linked, link
from sqljury.testing.agents.vote import choose_program, majority
from sqljury.testing.draw import POOL, SAMPLED, read_origin, select, select_share
from sqljury.testing.expect import with_expected
from sqljury.testing.shape import Shape, checks_of, read_checks
from sqljury.testing.trial import Trial, classes_of_all, judged, run_case, translated
from sqljury.types import Task, TestCase, Tried


class _Data(NamedTuple):
    """A test case without an expected result, and the origin of its rows."""

    case: TestCase
    how: str


def run_agents(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    """The queries on one test case of the agents', with the program that computed what is expected.

    ``Tried.classes`` tells which queries the case does not tell apart. No test where nothing is in play or SQLite does
    not take the schema. ``passed`` is None throughout where no program ran. Raises what the model raises,
    ``SandboxError`` where written code cannot be isolated, ``MissingExtraError`` without the extra.
    """
    linked = link(queries, task, context)
    if not linked.schema.tables:
        return ()
    try:
        data = _data(queries, linked, task, part, context)
    except DatabaseError:
        return ()
    if not data.case.schema.tables:
        return ()
    test = run_case(data.case, queries, data.how)
    if part.by == "model":
        case = with_expected(data.case, task.question, part, context)
        test = replace(test, case=case, by="" if case.expected is None else "model")
    else:
        test = _by_code(test, task, linked, part, context)
    return (replace(judged(test), classes=_classes(test.case, queries)),)


def _classes(case: TestCase, queries: Sequence[str]) -> tuple[int, ...]:
    """For each query the index of the first that the case does not tell it from, however ties fall."""
    texts = translated(queries, case.schema)
    with Trial(Shape(case.schema, {}), list(texts.values())) as trial:
        if not trial.load(case.tables):
            trial.mended(case.tables)
        return classes_of_all(trial.classes(), texts, len(queries))


def _data(queries: Sequence[str], linked: Linked, task: Task, part: TestsPart, context: Context) -> _Data:
    """The data agent's case, or rows made by program where it has none, or real rows."""
    seed = str(derive_seed(context.seed, "data"))
    if part.data == "real":
        origin = read_origin(context.db, task.known, queries, seed=seed, most=SAMPLED if part.share else POOL)
        rows = select_share(origin, seed, part.share) if part.share else select(origin, seed, part.rows)
        return _Data(origin.shape.case(rows), "real")
    shape = Shape(linked.schema, checks_of(linked.schema, read_checks(context.db, task.known)))
    with Judge(linked, shape) as judge:
        made = make_rows(linked, judge, rows=part.rows, seed=seed, cancel=context.cancel)
        written = (
            None if part.data == "program" else write_rows(linked, task.question, judge, made, context, part.reasoning)
        )
    if written is None:
        return _Data(shape.case(made.rows), "fuzzed")
    return _Data(shape.case(written.rows), "written")


def _by_code(test: Tried, task: Task, linked: Linked, part: TestsPart, context: Context) -> Tried:
    """The test with what programs return on its case, and the first program that returns it."""
    hidden = test.how == "real"
    schema, joinable = test.case.schema, frames.joinable(test.case)
    shown = "\n".join((frames.described(schema), *frames.merges(schema))) if hidden else frames.shown(joinable)
    asked = conversation(shown, len(schema.tables), task.question, linked.notes, reasoning=part.reasoning)
    number = asks_for_a_number(task.question.text)
    inspection = Inspection(Runner(joinable, context.sandbox()), asked, part, number, hidden)
    ran = inspection.inspect_all(write_programs(asked, part, context), context)
    if not hidden:
        ran = [program._replace(result=opinion(program.result, test.results, number)) for program in ran]
    choice = _chosen(inspection, ran, part, context)
    if choice is None:
        return test
    index, confidence = choice
    case = replace(test.case, expected=ran[index].result, sureness=confidence)
    return replace(test, case=case, by="code", code=ran[index].code)


def _chosen(inspection: Inspection, ran: Sequence[Ran], part: TestsPart, context: Context) -> tuple[int, float] | None:
    """The index of the program that is believed, and the confidence in it; None where none ran."""
    if part.voting == "selection":
        chooser = context.of(part.chooser)
        chosen = choose_program(inspection.asked[-1].content, ran, inspection.shown, chooser)
        if chosen is not None:
            return chosen
    votes = majority([program.result for program in ran])
    return None if votes is None else (votes[0], votes[1] / part.programs)
