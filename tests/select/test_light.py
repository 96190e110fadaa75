from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import select as package
from sqljury.datasets import spider
from sqljury.db.connect import connect
from sqljury.errors import InputError, RecipeError
from sqljury.recipes import parse
from sqljury.schema.introspect import introspect
from sqljury.select.anatomy import UNREAD, anatomy
from sqljury.select.cues import CUES, direction, missing, uncalled
from sqljury.select.features import features, names, opinions
from sqljury.select.light import KIND, VERSION, Weights, light, read, shares
from sqljury.types import (
    Candidate,
    Choice,
    Column,
    Cost,
    Limits,
    Question,
    Result,
    Schema,
    Table,
    Task,
    TestCase,
    Tried,
)
from sqljury.work import Work

SPIDER = Path(__file__).resolve().parents[3] / "shared" / "spider"
PET = Table("pet", (Column("id"), Column("name"), Column("kind"), Column("age")), primary_key=("id",))
OWNER = Table("owner", (Column("id"), Column("full_name"), Column("pet_id")), primary_key=("id",))
WORK = Work(None, None, Limits(), 0)  # type: ignore[arg-type]
SCHEMA = Schema("pets", "sqlite", (PET, OWNER))


def task(question: str) -> Task:
    return Task(Question(question), SCHEMA, "")


def candidate(
    sql: str, group: int | None, rows: tuple[tuple[object, ...], ...] = (("x",),), **more: object
) -> Candidate:
    result = Result(("c",), rows) if group is not None else Result(error="no such column")
    return Candidate(sql, "direct", result=result, group=group, **more)  # type: ignore[arg-type]


def alone(sql: str, question: str, rows: tuple[tuple[object, ...], ...] = (("x",),)) -> dict[str, float]:
    return features((candidate(sql, 0, rows),), 0, task(question))


def test_anatomy_of_a_query() -> None:
    found = anatomy(
        "SELECT T1.name, count(*) FROM pet AS T1 JOIN owner AS T2 ON T1.id = T2.pet_id "
        "WHERE T1.kind = \"dog\" AND T1.age > 3 GROUP BY T1.name ORDER BY count(*) DESC LIMIT 1",
        SCHEMA,
    )  # fmt: skip
    assert found.tables == ("pet", "owner")
    assert found.columns == ("name", "kind", "age")
    assert found.keys == ("id", "pet_id")
    assert found.selected == ("name", "")
    assert found.texts == ("dog",)  # in SQLite a name that no table has is a text
    assert found.numbers == ("3",)
    assert (found.joins, found.selects) == (1, 1)
    assert {"count", "group", "limit", "up", "compare"} <= found.elements


@pytest.mark.parametrize(
    "sql", ["", "SELECT (", "(" * 5000, "no query at all", "SELECT 'never closed", "DELETE FROM pet"]
)
def test_what_is_no_query_has_no_anatomy(sql: str) -> None:
    assert anatomy(sql, SCHEMA) == UNREAD
    assert set(alone(sql, "How many pets?")) == set(names())


@pytest.mark.parametrize(
    ("question", "right", "wrong", "cue"),
    [
        ("How many pets are there?", "SELECT count(*) FROM pet", "SELECT name FROM pet", "count"),
        ("What is the average age?", "SELECT avg(age) FROM pet", "SELECT age FROM pet", "average"),
        ("Who is the oldest pet?", "SELECT name FROM pet ORDER BY age DESC LIMIT 1", "SELECT name FROM pet", "extreme"),
        ("List different kinds.", "SELECT DISTINCT kind FROM pet", "SELECT kind FROM pet", "distinct"),
        ("Names sorted by age", "SELECT name FROM pet ORDER BY age", "SELECT name FROM pet", "sorted"),
        ("Age for each kind", "SELECT avg(age) FROM pet GROUP BY kind", "SELECT avg(age) FROM pet", "group"),
        ("Who doesn't own a pet?", "SELECT id FROM pet WHERE NOT age = 1", "SELECT id FROM pet", "negation"),
        ("Names with the letter a", "SELECT name FROM pet WHERE name LIKE '%a%'", "SELECT name FROM pet", "like"),
    ],
)  # fmt: skip
def test_words_that_call_for_something(question: str, right: str, wrong: str, cue: str) -> None:
    assert missing(question, anatomy(right, SCHEMA))[cue] == 0
    assert missing(question, anatomy(wrong, SCHEMA))[cue] == 1
    assert uncalled("pets", anatomy(right, SCHEMA))[cue] == 1
    assert uncalled(question, anatomy(right, SCHEMA))[cue] == 0


