"""Spans of questions, by the SDK's exporter that keeps them in memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, traces
from sqljury.db.connect import connect
from sqljury.errors import MissingExtraError, NoAnswerError
from sqljury.evaluation import svg
from sqljury.experiments.report import trace
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, LinkPart, Recipe
from sqljury.traces import Span
from sqljury.types import Question

pytest.importorskip("opentelemetry.sdk")

SECRET = "How many wombats named Zyx?"
RECIPE = Recipe("mine", generate=(GeneratePart(), GeneratePart(samples=2, temperature=0.5)))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    import sqlite3

    file = tmp_path / "zoo.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE wombat (name TEXT); INSERT INTO wombat VALUES ('Zyx');CREATE TABLE keeper (name TEXT)"
        )
    connection.close()
    return file


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(traces.CONTENT, raising=False)


def asked(database: Path, says: str, recipe: Recipe = RECIPE, broken: bool = False) -> list[Span]:
    pipeline = Pipeline(recipe, FakeModel(says, name="openai:some"))
    with traces.kept() as spans, connect(database) as db:
        if broken:
            with pytest.raises(NoAnswerError):
                pipeline.answer(Question(SECRET), db)
        else:
            pipeline.answer(Question(SECRET), db)
    return spans


@pytest.mark.usefixtures("plain")
def test_a_question_is_one_trace(database: Path) -> None:
    spans = asked(database, "SELECT count(*) FROM wombat WHERE name = 'Zyx'")
    [root] = [span for span in spans if not span.parent]
    assert root.name == "invoke_workflow mine"
    assert root.attributes[traces.DATABASE] == "sqlite"
    assert root.attributes[traces.CANDIDATES] == 3
    known = {span.id for span in spans}
    assert all(span.parent in known for span in spans if span is not root)
    steps = [span.name for span in sorted(spans, key=lambda one: one.start) if span.parent == root.id]
    assert [name for name in steps if name in ("generate", "repair", "select")] == ["generate", "repair", "select"]
    assert sum(span.name == "repair" for span in spans) == 1
    calls = [span for span in spans if span.name == "chat openai:some"]
    assert [call.attributes[traces.CHOICES] for call in sorted(calls, key=lambda one: one.start)] == [1, 2]
    by_id = {span.id: span for span in spans}
    for call in calls:
        assert by_id[by_id[call.parent].parent].name == "generate"
        assert call.attributes[traces.OPERATION] == "chat"
        assert call.attributes[traces.PROVIDER] == "openai"
        assert call.attributes[traces.OUTPUT_TOKENS] > 0
    total = sum(call.attributes[traces.INPUT_TOKENS] for call in calls)
    assert root.attributes[traces.INPUT_TOKENS] == total > 0


@pytest.mark.usefixtures("plain")
def test_no_span_holds_what_was_asked_read_or_written(database: Path) -> None:
    spans = asked(database, "SELECT count(*) FROM wombat WHERE name = 'Zyx'")
    spans += asked(database, "SELECT nothing FROM wombat WHERE name = 'Zyx'", broken=True)
    text = repr([(span.name, span.attributes) for span in spans])
    assert "wombat" not in text
    assert "Zyx" not in text


@pytest.mark.usefixtures("plain")
def test_a_trace_names_the_question_of_a_dataset_by_its_id(database: Path) -> None:
    pipeline = Pipeline(RECIPE, FakeModel("SELECT count(*) FROM wombat"))
    with traces.kept() as spans, connect(database) as db:
        pipeline.answer(Question(SECRET, id="dev-0042"), db)
    [root] = [span for span in spans if not span.parent]
    assert root.attributes[traces.QUESTION_ID] == "dev-0042"
    assert all(traces.QUESTION_ID not in span.attributes for span in asked(database, "SELECT count(*) FROM wombat"))


@pytest.mark.usefixtures("plain")
def test_systems_have_the_names_of_the_conventions() -> None:
    with traces.kept() as spans:
        for dialect in ("postgres", "duckdb"):
            with traces.question(Question(SECRET), "fast", dialect):
                pass
    assert [span.attributes[traces.DATABASE] for span in spans] == ["postgresql", "duckdb"]


@pytest.mark.usefixtures("plain")
def test_an_error_is_named_by_its_kind_alone(database: Path) -> None:
    spans = asked(database, "SELECT nothing FROM wombat", broken=True)
    [root] = [span for span in spans if not span.parent]
    assert root.failed
    assert root.attributes[traces.ERROR_TYPE] == "NoAnswerError"


def test_content_only_where_it_was_asked_for(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(traces.CONTENT, "true")
    spans = asked(database, "SELECT count(*) FROM wombat")
    [root] = [span for span in spans if not span.parent]
    assert root.attributes[traces.QUESTION] == SECRET
    call = next(span for span in spans if span.name.startswith("chat"))
    read = json.loads(call.attributes[traces.INPUT_MESSAGES])
    assert any(SECRET in part["content"] for message in read for part in message["parts"])
    [written] = json.loads(call.attributes[traces.OUTPUT_MESSAGES])
    assert written["parts"][0]["content"] == "SELECT count(*) FROM wombat"
    assert written["finish_reason"] == "stop"


@pytest.mark.usefixtures("plain")
def test_linking_is_a_step(database: Path) -> None:
    def says(call: Call) -> str:
        return '["wombat"]' if "able" in call.messages[-1].content and call.sampling.json_schema else "SELECT 1"

    recipe = Recipe("linked", generate=(GeneratePart(),), link=LinkPart("model"))
    pipeline = Pipeline(recipe, FakeModel(says))
    with traces.kept() as spans, connect(database) as db:
        pipeline.answer(Question(SECRET), db)
    link = next(span for span in spans if span.name == "link")
    assert any(span.parent == link.id and span.name == "chat fake" for span in spans)


@pytest.mark.usefixtures("plain")
def test_the_page_shows_every_span_and_escapes_it(database: Path) -> None:
    spans = asked(database, "SELECT count(*) FROM wombat")
    hostile = Span("x", "", "<script>alert(1)</script>", 0, 5_000_000, {"a<b": "<img src=x>"}, True)
    page = trace.html([*spans, hostile])
    assert page.startswith(trace.BEGINS)
    assert page.count("<details>") == len(spans) + 1
    assert "<script" not in page
    assert "<img" not in page
    assert "script-src" not in page
    assert page.count("failed</span>") == 1


def test_bars_lie_where_their_times_are() -> None:
    drawn = svg.spans([("all", 0.0, 4.0, 0), ("half", 2.0, 4.0, 1)], "t", "s")
    room = svg.WIDTH - 176 - 14
    assert f'x="176.0" y="9" width="{room:.1f}"' in drawn
    assert f'x="{176 + room / 2:.1f}" y="29" width="{room / 2:.1f}"' in drawn


def test_export_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(traces.EXPORTER, raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace.export", None)
    traces.export_by_environment()  # it was not asked for
    monkeypatch.setenv(traces.EXPORTER, "otlp")
    with pytest.raises(MissingExtraError, match=r"sqljury\[traces\]"):
        traces.export_by_environment()
