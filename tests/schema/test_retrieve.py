from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.language.alike import joined_words, likeness, pieces, question_words
from sqljury.schema.index import Hit, Index
from sqljury.schema.joins import Joins
from sqljury.schema.render import render
from sqljury.schema.retrieve import Indexes, estimate_tokens, is_short, retrieve
from sqljury.types import Column, ForeignKey, Schema, Table


def table(name: str, *columns: str, to: tuple[str, ...] = (), comment: str = "") -> Table:
    """A table with a key ``id`` and a key to each of ``to``."""
    keys = tuple(ForeignKey((f"{other}_id",), other, ("id",)) for other in to)
    names = ("id", *columns, *(f"{other}_id" for other in to))
    return Table(name, tuple(Column(column, "TEXT") for column in names), ("id",), keys, comment=comment)


FILLER = tuple(table(f"zz_{number}", *(f"blob_{column}" for column in range(12))) for number in range(60))
SHOP = Schema(
    "shop",
    "sqlite",
    (
        *FILLER[:30],
        table("cust_mstr", "cust_nm", "town"),
        table("ord_hdr", "ord_dt", "tot_amt", to=("cust_mstr",)),
        table("ord_itm", "qty", to=("ord_hdr", "product")),
        table("product", "title", *(f"filler_{number}" for number in range(200))),
        table("crew.Pilot", "flightHours", comment="people who steer the aeroplane"),
        *FILLER[30:],
    ),
)


def kept(schema: Schema) -> dict[str, set[str]]:
    return {table.name: {column.name for column in table.columns} for table in schema.tables}


@pytest.mark.parametrize("meanings", [False, True])
def test_abbreviated_names_are_found_and_what_joins_them(meanings: bool) -> None:
    found = kept(retrieve(Index.of(SHOP, meanings=meanings), "quantity per customer name", max_tokens=300))
    assert found["cust_mstr"] >= {"id", "cust_nm"}
    assert found["ord_itm"] >= {"qty", "ord_hdr_id"}
    assert found["ord_hdr"] >= {"id", "cust_mstr_id"}  # nobody asked for it


def test_wide_tables_keep_keys_and_what_was_asked_for() -> None:
    found = kept(retrieve(Index.of(SHOP, meanings=False), "the title of each product", max_tokens=400))
    assert found["product"] >= {"id", "title"}
    assert len(found["product"]) < 203


def test_words_of_like_meaning_are_found() -> None:
    pytest.importorskip("wordllama")
    tables = tuple(table(name, "label") for name in ("staff", "invoices", "aircraft", "physicians", "bags"))
    index = Index.of(Schema("s", "sqlite", (*FILLER, *tables)))
    for word, name in {"employees": "staff", "plane": "aircraft", "doctors": "physicians", "bills": "invoices"}.items():
        scores = index.scores(f"how many {word} are there").tables
        assert index.schema.tables[scores.index(max(scores))].name == name


def test_comments_and_qualified_names_and_values_count() -> None:
    index = Index.of(SHOP, meanings=False)
    assert "crew.Pilot" in kept(retrieve(index, "who steers the aeroplane", max_tokens=60))
    assert "crew.Pilot" in kept(retrieve(index, "flight hours", max_tokens=60))
    assert "zz_7" not in kept(retrieve(index, "quantity of Rhubarb", max_tokens=150))
    found = retrieve(index, "quantity of Rhubarb", max_tokens=150, hits=[Hit("zz_7", "blob_3"), Hit("gone", "x")])
    assert "blob_3" in kept(found)["zz_7"]


def test_a_schema_that_fits_is_the_same() -> None:
    small = Schema("s", "sqlite", SHOP.tables[30:33])
    assert retrieve(Index.of(small), "anything", max_tokens=6_000) is small
    cut = retrieve(Index.of(SHOP), "quantity\nof Pilot")
    assert cut != SHOP
    assert estimate_tokens(render(cut)) <= 6_000


def test_short_is_the_smallest_form() -> None:
    length = sum(len(render(Schema("s", "sqlite", (one,)), form="compact")) for one in SHOP.tables)
    assert is_short(SHOP, length)
    assert not is_short(SHOP, length - 1)


def test_an_index_is_made_once_for_equal_schemas() -> None:
    indexes = Indexes()
    first = indexes.of(SHOP)
    assert indexes.of(Schema(SHOP.name, SHOP.dialect, SHOP.tables)) is first
    part, other = (Schema("other", "sqlite", SHOP.tables[:count]) for count in (3, 4))
    own = indexes.of(part)
    assert own is not first
    assert (indexes.of(SHOP), indexes.of(part)) == (first, own)  # a whole schema and its part, in turns
    indexes.of(other)
    assert indexes.of(SHOP) is not first


