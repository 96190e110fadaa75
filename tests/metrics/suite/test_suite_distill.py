"""A suite built for a small database: what it keeps, that it tells queries apart, that it can be built again."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.errors import DatasetError
from sqljury.metrics.distill import Settings, build, greedy, inputs_hash, readings, settled
from sqljury.metrics.execution import EXE, EXE_KEEP_DISTINCT, Rules
from sqljury.metrics.suite import Tried, open_trials, try_on
from sqljury.testing import store
from sqljury.testing.store import Entry
from sqljury.types import Column, ForeignKey, Limits, Row, Schema, Table

SCHEMA = Schema(
    "pets",
    "sqlite",
    (
        Table("owner", (Column("id", "INTEGER"), Column("city", "TEXT")), ("id",)),
        Table(
            "pet",
            (Column("id", "INTEGER"), Column("kind", "TEXT"), Column("age", "INT"), Column("owner", "INT")),
            ("id",),
            (ForeignKey(("owner",), "owner", ("id",)),),
        ),
    ),
)
GOLD = "SELECT id FROM pet WHERE age >= 3"
LUCKY = "SELECT id FROM pet WHERE age > 2 AND kind = 'dog'"
SAME = "SELECT id FROM pet WHERE NOT age < 3"
SETTINGS = Settings(candidates=6, databases=3)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "pets.sqlite"
    rows: dict[str, list[Row]] = {
        "owner": [(1, "Rome"), (2, "Oslo")],
        "pet": [(1, "dog", 3, 1), (2, "cat", 2, 1), (3, "dog", 5, 2)],
    }
    store.write_database(file, SCHEMA, rows)
    return file


@pytest.fixture
def entry(database: Path, tmp_path: Path) -> Entry:
    return build(SCHEMA, database, [GOLD], tmp_path / "suite/pets", SETTINGS)


def tried(folder: Path, entry: Entry, gold: str, predicted: str, rules: Rules = EXE, seconds: float = 10) -> Tried:
    with ExitStack() as stack:
        trials = open_trials(folder, "pets", entry, lambda file: stack.enter_context(connect(file)))
        return try_on(trials, gold, rules.prepare(predicted), rules, Limits(seconds=seconds))


def test_a_lucky_prediction_gets_a_counterexample(tmp_path: Path, entry: Entry) -> None:
    lucky = tried(tmp_path / "suite", entry, GOLD, LUCKY)
    assert lucky.counterexample is not None
    with connect(lucky.counterexample) as opened:
        assert set(opened.execute(GOLD).rows) != set(opened.execute(LUCKY).rows)
    assert tried(tmp_path / "suite", entry, GOLD, SAME) == Tried(len(entry.members))


def test_gold_that_the_suite_was_not_built_for_is_not_judged(tmp_path: Path, entry: Entry) -> None:
    assert tried(tmp_path / "suite", entry, f"{GOLD} AND 1 = 1", LUCKY) == Tried(0)


def test_distinct_counts_when_asked(database: Path, tmp_path: Path) -> None:
    gold, predicted = "SELECT kind FROM pet WHERE age < 3", "SELECT DISTINCT kind FROM pet WHERE age < 3"
    entry = build(SCHEMA, database, [gold], tmp_path / "suite/pets", Settings(candidates=10, databases=4))
    assert tried(tmp_path / "suite", entry, gold, predicted).counterexample is None
    assert tried(tmp_path / "suite", entry, gold, predicted, EXE_KEEP_DISTINCT).counterexample is not None


def test_a_tie_that_grouping_hides_rejects_no_one(database: Path, tmp_path: Path) -> None:
    gold = "SELECT kind FROM pet GROUP BY kind ORDER BY count(*) DESC LIMIT 1"
    other = "SELECT kind FROM pet GROUP BY kind ORDER BY count(*) DESC, kind DESC LIMIT 1"
    entry = build(SCHEMA, database, [gold], tmp_path / "suite/pets", Settings(candidates=40, databases=8))
    assert any(member.unsettled for member in entry.members) or len(entry.members) < 8
    found = tried(tmp_path / "suite", entry, gold, other)
    assert found.tried > 0
    assert found.counterexample is None


def test_only_what_is_kept_is_left_and_nothing_else_changes(database: Path, tmp_path: Path) -> None:
    before = store.file_hash(database)
    entry = build(SCHEMA, database, [GOLD], tmp_path / "suite/pets", SETTINGS)
    assert store.file_hash(database) == before
    assert 1 <= len(entry.members) <= SETTINGS.databases
    assert 1 <= entry.killed <= entry.neighbours
    assert sorted(path.name for path in (tmp_path / "suite/pets").iterdir()) == sorted(m.file for m in entry.members)
    again = build(SCHEMA, database, [GOLD], tmp_path / "again/pets", SETTINGS)
    assert again == entry
    assert inputs_hash(SCHEMA, database, [GOLD], SETTINGS) == entry.inputs
    assert inputs_hash(SCHEMA, database, [GOLD, LUCKY], SETTINGS) != entry.inputs


def test_greedy_takes_what_adds_most() -> None:
    kills = [{(0, 0)}, {(0, 1), (0, 2), (1, 0)}, {(0, 0), (0, 1)}, set()]
    assert greedy(kills, 9) == [(1, 3), (0, 1)]
    assert greedy(kills, 1) == [(1, 3)]
    assert greedy([], 3) == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT city FROM owner ORDER BY id LIMIT 1", True),
        ("SELECT city FROM owner ORDER BY 0 LIMIT 1", False),
        ("SELECT city FROM owner", True),
        ("SELECT town FROM owner", False),
        ("SELECT city FROM owner GROUP BY city ORDER BY count(*) LIMIT 1", False),
        ("SELECT city FROM owner WHERE id = (SELECT id FROM owner GROUP BY id ORDER BY count(*) LIMIT 1)", False),
    ],
)
def test_an_answer_by_the_order_of_rows_is_not_settled(tmp_path: Path, sql: str, expected: bool) -> None:
    rows: dict[str, list[Row]] = {"owner": [(1, "Rome"), (2, "Oslo")], "pet": []}
    for name in ("keyed", "plain"):
        store.write_database(tmp_path / f"{name}.sqlite", SCHEMA, rows, plain=name == "plain")
    with connect(tmp_path / "keyed.sqlite") as keyed, connect(tmp_path / "plain.sqlite") as plain:
        assert settled(keyed, plain, readings(sql)) is expected


def test_a_manifest_comes_back_and_a_changed_file_is_seen(database: Path, tmp_path: Path, entry: Entry) -> None:
    folder = tmp_path / "suite"
    store.save(folder, {"pets": entry})
    assert store.load(folder) == {"pets": entry}
    assert store.intact(folder, "pets", entry)
    with (folder / "pets" / entry.members[0].file).open("ab") as file:
        file.write(b"x")
    assert not store.intact(folder, "pets", entry)
    with pytest.raises(DatasetError, match="build the suite anew"):
        tried(folder, entry, GOLD, SAME)


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    assert store.load(tmp_path) == {}
    (tmp_path / store.MANIFEST).write_text("{}")
    with pytest.raises(DatasetError, match=r"suite\.json.*build the suite anew"):
        store.load(tmp_path)


def test_a_prediction_that_never_ends_is_wrong(tmp_path: Path, entry: Entry) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    found = tried(tmp_path / "suite", entry, GOLD, endless, seconds=0.2)
    assert found.counterexample is not None
    assert found.reason.startswith("limit:")


def test_a_folder_is_claimed_once_and_again(tmp_path: Path, database: Path) -> None:
    user, out = tmp_path / "database", tmp_path / "suite"
    user.mkdir()
    store.claim(out, user)
    assert (out / store.MANIFEST).is_file()
    entry = build(SCHEMA, database, [GOLD], out / "pets", SETTINGS)
    store.save(out, {"pets": entry})
    for unfinished in (".suite.json.ab12cd_e.part", "pets/.fuzz_000.sqlite.ab12cd_e.part"):
        (out / unfinished).touch()  # of a build that was killed
    store.claim(out, user)
    assert store.load(out) == {"pets": entry}


@pytest.mark.parametrize("name", ["notes.txt", "pets/pets.sqlite", "pets/.notes.part", "pets/more/fuzz_000.sqlite"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    out = tmp_path / "suite"
    for manifest in (False, True):
        if manifest:
            store.save(out, {})
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
        with pytest.raises(DatasetError, match="no part of a suite; name a new folder"):
            store.claim(out, tmp_path / "database")
        assert (out / name).read_text() == "mine"


@pytest.mark.parametrize("out", ["database", "database/pets", "database/../database/new", ".", "link"])
def test_a_suite_is_not_built_among_the_databases(tmp_path: Path, out: str) -> None:
    (tmp_path / "database/pets").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "database")
    with pytest.raises(DatasetError, match="is the folder of the databases"):
        store.claim(tmp_path / out, tmp_path / "database")
    assert list((tmp_path / "database/pets").iterdir()) == []


def test_links_in_a_suites_folder_are_not_followed(tmp_path: Path) -> None:
    store.claim(tmp_path / "suite", tmp_path / "database")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "suite/pets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatasetError, match="holds 'pets'"):
        store.claim(tmp_path / "suite", tmp_path / "database")


def test_what_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match=r"cannot be written .File exists.; name another folder"):
        store.claim(tmp_path / "file", tmp_path / "database")
