from __future__ import annotations

import pytest
import sqlglot

from sqljury.sql.equated import loose
from sqljury.sql.features import anatomy
from sqljury.types import Column, ForeignKey, Schema, Table


def named(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


SHOP = Schema(
    "shop",
    "sqlite",
    (
        Table(
            "phone",
            named("phone_id", "name", "maker_id"),
            ("phone_id",),
            (ForeignKey(("maker_id",), "maker", ("id",)),),
        ),
        Table("maker", named("id", "name", "city"), ("id",)),
        Table(
            "sale",
            named("sale_id", "phone_id", "seller", "city"),
            ("sale_id",),
            (ForeignKey(("phone_id",), "phone", ("phone_id",)), ForeignKey(("seller",), "maker", ("id",))),
        ),
    ),
)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT name FROM phone", (0, 0)),
        ("SELECT * FROM phone JOIN maker ON phone.maker_id = maker.id", (0, 0)),
        ("SELECT * FROM sale AS s JOIN phone AS p ON p.phone_id = s.phone_id", (0, 0)),
        ("SELECT * FROM sale JOIN phone ON sale.seller = phone.maker_id", (0, 0)),  # both refer to the same
        ("SELECT * FROM phone AS a JOIN phone AS b ON a.name = b.name", (0, 0)),
        ("SELECT * FROM sale JOIN maker ON sale.city = maker.city", (0, 1)),
        ("SELECT * FROM sale JOIN phone ON sale.sale_id = phone.maker_id", (1, 0)),
        ("SELECT name FROM phone EXCEPT SELECT phone_id FROM sale", (1, 0)),
        ("SELECT phone_id FROM phone EXCEPT SELECT phone_id FROM sale", (0, 0)),
        ("SELECT name FROM phone WHERE phone_id NOT IN (SELECT phone_id FROM sale)", (0, 0)),
        ("SELECT name FROM phone WHERE phone_id NOT IN (SELECT sale_id FROM sale)", (1, 0)),
        ("SELECT name FROM phone WHERE phone_id = (SELECT max(phone_id) FROM sale)", (0, 0)),
        ("SELECT name FROM phone WHERE phone_id > (SELECT min(seller) FROM sale)", (1, 0)),
        ("SELECT name FROM phone WHERE name = 'x' AND phone_id = 3", (0, 0)),
        ("SELECT p.name FROM phone p WHERE EXISTS (SELECT 1 FROM sale s WHERE s.phone_id = p.phone_id)", (0, 0)),
        ("SELECT p.name FROM phone p WHERE EXISTS (SELECT 1 FROM sale s WHERE s.sale_id = p.phone_id)", (1, 0)),
        ("SELECT nothing FROM phone WHERE nothing = name", (0, 0)),
        ("WITH w AS (SELECT phone_id AS n FROM phone) SELECT * FROM w JOIN sale ON w.n = sale.city", (0, 0)),
    ],
)
def test_columns_that_nothing_ties_are_counted(sql: str, found: tuple[int, int]) -> None:
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    assert isinstance(tree, sqlglot.exp.Query)
    assert loose(tree, SHOP) == found
    query = anatomy(sql, SHOP)
    assert (query.strange, query.namesakes) == found


def test_names_that_cannot_be_followed_are_no_fault() -> None:
    sql = "SELECT a.name FROM phone AS a JOIN maker AS a ON a.id = a.name"
    assert anatomy(sql, SHOP).parsed


@pytest.mark.parametrize(
    ("sql", "asked"),
    [
        ("SELECT name FROM phone WHERE phone_id IN (SELECT phone_id FROM sale WHERE city = 'x')", ("name", "city")),
        ('SELECT name FROM phone WHERE phone_id IN (SELECT phone_id FROM sale WHERE city = "x")', ("name", "city")),
        ("SELECT p.name FROM phone p, sale s WHERE p.phone_id = s.phone_id AND s.city = 'x'", ("name", "city")),
        ("SELECT count(phone_id) FROM phone WHERE name = 'x'", ("name",)),
        ("SELECT seller FROM sale WHERE city = seller", ("seller", "city")),
        ("SELECT a.name FROM phone a JOIN maker b ON a.maker_id = b.id WHERE a.name > b.city", ("name", "city")),
        ("SELECT count(DISTINCT maker_id) FROM phone", ("maker_id",)),
        ("SELECT name FROM phone WHERE phone_id = (SELECT max(phone_id) FROM sale)", ("name", "phone_id")),
    ],
)
def test_columns_that_only_lead_on_or_are_counted_are_not_asked_for(sql: str, asked: tuple[str, ...]) -> None:
    assert anatomy(sql, SHOP).columns == asked
