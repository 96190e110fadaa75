"""Wrong semantic logic that shows in the data: conditions that cannot hold, or hold for more than is meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, outputs, shown, within
from sqljury.audit.wording import NEGATION
from sqljury.types import Table


def contradiction(subject: Subject) -> Iterator[Finding]:
    """One column is to equal two values at once."""
    for select in subject.selects:
        where = select.args.get("where")
        if where is None:
            continue
        terms = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
        wanted: dict[str, set[str]] = defaultdict(set)
        for term in terms:
            if (
                isinstance(term, exp.EQ)
                and isinstance(term.this, exp.Column)
                and isinstance(term.expression, exp.Literal)
            ):
                wanted[term.this.sql().lower()].add(term.expression.name)
        for column, values in wanted.items():
            if len(values) > 1:
                both = " and ".join(repr(value) for value in sorted(values))
                yield Finding(
                    "semantic logic", "contradiction", 0.9, shown(where), f"{column} cannot be {both} at once"
                )


def any_other(subject: Subject) -> Iterator[Finding]:
    """The question excludes what has something; the query keeps all that also has something else."""
    select = subject.outer
    if select is None or not select.args.get("joins") or not NEGATION.search(subject.question.lower()):
        return
    chosen = [one for one in outputs(select) if isinstance(one, exp.Column)]
    owners = [subject.owner(one) for one in chosen]
    if not chosen or None in owners:
        return
    for node in within(select, exp.NEQ):
        if not isinstance(node.this, exp.Column) or not isinstance(node.expression, exp.Literal):
            continue
        held = subject.owner(node.this)
        if held is None or held in owners or not _in_where(node, select):
            continue
        opposite = select.copy()
        twin = next(one for one in opposite.find_all(exp.NEQ) if one == node)
        twin.replace(exp.EQ(this=node.this.copy(), expression=node.expression.copy()))
        own, others = subject.rows, subject.data.rows(opposite)
        both = set(own or ()) & set(others or ())
        if both:
            evidence = f"{len(both)} rows of the result also have {shown(node.expression)}, first {next(iter(both))!r}"
            yield Finding("semantic logic", "any-other", 0.7, shown(node), evidence)


def _in_where(node: exp.Expr, select: exp.Select) -> bool:
    where = select.args.get("where")
    return where is not None and any(one is node for one in where.find_all(exp.NEQ))


def not_in_null(subject: Subject) -> Iterator[Finding]:
    """NOT IN a subquery that returns NULL holds for no row."""
    for select in subject.selects:
        for node in within(select, exp.Not):
            inner = node.this.args.get("query") if isinstance(node.this, exp.In) else None
            if inner is None:
                continue
            rows = subject.data.rows(inner.unnest().copy())
            if rows and any(row[0] is None for row in rows):
                evidence = "the subquery returns NULL, so that NOT IN holds for no row"
                yield Finding("semantic logic", "not-in-null", 0.85, shown(node), evidence)


def sets_of_labels(subject: Subject) -> Iterator[Finding]:
    """INTERSECT or EXCEPT of names that several rows share: one may have the one, another the other."""
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
        _refers(table, columns[0].name)
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
    own, others = subject.rows, subject.data.rows(whole)
    if own is not None and others is not None and set(own) != {row[:1] for row in others}:
        evidence = (
            f"several rows of {table.name} share {columns[0].name}; by key {len(others)} rows, as written {len(own)}"
        )
        yield Finding("semantic logic", "set-of-labels", 0.7, shown(columns[0]), evidence)


def _refers(table: Table, column: str) -> bool:
    """Whether the column leads to another table or is part of the key."""
    leading = [*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)]
    return column.lower() in map(str.lower, leading)
