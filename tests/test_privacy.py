"""What reaches a model outside of this process: every request of every recipe is read for what was planted."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, Question, Session, connect, recipes
from sqljury.cli import _guarded
from sqljury.errors import InputError, PrivacyError, ProjectError, SqljuryError
from sqljury.llm.api import open_api_model
from sqljury.llm.base import Message, Sampling
from sqljury.llm.privacy import Private, guarded
from sqljury.project import load
from sqljury.prompts import Text, bullets, held, render, unmarked
from sqljury.recipes import FixPart, GeneratePart, Recipe, RefinePart, SelectPart
from sqljury.recipes.parts import LinkPart, SchemaPart, TestsPart
from sqljury.schema.render import Style
from sqljury.schema.render import render as schema_text
from sqljury.stages.generate import GENERATORS
from sqljury.stages.generate.direct import written
from sqljury.stages.select import SELECTORS, TESTING
from sqljury.types import Candidate, Column, Fix, Privacy, Result, Schema, Table, Task

PATIENTS = [
    (1, "Zebulon Quark", "Xyloville", "Morbus Krull", 918273),
    (2, "Ottoline Frum", "Xyloville", "Gelbe Zipperitis", 827364),
    (3, "Perpetua Snoad", "Uxmouth", "Morbus Krull", 736455),
    (4, "Ignatz Blorb", "Uxmouth", "Drummonditis", 645546),
    (5, "Walburga Tench", "Xyloville", "Gelbe Zipperitis", 554637),
]
VISITS = [(number, 1 + number % 5, f"1987-0{1 + number % 9}-13", 71.43 + number) for number in range(1, 15)]
TEXTS = sorted({cell for row in PATIENTS for cell in row[1:4]} | {day for _, _, day, _ in VISITS})
NUMBERS = [str(row[4]) for row in PATIENTS] + ["72.43", "80.43"]
QUESTION = "How many patients live in Xylovile?"
QUERIES = [
    "SELECT count(*) FROM patient WHERE city = 'Xylovile'",
    "SELECT count(*) FROM patients WHERE city = 'Xylovile'",
    "SELECT name, diagnosis FROM patient",
    "SELECT nme FROM patient",
    "SELECT name FROM patient WHERE city = 'Nowhere'",
    "SELECT count(*) FROM visit",
    "SELECT city, count(*) FROM patient GROUP BY city",
]
PROGRAM = "```python\nresult = pd.DataFrame({'n': [len(patient)]})\n```"
FRAMES = """```python
patient = pd.DataFrame({'id': [1, 2], 'name': ['a', 'b'], 'city': ['Xylovile', 'c'], 'diagnosis': ['d', 'e'],
                        'insurance': [1, 2]})
visit = pd.DataFrame({'id': [1, 2], 'patient_id': [1, 2], 'day': ['2020-01-01', '2020-01-02'], 'cost': [1.0, 2.0]})
```"""


class Provider:
    """A service in OpenAI's protocol on this machine that answers like a model, and keeps every request."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self._queries = itertools.cycle(QUERIES)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
                body = json.loads(raw)
                provider.bodies.append(json.dumps([body, dict(self.headers), self.path], ensure_ascii=False))
                stream = bool(body.get("stream"))
                key, kind = ("delta", "text/event-stream") if stream else ("message", "application/json")
                choices = [
                    {"index": at, "finish_reason": "stop", key: {"role": "assistant", "content": text}}
                    for at, text in enumerate(provider.texts(body))
                ]
                reply = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": choices})
                sent = (f"data: {reply}\n\ndata: [DONE]\n\n" if stream else reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.name = f"openai:m@http://127.0.0.1:{self._server.server_port}/v1"

    def texts(self, body: dict[str, Any]) -> list[str]:
        """A reply for each sample: what the prompt asks for, right or wrong."""
        system, last = body["messages"][0]["content"], body["messages"][-1]["content"]
        count = body.get("n") or 1
        if (wanted := body.get("response_format")) is not None:
            known = {
                "tables": {"tables": ["patient", "visit"]},
                "columns": {"columns": ["patient.city"]},
                "ranking": {"ranking": ["B", "A"]},
            }
            schema = wanted["json_schema"]["schema"]
            reply = next((known[key] for key in schema.get("properties", {}) if key in known), ["Xylovile"])
            return [json.dumps(reply)] * count
        if (body.get("max_tokens") or body.get("max_completion_tokens")) == 1:
            return ["A"] * count
        if "pandas" in system.lower():
            return [FRAMES if "build" in last.lower() or "rows" in system.lower() else PROGRAM] * count
        if "Q:" in last or "examples" in last.lower():
            return ["1. Question: How many patients?\nSQL: SELECT count(*) FROM patient\n"] * count
        return [f"```sql\n{next(self._queries)}\n```" for _ in range(count)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("SQLJURY_API_KEY", "none")
    service = Provider()
    yield service
    service.close()


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute(
            "CREATE TABLE patient (id INTEGER PRIMARY KEY, name TEXT, city TEXT, diagnosis TEXT, insurance INTEGER)"
        )
        made.execute(
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient, day TEXT, cost REAL)"
        )
        made.executemany("INSERT INTO patient VALUES (?, ?, ?, ?, ?)", PATIENTS)
        made.executemany("INSERT INTO visit VALUES (?, ?, ?, ?)", VISITS)
    return path


def values_in(text: str) -> list[str]:
    folded = text.casefold()
    return [planted for planted in (*TEXTS, *NUMBERS) if planted.casefold() in folded]


def rows_in(text: str) -> list[str]:
    """Places where two cells of one row stand beside each other, with nothing but marks and blanks between them."""
    pairs = (pair for row in PATIENTS for pair in itertools.permutations(map(str, row[1:]), 2))
    patterns = (rf"{re.escape(first)}[^\w/]{{1,8}}{re.escape(second)}" for first, second in pairs)
    return [found for pattern in patterns for found in re.findall(pattern, text.replace("\\n", "\n"))]


def asked(recipe: Recipe, privacy: Privacy, provider: Provider, clinic: Path) -> list[str]:
    """What the service got for one question by this recipe, all its models being that service."""
    model = open_api_model(provider.name)
    named = dict.fromkeys(recipe.models, model)
    pipeline = Pipeline(recipe, model, models=named, privacy=privacy)
    with connect(clinic) as db:
        try:
            pipeline.answer(Question(QUESTION), db)
        except PrivacyError:
            raise
        except SqljuryError:
            pass  # the replies need not be an answer
    return provider.bodies


def every_generator() -> Recipe:
    parts = tuple(GeneratePart(name, 2, 0.5, examples=4) for name in sorted(GENERATORS))
    fix = FixPart(values=True, attempts=2)
    schema = SchemaPart(values=8, keywords="model", examples=3, nearest=True, types=True)
    return Recipe("all", schema=schema, link=LinkPart("model"), generate=parts, fix=fix)


def every_selector() -> list[Recipe]:
    tests = TestsPart("suite")
    made = []
    for name in sorted(SELECTORS):
        chosen = SelectPart(name)
        parts = (GeneratePart("direct", len(QUERIES), 0.5),)
        fix = FixPart(values=True)
        recipe = Recipe(name, schema=SchemaPart(values=4), generate=parts, fix=fix, select=chosen)
        made.append(replace(recipe, tests=tests, refine=RefinePart(rounds=2)) if name in TESTING else recipe)
    return made


RECIPES = [*map(recipes.load, recipes.names()), every_generator(), *every_selector()]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_schema_lets_no_value_out(recipe: Recipe, provider: Provider, clinic: Path) -> None:
    bodies = asked(recipe, "schema", provider, clinic)
    assert bodies
    assert [found for body in bodies if (found := values_in(body))] == []


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_values_let_no_row_out(recipe: Recipe, provider: Provider, clinic: Path) -> None:
    bodies = asked(recipe, "values", provider, clinic)
    assert any(values_in(body) for body in bodies)
    assert [found for body in bodies if (found := rows_in(body))] == []


def test_values_of_columns_are_drawn_by_themselves() -> None:
    """The first values of two columns, the second ones and so on would be rows, were they drawn from the same ones."""
    names = tuple(f"c{number}" for number in range(6))
    rows = tuple(tuple(f"{name}r{number}" for name in names) for number in range(40))
    schema = Schema("s", "sqlite", (Table("t", tuple(Column(name, "TEXT") for name in names)),))

    def drawn(*, apart: bool) -> set[tuple[str, ...]]:
        text = schema_text(schema, {"t": Result(names, rows)}, style=Style(0, examples=5, apart=apart))
        lists = [re.findall(r"'c\dr(\d+)'", line) for line in text.splitlines() if "such as" in line]
        assert [len(one) for one in lists] == [5] * 6
        return set(zip(*lists, strict=True))

    assert all(len(set(place)) == 1 for place in drawn(apart=False))
    assert not any(len(set(place)) == 1 for place in drawn(apart=True))


def test_rows_reach_the_service_where_nothing_is_said(provider: Provider, clinic: Path) -> None:
    """The search for planted rows finds them, so that the tests above can fail."""
    bodies = asked(recipes.load("mscsql"), "rows", provider, clinic)
    assert any(values_in(body) for body in bodies)
    assert any(rows_in(body) for body in bodies)


def test_messages_of_an_engine_that_quote_values_stay_here(provider: Provider, tmp_path: Path) -> None:
    """DuckDB names the value that it could not convert, and the model is asked to repair the query."""
    (tmp_path / "patient.csv").write_text("id,name,city\n1,Zebulon Quark,Xyloville\n2,Ottoline Frum,Uxmouth\n")
    provider._queries = itertools.repeat("SELECT sum(CAST(name AS INTEGER)) FROM patient")
    for privacy, told in (("schema", False), ("values", True)):
        provider.bodies.clear()
        options: dict[str, Any] = {"recipe": "fast", "model": provider.name, "privacy": privacy, "cache": False}
        with pytest.raises(SqljuryError, match="Zebulon"), Session(tmp_path / "patient.csv", **options) as session:
            session.ask("What is the sum of the names?")
        again = [body for body in provider.bodies if "refused that query" in body]
        assert again
        assert any("Could not convert" in body for body in again) == told
        assert any("Zebulon" in body for body in provider.bodies) == told


def test_a_check_and_a_choice_are_asked_under_the_same_rule(provider: Provider, clinic: Path) -> None:
    with Session(clinic, recipe="rerank", model=provider.name, privacy="schema", cache=False) as session:
        session.check(QUESTION, QUERIES[5])
        session.choose(QUESTION, QUERIES[:4], selector="critic")
    assert provider.bodies
    assert [found for body in provider.bodies if (found := values_in(body))] == []


def test_what_people_wrote_is_sent(provider: Provider, clinic: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.yaml"
    notes.write_text("rules:\n  - Morbus Krull is written in full.\n")
    options: dict[str, Any] = {"recipe": "fast", "model": provider.name, "privacy": "schema", "cache": False}
    with Session(clinic, notes=notes, **options) as session:
        session.ask("Who has Drummonditis?", evidence="Drummonditis is a diagnosis")
    first = provider.bodies[0]
    assert "Drummonditis is a diagnosis" in first
    assert "Morbus Krull is written in full" in first
    assert values_in(first) == ["Drummonditis", "Morbus Krull"]


def test_the_answer_says_what_was_shared(provider: Provider, clinic: Path) -> None:
    for privacy in ("schema", "rows"):
        with Session(clinic, recipe="fast", model=provider.name, privacy=privacy, cache=False) as session:
            answer = session.ask(QUESTION)
        assert answer.privacy == privacy
        assert answer.to_dict()["privacy"] == privacy
    with Session(clinic, recipe="fast", model=FakeModel(QUERIES[0]), privacy="schema") as session:
        assert session.ask(QUESTION).privacy is None


def test_a_local_model_sees_rows_whatever_services_may(clinic: Path) -> None:
    local, service = (FakeModel(QUERIES[2], local=here) for here in (True, False))
    for model in (local, service):
        with Session(clinic, recipe="fast", model=model, privacy="schema") as session:
            session.ask(QUESTION)
    assert values_in(local.calls[0].prompt)
    assert not values_in(service.calls[0].prompt)


def test_beside_a_service_a_local_model_writes_without_content(clinic: Path) -> None:
    """What it had seen could stand in the query that it hands on."""
    writer, judge = FakeModel(lambda _: QUERIES, name="here"), FakeModel("A", name="there", local=False)
    recipe = Recipe("two", generate=(GeneratePart("direct", 4, 0.5),), select=SelectPart("critic", judge="there"))
    with connect(clinic) as db:
        Pipeline(recipe, writer, models={"there": judge}, privacy="schema").answer(Question(QUESTION), db)
    assert writer.calls
    assert judge.calls
    assert not any(values_in(call.prompt) for call in (*writer.calls, *judge.calls))


def test_text_that_nobody_vouches_for_is_not_sent() -> None:
    service = FakeModel("yes", local=False)
    model = guarded(service, "values")
    known = Text("a table", "schema")
    model.complete([Message("user", known)], Sampling())
    model.complete([Message("user", Text("a value", "values"))], Sampling())
    for text in ("a row", known + "!", f"{known}", "".join([known]), known.strip(), Text("a row")):
        with pytest.raises(PrivacyError, match="privacy = values"):
            model.complete([Message("system", known), Message("user", text)], Sampling())
    with pytest.raises(PrivacyError):
        model.complete([Message("user", known)], Sampling(json_schema={"type": "string", "enum": ["a row"]}))
    with pytest.raises(PrivacyError):
        model.complete([Message("user", known)], Sampling(json_schema={"properties": {"a row": {"type": "string"}}}))
    assert len(service.calls) == 2


def test_a_generator_of_somebody_else_is_refused_until_it_vouches(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqljury.stages.generate.base import Request

    monkeypatch.setitem(GENERATORS, "theirs", lambda task, *_: Request((Message("user", f"{task.text} go"),)))
    pipeline = Pipeline(
        Recipe("theirs", generate=(GeneratePart("theirs"),)), FakeModel("SELECT 1", local=False), privacy="schema"
    )
    with connect(clinic) as db, pytest.raises(PrivacyError, match="a step of this recipe"):
        pipeline.answer(Question(QUESTION), db)


def test_a_model_is_guarded_once_and_closed_as_before() -> None:
    model = FakeModel("x", local=False)
    pipeline = Pipeline(Recipe("r", generate=(GeneratePart(),)), model, models={"fake": model}, privacy="schema")
    again = replace(pipeline, privacy="values")
    assert isinstance(again.model, Private)
    assert again.model.model is model
    assert again.models["fake"] is again.model
    assert again.others() == []
    assert replace(pipeline, privacy="rows").model is model


def test_texts_keep_what_they_hold() -> None:
    note, value = Text("a", "schema"), Text("b", "values")
    assert held() == "schema"
    assert held(note, value) == "values"
    assert held(note, "c") == "rows"
    assert held(bullets([note, value])) == "values"
    assert held(unmarked(Text("<|im_start|>", "schema"))) == "schema"
    assert held(Message("user", note).content) == "schema"
    assert held(render("fix/error", reason=value)) == "values"
    assert held(render("fix/error", reason="b")) == "rows"
    assert held(render("fix/error", "schema", reason=value)) == "values"
    assert held(render("refine/look")) == "schema"


def test_a_repaired_query_is_shown_without_the_stored_value() -> None:
    schema = Schema("s", "sqlite", (Table("patient", ()),))
    task = Task(Question(QUESTION), schema, "", shows="schema")
    stored = QUERIES[0].replace("Xylovile", "Xyloville")
    fixes = (Fix(QUERIES[1], "no such table", "schema"), Fix(QUERIES[0], "no such text", "values"))
    candidate = Candidate(stored, "direct", fixes=fixes)
    assert written(candidate, task) == QUERIES[0]
    assert written(candidate, replace(task, shows="values")) == stored
    asked_again = replace(candidate, fixes=(*fixes, Fix(stored, "no rows", "model")))
    assert written(asked_again, task) == stored  # the model wrote it by itself
    quoted = replace(candidate, sql=stored.replace("'", '"'))
    assert written(quoted, task) == QUERIES[0]


def test_the_folder_says_it_and_the_option_decides(
    provider: Provider, clinic: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clinic.parent)
    file = clinic.parent / "sqljury.toml"
    file.write_text(
        f'model = "{provider.name}"\nrecipe = "fast"\nprivacy = "schema"\n[databases.clinic]\nurl = "clinic.db"\n'
    )
    known = load(clinic.parent).database("clinic")
    assert known.session()["privacy"] == "schema"
    assert _guarded(["ask", QUESTION, "--explain", "--no-cache"]) == 0
    assert "nothing of the content (privacy = schema)" in capsys.readouterr().out
    assert not any(values_in(body) for body in provider.bodies)
    assert _guarded(["ask", QUESTION, "--privacy", "rows", "--output", "json", "--no-cache"]) == 0
    assert json.loads(capsys.readouterr().out)["privacy"] == "rows"
    assert any(values_in(body) for body in provider.bodies)
    file.write_text('privacy = "none"\n[databases.clinic]\nurl = "clinic.db"\n')
    with pytest.raises(ProjectError, match="privacy must be one of schema, values, rows"):
        load(clinic.parent)


def test_another_word_is_refused(clinic: Path) -> None:
    with pytest.raises(InputError, match="privacy must be one of schema, values, rows, not 'none'"):
        Session(clinic, model=FakeModel("SELECT 1"), privacy="none")  # type: ignore[arg-type]


def test_a_run_over_a_folder_obeys_the_strictest_of_its_databases(
    provider: Provider, clinic: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLJURY_CACHE", str(clinic.parent / "cache"))
    folder, run = clinic.parent, clinic.parent / "run"
    settings = '[databases.clinic]\nurl = "clinic.db"\nprivacy = "values"\n[databases.other]\nurl = "other.db"\n'
    (folder / "sqljury.toml").write_text(f'default = "clinic"\nprivacy = "schema"\n{settings}')
    pairs = [
        {"question": f"How many patients after {n}?", "sql": f"SELECT count(*) FROM patient WHERE id > {n}"}
        for n in range(20)
    ]
    (folder / "examples.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    asked = ("--data", str(folder), "--model", provider.name)
    bench = ("bench", "run", *asked, "--recipe", "fast", "--limit", "2")
    judged = ("--model", provider.name, "--selector", "tournament")
    commands = (
        (*bench, "--out", str(run)),
        ("bench", "select", str(run), *judged),
        ("bench", "refine", str(run), "--out", str(folder / "refined"), "--recipe", "tssql", "--model", provider.name),
        ("tune", *asked, "--recipe", "fast", "--what", "repairs", "--trials", "1", "--out", str(folder / "tuned")),
    )
    for command in commands:
        before = len(provider.bodies)
        code = _guarded(list(command))
        assert code == 0, (command[:2], capsys.readouterr().err)
        assert not [found for body in provider.bodies[before:] for found in values_in(body)], command[:2]
    assert json.loads((run / "run.json").read_text())["dataset"]["privacy"] == "schema"
    assert provider.bodies
    (folder / "sqljury.toml").write_text('[databases.clinic]\nurl = "clinic.db"\n')
    assert _guarded([*bench, "--out", str(folder / "open")]) == 0
    assert any(values_in(body) for body in provider.bodies)
