"""The key of a table in GROUP BY that splits the groups of the question, and that the result does not show.

Small models group by the key of any joined table: ``GROUP BY offices.id, matters.practice_area`` for the number of
matters in each practice area. Each practice area then comes once for each office.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqljury.language.alike import mentions
from sqljury.language.wants import grouped_by
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, repeats
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, identifier, owner, tables_of
from sqljury.sql.terms import group_keys, meant
from sqljury.types import Schema, Table


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
        places = [self._place(key) for key in self._keys]
        outputs = dict(enumerate(item.unalias() for item in self.tree.selects))
        shown = {number: output for number, output in outputs.items() if self._place(output) in places}
        others = [output for number, output in outputs.items() if number not in shown]
        aggregated = bool(others) and all(other.find(exp.AggFunc) is not None for other in others)
        bare = [self._place(column) for other in others for column in _outside(other, (exp.AggFunc,))]
        return shown if aggregated and all(place in places for place in bare) else {}

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
