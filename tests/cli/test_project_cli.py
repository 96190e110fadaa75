"""``sqljury init``, ``test`` and questions inside a context folder, as processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import Start


def run(start: Start, says: str, *arguments: str, cwd: Path) -> tuple[int, str, str]:
    process = start(says, *arguments, cwd=cwd)
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


@pytest.fixture
def folder(tmp_path: Path, zoo: Path, start: Start) -> Path:
    """A context folder for the zoo, with a folder in it."""
    code, out, error = run(start, "", "init", "know", "--db", f"beasts={zoo}", cwd=tmp_path)
    assert (code, error) == (0, "")
    assert "database beasts: SQLite, 1 table" in out
    (tmp_path / "know" / "deep").mkdir()
    return tmp_path / "know"


def test_init_leaves_what_is_there(folder: Path, start: Start) -> None:
    code, out, error = run(start, "", "init", str(folder), cwd=folder)
    assert (code, out) == (2, "")
    assert "is there already" in error
    code, _, error = run(start, "", "init", "new", "--db", "missing.db", cwd=folder)
    assert code == 3
    assert not (folder / "new").exists()


def test_asking_by_name_and_by_default(folder: Path, start: Start) -> None:
    (folder / "glossary.yaml").write_text("beast: any animal\n")
    query = "SELECT count(*) FROM animal"
    for arguments in ((), ("--db", "beasts"), ("--db", "beasts", "--project", str(folder))):
        where = folder.parent if "--project" in arguments else folder / "deep"
        code, out, error = run(start, query, "ask", "How many beasts?", "--output", "csv", *arguments, cwd=where)
        assert (code, error) == (0, "")
        assert out.splitlines()[1] == "3"
    code, out, _ = run(start, query, "check", "How many beasts?", "--sql", query, cwd=folder)
    assert code in (0, 11)
    assert run(start, query, "schema", cwd=folder)[1].startswith("zoo: SQLite, 1 table")


def test_names_that_are_not_there(folder: Path, start: Start) -> None:
    code, _, error = run(start, "", "ask", "How many?", "--db", "beast", cwd=folder)
    assert (code, "known are beasts" in error) == (2, True)
    code, _, error = run(start, "", "ask", "How many?", cwd=folder.parent)
    assert (code, "sqljury init" in error) == (2, True)
    code, _, error = run(start, "", "ask", "How many?", "--project", "nowhere", cwd=folder)
    assert (code, "no such file" in error) == (2, True)


def test_a_file_beside_the_folder_is_still_a_file(folder: Path, zoo: Path, start: Start) -> None:
    (folder / "animals").symlink_to(zoo)
    code, out, _ = run(start, "SELECT 7", "ask", "How many?", "--db", "animals", "--output", "csv", cwd=folder)
    assert (code, out.splitlines()[1]) == (0, "7")


def test_rules_of_the_folder_hold(folder: Path, start: Start) -> None:
    with (folder / "sqljury.toml").open("a") as file:
        file.write('[databases.beasts.access]\ndeny = ["animal.photo"]\n')
    code, *_ = run(start, "SELECT photo FROM animal", "ask", "Photos?", "--db", "beasts", cwd=folder)
    assert code == 7
    assert "photo" not in run(start, "", "schema", cwd=folder)[1]


def test_the_approved_pairs(folder: Path, start: Start) -> None:
    code, out, error = run(start, "SELECT 3", "test", cwd=folder)
    assert (code, out) == (0, "")
    assert "no approved pair" in error
    right = '{"question": "How many animals?", "sql": "SELECT count(*) FROM animal"}\n'
    (folder / "examples.jsonl").write_text(right)
    code, out, _ = run(start, "SELECT 3", "test", cwd=folder / "deep")
    assert (code, out.splitlines()[-1]) == (0, "1 of 1 passed.")
    (folder / "examples.jsonl").write_text(right + '{"question": "\\u001b[31mWho?", "sql": "SELECT nme FROM animal"}\n')
    code, out, _ = run(start, "SELECT 4", "test", "--no-cache", "--junit", "out.xml", cwd=folder)
    assert (code, out.splitlines()[-1]) == (10, "0 of 2 passed.")
    assert "\x1b" not in out
    assert "3 became 4" in out
    assert "examples.jsonl, line 2" in out
    suite = ElementTree.parse(folder / "out.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    code, out, _ = run(start, "no model is asked", "test", "--sql-only", cwd=folder)
    assert (code, out.splitlines()[-1]) == (10, "1 of 2 passed.")


def test_a_database_that_is_gone_breaks_its_pairs_alone(folder: Path, start: Start) -> None:
    with (folder / "sqljury.toml").open("a") as file:
        file.write('[databases.gone]\nurl = "gone.db"\n')
    pair = {"question": "How many animals?", "sql": "SELECT count(*) FROM animal"}
    lines = [json.dumps({**pair, "db_id": name}) + "\n" for name in ("beasts", "gone")]
    (folder / "examples.jsonl").write_text("".join(lines))
    code, out, error = run(start, "", "test", "--sql-only", "--junit", "out.xml", cwd=folder)
    assert (code, out.splitlines()[-1]) == (10, "1 of 2 passed."), error
    assert "gone.db: no such file" in out
    suite = ElementTree.parse(folder / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("errors")) == ("2", "1")
    with (folder / "sqljury.toml").open("a") as file:
        file.write('[databases.unset]\nurl = "${SQLJURY_UNSET}"\n')
    (folder / "out.xml").unlink()
    code, out, error = run(start, "", "test", "--sql-only", "--junit", "out.xml", cwd=folder)
    assert (code, "SQLJURY_UNSET is not set" in error) == (2, True)
    assert ElementTree.parse(folder / "out.xml").getroot()[0].get("tests") == "2"


def test_importing_the_commands_does_not_load_pydantic() -> None:
    code = "import sys, sqljury, sqljury.cli, sqljury.project; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_feedback_is_proposed_and_applied(folder: Path, start: Start) -> None:
    code, out, error = run(start, "", "feedback", cwd=folder)
    assert (code, error) == (0, "")
    assert "propose nothing new" in out
    chat = start("SELECT count(*) FROM animal", "chat", cwd=folder, stdin=subprocess.PIPE)
    chat.communicate("How many beasts?\n\\good\nHow many vermin?\n\\bad vermin means legs > 4\n", timeout=120)
    with (folder / "feedback.jsonl").open("a") as file:
        file.write('{"question": "x?", "good": true, "sql": "SELECT 1", "db_id": "moon"}\n')
    before = (folder / "examples.jsonl").read_text()
    code, out, error = run(start, "", "feedback", cwd=folder)
    assert code == 0
    assert '+{"question": "How many beasts?", "sql": "SELECT count(*) FROM animal", "db_id": "beasts"}' in out
    assert '+"vermin": "legs > 4"' in out
    assert "line 3: is on 'moon'" in out
    assert "--apply writes these lines" in error
    assert (folder / "examples.jsonl").read_text() == before
    assert run(start, "", "feedback", "--apply", cwd=folder)[0] == 0
    assert run(start, "SELECT 3", "test", cwd=folder)[1].splitlines()[-1] == "1 of 1 passed."
    assert "vermin" in (folder / "glossary.yaml").read_text()


def test_notes_of_dbt_are_taken_over_and_used(folder: Path, start: Start) -> None:
    columns = {
        "name": {"name": "name", "description": "what the keepers call it"},
        "x": {"name": "x", "description": "?"},
    }
    model = {"resource_type": "model", "name": "animal", "description": "the living", "columns": columns}
    (folder / "manifest.json").write_text(json.dumps({"nodes": {"model.zoo.animal": model}}))
    code, out, _ = run(start, "", "import", "manifest.json", cwd=folder)
    assert code == 0
    assert "Not used (1):" in out
    assert "the database has no animal.x" in out
    assert "what the keepers call it" in run(start, "", "schema", cwd=folder)[1]
    code, out, error = run(start, "", "import", "examples.jsonl", cwd=folder)
    assert (code, out) == (2, "")
    assert "examples.jsonl" in error


def test_the_value_index_by_name(folder: Path, start: Start) -> None:
    code, out, _ = run(start, "", "index", "search", "beasts", "annt", cwd=folder / "deep")
    assert code == 0
    assert "animal.name" in out
