from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.errors import ContextLengthError
from sqljury.llm.base import LETTERS, Completion, Token, probabilities
from sqljury.llm.fake import Call
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.stages.select.critic import ORDERS, failed, orders
from sqljury.types import Answer, Candidate, Choice

SHOWN = re.compile(r"^Query ([A-H]):\n(.*)$", re.M)
ALONE = re.compile(r"^Query:\n(.*)$", re.M)
BROKEN = "SELECT missing FROM t"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "numbers.db"
    with sqlite3.connect(file) as connection:
        connection.executescript("CREATE TABLE t (n INTEGER); CREATE TABLE other (m INT); INSERT INTO t VALUES (1);")
    connection.close()
    return file


def number(value: int) -> str:
    return f"SELECT n + {value} FROM t"


def distribution(chances: dict[str, float]) -> Completion:
    top = tuple((letter, math.log(chance)) for letter, chance in chances.items() if chance)
    first = max(top, key=lambda one: one[1])
    return Completion(first[0], tokens=(Token(*first, top),))


def judged(
    path: Path,
    written: list[str],
    judge: Callable[[dict[str, str]], dict[str, float]],
    groups: int = 0,
    selector: str = "critic",
    most: Callable[[list[Call]], int] = lambda _: len(LETTERS),
) -> tuple[Answer, Choice, list[Call]]:
    """The answer when the judge gives these chances to the letters, told which query each stands for.

    Its context holds as many queries as ``most`` says, told the calls so far, this one included.
    """
    calls: list[Call] = []

    def reply(call: Call) -> str | Completion | Exception:
        text = call.messages[-1].content
        found = SHOWN.findall(text) or [("", sql) for sql in ALONE.findall(text)]
        if not found:
            return written[len(model.calls) - 1 - len(calls)]
        calls.append(call)
        if len(found) > most(calls):
            return ContextLengthError("the prompt is too long")
        return distribution(judge(dict(found)))

    model = FakeModel(reply)
    parts = tuple(GeneratePart(max_tokens=2000) for _ in written)
    recipe = Recipe("test", generate=parts, fix=FixPart(names=False, attempts=0), select=SelectPart(selector, groups))
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("Which number?"), db)
    assert answer.choice is not None
    return answer, answer.choice, calls


def favours(sql: str) -> Callable[[dict[str, str]], dict[str, float]]:
    return lambda shown: {letter: 0.9 if one == sql else 0.05 for letter, one in shown.items()}


def letters(call: Call) -> dict[str, str]:
    return dict(SHOWN.findall(call.messages[-1].content))


def test_the_likeliest_query_wins_whatever_its_votes(path: Path) -> None:
    written = [number(0), number(0), number(1), number(2)]
    answer, choice, calls = judged(
        path, written, lambda shown: {k: 0.8 if v == number(2) else 0.1 for k, v in shown.items()}
    )
    assert answer.sql == number(2)
    assert choice.scores == pytest.approx((0.1, 0.8, 0.1))  # groups of one vote stand by their likelihood
    assert dict(answer.steps)["select"].calls == len(calls) == 3
    assert all(call.sampling.max_tokens == 1 and call.sampling.top_logprobs == 20 for call in calls)


@pytest.mark.parametrize("count", range(2, len(LETTERS) + 1))
def test_orders_show_every_two_either_way_round(count: int) -> None:
    found = orders(count)
    assert len(found) == min(count, ORDERS)
    assert all(sorted(order) == list(range(count)) for order in found)
    for first in range(count):
        for second in range(first):
            assert {order.index(first) < order.index(second) for order in found} == {True, False}
    if count <= ORDERS:
        assert all({order[place] for order in found} == set(range(count)) for place in range(count))


