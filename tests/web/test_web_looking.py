"""Databases, schemas, history, health, counters, OpenAI's form, and the OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from web_servers import TALL, Serve

from sqljury.access.rules import Access

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


def test_health_and_counters(serve: Serve) -> None:
    client = serve()
    assert client.get("/healthz").json() == {"status": "ok"}
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
    assert client.get("/v1/ask").status_code == 405
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
