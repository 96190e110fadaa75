"""Names of a query resolved against a schema: the tables and columns that it reads.

Built on sqlglot's scopes. Access rules have a resolver of their own, which fails closed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from sqljury.sql.parse import errors, exp, parse_one, quiet, scopes
from sqljury.sql.text import quote_name
from sqljury.types import Column, ForeignKey, Schema, Table
from sqljury.types.schema import subset

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope

_TEXT: Final = re.compile(r"char|clob|text|string|enum", re.IGNORECASE)
_PADDED: Final = re.compile(r"(?:bpchar|char(?:acter)?)\s*(?:\(|$)", re.IGNORECASE)


def find_table(schema: Schema, node: exp.Table) -> Table | None:
    """The table that FROM names; one without a schema of its own is in the default one, whatever that is called.

    A name without a schema that the default one lacks is looked up in the others, in their order, as engines do.
    """
    name, around = node.name.lower(), node.db.lower()
    named = [table for table in schema.tables if bare_name(table).lower() == name]
    wanted = [around, ""] if around else [""]
    match = next((table for group in wanted for table in named if table.schema.lower() == group), None)
    return match if match is not None or around or not named else named[0]


def bare_name(table: Table) -> str:
    """The table's name without its schema's."""
    return table.name.removeprefix(f"{table.schema}.")


def table_named(schema: Schema, name: str) -> Table | None:
    """The table of that full name in any case."""
    lower = name.lower()
    return next((table for table in schema.tables if table.name.lower() == lower), None)


def referred_table(schema: Schema, key: ForeignKey) -> Table | None:
    """The table that a foreign key leads to."""
    return next((table for table in schema.tables if key.leads_to(table)), None)


def column_names(schema: Schema) -> frozenset[str]:
    """The names of all columns in lower case."""
    return frozenset(column.name.lower() for table in schema.tables for column in table.columns)


def quoted_texts(tree: exp.Expr, names: Collection[str]) -> list[exp.Column]:
    """Names in double quotes that are not among ``names``, in lower case: SQLite and MySQL read them as texts."""
    return [
        column
        for column in tree.find_all(exp.Column)
        if isinstance(column.this, exp.Identifier)
        and column.this.quoted
        and not column.table
        and column.name.lower() not in names
    ]


def has_column(table: Table, name: str) -> bool:
    """Whether the table has a column of that name in any case."""
    lower = name.lower()
    return any(column.name.lower() == lower for column in table.columns)


def may_be_text(column: Column) -> bool:
    """Whether a column is declared as text; one without a type may hold any."""
    return not column.type or bool(_TEXT.search(column.type))


def is_padded(type_: str, dialect: str) -> bool:
    """Whether values of a declared type come back with blanks up to its length: PostgreSQL's ``CHAR(10)``."""
    return dialect == "postgres" and bool(_PADDED.match(type_))


def is_date(type_: str) -> bool:
    """Whether a declared type is one of dates, times or years."""
    return any(word in type_.lower() for word in ("date", "time", "year"))


def identifier(name: str, dialect: str) -> exp.Identifier:
    """A name as a query needs it, quoted where it must be."""
    return exp.to_identifier(name, quoted=quote_name(name, dialect) != name)