@pytest.mark.parametrize(
    ("question", "sql", "cue"),
    [
        ("Which kinds have at least two pets?", "SELECT kind FROM pet GROUP BY kind HAVING count(*) > 1", "count"),
        ("Names of pets older than all cats", "SELECT name FROM pet WHERE age > (SELECT max(age) FROM pet)", "extreme"),
        ("The most common kind", "SELECT kind FROM pet GROUP BY kind ORDER BY count(*) DESC LIMIT 1", "group"),
        ("Pets aged 3 or older", "SELECT name FROM pet WHERE age >= 3", "either"),
        ("Owners with at most 3 pets", "SELECT pet_id FROM owner GROUP BY pet_id HAVING count(*) < 4", "extreme"),
    ],
)
def test_words_that_leave_room(question: str, sql: str, cue: str) -> None:
    query = anatomy(sql, SCHEMA)
    assert missing(question, query)[cue] == uncalled(question, query)[cue] == 0


@pytest.mark.shared
def test_gold_queries_have_what_their_questions_call_for() -> None:
    """On training questions, of which the lists were not made: a cue that gold does not follow would be noise."""
    examples = spider.sample(spider.load(SPIDER, "train"), 500, 404)
    schemas = {}
    lacks, called = Counter[str](), Counter[str]()
    for one in examples:
        if one.database not in schemas:
            with connect(one.database) as db:
                schemas[one.database] = introspect(db)
        query = anatomy(one.gold_sql, schemas[one.database])
        called.update(cue.name for cue in CUES if cue.calls.search(one.question.text))
        lacks.update(name for name, fault in missing(one.question.text, query).items() if fault)
    assert {name for name in called if called[name] >= 15} >= {"count", "average", "extreme", "distinct", "negation"}
    assert sum(lacks.values()) < 0.1 * sum(called.values())


def test_the_greatest_is_not_the_smallest() -> None:
    most, least = (anatomy(f"SELECT name FROM pet ORDER BY age {way} LIMIT 1", SCHEMA) for way in ("DESC", "ASC"))
    assert direction("the highest age", most) == direction("the lowest age", least) == 1
    assert direction("the highest age", least) == direction("the lowest age", most) == -1
    assert direction("the age", most) == 0


def test_constants_of_question_and_query() -> None:
    question = "Which pets named 'Rex' are older than three, or 12?"
    full = alone("SELECT id FROM pet WHERE name = 'rex' AND age > 3 OR age = 12", question)
    assert (full["numbers_missing"], full["quotes_missing"], full["texts_unfounded"]) == (0, 0, 0)
    bare = alone("SELECT id FROM pet WHERE name = 'Tom' AND age > 7", question)
    assert (bare["numbers_missing"], bare["quotes_missing"], bare["texts_unfounded"]) == (2, 1, 1)
    assert bare["numbers_unfounded"] == 1


def test_names_of_question_and_query() -> None:
    near = alone("SELECT name FROM pet", "Names of the pets")
    far = alone("SELECT T2.full_name, T1.id FROM pet AS T1 JOIN owner AS T2 ON T1.id = T2.pet_id", "Ages of the pets")
    assert near["words_covered"] == 1
    assert (near["tables_unasked"], near["columns_unasked"], near["selected_unasked"]) == (0, 0, 0)
    assert (far["tables_unasked"], far["selected_unasked"], far["selected_key"]) == (1, 2, 1)


def test_votes_probabilities_and_results() -> None:
    candidates = (
        candidate("SELECT name FROM pet", 0, logprob=-2.0),
        candidate("select  name from pet", 0, logprob=-1.0, part=1),
        candidate("SELECT id FROM pet", 1, ((None,), (None,)), logprob=-900.0, part=1),
        candidate("SELECT nothing", None),
    )
    first, second = (features(candidates, group, task("names")) for group in (0, 1))
    assert (first["votes_share"], second["votes_share"]) == (0.5, 0.25)
    assert (first["parts_share"], second["parts_share"]) == (1.0, 0.5)
    assert (first["first_part"], second["first_part"]) == (1.0, 0.0)
    assert first["logprob_best"] == first["logprob_mass"] == -1.0  # one query, written twice
    assert second["logprob_best"] == -60.0
    assert (second["only_nothing"], second["cells_null"], second["rows_repeat"]) == (1, 1, 1)
    assert features((candidate("SELECT 1", 0),), 0, task(""))["logprob_mass"] == 0


def choose(weights: Weights, tmp_path: Path, candidates: tuple[Candidate, ...], most: int = 0) -> Choice:
    file = tmp_path / "own.json"
    file.write_text(json.dumps(weights.to_json()))
    return light(most, str(file))(candidates, task("How many pets?"), WORK)


