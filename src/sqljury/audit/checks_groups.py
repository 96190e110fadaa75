"""Wrong groups and missing deduplication: groups by names that rows share, rows that a join repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, outputs, plain, shown, told, within
from sqljury.language.cues import DIFFERENT
from sqljury.language.words import words
from sqljury.sql.parse import exp
from sqljury.types import Table

_LEAST_SHARE: Final = 0.3
"""From this number of distinct labels per row on, a label names a thing and not its kind."""
_LABELS: Final = ("name", "title")
_DIFFERENT: Final = re.compile(rf"(?<!\beach )(?<!\bevery )(?<!\bper )\b({DIFFERENT})\s+(?!from\b|to\b|than\b)")
_COUNTED: Final = re.compile(
    rf"\b(?:how many|number of|count the|count of)\s+(?:(?:{DIFFERENT}|the|of|all)\s+)*([\w ]+)"
)
_AFTER: Final = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|with|without|for|in|of|that|who|whose|which|where|there|from|by|on|"
    r"at|each|every|per|and|or|to|belong|can|not|been|live|lives|made|take|took)\b"
)
"""Words that end the name of what is counted."""
_ALL: Final = re.compile(r"\b(?:for|of|to|in|with) (?:each|every|all)\b|\beach\b|\bcorresponding\b")


def group_by_label(subject: Subject) -> Iterator[Finding]:
    """GROUP BY a name that several rows share: different things with the same name become one group."""
    for select in subject.selects:
        group = select.args.get("group")
        terms = [] if group is None else group.expressions
        columns = [term for term in terms if isinstance(term, exp.Column)]
        if len(terms) != len(columns) or not columns or not select.args.get("joins"):
            continue  # within one table the key would leave each group with one row
        owners = [subject.owner(column) for column in columns]
        tables = {owner[0]: owner[1] for owner in owners if owner}
        if None in owners or len(tables) != 1:
            continue
        ((alias, table),) = tables.items()
        names = tuple(column.name for column in columns)
        key = _key(subject, table)
        if not key or set(map(str.lower, key)) & set(map(str.lower, names)) or subject.data.unique(table, names):
            continue
        if _refers(table, names) or not _is_label(names) or _shares(subject, table, names) < _LEAST_SHARE:
            continue
        by_key = _grouped_by_key(subject, select, alias, key)
        changed = subject.differs(by_key)
        if changed is not None:
            written, meant = told(*changed)
            evidence = (
                f"several rows of {table.name} share {', '.join(names)}; "
                f"grouped by {', '.join(key)} too it returns {meant}; as written {written}"
            )
            yield Finding("aggregation", "group-by-label", 0.7, f"GROUP BY {', '.join(names)}", evidence)


def bare_columns(subject: Subject) -> Iterator[Finding]:
    """The query selects a column that has several values in a group: which one it shows is undefined."""
    for select in subject.selects:
        chosen = outputs(select)
        bare = [output for output in chosen if isinstance(output, exp.Column) and not isinstance(output.this, exp.Star)]
        group = select.args.get("group")
        terms = [] if group is None else group.expressions
        aggregates = list(within(select, exp.AggFunc))
        if not bare or (not aggregates and group is None):
            continue
        if any(isinstance(output, exp.Max | exp.Min) for output in chosen):
            continue  # SQLite takes the row of the extreme
        if select.args.get("distinct") is not None or any(not isinstance(term, exp.Column) for term in terms):
            continue
        by = {term.name.lower() for term in terms}
        for column in bare:
            if column.name.lower() not in by and (count := _several(subject, select, column)):
                where = f"in {count} groups" if group is not None else "over all rows"
                evidence = f"{shown(column)} has several values {where}, of which any one may be shown"
                yield Finding("aggregation", "bare-column", 0.8, shown(column), evidence)
                return


def _key(subject: Subject, table: Table) -> tuple[str, ...]:
    """The primary key, or the first column if its values are unique."""
    if table.primary_key:
        return table.primary_key
    first = table.columns[0].name
    return (first,) if subject.data.unique(table, (first,)) else ()


def _refers(table: Table, names: tuple[str, ...]) -> bool:
    """Whether one of the columns leads to another table."""
    leading = {column.lower() for key in table.foreign_keys for column in key.columns}
    return bool(leading & {name.lower() for name in names})


def _is_label(names: tuple[str, ...]) -> bool:
    return any(name.lower().endswith(_LABELS) for name in names)


def _shares(subject: Subject, table: Table, names: tuple[str, ...]) -> float:
    """The number of distinct labels per row."""
    columns = ", ".join(exp.to_identifier(name, quoted=True).sql("sqlite") for name in names)
    source = exp.to_identifier(table.name, quoted=True).sql("sqlite")
    count = subject.data.number(f"SELECT count(*) FROM (SELECT DISTINCT {columns} FROM {source})")  # noqa: S608
    return (count or 0) / max(1, subject.data.size(table))


def _grouped_by_key(subject: Subject, select: exp.Select, alias: str, key: tuple[str, ...]) -> exp.Expr:
    """The whole query, with this SELECT also grouped by the key."""
    assert subject.tree is not None
    whole = subject.tree.copy()
    twin = list(whole.find_all(exp.Select))[subject.selects.index(select)]
    for name in key:
        twin.args["group"].append("expressions", exp.column(name, table=alias, quoted=True))
    return whole


def _several(subject: Subject, select: exp.Select, column: exp.Column) -> int:
    """The number of groups in which the column has more than one value; 0 if the query for it fails."""
    inner = exp.Select(expressions=[exp.Literal.number(1)])
    for clause in ("from_", "joins", "where", "group"):
        if (node := select.args.get(clause)) is not None:
            inner.set(clause, [part.copy() for part in node] if isinstance(node, list) else node.copy())
    having = exp.GT(this=exp.Count(this=exp.Distinct(expressions=[column.copy()])), expression=exp.Literal.number(1))
    inner = inner.having(having)
    return int(subject.data.number(exp.select("count(*)").from_(inner.subquery("one"))) or 0)


def different(subject: Subject) -> Iterator[Finding]:
    """The question says different, distinct or unique, the query does not, and its rows repeat."""
    tree = subject.tree
    if tree is None or not _DIFFERENT.search(subject.question.lower()) or not isinstance(tree, exp.Select):
        return
    if tree.find(exp.Distinct) is not None or "distinct" in subject.sql.lower():
        return
    rows = subject.rows
    if rows and tree.args.get("group") is None and len(set(rows)) < len(rows):
        evidence = f"the question asks for different ones; {len(rows)} rows are {len(set(rows))} different ones"
        yield Finding("deduplication", "no-distinct", 0.9, "SELECT", evidence)


def listed_twice(subject: Subject) -> Iterator[Finding]:
    """A join repeats rows of the table whose columns are selected, and the query does not remove the repetitions."""
    select = subject.outer
    if select is None or not plain(select) or not select.args.get("joins"):
        return
    columns = [output for output in outputs(select) if isinstance(output, exp.Column)]
    owners = {owner for column in columns if (owner := subject.owner(column))}
    if len(columns) != len(select.expressions) or len({alias for alias, _ in owners}) != 1:
        return
    ((alias, table),) = owners
    if not table.primary_key:
        return
    whole = select.copy()
    for name in table.primary_key:
        whole.append("expressions", exp.column(name, table=alias, quoted=True))
    rows = subject.data.rows(whole)
    if rows and len(set(rows)) < len(rows):
        evidence = f"{len(rows)} rows show {len(set(rows))} rows of {table.name}; the join repeats them"
        sure = 0.4 if _meant_for_each(subject, select, alias, table) else 0.7
        yield Finding("deduplication", "join-repeats", sure, shown(select.args["joins"][-1]), evidence)


def _meant_for_each(subject: Subject, select: exp.Select, alias: str, table: Table) -> bool:
    """Whether the question may ask for one row per joined row: for all of them, sorted by them, or of them."""
    if _ALL.search(subject.question.lower()):
        return True
    order = select.args.get("order")
    for column in [] if order is None else order.find_all(exp.Column):
        if (owner := subject.owner(column)) is not None and owner[0] != alias:
            return True
    text = " ".join(subject.stems)
    others = [words(other.name) for other in subject.sources(select).values() if other.name != table.name]
    return any(re.search(rf"\b(?:of|for) (?:the |all )*{re.escape(' '.join(name))}\b", text) for name in others if name)


def counted_twice(subject: Subject) -> Iterator[Finding]:
    """COUNT, SUM or AVG over a join that repeats the rows which are counted or summed up."""
    select = subject.outer
    if select is None or not select.args.get("joins"):
        return
    for node in within(select, exp.Count, exp.Sum, exp.Avg):
        if node.parent is not select and not isinstance(node.parent, exp.Alias):
            continue
        held = _counted_table(subject, select, node)
        if held is None or isinstance(node.this, exp.Distinct) or len(held[1].primary_key) != 1:
            continue
        alias, table = held
        key = exp.column(table.primary_key[0], table=alias, quoted=True)
        if isinstance(node, exp.Count):
            yield from _as_distinct(subject, select, node, key, table)
        elif select.args.get("group") is None and _about(subject, table):
            yield from _summed_twice(subject, select, node, key, table)


def _counted_table(subject: Subject, select: exp.Select, node: exp.Expr) -> tuple[str, Table] | None:
    """The table whose rows an aggregate is about: that of its column, or the one that the question counts."""
    if not isinstance(node, exp.Count):
        return subject.owner(node.this) if isinstance(node.this, exp.Column) else None
    phrase = _counted_words(subject)
    named = [
        (alias, table)
        for alias, table in subject.sources(select).items()
        if (name := words(table.name)) and phrase[-len(name) :] == name
    ]
    return named[0] if len(named) == 1 else None


def _about(subject: Subject, table: Table) -> bool:
    """Whether the question asks for an average or a total of the table's rows, not of rows joined to them."""
    match = re.search(r"\b(?:average|mean|total|sum)\b.*?\b(?:of|for|across|among)\s+(.*)", subject.question.lower())
    name = words(table.name)
    phrase = [word for word in words(match[1]) if word not in ("all", "the", "different")] if match else []
    return tuple(phrase[: len(name)]) == name


