from __future__ import annotations

import pytest

from sqljury.sql.style import restyled
from sqljury.types import Column, Schema, Table

SCHEMA = Schema(
    "test",
    "sqlite",
    (
        Table("Singer", (Column("ID", "INTEGER"), Column("Name", "TEXT"), Column("Age", "INTEGER"))),
        Table("concert", (Column("ID", "INTEGER"), Column("Singer_ID", "INTEGER"), Column("Full Title", "TEXT"))),
    ),
)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("select  count(*) from singer ;", "SELECT COUNT(*) FROM Singer"),
        ('SELECT name FROM singer\nWHERE name  =  "Joe\'s"', "SELECT Name FROM Singer WHERE Name = 'Joe''s'"),
        ('SELECT "name" FROM "singer" AS s WHERE s.age <> 3', "SELECT Name FROM Singer WHERE Age != 3"),
        ("SELECT name FROM singer WHERE name = '<>' OR NOT age IN (1, 2)",
         "SELECT Name FROM Singer WHERE Name = '<>' OR Age NOT IN (1, 2)"),
        ("SELECT 1 FROM singer WHERE name IS NOT NULL AND age NOT BETWEEN 1 AND 2 AND name NOT LIKE 'a%'",
         "SELECT 1 FROM Singer WHERE Name IS NOT NULL AND Age NOT BETWEEN 1 AND 2 AND Name NOT LIKE 'a%'"),
        ("SELECT singer.name, `full title` FROM concert INNER JOIN singer ON singer_id = singer.id",
         'SELECT T2.Name, T1."Full Title" FROM concert AS T1 INNER JOIN Singer AS T2 ON T1.Singer_ID = T2.ID'),
        ("SELECT a.*, count(*) AS age FROM singer a JOIN concert b ON a.id = b.singer_id GROUP BY a.id ORDER BY age",
         "SELECT T1.*, COUNT(*) AS age FROM Singer AS T1 JOIN concert AS T2 ON T1.ID = T2.Singer_ID "
         "GROUP BY T1.ID ORDER BY Age"),
        ("SELECT name FROM singer AS s WHERE NOT EXISTS (SELECT 1 FROM concert c WHERE c.singer_id = s.id)",
         "SELECT Name FROM Singer AS s WHERE NOT EXISTS (SELECT 1 FROM concert AS c WHERE c.Singer_ID = s.ID)"),
        ("SELECT name FROM singer UNION SELECT c.[full title] FROM concert c",
         'SELECT Name FROM Singer UNION SELECT "Full Title" FROM concert'),
        ("SELECT x.n FROM (SELECT name AS n FROM singer) AS x", "SELECT x.n FROM (SELECT Name AS n FROM Singer) AS x"),
        ("SELECT * FROM singer NATURAL JOIN concert", "SELECT * FROM Singer NATURAL JOIN concert"),
        ("SELECT nothing FROM nowhere AS n", "SELECT nothing FROM nowhere AS n"),
    ],
)  # fmt: skip
def test_queries_in_one_style(sql: str, text: str) -> None:
    assert restyled(sql, SCHEMA) == text
    assert restyled(text, SCHEMA) == text


@pytest.mark.parametrize("sql", ["", "SELECT FROM (", "SELECT 1; SELECT 2", "DROP TABLE singer", "no query"])
def test_what_is_not_one_query_has_no_style(sql: str) -> None:
    assert restyled(sql, SCHEMA) is None
