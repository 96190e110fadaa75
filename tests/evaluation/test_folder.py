"""Folders of runs that are cut off, edited, hostile, or in use."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sqljury.errors import DatasetError
from sqljury.evaluation import run_folder as folder
from sqljury.types import Candidate, Fix

SETTINGS = {"dataset": {}, "recipe": {"name": "fast"}, "model": "fake", "seed": 0}
RECORD: dict[str, Any] = {
    "id": "dev-0000",
    "db_id": "pets",
    "question": "How many cats?",
    "gold": "SELECT 1",
    "sql": "SELECT 1",
    "error": None,
    "candidates": [{"sql": "SELECT 1", "logprob": -1.5, "fixes": [{"before": "SELECT", "reason": "x", "by": "model"}]}],
    "cost": {"seconds": 1.0, "prompt_tokens": 3, "cached_tokens": 1, "completion_tokens": 2},
}


def written(out: Path, *lines: str, end: str = "\n") -> Path:
    out.mkdir(exist_ok=True)
    (out / folder.ANSWERS).write_text("\n".join(lines) + end)
    return out


def changed(**fields: Any) -> str:
    return json.dumps({**RECORD, **fields})


def test_a_sound_record_passes(tmp_path: Path) -> None:
    assert folder.records(written(tmp_path / "run", json.dumps(RECORD))) == [RECORD]


@pytest.mark.parametrize("before", [(), ("SELECT a",), ("SELECT a", "SELECT b")])
def test_a_stored_candidate_has_the_forms_of_its_query(before: tuple[str, ...]) -> None:
    candidate = Candidate("SELECT c", "direct", fixes=tuple(Fix(sql, "x", "schema") for sql in before))
    assert candidate.forms == folder.forms_of(asdict(candidate)) == (*before, "SELECT c")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{}", "id is missing"),
        ("[]", "not a JSON object"),
        ("nonsense", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        (changed(sql=None), "sql is of the wrong kind"),
        (changed(db_id="../../etc/pets"), "no name of a database"),
        (changed(db_id=".."), "no name of a database"),
        (changed(db_id=""), "no name of a database"),
        (changed(cost={"seconds": 1.0}), "cost.prompt_tokens"),
        (changed(cost={**RECORD["cost"], "seconds": float("nan")}), "cost.seconds"),
        (changed(candidates=[3]), "a candidate: not a JSON object"),
        (changed(candidates=[{"sql": "", "fixes": [], "logprob": float("nan")}]), "logprob is no number"),
        (changed(candidates=[{"sql": "", "fixes": [{}], "logprob": None}]), "a fix: before is missing"),
        (json.dumps(RECORD), "answered before"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, what: str) -> None:
    run = written(tmp_path / "run", json.dumps(RECORD), line)
    with pytest.raises(DatasetError, match=rf"line 2: .*{what}"):
        folder.records(run)


@pytest.mark.parametrize("settings", ["[]", "{}", '{"dataset": 3}', json.dumps({**SETTINGS, "recipe": {}}), "\x00"])
def test_settings_of_another_shape(tmp_path: Path, settings: str) -> None:
    (tmp_path / folder.SETTINGS).write_text(settings)
    with pytest.raises(DatasetError, match=r"run\.json"):
        folder.described(tmp_path)


def test_reading_changes_nothing_and_claiming_drops_the_unfinished_line(tmp_path: Path) -> None:
    run = written(tmp_path / "run", json.dumps(RECORD), '{"id": "dev-00', end="")
    file = run / folder.ANSWERS
    before = file.read_bytes()
    assert len(folder.records(run)) == 1
    assert file.read_bytes() == before
    (run / folder.SETTINGS).write_text(json.dumps({**SETTINGS, "seed": 1}))
    with pytest.raises(DatasetError, match="seed differ"), folder.claimed(run, SETTINGS):
        pass
    assert file.read_bytes() == before
    with folder.claimed(run, {**SETTINGS, "seed": 1}) as (stream, records):
        assert len(records) == 1
        stream.write(changed(id="dev-0001", question="\ud800") + "\n")
    assert [record["id"] for record in folder.records(run)] == ["dev-0000", "dev-0001"]


def test_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="another folder"), folder.claimed(Path("/dev/null/run"), SETTINGS):
        pass
