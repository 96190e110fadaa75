"""Databases, schemas, history, health, counters, OpenAI's form, and the OpenAPI document."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from web_servers import TALL, Serve, token_file

from sqljury.access.rules import Access
from sqljury.web.history import ANSWER_BYTES, History

ASK = {"database": "people", "question": "Who is tall?"}


def test_databases_and_schema(serve: Serve) -> None:
    client = serve(access=Access(deny=("person.salary",)))
    listed = client.get("/v1/databases").json()["databases"]
    assert [(one["name"], one["engine"]) for one in listed] == [("people", "SQLite"), ("other", "SQLite")]
    response = client.get("/v1/schema", params={"database": "people"})
    (table,) = response.json()["tables"]
    assert [column["name"] for column in table["columns"]] == ["id", "name", "height"]
    assert response.json()["name"] == "people"
    assert "secret folder" not in response.text
    assert client.get("/v1/schema", params={"database": "x"}).status_code == 404


def test_what_a_service_gets_of_each_database(serve: Serve) -> None:
    def said(**options: Any) -> dict[str, str | None]:
        listed = serve(**options).get("/v1/databases").json()["databases"]
        return {one["name"]: one["privacy"] for one in listed}

    assert said(privacy="schema") == {"people": None, "other": None}  # the model is in this process
    assert said(local=False, privacy="schema") == {"people": "schema", "other": "rows"}


def test_history_has_the_latest_first_and_is_forgotten(serve: Serve) -> None:
    client = serve(history=3)
    client.post("/v1/ask", json=ASK)
    client.post("/v1/ask", json={**ASK, "question": "drop table person"})
    client.post("/v1/query", json={"database": "people", "sql": "SELECT 1"})
    query, refused, asked = client.get("/v1/history").json()["entries"]
    assert (query["kind"], query["sql"]) == ("query", "SELECT 1")
    assert refused["problem"] == "bad-question"
    assert (asked["question"], asked["sql"], asked["rows"]) == ("Who is tall?", TALL, 2)
    assert len(client.get("/v1/history", params={"limit": 1}).json()["entries"]) == 1
    assert client.get("/v1/history", params={"limit": 0}).status_code == 422
    assert client.delete("/v1/history").status_code == 204
    assert client.get("/v1/history").json()["entries"] == []


def test_an_answer_of_before_is_shown_as_it_was_given(serve: Serve, people: Path) -> None:
    file, headers = token_file(ann="", bo="")
    client = serve(tokens=file, history=2)
    made = client.post("/v1/ask", json=ASK, headers=headers["ann"]).json()
    with closing(sqlite3.connect(people)) as connection, connection:
        connection.execute("DELETE FROM person")
    (entry,) = client.get("/v1/history", headers=headers["ann"]).json()["entries"]
    assert (entry["id"], entry["kept"]) == (made["id"], True)
    path = f"/v1/history/{made['id']}"
    assert client.get(path, headers=headers["ann"]).json() == made
    assert client.get(path, headers=headers["bo"]).status_code == 404
    for _ in range(2):
        client.post("/v1/query", json={"database": "people", "sql": "SELECT 1"}, headers=headers["ann"])
    assert client.get(path, headers=headers["ann"]).json()["code"] == "unknown-answer"


def test_answers_are_kept_within_a_bound_and_forgotten_with_their_entries() -> None:
    history = History(size=10, kept_bytes=1_500)
    for number in range(5):
        history.add("ann", id=str(number), kind="ask")
        history.keep("ann", str(number), {"rows": [random.Random(number).randbytes(400).hex()]})
    assert [entry["kept"] for entry in history.of("ann", 10)] == [True, True, True, False, False]
    history.keep("ann", "4", {"rows": ["x" * ANSWER_BYTES]})
    assert history.answer("ann", "4") is not None
    history.keep("bo", "4", {"rows": []})
    assert history.answer("bo", "4") is None
    history.clear("ann")
    assert history.answer("ann", "4") is None


def test_health_and_counters(serve: Serve) -> None:
    client = serve()
    assert client.get("/healthz").json() == {"status": "ok"}
    assert [client.head(path).status_code for path in ("/healthz", "/")] == [200, 200]
    client.post("/v1/ask", json=ASK)
    client.get("/nowhere/at/all")
    text = client.get("/metrics").text
    assert 'sqljury_questions_total{outcome="answered"} 1' in text
    assert "sqljury_model_calls_total 1" in text
    assert 'sqljury_http_requests_total{method="POST",route="/v1/ask",status="200"} 1' in text
    assert "nowhere" not in text
    assert "people" not in text


def test_an_unknown_address_and_a_wrong_method(serve: Serve) -> None:
    client = serve()
    assert client.get("/v1/nothing").json()["code"] == "not-found"
    refused = client.get("/v1/ask")
    assert (refused.status_code, refused.json()["detail"]) == (405, "this address takes POST, not GET")
    wrong = client.put("/v1/history")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, GET")


def chat(client: Any, **more: Any) -> Any:
    body = {"model": "sqljury/people", "messages": [{"role": "user", "content": "Who is tall?"}], **more}
    return client.post("/v1/chat/completions", json=body)


def test_an_openai_client_gets_a_completion_with_the_evidence(serve: Serve) -> None:
    made = chat(serve(), temperature=0.3, user="me").json()
    (choice,) = made["choices"]
    assert made["object"] == "chat.completion"
    assert "| Ann |" in choice["message"]["content"]
    assert TALL in choice["message"]["content"]
    assert made["sqljury"]["rows"] == [["Ann"], ["Cy"]]
    assert made["usage"]["total_tokens"] > 0


def test_an_openai_client_gets_a_stream(serve: Serve) -> None:
    lines = chat(serve(), stream=True).text.strip().split("\n\n")
    assert lines[-1] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1] if line.startswith("data: ")]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert "| Ann |" in text
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["sqljury"]["sql"] == TALL
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"model": "sqljury/nobody"}, 404, "unknown-database"),
        ({"model": "gpt-9"}, 404, "unknown-database"),
        ({"messages": [{"role": "assistant", "content": "hello"}]}, 400, "bad-question"),
        ({"messages": []}, 422, "bad-value"),
        ({"messages": [{"role": "user", "content": "delete all persons"}]}, 400, "bad-question"),
    ],
)
def test_errors_in_openais_form(serve: Serve, more: dict[str, Any], status: int, code: str) -> None:
    response = chat(serve(), **more)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_an_openai_client_is_told_that_the_question_cannot_be_answered(serve: Serve) -> None:
    asked = {"messages": [{"role": "user", "content": "What is the wingspan of the <b>dragons</b>?"}]}
    made = chat(serve("SELECT avg(height) FROM person"), **asked).json()
    text = made["choices"][0]["message"]["content"]
    assert made["sqljury"]["abstention"]["kind"] == "unanswerable"
    assert text.startswith("**The database has nothing called")
    assert "<b>" not in text


def test_cells_of_a_table_are_no_markup(serve: Serve) -> None:
    sql = "SELECT '| ![x](http://evil.example/?q=1) <b>' AS cell"
    text = chat(serve(sql)).json()["choices"][0]["message"]["content"]
    assert "![x]" not in text.split("```")[0]
    assert "<b>" not in text.split("```")[0]


def test_models_are_the_databases(serve: Serve) -> None:
    assert [one["id"] for one in serve().get("/v1/models").json()["data"]] == ["sqljury/people", "sqljury/other"]


def test_the_openapi_document_describes_what_there_is(serve: Serve) -> None:
    document = serve().get("/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    described = {(method, path) for path, item in document["paths"].items() for method in item}
    assert ("post", "/v1/ask") in described
    assert not any(path.startswith(("/login", "/assets")) for _, path in described)
    schemas = document["components"]["schemas"]
    references = {part.split('"')[0] for part in json.dumps(document).split('"$ref": "#/components/schemas/')[1:]}
    assert references <= schemas.keys()
    for path, item in document["paths"].items():
        for operation in item.values():
            assert operation["summary"], path
            for status, response in operation["responses"].items():
                assert response["description"], (path, status)
                if int(status) >= 400:
                    assert "application/problem+json" in response["content"], (path, status)
