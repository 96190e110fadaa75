"""A repair must not change the question: what a query lost is found, and the same in other words is no loss."""

from __future__ import annotations

import json
import random
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from sqljury import connect
from sqljury.language.alike import respelt
from sqljury.schema.introspect import introspect
from sqljury.sql.preserve import losses
from sqljury.types import Column, Schema, Table

SCHEMA = Schema(
    "school",
    "sqlite",
    (
        Table("pupil", tuple(map(Column, ("id", "name", "age", "born", "class_id")))),
        Table("class", tuple(map(Column, ("id", "title", "room", "size")))),
    ),
)
KEPT = Path(__file__).parents[2] / "benchmarks" / "candidates"
SPIDER = Path(__file__).parents[3] / "shared" / "spider"


def pairs(name: str) -> list[tuple[str, str]]:
    """Queries before and after from a file: two lines each, then a blank one."""
    blocks = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [(before, after) for before, after in (block.split("\n") for block in blocks)]


def lost(before: str, after: str, *lacking: str) -> bool:
    return bool(losses(before, after, SCHEMA, lacking))


@pytest.mark.parametrize(("before", "after"), pairs("kept"))
def test_what_means_the_same_or_less_loses_nothing(before: str, after: str) -> None:
    assert losses(before, after, SCHEMA) == ()


@pytest.mark.parametrize(("before", "after"), pairs("lost"))
def test_what_is_dropped_or_weakened_is_lost(before: str, after: str) -> None:
    assert lost(before, after)


def test_only_a_text_that_its_column_lacks_may_be_respelt() -> None:
    before, after = (f"SELECT name FROM pupil WHERE name = {name!r}" for name in ("Anne", "Ann"))
    assert lost(before, after)
    assert not lost(before, after, "Anne")
    assert lost(before, after.replace("Ann", "Bob"), "Anne")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Franse", "France", True),
        ("USA", "United States of America", True),
        ("F", "Female", True),
        ("french", "French", True),
        ("2020-1-5", "2020-01-05", True),
        ("card 4560", "card 4561", False),
        ("France", "Brazil", False),
        ("", "x", False),
    ],
)
def test_spellings_of_one_text(one: str, other: str, same: bool) -> None:
    assert respelt(one, other) == same


def mutated(tree: exp.Query) -> Iterator[exp.Query]:
    """The query, each time with one restriction dropped or weakened."""

    def without(node: exp.Expr, by: exp.Expr | None = None) -> exp.Query:
        marked = node.copy()
        node.replace(by) if by is not None else node.pop()
        changed = tree.copy()
        if by is not None:
            by.replace(marked)
        return changed

    for select in list(tree.find_all(exp.Select)):
        for clause in ("where", "having", "group", "order", "limit", "distinct"):
            if (node := select.args.get(clause)) is not None:
                select.set(clause, None)
                yield tree.copy()
                select.set(clause, node)
    for node in list(tree.find_all(exp.And)):
        parent, place = node.parent, node.arg_key
        if isinstance(parent, exp.Where | exp.And | exp.Having) and node.find_ancestor(exp.Or) is None:
            for rest in (node.this, node.expression, exp.Or(this=node.this, expression=node.expression)):
                parent.set(place, rest.copy())
                yield tree.copy()
            parent.set(place, node)
    for node in list(tree.find_all(exp.GT, exp.LT)):
        weaker = exp.GTE if isinstance(node, exp.GT) else exp.LTE
        parent, place, index = node.parent, node.arg_key, node.index
        assert parent is not None
        parent.set(place, weaker(this=node.this.copy(), expression=node.expression.copy()), index)
        yield tree.copy()
        parent.set(place, node, index)
    for node in list(tree.find_all(exp.SetOperation)):
        if node is tree:
            yield node.this.copy()
    for node in list(tree.find_all(exp.Limit)):
        number = node.expression
        node.set("expression", exp.Literal.number(int(number.name) + 1))
        yield tree.copy()
        node.set("expression", number)


def rewritten(tree: exp.Query) -> Iterator[exp.Query]:
    """The query in other words, nothing lost."""
    yield tree.copy()
    aliases = tree.copy()
    for alias in aliases.find_all(exp.TableAlias):
        alias.this.set("this", f"z_{alias.name}")
    for column in aliases.find_all(exp.Column):
        if column.table and any(one.name == f"z_{column.table}" for one in aliases.find_all(exp.TableAlias)):
            column.set("table", exp.to_identifier(f"z_{column.table}"))
    yield aliases
    turned = tree.copy()
    for node in turned.find_all(exp.And):
        node.set("this", node.args["expression"]), node.set("expression", node.args["this"])
    for node in list(tree.copy().find_all(exp.GT)):
        root = node.root()
        node.replace(exp.LT(this=node.expression.copy(), expression=node.this.copy()))
        yield root


def stored() -> list[tuple[str, str]]:
    """Database and query of every stored candidate and gold query, each once."""
    found: dict[tuple[str, str], None] = {}
    for name in ("train_light", "dev_light"):
        with tarfile.open(KEPT / f"{name}.tar.xz") as archive:
            stream = archive.extractfile(f"{name}/answers.jsonl")
            assert stream is not None
            for record in map(json.loads, stream):
                for sql in (record["gold"], *(one["sql"] for one in record["candidates"])):
                    found[record["db_id"], sql] = None
    return list(found)


@pytest.mark.shared
def test_every_mutation_of_stored_queries_is_seen_and_no_rewriting_is() -> None:
    if not SPIDER.is_dir():
        pytest.skip("needs ../shared/spider")
    chance = random.Random(3)
    schemas: dict[str, Schema] = {}
    mutations = rewritings = 0
    for database, sql in chance.sample(stored(), 500):
        if database not in schemas:
            with connect(SPIDER / "database" / database / f"{database}.sqlite") as db:
                schemas[database] = introspect(db)
        try:
            tree = sqlglot.parse_one(sql, dialect="sqlite")
        except sqlglot.errors.SqlglotError:
            continue
        before = tree.sql(dialect="sqlite")
        for other in islice(rewritten(tree), 4):
            after = other.sql(dialect="sqlite")
            assert losses(before, after, schemas[database]) == (), (before, after)
            rewritings += 1
        for other in islice(mutated(tree), 12):
            after = other.sql(dialect="sqlite")
            if after != before:
                assert losses(before, after, schemas[database]), (before, after)
                mutations += 1
    assert mutations > 500
    assert rewritings > 500
