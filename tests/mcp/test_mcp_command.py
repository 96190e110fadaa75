"""``sqljury mcp`` as a process: the official client on stdio and on HTTP, and what clients are told of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

from sqljury.cli import app
from sqljury.mcp.clients import registration
from sqljury.web.tokens import entry, new_token

SAYS = """
import sys
from sqljury import FakeModel
from sqljury.cli import main
from sqljury.llm import open as opening
opening._bare = lambda name, _together: FakeModel("SELECT count(*) FROM animal")
sys.argv = ["sqljury", *sys.argv[1:]]
main()
"""

GATED = SAYS.replace(
    'FakeModel("SELECT count(*) FROM animal")',
    """FakeModel(lambda call: (wait(), "SELECT count(*) FROM animal")[1])
def wait():
    while not os.path.exists("gate"):
        time.sleep(0.05)""",
).replace("import sys", "import os, sys, time", 1)
"""A model that answers once there is a file ``gate``."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "zoo.db") as connection:
        connection.executescript("CREATE TABLE animal (name TEXT); INSERT INTO animal VALUES ('ant'), ('bear');")
    connection.close()
    (tmp_path / "sqljury.toml").write_text('[databases.zoo]\nurl = "zoo.db"\n')
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "SQLJURY_CACHE": str(folder / "cache")}


async def asked(client: Client) -> Any:
    assert len((await client.list_tools()).tools) == 6
    reply = await client.call_tool("ask", {"question": "How many animals?"})
    assert not reply.is_error, reply
    return reply.structured_content["rows"]


@pytest.mark.parametrize("arguments", [["--db", "zoo.db"], []])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_on_stdio(folder: Path, arguments: list[str], mode: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", SAYS, "mcp", *arguments], env=environment(folder), cwd=folder
    )

    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(stdio_client(parameters), mode=mode) as client:
                return await asked(client)

    assert anyio.run(run) == [[2]]


