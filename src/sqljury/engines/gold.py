"""Gold queries of SQLite translated to another engine, with SQLite's meaning.

sqlglot translates functions and the order of NULLs. What it cannot know is done here, with the types of the copy: names
are quoted as they are spelled, texts in double quotes are texts, numbers are divided as SQLite divides them, LIKE
ignores case, texts and numbers are compared as SQLite compares them, and columns beside an aggregate are grouped by.
``checked`` compares the results of both queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqljury.engines.columns import NUMBERS, WHOLE, Kind
from sqljury.engines.source import Source
from sqljury.metrics.execution import EX
from sqljury.sql.affinity import number_of
from sqljury.sql.parse import errors, exp, parse_one, quiet, write
from sqljury.sql.resolve import find_table, owner
from sqljury.sql.translate import as_strings
from sqljury.types import Schema

_KIND: Final = "kind"
_COMPARED: Final = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between")
_ARITHMETIC: Final = ("Add", "Sub", "Mul", "Div", "Mod", "Neg")
_TEXT_FUNCTIONS: Final = ("Like", "ILike", "Substring", "DPipe", "Length", "Lower", "Upper", "StrPosition")

REPAIRS: Final = {
    "group": "columns beside an aggregate are grouped by",
    "division": "numbers are divided as whole ones",
    "type": "texts and numbers are compared or computed with by a cast",
    "like": "LIKE ignores case",
    "string": "names in double quotes are texts",
}
"""Changes to a query beyond sqlglot's translation, by name."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A query in another dialect with the ``REPAIRS`` that it needed, or the reason why it failed."""

    sql: str
    repairs: tuple[str, ...] = ()
    fault: str = ""


@quiet()
def translate(sql: str, source: Source, dialect: str) -> Translation:
    """The query of SQLite in ``dialect``, for the copy of ``source``; parsed, not run."""
    try:
        tree = parse_one(EX.prepare(sql), "sqlite")
        if not isinstance(tree, exp.Query):
            return Translation("", fault="it is not a query")
        work = _Work(tree, source, dialect)
        work.run()
        return Translation(write(tree, dialect, unsupported_level=errors.ErrorLevel.RAISE), tuple(sorted(work.repairs)))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError) as error:
        return Translation("", fault=" ".join(f"{type(error).__name__}: {error}".split())[:200])