@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_judge_that_prefers_a_place_decides_nothing(path: Path, place: int, count: int, failures: int) -> None:
    place = place if place >= 0 else count - 1
    written = [number(0), *map(number, range(count)), *[BROKEN, f"{BROKEN} WHERE n"][:failures]]
    answer, choice, _ = judged(path, written, lambda shown: {list(shown)[place]: 1.0})
    assert answer.sql == number(0)  # votes stand
    assert choice.scores == pytest.approx((1 / count,) * count)
    if place < 2:
        means = [(one.first_shown_first + one.first_shown_second) / 2 for one in choice.comparisons]
        assert means == pytest.approx([0.5] * len(means))


def test_comparisons_tell_the_judge_from_its_bias(path: Path) -> None:
    def first_place_counts_twice(shown: dict[str, str]) -> dict[str, float]:
        weights = {k: (3.0 if v == number(1) else 1.0) * (2 if k == "A" else 1) for k, v in shown.items()}
        return {k: weight / sum(weights.values()) for k, weight in weights.items()}

    _, choice, _ = judged(path, [number(0), number(0), number(1)], first_place_counts_twice)
    (one,) = choice.comparisons
    assert (one.first, one.second) == (0, 1)
    assert one.first_shown_first == pytest.approx(2 / 5)
    assert one.first_shown_second == pytest.approx(1 / 7)


def test_of_many_every_two_are_compared(path: Path) -> None:
    _, choice, _ = judged(path, [number(n) for n in range(5)], favours(number(3)))
    assert len({(one.first, one.second) for one in choice.comparisons}) == 10
    best = choice.scores.index(max(choice.scores))
    for one in choice.comparisons:
        chance = 0.9 / 0.95 if best == one.first else 0.05 / 0.95 if best == one.second else 0.5
        assert one.first_shown_first == pytest.approx(chance)
        assert one.first_shown_second == pytest.approx(chance)


def test_one_result_costs_no_call(path: Path) -> None:
    _, choice, calls = judged(path, [number(0), "SELECT n FROM t", BROKEN], favours(BROKEN))
    assert calls == []
    assert choice.scores == (1.0,)


def test_only_as_many_groups_as_wanted(path: Path) -> None:
    _, choice, calls = judged(path, [number(n) for n in range(5)], favours(number(0)), groups=2)
    assert [len(letters(call)) for call in calls] == [2, 2]
    assert len(choice.scores) == 2


def test_failed_queries_are_shown_and_never_chosen(path: Path) -> None:
    answer, choice, calls = judged(path, [number(0), number(0), number(1), BROKEN, BROKEN], favours(BROKEN))
    assert answer.sql == number(0)
    assert [sorted(letters(call).values()) for call in calls] == [sorted([number(0), number(1), BROKEN])] * 2
    assert [letters(call)["C"] for call in calls] == [BROKEN] * 2  # behind those that may be chosen
    assert re.search(r"Result of \w: error: .*no such column", calls[0].prompt)
    assert len(choice.scores) == 2
    assert len(choice.comparisons) == 1


def test_more_than_there_are_letters_slide_through_a_window(path: Path) -> None:
    written = [number(0), number(0), *(number(n) for n in range(1, 12))]
    answer, choice, calls = judged(path, written, favours(number(7)))
    assert answer.sql == number(7)
    sizes = [len(letters(call)) for call in calls]
    assert sizes == [8] * ORDERS + [5] * ORDERS
    assert number(0) not in letters(calls[0]).values()  # the largest group comes last
    assert number(0) in letters(calls[-1]).values()
    assert choice.scores.index(max(choice.scores)) == answer.candidates[choice.index or 0].group
    assert len(choice.scores) == 12


def test_what_would_make_the_prompt_too_long_waits_for_the_next_window(path: Path) -> None:
    wide = f"WHERE n IN ({', '.join('1' for _ in range(400))})"
    answer, choice, calls = judged(path, [f"{number(n)} {wide}" for n in range(6)], favours(f"{number(4)} {wide}"))
    assert {len(letters(call)) for call in calls} == {3, 2}
    assert answer.sql.startswith(number(4))
    assert len(choice.scores) == 6


