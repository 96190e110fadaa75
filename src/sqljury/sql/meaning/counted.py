"""Things that are counted once for each row that a join makes of them: a student with two pets is one student.

And things that are counted although there are none: an outer join makes a row of a student without pets.
"""

from __future__ import annotations

from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.cues import counted, different, different_things, times_of_goods, wants_count
from sqljury.language.wants import grouped_by
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, are_unique, held, keys_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, find_table, identifier, sources_of
from sqljury.sql.terms import group_keys, outside_queries
from sqljury.types import Schema, Table

_NUMBERS: Final = (("id",), ("no",), ("nr",), ("key",))
"""Last words of columns that number rows."""
_MONEY: Final = frozenset(
    (
        "amount",
        "amt",
        "price",
        "cost",
        "fee",
        "total",
        "revenue",
        "value",
        "charge",
        "salary",
        "wage",
        "paid",
        "net",
        "gross",
    )
)
"""Words of columns that hold money, which "how many" does not ask for."""


def counted_once(tree: exp.Query, asked: Asked) -> Change | None:
    """Count each of the things that the question counts once, where COUNT counts rows and some are counted twice.

    Not where it asks how many "were sold": each time counts, unless they are to be different.
    """
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1:
        return None
    if any(tree.args.get(part) for part in ("group", "distinct", "limit", "having")):
        return None
    count = tree.selects[0].unalias()
    if not isinstance(count, exp.Count) or not isinstance(count.this, exp.Star | exp.Column):
        return None
    table = counted_table(asked.question.text, asked.schema)
    if table is None or (times_of_goods(asked.question.text) and not different(asked.question.text)):
        return None
    sources = sources_of(tree, asked.schema)
    column = None if sources is None or sources.others else _identifying(table, sources)
    if column is None or not _repeated(tree, column, asked):
        return None
    count.set("this", exp.Distinct(expressions=[column]))
    return Change(f"COUNT counted rows, several of which belong to one of {table.name}")


def counted_groups(tree: exp.Query, asked: Asked) -> Change | None:
    """Count the groups where a query counts the different values of its only key in each group, which is always one.

    ``SELECT COUNT(DISTINCT patient_id) ... GROUP BY patient_id HAVING COUNT(*) > 2`` has a row of 1 for each patient.
    """
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1 or not wants_count(asked.question.text):
        return None
    count, keys = tree.selects[0].unalias(), group_keys(tree)[0]
    of = count.this if isinstance(count, exp.Count) else None
    node = of.expressions[0] if isinstance(of, exp.Distinct) and len(of.expressions) == 1 else None
    known = held(node, asked.schema)
    if known is None or len(keys) != 1 or held(keys[0], asked.schema) != known or grouped_by(asked.question.text):
        return None
    if any(tree.args.get(part) for part in ("limit", "offset", "order", "distinct")):
        return None
    inner = tree.copy()
    inner.set("expressions", [keys[0].copy()])
    query = exp.select(exp.Count(this=exp.Star(), big_int=True)).from_(inner.subquery("counted"))
    reason = "the query counted one for each group, and the question wants their number"
    return Change(reason, query=query, without=("distinct",))


def counted_different(tree: exp.Query, asked: Asked) -> Change | None:
    """Count different values of a column where the question counts different ones of what the column is called."""
    things = different_things(asked.question.text)
    if things is None or not isinstance(tree, exp.Select):
        return None
    counts = [node for item in tree.selects for node in outside_queries(item) if isinstance(node, exp.Count)]
    column = counts[0].this if len(counts) == 1 else None
    if not isinstance(column, exp.Column) or not 0 < len(named := _thing(column.name)) <= len(things):
        return None
    if things[-len(named) :] != named:
        return None
    counts[0].set("this", exp.Distinct(expressions=[column.copy()]))
    return Change(f"the question counts different {things[-1]} values")


def _thing(column: str) -> tuple[str, ...]:
    """The words of a column's name without one that says how it identifies: ``product_id`` is a product."""
    named = words(column)
    return named[:-1] if len(named) > 1 and named[-1:] in (*_NUMBERS, ("code",)) else named


def counted_versions(tree: exp.Query, asked: Asked) -> Change | None:
    """Count different things where ``COUNT(DISTINCT agent_key)`` counts rows, one for each version of a thing.

    Beside the key of its rows (``agent_key``) the table has one for the things (``agent_id``), which rows share.
    """
    changed = False
    for count in tree.find_all(exp.Count):
        distinct = count.this if isinstance(count.this, exp.Distinct) else None
        key = distinct.expressions[0] if distinct is not None and len(distinct.expressions) == 1 else None
        known = held(key, asked.schema)
        if key is None or known is None or known.table.row_key != (known.column.name,):
            continue
        of_things = _number_of_things(known)
        node = None if of_things is None else exp.column(identifier(of_things, asked.dialect))
        if node is not None and not are_unique([node], known.table, asked):
            key.set("this", node.this.copy())
            changed = True
    return Change("a thing has several rows, and DISTINCT counted each of them") if changed else None


def _number_of_things(known: Held) -> str | None:
    """The column called like the key of the rows but for its last word, ``agent_id`` beside ``agent_key``.

    ``flight_no`` beside ``flight_id`` may be that of a flight on many days.
    """
    thing, named = _thing(known.column.name), words(known.column.name)
    if named[-1:] != ("key",):
        return None
    numbers = [
        column.name
        for column in known.table.columns
        if column.name not in keys_of(known.table) and _thing(column.name) == thing != words(column.name)
    ]
    return numbers[0] if len(numbers) == 1 and named != thing else None