class _Work:
    """One query on its way; ``repairs`` collects what had to be done."""

    def __init__(self, tree: exp.Query, source: Source, dialect: str) -> None:
        self.tree, self.schema, self.dialect = tree, source.schema, dialect
        self.copies = source.named
        self.repairs: set[str] = set()

    def run(self) -> None:
        if as_strings(self.tree, self.schema):
            self.repairs.add("string")
        self._names()
        steps: tuple[Callable[[exp.Expr], exp.Expr], ...] = (
            self._comparison,
            self._computed,
            self._like,
            self._divided,
        )
        for step in steps:
            for node in list(self.tree.walk(bfs=False)):
                step(node)
        if self.dialect != "mysql":
            for select in list(self.tree.find_all(exp.Select)):
                self._grouped(select)

    def _names(self) -> None:
        """Spell every name as the copy has it, aliases in lower case, all in quotes."""
        resolved = [(column, owner(column, self.schema)) for column in self.tree.find_all(exp.Column)]
        spelled = _spellings(self.schema)
        aliases = {node.alias.lower() for node in self.tree.find_all(exp.Alias)}
        for column, owned in resolved:
            name = column.name.lower()
            if isinstance(column.this, exp.Star):
                pass
            elif owned is not None:
                declared = next(known for known in owned[1].columns if known.name.lower() == name)
                column.set("this", exp.to_identifier(declared.name, quoted=True))
                if (copy := self.copies.get(owned[1].name)) is not None:
                    column.meta[_KIND] = copy.type(declared.name).kind
            elif name in aliases or name not in spelled:
                column.set("this", exp.to_identifier(name, quoted=True))
            else:
                column.set("this", exp.to_identifier(spelled[name], quoted=True))
        bare = self._tables()
        for column, _ in resolved:
            if column.table:
                name = column.table.lower()
                column.set("table", exp.to_identifier(bare.get(name, name), quoted=True))
        for number, derived in enumerate(self.tree.find_all(exp.Subquery)):
            if isinstance(derived.parent, exp.From | exp.Join) and not derived.alias:  # which other engines insist on
                derived.set("alias", exp.TableAlias(this=exp.to_identifier(f"subquery_{number}", quoted=True)))
        for node in [*self.tree.find_all(exp.Alias), *self.tree.find_all(exp.TableAlias)]:
            alias = node.args.get("alias") if isinstance(node, exp.Alias) else node.this
            if isinstance(alias, exp.Identifier):
                alias.replace(exp.to_identifier(alias.name.lower(), quoted=True))

    def _tables(self) -> dict[str, str]:
        """Spell the tables; of those without an alias, the spelling by the name in lower case."""
        bare = {}
        queries = {node.alias.lower() for node in self.tree.find_all(exp.CTE)}
        for node in self.tree.find_all(exp.Table):
            table = None if node.name.lower() in queries else find_table(self.schema, node)
            name = node.name.lower() if table is None else table.name
            node.set("this", exp.to_identifier(name, quoted=True))
            if not node.alias:
                bare[name.lower()] = name
        return bare

    def kind(self, node: exp.Expr | None) -> Kind | None:
        """The kind of what an expression gives, None where it is not known."""
        if isinstance(node, exp.Column):
            return node.meta.get(_KIND)
        if isinstance(node, exp.Paren | exp.Min | exp.Max | exp.Neg | exp.Distinct | exp.Alias):
            inner = node.expressions[0] if isinstance(node, exp.Distinct) and node.expressions else node.this
            return self.kind(inner)
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "integer" if node.is_int else "real"
        if isinstance(node, exp.Count | exp.Length):
            return "bigint"
        if isinstance(node, exp.Avg):
            return "real"
        if isinstance(node, exp.Cast):
            return (
                "bigint"
                if node.is_type(*exp.DataType.INTEGER_TYPES)
                else "text"
                if node.is_type(*exp.DataType.TEXT_TYPES)
                else "real"
            )
        if isinstance(node, exp.Sum):
            inner = self.kind(node.this)
            return "bigint" if inner in WHOLE else "real"
        if str(type(node).__name__) in _ARITHMETIC:
            kinds = {self.kind(node.this), self.kind(node.expression)}  # type: ignore[union-attr]
            return "bigint" if kinds <= WHOLE else "real" if kinds <= NUMBERS else None
        if isinstance(node, exp.Subquery | exp.Select):
            select = node.find(exp.Select)
            return self.kind(select.expressions[0]) if select is not None and len(select.expressions) == 1 else None
        if isinstance(node, exp.DPipe | exp.Substring | exp.Lower | exp.Upper):
            return "text"
        return None

    def _comparison(self, node: exp.Expr) -> exp.Expr:
        """Both sides of a comparison in one type, as SQLite's affinities have it."""
        if type(node).__name__ not in _COMPARED:
            return node
        others = [node.expression] if "expression" in node.args else [node.args.get("low"), node.args.get("high")]
        others = [*node.expressions, node.args.get("query")] if isinstance(node, exp.In) else others
        for operand in others:
            if operand is not None and node.this is not None:
                self._match(node.this, operand)
        return node

    def _match(self, left: exp.Expr, right: exp.Expr) -> None:
        kinds = self.kind(left), self.kind(right)
        if None in kinds or kinds[0] == kinds[1] or set(kinds) <= NUMBERS:
            return
        for side, other in ((left, right), (right, left)):
            literal = _literal(other)
            if literal is None or _literal(side) is not None:
                continue
            if self.kind(side) == "text" and not literal.is_string:
                other.replace(exp.Literal.string(other.sql("sqlite").replace(" ", "")))
                self.repairs.add("type")
            elif self.kind(side) in NUMBERS and literal.is_string and number_of(literal.name) is not None:
                other.replace(exp.Literal.number(literal.name.strip()))
                self.repairs.add("type")
            return
        for side in (left, right):
            if self.kind(side) != "text" and not isinstance(side, exp.Subquery | exp.Select):
                self._cast(side, "TEXT")

    def _cast(self, node: exp.Expr, type_: str) -> None:
        node.replace(exp.cast(node.copy(), type_))
        self.repairs.add("type")

    def _computed(self, node: exp.Expr) -> exp.Expr:
        """Texts that are computed with, as numbers."""
        name = type(node).__name__
        if name in ("Sum", "Avg", *_ARITHMETIC):
            for part in (node.this, node.args.get("expression")):
                if isinstance(part, exp.Column) and self.kind(part) == "text":
                    self._cast(part, "DOUBLE")
        if name in _TEXT_FUNCTIONS and node.this is not None:
            for part in (node.this, node.args.get("expression")):
                if isinstance(part, exp.Column) and self.kind(part) not in ("text", "bytes", None):
                    self._cast(part, "TEXT")
        return node

    def _like(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Like):
            node.replace(exp.ILike(**node.copy().args))  # with whatever negates it
            self.repairs.add("like")
        return node

    def _divided(self, node: exp.Expr) -> exp.Expr:
        """Whole numbers by whole numbers give a whole number; of what is not known the engine decides."""
        if not isinstance(node, exp.Div) or not {self.kind(node.this), self.kind(node.expression)} <= WHOLE:
            return node
        self.repairs.add("division")
        if self.dialect == "postgres":
            for part in (node.this, node.expression):
                if part.find(exp.Sum):  # of bigint this is numeric
                    part.replace(exp.cast(part.copy(), "BIGINT"))
            return node
        divisor = exp.func("NULLIF", node.expression.copy(), exp.Literal.number(0))
        node.replace(exp.Paren(this=exp.IntDiv(this=node.this.copy(), expression=divisor)))
        return node

    def _grouped(self, select: exp.Select) -> None:
        """Group by what stands beside an aggregate too: on the data at hand that seldom makes more groups."""
        group = select.args.get("group")
        if group is None or not group.expressions:
            return
        keys = {key.sql("sqlite") for key in group.expressions}
        parts = [*select.expressions, *(select.args[name] for name in ("having", "order") if select.args.get(name))]
        aliases = {item.alias for item in select.expressions if isinstance(item, exp.Alias)}
        for part in parts:
            for column in part.find_all(exp.Column):
                inside = column.find_ancestor(exp.AggFunc, exp.Select)
                alias = not column.table and column.name in aliases and _KIND not in column.meta
                if inside is not select or alias or isinstance(column.this, exp.Star):
                    continue
                if column.sql("sqlite") in keys or any(_is_same(column, key) for key in group.expressions):
                    continue
                keys.add(column.sql("sqlite"))
                group.append("expressions", column.copy())
                self.repairs.add("group")


