"""The tools as an agent sees them: the official client, in memory, on a model that says what it is told."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from sqljury import FakeModel
from sqljury.access.rules import Access
from sqljury.errors import InputError
from sqljury.llm.ledger import Budget, Ledger
from sqljury.mcp.databases import Databases
from sqljury.mcp.server import build, serve_http
from sqljury.parallel.jobs import Jobs
from sqljury.project import load
from sqljury.schema.notes import Item, Join, Notes

EIGHT = str(Path(__file__).parents[1] / "eight.toml")
TOOLS = ["ask", "check_sql", "describe_database", "execute_sql", "list_databases", "search_objects"]


def talk(databases: Databases, conversation: Callable[[Client], Awaitable[Any]], **client: Any) -> Any:
    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(build(databases, "1"), **client) as connected:
                return await conversation(connected)

    return anyio.run(run)


def call(databases: Databases, tool: str, **arguments: Any) -> Any:
    """The structured content of one call; the message where it failed."""

    async def one(client: Client) -> Any:
        reply = await client.call_tool(tool, arguments)
        text = reply.content[0].text
        if reply.is_error:
            return text
        assert json.loads(text) == reply.structured_content
        return reply.structured_content

    return talk(databases, one)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, legs INT, keeper INT);"
            "CREATE TABLE keeper (id INTEGER PRIMARY KEY, surname TEXT);"
            "INSERT INTO animal VALUES (1, 'ant', 6, 1), (2, 'bear', 4, 1), (3, 'crow', 2, NULL);"
            "INSERT INTO keeper VALUES (1, 'Appleyarrow');"
        )
    connection.close()
    return path


@pytest.fixture
def zoo(db: Path) -> Any:
    """The zoo, on a model that disagrees with itself."""
    wrong = ["SELECT count(*) FROM animal JOIN keeper ON keeper.id = animal.keeper", "SELECT count(*) FROM animal"]
    model = FakeModel(["SELECT count(*) FROM animal", *[wrong] * 20])
    with Databases({"zoo": {"database": db, "model": model}}, cache=False) as databases:
        yield databases


def test_six_tools_that_only_read_in_few_tokens(zoo: Databases) -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = talk(zoo, listed)
    assert sorted(tool.name for tool in tools) == TOOLS
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools)
    texts = [json.dumps(tool.model_dump(by_alias=True, exclude_none=True)) for tool in tools]
    # A token has at least two characters on average, so this is well below 2,000 tokens of any tokenizer.
    assert sum(map(len, texts)) < 4_000
    assert all("title" not in text for text in texts)


def test_an_answer_comes_with_its_dissent(zoo: Databases) -> None:
    found = call(zoo, "ask", question="How many animals are there?")
    assert (found["rows"], found["sql"], found["database"]) == ([[3]], "SELECT count(*) FROM animal", "zoo")
    assert 0 < found["confidence"] < 1
    assert found["agreeing"] + sum(group["votes"] for group in found["dissent"]) == found["candidates"] == 7
    assert [group["rows"] for group in found["dissent"]] == [[[2]]]
    told = found["distinguishing"]
    assert {table["table"] for table in told["tables"]} <= {"animal", "keeper"}
    assert told["returned"][0]["sql"] == found["sql"]
    assert told["returned"][0]["rows"] != told["returned"][1]["rows"]


def test_an_answer_without_any(db: Path) -> None:
    with Databases({"zoo": {"database": db, "model": FakeModel("no idea")}}, cache=False) as databases:
        reply = call(databases, "ask", question="How many?")
    assert reply.startswith("Error executing tool ask: ")
    assert "no query" in reply


def test_queries_are_run_and_cut(zoo: Databases) -> None:
    found = call(zoo, "execute_sql", sql="SELECT name, legs FROM animal ORDER BY id", limit=2)
    assert found == {"columns": ["name", "legs"], "rows": [["ant", 6], ["bear", 4]], "row_count": 2, "truncated": True}
    long = call(zoo, "execute_sql", sql="SELECT replace(hex(zeroblob(1)), '0', 'xxxxxxxxxx') AS x")
    assert "refused" in long
    text = call(zoo, "execute_sql", sql=f"SELECT '{'é' * 5000}' AS x")
    assert len(text["rows"][0][0]) == 500


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("execute_sql", {"sql": "DELETE FROM animal"}, "only SELECT is allowed"),
        ("execute_sql", {"sql": "SELECT nme FROM animal"}, "no such column"),
        ("execute_sql", {"sql": "SELECT 1", "limit": 0}, "greater than or equal"),
        ("execute_sql", {"sql": "SELECT 1", "database": "moon"}, "there is no database 'moon'; known are zoo"),
        ("ask", {"question": ""}, "empty"),
        ("ask", {"question": "Delete all animals"}, "only reads"),
        ("ask", {"question": "x" * 20_001}, "at most 20000"),
        ("ask", {}, "Field required"),
        ("check_sql", {"question": "How many?", "sql": "DROP TABLE animal"}, "only SELECT is allowed"),
        ("describe_database", {"tables": ["moon"]}, "no such table: moon"),
        ("fly", {}, "Unknown tool"),
    ],
)
def test_faults_are_told(zoo: Databases, tool: str, arguments: dict[str, Any], words: str) -> None:
    assert words in call(zoo, tool, **arguments)


def test_a_query_is_checked(db: Path) -> None:
    model = FakeModel("SELECT count(*) FROM animal WHERE legs = 4")
    with Databases({"zoo": {"database": db, "model": model}}, cache=False) as databases:
        found = call(databases, "check_sql", question="How many animals have four legs?", sql="SELECT 1 FROM animal")
    assert found["verdict"] in ("wrong", "unclear")
    assert found["agreeing"] == 0
    assert found["why"]


def test_objects_are_found_by_name_and_value(zoo: Databases) -> None:
    assert call(zoo, "search_objects", text="animal")["found"][0] == {"kind": "table", "name": "animal", "score": 1.0}
    values = [one for one in call(zoo, "search_objects", text="Apleyarow")["found"] if one["kind"] == "value"]
    assert (values[0]["name"], values[0]["value"]) == ("keeper.surname", "Appleyarrow")
    columns = [one["name"] for one in call(zoo, "search_objects", text="surname")["found"] if one["kind"] == "column"]
    assert columns[0] == "keeper.surname"
    assert call(zoo, "search_objects", text=" ")["found"] == []


def test_databases_and_their_schemas(zoo: Databases) -> None:
    listed = call(zoo, "list_databases")
    assert listed == {"databases": [{"name": "zoo", "dialect": "sqlite"}], "default": "zoo"}
    text = call(zoo, "describe_database")["schema"]
    assert "CREATE TABLE animal" in text
    assert "CREATE TABLE keeper" not in call(zoo, "describe_database", tables=["ANIMAL"])["schema"]
    assert call(zoo, "describe_database", tables=["animal", "moon"])["left_out"] == ["moon (no such table)"]

    async def resources(client: Client) -> Any:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "sqljury://schema/{db}"
        with pytest.raises(MCPError, match="there is no database 'moon'"):
            await client.read_resource("sqljury://schema/moon")
        return (await client.read_resource("sqljury://schema/zoo")).contents[0].text

    assert talk(zoo, resources) == text


def test_a_folder_serves_its_databases_with_what_it_knows(db: Path) -> None:
    settings = (
        '[databases.zoo]\nurl = "zoo.db"\n[databases.zoo.access]\ndeny = ["keeper"]\n[databases.gone]\nurl = "x.db"\n'
    )
    (db.parent / "sqljury.toml").write_text(settings)
    (db.parent / "glossary.yaml").write_text("quadruped: an animal with legs = 4\n")
    project = load(db.parent)
    described = {name: project.database(name).session() for name in project.names}
    with Databases(described, project.default, cache=False) as databases:
        gone, zoo = sorted(call(databases, "list_databases")["databases"], key=lambda one: one["name"])
        assert (zoo, "no such file" in gone["error"]) == ({"name": "zoo", "dialect": "sqlite"}, True)
        assert "name the database; known are zoo, gone" in call(databases, "describe_database")
        text = call(databases, "describe_database", database="zoo")["schema"]
        assert "quadruped: an animal with legs = 4" in text
        assert "surname" not in text
        refused = call(databases, "execute_sql", sql="SELECT surname FROM keeper", database="zoo")
        assert "refused" in refused
        found = call(databases, "search_objects", text="Appleyarrow", database="zoo")["found"]
        assert all("Appleyarrow" not in str(one) for one in found)


def test_a_cancelled_call_stops_its_work(db: Path) -> None:
    began, stopped = threading.Event(), threading.Event()

    class Slow(FakeModel):
        def complete(self, *arguments: Any, cancel: threading.Event | None = None, **more: Any) -> Any:
            began.set()
            assert cancel is not None
            if cancel.wait(30):
                stopped.set()
            return super().complete(*arguments, cancel=cancel, **more)

    async def leave(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", {"question": "How many?"})
            await anyio.to_thread.run_sync(began.wait, 30)
            group.cancel_scope.cancel()

    with Databases({"zoo": {"database": db, "model": Slow("SELECT 1")}}, cache=False) as databases:
        talk(databases, leave)
        assert stopped.wait(30)


def test_calls_wait_for_their_turn_and_are_refused_when_too_many_wait(db: Path) -> None:
    release, replies = threading.Event(), list[str]()

    def waits(_: Any) -> str:
        release.wait(60)
        return "SELECT count(*) FROM animal"

    async def ask(client: Client) -> None:
        reply = await client.call_tool("ask", {"question": "How many?"})
        replies.append(reply.content[0].text if reply.is_error else "answered")

    async def run(databases: Databases) -> None:
        jobs = Jobs(1, 1, 60, shared=False)
        with anyio.fail_after(120):
            async with Client(build(databases, jobs=jobs)) as client, anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(ask, client)
                while not replies:
                    await anyio.sleep(0.01)
                assert (jobs.running, jobs.turns.waiting) == (1, 1)
                release.set()

    with Databases({"zoo": {"database": db, "model": FakeModel(waits)}}, cache=False) as databases:
        anyio.run(run, databases)
    assert "the server is busy: too many calls wait; call again in " in replies[0]
    assert replies[1:] == ["answered"] * 2


def test_a_call_that_takes_too_long_is_given_up(db: Path) -> None:
    async def ask(databases: Databases) -> str:
        async with Client(build(databases, jobs=Jobs(1, 1, 0.5, shared=False))) as client:
            reply = await client.call_tool("ask", {"question": "How many?"})
            return str(reply.content[0].text)

    with Databases({"zoo": {"database": db, "model": FakeModel("SELECT 1", delay=60)}}, cache=False) as databases:
        assert "time limit" in anyio.run(ask, databases)


def test_progress_is_reported(zoo: Databases) -> None:
    steps: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        steps.append(str(message))

    async def ask(client: Client) -> None:
        await client.call_tool("ask", {"question": "How many animals?"}, progress_callback=heard)

    talk(zoo, ask)
    assert "reading the schema" in steps


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "example.org", ""])
def test_http_stays_on_loopback(zoo: Databases, host: str) -> None:
    with pytest.raises(InputError, match="stays on"):
        serve_http(build(zoo), (host, 8765), [host])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("says", "rows", "by_user"),
    [("1", [[3]], True), ("2", [[2]], True), ("decline", [[3]], False), ("cancel", [[3]], False)],
)
def test_competing_readings_are_asked_about(zoo: Databases, mode: str, says: str, rows: Any, by_user: bool) -> None:
    asked: list[str] = []

    async def choose(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        if says in ("1", "2"):
            return ElicitResult(action="accept", content={"reading": says})
        return ElicitResult(action=says)  # type: ignore[arg-type]

    async def ask(client: Client) -> Any:
        return (await client.call_tool("ask", {"question": "How many animals are there?"})).structured_content

    found = talk(zoo, ask, mode=mode, elicitation_callback=choose)
    assert (found["rows"], "reading_chosen_by_user" in found) == (rows, by_user)
    (message,) = asked
    assert "1: 3 - SELECT count(*) FROM animal" in message
    assert "2: 2 - SELECT count(*)" in message
    if says == "2":
        assert found["confidence"] is None
        assert [group["rows"] for group in found["dissent"]] == [[[3]]]


def test_a_clear_answer_bothers_nobody(db: Path) -> None:
    async def choose(_: Any, params: Any) -> ElicitResult:
        raise AssertionError(params)

    async def ask(client: Client) -> Any:
        return (await client.call_tool("ask", {"question": "How many animals?"})).structured_content

    model = FakeModel("SELECT count(*) FROM animal")
    with Databases({"zoo": {"database": db, "model": model}}, cache=False) as databases:
        assert talk(databases, ask, elicitation_callback=choose)["dissent"] == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("says", "sql"), [("1", "SELECT SUM(quantity) FROM back"), ("2", "SELECT COUNT(*) FROM back")])
def test_two_readings_are_asked_about_in_the_words_of_the_question(db: Path, mode: str, says: str, sql: str) -> None:
    """The words that can be read in two ways, and what either reading means and gives."""
    asked: list[str] = []

    async def choose(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"reading": says})

    async def ask(client: Client) -> Any:
        return (await client.call_tool("ask", {"question": "How many pieces came back?"})).structured_content

    both = ["SELECT SUM(quantity) FROM back", "SELECT COUNT(*) FROM back"]
    with sqlite3.connect(db) as connection:
        connection.executescript(
            "CREATE TABLE back (id INTEGER PRIMARY KEY, quantity INT); INSERT INTO back VALUES (1, 5), (2, 7);"
        )
    connection.close()
    model = FakeModel(lambda call: both[:1] if call.n == 1 else [*both[1:], *both * 4][: call.n])
    with Databases({"zoo": {"database": db, "model": model, "recipe": EIGHT}}, cache=False) as databases:
        found = talk(databases, ask, mode=mode, elicitation_callback=choose)
        silent = talk(databases, ask, mode=mode)
    (message,) = asked
    first, *lines = message.splitlines()
    assert first == "'How many pieces' can be read in two ways. Which is meant?"
    assert lines == ["1: 12 - the sum of quantity", "2: 2 - the number of rows of back"]
    assert (found["sql"], found["reading_chosen_by_user"]) == (sql, True)
    assert [one["meaning"] for one in silent["readings"]] == ["the sum of quantity", "the number of rows of back"]
    assert "reading_chosen_by_user" not in silent


def test_notes_on_what_a_rule_hides_neither_fail_nor_show(db: Path) -> None:
    notes = Notes(
        items=(Item("animal", "legs", description="how many it stands on"), Item("keeper", description="a person")),
        glossary=(("quadruped", "four feet"),),
        formulas=(("crew", "COUNT(keeper.id)"), ("feet", "SUM(legs)")),
        joins=(Join(((("animal", "keeper"), ("keeper", "id")),)),),
    )
    options = {"database": db, "model": FakeModel("SELECT count(*) FROM animal"), "notes": notes}
    with Databases({"zoo": {**options, "access": Access(deny=("keeper", "animal.keeper"))}}, cache=False) as databases:
        assert call(databases, "ask", question="How many animals are there?")["rows"] == [[3]]
        text = call(databases, "describe_database")["schema"]
    assert "how many it stands on" in text
    assert "quadruped: four feet" in text
    assert "feet: SUM(legs)" in text
    assert "keeper" not in text
    assert "a person" not in text


def test_the_model_of_databases_that_name_none_is_counted(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.llm.open._bare", lambda *_: FakeModel("SELECT count(*) FROM animal"))
    ledger = Ledger(Budget(calls=1))
    with Databases({name: {"database": db, "recipe": "fast"} for name in "ab"}, ledger=ledger, cache=False) as opened:
        assert call(opened, "ask", question="How many animals?", database="a")["rows"] == [[3]]
        assert ledger.spent.calls == 1
        assert "limit of 1 calls" in call(opened, "ask", question="How many animals?", database="b")
