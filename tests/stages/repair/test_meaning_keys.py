"""Rules of meaning that follow keys: invented joins, texts that explain codes; asked of databases through ``ask``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from sqljury import ask
from sqljury.llm.fake import FakeModel

TABLES = """
    CREATE TABLE cities (code TEXT{key}, city_name TEXT);
    CREATE TABLE clubs (club_id INTEGER{key}, club_name TEXT, city_code TEXT{city});
    CREATE TABLE members (mid INTEGER{key}, full_name TEXT, home_club INTEGER{club}, status TEXT{status});
    CREATE TABLE statuses (code TEXT{key}, meaning TEXT, remark TEXT);
    CREATE TABLE parcels (parcel_no INTEGER{key}, sender TEXT, weight_grams INTEGER, channel TEXT);
    CREATE TABLE payments (payment_no INTEGER{key}, member INTEGER{member}, cents INTEGER);
    INSERT INTO cities VALUES ('BGO', 'Bergen'), ('OSL', 'Oslo'), ('TRD', 'Trondheim');
    INSERT INTO clubs VALUES (11, 'Harbour', 'BGO'), (12, 'Arena', 'OSL'), (13, 'Loft', 'OSL'), (14, 'Mill', 'TRD');
    INSERT INTO members VALUES (11, 'Ada', 12, 'A'), (12, 'Bo', 12, 'X'), (13, 'Eva', 11, 'A'), (14, 'Gro', 13, 'P');
    INSERT INTO statuses VALUES ('A', 'active', 'pays'), ('X', 'Cancelled', 'pays no more'), ('P', 'paused', 'paused');
    INSERT INTO payments VALUES (1, 11, 500), (2, 12, 700), (3, 12, 900), (4, 13, 100);
    INSERT INTO parcels VALUES (1, 'Ada', 1250, 'web'), (2, 'Bo', 990, 'Web'), (3, 'Ida', 40, 'post');
