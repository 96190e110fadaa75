"""Test cases by agents (TS-SQL): data that a question needs, and a program that says what is expected there.

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
from sqljury.sql.translate import in_sqlite
from sqljury.testing.again import judged, tried
from sqljury.testing.agents import code, data, frames, program
from sqljury.testing.agents import vote as selection
from sqljury.testing.agents.inspection import Inspection, Ran, Runner, asks_for_a_number, opinion
from sqljury.testing.agents.judging import Judge
from sqljury.testing.agents.linking import Linked, link
from sqljury.testing.agents.vote import vote
from sqljury.testing.draw import read_origin, select
from sqljury.testing.expect import expect
from sqljury.testing.shape import Shape, of_part, read_checks
from sqljury.testing.trial import Trial
from sqljury.types import Task, TestCase, Tried


class _Case(NamedTuple):
    """A test case without an expected result, and where its rows come from."""

    case: TestCase
    how: str


class _Said(NamedTuple):
    """A case with what is expected there, and who said it."""

    case: TestCase
    by: str
    code: str


def tested(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    """The queries on one test case of the agents', with the program that said what is expected.

    ``Tried.classes`` says which queries the case does not tell apart. No case where nothing is in play or SQLite does
    not take the schema. ``passed`` is None throughout where no program ran. Raises what the model raises,
    ``SandboxError`` where written code cannot be isolated, ``MissingExtraError`` without the extra.
    """
    linked = link(queries, task, context)
    try:
        made = _data(queries, linked, task, part, context) if linked.schema.tables else None
    except DatabaseError:
        return ()
    if made is None or not made.case.schema.tables:
        return ()
    one = tried(made.case, queries, made.how)
    if part.by == "model":
        case = expect(made.case, task.question, part, context)
        said = _Said(case, "" if case.expected is None else "model", "")
    else:
        said = _by_code(one, task, linked, part, context)
    one = judged(replace(one, case=said.case, by=said.by, code=said.code))
    return (replace(one, classes=_classes(said.case, queries)),)


def _classes(case: TestCase, queries: Sequence[str]) -> tuple[int, ...]:
    """For each query the place of the first that the case does not tell it from, whichever way ties fall."""
    texts = [in_sqlite(sql, case.schema) for sql in queries]
    places = [place for place, text in enumerate(texts) if text is not None]
    with Trial(Shape(case.schema, {}), [text for text in texts if text is not None]) as trial:
        if not trial.load(case.tables):
            trial.mended(case.tables)
        own = dict(zip(places, (places[first] for first in trial.classes()), strict=True))
    return tuple(own.get(place, place) for place in range(len(queries)))


def _data(queries: Sequence[str], linked: Linked, task: Task, part: TestsPart, context: Context) -> _Case:
    """The data agent's case, or what stands for it."""
    seed = str(derive_seed(context.seed, "data"))
    if part.data == "real":
        origin = read_origin(context.db, task.known, queries, seed=seed)
        return _Case(origin.shape.case(select(origin, seed, part.rows)), "real")
    shape = Shape(linked.schema, of_part(read_checks(context.db, task.known), linked.schema))
    with Judge(linked, shape) as judge:
        made = program.make(linked, judge, rows=part.rows, seed=seed, cancel=context.cancel)
        if part.data == "program":
            return _Case(shape.case(made.rows), "fuzzed")
        written = data.write(linked, task.question, judge, made, context)
    if written is None:
        return _Case(shape.case(made.rows), "fuzzed")
    return _Case(shape.case(written.rows), "written")


def _by_code(one: Tried, task: Task, linked: Linked, part: TestsPart, context: Context) -> _Said:
    """The case, on which the queries were tried, with what its programs say, and the first program that says it."""
    hidden = one.how == "real"
    schema, held = one.case.schema, frames.joinable(one.case)
    shown = "\n".join((frames.described(schema), *frames.merges(schema))) if hidden else frames.shown(held)
    asked = code.conversation(shown, len(schema.tables), task.question, linked.notes)
    number = asks_for_a_number(task.question.text)
    look = Inspection(Runner(held, context.sandbox()), asked, part, number, hidden)
    ran = look.of_all(code.programs(asked, part, context), context)
    if not hidden:
        ran = [each._replace(result=opinion(each.result, one.results, number)) for each in ran]
    said = _chosen(look, ran, part, context)
    if said is None:
        return _Said(one.case, "", "")
    first, sureness = said
    return _Said(replace(one.case, expected=ran[first].result, sureness=sureness), "code", ran[first].code)


def _chosen(look: Inspection, ran: Sequence[Ran], part: TestsPart, context: Context) -> tuple[int, float] | None:
    """The place of the program that is believed, and how far; None where none ran."""
    if part.voting == "selection":
        said = selection.select(look, ran, context.of(part.chooser))
        if said is not None:
            return said
    voted = vote([one.result for one in ran])
    return None if voted is None else (voted[0], voted[1] / part.programs)
