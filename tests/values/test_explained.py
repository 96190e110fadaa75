"""Tables of codes: found by their rows, tied to columns by values and names, shown to the model, put into queries."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import sqljury
from sqljury import FakeModel, Question, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.keys import known_schema
from sqljury.recipes.parts import SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.stages.prepare import Preparation
from sqljury.types import Result, Row
from sqljury.values.explained import Explained, code_table, explained

ROWS = [
    ("UTIL", "E", "electricity"),
    ("UTIL", "G", "gas"),
    ("INV_STS", "O", "open"),
    ("INV_STS", "X", "cancelled"),
    ("WO_STATUS", "O", "to be done"),
    ("WO_STATUS", "X", "given up"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with a table of codes that no key leads to."""
    path = tmp_path / "utility.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE cd_txt (cd_grp TEXT, cd_val TEXT, cd_desc TEXT);"
            "CREATE TABLE trf_hdr (trf_cd TEXT, trf_nm TEXT, util_cd TEXT, note TEXT);"
            "CREATE TABLE inv_hdr (inv_no INTEGER, sts_cd TEXT, tot_eur NUMERIC);"
            "CREATE TABLE wo (wo_no INTEGER, sts_cd TEXT);"
        )
        connection.executemany("INSERT INTO cd_txt VALUES (?, ?, ?)", ROWS)
        connection.executemany(
            "INSERT INTO trf_hdr VALUES (?, ?, ?, ?)",
            [("E1", "Home Power", "E", "E"), ("G1", "Home Warmth", "G", "G"), ("G2", "Works Warmth", "G", "E")],
        )
        connection.executemany("INSERT INTO inv_hdr VALUES (?, ?, ?)", [(1, "O", 10), (2, "X", 20), (3, "O", 30)])
        connection.executemany("INSERT INTO wo VALUES (?, ?)", [(1, "O"), (2, "X"), (3, "X")])
    connection.close()
    return path


def found(path: Path) -> Explained:
    with connect(path) as db:
        return explained(db, known_schema(db))


def test_columns_have_the_codes_of_the_group_that_their_names_share(file: Path) -> None:
    codes = found(file)
    assert codes.columns == {
        ("trf_hdr", "util_cd"): {"E": "electricity", "G": "gas"},
        ("inv_hdr", "sts_cd"): {"O": "open", "X": "cancelled"},
        ("wo", "sts_cd"): {"O": "to be done", "X": "given up"},
    }, "`note` has the same values, and shares no word with the group"
    assert codes.columns_of("cd_txt", "cd_desc", "gas") == [("trf_hdr", "util_cd", "G")]
    assert codes.columns_of("cd_txt", "cd_grp", "gas") == []
    assert codes.columns_of("trf_hdr", "trf_nm", "gas") == []


def of(path: Path, script: str) -> dict[str, dict[str, str]]:
    """The explained columns of a database that a script makes, as ``table.column`` and what its codes mean."""
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return {f"{table}.{column}": dict(meant) for (table, column), meant in found(path).columns.items()}


CODES = (
    "INSERT INTO code_values VALUES ('CALL_STATUS', 'DP', 'departed', 1), ('CALL_STATUS', 'CX', 'cancelled', 2), "
    "('PAY_MTH', 'BT', 'bank transfer', 1), ('PAY_MTH', 'CC', 'card', 2), ('PAY_MTH', 'CA', 'cash', 3), "
    "('invoice', 'O', 'open', 1), ('invoice', 'P', 'paid', 2);"
)


@pytest.mark.parametrize("key", ["", ", id INTEGER PRIMARY KEY"])
def test_a_column_of_order_and_a_key_of_its_own_hide_no_table_of_codes(tmp_path: Path, key: str) -> None:
    insert = CODES.replace("code_values", "code_values (code_group, code, meaning, sort_no)")
    codes = of(
        tmp_path / "codes.db",
        f"CREATE TABLE code_values (code_group TEXT, code TEXT, meaning TEXT, sort_no INTEGER{key});{insert}"
        "CREATE TABLE storage_tariffs (tariff_id INTEGER PRIMARY KEY, rate NUMERIC);"
        "INSERT INTO storage_tariffs VALUES (1, 5), (2, 6), (3, 7);"
        "CREATE TABLE vessel_calls (call_id INTEGER, call_status TEXT);"
        "INSERT INTO vessel_calls VALUES (1, 'DP'), (2, 'DP');"
        "CREATE TABLE receipts (receipt_id INTEGER, meth_cd TEXT);"
        "INSERT INTO receipts VALUES (1, 'BT'), (2, 'CC'), (3, 'CA'), (4, NULL);"
        "CREATE TABLE invoice (invoice_id INTEGER, state TEXT, note TEXT);"
        "INSERT INTO invoice VALUES (1, 'O', 'late'), (2, 'P', NULL);",
    )
    assert codes == {
        "vessel_calls.call_status": {"DP": "departed", "CX": "cancelled"},  # one code, but the name of the group
        "receipts.meth_cd": {"BT": "bank transfer", "CC": "card", "CA": "cash"},  # no other group has such codes
        "invoice.state": {"O": "open", "P": "paid"},  # the group is called like the table
    }