def counted_matches(tree: exp.Query, asked: Asked) -> Change | None:
    """Count the rows of the table that a LEFT JOIN adds, where the question counts those and COUNT counts all rows."""
    joins: list[exp.Join] = tree.args.get("joins") or []
    if not isinstance(tree, exp.Select) or len(joins) != 1 or str(joins[0].side).upper() != "LEFT":
        return None
    join, table = joins[0], counted_table(asked.question.text, asked.schema)
    if tree.args.get("group") is None or table is None or not table.row_key or not isinstance(join.this, exp.Table):
        return None
    first = tree.args["from_"].this
    if find_table(asked.schema, join.this) is not table or not isinstance(first, exp.Table):
        return None
    if find_table(asked.schema, first) in (None, table):
        return None
    parts = [*tree.selects, tree.args.get("having"), tree.args.get("order")]
    counts = [node for part in parts if part is not None for node in outside_queries(part) if _counts_rows(node)]
    alias = join.this.args["alias"].this if join.this.args.get("alias") else join.this.this
    for node in counts:
        node.set("this", exp.column(identifier(table.row_key[0], asked.dialect), table=alias.copy()))
    reason = f"COUNT(*) counted one for what has no row of {table.name}"
    return Change(reason) if counts else None


def counted_not_summed(tree: exp.Query, asked: Asked) -> Change | None:
    """Count the rows that the question counts where the query adds up money: ``SUM(total_amount)`` for "how many"."""
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1 or tree.args.get("group"):
        return None
    total, table = tree.selects[0].unalias(), counted_table(asked.question.text, asked.schema)
    summed = held(total.this, asked.schema) if isinstance(total, exp.Sum) else None
    sources = sources_of(tree, asked.schema) if summed is not None else None
    if table is None or summed is None or sources is None or sources.others:
        return None
    named = words(summed.column.name)
    if not _MONEY.intersection(named) or mentions(asked.question.text, named) or table not in sources.tables.values():
        return None
    column = _identifying(table, sources)
    count = exp.Star() if column is None else exp.Distinct(expressions=[column])
    if column is None and len(sources.tables) > 1:
        return None
    total.replace(exp.Count(this=count, big_int=True))
    return Change(f"the question counts {table.name}, and the query added up {summed.column.name}")


def summed_keys(tree: exp.Query, asked: Asked) -> Change | None:
    """Count rows where a query adds up their numbers: ``SUM(goal.goal_id)`` for how many goals there are."""
    changed = False
    for node in list(tree.find_all(exp.Sum)):
        known = held(node.this, asked.schema)
        if known is not None and words(known.column.name)[-1:] in _NUMBERS and _is_key(known):
            node.replace(exp.Count(this=node.this.copy(), big_int=True))
            changed = True
    return Change("numbers of rows were added up") if changed else None


def _is_key(known: Held) -> bool:
    """Whether a column identifies the rows of its table, or refers to others."""
    keys = [known.table.row_key, *(key.columns for key in known.table.foreign_keys)]
    return any(len(key) == 1 and key[0].lower() == known.column.name.lower() for key in keys)


def _counts_rows(node: exp.Expr) -> bool:
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star | exp.Literal)


def counted_table(question: str, schema: Schema) -> Table | None:
    """The table whose rows the question counts: its plural, at most one word before it and no other noun behind it.

    So "male students" are students, and neither "student allergies" nor "the items a store has" are a table's.
    """
    asked_for = counted(question)
    for at in range(min(2, len(asked_for))):
        for table in schema.tables:
            name = words(table.name)
            end = at + len(name)
            if words(" ".join(asked_for[at:end])) != name or words(asked_for[end - 1]) == (asked_for[end - 1],):
                continue
            behind = asked_for[end:]
            return None if (behind[:1] and behind[0].endswith("s")) or _names(schema) & set(behind) else table
    return None


def _names(schema: Schema) -> set[str]:
    """The words of all names of the schema."""
    named = (name for table in schema.tables for name in (table.name, *(column.name for column in table.columns)))
    return {word for name in named for word in words(name)}


def _identifying(table: Table, sources: Sources) -> exp.Column | None:
    """The column that identifies a row of the table: its key where it is joined, else the only key to it."""
    for alias, known in sources.tables.items():
        if known is table:
            joined = len(sources.tables) > 1 and len(table.row_key) == 1
            return sources.column(alias, table.row_key[0]) if joined else None
    keys = {
        (alias, key.columns[0])
        for alias, known in sources.tables.items()
        for key in known.foreign_keys
        if len(key.columns) == 1 and key.leads_to(table)
    }
    if len(keys) != 1:
        return None
    [(alias, name)] = keys
    return sources.column(alias, name)


def _repeated(tree: exp.Select, column: exp.Column, asked: Asked) -> bool:
    """Whether the rows that are counted have a value of the column more than once, by running this query."""
    probe = tree.copy()
    once = exp.Count(this=exp.Distinct(expressions=[column.copy()]))
    probe.set("expressions", [exp.Count(this=column.copy()), once])
    rows = asked.data.rows(probe.sql(dialect=asked.dialect)) or ()
    return any(len(row) == 2 and row[0] != row[1] for row in rows)
