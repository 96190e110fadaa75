"""The agents together: one case, its expected result by vote, and what the queries do there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import pytest
import school

from sqljury.context import Context
from sqljury.errors import ContextLengthError, MissingExtraError, SandboxError
from sqljury.llm.fake import Call, Script
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Warm
from sqljury.testing.agents import _classes, run_agents
from sqljury.testing.agents.data import CHANGED
from sqljury.testing.suite import together
from sqljury.testing.trial import rerun
from sqljury.types import Cost, Task, TestCase

MakeContext = Callable[[Script], Context]
PROGRAM = TestsPart(kind="agents", codes=3, inspections=2, data="program")


def test_the_query_that_does_what_the_programs_do_passes(task: Task, context: MakeContext) -> None:
    asked = context([school.RIGHT, [school.RIGHT, school.WRONG]])
    (tried,) = run_agents(school.QUERIES, task, PROGRAM, asked)
    assert tried.passed == (True, False)
    assert (tried.how, tried.by) == ("fuzzed", "code")
    assert tried.code in school.RIGHT
    assert tried.case.confidence == pytest.approx(2 / 3)
    assert tried.case.expected is not None
    assert tried.case.expected.rows == tried.results[0].rows
    assert together([tried], 2) == ()
    assert school.cost(asked).calls == 2
    assert max(map(len, tried.case.tables.values())) <= 8


def test_no_row_of_the_user_reaches_the_model_or_the_case(task: Task, context: MakeContext) -> None:
    for part in (PROGRAM, replace(PROGRAM, data="model"), replace(PROGRAM, data="real")):
        asked = context(
            lambda call: school.DATA if "test data" in call.prompt or "Tables:" in call.prompt else "no code"
        )
        (tried,) = run_agents(school.QUERIES, task, part, asked)
        prompts = "".join(call.prompt for call in asked.model.calls)  # type: ignore[attr-defined]
        assert "Zacharias" not in prompts
        assert ("Zacharias" in str(tried.case.rows)) == (part.data == "real")
        assert "Chess" in prompts


def test_data_of_the_model_that_passes_its_checks_is_taken(task: Task, context: MakeContext) -> None:
    asked = context([school.DATA, school.RIGHT])
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, data="model", codes=1), asked)
    assert tried.how == "written"
    assert tried.case.tables["club"] == ((1, "Chess", "Bath"), (2, "Judo", "Ely"))
    assert [row[3] for row in tried.case.tables["pupil"]] == ["2012-01-05", "2013-02-28", None, "2009-12-31"]
    assert tried.passed == (True, False)
    assert [row[0] for row in tried.results[0].rows] == ["Ann", "Cy"]
    assert school.cost(asked).calls == 2


def test_data_that_does_not_tell_queries_apart_goes_back_and_then_the_program_makes_it(
    task: Task, context: MakeContext
) -> None:
    other = school.NO_EDGE.replace("13", "14")
    asked = context([school.NO_EDGE, other, school.NO_EDGE, school.RIGHT])
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, data="model", codes=1), asked)
    assert tried.how == "fuzzed"
    assert tried.passed == (True, False)
    complaint = asked.model.calls[1].prompt  # type: ignore[attr-defined]
    assert [call.sampling.temperature > 0 for call in asked.model.calls] == [False, True, True, False]  # type: ignore[attr-defined]
    assert "rows are missing on which these two queries return different rows" in complaint
    assert "age >= 11" in complaint


def test_without_the_data_agent_programs_run_on_rows_they_are_not_shown(task: Task, context: MakeContext) -> None:
    asked = context([school.RIGHT])
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, data="real", codes=1), asked)
    assert (tried.how, tried.by) == ("real", "code")
    assert tried.passed[0] is True


def test_a_share_of_the_rows_is_drawn_with_what_they_refer_to(task: Task, context: MakeContext) -> None:
    """A fifth of 19 pupils is 4, the clubs they are in come along."""
    part = replace(PROGRAM, data="real", share=0.2, codes=1)
    (tried,) = run_agents(school.QUERIES, task, part, context([school.RIGHT]))
    assert (tried.how, len(tried.case.tables["pupil"])) == ("real", 4)
    assert {row[-1] for row in tried.case.tables["pupil"]} <= {row[0] for row in tried.case.tables["club"]}


def test_agents_are_asked_for_steps_where_the_recipe_says_so(task: Task, context: MakeContext) -> None:
    """Each prompt of data, code and inspection; a block within the steps is not the program."""
    steps = "1. Pupils of the club.\n```python\nkept = pupil\n```\n2. Older ones.\n"
    replies = [school.NO_EDGE, school.DATA, steps + school.BROKEN, steps + school.EMPTY, steps + school.RIGHT]
    asked = context(replies)
    part = TestsPart(kind="agents", codes=1, inspections=2, max_tokens=1_500, reasoning=True)
    (tried,) = run_agents(school.QUERIES, task, part, asked)
    assert (tried.how, tried.passed) == ("written", (True, False))
    calls = asked.model.calls  # type: ignore[attr-defined]
    assert len(calls) == 5
    for call in calls:
        assert "numbered step" in call.messages[0].content
        assert call.sampling.stop == ()
    assert all("numbered step" in calls[number].messages[-1].content for number in (1, 3, 4))
    assert calls[0].sampling.max_tokens > 1_000


def test_without_inspection_a_program_that_fails_stays_as_it_is(task: Task, context: MakeContext) -> None:
    asked = context([school.BROKEN])
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, codes=1, inspections=0), asked)
    assert tried.case.expected is None
    assert tried.passed == (None, None)
    assert (tried.by, tried.code, school.cost(asked).calls) == ("", "", 1)


def test_programs_that_find_nothing_do_not_fail_a_query_that_does(task: Task, context: MakeContext) -> None:
    """The rows were made up so that every query finds something: a typo in a program is no reason against one."""
    asked = context(school.EMPTY)
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, inspections=0), asked)
    assert (tried.case.expected, tried.passed) == (None, (None, None))
    nothing = "SELECT name FROM pupil WHERE club = 1 AND age > 11 AND name = 'Chess' AND name <> 'Chess'"
    (tried,) = run_agents((nothing,), task, replace(PROGRAM, inspections=0), asked)
    assert tried.passed == (True,)


def test_queries_that_cannot_be_told_apart_are_named(task: Task, context: MakeContext) -> None:
    same = school.QUERIES[0].replace("age > 11", "11 < age")
    (tried,) = run_agents((*school.QUERIES, same, "SELECT ("), task, replace(PROGRAM, codes=1), context([school.RIGHT]))
    assert tried.differ(0, 1)
    assert not tried.differ(0, 2)
    assert tried.classes == (0, 1, 0, 3)
    assert tried.passed == (True, False, True, None)
    assert tried.results[3].error


def test_ties_tell_no_queries_apart(task: Task) -> None:
    """Who comes first of pupils of one age is a matter of luck."""
    pupils = ((1, "Ann", 12, None, None), (2, "Bob", 12, None, None))
    rows = {"club": (), "pupil": pupils, "staff": ()}
    case = TestCase(task.known, tuple(rows[table.name] for table in task.known.tables))
    first, last, any_ = (f"SELECT name FROM pupil ORDER BY {order} LIMIT 1" for order in ("age, id", "age, -id", "age"))
    assert _classes(case, [first, last]) == (0, 1)
    assert _classes(case, [any_, last]) == (0, 0)


def test_equal_seeds_give_the_same_case(task: Task, context: MakeContext) -> None:
    first, second = (run_agents(school.QUERIES, task, PROGRAM, context(school.RIGHT))[0] for _ in range(2))
    assert first.case.rows == second.case.rows


def test_the_first_program_is_greedy_and_the_others_are_not(task: Task, context: MakeContext) -> None:
    calls: list[Call] = []

    def answer(call: Call) -> str:
        calls.append(call)
        return school.RIGHT

    run_agents(school.QUERIES, task, PROGRAM, context(answer))
    assert [(call.n, call.sampling.temperature > 0) for call in calls] == [(1, False), (2, True)]
    assert calls[0].messages == calls[1].messages
    assert calls[0].sampling.seed != calls[1].sampling.seed


def test_a_question_without_queries_gets_data_that_covers_it(task: Task, context: MakeContext) -> None:
    (tried,) = run_agents((), task, replace(PROGRAM, codes=1), context(school.RIGHT))
    assert "Chess" in [row[1] for row in tried.case.tables["club"]]
    assert tried.case.expected is not None
    assert tried.queries == ()


def test_without_walls_nothing_is_run(task: Task, context: MakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise SandboxError("written code cannot be isolated here")

    monkeypatch.setattr(import_module("sqljury.sandbox.run"), "Sandbox", refuse)
    for how in ("program", "model", "real"):
        asked = replace(context(school.RIGHT), sandbox=Warm())
        with pytest.raises(SandboxError, match="isolated"):
            run_agents(school.QUERIES, task, replace(PROGRAM, data=how), asked)
        assert asked.model.calls == []  # type: ignore[attr-defined]


def test_without_the_extra_it_says_which(task: Task, context: MakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.testing.agents.frames.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"sqljury\[sandbox\]"):
        run_agents(school.QUERIES, task, PROGRAM, context(school.RIGHT))


def test_the_database_stays_as_it_was(task: Task, context: MakeContext) -> None:
    asked = context([school.RIGHT])
    before = asked.db.execute("SELECT count(*), total(age) FROM pupil").rows
    run_agents(school.QUERIES, task, replace(PROGRAM, codes=1), asked)
    assert asked.db.execute("SELECT count(*), total(age) FROM pupil").rows == before


def test_without_the_code_agent_the_model_says_what_is_expected(task: Task, context: MakeContext) -> None:
    asked = context([school.DATA, '"Ann"\n"Cy"'])
    part = replace(PROGRAM, data="model", by="model")
    (tried,) = run_agents(school.QUERIES, task, part, asked)
    assert (tried.how, tried.by, tried.code) == ("written", "model", "")
    assert tried.passed == (True, False)
    assert school.cost(asked).calls == 2


def test_a_spent_allowance_begins_no_call(task: Task, context: MakeContext) -> None:
    for part in (replace(PROGRAM, data="model"), PROGRAM):
        asked = replace(context(school.RIGHT), budget=school.CallBudget(0))
        (tried,) = run_agents(school.QUERIES, task, part, asked)
        assert (school.cost(asked).calls, tried.how, tried.case.expected) == (0, "fuzzed", None)


def test_programs_that_were_not_written_count_as_doubt(task: Task, context: MakeContext) -> None:
    asked = replace(context([school.RIGHT]), budget=school.CallBudget(1))
    (tried,) = run_agents(school.QUERIES, task, PROGRAM, asked)
    assert school.cost(asked).calls == 1
    assert tried.case.confidence == pytest.approx(1 / 3)


def test_where_nothing_is_in_play_nobody_is_asked(task: Task, context: MakeContext) -> None:
    empty = replace(task, known=replace(task.known, tables=()))
    asked = context([])
    for how in ("model", "program", "real"):
        assert run_agents(["SELECT 1"], empty, replace(PROGRAM, data=how), asked) == ()
    assert run_agents(["SELECT 1"], task, replace(PROGRAM, data="real"), asked) == ()
    assert school.cost(asked) == Cost()


def test_frames_too_large_for_the_model_are_a_case_without_an_opinion(task: Task, context: MakeContext) -> None:
    asked = context(lambda _: ContextLengthError("too long"))
    (tried,) = run_agents(school.QUERIES, task, replace(PROGRAM, data="model"), asked)
    assert (tried.how, tried.passed) == ("fuzzed", (None, None))


def test_data_of_the_model_that_leaves_a_bound_open_is_joined_by_rows_made_for_it(
    task: Task, context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One query tells nothing apart: without a pupil of just 11 years, > and >= do the same."""
    monkeypatch.setattr("sqljury.testing.agents.data.SECONDS", 60.0)  # how far it gets is not of the machine
    monkeypatch.setattr("sqljury.testing.agents.data.CHANGED", CHANGED)
    asked = context([school.NO_EDGE, school.RIGHT])
    (tried,) = run_agents(school.QUERIES[:1], task, replace(PROGRAM, data="model", codes=1), asked)
    assert (tried.how, tried.passed, school.cost(asked).calls) == ("written", (True,), 2)
    assert (1, "Ann", 12, "2012-01-05", 1) in tried.case.tables["pupil"]
    assert rerun(tried, [school.QUERIES[1]]).passed == (False,)