@contextmanager
def serving(folder: Path, *arguments: str, program: str = SAYS) -> Iterator[int]:
    """The port of a server by HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    command = [sys.executable, "-c", program, "mcp", "--http", "--port", str(number), *arguments]
    process = subprocess.Popen(command, env=environment(folder), cwd=folder)
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", number)) == 0:
                break
        time.sleep(0.1)
    yield number
    process.terminate()
    assert process.wait(30) == 130


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    with serving(folder) as number:
        yield number


def test_tokens_decide_who_asks_what(folder: Path) -> None:
    """Two clients of one server: each has its databases and rules, whoever asked before."""
    with sqlite3.connect(folder / "zoo.db") as connection:
        connection.execute("ALTER TABLE animal ADD COLUMN weight REAL")
    connection.close()
    (folder / "other.db").write_bytes((folder / "zoo.db").read_bytes())
    (folder / "sqljury.toml").write_text('[databases.zoo]\nurl = "zoo.db"\n[databases.other]\nurl = "other.db"\n')
    tokens = {"ann": new_token(), "bob": new_token()}
    ann_may = [entry("ann", tokens["ann"], ["zoo"]), 'deny = ["animal.weight"]']
    lines = [*ann_may, entry("bob", tokens["bob"], ["*"]), 'deny = ["animal.name"]']
    (folder / "tokens.toml").write_text("\n".join(lines) + "\n")

    async def client_of(port: int, token: str) -> list[Any]:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{port}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            names = await client.call_tool("list_databases", {})
            query = {"sql": "SELECT name FROM animal", "database": "zoo"}
            rows = await client.call_tool("execute_sql", query)
            other = await client.call_tool("execute_sql", {"sql": "SELECT 1", "database": "other"})
            answer = await client.call_tool("ask", {"question": "How many animals?", "database": "other"})
            (folder / "other.db").unlink()  # a new file, so that it is opened again
            (folder / "other.db").write_bytes(b"no database" * 1000)
            count = {"sql": "SELECT count(*) FROM animal", "database": "other"}
            damaged = await client.call_tool("execute_sql", count)
            described = [
                await client.call_tool("describe_database", {"database": name}) for name in ("zoo", "", "other")
            ]
            resource = await client.read_resource("sqljury://schema/zoo")
            listed = [one["name"] for one in names.structured_content["databases"]]
            return [listed, rows, other, answer, damaged, described, resource.contents[0].text]

    with serving(folder, "--host", "127.0.0.1", "--tokens", "tokens.toml") as port:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {tokens['ann']}"}):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", data=b"{}", headers=headers)
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request, timeout=30)
            assert caught.value.code == 401
            assert caught.value.headers["WWW-Authenticate"] == "Bearer"
        bob = anyio.run(client_of, port, tokens["bob"])
        ann = anyio.run(client_of, port, tokens["ann"])
    assert ann[0] == ["zoo"]
    assert ann[1].structured_content["rows"] == [["ant"], ["bear"]]
    assert ann[2].is_error
    assert "known are zoo" in ann[2].content[0].text
    assert ann[3].is_error
    assert bob[0] == ["zoo", "other"]
    assert bob[1].is_error
    assert "may be read here" in bob[1].content[0].text
    assert bob[2].structured_content["rows"] == [[1]]
    assert bob[3].structured_content["rows"] == [[2]]
    assert bob[4].is_error
    assert "[path]: is not an SQLite database" in bob[4].content[0].text
    assert folder.name not in bob[4].content[0].text
    for (zoo, unnamed, other), resource, shown, hidden in ((*bob[5:], "weight", "name"), (*ann[5:], "name", "weight")):
        assert re.search(rf"\b{shown}\b", schema := zoo.structured_content["schema"])
        assert not re.search(rf"\b{hidden}\b", schema)
        assert resource == schema
        assert other.is_error == (hidden == "weight")
        assert unnamed.is_error == (hidden == "name")  # bob has two databases, so that he has to name one
    assert ann[5][1].structured_content == ann[5][0].structured_content
    assert "known are zoo" in ann[5][2].content[0].text
    assert "other" not in ann[5][2].content[0].text.partition("known are")[2]


def test_clients_take_turns_and_none_fills_the_queue(folder: Path) -> None:
    """One call runs and two may wait, one of each client: the third of ann's is refused, bob's is not."""
    tokens = {"ann": new_token(), "bob": new_token()}
    (folder / "tokens.toml").write_text("".join(f"{entry(name, tokens[name], ['zoo'])}\n" for name in tokens))
    replies: dict[str, list[Any]] = {name: [] for name in tokens}

    async def ask(port: int, name: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {tokens[name]}"}, timeout=120) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
        ):
            replies[name].append(await client.call_tool("ask", {"question": "How many animals?"}))

    async def run(port: int) -> None:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(ask, port, "ann")
                while not replies["ann"]:
                    await anyio.sleep(0.05)
                group.start_soon(ask, port, "bob")
                await anyio.sleep(0.5)
                (folder / "gate").touch()

    limits = ("--tokens", "tokens.toml", "--workers", "1", "--queue", "2", "--no-cache")
    with serving(folder, *limits, program=GATED) as port:
        anyio.run(run, port)
    assert [reply.is_error for reply in replies["ann"]] == [True, False, False]
    assert "the server is busy" in replies["ann"][0].content[0].text
    assert [reply.structured_content["rows"] for reply in replies["bob"]] == [[[2]]]


def test_on_http(port: int) -> None:
    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp")) as client:
                return await asked(client)

    assert anyio.run(run) == [[2]]
    for header, value in (("Host", "evil.example"), ("Origin", "http://evil.example")):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/mcp",
            data=b"{}",
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                header: value,
            },
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=30)
        assert caught.value.code in (403, 421)


def sqljury(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sqljury", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)


def test_registration_with_clients(folder: Path) -> None:
    done = sqljury(folder, "mcp", "--print-config", "--db", "zoo.db", "--recipe", "fast")
    assert done.returncode == 0, done.stderr
    parts = [part.partition("\n") for part in done.stdout.strip().split("\n\n")]
    texts = {heading: text for heading, _, text in parts}
    shell, desktop, code, codex = texts.values()
    wanted = ["mcp", "--db", str(folder / "zoo.db"), "--recipe", "fast"]
    assert shlex.split(shell)[-5:] == wanted
    server = json.loads(desktop)["mcpServers"]["sqljury"]
    assert server["args"][-5:] == wanted
    assert json.loads(code)["servers"]["sqljury"]["type"] == "stdio"
    assert tomllib.loads(codex)["mcp_servers"]["sqljury"]["args"][-5:] == wanted
    started = subprocess.run([server["command"], "--version"], capture_output=True, text=True, check=False)
    assert started.returncode == 0
    assert str(folder) in sqljury(folder, "mcp", "--print-config").stdout


def test_a_registration_may_hold_any_character() -> None:
    command = ["/opt/\U0001f4e6/sqljury", "mcp", "--db", 'a \x7f".db']
    codex = registration(command).rpartition("toml)\n")[2]
    assert tomllib.loads(codex)["mcp_servers"]["sqljury"] == {"command": command[0], "args": command[1:]}


def registered(text: str) -> dict[str, Any]:
    """The entries that JSON clients get, by heading."""
    return {
        part.partition("\n")[0]: json.loads(part.partition("\n")[2]) for part in text.split("\n\n") if "{\n" in part
    }


def test_the_registration_of_a_name_starts_from_anywhere_and_has_its_variables(folder: Path, tmp_path: Path) -> None:
    settings = 'url = "${ZOO_PLACE}.db"\n[databases.b]\nurl = "zoo.db"\n'
    (folder / "sqljury.toml").write_text(f'default = "zoo"\n[databases.zoo]\n{settings}')
    given = {**environment(folder), "ZOO_PLACE": "zoo"}
    command = [sys.executable, "-m", "sqljury", "mcp", "--print-config"]

    def printed(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], cwd=folder, env=given, capture_output=True, text=True, check=False
        )

    done = printed("--db", "beasts=zoo")
    server = registered(done.stdout).popitem()[1]["servers"]["sqljury"]
    assert server["args"][-5:] == ["mcp", "--db", "beasts=zoo", "--project", str(folder)]
    assert server["env"] == {"ZOO_PLACE": "..."}
    assert '--env ZOO_PLACE="$ZOO_PLACE" -- ' in done.stdout
    assert tomllib.loads(done.stdout[done.stdout.index("[mcp_servers") :])["mcp_servers"]["sqljury"]["env"]
    assert "ZOO_PLACE" in done.stderr
    assert "env" not in registered(printed("--db", "b").stdout).popitem()[1]["servers"]["sqljury"]
    mixed = printed("--db", "b", "--db", "./zoo.db")
    assert (mixed.returncode, "is not in the context folder" in mixed.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--db zoo --recipe fast", "--db zoo --recipe fast --project {0}"),
        ("--db=zoo --project .", "--db=zoo --project {0}"),
        ("--db beasts=zoo.db --notes=notes.yaml", "--db beasts={0}/zoo.db --notes={0}/notes.yaml"),
        ("--db ./zoo --recipe own.toml", "--db {0}/zoo --recipe {0}/own.toml"),
        ("--db data/*.csv", "--db {0}/data/*.csv"),
    ],
)
def test_only_paths_of_a_registration_are_made_absolute(
    folder: Path, arguments: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mcp", "zoo", "fast"):  # folders that are called like arguments
        (folder / name).mkdir()
    for name in ("own.toml", "notes.yaml"):
        (folder / name).write_text("")
    given = ["mcp", "--print-config", *arguments.split()]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["sqljury", *given])
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    expected = ["mcp", *wanted.format(folder).split()]
    assert registered(done.stdout).popitem()[1]["servers"]["sqljury"]["args"][-len(expected) :] == expected


def test_the_registration_of_a_server_on_http_is_its_address(folder: Path) -> None:
    here = ("mcp", "--print-config", "--db", "zoo.db", "--http", "--port", "9000")
    done = sqljury(folder, *here)
    assert "claude mcp add --transport http sqljury http://127.0.0.1:9000/mcp\n" in done.stdout
    entries = list(registered(done.stdout).values())
    assert entries[0] == {"mcpServers": {"sqljury": {"url": "http://127.0.0.1:9000/mcp"}}}
    assert entries[1]["servers"]["sqljury"] == {"type": "http", "url": "http://127.0.0.1:9000/mcp"}
    (folder / "tokens.toml").write_text("")
    done = sqljury(folder, *here, "--tokens", "tokens.toml", "--host", "0.0.0.0", "--allow-host", "data.example")
    server = registered(done.stdout).popitem()[1]["servers"]["sqljury"]
    assert (server["url"], server["headers"]) == ("http://data.example:9000/mcp", {"Authorization": "Bearer TOKEN"})


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--db", "gone.db"), 3, "gone.db: no such file"),
        (("--db", "zoo.db", "--db", "./zoo.db"), 2, "two databases are called zoo"),
        (("--db", "zoo.db", "--http", "--host", "0.0.0.0"), 2, "there are no tokens"),
        (("--db", "zoo.db", "--tokens", "tokens.toml"), 2, "--tokens is for --http"),
        (("--db", "zoo.db", "--http", "--tokens", "gone.toml"), 2, "the tokens cannot be read"),
        (("--print-config", "--db", "postgresql://u:hunter2@h/d"), 2, "the URL has a password"),
    ],
)
def test_faults_of_the_command(folder: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = sqljury(folder, "mcp", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"notes.yaml": "tables: {anmal: x}"},
            "notes.yaml: line 1: there is no table called 'anmal'; did you mean 'animal'?",
        ),
        ({"glossary.yaml": "a: [b"}, "glossary.yaml"),
        ({"sqljury.toml": "[databases.zoo"}, "sqljury.toml: is not TOML"),
        ({"sqljury.toml": '[databases.zoo]\nurl = "zoo.db"\naccess.deny = ["anmal"]\n'}, "anmal"),
    ],
)
def test_a_context_folder_with_a_fault_is_not_served(folder: Path, files: dict[str, str], words: str) -> None:
    """The fault is told when the server starts, not at an agent's first question."""
    for name, text in files.items():
        (folder / name).write_text(text)
    done = sqljury(folder, "mcp")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert words in done.stderr
