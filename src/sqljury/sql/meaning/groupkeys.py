"""What a query groups by, where the question names another column, the rows of another table, or fewer keys.

Small models group by the key of any joined table: ``GROUP BY offices.id, matters.practice_area`` for the number of
matters in each practice area. Each practice area then comes once for each office.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.wants import grouped_by
from sqljury.language.words import positions, words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import TITLES, Asked, Change, Held, held, repeats, single_select
from sqljury.sql.meaning.best import is_aggregate, is_plain
from sqljury.sql.names.from_clause import FromClause
from sqljury.sql.names.routes import Step
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, identifier, owner, referred_table, sources_of, tables_of
from sqljury.sql.terms import group_keys, meant
from sqljury.types import Column, Schema, Table

_BY: Final = frozenset(("by", "per", "each", "every"))
_SORTED: Final = frozenset(("sort", "sorted", "order", "ordered", "rank", "ranked", "then", "followed", "descending"))
"""Words before "by" with which it tells the order."""
_MORE: Final = (("and",), ("or",))
_EACH_NOUN: Final = regex(r"\b(?:each|every|per|by)(?: the)? ([\w-]+)", re.IGNORECASE)
_OTHERS: Final = regex(
    r"\b(?:who|whose|which|persons?|people|everybody|everyone|ids?|numbers? and|codes?|no\.?|identifiers?)\b"
    r"|\w+ (?:id|number)\b",
    re.IGNORECASE,
)


def said_group(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by the column that the question names behind "by", "per" or "each", and show it.

    The query shows names or keys of the rows of the same table, which the question does not name, beside aggregates.
    """
    select = single_select(tree)
    if select is None or not is_plain(select):
        return None
    shown = [item.unalias() for item in select.selects if not is_aggregate(item)]
    keys = [meant(key, select) for key in group_keys(select)[0]]
    known = [held(node, asked.schema) for node in (*shown, *keys)]
    first = known[0] if shown else None
    if first is None or any(column is None or column.table is not first.table for column in known):
        return None
    question = words(asked.question.text)
    aliases = {node.table for node in (*shown, *keys) if isinstance(node, exp.Column)}
    if len(aliases) > 1 or any(_is_said(column, question) for column in known if column):
        return None
    named = list(_named(first.table, question))
    if len(named) != 1 or any(node.name.lower() == named[0].name.lower() for node in select.find_all(exp.Column)):
        return None
    group = shown[0].copy()
    group.set("this", identifier(named[0].name, asked.dialect))
    _regroup(select, shown, group)
    return Change(f"the question asks by {named[0].name}", without=("keys",))


def _is_said(known: Held, question: Sequence[str]) -> bool:
    """Whether the question names a column, by more than the name of its table."""
    telling = {*words(known.column.name)} - {*words(known.table.name)}
    return not telling.isdisjoint(question)


def _named(table: Table, question: Sequence[str]) -> Iterator[Column]:
    """The columns whose whole name stands behind "by" or "each", with the name of the table before it or without."""
    for column in table.columns:
        called = words(column.name)
        for name in (called, (*words(table.name), *called)):
            if any(
                at > 0
                and question[at - 1] in _BY
                and question[max(at - 2, 0)] not in _SORTED
                and question[at + len(name) : at + len(name) + 1] not in _MORE
                for at in positions(name, question)
            ):
                yield column
                break


def _regroup(select: exp.Select, shown: Sequence[exp.Expr], group: exp.Expr) -> None:
    """Show this column first and group by it, without the outputs that were shown."""
    outputs = [item for item in select.selects if not any(item.unalias() is node for node in shown)]
    position = next(at for at, item in enumerate(select.selects) if item.unalias() is shown[0])
    outputs.insert(min(position, len(outputs)), group.copy())
    select.set("expressions", outputs)
    select.set("group", exp.Group(expressions=[group.copy()]))
    order = select.args.get("order")
    for key in order.expressions if order is not None else ():
        if isinstance(key.this, exp.Column) and any(key.this == node for node in shown):
            key.set("this", group.copy())


