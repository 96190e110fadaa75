"""The confidence of an answer, and when it is not given."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import Session, ask
from sqljury.errors import InputError, NoAnswerError
from sqljury.llm.fake import FakeModel
from sqljury.sql.parse import read_query
from sqljury.sql.provenance import steps
from sqljury.stages import confidence, doubt
from sqljury.stages.confidence import LEAST, MOST, NAMES, Calibration, figures
from sqljury.stages.select import features
from sqljury.stages.select.consistency import choose, group
from sqljury.types import Candidate, Choice, Column, Explanation, Fix, Question, Result, Schema, Table, Task
from sqljury.types.answer import in_words
from sqljury.types.candidate import equal_votes

TABLE = Table("person", (Column("name", "TEXT"), Column("age", "INTEGER")))
TASK = Task(Question("What are the names?"), Schema("", "sqlite", (TABLE,)), "")
NAMES_SQL, AGES_SQL = "SELECT name FROM person", "SELECT age FROM person"


def candidate(sql: str, value: object, logprob: float | None = -1.0) -> Candidate:
    return Candidate(sql, "direct", logprob, Result((("x",)), ((value,),)))


def chosen(*candidates: Candidate) -> dict[str, float]:
    grouped = group(candidates)
    return figures(grouped, Choice(choose(grouped), "consistency"), TASK, ())


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


def test_a_system_with_many_samples_is_as_sure_as_one_with_a_single_query() -> None:
    first, second = candidate(NAMES_SQL, "Ann", None), replace(candidate(AGES_SQL, 3, None), part=1)
    assert chosen(*equal_votes((first, *[second] * 5))) == pytest.approx(chosen(first, second))


def test_the_signals_that_an_answer_rests_on_are_named() -> None:
    shipped = confidence.read()
    one, several = (
        chosen(candidate(NAMES_SQL, "Ann", None)),
        chosen(candidate(NAMES_SQL, "Ann"), candidate(AGES_SQL, 3)),
    )
    assert "votes" not in shipped.signals(one)
    assert {"votes", "log-probabilities", "query"} <= set(shipped.signals(several))
    assert "judge" not in shipped.signals(several)


@pytest.mark.parametrize("selector", ["light", "critic", "critic-independent"])
def test_a_judge_counts_where_it_compared(selector: str) -> None:
    grouped = group([candidate(NAMES_SQL, "Ann"), candidate(AGES_SQL, 3)])
    compared = figures(grouped, Choice(0, selector, (0.8, 0.2)), TASK, ())
    assert (compared["without_judge"], compared["judge"]) == (0.0, pytest.approx(math.log(4)))
    alone = group([candidate(NAMES_SQL, "Ann")])
    assert figures(alone, Choice(0, selector, (1.0,)), TASK, ()) == chosen(candidate(NAMES_SQL, "Ann"))


@pytest.mark.parametrize("selector", ["tournament", "bracket", "ranker", "rerank", "rerank-votes", "first"])
def test_counts_of_votes_and_tests_are_no_probabilities(selector: str) -> None:
    candidates = candidate(NAMES_SQL, "Ann"), candidate(AGES_SQL, 3)
    assert figures(group(candidates), Choice(0, selector, (1.0, 0.0)), TASK, ()) == chosen(*candidates)


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
    model = FakeModel([[NAMES_SQL], [AGES_SQL, NAMES_SQL, NAMES_SQL], [AGES_SQL] * 2])
    with Session(tmp_path / "people.db", model=model, recipe="default") as session:
        answer = session.ask("What are the names and shoe sizes?")
    assert answer.choice is not None
    assert answer.choice.selector == "light"
    assert len(made) == 3  # once for each number of candidates after which writing may stop, and once for all


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


VISIT = Table("visitLog", (Column("visitId", "INTEGER"), Column("durationMin", "INTEGER"), Column("noteText", "TEXT")))
DOCTOR = Table("doctorInfo", (Column("doctorId", "INTEGER"), Column("specialtyCode", "TEXT")))
VISITS = "SELECT visitId FROM visitLog"


class TestSettling:
    TASK = Task(Question("Which visits?"), Schema("", "sqlite", (VISIT, DOCTOR)), "")

    def settling(self, *queries: str) -> str:
        candidates = group([candidate(sql, number) for number, sql in enumerate(queries)])
        return doubt.settling(candidates, Choice(0, "consistency"), self.TASK)

    @pytest.mark.parametrize(
        ("chosen_sql", "other", "ask"),
        [
            (
                "SELECT COUNT(notetext) FROM visitlog",
                "SELECT COUNT(*) FROM visitLog v",
                "Is the number of rows with a value of noteText to be shown, or the number of rows?",
            ),
            (
                f"{VISITS} WHERE durationmin > 20",
                f"{VISITS} WHERE durationMin >= 20",
                "Is it meant that durationMin is more than 20, or that durationMin is at least 20?",
            ),
            (
                "SELECT doctorId FROM doctorInfo WHERE specialtyCode = 'CARD'",
                "SELECT DOCTORID FROM doctorInfo",
                "Is it meant that specialtyCode is 'CARD', or that all rows count?",
            ),
            (
                f"{VISITS} ORDER BY durationMin DESC LIMIT 1",
                f"{VISITS} ORDER BY visitId LIMIT 3",
                "Is it meant that only the first row counts, by the highest durationMin, or that only the first 3 rows"
                " count, by the lowest visitId?",
            ),
            (VISITS, "SELECT doctorId FROM doctorinfo", "Is it about visitLog, or about doctorInfo?"),
            (
                VISITS,
                f"SELECT DISTINCT {VISITS.removeprefix('SELECT ')}",
                "Is each value to be shown or counted once, or as often as it occurs?",
            ),
            (VISITS, f"{VISITS} LIMIT 1", "Which of the two queries is meant?"),
            (VISITS, "SELECT FROM (", "Which of the two queries is meant?"),
        ],
    )
    def test_queries_part_in_words(self, chosen_sql: str, other: str, ask: str) -> None:
        assert self.settling(chosen_sql, other) == ask

    def test_without_another_result_the_steps_are_asked_about(self, tmp_path: Path) -> None:
        import sqlite3

        with sqlite3.connect(tmp_path / "visits.db") as connection:
            connection.execute("CREATE TABLE visitLog (visitId INTEGER, durationMin INTEGER)")
            connection.execute("INSERT INTO visitLog VALUES (1, 30), (2, 20)")
        connection.close()
        model = FakeModel(f"{VISITS} WHERE durationMin > 20")
        with Session(tmp_path / "visits.db", model=model, recipe="fast", min_confidence=0.99) as session:
            abstention = session.ask("Which visits took more than 20 minutes?").abstention
        assert abstention is not None
        assert abstention.ask == "Is this what is meant: Keeps rows where durationMin is more than 20; shows visitId?"
        assert self.settling(VISITS) == doubt.confirming(None) == ""

    @pytest.mark.parametrize(
        ("sql", "ask"),
        [
            (
                f"{VISITS} WHERE durationMin > 20 INTERSECT {VISITS} WHERE noteText IS NULL",
                "Takes the rows that both of two parts have; first part: keeps rows where durationMin is more than 20,"
                " shows visitId; second part: keeps rows where noteText has no value, shows visitId",
            ),
            (
                f"{VISITS} UNION {VISITS} EXCEPT {VISITS} ORDER BY visitId LIMIT 2",
                "Takes the rows of the first of two parts that the second lacks; first part: takes the rows of two"
                " parts, equal ones once; second part: shows visitId; sorts by visitId, lowest first; keeps the first"
                " 2 rows",
            ),
        ],
    )
    def test_the_parts_of_a_set_operation_are_asked_about(self, sql: str, ask: str) -> None:
        tree = read_query(sql, "sqlite")
        assert tree is not None
        explanation = Explanation(steps(tree, self.TASK.known))
        assert doubt.confirming(explanation) == f"Is this what is meant: {ask}?"


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
            # nouns with the letters of a common word of questions but one
            ("What are the weight, the height and the mother of each singer?", ["weight", "height", "mother"]),
            ("Show the server and the flower of the singers.", ["server", "flower"]),
            ("What are the names of the students?", ["student"]),  # a kind of people weighs half, and is all there is
        ],
    )
    def test_things_that_the_schema_lacks(self, question: str, words: list[str]) -> None:
        assert self.asked(question) == words

    @pytest.mark.parametrize(
        "question",
        [
            "How many singers live in each country?",
            "How many artists are there in each country?",  # a kind of people, which the schema may call otherwise
            "Who is the best singer, and what is the median age by weekday, month and quarter?",
            "Give me an overview of the bottom ten singers, always without duplicates.",
            "List the countreis in alphabetical order.",
            "Which singers are from 'Atlantis' or from New Zealand?",  # values, which rows may lack
            "Who took part most recently, and when?",
            "Wie viele Kunden gibt es in jeder Region?",  # words of other languages are not known
            "",
        ],
    )
    def test_what_the_schema_has_or_any_question_may_say(self, question: str) -> None:
        assert self.asked(question) == []

    @pytest.mark.parametrize(
        ("question", "condition", "words"),
        [
            ("What does berta cost?", "name LIKE '%berta%'", ["cost"]),
            ("Show the cardiologists.", "name = 'CARD'", []),  # a code for what the question names
            ("Show the cardiologists.", "name IN ('CARD', 'NEUR')", []),
            ("Show the cardiologists.", "name <> 'CARD'", ["cardiologist"]),
            ("Show the cardiologists.", "NOT name LIKE '%card%'", ["cardiologist"]),
        ],
    )
    def test_what_a_query_looks_for_and_finds_is_not_missing(
        self, question: str, condition: str, words: list[str]
    ) -> None:
        task = Task(Question(question), self.SCHEMA, "")
        query = Candidate(f"SELECT age FROM person WHERE {condition}", "direct", result=Result(("age",), ((41,),)))
        assert doubt.missing(task, query) == words
        nothing = replace(query, result=Result(("age",), ()))
        assert set(doubt.missing(task, nothing)) > set(words) or words == doubt.missing(task, nothing) == doubt.missing(
            task
        )

    def test_a_rank_is_computed(self) -> None:
        assert self.asked("Rank the singers by country.") == []
        task = Task(Question("What is the rank of each singer by country?"), self.SCHEMA, "")
        sql = "SELECT singer_id, RANK() OVER (ORDER BY country) FROM singer"
        assert doubt.missing(task) == ["rank"]
        assert doubt.missing(task, Candidate(sql, "direct", result=Result(("a", "b"), ((1, 1),)))) == []

    @pytest.mark.parametrize(
        "names",
        [
            "Mitglieder Nachname Vorname Beitrag Zahlungen Betrag Datum Art Person Name Status",
            "clientes nombre fecha precio producto total empleado",
            "zakaznik jmeno castka datum",
        ],
    )
    def test_a_schema_in_another_language_lacks_nothing(self, names: str) -> None:
        table, *columns = names.split()
        schema = Schema("", "sqlite", (Table(table, tuple(Column(name, "TEXT") for name in columns)),))
        assert doubt.missing(Task(Question("List the payments and the fees of each branch."), schema, "")) == []

    @pytest.mark.parametrize(
        ("column", "words"),
        [(Column("hired_on", "DATE"), []), (Column("dob", "TEXT"), []), (Column("fee", "INTEGER"), ["date"])],
    )
    def test_a_date_is_known_by_a_column_of_dates(self, column: Column, words: list[str]) -> None:
        schema = Schema("", "sqlite", (Table("singer", (Column("singer_id", "INTEGER"), column)),))
        assert doubt.missing(Task(Question("Which singer has a date in 2010?"), schema, "")) == words

    def test_a_cost_is_a_price(self) -> None:
        schema = Schema("", "sqlite", (Table("ticket", (Column("singer", "TEXT"), Column("price", "REAL"))),))
        assert doubt.missing(Task(Question("What do tickets cost on average?"), schema, "")) == []

    def test_the_confidence_is_low_where_nothing_of_the_question_is_known(self) -> None:
        task = Task(Question("Who is the president of the galaxy?"), self.SCHEMA, "")
        words = doubt.missing(task)
        assert words == ["president", "galaxy"]
        assert doubt.bounded(0.9, task, words) == doubt.UNFOUNDED
        assert doubt.bounded(0.2, task, words) == 0.2
        partly = Task(Question("What is the rainfall of each country?"), self.SCHEMA, "")
        assert doubt.bounded(0.9, partly, doubt.missing(partly)) == 0.9
        assert doubt.bounded(0.9, partly, [], ["rainfall"]) == doubt.UNFOUNDED
        every = Task(Question("How many are there?"), self.SCHEMA, "")
        assert doubt.bounded(0.9, every, doubt.missing(every)) == 0.9

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
        assert (doubt.abstention(task, 0.5, 0.4, words, "") is not None) == refused  # as sure as asked for
        doubtful = doubt.abstention(task, 0.5, 0.6, words, "")
        assert doubtful is not None
        assert doubtful.kind == ("unanswerable" if refused else "unsure")
        assert f"The database has nothing called '{words[0]}'" in doubtful.reason
        assert doubtful.ask == "Which of its tables or columns is meant, if any?"
        assert doubt.remark(words)[0].startswith("The database has nothing called '")


class TestInvented:
    SCHEMA = Schema(
        "", "sqlite", (TABLE, Table("singer", (Column("singer_id", "INTEGER"), Column("fee_cents", "INTEGER"))))
    )

    def invented(self, question: str, *queries: str) -> list[str]:
        return doubt.invented([Candidate(sql, "direct") for sql in queries], Task(Question(question), self.SCHEMA, ""))

    @pytest.mark.parametrize(
        ("question", "query", "words"),
        [
            ("What is the salary of the pilots?", "SELECT salary FROM pilot", ["pilot", "salary"]),
            ("What is the rainfall of each person?", "SELECT name, p.rainfall FROM person AS p", ["rainfall"]),
            # what is computed has a name that the query gives it
            ("What are the sales?", "SELECT SUM(fee_cents) AS sales FROM singer ORDER BY sales", []),
            ("What are the sales?", "WITH s AS (SELECT SUM(fee_cents) AS sales FROM singer) SELECT sales FROM s", []),
            ("What are the names?", "SELECT names FROM persons", []),  # the schema has both, spelt otherwise
            ("What are the sales?", "WITH s(sales) AS (SELECT SUM(fee_cents) FROM singer) SELECT sales FROM s", []),
            ("How many singers does Payam know?", "SELECT COUNT(*) FROM singer WHERE name = Payam", []),  # a value
            ("How old is Ann?", "SELECT birth_year FROM person", []),  # nobody asked for that: a slip of the model
            ("What is the fee in cents of singers?", "SELECT FeeInCents FROM singers", []),
            ("Wie hoch ist das Gehalt der Piloten?", "SELECT gehalt FROM pilot", []),  # only English is judged
            ("What is the salary of the pilots?", "", []),
            ("What is the salary of the pilots?", "SELECT FROM (", []),
        ],
    )
    def test_names_of_what_the_schema_lacks(self, question: str, query: str, words: list[str]) -> None:
        assert sorted(self.invented(question, query)) == sorted(words)

    def test_a_fifth_of_the_candidates_must_invent_it(self) -> None:
        asked, bad, good = "What is the salary of singers?", "SELECT salary FROM singer", "SELECT fee_cents FROM singer"
        assert self.invented(asked, bad, good) == ["salary"]
        assert self.invented(asked, bad, *[good] * 4) == ["salary"]
        assert self.invented(asked, bad, *[good] * 5) == []
        assert self.invented(asked) == []

    def test_what_a_repair_changed_counts_as_written(self) -> None:
        fixed = Candidate("SELECT age FROM person", "direct", fixes=(Fix("SELECT salary FROM person", "", "schema"),))
        task = Task(Question("What is the salary of Ann?"), self.SCHEMA, "")
        assert doubt.invented([fixed], task) == ["salary"]
        assert doubt.invented([fixed], replace(task, notes=("salary: in person.age",))) == []


class TestStoppingEarly:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        import sqlite3

        with sqlite3.connect(tmp_path / "people.db") as connection:
            connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
            connection.execute("INSERT INTO person VALUES ('Ann', 41), ('Bo', 27)")
        connection.close()
        return tmp_path / "people.db"

    @pytest.mark.parametrize("recipe", ["fast", "default", "max"])
    def test_a_question_that_will_be_refused_ends_at_once(self, path: Path, recipe: str) -> None:
        model = FakeModel("SELECT salary FROM pilot")
        with Session(path, model=model, recipe=recipe, cache=False) as session:
            answer = session.ask("What is the salary of the pilots?")
        assert len(model.calls) == 1
        assert answer.abstention is not None
        assert answer.abstention.kind == "unanswerable"
        assert "has nothing called 'pilot' and 'salary', so it cannot answer" in answer.abstention.reason
        assert (answer.sql, answer.rows, answer.confidence) == ("SELECT salary FROM pilot", (), LEAST)
        assert answer.to_dict()["abstained"] is True
        assert "so it cannot answer" in answer._repr_html_()

    def test_where_every_answer_is_to_be_given_a_query_that_fails_is_none(self, path: Path) -> None:
        model = FakeModel("SELECT salary FROM pilot")
        with (
            Session(path, model=model, recipe="fast", cache=False, min_confidence=0) as session,
            pytest.raises(NoAnswerError, match="has nothing called 'pilot' and 'salary', so it may be"),
        ):
            session.ask("What is the salary of the pilots?")
        assert len(model.calls) > 1

    @pytest.mark.parametrize("least", [None, 0.9])
    def test_queries_that_fail_for_another_reason_are_an_error(self, path: Path, least: float | None) -> None:
        model = FakeModel("SELECT age FROM person WHERE")
        with (
            Session(path, model=model, recipe="fast", cache=False, min_confidence=least) as session,
            pytest.raises(NoAnswerError, match="could be run"),
        ):
            session.ask("How old is Ann?")

    def test_an_invented_answer_is_refused(self, path: Path) -> None:
        model = FakeModel([["SELECT salary FROM person"], ["SELECT age FROM person"]])
        with Session(path, model=model, recipe="fast", cache=False, min_confidence=0) as session:
            assert session.ask("What is the salary of Ann?").abstention is None  # every answer is given, repaired
        assert len(model.calls) == 2
        answer = Session(path, model=FakeModel([["SELECT salary FROM person", "SELECT age FROM person"]] * 9))
        with answer as session:
            found = session.ask("What is the salary of Ann?")
        assert found.abstention is not None
        assert found.abstention.kind == "unanswerable"
        assert "nothing called 'salary'" in found.abstention.reason
