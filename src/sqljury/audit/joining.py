"""Joins that lack their condition or pair columns that have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown, within
from sqljury.sql.resolve import from_items
from sqljury.types import Table


def without_condition(subject: Subject) -> Iterator[Finding]:
    """A table of FROM that no condition ties to the others: every row meets every row."""
    for select in subject.selects:
        items = from_items(select)
        names = [item.alias_or_name.lower() for item in items]
        if len(items) < 2 or any(join.args.get("using") or join.method for join in select.args.get("joins") or ()):
            continue
        tied = _tied(subject, select, names)
        loose = [name for name in names if name not in tied]
        if loose:
            rows = subject.rows
            evidence = f"no condition ties {loose[-1]} to the other tables" + (f"; {len(rows)} rows" if rows else "")
            yield Finding("semantic logic", "no-join-condition", 0.85, shown(items[names.index(loose[-1])]), evidence)


def _tied(subject: Subject, select: exp.Select, names: list[str]) -> set[str]:
    """The aliases that are tied to the first, by comparisons of any kind with each other's columns."""
    pairs = []
    for node in within(select, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like):
        aliases = set()
        for column in node.find_all(exp.Column):
            if column.table:
                aliases.add(column.table.lower())
            elif (owner := subject.owner(column)) is not None:
                aliases.add(owner[0])
            else:
                return set(names)  # it may be of any of them
        pairs.append(aliases & set(names))
    tied = {names[0]}
    for _ in names:
        tied |= {name for pair in pairs if pair & tied for name in pair}
    return tied


def unrelated(subject: Subject) -> Iterator[Finding]:
    """A join on columns that share no value, or not on the key by which the schema ties the two tables."""
    for select in subject.selects:
        for node in within(select, exp.EQ):
            sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
            owners = [owner for side in sides if (owner := subject.owner(side)) is not None]
            if len(owners) != 2 or owners[0][0] == owners[1][0]:
                continue
            left, right = (
                set(subject.data.values(owner[1], side.name) or ()) for owner, side in zip(owners, sides, strict=True)
            )
            sided = f"{shown(sides[0])} and {shown(sides[1])}"
            if left and right and not left & right and not _as_texts(left) & _as_texts(right):
                if not _folded(left) & _folded(right):
                    evidence = f"{sided} have no value in common"
                    yield Finding("semantic logic", "join-nothing", 0.85, shown(node), evidence)
                else:
                    example = _apart(left, right)
                    evidence = f"{sided} have values in common only without spaces and case, such as {example}"
                    yield Finding("wrong value", "join-spelling", 0.9, shown(node), evidence)
            elif left and right and (key := _better(owners[0][1], owners[1][1], sides[0].name, sides[1].name)):
                if _tied_otherwise(subject, select, node, {owners[0][0], owners[1][0]}):
                    continue
                evidence = f"the schema ties {owners[0][1].name} and {owners[1][1].name} by {key}"
                yield Finding("semantic logic", "join-column", 0.7, shown(node), evidence)


def _tied_otherwise(subject: Subject, select: exp.Select, own: exp.EQ, pair: set[str]) -> bool:
    """Whether another condition ties the same two tables."""
    for node in within(select, exp.EQ):
        sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
        if node is not own and {owner[0] for side in sides if (owner := subject.owner(side))} == pair:
            return True
    return False


def _as_texts(values: set[object]) -> set[str]:
    return {str(value) for value in values}


def _apart(left: set[object], right: set[object]) -> str:
    """The first pair of values that are alike but for spaces and case."""
    there = {str(value).strip().casefold(): value for value in sorted(map(str, right))}
    alike = next(value for value in sorted(map(str, left)) if value.strip().casefold() in there)
    return f"{alike!r} and {there[alike.strip().casefold()]!r}"


def _folded(values: set[object]) -> set[str]:
    return {str(value).strip().casefold() for value in values}


def _better(left: Table, right: Table, left_column: str, right_column: str) -> str:
    """The foreign key between two tables where this pair of columns has no part in any; empty where it has."""
    own = (left_column.lower(), right_column.lower())
    found = ""
    for table, other, pair in ((left, right, own), (right, left, own[::-1])):
        for key in table.foreign_keys:
            if key.ref_table.lower() != other.name.lower():
                continue
            for here, there in zip(key.columns, key.ref_columns, strict=True):
                if (here.lower(), there.lower()) == pair:
                    return ""
                found = f"{table.name}.{here} = {other.name}.{there}"
    # Columns of one name on both sides may be a second way that the schema forgot.
    return "" if own[0] == own[1] else found