def name_of_group(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the name of the row that the key of the group leads to: of the genre, where titles are grouped by genre.

    ``SELECT t.name, AVG(stars) ... GROUP BY t.genre_id, t.name`` has a group for each title. Only where the table that
    the key leads to has a column of that name too, and the question has words for that table and none for the other.
    """
    sources = sources_of(tree, asked.schema) if isinstance(tree, exp.Select) else None
    keys, kinds = group_keys(tree) if isinstance(tree, exp.Select) else ([], ())
    if not isinstance(tree, exp.Select) or sources is None or kinds or len(keys) != 2:
        return None
    for key, shown in (keys, keys[::-1]):
        key_column, shown_column = held(key, asked.schema), held(shown, asked.schema)
        if key_column is None or shown_column is None or key_column.table is not shown_column.table:
            continue
        led_to = [
            reference for reference in key_column.table.foreign_keys if reference.columns == (key_column.column.name,)
        ]
        table = referred_table(asked.schema, led_to[0]) if len(led_to) == 1 else None
        named = _title(shown_column.column, table) if table is not None and table is not key_column.table else None
        outputs = [item for item in tree.selects if item.unalias() == shown]
        if named is None or table is None or not outputs or table in sources.tables.values():
            continue
        if not _is_of(asked.question.whole, table) or mentions(asked.question.whole, words(key_column.table.name)):
            continue
        start = sources.alias(key.table) if isinstance(key, exp.Column) and key.table else None
        start = start or next((alias for alias, source in sources.tables.items() if source is key_column.table), None)
        clause = FromClause(sources)
        if start is None or clause.outer():
            continue
        for column in tree.find_all(exp.Column):
            if not column.table and (owners := sources.owners(column.name)):
                sources.assign(column, owners[0])
        step = Step(table, led_to[0].columns, led_to[0].ref_columns, many=False)
        name = sources.column(clause.add(table, on=(start, step)), named.name)
        for column in [node for node in tree.find_all(exp.Column) if node.name == shown.name and node.table == start]:
            column.replace(name.copy())
        return Change(f"the groups are of {table.name}, and the query had names of {key_column.table.name}")
    return None


def _title(column: Column, table: Table) -> Column | None:
    """The column of a table that has the same name as one of another table, if that is for the name of a row."""
    if words(column.name)[-1:] not in {(title,) for title in TITLES}:
        return None
    return next((field for field in table.columns if field.name.lower() == column.name.lower()), None)


def _is_of(question: str, table: Table) -> bool:
    """Whether the question is about each row of the table, and of nothing else, and not about the numbers of these."""
    nouns = [match[1] for match in _EACH_NOUN.finditer(question)]
    return bool(nouns) and all(mentions(noun, words(table.name)) for noun in nouns) and not _OTHERS.search(question)


def stray_key(tree: exp.Query, asked: Asked) -> Change | None:
    """Remove keys of tables that are not shown from GROUP BY, where rows of the result differ in aggregates alone.

    The question must mention what is shown, and not group by such a table. If it mentions the table, it must name the
    groups that are shown, and the query must not have HAVING or LIMIT, since the table may be what they choose:
    "customers with an order of more than five items".
    """
    if not isinstance(tree, exp.Select) or not _is_plain(tree):
        return None
    groups = _Groups(tree, asked.schema)
    stray = {
        number: table
        for number, table in groups.unseen()
        if not _is_meant(table, groups, asked) and groups.splits(number, asked)
    }
    if not stray or not repeats(tree, groups.shown, asked):
        return None
    group = tree.args["group"]
    group.set("expressions", [key for number, key in enumerate(group.expressions) if number not in stray])
    names = " and ".join(dict.fromkeys(table.name for table in stray.values()))
    return Change(f"rows of {names}, which are not shown, split the groups", without=("keys",))


def _is_plain(tree: exp.Select) -> bool:
    """Whether it groups by several expressions, joins tables with ON and has subqueries in conditions alone."""
    keys, kinds = group_keys(tree)
    joins = tree.args.get("joins") or ()
    by_name = any(join.args.get("using") or join.method for join in joins)
    in_outputs = any(item.find(exp.Query) is not None for item in tree.selects)
    return len(keys) > 1 and not (kinds or by_name or in_outputs or tree.find(exp.Window, exp.With) is not None)


class _Groups:
    """The groups of a query: its keys in order, and by their number the outputs that are keys.

    ``shown`` is empty unless the other outputs are aggregates, at least one, and all of FROM are tables.
    """

    def __init__(self, tree: exp.Select, schema: Schema) -> None:
        self.tree, self._schema = tree, schema
        self._tables = tables_of(tree, schema)
        self._keys = [self._spelt_out(key) for key in group_keys(tree)[0]]
        self.shown = self._shown() if len(self._tables) == len(from_items(tree)) else {}

    @property
    def shown_words(self) -> set[str]:
        """The words of the names of the columns that are shown as keys, and of their tables."""
        columns = {column.name for output in self.shown.values() for column in output.find_all(exp.Column)}
        tables = {self._tables[alias].name for alias in self._aliases(self.shown.values())}
        return {word for name in columns | tables for word in words(name)}

    def unseen(self) -> Iterator[tuple[int, Table]]:
        """The keys, by number, that identify the rows of a table of which nothing is shown, with the table."""
        for number, key in enumerate(self._keys if self.shown else ()):
            owned = owner(key, self._schema) if isinstance(key, exp.Column) else None
            if owned is None or [name.lower() for name in owned[1].row_key] != [key.name.lower()]:
                continue
            if owned[0] not in self._used(self._keys[:number] + self._keys[number + 1 :]):
                yield number, owned[1]

    def splits(self, number: int, asked: Asked) -> bool:
        """Whether a key does more than to tell rows of equal names apart, such as persons by the key of their office.

        For each table that is shown, one of its rows has several values of the key, or a group has several of its rows.
        """
        for alias in self._aliases(self.shown.values()):
            row_key = self._tables[alias].row_key
            row = exp.column(identifier(row_key[0], asked.dialect), table=alias) if len(row_key) == 1 else None
            if row is None or not (
                self._are_several(self._keys[number], [row], asked) or self._are_several(row, self._keys, asked)
            ):
                return False
        return True

    def _are_several(self, column: exp.Expr, groups: Sequence[exp.Expr], asked: Asked) -> bool:
        """Whether a column has several values within one group of the rows of the query."""
        probe = self.tree.copy()
        for clause in ("distinct", "having", "order", "limit", "offset"):
            probe.set(clause, None)
        probe.set("expressions", [exp.Literal.number(1)])
        probe.set("group", exp.Group(expressions=[group.copy() for group in groups]))
        values = exp.Count(this=exp.Distinct(expressions=[column.copy()]))
        probe = probe.having(exp.GT(this=values, expression=exp.Literal.number(1))).limit(1)
        return bool(asked.data.rows(probe.sql(dialect=asked.dialect)))

    def _spelt_out(self, key: exp.Expr) -> exp.Expr:
        """The output that a key of GROUP BY names by its alias or its number."""
        owned = owner(key, self._schema) if isinstance(key, exp.Column) else None
        return key if owned is not None else meant(key, self.tree)

    def _place(self, node: exp.Expr) -> object:
        """The alias and name of a column, however it is written; any other expression itself."""
        owned = owner(node, self._schema) if isinstance(node, exp.Column) else None
        return node if owned is None else (owned[0], node.name.lower())

    def _shown(self) -> dict[int, exp.Expr]:
        positions = [self._place(key) for key in self._keys]
        outputs = dict(enumerate(item.unalias() for item in self.tree.selects))
        shown = {number: output for number, output in outputs.items() if self._place(output) in positions}
        others = [output for number, output in outputs.items() if number not in shown]
        aggregated = bool(others) and all(output.find(exp.AggFunc) is not None for output in others)
        bare = [self._place(column) for output in others for column in _outside(output, (exp.AggFunc,))]
        return shown if aggregated and all(position in positions for position in bare) else {}

    def _used(self, others: Sequence[exp.Expr]) -> set[str]:
        """The aliases of tables of which single rows are shown, sorted by, chosen by or grouped by."""
        clauses = [clause for clause in (self.tree.args.get("having"), self.tree.args.get("order")) if clause]
        return self._aliases((*self.tree.selects, *others, *clauses))

    def _aliases(self, parts: Iterable[exp.Expr]) -> set[str]:
        added_up = (exp.Count, exp.Sum, exp.Avg)  # MAX and MIN show a value of one row
        columns = (column for part in parts for column in _outside(part, added_up))
        return {owned[0] for column in columns if (owned := owner(column, self._schema)) is not None}


def _outside(node: exp.Expr, aggregates: tuple[type[exp.Expr], ...]) -> Iterator[exp.Column]:
    """The columns of an expression outside these aggregates, those of subqueries too."""
    for column in node.find_all(exp.Column):
        if not isinstance(column.find_ancestor(*aggregates, exp.Query), aggregates):
            yield column


def _is_meant(table: Table, groups: _Groups, asked: Asked) -> bool:
    """Whether the question may group by the rows of a table, or is not about the groups that are shown.

    Words after "each", "per" and "by" tell. A question that mentions the table otherwise must have such words for the
    shown groups, and its query must keep all groups.
    """
    shown, named = groups.shown_words, {*words(table.name)}
    grouping = " ".join(grouped_by(asked.question.text))
    if not mentions(asked.question.whole, shown) or (grouping and not mentions(grouping, shown)):
        return True
    if mentions(grouping, (named | _words_of_columns(table)) - shown or named):
        return True
    if not mentions(asked.question.whole, named - shown or named):
        return False
    chosen = groups.tree.args.get("having") or groups.tree.args.get("limit")
    return bool(chosen) or not grouping


def _words_of_columns(table: Table) -> set[str]:
    """The words of its columns, but for those of keys, which are called after other tables."""
    keys = {name for key in (table.row_key, *(key.columns for key in table.foreign_keys)) for name in key}
    return {word for column in table.columns if column.name not in keys for word in words(column.name)}
