"""``sqljury schema``, as a user meets it."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

import commands
from sqljury import describe
from sqljury.cli import schema as command
from sqljury.schema.describe import Description
from sqljury.types import Column, ForeignKey, Schema, Table

SCRIPT = """
    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT, born TEXT);
    CREATE TABLE "pet\x1b[2J" (id INTEGER PRIMARY KEY, "na\nme" TEXT /* what it\x1b]0; is called */,
        owner_id INTEGER REFERENCES owner (id), vet TEXT);
    CREATE VIEW old AS SELECT * FROM owner WHERE born < '2000';
    INSERT INTO owner VALUES (1, 'Ann', '31.12.1990'), (2, 'Bo', '01.02.1985'), (3, 'Cy', '05.06.1970'),
        (4, 'Di', '17.08.1999'), (5, 'Ed', '23.11.2001');
"""


@pytest.fixture
def sqljury(tmp_path: Path):  # type: ignore[no-untyped-def]
    with sqlite3.connect(tmp_path / "pets.db") as connection:
        connection.executescript(SCRIPT)
    connection.close()

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        started = commands.sqljury("schema", "--db", tmp_path / "pets.db", *arguments)
        environment = {**os.environ, "SQLJURY_CACHE": str(tmp_path / "cache")}
        return subprocess.run(started, capture_output=True, text=True, timeout=120, check=False, env=environment)

    return run


def test_a_table_without_what_could_steer_the_terminal(sqljury) -> None:  # type: ignore[no-untyped-def]
    done = sqljury()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isprintable() or "\x1b" not in done.stdout
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "pets: SQLite, 3 tables, 10 columns, 1 foreign key (1 declared)"
    assert lines[2:8] == [
        "table, column type key remarks",
        "owner",
        "id INTEGER primary key",
        "name TEXT",
        "born TEXT text that holds dates as DD.MM.YYYY",
        "",
    ]
    assert "na me TEXT what it ]0; is called" in lines
    assert "owner_id INTEGER -> owner.id" in lines
    assert "old view" in lines
    assert lines[-2:] == ["foreign key refers to source evidence", "pet [2J.owner_id owner.id declared"]


def test_json_has_all_of_it_and_rules_and_notes_hold(sqljury, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    notes = tmp_path / "notes.yaml"
    notes.write_text("tables:\n  owner: who has pets\njoins: [old.id = owner.id]\n")
    done = sqljury("--output", "json", "--deny", "*.vet", "--mask", "owner.born", "--notes", notes)
    found = json.loads(done.stdout)
    assert (found["name"], found["dialect"]) == ("pets", "sqlite")
    owner, pet, old = found["tables"]
    assert (owner["comment"], owner["primary_key"], owner["kind"], old["kind"]) == (
        "who has pets",
        ["id"],
        "table",
        "view",
    )
    assert owner["columns"][2] == {
        "name": "born",
        "type": "TEXT",
        "not_null": False,
        "unique": False,
        "generated": False,
        "values": [],
        "comment": "",
        "contents": "",  # masked: its values are not read
    }
    assert [column["name"] for column in pet["columns"]] == ["id", "na\nme", "owner_id"]
    declared = {"table": "pet\x1b[2J", "columns": ["owner_id"], "other_table": "owner", "other_columns": ["id"]}
    noted = {"table": "old", "columns": ["id"], "other_table": "owner", "other_columns": ["id"]}
    assert found["foreign_keys"] == [
        {**declared, "declared": True, "score": 1.0, "evidence": []},
        {**noted, "declared": False, "score": 1.0, "evidence": ["notes"]},
    ]
    notes.write_text("not_joins: [pets.id = owner.id]\n")
    wrong = sqljury("--notes", notes)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith(f"sqljury: notes {notes}: line 1: there is no table called 'pets'")


def test_the_example_of_the_documentation(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are those of the shop without any key; the number of keys, scores and evidence are not compared."""
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))
    with sqlite3.connect(shop) as full, sqlite3.connect(tmp_path / "garden.db") as bare:
        for (table,) in full.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = full.execute(f'PRAGMA table_info("{table}")').fetchall()
            rows = full.execute(f'SELECT * FROM "{table}"').fetchall()
            bare.execute(
                f'CREATE TABLE "{table}" ({", ".join(f""""{name}" {kind}""" for _, name, kind, *_ in columns)})'
            )
            bare.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(columns))})', rows)
    full.close()
    bare.close()
    lines = [" ".join(line.split()) for line in shown(describe(tmp_path / "garden.db"), 1_000)]
    page = (Path(__file__).parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
    heading, *documented = re.findall(r"```console\n(.*?)```", page, re.DOTALL)[0].splitlines()
    assert heading == "$ sqljury schema --db garden.db"
    for line in documented:
        start = re.sub(r"( likely 0\.|\d+ foreign keys).*", "", " ".join(line.split()))
        assert line == "..." or any(known.startswith(start) for known in lines), line


def large(count: int) -> Description:
    def key(number: int) -> ForeignKey:
        evidence = ("the name parent_id points to parent", f"each of {number} values read is there")
        return ForeignKey(("parent_id",), f"table_{number - 1}", ("id",), declared=False, score=0.87, evidence=evidence)

    tables = tuple(
        Table(
            f"table_{number}",
            (Column("id", "INTEGER"), Column("a_column_with_a_long_name" * 2, "TEXT", comment="w " * 400),
             Column("parent_id", "INTEGER")),
            foreign_keys=(key(number),) if number else (),
            candidate_keys=(("id",),),
            comment="what the rows of this table are",
        )
        for number in range(count)
    )  # fmt: skip
    return Description(Schema("large", "postgres", tables), {("table_1", "id"): "number that holds dates as YYYYMMDD"})


def shown(found: Description, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    for part in command.parts(found):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 100, 200])
def test_sixty_tables_stand_below_each_other(width: int) -> None:
    lines = shown(large(60), width)
    assert all(len(line) <= width for line in lines)
    starts = {line.index("INTEGER") for line in lines if "INTEGER" in line}
    assert len(starts) == 1
    text = "\n".join(lines)
    assert all(f"\ntable_{number} " in text for number in range(60))
    assert text.startswith("large: PostgreSQL, 60 tables, 180 columns, 59 foreign keys")
    assert text.count("likely key") == 60
    assert text.count("likely 0.87") == 59
    assert "w w w" in text


def test_more_tables_than_anybody_reads_are_cut() -> None:
    lines = shown(large(command.SHOWN_TABLES + 2), 200)
    assert lines[-1] == "The first 300 tables and 1,000 keys are shown; --output json has all."
    assert not any(line.startswith(f"table_{command.SHOWN_TABLES} ") and "what" in line for line in lines)
