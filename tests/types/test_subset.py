from __future__ import annotations

from dataclasses import replace

from sqljury.types import Column, ForeignKey, Schema, Table
from sqljury.types.schema import only_tables, subset

MAKER = Table("maker", (Column("id"), Column("name")), ("id",), unique_keys=(("name",),))
MODEL = Table(
    "model",
    (Column("id"), Column("maker"), Column("title")),
    ("id", "title"),
    (ForeignKey(("maker",), "maker", ("id",)),),
)
SCHEMA = Schema("cars", "sqlite", (MODEL, MAKER))


def test_keys_stay_where_all_their_columns_do() -> None:
    found = subset(SCHEMA, {"model": {"id", "maker"}, "maker": {"id"}})
    model, maker = found.tables
    assert [column.name for column in model.columns] == ["id", "maker"]
    assert (model.primary_key, model.foreign_keys) == ((), MODEL.foreign_keys)
    assert (maker.primary_key, maker.unique_keys) == (("id",), ())


def test_a_key_goes_with_either_of_its_sides() -> None:
    assert only_tables(SCHEMA, {"model"}).tables[0].foreign_keys == ()
    assert subset(SCHEMA, {"model": {"id", "maker"}, "maker": {"name"}}).tables[0].foreign_keys == ()
    assert subset(SCHEMA, {"model": {"title"}, "maker": {"id"}}).tables[0].foreign_keys == ()


def test_certain_and_likely_keys() -> None:
    noted = ForeignKey(("title",), "maker", ("name",), declared=False, evidence=("notes",))
    guess = ForeignKey(("id",), "maker", ("id",), declared=False, score=0.9, evidence=("values",))
    table = replace(MODEL, foreign_keys=(*MODEL.foreign_keys, noted, guess), candidate_keys=(("title",), ("id",)))
    assert [key.certain for key in table.foreign_keys] == [True, True, False]
    assert table.declared_keys == MODEL.foreign_keys
    assert (table.likely_key, table.row_key) == ((), ("id", "title"))
    table = replace(table, primary_key=())
    assert (table.likely_key, table.row_key) == (("title",), ("title",))
    (kept,) = subset(Schema("cars", "sqlite", (table,)), {"model": {"id", "maker"}}).tables
    assert (kept.candidate_keys, kept.likely_key) == ((("id",),), ("id",))
    assert replace(kept, candidate_keys=()).row_key == ()


def test_what_is_not_there_and_what_is_empty() -> None:
    assert subset(SCHEMA, {"model": (), "none": {"id"}}).tables == ()
    assert only_tables(SCHEMA, {"model", "maker"}) == SCHEMA
