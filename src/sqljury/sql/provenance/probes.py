"""Queries that count what another query does to rows without saying so.

A probe reads what its query reads, and nothing else: access rules that allow the one allow the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from sqljury.language.wants import Wants
from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import errors, exp
from sqljury.sql.provenance.matches import unmatched
from sqljury.sql.provenance.outer import outer_losses
from sqljury.sql.provenance.phrases import Phrases, counted, listed
from sqljury.sql.provenance.repeats import keyless, repeated
from sqljury.sql.provenance.sources import aliases, outer_aliases, result_queries, spell_out_groups
from sqljury.sql.resolve import Sources, owner, read_sources
from sqljury.sql.terms import group_keys, meant, outside_queries, row_count
from sqljury.types import Effect, Row, Schema

Q = TypeVar("Q", bound="exp.Query")

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

    GROUP BY ALL in it is spelt out. May raise what sqlglot raises for a query that it can read and not write.
    """
    spell_out_groups(tree)
    results = result_queries(tree)
    selects = [query for query in results if isinstance(query, exp.Select)]
    all_probes = [probe for select in selects for probe in _of(select, schema, wanted)]
    inner = [query for query in tree.find_all(exp.Select, exp.SetOperation) if query.args.get("limit")]
    inner = [query for query in inner if not any(query is result for result in results)]
    cut = [*results, *(query for query in inner if _stands_alone(query, schema))]
    all_probes += [probe for query in cut for probe in _cuts(query, tree, schema, wanted)]
    return sorted(all_probes, key=lambda probe: not probe.warns)


def unprobed(tree: exp.Query, schema: Schema) -> str:
    """Why an effect cannot be looked for; empty if every one can."""
    selects = [query for query in result_queries(tree) if isinstance(query, exp.Select)]
    names = dict.fromkeys(name for select in selects for name in keyless(select, schema))
    shown = listed([text.printable(name) for name in names])
    return f"rows of {shown} that a join repeats cannot be told apart without a key" if names else ""


def _of(select: exp.Select, schema: Schema, wanted: Wants) -> Iterator[Probe]:
    dialect, phrases = schema.dialect, Phrases(schema)
    losses = [("unmatched", loss) for loss in unmatched(select, schema, wanted)]
    losses += [("unmatched", loss) for loss in outer_losses(select, schema, wanted)]
    losses += [("repeated", loss) for loss in repeated(select, schema)]
    for kind, loss in losses:
        yield _count(_within(loss.query, select).sql(dialect=dialect), kind, loss.said, loss.warns)
    outer = outer_aliases(select)
    for column, outcome, warns in _ignoring_aggregates(select, phrases, wanted):
        if _may_be_null(column, outer, schema):
            yield _nulls(column, select, schema, (outcome, warns))
    for term in conjuncts(select.args.get("where")):
        if (query := _not_in(term)) is not None and _stands_alone(query, schema):
            yield _null_in_list(query, term, select, schema)
    for column, terms in _comparisons(select, schema):
        if _may_be_null(column, outer, schema):
            shown = text.remark(listed([phrases.condition(term) for term in terms]), _CHARS)
            outcome = f"left out by the condition{'s' if len(terms) > 1 else ''} {shown}"
            negative = all(term.key not in _RANGES or term.args.get("negate") for term in terms)
            yield _nulls(column, select, schema, (outcome, negative), without=terms)


def _count(sql: str, kind: str, describe: Callable[[int], str], warns: bool) -> Probe:
    def read(rows: Sequence[Row]) -> Effect | None:
        number = int(rows[0][0] or 0) if rows else 0
        return Effect(kind, describe(number), number, sql, warns) if number > 0 else None  # type: ignore[arg-type]

    return Probe(sql, read, warns)


def _within(query: Q, select: exp.Query) -> Q:
    """The query with the WITH queries that ``select`` may read: its own ones, and those before it or around it."""
    ctes: dict[str, exp.Expr] = {}
    recursive = False
    inside: exp.Expr | None = None
    node: exp.Expr | None = select
    while node is not None:
        inside = node if isinstance(node, exp.CTE) else inside
        if (clause := node.args.get("with_")) is not None:
            known, of_itself = clause.expressions, bool(clause.args.get("recursive"))
            if inside in known and not of_itself:  # a WITH query may have the name of a table that it reads
                known = known[: known.index(inside)]
            ctes = {**{cte.alias.lower(): cte.copy() for cte in known}, **ctes}
            recursive = recursive or of_itself
        node = node.parent
    if ctes:
        query.set("with_", exp.With(expressions=list(ctes.values()), recursive=recursive))
    return query


