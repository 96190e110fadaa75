"""Test cases by agents (TS-SQL): data that a question needs, and a program that computes what is expected there.

Linking, data, code, inspection and voting are a module each; see docs/recipes/tssql.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqljury.context import Context
from sqljury.errors import DatabaseError
from sqljury.llm.base import derive_seed
from sqljury.prompts import Text
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
from sqljury.types import Result, Task, TestCase, Tried


class _Data(NamedTuple):
    """A test case without an expected result, and the origin of its rows."""

    case: TestCase
    how: str


class Programs(NamedTuple):
    """Programs for one case with their results; ``asked`` is what they were written for.

    ``shown`` writes a result as a model may see it.
    """

    asked: str
    ran: Sequence[Ran]
    shown: Callable[[Result], str]


def run_agents(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    """The queries on one test case of the agents', with the program that computed what is expected.

    ``Tried.classes`` tells which queries the case does not tell apart. No test where nothing is in play or SQLite does
    not take the schema. ``passed`` is None throughout where no program ran. Raises what the model raises,
    ``SandboxError`` where written code cannot be isolated, ``MissingExtraError`` without the extra.
    """
    tested = _test(queries, task, part, context)
    if tested is None:
        return ()
    test, linked = tested
    if part.by == "model":
        case = with_expected(test.case, task.question, part, context)
        test = replace(test, case=case, by="" if case.expected is None else "model")
    else:
        test = _expected(test, _programs(test, task, linked, part, context), part, context)
    return (replace(judged(test), classes=_classes(test.case, queries)),)


def run_programs(
    queries: Sequence[str], task: Task, part: TestsPart, context: Context
) -> tuple[Sequence[Result], Programs] | None:
    """What the queries return on one test case, and the programs that were written for it; nothing is chosen.

    None where ``run_agents`` makes no test. Raises what that raises.
    """
    tested = _test(queries, task, part, context)
    if tested is None:
        return None
    test, linked = tested
    return test.results, _programs(test, task, linked, part, context)


def _test(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, Linked] | None:
    """The queries on one case without an expected result; None without tables in play or a case."""
    linked = link(queries, task, context)
    if not linked.schema.tables:
        return None
    try:
        data = _data(queries, linked, task, part, context)
    except DatabaseError:
        return None
    return (run_case(data.case, queries, data.how), linked) if data.case.schema.tables else None


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


def _programs(test: Tried, task: Task, linked: Linked, part: TestsPart, context: Context) -> Programs:
    """Programs for the test's case, inspected; on made-up rows an odd result counts as a failure."""
    hidden = test.how == "real"
    schema, joinable = test.case.schema, frames.joinable(test.case)
    described = Text("\n".join((frames.described(schema), *frames.merges(schema))), "schema")
    shown = described if hidden else Text(frames.shown(joinable), "values")  # rows made up around values
    asked = conversation(shown, len(schema.tables), task.question, linked.notes, reasoning=part.reasoning)
    number = asks_for_a_number(task.question.text)
    inspection = Inspection(Runner(joinable, context.sandbox()), asked, part, number, hidden)
    ran = inspection.inspect_all(write_programs(asked, part, context), context)
    if not hidden:
        ran = [program._replace(result=opinion(program.result, test.results, number)) for program in ran]
    return Programs(asked[-1].content, ran, inspection.shown)


def _expected(test: Tried, programs: Programs, part: TestsPart, context: Context) -> Tried:
    """The test with what the believed program returns; as it is where none ran."""
    choice = _chosen(programs, part, context)
    if choice is None:
        return test
    index, confidence = choice
    believed = programs.ran[index]
    case = replace(test.case, expected=believed.result, confidence=confidence)
    return replace(test, case=case, by="code", code=believed.code)


def _chosen(programs: Programs, part: TestsPart, context: Context) -> tuple[int, float] | None:
    """The index of the program that is believed, and the confidence in it; None where none ran."""
    if part.voting == "selection":
        chosen = choose_program(programs.asked, programs.ran, programs.shown, context.of(part.chooser))
        if chosen is not None:
            return chosen
    votes = majority([program.result for program in programs.ran])
    return None if votes is None else (votes[0], votes[1] / part.programs)
