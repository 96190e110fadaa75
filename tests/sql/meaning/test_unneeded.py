"""Joins that nothing needs, on a farm whose rotations and events refer to fields."""

from __future__ import annotations

from typing import Any

import pytest

from sqljury.sql.meaning import Asked, Rewriter
from sqljury.sql.meaning.unneeded import unneeded_join
from sqljury.types import Column, ForeignKey, Question, Schema, Table


def _table(name: str, columns: str, *keys: tuple[str, str]) -> Table:
    described = tuple(Column(column, "INTEGER" if column.endswith("id") else "TEXT") for column in columns.split())
    return Table(name, described, foreign_keys=tuple(ForeignKey((own,), other, ("id",)) for own, other in keys))


FARM = Schema(
    "farm",
    "sqlite",
    (
        _table("field", "id label site tenure"),
        _table("rotation", "id field_id crop sown", ("field_id", "field")),
        _table("worker", "id name"),
        _table("treatment", "id field_id worker_id dose", ("field_id", "field"), ("worker_id", "worker")),
    ),
)


def _rewritten(question: str, sql: str) -> str | None:
    nothing: Any = None  # the rule asks the database nothing
    written = Rewriter(sql, Asked(Question(question), FARM, nothing)).rewrite(unneeded_join)
    return None if written is None else written.sql


LEASED = "SELECT T1.label FROM field AS T1 JOIN rotation AS T2 ON T1.id = T2.field_id WHERE T1.tenure = 'leased'"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (LEASED, "SELECT T1.label FROM field AS T1 WHERE T1.tenure = 'leased'"),
        (
            "SELECT DISTINCT f.label FROM rotation AS r INNER JOIN field AS f ON r.field_id = f.id",
            "SELECT DISTINCT f.label FROM field AS f",
        ),
        (
            "SELECT f.site, COUNT(f.id) FROM field AS f JOIN rotation AS r ON r.field_id = f.id GROUP BY f.site",
            "SELECT f.site, COUNT(f.id) FROM field AS f GROUP BY f.site",
        ),
        (
            "SELECT f.label, w.name FROM treatment AS t JOIN field AS f ON t.field_id = f.id "
            "JOIN rotation AS r ON r.field_id = f.id JOIN worker AS w ON w.id = t.worker_id",
            "SELECT f.label, w.name FROM treatment AS t JOIN field AS f ON t.field_id = f.id "
            "JOIN worker AS w ON w.id = t.worker_id",
        ),
    ],
)
def test_a_table_that_only_the_join_names_is_left_out(sql: str, expected: str) -> None:
    assert _rewritten("Which leased fields are there?", sql) == expected


@pytest.mark.parametrize(
    "question",
    ["Which leased fields have a rotation?", "Which leased fields were ever sown?", "Leased fields with some crops"],
)
def test_a_table_that_the_question_means_stays(question: str) -> None:
    assert _rewritten(question, LEASED) is None


@pytest.mark.parametrize(
    "sql",
    [
        LEASED.replace("JOIN", "LEFT JOIN"),
        LEASED + " AND T2.crop = 'maize'",
        "SELECT * FROM field AS f JOIN rotation AS r ON r.field_id = f.id",
        "SELECT f.site, COUNT(*) FROM field AS f JOIN rotation AS r ON r.field_id = f.id GROUP BY f.site",
        "SELECT f.label FROM field AS f JOIN rotation AS r ON r.field_id = f.id GROUP BY f.id HAVING COUNT(f.id) > 2",
        "SELECT r.label FROM field AS r JOIN field AS f ON r.id = f.id",
        "SELECT t.dose FROM treatment AS t JOIN worker AS w ON w.id = t.worker_id",  # to one row: nothing is repeated
        "SELECT f.label FROM field AS f JOIN rotation AS r ON r.field_id = f.id WHERE f.id IN (SELECT 1)",
        "SELECT f.label FROM field AS f, rotation AS r WHERE r.field_id = f.id",
        "SELECT label FROM field JOIN treatment ON treatment.field_id = field.id "
        "JOIN worker ON worker.id = treatment.worker_id",  # the worker refers to nothing, the treatment joins it
    ],
)
def test_other_queries_stay(sql: str) -> None:
    assert _rewritten("Which leased fields are there?", sql) is None
