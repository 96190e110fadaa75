"""Thumbs and corrections become proposals that somebody reviews, and say which context is missing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from sqljury import Session
from sqljury.errors import InputError
from sqljury.project import Project, load
from sqljury.project.feedback import Feedback, Proposal, propose, read, record, remember


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.executescript(
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customer (id), status TEXT);"
        )
    connection.close()
    (tmp_path / "sqljury.toml").write_text('[databases.shop]\nurl = "shop.db"\n')
    return tmp_path


def proposal(folder: Path, *given: Feedback) -> Proposal:
    project = load(folder)
    for feedback in given:
        record(project, feedback)
    made, known = Proposal(), project.database()
    with Session(**{**known.session(), "model": "none"}) as session:

        def failing(sql: str) -> str:
            return str(session.query(sql).error or "")

        propose(project, known, read(project), session.describe().schema, failing, made)
    return made


def up(question: str, sql: str) -> Feedback:
    return Feedback(question, sql, "shop", good=True)


def down(question: str, correction: str = "", comment: str = "") -> Feedback:
    return Feedback(question, "SELECT count(*) FROM orders", "shop", good=False, correction=correction, comment=comment)


def test_thumbs_and_corrections_become_pairs(folder: Path) -> None:
    (folder / "examples.jsonl").write_text('{"question": "Old?", "sql": "SELECT 1"}')  # no line end
    made = proposal(
        folder,
        up("How many orders?", "SELECT count(*) FROM orders"),
        down("How many are open?", "SELECT count(*) FROM orders WHERE status = 'O'"),
        down("Rejected, and no more said"),
        up("Loved, then rejected?", "SELECT 3"),
        down("loved,  then rejected?"),
        up("old?", "SELECT 1"),
    )
    lines = made.texts[folder / "examples.jsonl"].splitlines()
    assert [json.loads(line)["question"] for line in lines] == ["Old?", "How many orders?", "How many are open?"]
    assert json.loads(lines[2]) == {
        "question": "How many are open?",
        "sql": "SELECT count(*) FROM orders WHERE status = 'O'",
        "db_id": "shop",
    }
    assert "+++ b/examples.jsonl" in made.diff(folder)
    assert (folder / "examples.jsonl").read_text().count("\n") == 0  # nothing is written yet
    made.apply()
    assert len(load(folder).database().approved) == 3
    assert proposal(folder).texts == {}  # once is enough


def test_what_cannot_be_approved_is_listed(folder: Path) -> None:
    (folder / "examples.jsonl").write_text('{"question": "Old?", "sql": "SELECT 1"}\n')
    made = proposal(
        folder,
        down("Old?", "SELECT 2"),
        down("Broken?", "SELECT nme FROM customer"),
        down("Hostile?", "DROP TABLE customer"),
        down("Why?", comment="I do not like it"),
    )
    assert made.texts == {}
    told = "\n".join(made.left_out)
    for words in ("line 1: ", "approves another query", "no such column: nme", "only SELECT is allowed", "do not like"):
        assert words in told


def test_comments_become_terms_and_rules(folder: Path) -> None:
    (folder / "glossary.yaml").write_text("churn: no order in a year\n")
    (folder / "notes.yaml").write_text("rules:\n  - use UTC\nglossary: {vip: ten orders}\n")
    made = proposal(
        folder,
        down("a?", comment='open means status "O", not \\ paid'),
        down("b?", comment="churn means something else"),
        down("c?", comment="Always exclude cancelled orders"),
        down("d?", comment="Always exclude cancelled orders"),
    )
    made.apply()
    notes = load(folder).database().notes
    assert dict(notes.glossary)["open"] == 'status "O", not \\ paid'
    assert dict(notes.glossary)["churn"] == "no order in a year"
    assert notes.rules == ("Always exclude cancelled orders", "use UTC")
    assert dict(notes.glossary)["vip"] == "ten orders"


def test_rules_in_another_form_are_left_to_the_reader(folder: Path) -> None:
    (folder / "notes.yaml").write_text("rules: [use UTC]\n")
    made = proposal(folder, down("c?", comment="Always exclude cancelled orders"))
    assert made.texts == {}
    assert "write the rule into notes.yaml yourself" in made.left_out[0]


def test_missing_context_is_counted(folder: Path) -> None:
    given = [down(f"How many open ones ({n})?", f"SELECT {n} FROM orders WHERE status = 'O'") for n in range(3)]
    given += [down("How many orders are overdue?"), down("Which customers are overdue?"), down("Which orders are vip?")]
    given += [down("x?", comment="vip means ten orders")]
    missing = proposal(folder, *given).missing
    assert missing[0].startswith("3 questions went wrong for want of a note on orders.status")
    assert any(line.startswith("2 questions went wrong for want of a meaning of 'overdue'") for line in missing)
    assert not any("'vip'" in line or "'orders'" in line or "customer_id" in line for line in missing)
    (folder / "notes.yaml").write_text("tables: {orders: {columns: {status: O is open}}}\n")
    assert not any("orders.status" in line for line in proposal(folder).missing)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "is not JSON"),
        ('{"question": "a"}', "'good' is neither true nor false"),
        ('{"question": "a", "good": "yes"}', "'good' is neither"),
        ('{"good": true}', "has no 'question'"),
        ('{"question": "a", "good": true, "sql": 3}', "'sql' is not a text"),
    ],
)
def test_faults_name_the_line(folder: Path, line: str, words: str) -> None:
    (folder / "feedback.jsonl").write_text(f'{{"question": "a", "good": true}}\n{line}\n')
    with pytest.raises(InputError, match=r"feedback\.jsonl, line 2") as caught:
        read(load(folder))
    assert words in str(caught.value)


def test_a_line_of_feedback_survives_any_text(folder: Path) -> None:
    project: Project = load(folder)
    hostile = Feedback("\x1b[2J\ud800 line\n{}\u2028", "SELECT 'a\nb'", "shop", good=True, comment="\x00")
    record(project, hostile)
    record(project, up("b", "SELECT 1"))
    first, second = read(project)
    assert (first.sql, second.question) == (hostile.sql, "b")


def test_an_entry_begins_a_line_of_its_own(folder: Path) -> None:
    file = folder / "feedback.jsonl"
    file.write_text('{"question": "a", "sql": "SELECT 1", "db_id": "shop", "good": true}')  # no line end
    for question in ("b", "c"):
        record(load(folder), up(question, "SELECT 1"))
    assert [given.question for given in read(load(folder))] == ["a", "b", "c"]
    assert file.read_text().count("\n") == 3


def test_what_a_word_means_is_remembered_in_the_glossary_and_changed_there(folder: Path) -> None:
    project = load(folder)
    for meaning in ("the number of rows", "the sum of: quantity # not rows"):
        remember(project, "shop", 'How many "pieces"', meaning)
        assert project.database().notes.glossary == (('How many "pieces"', meaning),)
    remember(project, "shop", "open", "status 3")
    assert [term for term, _ in project.database().notes.glossary] == ['How many "pieces"', "open"]


@pytest.mark.parametrize(
    "old",
    [
        "pieces: the number of rows\n",
        "'pieces': the number of rows  # not the sum",
        '"pieces"  : "the number\n\n  of rows"\n',
        "pieces:\n  the number\n  of rows\n",
        "pieces: >-\n  the number\n  of rows\n\n",
        "? pieces\n: the number of rows\n",
        "pieces:\n",
    ],
)
def test_what_a_word_meant_before_goes_however_it_was_written(folder: Path, old: str) -> None:
    file, around = folder / "glossary.yaml", ("# our words\nopen: status 3\n", "# late ones\nlate: after a week\n")
    file.write_text(f"{around[0]}{old.rstrip()}\n{around[1]}")
    remember(load(folder), "shop", "pieces", "the sum of quantity")
    assert file.read_text() == f'{"".join(around)}"pieces": "the sum of quantity"\n'


@pytest.mark.parametrize("old", ["{open: status 3}\n", "{open: status 3, late: after a day}\n", "- late\n"])
def test_a_glossary_that_cannot_take_a_line_stays_as_it_is(folder: Path, old: str) -> None:
    (folder / "glossary.yaml").write_text(old)
    with pytest.raises(InputError):
        remember(load(folder), "shop", "late", "after a week")
    assert (folder / "glossary.yaml").read_text() == old


def test_two_databases_that_share_a_glossary_define_a_term_once(folder: Path) -> None:
    with (folder / "sqljury.toml").open("a") as file:
        file.write('[databases.other]\nurl = "shop.db"\n')
    project, made = load(folder), Proposal()
    for name in project.names:
        given = [Feedback("a?", "SELECT 1", name, good=False, comment="Overdue means not yet paid")]
        with Session(**{**project.database(name).session(), "model": "none"}) as session:
            propose(project, project.database(name), given, session.describe().schema, lambda _: "", made)
    made.apply()
    for name in project.names:
        assert project.database(name).notes.glossary == (("Overdue", "not yet paid"),)


def test_a_term_for_a_glossary_in_another_form_is_left_to_the_reader(folder: Path) -> None:
    (folder / "glossary.yaml").write_text("{churned: one without an order}\n")
    made = proposal(folder, down("c?", comment="overdue means not yet paid"))
    assert made.texts == {}
    assert "write the term into glossary.yaml yourself: overdue means not yet paid" in made.left_out[0]


def test_words_that_every_question_has_are_no_missing_context(folder: Path) -> None:
    missing = proposal(folder, down("Which n customers have the most zoxy orders?")).missing
    assert [line.partition("meaning of ")[2].partition(":")[0] for line in missing] == ["'zoxy'"]
