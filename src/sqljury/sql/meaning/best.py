"""The best of each: "which driver made the most trips at each depot", where the query shows every driver.

Small models group by depot and driver and stop there. The rows of each depot are ranked, and those with rank 1 stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury.language.alike import MENTIONED, likeness, pieces
from sqljury.language.superlatives import BestOfEach, wanted_best
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, repeats, single_select, stripped
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.sql.terms import group_keys, meant, outside_queries
from sqljury.types import Schema, Table

_NAMING: Final = frozenset(
    ("name", "title", "label", "nm", "text", "txt", "descr", "desc", "description", "code", "cd", "id", "no", "key")
)
"""Last words of columns that say which row is meant: ``depot_nm`` is a depot."""
AFFIXES: Final = frozenset(("dim", "fact", "tbl", "mst", "master", "ref", "hdr"))
"""Words of names of tables that say nothing of their rows."""
_FORMATS: Final = {"%Y": "year", "%Y-%m": "month", "%m": "month"}
_PREFIXES: Final = {"4": "year", "7": "month"}
"""By the length of the beginning of a day as YYYY-MM-DD."""
_WITHIN: Final = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "month"),
    "week": ("year", "week"),
}
"""The parts of a date that together are a period."""


def best_of_each(tree: exp.Query, asked: Asked) -> Change | None:
    """Keep the best rows of each group that the question names, where the query has no LIMIT and shows all rows.

    The query groups by several outputs, of which some are what "each" is said of, and has one aggregate to rank by.
    """
    best = wanted_best(asked.question.text)
    select = single_select(tree) if best is not None else None
    if best is None or select is None or not is_plain(select):
        return None
    groups = Groups(select, asked.schema)
    measure = _measure(select)
    split = next(filter(None, (groups.split(phrase) for phrase in best.each)), None)
    if measure is None or split is None or _is_of_rows(best, split.others, asked):
        return None
    descending = _descending(best, measure, select)
    if descending is None or not repeats(select, split.shown, asked):
        return None
    query = top_ranked(select, split.partition, exp.Ordered(this=measure.copy(), desc=descending), asked.dialect)
    return Change("the question asks for the best of each, and the query shows all of them", query=query)


def top_ranked(
    select: exp.Select, partition: Sequence[exp.Expr], ranked_by: exp.Ordered, dialect: str, *, keep_order: bool = True
) -> exp.Select:
    """The rows of a query that have rank 1 within their partition, with the same outputs, without its LIMIT."""
    if dialect != "mysql":  # which has NULL last in descending order, and no words for it
        ranked_by.set("nulls_first", False)
    keys = [key.copy() for key in partition]
    rank = exp.Window(this=exp.Anonymous(this="RANK"), partition_by=keys, order=exp.Order(expressions=[ranked_by]))
    names, outputs = output_names(select), [item.unalias() for item in select.selects]
    given = list(select.args["order"].expressions) if keep_order and select.args.get("order") else []
    inner = select.copy()
    inner.set("expressions", [exp.alias_(output.copy(), name) for output, name in zip(outputs, names, strict=True)])
    inner.select(exp.alias_(rank, "rank_in_group"), copy=False)
    inner.set("order", None)
    inner.set("limit", None)
    order = []
    for number, ordered in enumerate(given, 1):
        key, again = meant(ordered.this, select), ordered.copy()
        if key in outputs:
            name = names[outputs.index(key)]
        else:
            name = exp.to_identifier(f"sorted_by_{number}")
            inner.select(exp.alias_(key.copy(), name.copy()), copy=False)
        again.set("this", exp.Column(this=name.copy()))
        order.append(again)
    shown = [exp.Column(this=name.copy()) for name in names]
    query = exp.select(*shown).from_(inner.subquery("ranked")).where(exp.column("rank_in_group").eq(1))
    return query.order_by(*order) if order else query


def output_names(select: exp.Select) -> list[exp.Identifier]:
    """What the outputs are called, each differently; made up for those without a name."""
    names: list[exp.Identifier] = []
    for at, item in enumerate(select.selects, 1):
        name = item.args["alias"] if item.alias else item.this if isinstance(item, exp.Column) else None
        taken = {identifier.name.lower() for identifier in names}
        if not isinstance(name, exp.Identifier) or name.name.lower() in taken:
            name = exp.to_identifier(f"c{at}")
        names.append(name.copy())
    return names


def is_plain(select: exp.Select) -> bool:
    """Whether it groups and shows all its groups, without a window function."""
    keys, kinds = group_keys(select)
    parts = ("distinct", "limit", "offset", "with_", "qualify")
    return len(keys) > 0 and not (kinds or any(map(select.args.get, parts)) or select.find(exp.Window) is not None)


def is_aggregate(node: exp.Expr) -> bool:
    return any(isinstance(part, exp.AggFunc) for part in outside_queries(node))


def bare(node: exp.Expr) -> exp.Expr:
    """An expression without its name, its digits, its type and its unit, such as cents."""
    return stripped(node, _is_converted)


def _is_converted(node: exp.Expr) -> bool:
    return isinstance(node, exp.Div | exp.Mul) and isinstance(node.expression, exp.Literal)


def _measure(select: exp.Select) -> exp.Expr | None:
    """The only aggregate that a query shows or sorts by, if it counts, adds up or averages."""
    given = select.args["order"].expressions if select.args.get("order") else []
    shown = [*select.selects, *(meant(ordered.this, select) for ordered in given)]
    aggregates = list(dict.fromkeys(bare(node) for node in shown if is_aggregate(node)))
    calls = [part for node in aggregates for part in outside_queries(node) if isinstance(part, exp.AggFunc)]
    plain = all(isinstance(call, exp.Count | exp.Sum | exp.Avg) for call in calls)
    return aggregates[0] if len(aggregates) == 1 and plain else None


def _descending(best: BestOfEach, measure: exp.Expr, select: exp.Select) -> bool | None:
    """Whether the greatest of an aggregate is the best; None where question and order disagree or do not say it."""
    if best.of_amounts and isinstance(measure, exp.Count):
        return None
    given = select.args["order"].expressions if select.args.get("order") else []
    sorted_so = {bool(key.args.get("desc")) for key in given if bare(meant(key.this, select)) == measure}
    wanted = best.descending
    if best.superlative == "best" and not isinstance(measure, exp.Count | exp.Sum):
        wanted = None  # the best average may be that of times or of prices
    directions = sorted_so if wanted is None else sorted_so | {wanted}
    return directions.pop() if len(directions) == 1 else None


def _is_of_rows(best: BestOfEach, others: Sequence[exp.Expr], asked: Asked) -> bool:
    """Whether the superlative is said of a number that single rows have: "the room with the highest rate"."""
    numbers = [known for known in (held(node, asked.schema) for node in others) if known and not known.is_text]
    keys = [known for known in numbers if known.column.name not in known.table.primary_key]
    return any({*best.after} & {*pieces(known.column.name)} for known in keys)


class _Split(NamedTuple):
    """The numbers of the outputs that "each" is said of, the other columns, and what to rank within."""

    shown: tuple[int, ...]
    others: tuple[exp.Expr, ...]
    partition: tuple[exp.Expr, ...]


class Groups:
    """The groups of a query: its keys, and the outputs that are no aggregates by their number."""

    def __init__(self, select: exp.Select, schema: Schema) -> None:
        self._select, self._schema = select, schema
        self._keys = [meant(key, select) for key in group_keys(select)[0]]
        self._shown = {at: item for at, item in enumerate(select.selects) if not is_aggregate(item)}

    def split(self, phrase: tuple[str, ...]) -> _Split | None:
        """The outputs that these words name, and what is left; None where they name none, all, or no groups."""
        nodes = [item.unalias() for item in self._shown.values()]
        if len(nodes) < 2 or not all(map(self._is_grouped, nodes)) or not self._all_shown(nodes):
            return None
        for least in (1.0, MENTIONED):
            mine = [at for at, item in self._shown.items() if self._is_named(item, phrase, least)]
            if not mine:
                continue
            others = tuple(item.unalias() for at, item in self._shown.items() if at not in mine)
            keys = [self._shown[at].unalias() for at in mine]
            keys += [key for key in self._keys if key not in nodes and self._is_named(key, phrase, least)]
            return _Split(tuple(mine), others, tuple(dict.fromkeys(keys))) if others else None
        return None

    def are_of(self, phrase: tuple[str, ...]) -> bool:
        """Whether each group is one of what these words name: all keys are, or are of a table whose key is among them.

        All outputs but aggregates are of the groups, and all groups are shown.
        """
        nodes = [item.unalias() for item in self._shown.values()]
        if not nodes or not all(map(self._is_grouped, nodes)) or not self._all_shown(nodes):
            return False
        named = [node for node in (*nodes, *self._keys) if self._is_named(node, phrase, MENTIONED)]
        mine = [owner(node, self._schema) for node in named if isinstance(node, exp.Column)]
        rows = {owned[0] for owned in mine if owned is not None and self._has_key(*owned)}
        others = [node for node in self._keys if node not in named]
        owners = [owner(node, self._schema) if isinstance(node, exp.Column) else None for node in others]
        return bool(named) and all(owned is not None and owned[0] in rows for owned in owners)

    def _has_key(self, alias: str, table: Table) -> bool:
        """Whether the key of a table is among those of the groups."""
        return _has_key(table, _columns_of(alias, self._keys, self._schema))

    def _is_grouped(self, node: exp.Expr) -> bool:
        return is_grouped(node, self._keys, self._schema)

    def _all_shown(self, nodes: Sequence[exp.Expr]) -> bool:
        """Whether each key is an output, or is of a table with an output."""
        tables = {owned[0] for node in nodes if isinstance(node, exp.Column) and (owned := owner(node, self._schema))}
        unseen = [key for key in self._keys if key not in nodes]
        owners = [owner(key, self._schema) if isinstance(key, exp.Column) else None for key in unseen]
        return all(key_owner is not None and key_owner[0] in tables for key_owner in owners)

    def _is_named(self, item: exp.Expr, phrase: tuple[str, ...], least: float) -> bool:
        """Whether words are the name of an output, of its table, or of the period that it is."""
        node = item.unalias()
        names = [name for name in (item.alias, node.name if isinstance(node, exp.Column) else "") if name]
        if any(_alike(phrase, named_thing(name), least) for name in names):
            return True
        known = held(node, self._schema)
        if known is None:
            return len(phrase) == 1 and part_of_day(node) in _WITHIN.get(phrase[0], ())
        return _alike(phrase, [word for word in words(known.table.name) if word not in AFFIXES], least)


def is_grouped(node: exp.Expr, keys: Sequence[exp.Expr], schema: Schema) -> bool:
    """Whether an expression is a key of the groups, or a column of a table whose key is one."""
    owned = owner(node, schema) if isinstance(node, exp.Column) else None
    if node in keys or owned is None:
        return node in keys
    alias, table = owned
    columns = _columns_of(alias, keys, schema)
    return node.name.lower() in columns or _has_key(table, columns)


def _columns_of(alias: str, keys: Sequence[exp.Expr], schema: Schema) -> set[str]:
    """The names of the columns of a table, under its alias, among the keys of groups, in lower case."""
    owners = [(key.name.lower(), owner(key, schema)) for key in keys if isinstance(key, exp.Column)]
    return {name for name, owned in owners if owned is not None and owned[0] == alias}


def _has_key(table: Table, columns: set[str]) -> bool:
    """Whether a table has a key, and all of it is among these columns."""
    return bool(table.primary_key) and {name.lower() for name in table.primary_key} <= columns


def named_thing(name: str) -> tuple[str, ...]:
    """The words of a column's name without one that only says how it names a row."""
    parts = pieces(name)
    return parts[:-1] if len(parts) > 1 and parts[-1] in _NAMING else parts


def _alike(phrase: Sequence[str], name: Sequence[str], least: float) -> bool:
    pairs = zip(phrase, name, strict=False)
    return len(phrase) == len(name) and all(likeness(word, piece) >= least for word, piece in pairs)


def part_of_day(node: exp.Expr) -> str:
    """The part of a date that an expression is, such as year; empty for anything else."""
    node = bare(node)
    if isinstance(node, exp.Year | exp.Month | exp.Quarter | exp.Week):
        return str(node.key)
    if isinstance(node, exp.Extract):
        return node.name.lower()
    if isinstance(node, exp.TimeToStr):
        return _FORMATS.get(node.text("format"), "")
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc):
        return node.text("unit").lower()
    if isinstance(node, exp.Substring) and node.text("start") == "1":
        return _PREFIXES.get(node.text("length"), "")
    return ""
