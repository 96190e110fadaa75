"""Options for several models and threads, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Start, ended


@pytest.fixture
def spider(zoo: Path, tmp_path: Path) -> Path:
    """A benchmark of three questions."""
    data = tmp_path / "data"
    (data / "database" / "zoo").mkdir(parents=True)
    zoo.rename(data / "database" / "zoo" / "zoo.sqlite")
    queries = ("SELECT count(*) FROM animal", "SELECT id FROM animal", "SELECT count(id) FROM animal")
    entries = [{"question": f"How many animals, {n}?", "query": sql, "db_id": "zoo"} for n, sql in enumerate(queries)]
    (data / "dev.json").write_text(json.dumps(entries))
    return data


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("select", "run", "--selector", "rerank", "--coder", "x"), "add --tests agents"),
        (("refine", "run", "--out", "out", "--by", "prompt", "--voting", "selection"), "need --by tests"),
    ],
)
def test_options_without_programs_are_refused(start: Start, arguments: tuple[str, ...], told: str) -> None:
    code, _, error = ended(start("", "bench", *arguments))
    assert (code, told in error) == (2, True), error


def test_an_audit_with_several_questions_under_way(start: Start, spider: Path, tmp_path: Path) -> None:
    out, tests = tmp_path / "out.jsonl", tmp_path / "tests.jsonl"
    command = ("audit", "spider", "--data", spider, "--out", out, "--model-checks", tests, "--recipe", "fast")
    command += ("--batch", "3", "--output", "json")
    code, report, error = ended(start("SELECT count(*) FROM animal", *map(str, command)))
    assert code == 0, error
    assert json.loads(report)["questions"] == 3
    written = sorted(json.loads(line)["id"] for line in tests.read_text().splitlines()[1:])
    assert written == ["dev-0000", "dev-0001", "dev-0002"]
    assert "3 dev-" in error
    code, again, error = ended(start("no query", *map(str, command)))
    assert (code, again) == (0, report)
