"""Queries that count what another query does to rows without saying so.

A probe reads what its query reads, and nothing else: access rules that allow the one allow the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from sqljury.language.wants import Wants
from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import exp
from sqljury.sql.provenance.matches import unmatched
from sqljury.sql.provenance.outer import outer_losses
from sqljury.sql.provenance.phrases import Phrases, counted, listed
from sqljury.sql.provenance.repeats import repeated
from sqljury.sql.provenance.sources import aliases, outer_aliases, result_selects
from sqljury.sql.resolve import owner
from sqljury.sql.terms import group_keys, meant, outside_queries
from sqljury.types import Effect, Row, Schema

TIED: Final = 20
"""Rows looked at beyond those that LIMIT keeps."""
_LONGEST: Final = 1_000
"""A LIMIT beyond is not looked at."""
_CHARS: Final = 200
_EVERYTHING: Final = ("limit", "offset", "order", "distinct", "group", "having", "windows", "qualify")
_RANGES: Final = ("gt", "gte", "lt", "lte", "between")
_NEGATED: Final = ("eq", "neq", "in", "like", "ilike", "between")


class Probe(NamedTuple):
    """A query that counts an effect: ``read`` makes its rows the effect, None where there is none.

    ``warns`` is that of its effect, so that probes whose effect would be a remark can be run first.
    """

    sql: str
    read: Callable[[Sequence[Row]], Effect | None]
    warns: bool


def probes(tree: exp.Query, schema: Schema, wanted: Wants) -> list[Probe]:
    """The probes of a query, those first whose effects warn; what the question has asked for in words does not.

    May raise what sqlglot raises for a query that it can read and not write.
    """
    all_probes = [probe for select in result_selects(tree) for probe in _of(select, tree, schema, wanted)]
    all_probes += [probe for select in tree.find_all(exp.Select) for probe in _cuts(select, tree, schema, wanted)]
    return sorted(all_probes, key=lambda probe: not probe.warns)


def _of(select: exp.Select, tree: exp.Query, schema: Schema, wanted: Wants) -> Iterator[Probe]:
    dialect, phrases = schema.dialect, Phrases(schema)
    losses = [("unmatched", loss) for loss in unmatched(select, schema, wanted)]
    losses += [("unmatched", loss) for loss in outer_losses(select, schema, wanted)]
    losses += [("repeated", loss) for loss in repeated(select, schema)]
    for kind, loss in losses:
        yield _count(_within(loss.query, select, tree).sql(dialect=dialect), kind, loss.said, loss.warns)
    outer = outer_aliases(select)
    for column, outcome, warns in _ignoring_aggregates(select, phrases, wanted):
        if _may_be_null(column, outer, schema):
            yield _nulls(column, select, tree, schema, (outcome, warns))
    for term in conjuncts(select.args.get("where")):
        if (query := _not_in(term)) is not None:
            yield _null_in_list(query, term, select, tree, schema)
        elif (known := _compared(term)) is not None and _may_be_null(known, outer, schema):
            outcome = f"left out by the condition {text.remark(phrases.condition(term), _CHARS)}"
            negative = term.key not in _RANGES or bool(term.args.get("negate"))
            yield _nulls(known, select, tree, schema, (outcome, negative), without=term)


def _count(sql: str, kind: str, describe: Callable[[int], str], warns: bool) -> Probe:
    def read(rows: Sequence[Row]) -> Effect | None:
        number = int(rows[0][0] or 0) if rows else 0
        return Effect(kind, describe(number), number, sql, warns) if number > 0 else None  # type: ignore[arg-type]

    return Probe(sql, read, warns)


def _within(query: exp.Select, select: exp.Select, tree: exp.Query) -> exp.Select:
    """The query with the WITH clause that ``select`` is under."""
    around = select.args.get("with_") or tree.args.get("with_")
    if around is not None and query.args.get("with_") is None:
        query.set("with_", around.copy())
    return query


def _rows_of(select: exp.Select, tree: exp.Query) -> exp.Select:
    """A count of the rows that WHERE keeps."""
    query = select.copy()
    for clause in _EVERYTHING:
        query.set(clause, None)
    query.set("expressions", [exp.Count(this=exp.Star())])
    return _within(query, select, tree)


def _nulls(
    column: exp.Column,
    select: exp.Select,
    tree: exp.Query,
    schema: Schema,
    effect: tuple[str, bool],
    without: exp.Expr | None = None,
) -> Probe:
    """Counts the rows without a value of ``column``, which are ignored as ``effect`` says and warns."""
    query = _rows_of(select, tree)
    rest = [term.copy() for term in conjuncts(select.args.get("where")) if term is not without]
    empty = exp.Is(this=column.copy(), expression=exp.Null())
    query.set("where", exp.Where(this=exp.and_(*rest, empty)))
    name, (what, warns) = Phrases(schema).column(column), effect

    def sentence(number: int) -> str:
        has, is_ = ("has", "is") if number == 1 else ("have", "are")
        return f"{counted(number, 'row')} {has} no value of {name} and {is_} {what}"

    return _count(query.sql(dialect=schema.dialect), "null", sentence, warns)


def _may_be_null(column: exp.Column, outer: set[str], schema: Schema) -> bool:
    """Whether the column itself may be NULL; one that an outer join fills up with NULLs is meant to be."""
    alias_table = owner(column, schema)
    if alias_table is None or alias_table[0] in outer:
        return False
    table = alias_table[1]
    known = next(item for item in table.columns if item.name.lower() == column.name.lower())
    return not known.not_null and known.name not in table.primary_key


def _ignoring_aggregates(select: exp.Select, phrases: Phrases, wanted: Wants) -> Iterator[tuple[exp.Column, str, bool]]:
    """Columns whose NULLs an aggregate of outputs, HAVING or ORDER BY ignores, what that does, and whether it warns."""
    order, having = select.args.get("order"), select.args.get("having")
    parts = [*select.selects, *([having.this] if having is not None else [])]
    parts += [] if order is None else order.expressions
    seen: set[str] = set()
    nodes = [node for part in parts for node in outside_queries(part)]
    all_counted = any(isinstance(node, exp.Count) and isinstance(node.this, exp.Star) for node in nodes)
    for node in nodes:
        if not isinstance(node, exp.AggFunc) or isinstance(node.parent, exp.Window | exp.Filter):
            continue
        inner = node.this
        while isinstance(inner, exp.Cast | exp.Paren):
            inner = inner.this
        if not isinstance(inner, exp.Column) or isinstance(inner.this, exp.Star) or node.sql() in seen:
            continue
        seen.add(node.sql())
        asked = wanted.counted.issuperset(words(inner.name))  # the number of grades is that of values
        warns = isinstance(node, exp.Avg) or (isinstance(node, exp.Count) and not (all_counted or asked))
        yield inner, f"not part of {text.remark(phrases.value(node), _CHARS)}", warns


def _compared(term: exp.Expr) -> exp.Column | None:
    """The column that a condition compares with constants so that NULL does not pass where it might be meant to."""
    negated = isinstance(term, exp.NEQ) or bool(term.args.get("negate"))
    node = term
    while isinstance(node, exp.Not | exp.Paren):
        negated = negated != isinstance(node, exp.Not)
        node = node.this
    if node.key not in (_NEGATED if negated else _RANGES):
        return None
    column, *others = node.iter_expressions()
    constant = all(isinstance(side, exp.Literal | exp.Neg) for side in others)
    return column if constant and isinstance(column, exp.Column) else None


def _not_in(term: exp.Expr) -> exp.Query | None:
    """The query of NOT IN; of a single NULL in it no row passes."""
    node = term.this if isinstance(term, exp.Not) else None
    node = node.unnest() if isinstance(node, exp.Paren) else node
    query = node.args.get("query") if isinstance(node, exp.In) else None
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    return query if isinstance(query, exp.Query) else None


def _null_in_list(query: exp.Query, term: exp.Expr, select: exp.Select, tree: exp.Query, schema: Schema) -> Probe:
    inner = query.copy()
    first = inner
    while isinstance(first, exp.SetOperation):
        first = first.this.unnest()
    first.set("expressions", [exp.alias_(first.selects[0].unalias().copy(), "listed_value"), *first.selects[1:]])
    counting = exp.select(exp.Count(this=exp.Star())).from_(inner.subquery("listed"))
    counting = counting.where(exp.Is(this=exp.column("listed_value"), expression=exp.Null()))
    shown = text.remark(Phrases(schema).condition(term), _CHARS)

    def sentence(number: int) -> str:
        return f"no row can pass the condition {shown}: the list has {counted(number, 'NULL')} in it"

    return _count(_within(counting, select, tree).sql(dialect=schema.dialect), "null", sentence, True)


def _cuts(select: exp.Select, tree: exp.Query, schema: Schema, wanted: Wants) -> Iterator[Probe]:
    """Whether LIMIT cuts off rows of the rank of the last one kept, or any rows where there is no order."""
    limit, offset = _number(select, "limit"), _number(select, "offset")
    if not limit or limit > _LONGEST or offset is None:
        return
    if aliases(select, select, schema) is None and select is not tree:
        return
    if select.args["limit"].key != "limit":  # FETCH, which may keep ties
        return
    order = select.args.get("order")
    keys = [] if order is None else [meant(key.this, select) for key in order.expressions]
    if order is None:
        yield from _unordered(select, tree, schema, limit, warns=str(limit) not in wanted.numbers)
        return
    outputs = [item.unalias() for item in select.selects]
    if select.args.get("distinct") and not all(key in outputs for key in keys):
        return
    query = _within(select.copy(), select, tree)
    sorted_by = [exp.alias_(key.copy(), f"sorted_by_{number}") for number, key in enumerate(keys, 1)]
    query.set("expressions", [*query.expressions, *sorted_by])
    before = min(offset, 1)  # a row that OFFSET leaves out, to compare the first one kept with
    query = query.limit(limit + TIED + before, copy=False)
    if before:
        query = query.offset(offset - before, copy=False)
    sql = query.sql(dialect=schema.dialect)
    first, by = (text.remark(phrase, _CHARS) for phrase in _keys(keys, schema))
    noun = "group" if group_keys(select)[0] else "row"

    def read(rows: Sequence[Row]) -> Effect | None:
        kept = rows[before : before + limit]
        if empty := sum(row[-len(keys)] is None for row in kept):
            return Effect("null", _null_text(empty, len(kept), first, noun), empty, sql, True)
        if before and len(rows) > before and rows[0][-len(keys) :] == rows[before][-len(keys) :]:
            return Effect("tie", _offset_text(limit, offset, by, noun), 1, sql, True)
        number = tied(rows[before:], limit, len(keys))
        return Effect("tie", _tie_text(number, limit, by, noun), number, sql, True) if number else None

    yield Probe(sql, read, True)


def _keys(keys: list[exp.Expr], schema: Schema) -> tuple[str, str]:
    """The first key of an order, and all of them, in words."""
    phrases = [Phrases(schema).value(key) for key in keys]
    return phrases[0], listed(phrases).removeprefix("the ")


def tied(rows: Sequence[Row], limit: int, keys: int) -> int:
    """How many rows beyond the first ``limit`` have the sort keys, the last ``keys`` cells, of the last one kept.

    0 where all rows of that rank are equal, so that it does not matter which of them are kept.
    """
    if len(rows) <= limit:
        return 0
    last = rows[limit - 1][-keys:]
    alike = [row for row in rows if row[-keys:] == last]
    beyond = [row for row in rows[limit:] if row[-keys:] == last]
    return len(beyond) if any(row != alike[0] for row in alike) else 0


def _null_text(number: int, kept: int, key: str, noun: str) -> str:
    if kept == 1:
        return f"the {noun} kept has no value of {key}, by which the {noun}s are sorted"
    has = "has" if number == 1 else "have"
    return f"{number} of the {kept} {noun}s kept {has} no value of {key}, by which the {noun}s are sorted"


def _offset_text(limit: int, offset: int, by: str, noun: str) -> str:
    first = f"the {noun} kept" if limit == 1 else f"the first {noun} kept"
    return f"the {noun} before has the same {by} as {first}, and OFFSET {offset} leaves it out"


def _tie_text(number: int, limit: int, by: str, noun: str) -> str:
    more = f"{number} or more other {noun}s" if number >= TIED else counted(number, f"other {noun}")
    verb = "have" if more.endswith("s") else "has"
    first = f"the {noun} kept" if limit == 1 else f"the last {noun} kept"
    return f"{more} {verb} the same {by} as {first}, and LIMIT {limit} cuts {'them' if verb == 'have' else 'it'} off"


def _unordered(select: exp.Select, tree: exp.Query, schema: Schema, limit: int, *, warns: bool) -> Iterator[Probe]:
    single = not group_keys(select)[0] and any(item.find(exp.AggFunc) is not None for item in select.selects)
    if select is not tree or single:
        return
    sql = select.copy().limit(limit + 1, copy=False).sql(dialect=schema.dialect)
    sentence = f"LIMIT {limit} keeps arbitrary rows, since the query has no order, and cuts off others"

    def read(rows: Sequence[Row]) -> Effect | None:
        return Effect("cut", sentence, 1, sql, warns) if len(rows) > limit else None

    yield Probe(sql, read, warns)


def _number(select: exp.Select, clause: str) -> int | None:
    """The number of LIMIT or OFFSET, 0 where there is none; None for anything but a plain number."""
    node = select.args.get(clause)
    if node is None:
        return 0
    value = node.args.get("expression")
    return int(value.name) if isinstance(value, exp.Literal) and value.is_int else None