def test_the_highest_score_wins_and_is_a_probability(tmp_path: Path) -> None:
    candidates = (candidate("SELECT name FROM pet", 0), candidate("SELECT name FROM pet", 0),
                  candidate("SELECT count(*) FROM pet", 1))  # fmt: skip
    choice = choose(Weights({"missing_count": -2.0}, {}), tmp_path, candidates)
    assert choice.index == 2
    assert choice.scores == pytest.approx(shares([-2.0, 0.0]))
    [compared] = choice.comparisons
    assert compared.first_shown_first == compared.first_shown_second == pytest.approx(choice.scores[0])
    even = choose(Weights({"star": 1.0}, {}), tmp_path, candidates)
    assert even.index == 0
    only = choose(Weights({"missing_count": -2.0}, {}), tmp_path, candidates, most=1)
    assert only.index == 0
    assert choose(Weights({"star": 1.0}, {}), tmp_path, (candidate("SELECT", None),)).index is None


def test_scores_out_of_all_measure_are_probabilities() -> None:
    assert shares([1e6, -1e6]) == (1.0, 0.0)
    assert shares([0.0]) == (1.0,)


GOOD = {"kind": KIND, "version": VERSION, "weights": {"votes_share": 1}, "card": {}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is no JSON"),
        ("[]", "is not the file of a light judge"),
        (json.dumps({**GOOD, "version": 0}), "is of version 0, not 1"),
        (json.dumps({**GOOD, "weights": {}}), "has no weights or no card"),
        (json.dumps({**GOOD, "weights": {"mood": 1}}), "'mood' is no feature"),
        (json.dumps({**GOOD, "weights": {"votes_share": float("nan")}}), "the weight of 'votes_share' is no number"),
        (json.dumps({**GOOD, "weights": {"votes_share": True}}), "the weight of 'votes_share' is no number"),
        (json.dumps({**GOOD, "weights": {"votes_share": 10**400}}), "the weight of 'votes_share' is no number"),
        (json.dumps({**GOOD, "weights": {"votes_share": 1e308}}), "the weight of 'votes_share' is no number"),
        (json.dumps({**GOOD, "card": {"long": "x" * (8 << 20)}}), "is too large for weights"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "own.json"
    file.write_text(text)
    with pytest.raises(InputError, match=f"own.json: {says}"):
        read(str(file))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for name in ("none.json", "none\0.json", ""):
        with pytest.raises(InputError, match="cannot be read"):
            light(0, f"{tmp_path}/{name}")
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is no UTF-8"):
        read(str(tmp_path / "bytes.json"))


def test_weights_are_for_the_light_judge_alone() -> None:
    assert parse("own", '[select]\nselector = "light"\nweights = "a.json"').select.weights == "a.json"
    with pytest.raises(RecipeError, match=r"select\.weights are for the selector light, not consistency"):
        parse("own", '[select]\nweights = "a.json"')


def test_the_shipped_judge_says_what_it_is_worth() -> None:
    if not (Path(package.__file__).parent / "light.json").is_file():
        with pytest.raises(InputError, match="comes without weights"):
            read()
        return
    weights = read()
    assert set(weights.weights) <= set(names())
    card = weights.card
    assert card["questions"] >= card["decided"] > 0
    assert {run["dataset"]["split"] for run in card["runs"]} == {"train"}
    assert 0 <= card["held_out"]["ece"] <= 1
    assert card["held_out"]["ex_bound"]["right"] >= card["held_out"]["ex"]["right"]
    choice = light()((candidate("SELECT name FROM pet", 0),), task("Names of pets"), WORK)
    assert choice.index == 0


def test_every_cue_has_a_feature() -> None:
    assert {f"missing_{cue.name}" for cue in CUES} <= set(names())


def test_tests_count_where_the_weights_know_them(tmp_path: Path) -> None:
    asked: list[list[str]] = []
    case = TestCase(SCHEMA, ((), ()), sureness=0.5)

    def tests(queries: Sequence[str]) -> tuple[tuple[Tried, ...], Cost]:
        asked.append(list(queries))
        return (Tried(case, tuple(queries), (Result(), Result()), (False, True)),), Cost(calls=3)

    candidates = (candidate("SELECT name FROM pet", 0), candidate("SELECT kind FROM pet", 1))
    work = replace(WORK, tests=tests)
    for name, chosen, calls in (("tests_passed", 1, 3), ("votes_first", 0, 0)):
        file = tmp_path / "own.json"
        file.write_text(json.dumps(Weights({name: 1.0}, {}).to_json()))
        choice = light(0, str(file))(candidates, task("names"), work)
        assert (choice.index, choice.cost.calls, len(choice.tests)) == (chosen, calls, calls // 3)
    assert asked == [["SELECT name FROM pet", "SELECT kind FROM pet"]]


def test_opinions_are_weighted_by_sureness() -> None:
    told = [(["a", "b"], [True, None], 0.5), (["a", "b"], [False, None], 1.0)]
    assert opinions(told) == {"a": pytest.approx(1 / 3)}
    assert features((candidate("b", 0),), 0, task(""), opinions(told))["tests_passed"] == 0.5