def _rows_of(select: exp.Select) -> exp.Select:
    """A count of the rows that WHERE keeps."""
    query = select.copy()
    for clause in _EVERYTHING:
        query.set(clause, None)
    query.set("expressions", [exp.Count(this=exp.Star())])
    return _within(query, select)


def _nulls(
    column: exp.Column,
    select: exp.Select,
    schema: Schema,
    effect: tuple[str, bool],
    without: Sequence[exp.Expr] = (),
) -> Probe:
    """Counts the rows without a value of ``column``, which are ignored as ``effect`` says and warns."""
    query = _rows_of(select)
    conditions = conjuncts(select.args.get("where"))
    rest = [term.copy() for term in conditions if not any(term is left_out for left_out in without)]
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


def _comparisons(select: exp.Select, schema: Schema) -> list[tuple[exp.Column, list[exp.Expr]]]:
    """The columns that WHERE compares with constants, each with its comparisons, of which NULL passes none."""
    groups: dict[tuple[str, str], tuple[exp.Column, list[exp.Expr]]] = {}
    for term in conjuncts(select.args.get("where")):
        if (column := _compared(term)) is not None:
            alias, _ = owner(column, schema) or (column.table, None)
            groups.setdefault((alias, column.name.lower()), (column, []))[1].append(term)
    return list(groups.values())


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
    while isinstance(column, exp.Lower | exp.Upper | exp.Trim | exp.Cast | exp.Paren):  # each is NULL of NULL
        column = column.this
    constant = all(isinstance(side, exp.Literal | exp.Neg) for side in others)
    return column if constant and isinstance(column, exp.Column) else None


def _not_in(term: exp.Expr) -> exp.Query | None:
    """The query of NOT IN; of a single NULL in it no row passes."""
    node = term.this if isinstance(term, exp.Not) else None
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if not isinstance(node, exp.In) or isinstance(node.this, exp.Tuple):  # a row value may differ in another part
        return None
    query = node.args.get("query")
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    return query if isinstance(query, exp.Query) else None


def _null_in_list(query: exp.Query, term: exp.Expr, select: exp.Select, schema: Schema) -> Probe:
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

    return _count(_within(counting, select).sql(dialect=schema.dialect), "null", sentence, True)


def _stands_alone(query: exp.Expr, schema: Schema) -> bool:
    """Whether it is certain that a query in a condition or an output names no column of a query around it."""
    if isinstance(query, exp.SetOperation):
        return all(_stands_alone(side.unnest(), schema) for side in (query.left, query.right))
    if isinstance(query, exp.Select) and aliases(query, query, schema) is not None:
        return True
    try:
        sources = next((known for known in read_sources(query.root(), schema) if known.scope.expression is query), None)
    except errors.SqlglotError:
        sources = None
    return sources is not None and all(_is_of(column, sources) for column in sources.scope.columns)


def _is_of(column: exp.Column, sources: Sources) -> bool:
    """Whether a column is of what FROM names: a table, a WITH query or a subquery."""
    if column.table:
        return column.table.lower() in {alias.lower() for alias in (*sources.tables, *sources.others)}
    outputs = {name.lower() for alias in sources.others for name in sources.outputs(alias) or ()}
    return column.name.lower() in outputs or bool(sources.owners(column.name))


def _cuts(select: exp.Query, tree: exp.Query, schema: Schema, wanted: Wants) -> Iterator[Probe]:
    """Whether LIMIT cuts off rows of the rank of the last one kept, or any rows where there is no order."""
    limit, offset = _number(select, "limit"), _number(select, "offset")
    if not limit or limit > _LONGEST or offset is None:
        return
    order = select.args.get("order")
    clause = f"{'FETCH FIRST' if isinstance(select.args['limit'], exp.Fetch) else 'LIMIT'} {limit}"
    if order is None:
        warns = str(limit) not in wanted.numbers
        yield from _unordered(select, schema, limit, clause, inner=select is not tree, warns=warns)
        return
    keys = [meant(key.this, select) for key in order.expressions]
    query, cells = _within(select.copy(), select), _shown_keys(keys, select)
    if isinstance(select, exp.Select) and not select.args.get("distinct"):
        sorted_by = [exp.alias_(key.copy(), f"sorted_by_{number}") for number, key in enumerate(keys, 1)]
        query.set("expressions", [*query.expressions, *sorted_by])
        cells = range(-len(keys), 0)
    if cells is None:
        return
    before = min(offset, 1)  # a row that OFFSET leaves out, to compare the first one kept with
    _keep(query, "limit", limit + TIED + before)
    if before:
        _keep(query, "offset", offset - before)
    sql = query.sql(dialect=schema.dialect)
    first, by = (text.remark(phrase, _CHARS) for phrase in _keys(keys, schema))
    noun = "group" if isinstance(select, exp.Select) and group_keys(select)[0] else "row"

    def read(rows: Sequence[Row]) -> Effect | None:
        ranks = [tuple(row[cell] for cell in cells) for row in rows]
        kept = ranks[before : before + limit]
        if empty := sum(rank[0] is None for rank in kept):
            return Effect("null", _null_text(empty, len(kept), first, noun), empty, sql, True)
        if before and len(rows) > before and ranks[0] == ranks[before]:
            return Effect("tie", _offset_text(limit, offset, by, noun), 1, sql, True)
        number = tied(rows[before:], ranks[before:], limit)
        return Effect("tie", _tie_text(number, limit, clause, by, noun), number, sql, True) if number else None

    yield Probe(sql, read, True)


