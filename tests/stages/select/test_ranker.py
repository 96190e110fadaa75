"""The ranker, the bracket, a tournament that runs out of budget, and what judges are shown of the schema."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.budget import Allowance
from sqljury.llm.base import Completion, Token
from sqljury.llm.fake import Call
from sqljury.recipes import FixPart, GeneratePart, LinkPart, Recipe, SchemaPart, SelectPart
from sqljury.stages.select.ranker import read
from sqljury.types import Answer

SHOWN = re.compile(r"^Query ([A-H]):\n(.*)$", re.M)
QUERIES = [f"SELECT n + {value} FROM t" for value in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "numbers.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE t (n INTEGER, label TEXT); CREATE TABLE other (m INT); INSERT INTO t VALUES (1, 'brass');"
        )
    connection.close()
    return file


def asked(
    path: Path, judge: Callable[[dict[str, str]], str | Completion], part: SelectPart, count: int = 3, **more: object
) -> tuple[Answer, list[Call]]:
    """The answer and the judge's calls; the judge is told which query each letter stands for."""
    calls: list[Call] = []
    written = iter([QUERIES[0], *QUERIES[:count]])

    def reply(call: Call) -> str | Completion:
        text = call.messages[-1].content
        if call.sampling.json_schema and "tables" in call.sampling.json_schema["properties"]:
            return '{"tables": ["t"]}'
        if not (shown := dict(SHOWN.findall(text))):
            return next(written)
        calls.append(call)
        return judge(shown)

    parts = tuple(GeneratePart() for _ in range(count + 1))
    recipe = Recipe("test", generate=parts, fix=FixPart(names=False, attempts=0), select=part)
    recipe = replace(recipe, **{name: value for name, value in more.items() if name != "allowance"})
    allowance = more.get("allowance", Allowance())
    assert isinstance(allowance, Allowance)
    with connect(path) as db:
        answer = Pipeline(recipe, FakeModel(reply), allowance=allowance).answer(Question("Which number?"), db)
    return answer, calls


def ranking(best: str) -> Callable[[dict[str, str]], str]:
    return lambda shown: json.dumps({"ranking": sorted(shown, key=lambda letter: shown[letter] != best)})


def likes(best: str) -> Callable[[dict[str, str]], Completion]:
    def chosen(shown: dict[str, str]) -> Completion:
        chances = {letter: 0.9 if sql == best else 0.1 for letter, sql in shown.items()}
        top = tuple((letter, math.log(chance)) for letter, chance in chances.items())
        first = max(top, key=lambda one: one[1])
        return Completion(first[0], tokens=(Token(*first, top),))

    return chosen


def test_the_ranker_ranks_all_in_one_call(path: Path) -> None:
    answer, calls = asked(path, ranking(QUERIES[2]), SelectPart("ranker"))
    assert answer.sql == QUERIES[2]
    [call] = calls
    assert len(SHOWN.findall(call.prompt)) == 3
    assert answer.choice is not None
    group = next(one.group for one in answer.candidates if one.sql == QUERIES[2])
    assert group is not None
    assert sorted(answer.choice.scores) == [0.0, 1.0, 2.0]
    assert (answer.choice.scores[group], answer.choice.note) == (2.0, "")


def test_the_ranker_without_a_ranking_leaves_it_to_votes(path: Path) -> None:
    answer, _ = asked(path, lambda _: "none of them", SelectPart("ranker"))
    assert answer.sql == QUERIES[0]
    assert answer.choice is not None
    assert answer.choice.note == "the ranker's reply names no query, so votes decided"


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ('{"ranking": ["B", "A"]}', [1, 0]),
        ('{"ranking": ["b", "B", "Z", 3]}', [1]),
        ('{"ranking": ["C", "A', [2, 0]),
        ("The ranking: C, then A", [2, 0]),
        ('{"ranking": 3}', []),
        ("[" * 100_000, []),
        ("", []),
    ],
)
def test_rankings_are_read_as_far_as_they_go(reply: str, places: list[int]) -> None:
    assert read(reply, 3) == places


def test_a_bracket_has_one_pair_less_than_groups(path: Path) -> None:
    answer, calls = asked(path, likes(QUERIES[3]), SelectPart("bracket"), count=5)
    assert answer.sql == QUERIES[3]
    group = next(one.group for one in answer.candidates if one.sql == QUERIES[3])
    assert answer.choice is not None
    assert group is not None
    assert len(calls) == 2 * len(answer.choice.comparisons) == 8
    assert max(answer.choice.scores) == answer.choice.scores[group]


def test_a_tournament_that_runs_out_decides_among_those_that_all_met(path: Path) -> None:
    answer, whole = asked(path, likes(QUERIES[1]), SelectPart("tournament"), count=4)
    assert len(whole) == 12
    second = next(one.sql for one in answer.candidates if one.group == 1)
    few = Allowance(tokens=1 + sum(FakeModel("").count_tokens(call.prompt) + 1 for call in whole[:3]) + 200)
    answer, calls = asked(path, likes(second), SelectPart("tournament"), count=4, allowance=few)
    assert 2 <= len(calls) < 12
    assert answer.sql == second
    assert answer.choice is not None
    assert re.fullmatch(r"the budget is spent, so only the [23] largest results were compared", answer.choice.note), (
        answer.choice.note
    )
    assert len(answer.choice.scores) == int(answer.choice.note.split()[7])


@pytest.mark.parametrize("selector", ["critic", "critic-independent", "ranker", "bracket", "tournament"])
def test_judges_see_the_linked_schema_with_its_values_where_the_recipe_says_so(path: Path, selector: str) -> None:
    def judge(shown: dict[str, str]) -> str:
        return '{"ranking": ["A"]}' if selector == "ranker" else "A"

    linked = {"link": LinkPart("model"), "schema": SchemaPart(sample_rows=0, examples=2)}
    seen: dict[str, str] = {}
    for schema in ("used", "linked"):
        prompts: list[str] = []

        def reply(call: Call, prompts: list[str] = prompts) -> str:
            if call.sampling.json_schema and "tables" in call.sampling.json_schema["properties"]:
                return '{"tables": ["t"]}'
            if "Quer" not in call.messages[-1].content or "Result" not in call.messages[-1].content:
                return QUERIES[len(prompts) % 2] if not prompts else QUERIES[0]
            prompts.append(call.prompt)
            return judge({})

        recipe = Recipe(
            "test",
            generate=(GeneratePart(samples=1), GeneratePart(samples=1)),
            fix=FixPart(names=False, attempts=0),
            select=SelectPart(selector, schema=schema),  # type: ignore[arg-type]
            **linked,  # type: ignore[arg-type]
        )
        texts = iter(QUERIES)
        model = FakeModel(
            lambda call, reply=reply, texts=texts: (
                next(texts) if "Result" not in call.prompt and not call.sampling.json_schema else reply(call)
            )
        )
        with connect(path) as db:
            Pipeline(recipe, model).answer(Question("Which number?"), db)
        seen[schema] = prompts[0]
    assert "brass" not in seen["used"]
    assert "label" not in seen["used"]
    assert "'brass'" in seen["linked"]
    assert "other" not in seen["linked"].partition("Question:")[0].partition("CREATE")[2]
    assert "may be one that no query uses" in seen["linked"]
    assert "may be one that no query uses" not in seen["used"]