def test_the_order_of_codes_stays_where_they_are_shown_in_words(tmp_path: Path) -> None:
    of(tmp_path / "codes.db", BOOKINGS)
    for written in (
        "SELECT id, state FROM bookings ORDER BY state DESC, id",
        "SELECT b.id, b.state FROM bookings AS b ORDER BY state DESC, id",
    ):
        model = FakeModel(written)
        question = "Bookings with their state in words, highest state first"
        answer = sqljury.ask(question, tmp_path / "codes.db", recipe="fast", model=model)
        assert answer.rows == ((3, "cancelled"), (1, "confirmed"), (2, "confirmed"), (4, "requested")), answer.sql


BOOKINGS = (
    "CREATE TABLE state_codes (entity TEXT, code INTEGER, label TEXT, PRIMARY KEY (entity, code));"
    "INSERT INTO state_codes VALUES ('booking', 0, 'requested'), ('booking', 1, 'confirmed'), "
    "('booking', 2, 'cancelled'), ('invoice', 0, 'draft'), ('invoice', 1, 'sent'), ('invoice', 2, 'paid');"
    "CREATE TABLE bookings (id INTEGER PRIMARY KEY, guests INTEGER, state INTEGER);"
    "INSERT INTO bookings VALUES (1, 2, 1), (2, 1, 1), (3, 0, 2), (4, 2, 0);"
)


def test_codes_that_are_numbers(tmp_path: Path) -> None:
    """Of the columns whose values the group has, the one that is called after a kind."""
    meant = {0: "requested", 1: "confirmed", 2: "cancelled"}
    assert of(tmp_path / "codes.db", BOOKINGS) == {"bookings.state": meant}
    model = FakeModel("SELECT id FROM bookings WHERE state = 'confirmed'")
    answer = sqljury.ask("Which bookings are confirmed?", tmp_path / "codes.db", recipe="fast", model=model)
    assert answer.sql == "SELECT id FROM bookings WHERE state = 1"
    assert "state INTEGER -- 0 = requested, 1 = confirmed, 2 = cancelled\n" in model.calls[0].messages[0].content
    assert "bookings.state has 1 for confirmed" in model.calls[0].prompt


@pytest.mark.parametrize(
    ("question", "written", "rows"),
    [
        ("Which bookings are confirmed?", 0, ((1,), (2,))),
        ("Which bookings are confirmed?", 7, ((1,), (2,))),
        ("Which bookings were confirmed and then cancelled?", 0, ((4,),)),
        ("Which bookings are open and confirmed?", 0, ((4,),)),
    ],
)
def test_the_code_of_the_text_that_is_said(tmp_path: Path, question: str, written: int, rows: tuple[Row, ...]) -> None:
    of(tmp_path / "codes.db", BOOKINGS)
    model = FakeModel(f"SELECT id FROM bookings WHERE state = {written}")
    answer = sqljury.ask(question, tmp_path / "codes.db", recipe="fast", model=model)
    assert answer.rows == rows, answer.sql


def test_columns_that_share_no_more_than_a_kind_are_not_explained(tmp_path: Path) -> None:
    codes = of(
        tmp_path / "codes.db",
        "CREATE TABLE code_values (code_group TEXT, code TEXT, meaning TEXT);"
        "INSERT INTO code_values VALUES ('SHIP_STATUS', 'S', 'shipped out'), ('SHIP_STATUS', 'M', 'missing'), "
        "('LANG', 'DE', 'German'), ('LANG', 'FR', 'French'), ('EMPLOYEE', 'F', 'full time'), "
        "('EMPLOYEE', 'P', 'part time'), ('STATUS', 'A', 'active account'), ('STATUS', 'C', 'closed account'), "
        "('CLAIM_STATUS', 'A', 'accepted'), ('CLAIM_STATUS', 'C', 'contested');"
        "CREATE TABLE employee (employee_id INTEGER, marital_status TEXT, gender TEXT, country TEXT);"
        "INSERT INTO employee VALUES (1, 'S', 'F', 'DE'), (2, 'M', 'P', 'FR');"
        "CREATE TABLE claim (claim_id INTEGER, status TEXT); INSERT INTO claim VALUES (1, 'A'), (2, 'C');",
    )
    assert codes == {"claim.status": {"A": "accepted", "C": "contested"}}


