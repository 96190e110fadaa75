"""What names in a query may mean: the sources of its FROM clauses, and which of their columns may be read.

Engines differ on when two names are the same, when a value is a whole row (PostgreSQL), and when it is a text in
double quotes (SQLite): ``exact`` compares names as the engine surely does, ``broad`` as any engine might.
"""

from __future__ import annotations

import enum
import string
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from sqljury.access.catalog import Catalog
from sqljury.types import Column, Schema, Table

if TYPE_CHECKING:
    from sqlglot import exp


_ASCII: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def exact(identifier: exp.Identifier, dialect: str, *, table: bool = False) -> str:
    """The key of a name in a query: names with equal keys are surely the same to the engine.

    Engines fold ASCII letters and differ on the rest. Names of tables keep their case in MySQL, since some servers
    distinguish ``a`` from ``A``.
    """
    if (dialect == "postgres" and identifier.quoted) or (dialect == "mysql" and table):
        return str(identifier.name)
    return str(identifier.name).translate(_ASCII)


def declared(name: str, dialect: str, *, table: bool = False) -> str:
    """The key of a name in the catalogue, to be compared with that of ``exact``."""
    return name if dialect == "postgres" or (dialect == "mysql" and table) else name.translate(_ASCII)


def broad(name: str) -> str:
    """The key of a name without case and accents: names that any engine might equate have equal keys."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


_ROW_IDS: Final = {"sqlite": ("rowid", "oid", "_rowid_"), "duckdb": ("rowid",)}


class Reading(enum.Enum):
    """How a source reads a column's name: surely its column, perhaps its column, or one that may not be read."""

    SURE = enum.auto()
    MAYBE = enum.auto()
    HIDDEN = enum.auto()


@dataclass(frozen=True, slots=True)
class Source:
    """One item of a FROM clause.

    ``sure`` holds keys of ``exact``, the other sets keys of ``broad``. ``answers`` are the names that qualify its
    columns, ``alias`` the one that surely does. ``partial`` means that not all of it may be read, ``opaque`` that it
    may have columns of any name, all of which may be read, ``made`` that the query named its columns. In a source
    ``later`` than an expression no name is looked up, but its hidden columns may not be named. ``fields`` are those
    of columns of a composite type, by the column's exact key.
    """

    alias: str = ""
    answers: frozenset[str] = frozenset()
    sure: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    partial: bool = False
    opaque: bool = False
    later: bool = False
    made: bool = False
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def read(self, name: exp.Identifier, dialect: str) -> Reading | None:
        """What this name reads here, None if there is no such column."""
        if exact(name, dialect) in self.sure:
            return None if self.later else Reading.SURE
        folded = broad(name.name)
        if folded in self.hidden:
            return Reading.HIDDEN
        if self.later:
            return None
        return Reading.MAYBE if self.opaque or folded in self.maybe else None

    def lacks(self, name: exp.Identifier) -> bool:
        """Whether no column that may be read can have this name."""
        return not self.opaque and broad(name.name) not in self.maybe


@dataclass(slots=True)
class Scope:
    """The sources of one SELECT, its columns' aliases (keys of ``broad``), and its joins.

    Each join has the number of sources up to it. If ``shields`` is False, a name known here may still have a meaning
    outside.
    """

    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()
    shields: bool = True
    joins: list[tuple[exp.Join, int]] = field(default_factory=list)

    def until(self, number: int) -> Scope:
        """The scope with all sources after the first ``number`` marked as later."""
        later = [replace(source, later=True) for source in self.sources[number:]]
        return Scope([*self.sources[:number], *later], self.aliases, self.shields)

    def open(self) -> Scope:
        """A copy of the scope, without shielding."""
        return Scope(list(self.sources), self.aliases, shields=False)


Chain = tuple[Scope, ...]
"""Scopes from the innermost outwards."""


@dataclass(frozen=True, slots=True)
class Output:
    """The columns of a subquery: names that surely exist, names that may exist, and the sources it reads."""

    sure: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    opaque: bool = False
    sources: tuple[Source, ...] = ()