def _counted_words(subject: Subject) -> tuple[str, ...]:
    match = _COUNTED.search(subject.question.lower())
    return words(_AFTER.split(match[1], maxsplit=1)[0]) if match else ()


def _as_distinct(
    subject: Subject, select: exp.Select, node: exp.Count, key: exp.Column, table: Table
) -> Iterator[Finding]:
    whole = select.copy()
    index = [shown(output) for output in outputs(select)].index(shown(node))
    outputs(whole)[index].replace(exp.Count(this=exp.Distinct(expressions=[key])))
    changed = subject.differs(whole)
    if changed:
        written, meant = told(*changed)
        evidence = f"the join repeats rows of {table.name}: as written {written}; each counted once {meant}"
        yield Finding("deduplication", "counted-twice", 0.75, shown(node), evidence)


def _summed_twice(
    subject: Subject, select: exp.Select, node: exp.Expr, key: exp.Column, table: Table
) -> Iterator[Finding]:
    whole = select.copy()
    whole.set("expressions", [exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[key]))])
    for clause in ("order", "limit"):
        whole.set(clause, None)
    rows = subject.data.rows(whole)
    if rows and rows[0][0] > rows[0][1]:
        evidence = f"{rows[0][1]} rows of {table.name} enter {rows[0][0]} times, for the join repeats them"
        yield Finding("deduplication", "summed-twice", 0.6, shown(node), evidence)


