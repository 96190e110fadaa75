"""`benchmarks/audit_model.py`: an audit against the gold queries that were read by hand."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "audit_model.py"
FAULT = {"type": "wrong value", "check": "test", "confidence": 0.5, "clause": "", "evidence": ""}


def run(monkeypatch: pytest.MonkeyPatch, *options: object) -> None:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, options)])
    runpy.run_path(str(SCRIPT), run_name="__main__")


def test_hits_misses_and_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the questions that were read: one wrong found, one missed, one without a verdict, one right suspected."""
    data = Path(__file__).resolve().parents[2] / "shared" / "spider"
    if not (data / "dev.json").is_file():
        pytest.skip("Spider is not here")
    run(monkeypatch, "--data", data, "--ids", tmp_path / "ids.txt")
    ids = (tmp_path / "ids.txt").read_text().split()
    assert len(set(ids)) == 200
    right = next(id_ for id_ in ids if id_ not in (SCRIPT.parent / "audit_read.tsv").read_text())
    states = {"dev-0038": "wrong", "dev-0047": "right", "dev-0096": "unclear", right: "wrong"}
    lines = [
        {"id": id_, "error": None, "findings": [FAULT] if state == "wrong" else [], "checked": {"verdict": state}}
        for id_, state in states.items()
    ]
    file = tmp_path / "tests.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in [{"audit": {}}, *lines]))
    run(monkeypatch, "--data", data, file)
    printed = capsys.readouterr().out
    assert "A    wrong by reading,  16: suspected 1, fine 1, silent 1, missing 13" in printed
    assert "recall 1/3 = 33.3 %" in printed
    assert "precision 1/2 = 50.0 %" in printed
    assert f"suspected, right by reading: {right}" in printed
