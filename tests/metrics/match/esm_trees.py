"""What rewrites of a query have in common: reading it, and the columns and tables it has."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from sqljury.types import Schema, Table

Tree = exp.Expr


def parse(sql: str) -> Tree:
    """The tree of a query."""
    return sqlglot.parse_one(sql, dialect="sqlite")


def condition_of(sql: str) -> Tree:
    """The tree of a condition."""
    found = parse(f"SELECT 1 WHERE {sql}").args["where"].this
    assert isinstance(found, exp.Expr)
    return found


def selects(tree: Tree) -> list[exp.Select]:
    """Every SELECT in a query."""
    return list(tree.find_all(exp.Select))


def tables_of(select: exp.Select, schema: Schema) -> list[tuple[str, Table]]:
    """What the tables of FROM go by, and the tables; none where a query is among them."""
    sources = [select.args["from_"].this] if select.args.get("from_") else []
    sources += [join.this for join in select.args.get("joins") or ()]
    known = {table.name.lower(): table for table in schema.tables}
    if not all(isinstance(source, exp.Table) and source.name.lower() in known for source in sources):
        return []
    return [(source.alias_or_name, known[source.name.lower()]) for source in sources]


def columns_of(select: exp.Select, schema: Schema) -> list[str]:
    """All columns of the tables in FROM, as a query may say them."""
    return [f'{alias}."{column.name}"' for alias, table in tables_of(select, schema) for column in table.columns]


def and_where(select: exp.Select, condition: str) -> None:
    """Add a condition to WHERE."""
    where = select.args.get("where")
    new = condition_of(condition)
    select.set("where", exp.Where(this=exp.And(this=exp.Paren(this=where.this), expression=new) if where else new))


def from_text(select: exp.Select) -> str:
    """FROM with its joins."""
    joins = " ".join(join.sql(dialect="sqlite") for join in select.args.get("joins") or ())
    return f"{select.args['from_'].sql(dialect='sqlite')} {joins}"


def where_text(select: exp.Select) -> str:
    """WHERE, empty where there is none."""
    return select.args["where"].sql(dialect="sqlite") if select.args.get("where") else ""