class Rules:
    """The columns of a schema's tables that may be read: ``shown`` has them by table name.

    ``conditions`` are those that rows must meet, by table.
    """

    def __init__(
        self,
        schema: Schema,
        shown: Mapping[str, Iterable[str]],
        default: str,
        catalog: Catalog | None = None,
        conditions: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.dialect = schema.dialect
        self.default = default
        self.shown = {name: frozenset(columns) for name, columns in shown.items()}
        self.tables = schema.tables
        self.conditions = dict(conditions or {})
        self.catalog = catalog or Catalog()
        self.enums = frozenset(
            broad(column.type)
            for t in schema.tables
            for column in t.columns
            if column.values and self._shows(t, column)
        )

    def _shows(self, table: Table, column: Column) -> bool:
        return column.name in self.shown.get(table.name, ())

    def find(self, table: exp.Table) -> Table | None:
        """The table of the schema that this surely is, if it may be read; None otherwise."""
        name, owner = table.this, table.args.get("db")
        key = exact(name, self.dialect, table=True)
        schema = "" if owner is None else exact(owner, self.dialect, table=True)
        matching = [t for t in self.tables if self._key(t) == key and self._is_in(t, schema)]
        if len(matching) > 1:
            matching = [t for t in matching if _bare(t) == name.name]
        return matching[0] if len(matching) == 1 and self.shown.get(matching[0].name) else None

    def source(self, table: Table, alias: exp.TableAlias | None, *, loose: bool = False) -> Source:
        """A table in a FROM clause; ``loose`` if the name may mean another source instead."""
        shown = self.shown[table.name]
        sure = frozenset(declared(name, self.dialect) for name in shown)
        maybe = frozenset(broad(name) for name in shown)
        hidden = frozenset(broad(column.name) for column in table.columns if column.name not in shown)
        ids = frozenset(_ROW_IDS.get(self.dialect, ())) - maybe
        if not shown.issuperset(table.primary_key) and self.dialect == "sqlite":
            hidden |= ids  # the row's number is the primary key
        else:
            maybe |= ids - hidden
        renamed = [] if alias is None else alias.columns
        if renamed:
            sure = frozenset(exact(column, self.dialect) for column in renamed)
            maybe |= frozenset(broad(column.name) for column in renamed)
        label = table.name if alias is None or alias.this is None else alias.name
        return Source(
            alias=self._key(table)
            if alias is None or alias.this is None
            else exact(alias.this, self.dialect, table=True),
            answers=frozenset({broad(label), broad(_bare(table))}),
            sure=frozenset() if loose else sure,
            maybe=maybe,
            hidden=hidden,
            partial=any(column.name not in shown for column in table.columns),
            fields={} if renamed else self._fields(table),
        )

    def _fields(self, table: Table) -> dict[str, frozenset[str]]:
        fields = {column: self.catalog.fields.get((table.name, column)) for column in self.shown[table.name]}
        return {declared(column, self.dialect): names for column, names in fields.items() if names}

    def derived(self, output: Output, alias: exp.TableAlias | None, *, loose: bool = False) -> Source:
        """A subquery in a FROM clause, or a CTE; what it reads is checked separately."""
        columns = [] if alias is None else alias.columns
        sure = frozenset(exact(column, self.dialect) for column in columns) or output.sure
        names = output.names | {broad(column.name) for column in columns}
        named = alias is not None and alias.this is not None
        # SQLite may lend a row's number to what is made of the table.
        ids = frozenset(_ROW_IDS["sqlite"]) - names if self.dialect == "sqlite" else frozenset()
        return Source(
            alias=exact(alias.this, self.dialect, table=True) if named and alias is not None else "",
            answers=frozenset({broad(alias.name)}) if named and alias is not None else frozenset(),
            sure=frozenset() if loose else sure,
            maybe=names,
            hidden=ids,
            opaque=output.opaque or (bool(columns) and not output.sure),
            made=True,
        )

    def _key(self, table: Table) -> str:
        return declared(_bare(table), self.dialect, table=True)

    def _is_in(self, table: Table, schema: str) -> bool:
        if not schema:
            return not table.schema
        return declared(table.schema or self.default, self.dialect, table=True) == schema


def _bare(table: Table) -> str:
    return table.name.removeprefix(table.schema + ".") if table.schema else table.name


def joined(sources: Sequence[Source], alias: str, answers: str) -> Source:
    """The source that an alias for several joined sources stands for."""
    hidden: frozenset[str] = frozenset().union(*(source.hidden for source in sources))
    sure = frozenset(key for source in sources for key in source.sure if broad(key) not in hidden)
    return Source(
        alias=alias,
        answers=frozenset({answers}),
        sure=sure,
        maybe=frozenset().union(*(source.maybe for source in sources)),
        hidden=hidden,
        partial=any(source.partial for source in sources),
        opaque=any(source.opaque for source in sources),
        made=all(source.made for source in sources),
    )


def may_share_hidden(sources: Sequence[Source]) -> bool:
    """Whether a hidden column of one source may have the name of another source's column."""
    if any(source.made for source in sources) and any(source.partial for source in sources):
        return True  # a query could guess a hidden name by giving it to a column of its own
    return any(
        source.hidden and (other.opaque or not source.hidden.isdisjoint(other.maybe | other.hidden))
        for source in sources
        for other in sources
        if other is not source and (source.partial or other.partial)
    )


_ROW_TAKERS: Final = frozenset({"count", "to_json", "to_jsonb", "row_to_json", "json_agg", "jsonb_agg"})
"""Built-in functions of PostgreSQL that take any row and return none."""

_PAIRS: Final = frozenset({"json_each", "json_each_text", "jsonb_each", "jsonb_each_text"})


def is_row_taken(node: exp.Expr, made: Collection[str]) -> bool:
    """Whether this whole row is passed directly to a function that returns no row, or is compared with NULL.

    Elsewhere PostgreSQL could pass it to functions, casts and operators that the owner created for such rows;
    ``made`` are the names of such functions.
    """
    from sqlglot import exp

    parent = node.parent
    while isinstance(parent, exp.Column | exp.Paren | exp.Distinct):
        parent = parent.parent
    if isinstance(parent, exp.Is):
        return isinstance(parent.expression, exp.Null)
    name = parent.name.lower() if isinstance(parent, exp.Anonymous) else ""
    if isinstance(parent, exp.Count | exp.JSONArrayAgg):
        name = "count" if isinstance(parent, exp.Count) else "json_agg"
    return name in _ROW_TAKERS and name not in made


def row_name(node: exp.Expr) -> exp.Identifier | None:
    """The name in ``(name)``, if it may be that of a row."""
    from sqlglot import exp

    value = node.unnest()
    if isinstance(value, exp.Column) and isinstance(value.this, exp.Identifier) and not value.args.get("table"):
        return value.this
    return None


def field_names(node: exp.Expr, chain: Chain, dialect: str) -> frozenset[str]:
    """The fields that this value surely has, by their exact keys."""
    from sqlglot import exp

    value = node.unnest()
    if isinstance(value, exp.Anonymous) and value.name.lower() in _PAIRS:
        return frozenset({"key", "value"})
    if not isinstance(value, exp.Column) or not isinstance(value.this, exp.Identifier):
        return frozenset()
    owner, key = value.args.get("table"), exact(value.this, dialect)
    for scope in chain:
        sources = [source for source in scope.sources if source.read(value.this, dialect) is not None]
        if owner is not None:
            sources = [source for source in sources if source.alias == exact(owner, dialect, table=True)]
        if sources:
            sure = all(source.read(value.this, dialect) is Reading.SURE for source in sources)
            return sources[0].fields.get(key, frozenset()) if len(sources) == 1 and sure else frozenset()
    return frozenset()


def is_text_place(name: exp.Identifier) -> bool:
    """Whether a name in double quotes is in a position where queries for SQLite write texts.

    These are: after a comparison, in a list or range, in a concatenation, as an argument of a function, and as a
    result of CASE. Before a comparison, alone, or before an arrow it is a column.
    """
    from sqlglot import exp

    node: exp.Expr = name.parent if isinstance(name.parent, exp.Column) else name
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    parent = node.parent
    if isinstance(parent, exp.JSONExtract | exp.JSONExtractScalar | exp.AggFunc):
        return isinstance(parent, exp.GroupConcat) and parent.args.get("separator") is node
    if isinstance(parent, exp.In):
        return parent.this is not node
    if isinstance(parent, exp.Between):
        return parent.this is not node
    if isinstance(parent, exp.If):
        return parent.this is not node
    if isinstance(parent, exp.DPipe | exp.Case | exp.Tuple):
        return parent.this is not node or isinstance(parent, exp.DPipe)
    if isinstance(parent, exp.Escape | exp.Predicate | exp.Binary):
        return parent.expression is node
    return isinstance(parent, exp.Func)


def label_of(item: exp.Expr) -> str:
    """The name that PostgreSQL gives to the column of this expression; empty if that is not certain."""
    from sqlglot import exp

    if isinstance(item, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max):
        return str(item.key)
    if isinstance(item, exp.Cast) and isinstance(item.this, exp.Column) and isinstance(item.this.this, exp.Identifier):
        return exact(item.this.this, "postgres")
    return ""