def test_of_two_columns_neither_has_the_codes_of_their_table(tmp_path: Path) -> None:
    codes = of(
        tmp_path / "codes.db",
        f"CREATE TABLE code_values (code_group TEXT, code TEXT, meaning TEXT, sort_no INTEGER);{CODES}"
        "CREATE TABLE invoice (invoice_id INTEGER, first TEXT, last TEXT);"
        "INSERT INTO invoice VALUES (1, 'O', 'P'), (2, 'P', 'O');",
    )
    assert codes == {}


def test_a_value_that_the_group_lacks_is_no_code_of_it(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO trf_hdr VALUES ('S1', 'Steam', 'S', NULL)")
    connection.close()
    assert ("trf_hdr", "util_cd") not in found(file).columns


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(*row[:2], None) for row in ROWS],
        [*ROWS, ("UTIL", "G", "natural gas")],
        [("UTIL", code, text) for _, code, text in (("", "E", "electricity"), ("", "G", "gas"))],
        [(f"group {number}", "A", "text") for number in range(9)],
        [(1, 2, 3), (1, 3, 4), (2, 1, 1), (2, 2, 2)],
        [("Bergen", "a" * 20, "Northern Harbour and Old Town")] * 4,
    ],
)
def test_other_tables_are_no_tables_of_codes(rows: list[tuple[object, ...]]) -> None:
    assert code_table("t", Result(columns=("g", "c", "t"), rows=tuple(map(Row, rows)))) is None


def test_the_model_sees_what_codes_mean(file: Path) -> None:
    model = FakeModel("SELECT trf_nm FROM trf_hdr WHERE util_cd = 'G'")
    sqljury.ask("Which are the gas tariffs?", file, recipe="fast", model=model)
    shown = model.calls[0].messages[0].content
    assert "util_cd TEXT, -- 'E' = electricity, 'G' = gas\n" in shown
    assert "trf_hdr.util_cd has 'G' for gas" in model.calls[0].prompt
    assert "cd_desc has" not in model.calls[0].prompt


def test_a_text_counts_where_its_code_is_stored(file: Path) -> None:
    with connect(file) as db:
        task = Preparation(SchemaPart(values=6)).task(Question("Which are the gas tariffs?"), db)
    assert ("trf_hdr", "util_cd") in [hit[:2] for hit in task.hits]
    assert "cd_txt" not in [table for table, _, _ in task.hits]


def test_nothing_of_them_is_shown_where_the_schema_alone_may_be(file: Path) -> None:
    with connect(file) as db:
        task = Preparation(SchemaPart()).task(Question("Which are the gas tariffs?"), db, shows="schema")
    assert "util_cd" in task.text
    assert "electricity" not in "\n".join((task.text, *task.notes))


def test_nor_what_access_rules_hide(file: Path) -> None:
    with connect(file) as whole:
        for access in (Access(deny=("cd_txt",)), Access(mask=("cd_txt.cd_val",))):
            guarded = guard(whole, introspect(whole), access)
            assert explained(guarded, known_schema(guarded)) == Explained()
        guarded = guard(whole, introspect(whole), Access(mask=("trf_hdr.util_cd",)))
        assert set(explained(guarded, known_schema(guarded)).columns) == {("inv_hdr", "sts_cd"), ("wo", "sts_cd")}


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ("sts_cd = 'Cancelled'", "sts_cd = 'X'"),
        ("sts_cd <> 'cancelled'", "sts_cd <> 'X'"),
        ("sts_cd IN ('open', 'cancelled')", "sts_cd IN ('O', 'X')"),
    ],
)
def test_texts_become_the_codes_that_they_explain(file: Path, written: str, rewritten: str) -> None:
    model = FakeModel(f"SELECT SUM(tot_eur) FROM inv_hdr WHERE {written}")
    answer = sqljury.ask("What do these invoices come to?", file, recipe="fast", model=model)
    assert answer.sql == f"SELECT SUM(tot_eur) FROM inv_hdr WHERE {rewritten}"


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        (
            "SELECT COUNT(*) FROM trf_hdr AS t JOIN wo AS w ON w.wo_no <> 0 WHERE w.sts_cd = 'gas'",
            "SELECT COUNT(*) FROM trf_hdr AS t JOIN wo AS w ON w.wo_no <> 0 WHERE t.util_cd = 'G'",
        ),
        (  # a column that has no codes is compared as it is
            "SELECT COUNT(*) FROM trf_hdr WHERE note = 'gas'",
            "SELECT COUNT(*) FROM trf_hdr WHERE note = 'gas'",
        ),
        (
            "SELECT COUNT(*) FROM wo AS w LEFT JOIN trf_hdr AS t ON w.sts_cd = 'gas'",
            "SELECT COUNT(*) FROM wo AS w LEFT JOIN trf_hdr AS t ON w.sts_cd = 'gas'",
        ),
    ],
)
def test_a_text_is_compared_with_the_column_whose_code_it_explains(file: Path, written: str, rewritten: str) -> None:
    answer = sqljury.ask("How many are there?", file, recipe="fast", model=FakeModel(written))
    assert answer.sql == rewritten


