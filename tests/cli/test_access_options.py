"""Access rules on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Start


def test_denied_columns_are_refused_and_others_answered(start: Start, zoo: Path, tmp_path: Path) -> None:
    ask = ("ask", "Which?", "--db", str(zoo), "--output", "json")
    out, error = start("SELECT photo FROM animal", *ask, "--deny", "animal.photo").communicate(timeout=60)
    assert not out
    assert "no column photo that may be read" in error
    rules = tmp_path / "rules.toml"
    rules.write_text("deny = ['*.photo']\nmask = ['animal.name']\n", encoding="utf-8")
    out, error = start("SELECT id FROM animal", *ask, "--access", str(rules), "--mask", "animal.id").communicate(
        timeout=60
    )
    assert [row[0] for row in json.loads(out)["rows"]] == [1, 2, 3]
    only = ("--only-rows", "animal: id > 1", "--only-rows", "animal: id < 3")
    out, _ = start("SELECT id FROM animal", *ask, *only).communicate(timeout=60)
    assert json.loads(out)["rows"] == [[2]]
    out, _ = start("SELECT name FROM animal LIMIT 1", *ask, "--allow", "animal.name").communicate(timeout=60)
    assert json.loads(out)["rows"] == [["ant"]]


def test_a_rule_that_matches_nothing_is_wrong_usage(start: Start, zoo: Path, tmp_path: Path) -> None:
    for more, words in (
        (("--deny", "animal.foto"), "deny: 'animal.foto' matches no table or column"),
        (("--mask", "a.b.c.d"), "is not a pattern"),
        (("--only-rows", "moon: id = 1"), "rows: "),
        (("--access", str(tmp_path / "none.toml")), "cannot be read"),
    ):
        process = start("SELECT 1", "ask", "Which?", "--db", str(zoo), *more)
        out, error = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, "")
        assert words in error
        assert error.count("\n") == 1
