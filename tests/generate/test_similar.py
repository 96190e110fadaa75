from __future__ import annotations

import random

import pytest

from sqljury.datasets.pool import Pool, Shot
from sqljury.language import embed
from sqljury.stages.generate.fewshot import SAME_FORM, Index, index
from sqljury.types import Column, Schema, Table

SHIPS = Schema("ships", "sqlite", (Table("ship", (Column("name"), Column("tons"), Column("port"))),))
COUNT = Shot("How many films are there?", "SELECT count(*) FROM film", "cinema")
TOP = Shot("Which film has the most viewers?", "SELECT title FROM film ORDER BY viewers DESC LIMIT 1", "cinema")
EACH = Shot("How many films has each maker?", "SELECT maker, count(*) FROM film GROUP BY maker", "cinema")
OVER = Shot("List the titles of films longer than 90 minutes.", "SELECT title FROM film WHERE minutes > 90", "cinema")
ALL = (COUNT, TOP, EACH, OVER)


@pytest.fixture(params=[True, False], ids=["vectors", "words alone"])
def vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the library of vectors and without it."""
    if not request.param:
        monkeypatch.setattr(embed, "available", lambda: "")
    elif not embed.available():
        pytest.skip("wordllama is not installed")


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many ships are there?", COUNT),
        ("Which ship has the most tons?", TOP),
        ("How many ships has each port?", EACH),
        ("List the names of ships heavier than 7 tons.", OVER),
    ],
)
def test_the_question_with_the_same_form_is_first(question: str, wanted: Shot) -> None:
    for seed in range(3):
        shots = random.Random(seed).sample(ALL, len(ALL))
        assert Index(shots).choose(question, SHIPS, 1) == [wanted]


@pytest.mark.usefixtures("vectors")
def test_a_draft_brings_queries_of_its_form_to_the_front() -> None:
    draft = "SELECT s.port, COUNT(*) FROM ship AS s GROUP BY s.port"
    assert Index(ALL).choose("How many ships are there?", SHIPS, 2, draft) == [EACH, COUNT]


def test_the_same_question_on_the_same_database_is_left_out() -> None:
    same = Shot("how many  ships are there", "SELECT count(*) FROM ship", "ships")
    unknown = Shot("How many ships are there?", "SELECT count(name) FROM ship")
    elsewhere = Shot("How many ships are there?", "SELECT count(*) FROM vessel", "navy")
    found = Index([same, unknown, elsewhere, TOP]).choose("How many ships are there?", SHIPS, 4)
    assert found == [elsewhere, TOP]
    other = Shot("How many ships are heavy?", "SELECT count(*) FROM ship WHERE tons > 9", "ships")
    assert other in Index([same, other]).choose("How many ships are there?", SHIPS, 4)


def test_no_crowd_of_one_form_and_no_query_twice() -> None:
    crowd = [
        Shot(f"How many {name} are there?", f"SELECT count(*) FROM {name}", name) for name in ("cats", "dogs", "owls")
    ]
    twice = Shot("Count the cats.", "SELECT count(*) FROM cats", "cats")
    found = Index([*crowd, twice, TOP]).choose("How many ships are there?", SHIPS, 5)
    assert len(found) == SAME_FORM + 1
    assert len({shot.sql for shot in found}) == len(found)
    assert TOP in found


def test_nothing_wanted_and_nothing_there() -> None:
    assert Index(ALL).choose("How many ships are there?", SHIPS, 0) == []
    assert Index([]).choose("How many ships are there?", SHIPS, 5) == []
    assert len(Index(ALL).choose("", SHIPS, 5, "not SQL (")) == len(ALL)


def test_a_pool_is_prepared_once() -> None:
    pool = Pool(ALL)
    assert index(pool) is index(pool)
    assert index(pool) is not index(Pool(ALL))


def test_quick_with_ten_thousand() -> None:
    """The best of several, as other programs run beside the tests."""
    rng = random.Random(1)
    words = [f"{a}{b}" for a in ("cat", "dog", "owl", "fox", "hen") for b in range(200)]
    shots = [
        Shot(
            f"Which {rng.choice(words)} of the {rng.choice(words)} has {rng.randint(1, 99)} {rng.choice(words)}?",
            f"SELECT {rng.choice(words)} FROM t{number} WHERE " + " AND ".join(["x > 1"] * rng.randint(1, 30)),
            f"db{number % 50}",
        )
        for number in range(10_000)
    ]
    prepared = Index(shots)
    for number in range(9):
        assert len(prepared.choose(f"Which ship has {number} tons?", SHIPS, 5, "SELECT a FROM b WHERE x > 1")) == 5