def test_words_of_names() -> None:
    assert pieces("custOrders2019_HTTPServer") == ("cust", "order", "2019", "http", "server")
    assert pieces("größe Straßen-Nr") == ("grosse", "strassen", "nr") or pieces("größe") == ("große",)
    assert pieces("顧客名") == ("顧", "客", "名")
    assert pieces("") == pieces("__ -") == ()
    assert question_words("Show me all the categories, and the boxes") == ["category", "box"]
    assert pieces("sizes prizes waltzes quizzes buzzes boxes") == ("size", "prize", "waltz", "quiz", "buzz", "box")
    assert {"postcode", "dob"} <= set(joined_words("post code and date of birth"))


@pytest.mark.parametrize(
    ("word", "piece"),
    [
        *(("customer", "cust"), ("quantity", "qty"), ("name", "nm"), ("date", "dt"), ("shipment", "shpmt")),
        *(("ship", "shipment"), ("postcode", "code"), ("qty", "quantity"), ("manufacture", "manufacturer")),
    ],
)
def test_abbreviations_are_alike(word: str, piece: str) -> None:
    assert 0.5 <= likeness(word, piece) < 1


@pytest.mark.parametrize(("word", "piece"), [("customer", "cost"), ("2019", "2020"), ("name", "nmbr"), ("order", "do")])
def test_other_words_are_not(word: str, piece: str) -> None:
    assert likeness(word, piece) == 0


HOSTILE = st.text(min_size=1, max_size=30) | st.sampled_from(['a"b', "*/ x", "ORDER", "größe", "a.b", "x" * 400, "\n"])


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Tables of any names, with keys at random: cycles, self references, several parts."""
    names = draw(st.lists(HOSTILE, min_size=1, max_size=25, unique=True))
    tables = []
    for name in names:
        others = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        columns = draw(st.lists(HOSTILE, max_size=8, unique=True))
        own = [Column(column, draw(st.sampled_from(["TEXT", "INTEGER", ""]))) for column in columns if column != "id"]
        links = [f"to {number}" for number in range(len(others)) if f"to {number}" not in columns]
        score = draw(st.sampled_from([1.0, 0.8]))
        keys = [
            ForeignKey((link,), other, ("id",), declared=score == 1, score=score)
            for link, other in zip(links, others, strict=False)
        ]
        every = (Column("id", "INTEGER"), *own, *map(Column, links))
        primary, likely = (("id",), ()) if draw(st.booleans()) else ((), (("id",),))
        tables.append(Table(name, every, primary, tuple(keys), candidate_keys=likely))
    return Schema("any", "sqlite", tuple(tables))


@settings(max_examples=120, deadline=None)
@given(schemas(), HOSTILE, st.integers(0, 600), st.sampled_from(["ddl", "compact"]), st.data())
def test_whatever_the_schema(schema: Schema, words: str, budget: int, form: str, data: st.DataObject) -> None:
    text = f"{words} {data.draw(st.sampled_from(schema.tables)).name}"
    found = retrieve(Index.of(schema, meanings=False), text, max_tokens=budget, form=form)  # type: ignore[arg-type]
    again = retrieve(Index.of(schema, meanings=False), text, max_tokens=budget, form=form)  # type: ignore[arg-type]
    assert found == again
    if found.tables:
        assert estimate_tokens(render(found, form=form)) <= budget  # type: ignore[arg-type]
    whole = kept(schema)
    order = [table.name for table in schema.tables]
    assert sorted(kept(found), key=order.index) == list(kept(found))
    assert all(columns and columns <= whole[name] for name, columns in kept(found).items())
    part = dict(zip(order, Joins.of(schema).components(), strict=True))
    left = dict(zip(kept(found), Joins.of(found).components(), strict=True))
    for one in left:
        for other in left:
            assert (left[one] == left[other]) == (part[one] == part[other])


def test_a_question_on_a_thousand_tables_takes_moments() -> None:
    words = ("order", "customer", "price", "ship", "status", "total", "region", "batch", "note", "code")
    tables = tuple(
        table(f"{words[n % 10]}_{words[n // 10 % 10]}_{n}", *(f"{words[(n + c) % 10]}_{c}" for c in range(19)))
        for n in range(1_000)
    )
    index = Index.of(Schema("large", "sqlite", tables))
    retrieve(index, "total price", max_tokens=6_000)
    started = time.process_time()
    for number in range(10):
        assert retrieve(index, f"status and price of the customers' orders in batch {number}").tables
    assert (time.process_time() - started) / 10 < 0.3  # 0.05 on the machine of docs/large_schemas.md


def test_the_index_leaves_the_program_s_logging_alone() -> None:
    import logging

    root = logging.getLogger()
    before = root.level, list(root.handlers)
    Index.of(SHOP)
    assert (root.level, list(root.handlers)) == before
