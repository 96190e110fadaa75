"""Schemas that would be read too long are shown smaller, and keep every table, column, key and comment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqljury.schema.render import Style, render
from sqljury.schema.sizes import estimate_tokens
from sqljury.schema.target import STEPS, aimed, stepped
from sqljury.types import Column, ForeignKey, Result, Schema, Table

STYLE = Style(rows=3, examples=0)


def table(number: int) -> Table:
    columns = (
        Column("id", "INTEGER"),
        Column(f"name_{number}", "TEXT", comment=f"remark {number}"),
        Column("other_id", "INTEGER"),
        Column("made_on", "DATE"),
    )
    key = ForeignKey(("other_id",), f"t{max(number - 1, 0)}", ("id",))
    return Table(f"t{number}", columns, ("id",), (key,))


SCHEMA = Schema("s", "sqlite", tuple(map(table, range(15))))
SAMPLES = {
    one.name: Result(
        tuple(column.name for column in one.columns),
        tuple((row, f"a name of thing {row}", row, f"2020-01-0{row}") for row in (1, 2, 3)),
    )
    for one in SCHEMA.tables
}


def test_a_schema_that_fits_is_written_as_ever() -> None:
    whole = render(SCHEMA, SAMPLES, style=STYLE)
    assert aimed(SCHEMA, SAMPLES, style=STYLE) == whole
    assert aimed(SCHEMA, SAMPLES, style=STYLE, tokens=estimate_tokens(whole)) == whole
    assert aimed(SCHEMA, SAMPLES, style=STYLE, tokens=estimate_tokens(whole) - 1) != whole


@pytest.mark.parametrize("tokens", [1900, 1500, 1300, 1100, 900, 700, 1])
def test_the_first_step_that_fits_is_taken_and_no_name_is_lost(tokens: int) -> None:
    text = aimed(SCHEMA, SAMPLES, style=STYLE, tokens=tokens)
    steps = [stepped(SCHEMA, SAMPLES, step, style=STYLE) for step in STEPS]
    assert text == next((one for one in steps if estimate_tokens(one) <= tokens), steps[-1])
    for one in SCHEMA.tables:
        assert all(column.name in text for column in one.columns)
        assert one.columns[1].comment in text
    assert text.count("t14") >= 1
    assert text.count("-> ") + text.count("REFERENCES") == 15


def test_steps_shrink_and_examples_stand_beside_texts_only() -> None:
    sizes = [estimate_tokens(stepped(SCHEMA, SAMPLES, step, style=STYLE)) for step in STEPS]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[4] > sizes[5]
    text = stepped(SCHEMA, SAMPLES, STEPS[2], style=STYLE)
    assert "such as 'a name of th" in text
    assert "2020-01-0" not in text, "the type says that it is a date"
    assert "other_id INTEGER,\n" in text


def test_no_step_shows_more_than_the_recipe() -> None:
    bare = replace(STYLE, rows=0)
    assert "rows of" not in stepped(SCHEMA, SAMPLES, STEPS[0], style=bare)
    assert len(aimed(SCHEMA, SAMPLES, style=STYLE, tokens=1, max_chars=700)) <= 700


def test_a_service_is_shown_the_whole_schema() -> None:
    from sqljury.llm.base import Wrapper
    from sqljury.llm.fake import FakeModel
    from sqljury.llm.local import LocalModel
    from sqljury.pipeline import _for
    from sqljury.recipes import load

    fast, local = load("fast"), FakeModel("SELECT 1")
    assert fast.schema.tokens
    assert _for(local, fast, 1).schema.tokens == 0
    local.on_cpu = LocalModel.on_cpu  # type: ignore[attr-defined]
    assert _for(Wrapper(local), fast, 1) == fast  # type: ignore[arg-type]


def test_a_large_schema_shows_codes_and_no_example_that_tells_nothing() -> None:
    columns = (
        Column("id", "INTEGER", False),
        Column("depot", "TEXT"),
        Column("booked", "TIMESTAMP"),
        Column("due", "TEXT"),
        Column("state", "TEXT"),
        Column("remark", "TEXT"),
    )
    table = Table("shipments", columns, ("id",), (ForeignKey(("depot",), "depots", ("code",)),))
    depots = Table("depots", (Column("code", "TEXT"),), ("code",))
    rows = tuple(
        (
            number,
            "HH1",
            "2024-01-01 10:00:00",
            f"2024-01-{number:02}",
            "CAN" if number % 4 == 3 else "DLV",
            f"r{number}",
        )
        for number in range(1, 13)
    )
    sample = Result(columns=tuple(column.name for column in columns), rows=rows)
    text = stepped(Schema("carrier", "sqlite", (table, depots)), {"shipments": sample}, STEPS[2])
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert lines["state"].endswith("-- such as 'DLV', 'CAN'"), "all codes, the most frequent first"
    assert lines["due"].count("'") == lines["remark"].count("'") == 2, "one example of what is always different"
    assert all("such as" not in lines[name] for name in ("id", "depot", "booked"))
