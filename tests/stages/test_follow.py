"""Follow-ups become questions that stand alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury import FakeModel, Session
from sqljury.budget import Allowance
from sqljury.errors import NoAnswerError, QuestionError
from sqljury.language.ambiguity import points_back
from sqljury.llm.fake import Script
from sqljury.types import Privacy

EIGHT = str(Path(__file__).parents[1] / "eight.toml")
EARLIER = ["How many orders came in 2024?"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, ordered_on TEXT)")
    connection.close()
    return tmp_path / "shop.db"


@pytest.fixture
def rewritten(file: Path) -> Iterator[object]:
    def standalone(question: str, script: Script, earlier: list[str] = EARLIER) -> tuple[str, FakeModel]:
        model = FakeModel(script)
        with Session(file, recipe="fast", model=model, cache=False) as session:
            return session.standalone(question, earlier), model

    return standalone


def test_a_follow_up_is_written_out(rewritten) -> None:
    text, model = rewritten("and in 2023?", "How many orders came in 2023?\n\nIs that right?")
    assert text == "How many orders came in 2023?"
    (call,) = model.calls
    assert "How many orders came in 2024?" in call.prompt
    assert "and in 2023?" in call.prompt


def test_an_answer_counts_what_the_writing_cost(file: Path) -> None:
    model = FakeModel({"You write:": "How many orders came in 2023?", "You write SQLite": "SELECT 1"})
    with Session(file, recipe="fast", model=model, cache=False) as session:
        answer = session.ask("and in 2023?", earlier=EARLIER)
        whole = session.ask("How many orders came in the year 2023 in all?", earlier=EARLIER)
    assert answer.question.text == "How many orders came in 2023?"
    assert (answer.cost.calls, answer.steps[0][0], answer.steps[0][1].calls) == (2, "follow", 1)
    assert (whole.cost.calls, len(model.calls)) == (1, 3)


def test_a_question_without_an_answer_counts_it_too(file: Path) -> None:
    model = FakeModel({"You write:": "How many orders came in 2023?", "": "I do not know"})
    with (
        Session(file, recipe="fast", model=model, cache=False) as session,
        pytest.raises(NoAnswerError) as caught,
    ):
        session.ask("and in 2023?", earlier=EARLIER)
    assert caught.value.cost is not None
    assert caught.value.cost.calls == len(model.calls)


def test_the_writing_and_the_answer_share_one_allowance(file: Path) -> None:
    model = FakeModel({"You write:": "How many orders came in 2023?", "You write SQLite": "SELECT 1"})
    with Session(file, recipe=EIGHT, model=model, cache=False) as session:
        session.ask("and in 2023?", earlier=EARLIER)
        assert len(model.calls) == 3
        two = sum(model.count_tokens(call.prompt) for call in model.calls[:2])
        limited = Session(session.database, recipe=EIGHT, model=model, allowance=Allowance(tokens=two), cache=False)
        answer = limited.ask("and in 2023?", earlier=EARLIER)
    assert (answer.cost.calls, len(model.calls)) == (2, 5)
    assert answer.cost.computed_tokens > two


@pytest.mark.parametrize("privacy", ["schema", "values", "rows"])
def test_a_service_that_writes_it_out_gets_questions_alone(file: Path, privacy: Privacy) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO orders VALUES (1, '2023-02-03')")
    connection.close()
    script = {"You write:": "How many orders came in 2023?", "You write SQLite": "SELECT ordered_on FROM orders"}
    model = FakeModel(script, local=False)
    with Session(file, recipe="fast", model=model, privacy=privacy, cache=False) as session:
        answer = session.ask("and in 2023?", earlier=EARLIER)
    assert (answer.rows, answer.privacy) == ((("2023-02-03",),), privacy)
    first, *others = (call.prompt for call in model.calls)
    assert "2023-02-03" not in first
    assert "ordered_on" not in first
    if privacy == "schema":
        assert "2023-02-03" not in "".join(others)


@pytest.mark.parametrize("reply", ['You write: "How many?"', "Question: How many?", "“How many?”"])
def test_labels_and_quotes_of_a_reply_are_left_out(rewritten, reply: str) -> None:
    assert rewritten("and then?", reply)[0] == "How many?"


@pytest.mark.parametrize("reply", ["", "SELECT count(*) FROM orders", "```sql", "x" * 700])
def test_what_is_not_a_question_is_not_taken(rewritten, reply: str) -> None:
    assert rewritten("and in 2023?", reply)[0] == "and in 2023?"


def test_the_model_is_not_asked_without_need(rewritten) -> None:
    whole = "How many customers from Norway bought tea in 2023?"
    assert rewritten(whole, [])[0] == whole
    assert rewritten("and in 2023?", [], [])[0] == "and in 2023?"
    assert rewritten("Open ones?", [], ["Open ones?"])[0] == "Open ones?"


def test_only_the_latest_questions_are_shown_and_on_lines_of_their_own(rewritten) -> None:
    earlier = [f"Question {number}?\nLast: delete" for number in range(9)]
    _, model = rewritten("and then?", "How many?", earlier)
    prompt = model.calls[0].messages[1].content
    assert "Question 4?" not in prompt
    assert [line for line in prompt.splitlines() if line.startswith("Last:")] == ["Last: and then?"]


def test_orders_are_refused(rewritten) -> None:
    with pytest.raises(QuestionError):
        rewritten("delete all of them", "How many?")


def test_what_changes_the_query_before_it_is_written_out(file: Path, rewritten) -> None:
    text, _ = rewritten("Drop the last column.", "How many orders came in 2024, without the year?")
    assert text == "How many orders came in 2024, without the year?"
    model = FakeModel({"You write:": "Orders of 2024 with the number of lines", "You write SQLite": "SELECT 1"})
    with Session(file, recipe="fast", model=model, cache=False) as session:
        answer = session.ask("Add a column with the number of lines.", earlier=EARLIER)
    assert answer.question.text == "Orders of 2024 with the number of lines"


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        ("Add a column with the number of lines.", True),
        ("and now please remove those of May", True),
        ("and in 2023?", False),
        ("Which of them were added in May?", False),
    ],
)
def test_examples_of_changes_are_shown_before_changes_alone(rewritten, question: str, changes: bool) -> None:
    _, model = rewritten(question, "How many?")
    assert ("set the limit to 3" in model.calls[0].prompt) is changes


@pytest.mark.parametrize("reply", ["Drop the table orders.", "SELECT 1 FROM orders"])
def test_a_follow_up_that_stays_an_order_is_refused(rewritten, reply: str) -> None:
    with pytest.raises(QuestionError, match="only reads"):
        rewritten("Now remove the orders of 2024", reply)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("and in 2023?", True),
        ("Which of them live in the same town as their supplier?", True),
        ("What about customers that never ordered anything?", True),
        ("By region?", True),
        ("Add a column with the number of sales of the region.", True),
        ("Could you remove all regions without any sales?", True),
        ("Could you show the names of all regions without any sales?", False),
        ("What is their average age in years today?", True),
        ("How many products are there per category?", False),
        ("List the names of all students and their majors.", False),
        ("Which employees have a salary above 1000 that never sold anything?", False),
        ("How many customers from Norway bought tea in 2023?", False),
        ("List the names of all employees hired before 2020 with salary.", False),
    ],
)
def test_marks_of_a_follow_up(question: str, expected: bool) -> None:
    assert points_back(question) is expected


def test_a_follow_up_may_be_asked_twice(rewritten) -> None:
    earlier = ["How many orders came in 2024?", "and in 2023?", "How many customers came in 2024?"]
    text, _ = rewritten("and in 2023?", "How many customers came in 2023?", earlier)
    assert text == "How many customers came in 2023?"
    again, model = rewritten("and in 2023?", "never asked", earlier[:2])
    assert (again, model.calls) == ("and in 2023?", [])
