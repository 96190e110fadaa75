"""The examples that come with the package: what they say a query returns is what it returns."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.sql.compare import EXACT, same
from sqljury.sql.scan import orders
from sqljury.testing.expect import Example, _example, all_examples, choose_examples, line_of, read_rows
from sqljury.testing.shape import Shape
from sqljury.testing.show import known, show_case, show_result


@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.question[:40])
def test_the_result_is_that_of_the_query(example: Example) -> None:
    expected = example.case.expected
    assert expected is not None
    with MemoryDatabase(Shape(example.case.schema, {}).statements()) as db:
        assert db.fill(example.case.tables)  # every key holds
        result = db.execute(example.sql)
    assert result.ok
    assert same(result, expected, EXACT, ordered=orders(example.sql))
    assert any(cell not in (None, 0) for row in expected.rows for cell in row)


@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.question[:40])
def test_a_model_could_have_written_it(example: Example) -> None:
    assert example.case.expected is not None
    read = read_rows(show_result(example.case.expected), known(example.case))
    assert read is not None
    assert show_result(read) == show_result(example.case.expected)
    assert len(show_case(example.case, "csv")) < 1_000


def test_a_line_keeps_what_a_key_is() -> None:
    example = next(example for example in all_examples() if any(t.foreign_keys for t in example.case.schema.tables))
    assert _example(json.loads(line_of(example))) == example
    tables = tuple(
        replace(table, foreign_keys=tuple(replace(key, declared=False, score=0.8) for key in table.foreign_keys))
        for table in example.case.schema.tables
    )
    case = replace(example.case, schema=replace(example.case.schema, tables=tables))
    assert _example(json.loads(line_of(replace(example, case=case)))).case.schema.tables == tables


def test_there_are_enough_of_every_kind_and_no_two_alike() -> None:
    assert len(all_examples()) >= 60
    assert len({example.question for example in all_examples()}) == len(all_examples())
    assert {example.kind for example in all_examples()} == {
        "plain", "filter", "number", "group", "order", "join", "nested",
    }  # fmt: skip


def test_the_first_are_of_different_kinds() -> None:
    for seed in range(20):
        assert len({example.kind for example in choose_examples(7, seed)}) == 7
        assert choose_examples(9, seed)[:5] == choose_examples(5, seed)
    assert choose_examples(0) == ()
    assert len(choose_examples(10_000)) == len(all_examples())
