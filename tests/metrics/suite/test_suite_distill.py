"""A suite built for a small database: what it keeps, that it tells queries apart, that it can be built again."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.errors import DatasetError
from sqljury.metrics.execution import EXE_KEEP_DISTINCT
from sqljury.metrics.suite import store
from sqljury.metrics.suite.distill import Settings, build, greedy, inputs_hash, settled
from sqljury.metrics.suite.run import Item, run
from sqljury.metrics.suite.store import Entry
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


def test_a_lucky_prediction_gets_a_counterexample(database: Path, tmp_path: Path, entry: Entry) -> None:
    items = [Item("0", GOLD, LUCKY), Item("1", GOLD, SAME), Item("2", GOLD, "SELECT 1"), Item("3", "SELECT x", "")]
    lucky, same, wrong, failed = run(items, database, tmp_path / "suite", entry)
    assert (lucky.correct, lucky.rejected) == (True, True)
    assert lucky.counterexample is not None
    with connect(lucky.counterexample) as opened:
        assert set(opened.execute(GOLD).rows) != set(opened.execute(LUCKY).rows)
    assert (same.correct, same.rejected, same.tried) == (True, False, len(entry.members))
    assert (wrong.correct, wrong.rejected) == (False, False)
    assert failed.correct is None


def test_distinct_counts_when_asked(database: Path, tmp_path: Path) -> None:
    gold, predicted = "SELECT kind FROM pet WHERE age < 3", "SELECT DISTINCT kind FROM pet WHERE age < 3"
    entry = build(SCHEMA, database, [gold], tmp_path / "suite/pets", Settings(candidates=10, databases=4))
    items = [Item("0", gold, predicted)]
    assert not run(items, database, tmp_path / "suite", entry)[0].rejected
    assert run(items, database, tmp_path / "suite", entry, EXE_KEEP_DISTINCT)[0].rejected


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
    ],
)
def test_an_answer_by_the_order_of_rows_is_not_settled(tmp_path: Path, sql: str, expected: bool) -> None:
    rows: dict[str, list[Row]] = {"owner": [(1, "Rome"), (2, "Oslo")], "pet": []}
    for name in ("keyed", "plain"):
        store.write_database(tmp_path / f"{name}.sqlite", SCHEMA, rows, plain=name == "plain")
    with connect(tmp_path / "keyed.sqlite") as keyed, connect(tmp_path / "plain.sqlite") as plain:
        assert settled(keyed, plain, sql) is expected


def test_a_manifest_comes_back_and_a_changed_file_is_seen(database: Path, tmp_path: Path, entry: Entry) -> None:
    folder = tmp_path / "suite"
    store.save(folder, {"pets": entry})
    assert store.load(folder) == {"pets": entry}
    assert store.intact(folder, "pets", entry)
    with (folder / "pets" / entry.members[0].file).open("ab") as file:
        file.write(b"x")
    assert not store.intact(folder, "pets", entry)
    with pytest.raises(DatasetError, match="build the suite anew"):
        run([Item("0", GOLD, SAME)], database, folder, entry)


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    assert store.load(tmp_path) == {}
    (tmp_path / store.MANIFEST).write_text("{}")
    with pytest.raises(DatasetError, match=r"suite\.json.*build the suite anew"):
        store.load(tmp_path)


def test_a_prediction_that_never_ends_is_wrong(database: Path, tmp_path: Path, entry: Entry) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    (found,) = run([Item("0", GOLD, endless)], database, tmp_path / "suite", entry, limits=Limits(seconds=0.2))
    assert found.correct is False
    assert found.reason.startswith("limit:")
