"""Questions, checks and queries over HTTP: what comes back, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest
from web_servers import ALL, TALL, VOTES_OF_EIGHT, Serve, events

from sqljury.errors import ModelError, WeightsError
from sqljury.llm.fake import Call
from sqljury.types.answer import WORDS

HOSTILE = [
    line.replace("⏎", "\n")  # as the corpus writes a line end within a statement
    for line in (Path(__file__).parents[1] / "db" / "hostile.sql").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.lower().startswith(("--", "select", "with", "values", "("))
]
"""Statements that do more than read; those that only take long are the engines' tests' matter."""

EIGHT = [TALL, TALL, TALL, TALL, TALL, ALL, ALL, "SELECT nothing FROM nowhere"]


def dealt(call: Call) -> list[str]:
    return EIGHT[1:] if call.n == 7 else EIGHT[:1]


def test_an_answer_has_rows_query_confidence_and_groups(serve: Serve) -> None:
    client = serve(dealt, recipe=VOTES_OF_EIGHT)
    response = client.post("/v1/ask", json={"database": "people", "question": "Who is tall?"})
    assert response.status_code == 200
    answer = response.json()
    assert (answer["sql"], answer["rows"], answer["row_count"]) == (TALL, [["Ann"], ["Cy"]], 2)
    assert answer["id"] == response.headers["x-request-id"]
    assert answer["confidence"] is not None
    assert [(group["votes"], group["chosen"], len(group["rows"])) for group in answer["groups"][:2]] == [
        (5, True, 2),
        (2, False, 3),
    ]
    assert answer["agreement"] == pytest.approx(5 / len(answer["candidates"]))
    assert answer["confidence_in_words"]


def test_a_single_query_has_a_confidence_and_no_agreement(serve: Serve) -> None:
    answer = serve().post("/v1/ask", json={"database": "people", "question": "Who is tall?"}).json()
    assert answer["agreement"] is None
    assert 0 < answer["confidence"] < 1
    assert answer["confidence_in_words"] in {words for _, words in WORDS}


@pytest.mark.parametrize("how", ["body", "header"])
def test_a_stream_tells_stages_candidates_and_the_answer(serve: Serve, how: str) -> None:
    client = serve(dealt, recipe=VOTES_OF_EIGHT)
    body = {"database": "people", "question": "Who is tall?", "stream": how == "body"}
    headers = {"Accept": "text/event-stream"} if how == "header" else {}
    response = client.post("/v1/ask", json=body, headers=headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    told = events(response.text)
    kinds = [kind for kind, _ in told]
    assert kinds[0] == "queued"
    assert kinds.count("candidate") == 8
    assert kinds[-1] == "answer"
    assert kinds.index("stage") < kinds.index("candidate")
    assert json.loads(told[-1][1])["sql"] == TALL


def test_a_stream_without_an_answer_ends_with_the_problem(serve: Serve) -> None:
    response = serve("no idea").post("/v1/ask", json={"database": "people", "question": "Who?", "stream": True})
    kind, data = events(response.text)[-1]
    assert (response.status_code, kind, json.loads(data)["code"]) == (200, "problem", "no-answer")


@pytest.mark.parametrize(
    ("script", "question", "status", "code"),
    [
        ("no idea", "Who?", 422, "no-answer"),
        (TALL, "delete all persons", 400, "bad-question"),
        (ModelError("no key in /home/me/.config"), "Who?", 503, "model-unusable"),
        (WeightsError("/home/me/weights.gguf is damaged"), "Who?", 503, "model-unusable"),
        (ZeroDivisionError("in /home/me/module.py"), "Who?", 500, "internal"),
    ],
)
def test_errors_are_problems_that_name_no_paths(
    serve: Serve, script: str | Exception, question: str, status: int, code: str
) -> None:
    response = serve(script).post("/v1/ask", json={"database": "people", "question": question})
    problem = response.json()
    assert (response.status_code, problem["code"], problem["status"]) == (status, code, status)
    assert problem["request_id"] == response.headers["x-request-id"]
    assert response.headers["content-type"] == "application/problem+json"
    assert "/home" not in response.text
    assert problem["detail"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"", 400),
        (b"[]", 400),
        (b"\xff\xfe", 400),
        (b'"text"', 400),
        (b"{}", 422),
        (b'{"question": ""}', 422),
        (b'{"question": 7, "database": "people"}', 422),
        (b'{"question": "Who?", "database": "people", "recipee": "x"}', 422),
        (json.dumps({"question": "x" * 5_000, "database": "people"}).encode(), 422),
        (b'{"question": "Who?", "database": "people", "evidence": "' + b"x" * 300_000 + b'"}', 413),
        (b"[" * 100_000, 400),
        (b'{"question": "Who \\ud800?", "database": "people"}', 422),
    ],
)
def test_malformed_requests(serve: Serve, content: bytes, status: int) -> None:
    response = serve().post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    assert response.json()["detail"]


def test_a_body_that_does_not_say_its_length_is_bounded_too(serve: Serve) -> None:
    parts = (b"x" * 50_000 for _ in range(20))
    response = serve().post("/v1/ask", content=parts, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (413, "too-large")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_read(serve: Serve, kind: str) -> None:
    content = b'{"question": "Who?", "database": "people"}'
    response = serve().post("/v1/ask", content=content, headers={"Content-Type": kind})
    assert response.status_code == 415


@pytest.mark.parametrize("name", ["nobody", "", "../people", "people\n"])
def test_an_unknown_database(serve: Serve, name: str) -> None:
    response = serve().post("/v1/ask", json={"database": name, "question": "Who?"})
    assert (response.status_code, response.json()["code"]) == (404, "unknown-database")


def test_hostile_sql_is_refused_and_changes_nothing(serve: Serve, people: Path) -> None:
    client, before = serve(), hashlib.sha256(people.read_bytes()).hexdigest()
    assert len(HOSTILE) > 50
    for sql in HOSTILE:
        response = client.post("/v1/query", json={"database": "people", "sql": sql})
        assert response.status_code in (422, 503), sql
        assert "secret folder" not in response.text, sql
    assert hashlib.sha256(people.read_bytes()).hexdigest() == before
    assert sorted(file.name for file in people.parent.iterdir()) == ["people.db"]


def test_a_query_of_ones_own(serve: Serve) -> None:
    client = serve()
    result = client.post("/v1/query", json={"database": "people", "sql": "SELECT id, salary FROM person ORDER BY id"})
    assert result.json()["rows"] == [[1, 10], [2, "9007199254740993"], [3, 30]]
    failed = client.post("/v1/query", json={"database": "people", "sql": "SELECT x FROM person"})
    assert (failed.status_code, failed.json()["code"]) == (422, "query-failed")


def test_rows_are_bounded_and_csv_has_all_defused(serve: Serve) -> None:
    client = serve(rows=1)
    body = {"database": "people", "sql": "SELECT name FROM person ORDER BY id"}
    shown = client.post("/v1/query", json=body).json()
    assert (shown["rows"], shown["row_count"], shown["truncated"], shown["limit_reached"]) == (
        [["Ann"]],
        3,
        True,
        False,
    )
    response = client.post("/v1/query", json=body, headers={"Accept": "text/csv"})
    assert response.headers["content-disposition"] == 'attachment; filename="people.csv"'
    assert list(csv.reader(io.StringIO(response.text))) == [["name"], ["Ann"], ["'=Bo"], ["Cy"]]


def test_characters_that_headers_and_json_lack(serve: Serve) -> None:
    client = serve()
    odd = client.post("/v1/query", json={"database": "people", "sql": "SELECT 'é\u2028', 1e999, x'00ff'"}).json()
    assert odd["rows"] == [["é\u2028", "inf", "0x00ff"]]
    nul = client.post("/v1/query", json={"database": "people", "sql": "SELECT 1\x00, 2"})
    assert nul.status_code == 422
    half = b'{"model": "sqljury/people", "messages": [{"role": "user", "content": "Who \\udc00?"}]}'
    response = client.post("/v1/chat/completions", content=half, headers={"Content-Type": "application/json"})
    assert response.status_code in (200, 400, 422), response.text


def test_check_says_whether_a_query_is_right(serve: Serve) -> None:
    client = serve(lambda _: TALL)
    body = {"database": "people", "question": "Who is tall?", "sql": "SELECT nothing FROM person"}
    found = client.post("/v1/check", json=body).json()
    assert (found["verdict"], found["correction"]["sql"]) == ("wrong", TALL)
    refused = client.post("/v1/check", json={**body, "sql": "DROP TABLE person"})
    assert (refused.status_code, refused.json()["code"]) == (422, "query-refused")


def test_large_integers_are_texts_wherever_they_stand(serve: Serve) -> None:
    def numbers(text: str) -> list[int]:
        found: list[int] = []
        json.loads(text, parse_int=lambda digits: found.append(int(digits)))
        return found

    highest, lowest = "SELECT max(salary) FROM person", "SELECT min(salary) + 9007199254740992 FROM person"
    client = serve(lambda call: [highest, highest, lowest] if call.n > 1 else highest, recipe=VOTES_OF_EIGHT)
    asked = {"database": "people", "question": "What is the highest salary?"}
    talk = {"model": "sqljury/people", "messages": [{"role": "user", "content": asked["question"]}]}
    answered = client.post("/v1/ask", json={**asked, "verify": True})
    checked, corrected = (
        client.post("/v1/check", json={**asked, "sql": sql}) for sql in (lowest, "SELECT nothing FROM person")
    )
    assert checked.json()["result"]["rows"] == [["9007199254741002"]]
    assert corrected.json()["correction"]["rows"] == answered.json()["rows"] == [["9007199254740993"]]
    assert answered.json()["verified"]["test"] is not None
    streamed = client.post("/v1/ask", json={**asked, "verify": True, "stream": True}).text
    chatted = client.post("/v1/chat/completions", json={**talk, "stream": True}).text
    kept = client.get(f"/v1/history/{answered.json()['id']}").text
    lines = [line.removeprefix("data: ") for line in f"{streamed}{chatted}".splitlines() if line.startswith("data: {")]
    for text in (answered.text, checked.text, corrected.text, kept, *lines):
        assert max(numbers(text), default=0) <= 2**53, text


@pytest.mark.parametrize("content", [None, b"", b"no database" * 1_000], ids=["gone", "empty", "another file"])
def test_a_database_that_goes_away_and_comes_back(serve: Serve, people: Path, content: bytes | None) -> None:
    client = serve()
    asked = ("/v1/ask", {"database": "people", "question": "Who is tall?"})
    queried = ("/v1/query", {"database": "people", "sql": TALL})
    for path, body in (asked, queried):
        assert client.post(path, json=body).status_code == 200
    away = people.with_name("away.db")
    people.rename(away)
    if content is not None:
        people.write_bytes(content)
    for path, body in (asked, queried):
        gone = client.post(path, json=body)
        assert (gone.status_code, gone.json()["code"]) == (503, "database-unavailable"), path
        assert gone.headers["retry-after"]
        assert "secret folder" not in gone.text
    away.replace(people)
    for path, body in (asked, queried):
        assert client.post(path, json=body).json()["rows"] == [["Ann"], ["Cy"]]


def test_the_fake_model_is_asked_with_evidence(serve: Serve) -> None:
    seen: list[str] = []

    def script(call: Call) -> str:
        seen.append(call.prompt)
        return TALL

    body = {"database": "people", "question": "Who is tall?", "evidence": "tall means above 180"}
    assert serve(script).post("/v1/ask", json=body).status_code == 200
    assert "tall means above 180" in seen[0]
