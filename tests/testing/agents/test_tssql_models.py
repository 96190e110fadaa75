"""Several models as code agents, and a model that chooses among their programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import school

from sqljury.context import Context
from sqljury.errors import ContextLengthError
from sqljury.llm.fake import Call, FakeModel, Script
from sqljury.recipes.parts import TestsPart
from sqljury.testing.agents import run_agents
from sqljury.types import Task, Tried

MakeContext = Callable[[Script], Context]
ONE_EACH = TestsPart(kind="agents", codes=1, inspections=2, data="program", models=("one", "two", "three"))
CHOSEN = replace(ONE_EACH, voting="selection", inspections=0)
NAMES = school.RIGHT.replace("[['name']]", "[['age']]")


def with_models(context: Context, **scripts: Script) -> Context:
    return replace(context, named={name: FakeModel(script, name=name) for name, script in scripts.items()})


def asked(context: Context) -> dict[str, int]:
    """How often each model was asked, the run's own as ``own``."""
    models = {"own": context.model, **context.named}
    return {name: len(model.calls) for name, model in models.items()}  # type: ignore[attr-defined]


def names(tried: Tried) -> list[object]:
    """The rows expected, without their order."""
    assert tried.case.expected is not None
    return sorted(row[0] for row in tried.case.expected.rows)


def choosing(text: str) -> Callable[[Call], str]:
    """The letter of the program with this in it, as a judge that is not led by places."""

    def answer(call: Call) -> str:
        programs = call.messages[-1].content.split("Program ")[1:]
        return next((one[0] for one in programs if text in one), "?")

    return answer


def test_most_of_the_models_outvote_the_first(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.WRONG, two=school.RIGHT, three=school.RIGHT)
    (tried,) = run_agents(school.QUERIES, task, ONE_EACH, asking)
    assert tried.passed == (True, False)
    assert tried.case.confidence == pytest.approx(2 / 3)
    assert asked(asking) == {"own": 0, "one": 1, "two": 1, "three": 1}
    assert school.cost(asking).calls == 3


def test_each_model_writes_as_many_programs_as_one_alone_would(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.RIGHT, two=school.WRONG)
    part = replace(ONE_EACH, codes=3, models=("one", "two"))
    (tried,) = run_agents(school.QUERIES, task, part, asking)
    assert [(call.n, call.sampling.temperature > 0) for call in asking.named["two"].calls] == [(1, False), (2, True)]  # type: ignore[attr-defined]
    assert (tried.case.confidence, tried.passed, school.cost(asking).calls) == (
        0.5,
        (True, False),
        4,
    )  # a tie: the first of the list


def test_where_all_differ_the_first_of_the_list_is_believed(task: Task, context: MakeContext) -> None:
    scripts = {"one": school.WRONG, "two": school.RIGHT, "three": NAMES}
    asking = with_models(context([]), **scripts)
    (tried,) = run_agents(school.QUERIES, task, ONE_EACH, asking)
    assert tried.passed == (False, True)
    (tried,) = run_agents(school.QUERIES, task, replace(ONE_EACH, models=("two", "three", "one")), asking)
    assert tried.passed == (True, False)


def test_a_program_is_inspected_by_the_model_that_wrote_it(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.RIGHT, two=[school.BROKEN, school.RIGHT], three=school.WRONG)
    (tried,) = run_agents(school.QUERIES, task, ONE_EACH, asking)
    assert asked(asking) == {"own": 0, "one": 1, "two": 2, "three": 1}
    assert "KeyError" in asking.named["two"].calls[1].messages[-1].content  # type: ignore[attr-defined]
    assert (tried.passed, school.cost(asking).calls) == ((True, False), 4)
    assert tried.case.confidence == pytest.approx(2 / 3)


def test_an_empty_name_is_the_model_that_judges(task: Task, context: MakeContext) -> None:
    asking = with_models(context(school.RIGHT), one=school.RIGHT)
    (tried,) = run_agents(school.QUERIES, task, replace(ONE_EACH, models=("", "one")), asking)
    assert asked(asking) == {"own": 1, "one": 1}
    assert tried.case.confidence == 1


def test_a_model_whose_context_is_too_small_leaves_the_others(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=lambda _: ContextLengthError("long"), two=school.RIGHT, three=school.RIGHT)
    (tried,) = run_agents(school.QUERIES, task, ONE_EACH, asking)
    assert tried.passed == (True, False)
    assert tried.case.confidence == pytest.approx(2 / 3)