class Sources:
    """What the FROM clause of one SELECT reads, by alias as it is written.

    ``tables`` are tables of the schema; ``others`` are subqueries, WITH queries, functions and unknown tables.
    """

    def __init__(self, scope: Scope, schema: Schema) -> None:
        self.scope, self.schema = scope, schema
        self.tables: dict[str, Table] = {}
        self.others: dict[str, exp.Expr | Scope] = {}
        for alias, (_, source) in scope.selected_sources.items():
            table = find_table(schema, source) if isinstance(source, exp.Table) else None
            if table is None:
                self.others[alias] = source
            else:
                self.tables[alias] = table

    @property
    def around(self) -> Sources | None:
        """The sources of the query around this one."""
        return Sources(self.scope.parent, self.schema) if self.scope.parent is not None else None

    def alias(self, name: str) -> str | None:
        """The alias of a table, looked up in any case."""
        return next((alias for alias in self.tables if alias.lower() == name.lower()), None)

    def identifier(self, alias: str) -> exp.Identifier:
        """An alias as FROM writes it, here or around: PostgreSQL takes T1 for t1, but not "T1"."""
        node, _ = self.scope.selected_sources.get(alias, (None, None))
        if node is None:
            around = self.around
            known = around is not None and alias in around.scope.selected_sources
            return around.identifier(alias) if around is not None and known else identifier(alias, self.schema.dialect)
        table_alias = node.args.get("alias")
        written = node.this if table_alias is None or table_alias.this is None else table_alias.this
        return written.copy() if isinstance(written, exp.Identifier) else exp.to_identifier(alias)

    def column(self, alias: str, name: str) -> exp.Column:
        """A column of the table with that alias, as the query must write it."""
        return exp.Column(this=identifier(name, self.schema.dialect), table=self.identifier(alias))

    def assign(self, column: exp.Column, alias: str, name: str = "") -> None:
        """Make a column of the query one of the table with that alias, where ``name`` is given the one of that name."""
        if name:
            column.set("this", identifier(name, self.schema.dialect))
        column.set("table", self.identifier(alias))

    def equal(self, alias: str, here: Iterable[str], other: str, there: Iterable[str]) -> exp.Condition:
        """The condition that columns of one table equal those of another one, position by position."""
        pairs = zip(here, there, strict=True)
        return exp.and_(*(exp.EQ(this=self.column(alias, a), expression=self.column(other, b)) for a, b in pairs))

    def outputs(self, alias: str) -> Sequence[str] | None:
        """The columns of what stands in FROM under an alias; None where they are not known."""
        if alias in self.tables:
            return [column.name for column in self.tables[alias].columns]
        node, source = self.scope.selected_sources[alias]
        if isinstance(source, exp.Expr):
            return None
        query = source.expression
        named = query.named_selects if isinstance(query, exp.Query) else [""]
        aliases = [item.args.get("alias") for item in (node, query.parent) if item is not None]
        renamed = any(isinstance(table_alias, exp.TableAlias) and table_alias.columns for table_alias in aliases)
        return None if renamed or not all(named) or "*" in named else list(named)

    def owners(self, column: str) -> list[str]:
        """The aliases of the tables that have a column of that name."""
        return [alias for alias, table in self.tables.items() if has_column(table, column)]

    def holders(self, name: str, alias: str) -> list[tuple[Table, set[str]]]:
        """The tables that a column may belong to, with its names there: of this SELECT, else of the one around it."""
        holders = [
            (table, {column.name})
            for known, table in self.tables.items()
            for column in table.columns
            if column.name.lower() == name.lower() and alias.lower() in ("", known.lower())
        ]
        around = None if holders else self.around
        return holders if around is None else around.holders(name, alias)


def read_sources(tree: exp.Expr, schema: Schema) -> list[Sources]:
    """The sources of every SELECT of a query, inner ones first; raises ``SqlglotError``."""
    return [Sources(scope, schema) for scope in scopes.traverse_scope(tree)]


def sources_of(select: exp.Select, schema: Schema) -> Sources | None:
    """The sources of a SELECT that is a whole query; None where they cannot be told. Raises ``SqlglotError``."""
    return next((sources for sources in read_sources(select, schema) if sources.scope.expression is select), None)


def from_items(select: exp.Select) -> list[exp.Expr]:
    """What its FROM names: tables and subqueries, joined ones too."""
    start = select.args.get("from_")
    return ([] if start is None else [start.this]) + [join.this for join in select.args.get("joins") or ()]


def tables_of(select: exp.Select, schema: Schema) -> dict[str, Table]:
    """By alias in lower case, the tables of the schema that its FROM names."""
    tables = {}
    for node in from_items(select):
        table = find_table(schema, node) if isinstance(node, exp.Table) else None
        if table is not None:
            tables[node.alias_or_name.lower()] = table
    return tables


def owner(column: exp.Column, schema: Schema) -> tuple[str, Table] | None:
    """The alias and the table that a column is of, looked up outwards; None where that is not certain."""
    select = column.parent_select
    while isinstance(select, exp.Select):
        holders = [
            (alias, table)
            for alias, table in tables_of(select, schema).items()
            if (not column.table or alias == column.table.lower()) and has_column(table, column.name)
        ]
        if holders:
            return holders[0] if len(holders) == 1 else None
        select = select.parent_select
    return None