def sets_of_labels(subject: Subject) -> Iterator[Finding]:
    """INTERSECT or EXCEPT of names that several rows share: different rows of a name may meet the two conditions."""
    tree = subject.tree
    if not isinstance(tree, exp.Intersect | exp.Except):
        return
    sides = [tree.left, tree.right]
    columns = []
    for side in sides:
        if not isinstance(side, exp.Select) or len(side.expressions) != 1:
            return
        columns.append(outputs(side)[0])
    owners = [subject.owner(column) if isinstance(column, exp.Column) else None for column in columns]
    if None in owners or owners[0] is None or owners[1] is None or owners[0][1] is not owners[1][1]:
        return
    table = owners[0][1]
    if (
        _leads_elsewhere(table, columns[0].name)
        or not table.primary_key
        or "name" not in columns[0].name.lower()
        or subject.data.unique(table, (columns[0].name,))
    ):
        return
    whole = tree.copy()
    for side, owner in zip((whole.left, whole.right), owners, strict=True):
        if owner is not None:
            for name in table.primary_key:
                side.append("expressions", exp.column(name, table=owner[0], quoted=True))
    rows, by_key = subject.rows, subject.data.rows(whole)
    if rows is not None and by_key is not None and set(rows) != {row[:1] for row in by_key}:
        evidence = (
            f"several rows of {table.name} share {columns[0].name}; by key {len(by_key)} rows, as written {len(rows)}"
        )
        yield Finding("semantic logic", "set-of-labels", 0.7, shown(columns[0]), evidence)


def _leads_elsewhere(table: Table, column: str) -> bool:
    """Whether the column leads to another table or is part of the key."""
    leading = [*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)]
    return column.lower() in map(str.lower, leading)