"""
DECLARED = {
    "key": " PRIMARY KEY",
    "city": " REFERENCES cities",
    "club": " REFERENCES clubs",
    "status": " REFERENCES statuses",
    "member": " REFERENCES members",
}


@pytest.fixture(params=["declared", "inferred"])
def club(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    declared = request.param == "declared"
    file = tmp_path / "club.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(TABLES.format(**{name: text if declared else "" for name, text in DECLARED.items()}))
    return file


def answered(file: Path, question: str, sql: str) -> tuple[str, tuple[tuple[object, ...], ...], str]:
    answer = ask(question, file, recipe="fast", model=FakeModel(sql))
    fixes = answer.candidates[0].fixes
    return answer.sql, answer.rows, fixes[-1].reason if fixes else ""


def test_an_invented_join_follows_the_keys(club: Path) -> None:
    sql, rows, reason = answered(
        club,
        "Which city has the most members?",
        "SELECT c.city_name, COUNT(*) FROM cities AS c JOIN members AS m ON c.code = m.home_club GROUP BY c.city_name "
        "ORDER BY COUNT(*) DESC LIMIT 1",
    )
    assert rows == (("Oslo", 3),)
    assert "clubs.city_code" in sql
    assert reason == "a join of columns that no key relates"


def test_equal_numbers_do_not_make_up_for_a_key_to_another_table(club: Path) -> None:
    sql, rows, reason = answered(
        club,
        "Which club earned the most?",
        "SELECT c.club_name, SUM(p.cents) FROM clubs AS c JOIN payments AS p ON c.club_id = p.member "
        "GROUP BY c.club_name ORDER BY SUM(p.cents) DESC LIMIT 1",
    )
    assert rows == (("Arena", 2100),)
    assert "home_club" in sql
    assert reason == "a join of columns that no key relates"


def test_an_invented_join_that_cannot_run_follows_the_keys(tmp_path: Path) -> None:
    """Of a text with a number: casts would make it run, and find nothing."""
    file = tmp_path / "club.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(TABLES.format(**dict.fromkeys(DECLARED, "")))
    invented = (
        "SELECT m.full_name FROM cities AS c JOIN members AS m ON c.code = m.home_club WHERE c.city_name = 'Oslo'"
    )
    sql, rows, reason = answered(file, "Who is a member of a club in Oslo?", invented)
    assert set(rows) == {("Ada",), ("Bo",), ("Gro",)}
    assert "CAST" not in sql
    assert reason == "a join of columns that no key relates"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT m.full_name FROM members AS m JOIN clubs AS c ON m.home_club = c.club_id",  # a key
        "SELECT m.full_name FROM members AS m JOIN parcels AS p ON m.full_name = p.sender",  # the same texts
        "SELECT m.full_name FROM members AS m LEFT JOIN cities AS c ON m.home_club = c.code",  # an outer join
        "SELECT p.sender FROM members AS m JOIN parcels AS p ON m.home_club = p.parcel_no",  # no keys lead there
    ],
)
def test_other_joins_stay(club: Path, sql: str) -> None:
    assert answered(club, "Which members are there?", sql)[0] == sql


def test_a_text_of_the_table_that_explains_the_codes(club: Path) -> None:
    sql, rows, reason = answered(
        club, "Which members have cancelled?", "SELECT full_name FROM members WHERE status = 'cancelled'"
    )
    assert rows == (("Bo",),)
    assert (
        sql == "SELECT full_name FROM members WHERE status IN (SELECT code FROM statuses WHERE meaning = 'Cancelled')"
    )
    assert reason == "the column has codes, which another table explains"
    others = "SELECT full_name FROM members WHERE status <> 'cancelled'"
    assert answered(club, "Who has not cancelled?", others)[1] == (("Ada",), ("Eva",), ("Gro",))
    among_kept = f"{others} AND full_name <> 'Bo'"  # the same rows, until someone else cancels
    changed, rows, _ = answered(club, "Who apart from Bo has not cancelled?", among_kept)
    assert "meaning = 'Cancelled'" in changed
    assert rows == (("Ada",), ("Eva",), ("Gro",))
    several = "SELECT full_name FROM members WHERE status IN ('active', 'cancelled')"
    assert answered(club, "Who is active or has cancelled?", several)[1] == (("Ada",), ("Bo",), ("Eva",))


def test_codes_that_are_not_explained_for_certain_stay(club: Path) -> None:
    for text in ("gone", "A"):  # in no column; a code itself
        sql = f"SELECT COUNT(*) FROM members WHERE status = '{text}'"
        assert answered(club, f"How many members have the status {text}?", sql)[0] == sql
    in_two_columns = "SELECT COUNT(*) FROM members WHERE status = 'paused'"
    sql, _, reason = answered(club, "How many members have the status paused?", in_two_columns)
    assert sql == "SELECT COUNT(*) FROM members WHERE status = 'P'"
    assert reason == "members.status has P for 'paused'"


def test_a_text_that_is_stored_in_two_cases_is_compared_without_case(club: Path) -> None:
    sql = "SELECT COUNT(*) FROM parcels WHERE channel = 'web'"
    assert answered(club, "How many parcels came in over the web?", sql)[1] == ((2,),)
    sql = "SELECT COUNT(*) FROM parcels WHERE channel = 'post'"
    assert answered(club, "How many parcels came in by post?", sql)[0] == sql


def test_a_unit_that_is_divided_keeps_its_fraction(club: Path) -> None:
    sql = "SELECT sender, weight_grams / 1000 FROM parcels"
    assert answered(club, "What do the parcels weigh, in kilograms?", sql)[1][0] == ("Ada", 1.25)
    assert answered(club, "How many are there of each number?", "SELECT parcel_no / 10 FROM parcels")[2] == ""


def test_rows_without_a_match_by_a_column_that_is_never_null(club: Path) -> None:
    sql = "SELECT c.club_name FROM clubs AS c JOIN members AS m ON m.home_club = c.club_id WHERE m.full_name IS NULL"
    after, rows, reason = answered(club, "Which clubs have no members?", sql)
    assert after == sql.replace("JOIN", "LEFT JOIN")
    assert rows == (("Mill",),)
    assert reason == "an inner join has no rows without a match in m"


def test_a_column_with_null_may_be_asked_for(club: Path) -> None:
    with closing(sqlite3.connect(club)) as connection:
        connection.execute("UPDATE members SET full_name = NULL WHERE mid = 13")
        connection.commit()
    sql = "SELECT c.club_name FROM clubs AS c JOIN members AS m ON m.home_club = c.club_id WHERE m.full_name IS NULL"
    assert answered(club, "Which clubs have members without a name?", sql)[:2] == (sql, (("Harbour",),))


def test_a_column_without_null_today_is_not_the_lack_of_a_row(club: Path) -> None:
    sql = "SELECT c.club_name FROM clubs AS c JOIN members AS m ON m.home_club = c.club_id WHERE m.full_name IS NULL"
    for question in ("Which clubs have members without a name?", "Which clubs have a member that was not named yet?"):
        assert answered(club, question, sql)[:2] == (sql, ())
    for question in ("Which clubs have never had a member?", "Which clubs do not have any members?"):
        assert answered(club, question, sql)[1] == (("Mill",),)