def brought_in(before: exp.Select, after: exp.Select, schema: Schema) -> int:
    """How many tables ``after`` joins to those of ``before``, which names a column that only a joined one has.

    Such a query cannot run as it is, so that the join gives it the only meaning it can have. 0 where it could run.
    """
    old, new = ([node for node in from_items(select) if isinstance(node, exp.Table)] for select in (before, after))
    gained = Counter(node.name.lower() for node in new) - Counter(node.name.lower() for node in old)
    joined = [table for node in new if node.name.lower() in gained and (table := find_table(schema, node)) is not None]
    here = tables_of(before, schema)
    if not joined or len(here) < len(from_items(before)):
        return 0
    columns = [column for column in before.find_all(exp.Column) if column.parent_select is before]
    lacking = [column for column in columns if not isinstance(column.this, exp.Star) and not _around(column, schema)]
    brings = any(has_column(table, column.name) for table in joined for column in lacking)
    return gained.total() if brings else 0


def _around(column: exp.Column, schema: Schema) -> bool:
    """Whether the SELECT of a column or one around it has a table with it."""
    select = column.parent_select
    while isinstance(select, exp.Select):
        tables = tables_of(select, schema)
        if any(
            has_column(table, column.name) for alias, table in tables.items() if column.table.lower() in ("", alias)
        ):
            return True
        select = select.parent_select
    return False


def other_side(column: exp.Column) -> exp.Column | None:
    """The column that this one is compared with by ``=``."""
    parent = column.parent
    if not isinstance(parent, exp.EQ):
        return None
    other = parent.expression if parent.this is column else parent.this
    return other if isinstance(other, exp.Column) else None


def compared(column: exp.Column) -> tuple[exp.Column | None, exp.Select | None]:
    """The column that this one is compared with by ``=`` or IN, and the subquery that selects it, where it does."""
    parent = column.parent
    other: exp.Expr | None = other_side(column)
    if isinstance(parent, exp.In) and parent.this is column:
        other = parent.args.get("query")
    elif isinstance(parent, exp.EQ) and other is None:
        other = parent.expression if parent.this is column else parent.this
    while isinstance(other, exp.Subquery | exp.Paren):
        other = other.this
    if isinstance(other, exp.Select) and len(other.selects) == 1:
        selected = other.selects[0].unalias()
        return (selected, other) if isinstance(selected, exp.Column) else (None, None)
    return (other, None) if isinstance(other, exp.Column) else (None, None)


def compared_with(select: exp.Expr | None) -> exp.Column | None:
    """The column that a subquery is compared with by ``=`` or IN; None for any other query."""
    subquery = select.parent if isinstance(select, exp.Select) else None
    above = subquery.parent if isinstance(subquery, exp.Subquery) else None
    outer = above.this if isinstance(above, exp.In | exp.EQ) else None
    return outer if isinstance(outer, exp.Column) else None


@quiet()
def used(schema: Schema, queries: Iterable[str]) -> Schema:
    """The part of the schema that any of the queries names (CHASE-SQL, section 3.5), with its primary and foreign keys.

    ``*`` names every column of its tables. A column that could be of several tables of its SELECT counts for each. What
    the schema does not have is passed over, and so is a query that cannot be parsed.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for query in queries:
        for table, columns in _named(query, schema):
            names[table.name].update(columns)
    for table in schema.tables:
        if table.name in names:
            names[table.name].update(table.primary_key or (column.name for column in table.columns[:1]))
            for key in table.foreign_keys:
                if key.ref_table in names:
                    names[table.name].update(key.columns)
                    names[key.ref_table].update(key.ref_columns)
    return subset(schema, names)


def _named(query: str, schema: Schema) -> Iterator[tuple[Table, set[str]]]:
    try:
        selects = list(read_sources(parse_one(query, schema.dialect), schema))
    except (errors.SqlglotError, RecursionError):
        return
    for sources in selects:
        for table in sources.tables.values():
            yield table, set()
        yield from _named_columns(sources)


def _named_columns(sources: Sources) -> Iterator[tuple[Table, set[str]]]:
    def every(table: Table) -> tuple[Table, set[str]]:
        return table, {column.name for column in table.columns}

    select, tables = sources.scope.expression, sources.tables.values()
    for column in sources.scope.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            named = column.table.lower()
            yield from (every(table) for alias, table in sources.tables.items() if alias.lower() == named)
        else:
            yield from sources.holders(column.name, column.table)
    if any(isinstance(item, exp.Star) for item in getattr(select, "selects", ())):
        yield from map(every, tables)
    for join in select.args.get("joins") or ():
        shared = [name.name for name in join.args.get("using") or ()]
        if join.method == "NATURAL":
            shared = [column.name for table in tables for column in table.columns]
        for name in shared:
            holders = sources.holders(name, "")
            yield from holders if join.method != "NATURAL" or len(holders) > 1 else ()