def test_the_allowance_holds_for_all_of_them(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.RIGHT, two=school.WRONG, three=school.WRONG)
    asking = replace(asking, budget=school.CallBudget(1))
    (tried,) = run_agents(school.QUERIES, task, ONE_EACH, asking)
    assert (asked(asking)["two"], school.cost(asking).calls) == (0, 1)
    assert tried.case.confidence == pytest.approx(1 / 3)


def test_a_model_may_choose_what_few_programs_say(task: Task, context: MakeContext) -> None:
    asking = with_models(context(choosing(">= 11")), one=school.RIGHT, two=school.RIGHT, three=school.WRONG)
    (tried,) = run_agents(school.QUERIES, task, CHOSEN, asking)
    assert tried.passed == (False, True)
    assert ">= 11" in tried.code
    assert (tried.case.confidence, school.cost(asking).calls) == (1.0, 5)
    first, second = (call.messages for call in asking.model.calls)  # type: ignore[attr-defined]
    assert "programs, A to B" in first[0].content
    assert first[1].content.index("> 11") < first[1].content.index(">= 11")  # most programs come first
    assert second[1].content.index(">= 11") < second[1].content.index("> 11")
    assert task.question.text in first[1].content
    assert all(call.sampling.max_tokens == 1 for call in asking.model.calls)  # type: ignore[attr-defined]


def test_a_chooser_led_by_places_alone_leaves_it_to_votes(task: Task, context: MakeContext) -> None:
    asking = with_models(context("B"), one=school.WRONG, two=school.RIGHT, three=school.RIGHT)
    (tried,) = run_agents(school.QUERIES, task, CHOSEN, asking)
    assert (tried.passed, tried.case.confidence) == ((True, False), 0.5)


def test_results_stand_beside_the_programs_but_where_rows_are_the_users(task: Task, context: MakeContext) -> None:
    for data in ("program", "real"):
        asking = with_models(context(choosing("> 11")), one=school.RIGHT, two=NAMES, three="no code")
        (tried,) = run_agents(school.QUERIES, task, replace(CHOSEN, data=data), asking)
        [prompt, _] = [call.messages[-1].content for call in asking.model.calls]  # type: ignore[attr-defined]
        if data == "real":
            assert "Zacharias" in str(tried.case.rows)
            assert "Zacharias" not in prompt
            assert prompt.count("(not shown)") == 2
        else:
            assert str(names(tried)[0]) in prompt.split("Result of A:")[1]
            assert "not shown" not in prompt


def test_the_chooser_may_be_a_model_of_its_own(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.RIGHT, two=school.WRONG, three=school.WRONG, picks=choosing("> 11"))
    (tried,) = run_agents(school.QUERIES, task, replace(CHOSEN, chooser="picks"), asking)
    assert tried.passed == (True, False)
    assert asked(asking) == {"own": 0, "one": 1, "two": 1, "three": 1, "picks": 2}


def test_one_result_needs_no_chooser(task: Task, context: MakeContext) -> None:
    asking = with_models(context([]), one=school.RIGHT, two=school.RIGHT, three=school.BROKEN)
    (tried,) = run_agents(school.QUERIES, task, CHOSEN, asking)
    assert asked(asking)["own"] == 0
    assert tried.case.confidence == pytest.approx(2 / 3)


@pytest.mark.parametrize("script", [[], lambda _: ContextLengthError("long")], ids=["spent", "long"])
def test_votes_choose_where_the_chooser_cannot_be_asked(task: Task, context: MakeContext, script: Script) -> None:
    asking = with_models(context(script), one=school.WRONG, two=school.RIGHT, three=school.RIGHT)
    if script == []:
        asking = replace(asking, budget=school.CallBudget(3))
    (tried,) = run_agents(school.QUERIES, task, CHOSEN, asking)
    assert tried.passed == (True, False)
    assert tried.case.confidence == pytest.approx(2 / 3)


def test_all_programs_are_inspected_before_a_model_chooses(task: Task, context: MakeContext) -> None:
    asking = with_models(
        context(choosing(">= 11")), one=school.RIGHT, two=school.RIGHT, three=[school.BROKEN, school.WRONG]
    )
    (tried,) = run_agents(school.QUERIES, task, replace(CHOSEN, inspections=1), asking)
    assert asked(asking)["three"] == 2
    assert tried.passed == (False, True)