@pytest.mark.parametrize("wish", ["in words", "in plain words", "(spelled out)", "spelt out"])
def test_codes_are_shown_in_words_where_the_question_wants_it(file: Path, wish: str) -> None:
    model = FakeModel("SELECT sts_cd, COUNT(*) FROM wo GROUP BY sts_cd ORDER BY COUNT(*) DESC")
    answer = sqljury.ask(f"How many work orders have each status {wish}?", file, recipe="fast", model=model)
    assert answer.rows == (("given up", 2), ("to be done", 1))
    assert any("in words" in fix.reason for fix in answer.candidates[0].fixes)
    assert answer.columns[0] == "sts_cd"
    for question in ("How many work orders have each status?", "Length in words of what each status has"):
        answer = sqljury.ask(question, file, recipe="fast", model=model)
        assert answer.rows == (("X", 2), ("O", 1))


def test_each_column_of_codes_is_shown_in_words(file: Path) -> None:
    sql = "SELECT i.sts_cd, w.sts_cd AS done FROM inv_hdr AS i JOIN wo AS w ON w.wo_no = i.inv_no WHERE i.inv_no = 2"
    answer = sqljury.ask("Status of invoice and work order 2, in words", file, recipe="fast", model=FakeModel(sql))
    assert answer.rows == (("cancelled", "given up"),)


def test_a_hostile_text_stays_on_its_line(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE cd_txt SET cd_desc = 'gas\n); DROP */ TABLE x; --' WHERE cd_val = 'G'")
    connection.close()
    model = FakeModel("SELECT 1")
    sqljury.ask("Which are the gas tariffs?", file, recipe="fast", model=model)
    shown = model.calls[0].messages[0].content
    line = next(line for line in shown.splitlines() if line.strip().startswith("util_cd"))
    assert "DROP" in line
    assert "*/" not in line


LABELS = """
CREATE TABLE status_labels (id INTEGER PRIMARY KEY, model TEXT, status INTEGER, label TEXT);
INSERT INTO status_labels VALUES (1, 'Campaign', 0, 'draft'), (2, 'Campaign', 1, 'live'), (3, 'Campaign', 2, 'funded'),
    (4, 'Payout', 0, 'scheduled'), (5, 'Payout', 1, 'paid');
CREATE TABLE campaigns (id INTEGER PRIMARY KEY, title TEXT, status INTEGER);
INSERT INTO campaigns VALUES (1, 'Well', 1), (2, 'Path', 1), (3, 'Roof', 0);
"""


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("How many campaigns are in each state? Label of the state and number.", {("live", 2), ("draft", 1)}),
        ("Number of campaigns by status label", {("live", 2), ("draft", 1)}),
        ("Number of campaigns by status", {(1, 2), (0, 1)}),
        ("Number of campaigns by status code, and not by the status label", {(1, 2), (0, 1)}),
        ("Number of campaigns by status, with the title of the campaign", {(1, 2), (0, 1)}),
    ],
)
def test_labels_of_a_table_with_a_key_of_its_own_are_shown(
    tmp_path: Path, question: str, shown: set[tuple[object, ...]]
) -> None:
    path = tmp_path / "labels.db"
    assert of(path, LABELS) == {"campaigns.status": {0: "draft", 1: "live", 2: "funded"}}
    model = FakeModel(["SELECT status, COUNT(*) FROM campaigns GROUP BY status"])
    with connect(path) as db:
        answer = sqljury.ask(question, db, model=model, recipe="fast")
    assert set(map(tuple, answer.rows)) == shown
