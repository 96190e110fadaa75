"""The confidence of an answer, and when it is not given."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import Session, ask
from sqljury.errors import InputError
from sqljury.llm.fake import FakeModel
from sqljury.stages import confidence, doubt
from sqljury.stages.confidence import LEAST, MOST, NAMES, Calibration, figures
from sqljury.stages.select import features
from sqljury.stages.select.consistency import choose, group
from sqljury.types import Candidate, Choice, Column, Question, Result, Schema, Table, Task
from sqljury.types.answer import in_words

TABLE = Table("person", (Column("name", "TEXT"), Column("age", "INTEGER")))
TASK = Task(Question("What are the names?"), Schema("", "sqlite", (TABLE,)), "")
NAMES_SQL, AGES_SQL = "SELECT name FROM person", "SELECT age FROM person"


def candidate(sql: str, value: object, logprob: float | None = -1.0) -> Candidate:
    return Candidate(sql, "direct", logprob, Result((("x",)), ((value,),)))


def chosen(*candidates: Candidate) -> dict[str, float]:
    grouped = group(candidates)
    return figures(grouped, Choice(choose(grouped), "consistency"), TASK)


def test_figures_are_the_same_for_every_kind_of_answer() -> None:
    assert tuple(chosen(candidate(NAMES_SQL, "Ann"))) == NAMES
    assert tuple(chosen(candidate(NAMES_SQL, "Ann", None), candidate(AGES_SQL, 3, None))) == NAMES


def test_what_is_not_known_has_figures_of_zero_and_says_so() -> None:
    known = chosen(candidate(NAMES_SQL, "Ann", None))
    missing = ("votes", "log-probabilities", "tests", "judge")
    assert [known[f"without_{signal}"] for signal in missing] == [1.0] * 4
    assert {known[name] for signal in missing for name in confidence.SIGNALS[signal]} == {0.0}
    several = chosen(candidate(NAMES_SQL, "Ann"), candidate(AGES_SQL, 3))
    assert [several[f"without_{signal}"] for signal in missing] == [0.0, 0.0, 1.0, 1.0]


def test_the_signals_that_an_answer_rests_on_are_named() -> None:
    shipped = confidence.read()
    one, several = (
        chosen(candidate(NAMES_SQL, "Ann", None)),
        chosen(candidate(NAMES_SQL, "Ann"), candidate(AGES_SQL, 3)),
    )
    assert "votes" not in shipped.signals(one)
    assert {"votes", "log-probabilities", "query"} <= set(shipped.signals(several))
    assert "judge" not in shipped.signals(several)


def test_more_agreement_is_more_confidence() -> None:
    shipped = confidence.read()
    agreed = chosen(*[candidate(NAMES_SQL, "Ann") for _ in range(8)])
    split = chosen(candidate(NAMES_SQL, "Ann"), *[candidate(f"{AGES_SQL} WHERE age > {n}", n) for n in range(7)])
    assert shipped.probability(agreed) > shipped.probability(split) + 0.2


def test_a_query_without_rows_is_less_sure() -> None:
    shipped = confidence.read()
    full = candidate(NAMES_SQL, "Ann")
    assert shipped.probability(chosen(full)) > shipped.probability(chosen(replace(full, result=Result(("x",), ()))))


def test_a_probability_stays_within_its_bounds() -> None:
    known = chosen(candidate(NAMES_SQL, "Ann"))
    assert Calibration(1e5, {}, {}).probability(known) == MOST
    assert Calibration(-1e5, {}, {}).probability(known) == LEAST


@pytest.mark.parametrize(
    ("probability", "words"),
    [(0.95, "very likely right"), (0.9, "very likely right"), (0.8, "likely right"), (0.6, "uncertain")],
)
def test_a_probability_has_words(probability: float, words: str) -> None:
    assert in_words(probability) == words
    assert in_words(0.2) == "probably wrong"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("no", "is not JSON"),
        ("[]", "is not the file of a calibration"),
        ('{"kind": "sqljury confidence", "version": 0}', "is of version 0, not 1"),
        (
            '{"kind": "sqljury confidence", "version": 1, "weights": {"margin": 1}, "card": {}, "intercept": NaN}',
            "has no intercept",
        ),
        ('{"kind": "sqljury confidence", "version": 1, "intercept": 0, "weights": {"x": 1}, "card": {}}', "'x'"),
    ],
)
def test_a_file_that_is_no_calibration(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "own.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=said):
        confidence.read(str(file))


def test_a_pipe_is_no_calibration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot be read"):
        confidence.read(str(tmp_path / "pipe"))
    (tmp_path / "large.json").write_bytes(b" " * (9 << 20))
    with pytest.raises(InputError, match="is too large for weights; name a file of `sqljury calibrate`"):
        confidence.read(str(tmp_path / "large.json"))


def test_a_calibration_that_was_made_again_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    for intercept in (0.5, 0.75):
        file.write_text(json.dumps(Calibration(intercept, {"margin": 1.25}, {}).to_json()))
        assert confidence.read(str(file)).intercept == intercept


def test_the_judge_and_the_confidence_describe_candidates_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    features.names()  # which describe a candidate of their own, once
    made, real = list[int](), features.described
    monkeypatch.setattr(features, "described", lambda *of: made.append(1) or real(*of))
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
        connection.execute("INSERT INTO person VALUES ('Ann', 41), ('Bo', 27)")
    connection.close()
    model = FakeModel([[NAMES_SQL], [AGES_SQL, NAMES_SQL, NAMES_SQL], [AGES_SQL] * 4])
    with Session(tmp_path / "people.db", model=model, recipe="default") as session:
        answer = session.ask("What are the names?")
    assert answer.choice is not None
    assert answer.choice.selector == "light"
    assert len(made) == 1


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    own = Calibration(0.5, {"margin": 1.25}, {"questions": 3})
    file = tmp_path / "own.json"
    file.write_text(json.dumps(own.to_json()))
    assert confidence.read(str(file)) == own


class TestAbstaining:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        import sqlite3
        from contextlib import closing

        file = tmp_path / "people.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
            connection.execute("INSERT INTO person VALUES ('Ann', 41), ('Bo', 27)")
            connection.commit()
        return file

    def test_an_answer_less_sure_than_asked_for_is_withheld(self, path: Path) -> None:
        model = FakeModel([NAMES_SQL, AGES_SQL, NAMES_SQL, AGES_SQL, NAMES_SQL, AGES_SQL, NAMES_SQL, NAMES_SQL])
        with Session(path, model=model, min_confidence=0.99) as session:
            answer = session.ask("What are the names?")
        assert answer.abstained
        assert answer.abstention is not None
        assert answer.abstention.kind == "unsure"
        assert "less sure than asked for (99%)" in answer.abstention.reason
        assert answer.abstention.ask in ("Is name to be shown, or age?", "Is age to be shown, or name?")
        assert answer.to_dict()["abstained"] is True
        assert answer.to_dict()["abstention"]["kind"] == "unsure"

    def test_with_zero_every_answer_is_given(self, path: Path) -> None:
        assert not ask("What are the names?", path, model=FakeModel(NAMES_SQL), min_confidence=0).abstained

    def test_a_bound_that_is_no_probability(self, path: Path) -> None:
        with pytest.raises(InputError, match="from 0 to 1"):
            Session(path, model=FakeModel(NAMES_SQL), min_confidence=80)


class TestUnanswerable:
    SCHEMA = Schema("", "sqlite", (TABLE, Table("singer", (Column("singer_id", "INTEGER"), Column("country", "TEXT")))))

    def asked(self, question: str) -> list[str]:
        return doubt.missing(Task(Question(question), self.SCHEMA, ""))

    @pytest.mark.parametrize(
        ("question", "words"),
        [
            ("What is the average rainfall of each country?", ["rainfall"]),
            ("Show the nationality and the salary of the singers.", ["nationality", "salary"]),
            ("Which customers wrote invoices?", ["customer", "invoice"]),
        ],
    )
    def test_things_that_the_schema_lacks(self, question: str, words: list[str]) -> None:
        assert self.asked(question) == words

    @pytest.mark.parametrize(
        "question",
        [
            "How many singers live in each country?",
            "What are the names and ages of the artists?",  # a kind of people, which the schema may call otherwise
            "List the countreis in alphabetical order.",
            "Which singers are from 'Atlantis' or from New Zealand?",  # values, which rows may lack
            "Who took part most recently, and when?",
            "Wie viele Kunden gibt es in jeder Region?",  # words of other languages are not known
            "",
        ],
    )
    def test_what_the_schema_has_or_any_question_may_say(self, question: str) -> None:
        assert self.asked(question) == []

    def test_what_a_note_or_the_evidence_names_is_known(self) -> None:
        task = Task(Question("Who earns a bonus?", "bonus: age above 60"), self.SCHEMA, "")
        assert doubt.missing(task) == []
        noted = Task(Question("Who earns a bonus?"), self.SCHEMA, "", notes=("person.age: bonus from 60 on",))
        assert doubt.missing(noted) == []

    @pytest.mark.parametrize(
        ("question", "refused"),
        [
            ("Show the rainfall and the invoice of each warehouse.", True),
            ("What are the turnover and the margin by country?", False),  # they may be computed
            ("What is the average rainfall of each country?", False),
        ],
    )
    def test_only_what_is_mostly_missing_is_refused(self, question: str, refused: bool) -> None:
        task = Task(Question(question), self.SCHEMA, "")
        words = doubt.missing(task)
        said = doubt.abstention(task, 0.5, None, words, "")
        assert (said is not None) == refused
        assert said is None or said.kind == "unanswerable"
        assert doubt.abstention(task, 0.5, 0.0, words, "") is None
        doubtful = doubt.abstention(task, 0.5, 0.1, words, "")
        assert doubtful is not None
        assert doubtful.kind == "unanswerable"
        assert doubt.remark(words)[0].startswith("The database has nothing called '")
