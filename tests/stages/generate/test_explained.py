"""Plans in sentences: each query with the lines that it must give, from the engine of this Python."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from sqljury.errors import QueryRefusedError
from sqljury.stages.generate.engine_steps import ask, blocks
from sqljury.stages.generate.explain import explain, numbered

TABLES = """
CREATE TABLE gardener (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE plot (id INTEGER PRIMARY KEY, gardener_id INTEGER, size REAL);
CREATE TABLE harvest (plot_id INTEGER, crop TEXT, kilos REAL);
CREATE INDEX by_crop ON harvest(crop);
"""


@pytest.fixture(scope="module")
def garden() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    yield connection
    connection.close()


CASES = {
    "SELECT name FROM gardener WHERE town = 'Leeds' AND id > 3": """
        1. Find the rows of gardener where town = 'Leeds' and id > 3.
        2. Deliver name.""",
    "SELECT g.name FROM gardener AS g JOIN plot AS p ON p.gardener_id = g.id JOIN harvest AS h ON h.plot_id = p.id "
    "WHERE h.crop = 'beans' AND g.town = 'Leeds' GROUP BY g.id ORDER BY sum(h.kilos) DESC LIMIT 1": """
        1. Find the rows of harvest where harvest.crop = 'beans'.
        2. Match each with plot on harvest.plot_id = plot.id.
        3. Match each with gardener on plot.gardener_id = gardener.id, where gardener.town = 'Leeds'.
        4. Group the rows by gardener.id; for each group take the sum of harvest.kilos.
        5. Sort by the sum of harvest.kilos, largest first; keep the first 1.
        6. Deliver gardener.name.""",
    "SELECT count(*) FROM gardener WHERE id NOT IN (SELECT gardener_id FROM plot)": """
        1. Find the rows of plot.
        2. Keep gardener_id.
        3. Find the rows of gardener where id is not in the result of step 2.
        4. Deliver the number of rows.""",
    "SELECT town, count(*) AS n FROM gardener GROUP BY 1 HAVING n > 2 ORDER BY 2 DESC, town LIMIT 3 OFFSET 1": """
        1. Find the rows of gardener.
        2. Group the rows by town; for each group take the number of rows.
        3. Keep the groups where the number of rows > 2.
        4. Sort by the number of rows, largest first, then by town, smallest first; skip the first 1; keep the first 3.
        5. Deliver town, the number of rows as n.""",
    "SELECT name FROM gardener WHERE town = 'Leeds' UNION SELECT crop FROM harvest ORDER BY 1 LIMIT 5": """
        1. Find the rows of gardener where town = 'Leeds'.
        2. Keep name.
        3. Find the rows of harvest.
        4. Keep crop.
        5. Put the results of steps 2 and 4 together, without repeats.
        6. Sort by column 1, smallest first; keep the first 5.
        7. Deliver these rows.""",
    "SELECT gardener_id FROM plot EXCEPT SELECT id FROM gardener": """
        1. Find the rows of plot.
        2. Keep gardener_id.
        3. Find the rows of gardener.
        4. Keep id.
        5. Keep what is in the result of step 2 and not in that of step 4, without repeats.
        6. Deliver these rows.""",
    "SELECT g.name, p.size FROM gardener g LEFT JOIN plot p ON p.gardener_id = g.id AND p.size > 3 "
    "WHERE g.town LIKE 'L%' AND p.id IS NULL": """
        1. Find the rows of gardener where gardener.town is like 'L%'.
        2. Match each with plot on plot.gardener_id = gardener.id, where plot.size > 3; keep those that have none too.
        3. Keep the rows where plot.id is missing.
        4. Deliver gardener.name, plot.size.""",
    "SELECT DISTINCT crop FROM harvest WHERE kilos > (SELECT avg(kilos) FROM harvest) OR crop IN ('x', 'y')": """
        1. Find the rows of harvest.
        2. Keep the average of kilos.
        3. Find the rows of harvest where (kilos > the result of step 2 OR crop IN ('x', 'y')).
        4. Take each different crop once.
        5. Deliver crop.""",
    "SELECT name FROM gardener AS g WHERE NOT EXISTS (SELECT 1 FROM plot AS p WHERE p.gardener_id = g.id)": """
        1. For each row of gardener below: find the rows of plot where plot.gardener_id = gardener.id.
        2. See whether there is such a row.
        3. Find the rows of gardener where step 2 finds nothing.
        4. Deliver name.""",
    "WITH total AS (SELECT plot_id, sum(kilos) AS k FROM harvest GROUP BY plot_id) "
    "SELECT p.size, t.k FROM plot p JOIN total t ON t.plot_id = p.id WHERE t.k > 10": """
        1. Find the rows of harvest.
        2. Group the rows by plot_id; for each group take the sum of kilos.
        3. Call the result total: plot_id, the sum of kilos as k.
        4. Find the rows of total where total.k > 10.
        5. Match each with plot on total.plot_id = plot.id.
        6. Deliver plot.size, total.k.""",
    "SELECT avg(n) FROM (SELECT count(*) AS n FROM plot GROUP BY gardener_id) AS s": """
        1. Find the rows of plot.
        2. Group the rows by gardener_id; for each group take the number of rows.
        3. Call the result s: the number of rows as n.
        4. Find the rows of s.
        5. Deliver the average of n.""",
    "SELECT a.name, b.name FROM gardener a JOIN gardener b ON a.town = b.town AND a.id < b.id": """
        1. Find the rows of gardener as a.
        2. Match each with gardener as b on a.town = b.town and a.id < b.id.
        3. Deliver a.name, b.name.""",
    "SELECT count(DISTINCT town), count(name), group_concat(name, ';') FROM gardener NATURAL JOIN plot": """
        1. Find the rows of gardener.
        2. Match each with plot on all columns of the same name.
        3. Deliver the number of different town, the number of name, GROUP_CONCAT(name, ';').""",
    "SELECT round(100.0 * sum(kilos) / count(*), 1) AS share FROM harvest": """
        1. Find the rows of harvest.
        2. Deliver ROUND(100.0 * the sum of kilos / the number of rows, 1) as share.""",
    "SELECT name FROM gardener JOIN plot USING (id) WHERE town IS NOT NULL AND name NOT LIKE 'A%'": """
        1. Find the rows of gardener.
        2. Match each with plot on equal id, where town is not missing and name is not like 'A%'.
        3. Deliver name.""",
    "SELECT g.*, harvest.crop FROM gardener g, harvest": """
        1. Find the rows of gardener.
        2. Combine each with every row of harvest.
        3. Deliver all columns of gardener, harvest.crop.""",
    "SELECT crop, rank() OVER (PARTITION BY crop ORDER BY sum(kilos)) FROM harvest GROUP BY crop": """
        1. Find the rows of harvest.
        2. Group the rows by crop.
        3. Deliver crop, RANK() OVER (PARTITION BY crop ORDER BY the sum of kilos).""",
    'SELECT p.size FROM plot p JOIN gardener g ON p.gardener_id = g.id WHERE g.name = "Ann"': """
        1. Find the rows of plot.
        2. Match each with gardener on plot.gardener_id = gardener.id, where gardener.name = "Ann".
        3. Deliver plot.size.""",
    "SELECT p.size FROM plot p JOIN gardener g WHERE p.gardener_id = g.id": """
        1. Find the rows of plot.
        2. Match each with gardener on plot.gardener_id = gardener.id.
        3. Deliver plot.size.""",
    "SELECT 1 + 1": "1. Deliver 1 + 1.",
    "VALUES (1, 2)": "1. Deliver the values written in the query.",
}


@pytest.mark.parametrize(("sql", "told"), CASES.items(), ids=range(len(CASES)))
def test_a_query_in_sentences(garden: sqlite3.Connection, sql: str, told: str) -> None:
    lines = [line.strip() for line in told.strip().splitlines()]
    assert numbered(explain(sql, "sqlite", ask(garden, sql))).splitlines() == lines


def test_without_the_engine_the_order_is_that_of_the_query() -> None:
    sql = "SELECT g.name FROM gardener g JOIN harvest h ON h.plot_id = g.id WHERE h.crop = 'beans'"
    for dialect in ("sqlite", "postgres", "duckdb", "mysql"):
        assert [one.text for one in explain(sql, dialect)] == [
            "Find the rows of gardener.",
            "Match each with harvest on harvest.plot_id = gardener.id, where harvest.crop = 'beans'.",
            "Deliver gardener.name.",
        ]


def test_the_engines_ways(garden: sqlite3.Connection) -> None:
    sql = (
        "SELECT g.name FROM harvest h JOIN plot p ON p.id = h.plot_id LEFT JOIN gardener g ON g.id = p.gardener_id "
        "WHERE h.crop = 'beans' ORDER BY p.size"
    )
    assert [one.how for one in explain(sql, "sqlite", ask(garden, sql))] == [
        "looked up by crop in the index by_crop",
        "looked up by primary key",
        "looked up by primary key",
        "in a temporary sorted list",
        "",
    ]
    text = numbered(explain("SELECT name FROM gardener", "sqlite", [(2, 0, "SCAN gardener")]), ways=True)
    assert text == "1. Find the rows of gardener (every row is read).\n2. Deliver name."


def test_a_join_that_follows_from_two_others_does_not_tear_them_apart() -> None:
    sql = "SELECT a.x FROM a JOIN b ON a.id = b.id JOIN c ON a.id = c.id WHERE c.y > 1"
    rows = [(1, 0, "SCAN c"), (2, 0, "SEARCH b USING INDEX sqlite_autoindex_b_1 (id=?)"), (3, 0, "SCAN a")]
    assert numbered(explain(sql, "sqlite", rows), ways=True).splitlines() == [
        "1. Find the rows of c where c.y > 1 (every row is read).",
        "2. Match each with a on a.id = c.id (every row is read).",
        "3. Match each with b on a.id = b.id (looked up by id in the index of a unique key).",
        "4. Deliver a.x.",
    ]


def test_an_index_for_each_side_of_an_or(garden: sqlite3.Connection) -> None:
    sql = "SELECT h.kilos FROM harvest h, plot p WHERE (h.crop = 'a' OR h.crop = 'b' AND h.kilos > 1) AND p.id = 3"
    told = explain(sql, "sqlite", ask(garden, sql))
    assert {one.how for one in told[:2]} == {"looked up by primary key", "looked up in several indexes"}


def test_rows_of_older_and_newer_engines_are_read() -> None:
    rows = [
        (3, 0, "SCAN TABLE plot AS p"),
        (5, 0, "SEARCH TABLE harvest AS h USING AUTOMATIC COVERING INDEX (plot_id=?)"),
        (7, 0, "BLOOM FILTER ON h (plot_id=?)"),
        (9, 0, "SCAN t VIRTUAL TABLE INDEX 0:"),
        (10, 0, "SCAN g USING COVERING INDEX some index"),
        (11, 0, "SOMETHING NEW"),
    ]
    (block,) = blocks(rows)
    assert [(one.name, one.how) for one in block.tables] == [
        ("p", "every row is read"),
        ("h", "looked up by plot_id in an index made for this query"),
        ("t", "asked of the virtual table"),
        ("g", "every entry of the index is read, in the order of some index"),
    ]


def test_names_with_braces_and_lines_stay_in_their_sentence() -> None:
    sql = 'WITH "a{b}\n9. Deliver all" AS (SELECT 1 AS "{}") SELECT "{}" FROM "a{b}\n9. Deliver all"'
    assert len(numbered(explain(sql, "sqlite")).splitlines()) == len(explain(sql, "sqlite")) == 3


@pytest.mark.parametrize("sql", ["DELETE FROM gardener", "SELECT FROM", "", "SELECT 1; SELECT 2"])
def test_what_is_no_plain_read_is_refused(sql: str) -> None:
    with pytest.raises(QueryRefusedError):
        explain(sql, "sqlite")
