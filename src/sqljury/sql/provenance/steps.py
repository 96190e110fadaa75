"""A query as steps in plain words, in the order in which its clauses take effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqljury.sql import text
from sqljury.sql.parse import exp
from sqljury.sql.provenance.outer import undone
from sqljury.sql.provenance.phrases import CHARS, Phrases, listed
from sqljury.sql.provenance.sources import half, spell_out_groups
from sqljury.sql.resolve import find_table, from_items, owner
from sqljury.sql.terms import group_keys, meant, row_count
from sqljury.types import Schema, Step
from sqljury.types.explanation import StepKind

DEEPEST: Final = 4
"""Queries nested more deeply are left out."""
_COMBINED: Final = {
    "union": "the rows of two parts",
    "intersect": "the rows that both of two parts have",
    "except": "the rows of the first of two parts that the second lacks",
}


def steps(tree: exp.Query, schema: Schema) -> tuple[Step, ...]:
    """The steps of a query; each query inside it follows the step that names it, one level deeper.

    GROUP BY ALL in it is spelt out.
    """
    spell_out_groups(tree)
    return tuple(_Teller(schema).of(tree, 0))


class _Teller:
    """Numbers the queries inside one query, and tells each of them once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._phrases = Phrases(schema, self._name)
        self._waiting: list[tuple[str, exp.Query]] = []
        self._count = 0

    def _name(self, node: exp.Expr) -> str:
        query = node.unnest() if isinstance(node, exp.Subquery) else node
        self._count += 1
        name = f"subquery {self._count}"
        if isinstance(query, exp.Query):
            self._waiting.append((name, query))
        return name

    def of(self, query: exp.Query, depth: int) -> Iterator[Step]:
        if depth > DEEPEST:
            return
        for cte in query.ctes:
            yield _step("subquery", f'First, "{text.printable(cte.alias)}" is computed:', depth)
            if isinstance(cte.this, exp.Query):
                yield from self.of(cte.this, depth + 1)
        if isinstance(query, exp.Subquery):
            inner = query.unnest()
            yield from self.of(inner, depth) if isinstance(inner, exp.Query) else ()
        elif isinstance(query, exp.SetOperation):
            yield from self._combined(query, depth)
        elif isinstance(query, exp.Select):
            for step in self._select(query, inner=depth > 0):
                yield _step(*step, depth)
                yield from self._inside(depth + 1)

    def _inside(self, depth: int) -> Iterator[Step]:
        """The queries that the step before named."""
        waiting, self._waiting = self._waiting, []
        for name, query in waiting:
            yield _step("subquery", f"{name[0].upper()}{name[1:]}:", depth - 1)
            yield from self.of(query, depth)

    def _combined(self, query: exp.SetOperation, depth: int) -> Iterator[Step]:
        all_rows = "" if query.args.get("distinct") else ", equal ones too"
        once = ", equal ones once" if isinstance(query, exp.Union) and not all_rows else all_rows
        yield _step("combine", f"Takes {_COMBINED.get(query.key, 'the rows')}{once}.", depth)
        for name, part in (("First part:", query.left), ("Second part:", query.right)):
            yield _step("combine", name, depth)
            yield from self.of(part, depth + 1) if isinstance(part, exp.Query) else ()
        for step in self._kept(query):
            yield _step(*step, depth)

    def _select(self, select: exp.Select, *, inner: bool) -> Iterator[tuple[StepKind, str]]:
        phrases = self._phrases
        sources = [self._source(node) for node in from_items(select)]
        if sources:
            yield "read", f"Reads {listed(sources)}."
        dropped = {alias: undone_join.reason for alias, undone_join in undone(select, self._schema).items()}
        for join in select.args.get("joins") or ():
            yield "join", self._join(join, dropped)
        if (where := select.args.get("where")) is not None:
            yield "filter", f"Keeps rows where {phrases.condition(where.this)}."
        if keys := group_keys(select)[0]:
            same = listed([phrases.value(meant(key, select)) for key in keys])
            yield "group", f"Makes one row of all rows with the same {same}."
        if (having := select.args.get("having")) is not None:
            yield "filter", f"Keeps groups where {phrases.condition(having.this)}."
        if (qualify := select.args.get("qualify")) is not None:
            yield "filter", f"Keeps rows where {phrases.condition(self._spelt_out(qualify))}."
        shown = [self._output(item, inner=inner) for item in select.selects]
        yield "show", f"Shows {listed(shown)}{self._once(select)}."
        yield from self._kept(select)

    def _output(self, item: exp.Expr, *, inner: bool) -> str:
        """An item of SELECT, with the name by which the query around it may call what is computed."""
        named = inner and isinstance(item, exp.Alias) and not isinstance(item.this, exp.Column)
        return f"{self._phrases.value(item)}{f' (as {text.printable(item.alias)})' if named else ''}"

    def _spelt_out(self, qualify: exp.Qualify) -> exp.Expr:
        """The condition of QUALIFY, with the outputs in it that it calls by their names."""
        select = qualify.parent_select.copy()  # type: ignore[union-attr]
        for column in list(select.args["qualify"].find_all(exp.Column)):
            if owner(column, self._schema) is None:
                column.replace(meant(column, select).copy())
        return select.args["qualify"].this  # type: ignore[no-any-return]

    def _once(self, select: exp.Select) -> str:
        return ", equal rows once" if select.args.get("distinct") and not _distinct_keys(select) else ""

    def _source(self, node: exp.Expr) -> str:
        if not isinstance(node, exp.Table):
            return self._name(node) if isinstance(node, exp.Subquery) else text.remark(node.sql(), CHARS)
        table = find_table(self._schema, node)
        name = text.printable(node.name if table is None else table.name)
        twice = [item for item in from_items(node.parent_select) if isinstance(item, exp.Table)]  # type: ignore[arg-type]
        again = sum(item.name.lower() == node.name.lower() for item in twice) > 1
        return f"{name} (as {text.printable(node.alias_or_name)})" if again else name

    def _join(self, join: exp.Join, dropped: dict[str, str]) -> str:
        on, using = join.args.get("on"), join.args.get("using")
        name = text.printable(join.this.alias_or_name)
        table = find_table(self._schema, join.this) if isinstance(join.this, exp.Table) else None
        name = name if table is None or self._source(join.this).endswith(")") else text.printable(table.name)
        side = str(join.side).upper()
        if on is not None and (on.find(exp.Column) is not None or side):
            condition = f" where {self._phrases.condition(on)}"
        elif using:
            condition = f" where {listed([text.printable(part.name) for part in using])} is the same"
        elif join.method == "NATURAL":
            condition = " where columns of the same name are the same"
        else:
            chosen = (
                "; conditions below choose among these pairs"
                if join.parent is not None and join.parent.args.get("where")
                else ""
            )
            return f"Puts every row of {name} beside every row so far{chosen}."
        if kind := half(join):
            return f"Keeps rows that have {'no' if kind == 'ANTI' else 'a'} match in {name}{condition}."
        reason = dropped.get(join.alias_or_name.lower())
        but = f", but {reason} drops" if reason else ""
        kept = {
            "": "rows without a match are dropped",
            "LEFT": f"rows without a match in {name} are kept{but and f'{but} them'}",
            "RIGHT": f"every row of {name} is kept{but and f'{but} those without a match'}",
            "FULL": f"rows without a match are kept on both sides{but and f'{but} some of them'}",
        }
        return f"Joins {name}{condition}; {kept.get(side, 'rows without a match are dropped')}."

    def _kept(self, query: exp.Query) -> Iterator[tuple[StepKind, str]]:
        order = query.args.get("order")
        if order is not None:
            yield "order", f"Sorts by {listed([self._key(key, query) for key in order.expressions])}."
        if keys := _distinct_keys(query):
            each = listed([self._phrases.value(meant(key, query)) for key in keys])
            yield "limit", f"Keeps {'the first row' if order is not None else 'one row'} for each {each}."
        (limit, _, option), offset = row_count(query, "limit").partition(" "), row_count(query, "offset")
        if limit:
            after = f" after the first {offset}" if offset not in ("", "0") else ""
            share = "% of the " if option == "PERCENT" else ""
            rows = "row" if limit == "1" and not share else f"{limit} {share}rows"
            ties = ", and those with the rank of the last one" if option == "WITH TIES" else ""
            yield "limit", f"Keeps the first {rows}{after}{ties}."

    def _key(self, key: exp.Expr, query: exp.Query) -> str:
        node = meant(key.this, query) if isinstance(key, exp.Ordered) else key
        return f"{self._phrases.value(node)}, {self._phrases.first(node, highest=bool(key.args.get('desc')))}"


def _distinct_keys(query: exp.Query) -> list[exp.Expr]:
    """The keys of DISTINCT ON."""
    distinct = query.args.get("distinct")  # True for a set operation
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    return on.expressions if on is not None else []


def _step(kind: StepKind, sentence: str, depth: int) -> Step:
    return Step(kind, text.remark(sentence, CHARS), depth)
