"""``sqljury index``, as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import commands
from sqljury import connect
from sqljury.access.guard import skip
from sqljury.cli import index
from sqljury.db.base import Database
from sqljury.errors import DatabaseError
from sqljury.schema.introspect import introspect
from sqljury.types import Schema
from sqljury.values.collect import Skip


@pytest.fixture
def sqljury(tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = commands.sqljury("index", *arguments)
        environment = {**os.environ, "SQLJURY_CACHE": str(tmp_path / "cache")}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)

    return run


def test_build_says_what_it_did(zoo: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    done = sqljury("build", zoo)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 values of 1 column\n")
    assert ".index (" in done.stdout


def test_several_are_built_side_by_side(zoo: Path, tmp_path: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    copies = [tmp_path / f"zoo{number}.sqlite" for number in range(3)]
    for copy in copies:
        shutil.copy(zoo, copy)
    done = sqljury("build", *copies, "--processes", 2)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert sorted(line for line in lines if line.endswith(":")) == [f"{copy}:" for copy in copies]
    assert lines.count("3 values of 1 column") == len({line for line in lines if ".index (" in line}) == 3
    done = sqljury("build", *copies, tmp_path / "nowhere.sqlite")
    assert (done.returncode, "nowhere.sqlite" in done.stderr) == (3, True)


def test_no_password_is_printed(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def source(*_: object) -> Iterator[tuple[Database, Schema, Skip]]:
        with connect(zoo) as database:
            yield database, introspect(database), skip(database)

    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path))
    monkeypatch.setattr(index, "_source", source)
    url = "postgresql://analyst:s3cret@host/shop"
    builder = index._Builder(None, None)
    with pytest.raises(DatabaseError) as caught:
        builder.lost(url, "its process died", None)
    assert str(caught.value) == "postgresql://…: its value index cannot be built; its process died"
    assert builder._alone(url, print)[0] == f"sqlite:///{zoo}:"


def test_search_builds_and_finds(zoo: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    done = sqljury("search", zoo, "zuk", "nat", "--limit", 1)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["zuk"]
    assert lines[2] == ["0.99", "żuk", "animal.name", "same", "letters"]
    assert lines[5][1:] == ["ant", "animal.name", "spelling"]
    assert sqljury("search", zoo, "qqqq").stdout == "no near value\n"


def test_no_value_steers_the_terminal(zoo: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    done = sqljury("search", zoo, "be 31mar\x1b[2J", "ant")
    assert done.returncode == 0
    assert "be [31mar" in done.stdout
    assert "\x1b" not in done.stdout


def test_json(zoo: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    (found,) = json.loads(sqljury("search", zoo, "ant", "--limit", 1, "--output", "json").stdout)
    match = {"value": "ant", "table": "animal", "column": "name", "score": 1.0, "how": "exact"}
    assert found == {"text": "ant", "matches": [match]}


@pytest.mark.parametrize(("arguments", "code"), [(("search", "nowhere.db", "a"), 3), (("search", "a.db"), 2), ((), 2)])
def test_exit_codes(arguments: tuple[str, ...], code: int, sqljury) -> None:  # type: ignore[no-untyped-def]
    assert sqljury(*arguments).returncode == code


def test_access_rules_leave_columns_out(zoo: Path, sqljury) -> None:  # type: ignore[no-untyped-def]
    assert sqljury("search", zoo, "ant").stdout != "no near value\n"
    masked = sqljury("search", zoo, "ant", "--mask", "animal.name")
    assert (masked.returncode, masked.stdout) == (0, "no near value\n")
    assert sqljury("build", zoo, "--mask", "animal.name").stdout.startswith("0 values of 0 columns\n")
    wrong = sqljury("build", zoo, "--deny", "animal.nmae")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "sqljury: deny: 'animal.nmae' matches no table or column; check the spelling\n"