def test_a_judge_of_a_smaller_context_is_shown_fewer_at_a_time(path: Path) -> None:
    written = [number(0), *(number(n) for n in range(6))]
    answer, choice, calls = judged(path, written, favours(number(4)), most=lambda _: 3)
    assert answer.sql == number(4)
    assert [len(letters(call)) for call in calls] == [6, 5, 4, 3, 3, 3, 3, 3, 3, 2, 2]
    assert (choice.selector, choice.note, dict(answer.steps)["select"].calls) == ("critic", "", 8)
    assert len(choice.scores) == 6


def test_failures_make_room_for_what_may_be_chosen(path: Path) -> None:
    written = [number(0), number(0), number(1), BROKEN]
    answer, choice, calls = judged(path, written, favours(number(1)), most=lambda _: 2)
    assert (answer.sql, choice.selector) == (number(1), "critic")
    assert [len(letters(call)) for call in calls] == [3, 2, 2]


def test_what_was_asked_before_a_prompt_proved_too_long_is_paid(path: Path) -> None:
    written = [number(0), *map(number, range(3))]
    answer, choice, calls = judged(path, written, favours(number(1)), most=lambda calls: 3 if len(calls) == 1 else 2)
    assert [len(letters(call)) for call in calls] == [3, 3, 2, 2, 2, 2]
    assert (choice.selector, dict(answer.steps)["select"].calls) == ("critic", 5)


def test_the_likeliest_failures_are_shown_and_unknown_ones_last() -> None:
    broken = [Candidate(f"SELECT {at}", "direct", logprob) for at, logprob in enumerate([None, -2.0, -1.0, None, 0.0])]
    assert [one.sql for one in failed(broken)] == ["SELECT 4", "SELECT 2"]
    assert [one.sql for one in failed(broken[:2])] == ["SELECT 1", "SELECT 0"]


def test_the_independent_critic_sees_one_at_a_time(path: Path) -> None:
    sure = {number(0): 0.5, number(1): 0.75, number(2): 0.25}

    def says(shown: dict[str, str]) -> dict[str, float]:
        (sql,) = shown.values()
        return {"Yes": sure[sql], "No": 1 - sure[sql]}

    written = [number(0), number(0), number(1), number(2)]
    answer, choice, calls = judged(path, written, says, selector="critic-independent")
    assert answer.sql == number(1)
    assert sorted(choice.scores) == pytest.approx([0.25, 0.5, 0.75])
    assert len(calls) == 3
    assert len(choice.comparisons) == 3
    assert all(one.first_shown_first == one.first_shown_second for one in choice.comparisons)


def test_the_independent_critic_asks_nothing_about_one_result(path: Path) -> None:
    _, choice, calls = judged(path, [number(0), number(0)], lambda _: {"No": 1.0}, selector="critic-independent")
    assert calls == []
    assert choice.scores == (1.0,)


def test_the_judge_sees_the_tables_that_are_used_and_the_results(path: Path) -> None:
    _, _, calls = judged(path, [number(4), number(5)], lambda shown: {"A": 1.0})
    text = calls[0].messages[-1].content
    assert "CREATE TABLE t" in text
    assert "other" not in text
    assert f"{number(4)}\nResult of B: 1 row\n5" in text
    assert "Which number?" in text


def test_options_are_read_from_the_first_tokens_alternatives() -> None:
    some = distribution({"A": 0.2, " B": 0.1, "C": 0.1, "D": 0.5})
    assert probabilities(some, "ABC") == pytest.approx([0.5, 0.25, 0.25])
    assert probabilities(Completion("c)"), "ABC") == [0, 0, 1]
    assert probabilities(Completion("D"), "ABC") == pytest.approx([1 / 3] * 3)
    assert probabilities(distribution({"Yes": 0.3, "no": 0.1, "Maybe": 0.6}), ("YES", "NO")) == pytest.approx(
        [0.75, 0.25]
    )
    assert probabilities(Completion(" No, it does not"), ("YES", "NO")) == [0, 1]
