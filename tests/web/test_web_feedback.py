"""Thumbs, corrections, readings that somebody chose, follow-ups, and the search for values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from web_servers import ALL, TALL, VOTES_OF_EIGHT, Open, Serve, ask, token_file

from sqljury import FakeModel, Session, connect
from sqljury.access.rules import Access
from sqljury.llm.fake import Call
from sqljury.project import load
from sqljury.project.feedback import read
from sqljury.web.app import create
from sqljury.web.databases import Databases, Served
from sqljury.web.feedback import TIMES

ASK = {"database": "people", "question": "Who is tall?"}
PIECES = {"database": "people", "question": "How many pieces came back?"}
SUM, COUNT = "SELECT SUM(quantity) FROM back", "SELECT COUNT(*) FROM back"


def two_readings(call: Call) -> list[str]:
    """Half of eight queries sum, the other half counts."""
    return [SUM, COUNT, SUM, COUNT, SUM, COUNT, COUNT] if call.n == 7 else [SUM]


@pytest.fixture
def shop(people: Path) -> Iterator[tuple[TestClient, Path, FakeModel]]:
    """A server on a context folder."""
    folder = people.parent
    (folder / "sqljury.toml").write_text('[databases.people]\nurl = "people.db"\n')
    with connect(people) as database:
        project = load(folder)
        model = FakeModel(two_readings)
        served = {"people": Served(database, project=project, known="people")}
        with (
            Session(database, recipe=VOTES_OF_EIGHT, model=model, cache=False) as base,
            TestClient(create(Databases(base, served)), base_url="http://localhost:8000") as client,
        ):
            yield client, folder, model


@pytest.fixture
def people(people: Path) -> Path:
    import sqlite3

    with sqlite3.connect(people) as connection:
        connection.executescript(
            "CREATE TABLE back (id INTEGER PRIMARY KEY, quantity INTEGER); INSERT INTO back VALUES (1, 5), (2, 7);"
        )
    connection.close()
    return people


def test_thumbs_and_corrections_are_what_sqljury_feedback_reads(shop: tuple[TestClient, Path, FakeModel]) -> None:
    client, folder, _ = shop
    made = client.post("/v1/ask", json=PIECES).json()
    up = client.post("/v1/feedback", json={"id": made["id"], "good": True})
    assert up.json() == {"id": made["id"], "kept": "folder"}
    comment = "pieces means the sum of quantity"
    down = {"id": made["id"], "good": False, "correction": SUM, "comment": comment}
    assert client.post("/v1/feedback", json=down).status_code == 200
    first, second = read(load(folder))
    assert (first.question, first.sql, first.good, first.database) == (PIECES["question"], made["sql"], True, "people")
    assert (second.good, second.correction, second.comment) == (False, SUM, comment)
    (entry,) = client.get("/v1/history").json()["entries"]
    assert entry["feedback"] == {"good": False, "correction": SUM, "comment": comment}


def test_without_a_folder_they_are_kept_by_the_server(serve: Serve) -> None:
    client = serve()
    made = client.post("/v1/ask", json=ASK).json()
    assert client.post("/v1/feedback", json={"id": made["id"], "good": True}).json()["kept"] == "server"
    assert client.get("/v1/history").json()["entries"][0]["feedback"] == {"good": True}


def test_what_cannot_be_judged(serve: Serve) -> None:
    file, headers = token_file(ann="", bob="")
    client = serve(tokens=file)
    made = client.post("/v1/ask", json=ASK, headers=headers["ann"]).json()

    def judge(who: str = "ann", **body: Any) -> tuple[int, str]:
        route = "reading" if "reading" in body else "feedback"
        response = client.post(f"/v1/{route}", json={"id": made["id"], **body}, headers=headers[who])
        return response.status_code, response.json().get("code", "")

    assert judge("bob", good=True) == (404, "unknown-answer")
    assert judge() == (422, "bad-value")
    assert judge(good=1) == (422, "bad-value")
    assert judge(reading=0) == (404, "unknown-answer")
    assert judge(good=True, database="other") == (422, "bad-value")
    assert [judge(good=True)[0] for _ in range(TIMES)].count(200) == TIMES - 1
    assert judge(good=True) == (400, "bad-request")


def test_a_reading_that_was_meant_is_a_note_from_then_on(shop: tuple[TestClient, Path, FakeModel]) -> None:
    client, folder, model = shop
    made = client.post("/v1/ask", json=PIECES).json()
    assert [reading["meaning"] for reading in made["readings"]] == ["the sum of quantity", "the number of rows of back"]
    assert client.post("/v1/reading", json={"id": made["id"], "reading": 1}).json()["kept"] == "folder"
    again = client.post("/v1/ask", json=PIECES).json()
    assert (again["rows"], again["readings"]) == ([[2]], [])
    words = made["readings"][0]["words"]
    assert again["remarks"] == [f"{words!r} is read as the number of rows of back, as the notes say."]
    assert "the number of rows of back" in model.calls[-1].prompt
    assert (folder / "glossary.yaml").read_text() == f'"{words}": "the number of rows of back"\n'
    client.post("/v1/reading", json={"id": made["id"], "reading": 0})
    assert (folder / "glossary.yaml").read_text() == f'"{words}": "the sum of quantity"\n'
    assert client.post("/v1/ask", json=PIECES).json()["rows"] == [[12]]


@pytest.mark.parametrize(("file", "text"), [("glossary.yaml", "a: [b"), ("feedback.jsonl", None)])
def test_a_fault_of_the_folder_is_the_operators(
    shop: tuple[TestClient, Path, FakeModel], file: str, text: str | None
) -> None:
    """Damaged after the server was started: a file that is not YAML, and a folder where a file belongs."""
    client, folder, _ = shop
    made = client.post("/v1/ask", json=PIECES).json()
    if text is None:
        (folder / file).mkdir()
    else:
        (folder / file).write_text(text)
    said = {"good": True} if text is None else {"reading": 1}
    refused = client.post(f"/v1/{'feedback' if text is None else 'reading'}", json={"id": made["id"], **said})
    assert (refused.status_code, refused.json()["code"]) == (503, "folder-faulty")
    assert str(folder) not in refused.text
    assert file not in refused.text
    assert client.post("/v1/ask", json=PIECES).status_code == 200


def test_who_sees_less_chooses_for_those_who_see_the_same(people: Path, make: Callable[..., Any]) -> None:
    (people.parent / "sqljury.toml").write_text('[databases.people]\nurl = "people.db"\n')
    file, headers = token_file(ann='deny = ["person.salary"]', bob="")
    application = make(two_readings, tokens=file, recipe=VOTES_OF_EIGHT)
    served = application.server.databases.served
    served["people"] = Served(served["people"].database, project=load(people.parent), known="people")
    with TestClient(application, base_url="http://localhost:8000") as client:
        made = client.post("/v1/ask", json=PIECES, headers=headers["ann"]).json()
        chosen = {"id": made["id"], "reading": 1}
        assert client.post("/v1/reading", json=chosen, headers=headers["ann"]).json()["kept"] == "server"
        assert client.post("/v1/ask", json=PIECES, headers=headers["ann"]).json()["rows"] == [[2]]
        own = client.post("/v1/ask", json=PIECES, headers=headers["bob"]).json()
        assert len(own["readings"]) == 2
        chosen = {"id": own["id"], "reading": 1}
        assert client.post("/v1/reading", json=chosen, headers=headers["bob"]).json()["kept"] == "server", (
            "ann reads it"
        )
    assert not (people.parent / "glossary.yaml").exists()


def follow_up(call: Call) -> str:
    if "You write:" in call.prompt:
        return "Who is taller than 180?"
    return TALL if "Who is taller than 180?" in call.prompt else ALL


def test_a_follow_up_is_written_out_and_shown(serve: Serve) -> None:
    client = serve(follow_up)
    body = {"database": "people", "question": "and taller than 180?", "earlier": ["Who is there?"]}
    made = client.post("/v1/ask", json=body).json()
    assert (made["question"], made["asked"]) == ("Who is taller than 180?", "and taller than 180?")
    assert made["sql"] == TALL
    assert client.get("/v1/history").json()["entries"][0]["question"] == "Who is taller than 180?"
    streamed = client.post("/v1/ask", json={**body, "stream": True}).text
    assert "understood as Who is taller than 180?" in streamed
    alone = client.post("/v1/ask", json={"database": "people", "question": "and taller than 180?"}).json()
    assert (alone["question"], alone["asked"]) == ("and taller than 180?", "")
    assert client.post("/v1/ask", json={**body, "earlier": ["x"] * 9}).status_code == 422


def test_an_openai_client_may_point_back(serve: Serve) -> None:
    messages = [
        {"role": "user", "content": "Who is there?"},
        {"role": "assistant", "content": "Three people."},
        {"role": "user", "content": "and taller than 180?"},
    ]
    body = {"model": "sqljury/people", "messages": messages}
    made = serve(follow_up).post("/v1/chat/completions", json=body).json()
    assert made["sqljury"]["sql"] == TALL
    assert made["choices"][0]["message"]["content"].startswith("Understood as: Who is taller than 180?\n\n| ")


def test_an_openai_client_is_shown_both_readings(shop: tuple[TestClient, Path, FakeModel]) -> None:
    body = {"model": "sqljury/people", "messages": [{"role": "user", "content": PIECES["question"]}]}
    made = shop[0].post("/v1/chat/completions", json=body).json()
    lines = made["choices"][0]["message"]["content"].splitlines()
    assert (
        lines[0]
        == f"{made['sqljury']['readings'][0]['words']} can be read in two ways, and the candidates are divided:"
    )
    assert lines[2:4] == ["1. the sum of quantity (4 of 8): 12, as below", "2. the number of rows of back (4 of 8): 2"]
    assert lines[5] == "Reply with its number to say which is meant; it is remembered for later questions."


def test_an_openai_client_chooses_a_reading_by_its_number(shop: tuple[TestClient, Path, FakeModel]) -> None:
    client, folder, model = shop

    def talk(*said: str) -> Any:
        messages = [{"role": "user", "content": text} for text in said]
        return client.post("/v1/chat/completions", json={"model": "sqljury/people", "messages": messages}).json()

    pieces = PIECES["question"]
    assert len(talk(pieces)["sqljury"]["readings"]) == 2
    chosen = talk(pieces, "2.")["sqljury"]
    assert (chosen["question"], chosen["rows"], chosen["readings"]) == (pieces, [[2]], [])
    assert "the number of rows of back" in (folder / "glossary.yaml").read_text()
    assert talk(pieces, "2", "1")["sqljury"]["rows"] == [[12]]
    assert talk(pieces, "2", pieces)["sqljury"]["rows"] == [[12]]  # the number in the middle changes nothing
    calls = len(model.calls)
    assert talk(pieces, "3")["sqljury"]["question"] != pieces  # a question like any other
    assert len(model.calls) > calls


def test_values_are_found_but_not_masked_ones(serve: Serve) -> None:
    client = serve()
    asked = {"database": "people", "text": "Ann"}
    found = client.get("/v1/search", params=asked).json()["found"]
    assert ("value", "person", "name", "Ann") in [
        (one["kind"], one["table"], one["column"], one["value"]) for one in found
    ]
    assert client.get("/v1/search", params={**asked, "text": ""}).status_code == 422
    assert client.get("/v1/search", params={**asked, "database": "x"}).status_code == 404
    masked = serve(access=Access(mask=("person.name",))).get("/v1/search", params=asked)
    assert "Ann" not in json.dumps(masked.json())


def test_rules_for_rows_of_a_token(serve: Serve) -> None:
    file, headers = token_file(ann="rows = [\"person: name = 'Ann'\"]", bob="")
    client = serve(ALL, tokens=file)
    asked = {"database": "people", "question": "Who is there?"}
    assert client.post("/v1/ask", json=asked, headers=headers["ann"]).json()["rows"] == [["Ann"]]
    assert len(client.post("/v1/ask", json=asked, headers=headers["bob"]).json()["rows"]) == 3
    counted = {"database": "people", "sql": "SELECT count(*) FROM person"}
    assert client.post("/v1/query", json=counted, headers=headers["ann"]).json()["rows"] == [[1]]
    for text, found in (("Ann", True), ("Cy", False)):
        shown = client.get("/v1/search", params={"database": "people", "text": text}, headers=headers["ann"]).json()
        assert any(one["kind"] == "value" for one in shown["found"]) is found


def on_the_page(call: Call) -> list[str]:
    if "You write:" in call.prompt:
        return ["Who is taller than 180?"]
    return [TALL] if "taller than 180" in call.prompt else two_readings(call)


def test_readings_thumbs_and_follow_ups_on_the_page(open_page: Open) -> None:
    page = open_page(on_the_page, recipe=VOTES_OF_EIGHT)
    ask(page, PIECES["question"])
    page.get_by_text("can be read in two ways, which give 12 and 2").wait_for()
    page.get_by_role("button", name="the number of rows of back").click()
    page.get_by_text("is the number of rows of back.").wait_for()
    page.locator(".single", has_text=re.compile(r"^\s*2\s*$")).wait_for()  # 12 is the other reading
    ask(page, PIECES["question"])
    page.get_by_text("is read as the number of rows of back, as the notes say.").wait_for()
    assert page.get_by_role("region", name="Two readings").count() == 0
    page.get_by_role("button", name="Wrong").click()
    page.get_by_label("What was wrong").fill("pieces means the sum of quantity")
    page.get_by_label("The right query").fill(SUM)
    page.get_by_role("button", name="Send").click()
    page.get_by_text("It is kept until the server ends").wait_for()
    ask(page, "and the tall ones?")
    page.get_by_text("You asked “and the tall ones?”").wait_for()
    assert page.get_by_label("Result", exact=True).get_by_role("heading").inner_text() == "Who is taller than 180?"
    page.get_by_role("button", name="Right").click()
    page.get_by_text("Thank you").wait_for()
    page.get_by_role("tab", name="History").click()
    said = page.locator(".past .meta")
    said.nth(2).wait_for()
    assert ["right, you said" in said.nth(0).inner_text(), "corrected" in said.nth(1).inner_text()] == [True, True]
    assert "meant the number of rows of back" in said.last.inner_text()
    page.get_by_role("button", name="New topic").click()
    assert not page.locator("#thread").is_visible()


def test_a_value_is_put_into_the_question(open_page: Open) -> None:
    page = open_page()
    page.fill("#question", "How tall is")
    page.get_by_label("Find a table, a column or a value").fill("Ann")
    page.get_by_role("button", name="Ann").click()
    assert page.input_value("#question") == "How tall is Ann"


def test_two_results_with_as_many_votes_stand_side_by_side(open_page: Open) -> None:
    """The words of the question do not say what the two mean, so both queries are shown."""
    many = "SELECT count(*) FROM person"
    page = open_page(lambda call: ([many, TALL] * 4)[: call.n], recipe=VOTES_OF_EIGHT)
    ask(page, "How many people are there?")
    divided = page.get_by_role("region", name="Two results")
    divided.get_by_text("The queries are divided").wait_for()
    assert "the answer below" in divided.inner_text(), divided.inner_text()
    page.locator(".single", has_text="3").wait_for()
    divided.get_by_role("button", name=TALL).click()
    page.get_by_label("Result", exact=True).get_by_text("result 2").wait_for()
