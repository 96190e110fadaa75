"""The notebooks of examples/notebooks run from the first cell to the last, and show what they say; the magics."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Session, load_ipython_extension, unload_ipython_extension
from sqljury.errors import InputError, SqljuryError
from sqljury.types.answer import VEGA_LITE

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SOURCE = Path(sys.modules["sqljury"].__file__ or "").parents[1]
MODEL = f"""
import json
from pathlib import Path
from sqljury import FakeModel
from sqljury.llm import open as opening
lines = Path({str(ROOT / "examples/shop/questions.jsonl")!r}).read_text(encoding="utf-8").splitlines()
known = {{entry["question"]: entry["sql"] for entry in map(json.loads, lines)}}

def reply(call):
    asked = call.messages[-1].content
    right = next((sql for question, sql in known.items() if question in asked), "SELECT count(*) FROM customer")
    return [right, right, "SELECT name, list_price FROM product ORDER BY list_price LIMIT 5"]

model = FakeModel(reply)
opening._bare = lambda spec, _together: model
"""


def run(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outputs of a notebook's cells, run beside a copy of the example's files; a cell that fails raises."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.chdir(ROOT)
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs"
    book.cells.insert(0, nbformat.v4.new_code_cell(MODEL))
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute(cwd=str(ROOT))
    return [output for cell in book.cells[1:] for output in cell.get("outputs", ())]


def texts(outputs: list[Any]) -> str:
    return "\n".join(str(output.get("text") or output.get("data", {}).get("text/plain")) for output in outputs)


def test_all_notebooks_are_run_here() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["1_ask", "2_evaluate", "3_choose"]


def test_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = run(NOTEBOOKS[0], tmp_path, monkeypatch)
    shown = [output["data"] for output in outputs if "data" in output]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert any("<table>" in page and "candidates agree" in page for page in pages)
    assert any("different results" in page for page in pages)
    charts = [data[VEGA_LITE.format(6)] for data in shown if VEGA_LITE.format(6) in data]
    assert charts
    assert charts[0]["mark"]["type"] == "bar"


def test_evaluating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = texts(run(NOTEBOOKS[1], tmp_path, monkeypatch))
    assert "(True, (" in said
    assert "(False, (" in said
    assert "ESM+" in said


def test_choosing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = texts(run(NOTEBOOKS[2], tmp_path, monkeypatch))
    assert "first system" in said
    assert "differ" in said


class Shell:
    """IPython without a terminal."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        interactive = pytest.importorskip("IPython.core.interactiveshell")
        monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
        interactive.InteractiveShell.clear_instance()
        self.ip = interactive.InteractiveShell.instance()
        load_ipython_extension(self.ip)

    def close(self) -> None:
        unload_ipython_extension(self.ip)
        type(self.ip).clear_instance()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO person (name) VALUES ('Ann'), ('Bo')")
    connection.commit()
    connection.close()
    return path


def test_a_mistake_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path, monkeypatch)
    try:
        for cell, words in (
            ("%ask_db nosuch.db", "nosuch.db: no such file"),
            ("%%ask\nWho?", "write %ask_db PLACE first"),
        ):
            failed = shell.ip.run_cell(cell)
            assert isinstance(failed.error_in_exec, SqljuryError)
            shown = "".join(capsys.readouterr())
            assert words in shown
            assert len(shown.strip().splitlines()) == 1
    finally:
        shell.close()


def test_the_magics(tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path, monkeypatch)
    ip = shell.ip
    try:
        with pytest.raises(InputError, match="write %ask_db PLACE first"):
            ip.run_line_magic("ask", "How many people are there?")
        model = FakeModel("SELECT count(*) FROM person")
        with Session(people, recipe="fast", model=model) as session:
            ip.user_ns["session"] = session
            ip.run_line_magic("ask_db", "session")
            assert ip.run_line_magic("ask", "How many people are there?").rows == ((2,),)
            evidence = "--evidence 'a person is a row' --into found"
            answer = ip.run_cell_magic("ask", evidence, "How many people\nare there?\n")
            assert ip.user_ns["found"] is answer
            assert answer.question.text == "How many people\nare there?"
            assert answer.question.evidence == "a person is a row"
            assert "a person is a row" in model.calls[-1].prompt
        (tmp_path / "sqljury.toml").write_text('model = "none"\n[databases.people]\nurl = "people.db"\n')
        ip.run_line_magic("ask_db", "people --privacy schema --recipe fast")
        opened, own = ip._sqljury_session
        assert own
        assert opened.pipeline.privacy == "schema"
        for line in ("people --fast", "'people", "people --privacy none"):
            with pytest.raises(InputError):
                ip.run_line_magic("ask_db", line)
        ip.user_ns["file"] = people
        ip.run_line_magic("ask_db", "file --model none")
    finally:
        shell.close()
    assert ip._sqljury_session is None


def test_an_answer_shows_table_and_chart_one_below_the_other(
    people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display = pytest.importorskip("IPython.display")
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data))
    sql = "SELECT name, id FROM person"
    with Session(people, recipe="fast", model=FakeModel(sql), min_confidence=0) as session:
        session.ask("Show names and ids <b>")._ipython_display_()
    table, chart = shown
    assert "&lt;b&gt;" in table["text/html"]
    assert table["text/plain"].splitlines()[1] == sql
    assert chart[VEGA_LITE.format(6)]["$schema"].endswith("v6.json")
    assert chart[VEGA_LITE.format(5)]["$schema"].endswith("v5.json")
