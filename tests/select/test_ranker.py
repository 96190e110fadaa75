from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.llm.base import Completion, Token
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.select.judge import LETTERS, probabilities
from sqljury.select.ranker import SHIFTS
from sqljury.types import Answer

SHOWN = re.compile(r"^Query ([A-H]):\n(.*)$", re.M)


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


def ranked(
    path: Path, written: list[str], judge: Callable[[dict[str, str]], dict[str, float]], groups: int = 0
) -> tuple[Answer, list[Call]]:
    """The answer when the judge gives these chances to the letters, told which query each stands for."""
    calls: list[Call] = []

    def reply(call: Call) -> str | Completion:
        found = SHOWN.findall(call.messages[-1].content)
        if not found:
            return written[len(model.calls) - 1 - len(calls)]
        calls.append(call)
        return distribution(judge(dict(found)))

    model = FakeModel(reply)
    parts = tuple(GeneratePart(max_tokens=2000) for _ in written)
    recipe = Recipe("test", generate=parts, select=SelectPart("ranker", groups=groups))
    with connect(path) as db:
        return Pipeline(recipe, model).answer(Question("Which number?"), db), calls


def test_the_likeliest_query_wins_whatever_its_votes(path: Path) -> None:
    written = [number(0), number(0), number(1), number(2)]
    answer, calls = ranked(path, written, lambda shown: {k: 0.8 if v == number(2) else 0.1 for k, v in shown.items()})
    assert answer.sql == number(2)
    assert answer.choice is not None
    assert answer.choice.scores == pytest.approx((0.1, 0.8, 0.1))  # groups of one vote stand by their likelihood
    assert answer.choice.cost.calls == len(calls) == 3
    assert all(call.sampling.max_tokens == 1 and call.sampling.top_logprobs == 20 for call in calls)


def test_each_call_shows_another_query_first_and_none_twice(path: Path) -> None:
    _, calls = ranked(path, [number(n) for n in range(7)], lambda shown: {"A": 1.0})
    orders = [[sql for _, sql in SHOWN.findall(call.messages[-1].content)] for call in calls]
    assert len(orders) == SHIFTS
    assert len({order[0] for order in orders}) == len(orders)
    assert all(len(set(order)) == 7 for order in orders)


@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("count", [2, 3])
def test_a_judge_that_prefers_a_place_decides_nothing(path: Path, place: int, count: int) -> None:
    written = [number(0), *map(number, range(count))]
    answer, _ = ranked(path, written, lambda shown: {list(shown)[place]: 1.0})
    assert answer.sql == number(0)  # votes stand
    assert answer.choice is not None
    assert answer.choice.scores == pytest.approx((1 / count,) * count)


def test_one_result_costs_no_call(path: Path) -> None:
    answer, calls = ranked(path, [number(0), "SELECT n FROM t"], lambda shown: {"A": 1.0})
    assert calls == []
    assert answer.choice is not None
    assert answer.choice.scores == (1.0,)


def test_only_as_many_groups_as_wanted_or_as_there_are_letters(path: Path) -> None:
    _, calls = ranked(path, [number(n) for n in range(5)], lambda shown: {"A": 1.0}, groups=2)
    assert [len(SHOWN.findall(call.messages[-1].content)) for call in calls] == [2, 2]
    _, calls = ranked(path, [number(n) for n in range(12)], lambda shown: {"A": 1.0})
    assert {len(SHOWN.findall(call.messages[-1].content)) for call in calls} == {len(LETTERS)}


def test_what_would_make_the_prompt_too_long_takes_no_part(path: Path) -> None:
    wide = f"WHERE n IN ({', '.join('1' for _ in range(400))})"
    answer, calls = ranked(path, [f"{number(n)} {wide}" for n in range(8)], lambda shown: {"A": 1.0})
    shown = len(SHOWN.findall(calls[0].messages[-1].content))
    assert shown == 3
    assert answer.choice is not None
    assert len(answer.choice.scores) == shown


def test_the_judge_sees_the_tables_that_are_used_and_the_results(path: Path) -> None:
    _, calls = ranked(path, [number(4), number(5)], lambda shown: {"A": 1.0})
    text = calls[0].messages[-1].content
    assert "CREATE TABLE t" in text
    assert "other" not in text
    assert f"{number(4)}\nResult of B: 1 row\n5" in text
    assert "Which number?" in text


def test_letters_are_read_from_the_first_tokens_alternatives() -> None:
    assert probabilities(distribution({"A": 0.2, " B": 0.1, "C": 0.1, "D": 0.5}), 3) == pytest.approx([0.5, 0.25, 0.25])
    assert probabilities(Completion("c)"), 3) == [0, 0, 1]
    assert probabilities(Completion("D"), 3) == pytest.approx([1 / 3] * 3)
