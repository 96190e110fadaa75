"""`benchmarks/linker.py` goes on with its own replies and with no others."""

from __future__ import annotations

import json
import runpy
import sqlite3
import sys
from pathlib import Path

import pytest

from sqljury import FakeModel
from sqljury.llm import open as opening
from sqljury.stages.link import written

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "linker.py"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "spider" / "database" / "shop" / "shop.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript("CREATE TABLE pet (age INT); CREATE TABLE owner (name TEXT);")
    connection.close()
    asked = [{"question": f"How old is pet {n}?", "query": "SELECT age FROM pet", "db_id": "shop"} for n in range(4)]
    for split in ("train", "dev"):
        (tmp_path / "spider" / f"{split}.json").write_text(json.dumps(asked))
    return tmp_path / "spider"


def test_replies_made_otherwise_are_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = {name: FakeModel(written(["pet"]), name=name or "usual") for name in (None, "other")}
    monkeypatch.setattr(opening, "open_model", models.__getitem__)
    out = tmp_path / "replies.jsonl"

    def run(*options: str) -> int:
        """How many calls the usual model got by now."""
        command = ["linker.py", "--data", str(data), "--out", str(out), "--samples", "0", *options]
        monkeypatch.setattr(sys, "argv", command)
        runpy.run_path(str(SCRIPT), run_name="__main__")
        return len(models[None].calls)

    assert run("--limit", "2") == 2
    assert run("--limit", "2") == 2
    assert "greedy                                     2        100.0" in capsys.readouterr().out
    assert run("--limit", "4") == 4
    for options, named in (
        (("--model", "other"), "model"),
        (("--split", "dev"), "split"),
        (("--samples", "3"), "samples"),
        (("--seed", "4"), "seed"),
    ):
        with pytest.raises(SystemExit, match=rf"holds replies made otherwise \({named} differ\); name another --out"):
            run(*options)
    (data / "train.json").write_text("[]")
    with pytest.raises(SystemExit, match=r"\(questions differ\)"):
        run()
    out.write_text('{"number": 1, "greedy": [0]}\n')
    with pytest.raises(SystemExit, match="made otherwise"):
        run()
    assert models["other"].calls == []
