"""Wrong aggregation: groups by what does not tell the things apart, and aggregates that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, outputs, shown, told, within
from sqljury.types import Table

_LEAST_SHARE: Final = 0.3
"""Different labels for each row from which on a label is taken to be a thing's own name, and not its kind."""

_LABELS: Final = ("name", "title")


def group_by_label(subject: Subject) -> Iterator[Finding]:
    """GROUP BY a name that several rows share: things of one name are put together."""
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
        other = _grouped_by_key(subject, select, alias, key)
        changed = subject.differs(other)
        if changed is not None:
            written, meant = told(*changed)
            evidence = (
                f"several rows of {table.name} share {', '.join(names)}; "
                f"grouped by {', '.join(key)} too it returns {meant}; as written {written}"
            )
            yield Finding("aggregation", "group-by-label", 0.7, f"GROUP BY {', '.join(names)}", evidence)


def bare_columns(subject: Subject) -> Iterator[Finding]:
    """A column is selected beside groups in which it has several values: which one is shown is a matter of luck."""
    for select in subject.selects:
        chosen = outputs(select)
        bare = [one for one in chosen if isinstance(one, exp.Column) and not isinstance(one.this, exp.Star)]
        group = select.args.get("group")
        terms = [] if group is None else group.expressions
        own = list(within(select, exp.AggFunc))
        if not bare or (not own and group is None):
            continue
        if any(isinstance(one, exp.Max | exp.Min) for one in chosen):
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


def missing_aggregate(subject: Subject) -> Iterator[Finding]:
    """The question asks for an average or a total, and neither the query nor a column of it has one."""
    if subject.tree is None:
        return
    query = subject.sql.lower()
    asked = set(subject.words)
    for said, made, marks in (
        ({"average", "averages"}, exp.Avg, ("avg", "average", "mean")),
        ({"minimum"}, exp.Min, ("min", "order by", "low")),
        ({"maximum"}, exp.Max, ("max", "order by", "high", "capacity")),
    ):
        if said & asked and subject.tree.find(made) is None and not any(mark in query for mark in marks):
            word = next(iter(said & asked))
            yield Finding("aggregation", "missing-aggregate", 0.8, "SELECT", f"the question asks for the {word}")
    if subject.question.lower().startswith("how many ") and subject.tree.find(exp.AggFunc) is None:
        rows = subject.rows
        if rows and not any(isinstance(cell, int | float) for row in rows for cell in row):
            yield Finding(
                "aggregation", "no-count", 0.7, "SELECT", "the question asks how many, and no number is returned"
            )


def _key(subject: Subject, table: Table) -> tuple[str, ...]:
    """The primary key, else the first column where that is one by the data."""
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
    """How many different labels there are for each row."""
    columns = ", ".join(exp.to_identifier(name, quoted=True).sql("sqlite") for name in names)
    source = exp.to_identifier(table.name, quoted=True).sql("sqlite")
    count = subject.data.number(f"SELECT count(*) FROM (SELECT DISTINCT {columns} FROM {source})")  # noqa: S608
    return (count or 0) / max(1, subject.data.size(table))


def _grouped_by_key(subject: Subject, select: exp.Select, alias: str, key: tuple[str, ...]) -> exp.Expr:
    """The whole query, this SELECT of it grouped by the key too."""
    assert subject.tree is not None
    whole = subject.tree.copy()
    twin = list(whole.find_all(exp.Select))[subject.selects.index(select)]
    for name in key:
        twin.args["group"].append("expressions", exp.column(name, table=alias, quoted=True))
    return whole


def _several(subject: Subject, select: exp.Select, column: exp.Column) -> int:
    """In how many groups the column has more than one value; 0 where that cannot be seen."""
    inner = exp.Select(expressions=[exp.Literal.number(1)])
    for clause in ("from_", "joins", "where", "group"):
        if (node := select.args.get(clause)) is not None:
            inner.set(clause, [one.copy() for one in node] if isinstance(node, list) else node.copy())
    having = exp.GT(this=exp.Count(this=exp.Distinct(expressions=[column.copy()])), expression=exp.Literal.number(1))
    inner = inner.having(having)
    return int(subject.data.number(exp.select("count(*)").from_(inner.subquery("one"))) or 0)
