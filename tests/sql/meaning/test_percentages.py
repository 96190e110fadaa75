"""Shares and changes that a question wants in percent, on motions before the judges of a court."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.sql.meaning.base import Asked
from sqljury.sql.meaning.percentages import percentages
from sqljury.sql.parse import exp, read_query
from sqljury.types import Column, Question, Row, Schema, Table

SCHEMA = """
CREATE TABLE motion (id INTEGER PRIMARY KEY, judge TEXT, outcome TEXT, urgent INTEGER, hours INTEGER, billed REAL);
CREATE TABLE project (id INTEGER PRIMARY KEY, title TEXT, budget REAL, cost REAL, fee_cents INTEGER, vat_pct REAL);
INSERT INTO motion VALUES (1, 'Hale', 'granted', 1, 3, 30.0), (2, 'Hale', 'denied', 0, 2, 40.0),
 (3, 'Hale', 'granted', 0, 4, 50.0), (4, 'Moss', 'denied', 0, 6, 55.0), (5, 'Moss', 'granted', 1, 9, 75.0);
INSERT INTO project VALUES (1, 'Roof', 800.0, 1000.0, 4000, 19.0), (2, 'Hall', 500.0, 520.0, 1000, 7.0);
"""
GRANTED = "SUM(CASE WHEN outcome = 'granted' THEN 1 ELSE 0 END)"
BY_JUDGE = f"SELECT judge, ROUND({{}} * {GRANTED} / COUNT(*), 1) AS share FROM motion GROUP BY judge"
WHAT = "What percentage of the motions before each judge was granted?"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (WHAT, BY_JUDGE.format("1.0"), BY_JUDGE.format("100.0")),
        (WHAT, BY_JUDGE.format("10"), BY_JUDGE.format("100.0")),
        (
            WHAT,
            f"{BY_JUDGE.format('1.0')} HAVING share > 0.6 ORDER BY share DESC",
            f"{BY_JUDGE.format('100.0')} HAVING ROUND(1.0 * {GRANTED} / COUNT(*), 1) > 0.6 ORDER BY share DESC",
        ),
        (
            "What percent of all motions was urgent?",
            "SELECT CAST(SUM(urgent) AS REAL) / COUNT(*) FROM motion",
            "SELECT 100.0 * CAST(SUM(urgent) AS REAL) / COUNT(*) FROM motion",
        ),
        (
            "What % of all motions was granted?",
            f"SELECT {GRANTED} / COUNT(*) FROM motion",
            f"SELECT {GRANTED} * 100.0 / COUNT(*) FROM motion",
        ),
        (
            "Each judge's share of all hours, in percent",
            "SELECT judge, SUM(hours) / (SELECT SUM(hours) * 1.0 FROM motion) FROM motion GROUP BY judge",
            "SELECT judge, 100.0 * SUM(hours) / (SELECT SUM(hours) * 1.0 FROM motion) FROM motion GROUP BY judge",
        ),
        (
            "Which share of all that was billed is each motion, in per cent?",
            "SELECT id, billed / SUM(billed) OVER () * 10.0 FROM motion",
            "SELECT id, billed / SUM(billed) OVER () * 100.0 FROM motion",
        ),
        (
            "Which judges heard more than 3 percent of the motions, and what percentage?",
            "SELECT judge, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () FROM motion GROUP BY judge",
            "SELECT judge, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () FROM motion GROUP BY judge",
        ),
        (
            "Which projects cost more than 10 percent over budget? Title, budget and overrun in percent.",
            "SELECT title, budget, (cost - budget) / NULLIF(budget, 0) FROM project WHERE cost > 1.1 * budget",
            "SELECT title, budget, 100.0 * (cost - budget) / NULLIF(budget, 0) FROM project WHERE cost > 1.1 * budget",
        ),
        (
            "What share of the motions was granted, per judge? Judge and percentage to one decimal.",
            BY_JUDGE.format("1.0"),
            BY_JUDGE.format("100.0"),
        ),
        (
            "Fee of each project in hundreds, and its overrun in percent",
            "SELECT fee_cents / 100.0, 10.0 * (cost - budget) / budget FROM project",
            "SELECT fee_cents / 100.0, 100.0 * (cost - budget) / budget FROM project",
        ),
    ],
)
def test_fractions_become_percentages(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (WHAT, BY_JUDGE.format("100.0")),
        ("What fraction of the motions was granted, in percent or not?", BY_JUDGE.format("1.0")),
        ("What share of the motions before each judge was granted?", BY_JUDGE.format("1.0")),
        ("Percentage granted of each judge, between 0 and 1", BY_JUDGE.format("1.0")),
        ("The share granted of judges who grant more than ten percent", BY_JUDGE.format("1.0")),
        ("Motions per judge, and the percentage granted", "SELECT COUNT(*) * 1.0 / COUNT(DISTINCT judge) FROM motion"),
        ("Hours per motion, and the percentage granted", "SELECT SUM(hours) * 1.0 / COUNT(*) FROM motion"),
        ("Price of an hour in percent", "SELECT SUM(billed) / SUM(hours) FROM motion"),
        ("Average hours in percent", "SELECT SUM(hours * billed) / SUM(billed) FROM motion"),
        ("Percentage of fees", "SELECT SUM(fee_cents) / SUM(cost) FROM project"),
        ("Average fee per hour by granted percentage", "SELECT SUM(billed) / SUM(hours) FROM motion"),
        ("Average motions per judge with a percentage fee", BY_JUDGE.format("1.0")),
        ("By what percent did costs grow?", "SELECT title, cost / budget - 1 FROM project"),
        (
            "Percentage granted and urgent",
            f"SELECT {GRANTED} * 1.0 / COUNT(*), SUM(urgent) * 1.0 / COUNT(*) FROM motion",
        ),
        ("Percentages granted", f"SELECT DISTINCT {GRANTED} * 1.0 / COUNT(*) FROM motion GROUP BY judge"),
        ("Percentage", f"SELECT AVG(CASE WHEN urgent THEN 100.0 END), {GRANTED} * 1.0 / COUNT(*) FROM motion"),
        ("VAT percentage and overrun", "SELECT title, (cost - budget) / budget FROM project"),
        ("Percentage and overrun", "SELECT vat_pct, (cost - budget) / budget FROM project"),
        ("Percentages of the overrun", "SELECT (cost - budget) / budget AS o, COUNT(*) FROM project GROUP BY o"),
        ("What percentage over budget is each project?", "SELECT * FROM project WHERE (cost - budget) / budget > 1"),
    ],
)
def test_other_ratios_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


class Content:
    """A database whose queries cannot be looked at."""

    def rows(self, _sql: str) -> tuple[Row, ...] | None:
        return None


@pytest.mark.parametrize("evidence", ["", "percentage granted = granted motions / motions"])
def test_not_without_a_look_at_the_rows_and_not_against_evidence(evidence: str) -> None:
    table = Table("motion", (Column("judge", "TEXT"), Column("outcome", "TEXT")))
    asked = Asked(Question(WHAT, evidence), Schema("court", "sqlite", (table,)), Content())  # type: ignore[arg-type]
    tree = read_query(BY_JUDGE.format("1.0"), "sqlite")
    assert isinstance(tree, exp.Select)
    assert percentages(tree, asked) is None
    assert tree.sql("sqlite") == BY_JUDGE.format("1.0")