def _shown_keys(keys: list[exp.Expr], query: exp.Query) -> Sequence[int] | None:
    """The cells of a row that show what the rows are sorted by; None where something else sorts them."""
    outputs = [item.unalias() for item in query.selects]
    names = [item.alias_or_name.lower() for item in query.selects]
    if any(output.is_star for output in outputs):
        return None
    cells = []
    for key in keys:
        if key in outputs:
            cells.append(outputs.index(key))
        elif isinstance(query, exp.SetOperation) and key.name.lower() in names and not key.args.get("table"):
            cells.append(names.index(key.name.lower()))
        else:
            return None
    return cells


def _keep(query: exp.Query, clause: str, number: int) -> None:
    made = exp.Limit if clause == "limit" else exp.Offset
    query.set(clause, made(expression=exp.Literal.number(number)))


def _keys(keys: list[exp.Expr], schema: Schema) -> tuple[str, str]:
    """The first key of an order, and all of them, in words."""
    phrases = [Phrases(schema).value(key) for key in keys]
    return phrases[0], listed(phrases).removeprefix("the ")


def tied(rows: Sequence[Row], ranks: Sequence[Row], limit: int) -> int:
    """How many rows beyond the first ``limit`` have the rank of the last one kept.

    0 where all rows of that rank are equal, so that it does not matter which of them are kept.
    """
    if len(rows) <= limit:
        return 0
    alike = [row for row, rank in zip(rows, ranks, strict=True) if rank == ranks[limit - 1]]
    return ranks[limit:].count(ranks[limit - 1]) if any(row != alike[0] for row in alike) else 0


def _null_text(number: int, kept: int, key: str, noun: str) -> str:
    if kept == 1:
        return f"the {noun} kept has no value of {key}, by which the {noun}s are sorted"
    has = "has" if number == 1 else "have"
    return f"{number} of the {kept} {noun}s kept {has} no value of {key}, by which the {noun}s are sorted"


def _offset_text(limit: int, offset: int, by: str, noun: str) -> str:
    first = f"the {noun} kept" if limit == 1 else f"the first {noun} kept"
    return f"the {noun} before has the same {by} as {first}, and OFFSET {offset} leaves it out"


def _tie_text(number: int, limit: int, clause: str, by: str, noun: str) -> str:
    more = f"{number} or more other {noun}s" if number >= TIED else counted(number, f"other {noun}")
    verb = "have" if more.endswith("s") else "has"
    first = f"the {noun} kept" if limit == 1 else f"the last {noun} kept"
    return f"{more} {verb} the same {by} as {first}, and {clause} cuts {'them' if verb == 'have' else 'it'} off"


def _unordered(
    select: exp.Query, schema: Schema, limit: int, clause: str, *, inner: bool, warns: bool
) -> Iterator[Probe]:
    """Whether LIMIT cuts off rows of a query without an order; in a query inside another only if rows differ."""
    grouped = not isinstance(select, exp.Select) or group_keys(select)[0]
    if not grouped and any(item.find(exp.AggFunc) is not None for item in select.selects):  # it has one row
        return
    query = _within(select.copy(), select)
    _keep(query, "limit", limit + (TIED if inner else 1))
    sql, here = query.sql(dialect=schema.dialect), "subquery" if inner else "query"
    sentence = f"{clause} keeps arbitrary rows, since the {here} has no order, and cuts off others"

    def read(rows: Sequence[Row]) -> Effect | None:
        matters = not inner or any(row != rows[0] for row in rows)
        return Effect("cut", sentence, 1, sql, warns) if len(rows) > limit and matters else None

    yield Probe(sql, read, warns)


def _number(query: exp.Query, clause: str) -> int | None:
    """The number of LIMIT or OFFSET, 0 where there is none; None for anything but a number of rows that is kept to."""
    count = row_count(query, clause)  # with PERCENT or WITH TIES behind it where these are said
    return int(count or 0) if count.isdecimal() or not count else None
