"""``sqljury serve`` as a process: what it refuses to start with, how it runs, and how it ends."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import tomllib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Session
from sqljury.cli import serve
from sqljury.errors import InputError
from sqljury.web.tokens import digest

Start = Callable[..., "subprocess.Popen[str]"]


def address(process: subprocess.Popen[str]) -> tuple[str, list[str]]:
    """Host and port that the server says it listens on, and what it said until then."""
    said: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if match := re.match(r"listening on http://(\S+)/", line):
            return match[1], said
    raise AssertionError("".join(said))


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, error = process.communicate(timeout=120)
    assert out == ""
    return process.returncode, error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--db"),
        (["--db", "{zoo}", "--host", "0.0.0.0"], "--tokens"),
        (["--db", "{zoo}", "--host", "0.0.0.0", "--tokens", "{tokens}"], "--allow-host"),
        (["--db", "{zoo}", "--tokens", "missing.toml"], "missing.toml"),
        (["--db", "{zoo}", "--db", "zoo={zoo}"], "two databases"),
        (["--db", "{zoo}", "--db", "two={zoo}", "--notes", "notes.yaml"], "--notes zoo=PATH"),
        (["--db", "{zoo}", "--deny", "nothing"], "nothing"),
        (["--new-token", "a b"], "not a name"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    start: Start, zoo: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'[[token]]\nname = "a"\nsha256 = "{"0" * 64}"\ndatabases = ["*"]\n')
    given = [argument.format(zoo=zoo, tokens=tokens) for argument in arguments]
    code, error = ended(start("SELECT 1", "serve", *given, "--port", "0"))
    assert (code, error.count("\n")) == (2, 1), error
    assert words in error
    assert error.startswith("sqljury: ")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"sqljury.toml": "[databases.zoo"}, "sqljury.toml: is not TOML"),
        ({"sqljury.toml": '[databases.zoo]\nurl = "sqlite://u:hunter2@h/x"\n'}, "has a password"),
        ({"notes.yaml": "tabels: {}"}, "notes.yaml: line 1"),
        ({"notes.yaml": "tables: {anmal: x}"}, "anmal"),
        ({"glossary.yaml": "a: [b"}, "glossary.yaml"),
        ({"examples.jsonl": "{]"}, "examples.jsonl, line 1"),
    ],
)
def test_a_context_folder_with_a_fault_is_not_served(
    zoo: Path, tmp_path: Path, files: dict[str, str], words: str
) -> None:
    for name, text in {"sqljury.toml": f'[databases.zoo]\nurl = "{zoo}"\n', **files}.items():
        (tmp_path / name).write_text(text)
    with ExitStack() as stack, pytest.raises(InputError) as caught:
        serve._opened(stack, ["zoo"], str(tmp_path), [], [])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_port_in_use(start: Start, zoo: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, error = ended(start("SELECT 1", "serve", "--db", str(zoo), "--port", port))
    assert code == 2
    assert f"port {port}" in error.splitlines()[-1]


def test_a_new_token_is_printed_once_and_its_digest_is_for_the_file(start: Start, zoo: Path) -> None:
    process = start("SELECT 1", "serve", "--db", str(zoo), "--new-token", "ann")
    out, error = process.communicate(timeout=120)
    (entry,) = tomllib.loads(out)["token"]
    token = error.strip().rpartition(" ")[2]
    assert process.returncode == 0
    assert (entry["name"], entry["databases"], entry["sha256"]) == ("ann", ["zoo"], digest(token))
    assert token not in out


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_server_answers_until_it_is_told_to_end(start: Start, zoo: Path, ending: signal.Signals) -> None:
    process = start("SELECT name FROM animal", "serve", "--db", f"beasts={zoo}", "--port", "0", "--recipe", "fast")
    place, said = address(process)
    assert any("beasts" in line for line in said)
    connection = http.client.HTTPConnection(place, timeout=120)
    body = json.dumps({"question": "Which animals are there?"})
    connection.request("POST", "/v1/ask", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    assert response.status == 200
    assert response.getheader("server") is None
    assert json.loads(response.read())["row_count"] == 3
    process.send_signal(ending)
    code, error = ended(process)
    assert (code, error) == (130, "sqljury: stopped\n")


def test_a_context_folder_is_served_with_what_it_says(start: Start, zoo: Path, tmp_path: Path) -> None:
    (tmp_path / "sqljury.toml").write_text(f'recipe = "fast"\n[databases.beasts]\nurl = "{zoo}"\n')
    process = start("SELECT name FROM animal", "serve", "--project", str(tmp_path), "--port", "0")
    place, said = address(process)
    assert "databases: beasts\n" in said
    connection = http.client.HTTPConnection(place, timeout=120)

    def post(path: str, body: dict[str, object]) -> dict[str, Any]:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        made: dict[str, Any] = json.loads(connection.getresponse().read())
        return made

    answer = post("/v1/ask", {"question": "Which animals are there?"})
    assert answer["row_count"] == 3
    assert len(answer["candidates"]) == 1  # by the folder's recipe
    assert post("/v1/feedback", {"id": answer["id"], "good": True}) == {"id": answer["id"], "kept": "folder"}
    (line,) = (tmp_path / "feedback.jsonl").read_text().splitlines()
    assert json.loads(line)["db_id"] == "beasts"
    process.send_signal(signal.SIGINT)
    ended(process)


TWO_MODELS = """
[databases.shop]
url = "{zoo}"
recipe = "fast"
model = "openai:x@http://127.0.0.1:9/v1"
[databases.hr]
url = "{zoo}"
recipe = "default"
[databases.copy]
url = "{zoo}"
recipe = "default"
"""


@pytest.mark.parametrize(("model", "names"), [(None, ["x", "one", "one"]), ("two", ["two", "two", "two"])])
def test_each_database_is_asked_by_its_own_recipe_and_model(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str | None, names: list[str]
) -> None:
    (tmp_path / "sqljury.toml").write_text(TWO_MODELS.format(zoo=zoo))
    monkeypatch.setattr("sqljury.llm.open._bare", lambda spec, _: FakeModel("SELECT 1", name=spec))
    monkeypatch.setenv("SQLJURY_MODEL", "one")
    with ExitStack() as stack:
        opened = serve._opened(stack, ["shop", "hr", "copy"], str(tmp_path), [], [])
        bases = [one.base for one in serve._with_bases(stack, opened, Session, None, model).values()]
        assert all(base is not None for base in bases)
        assert [base.pipeline.recipe.name for base in bases if base] == ["fast", "default", "default"]
        assert [base.pipeline.model.name.partition("@")[0].removeprefix("openai:") for base in bases if base] == names
        assert bases[1] is bases[2]  # the weights are loaded once


def test_a_folders_databases_are_served_by_their_own_recipes(start: Start, zoo: Path, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "eight.toml", tmp_path)
    (tmp_path / "sqljury.toml").write_text(
        f'[databases.one]\nurl = "{zoo}"\nrecipe = "fast"\n[databases.many]\nurl = "{zoo}"\nrecipe = "eight.toml"\n'
    )
    process = start("SELECT name FROM animal", "serve", "--project", str(tmp_path), "--port", "0")
    place, _ = address(process)
    connection = http.client.HTTPConnection(place, timeout=120)
    candidates = []
    for name in ("one", "many"):
        body = json.dumps({"database": name, "question": "Which animals are there?"})
        connection.request("POST", "/v1/ask", body, {"Content-Type": "application/json"})
        candidates.append(len(json.loads(connection.getresponse().read())["candidates"]))
    assert candidates == [1, 8]
    process.send_signal(signal.SIGINT)
    ended(process)