def _is_same(column: exp.Column, key: exp.Expr) -> bool:
    """Whether a key is this column, written with its table or without."""
    return isinstance(key, exp.Column) and key.name == column.name and "" in (key.table, column.table)


def _literal(node: exp.Expr) -> exp.Literal | None:
    while isinstance(node, exp.Paren | exp.Neg):
        node = node.this
    return node if isinstance(node, exp.Literal) else None


def _spellings(schema: Schema) -> dict[str, str]:
    """Column names by their lower case, those that all tables spell alike."""
    by_name: dict[str, set[str]] = {}
    for table in schema.tables:
        for column in table.columns:
            by_name.setdefault(column.name.lower(), set()).add(column.name)
    return {name: next(iter(spellings)) for name, spellings in by_name.items() if len(spellings) == 1}


def views_of(source: Source, dialect: str) -> Callable[..., str | None]:
    """What translates the SELECT of a view, None where that cannot be; see ``writers.Views``."""

    def select(view: object) -> str | None:
        definition = getattr(view, "definition", "")
        try:
            created = parse_one(definition, "sqlite")
        except (errors.SqlglotError, RecursionError, ValueError):
            return None
        query = created.args.get("expression") if isinstance(created, exp.Create) else None
        return (translate(query.sql("sqlite"), source, dialect).sql or None) if query is not None else None

    return select
