"""Wrong semantic logic: words that the query contradicts, joins without the right condition, results that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown, within
from sqljury.language.cues import HIGHEST, LOWEST
from sqljury.language.words import NUMBER_WORDS
from sqljury.patterns import regex
from sqljury.sql.emptied import emptied
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items
from sqljury.types import Table

_HIGH: Final = regex(rf"\b(?<!\bat )(most(?! recent| poorly)|{HIGHEST}|best paid)\b")
_LOW: Final = regex(rf"\b(?<!\bat )(least|{LOWEST})\b")
_ORDER: Final = regex(rf"\b(?:most|least|worst|best|{HIGHEST}|{LOWEST})\b[^,;:.()?]*\bfirst\b(?! name)")
"""An order, which asks for no single row: "name and amount, largest shortfall first"."""
_RANK: Final = regex(r"rank|position|place|order_|level|birth|date|year|since|found|built")
"""Columns whose lowest value may be the highest in meaning, such as ranks."""
_DOWN: Final = regex(
    r"\b(descending|decreasing|desc\b|reverse alphabetical|from (?:high|highest|most|largest|biggest) )"
)
_UP: Final = regex(
    r"\b(ascending|increasing|(?<!reverse )(?:alphabetical|lexicographic(?:al)?)|from (?:low|lowest|least|smallest) )"
)
_OVER: Final = regex(
    r"\b(more than|greater than|higher than|larger than|bigger than|above|over|exceed(?:s|ing)?|longer than|"
    r"heavier than)\b"
)
_UNDER: Final = regex(r"\b(less than|fewer than|lower than|smaller than|below|under|shorter than|lighter than)\b")
_AT_LEAST: Final = regex(r"\b(at least|or more|or above|no less than|minimum of|or higher|or greater)\b")
_AT_MOST: Final = regex(r"\b(at most|or less|or fewer|no more than|or below|maximum of|up to)\b")
NEGATION: Final = regex(
    r"\b(not|never|no|without|nor|neither|don't|doesn't|didn't|haven't|hasn't|isn't|aren't|weren't)\b|n't\b"
)
_AGED: Final = (
    (regex(r"\boldest\b"), regex(r"\bage\b|_age\b"), True),
    (regex(r"\byoungest\b"), regex(r"\bage\b|_age\b"), False),
    (regex(r"\boldest\b"), regex(r"birth|born|built|found|date|year"), False),
    (regex(r"\byoungest\b|\bnewest\b"), regex(r"birth|born|built|found|date|year"), True),
    (regex(r"\bearliest\b"), regex(r"date|year|time"), False),
    (regex(r"\blatest\b|\bmost recent(?:ly)?\b"), regex(r"date|year|time"), True),
)
"""What the question says, what the column is called, and whether its greatest value is meant."""


def superlative(subject: Subject) -> Iterator[Finding]:
    """The question asks for the most and the query takes the least, or the other way round."""
    if subject.tree is None:
        return
    text = _ORDER.sub("", subject.question.lower())
    high, low = _HIGH.search(text), _LOW.search(text)
    if bool(high) == bool(low):
        return
    taken = set()
    clause: exp.Expr | None = None
    for select in subject.selects:
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None:
            clause = order.expressions[0]
            taken.add("most" if clause.args.get("desc") else "least")
        for node in within(select, exp.Max, exp.Min):
            clause = node
            taken.add("most" if isinstance(node, exp.Max) else "least")
    match = high or low
    wanted = "most" if high else "least"
    ranks = clause is not None and _RANK.search(clause.sql().lower())
    if match and clause is not None and not ranks and taken and wanted not in taken:
        yield Finding(
            "semantic logic",
            "superlative",
            0.8,
            shown(clause),
            f"the question says {match[0]!r}; the query takes the {next(iter(taken))}",
        )


def order_direction(subject: Subject) -> Iterator[Finding]:
    """The question names a direction, and the query sorts in the other."""
    tree = subject.tree
    order = None if tree is None else tree.args.get("order")
    text = subject.question.lower()
    down, up = _DOWN.search(text), _UP.search(text)
    if order is None or bool(down) == bool(up) or "revers" in text:
        return
    directions = {bool(term.args.get("desc")) for term in order.expressions if isinstance(term, exp.Ordered)}
    match = down or up
    if match and directions == {not down}:
        yield Finding(
            "semantic logic", "order-direction", 0.85, shown(order), f"the question says {match[0].strip()!r}"
        )


def comparison(subject: Subject) -> Iterator[Finding]:
    """The question has one comparison in words, and the query has one that differs from it."""
    if subject.tree is None:
        return
    text = subject.question.lower()
    phrases = [
        (match, kind)
        for kind, pattern in (("over", _OVER), ("under", _UNDER), ("at least", _AT_LEAST), ("at most", _AT_MOST))
        for match in pattern.finditer(text)
    ]
    kinds: dict[type, str] = {exp.GT: "over", exp.LT: "under", exp.GTE: "at least", exp.LTE: "at most"}
    made = list(subject.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between))
    if (
        len(phrases) != 1
        or len(made) != 1
        or type(made[0]) not in kinds
        or NEGATION.search(text)
        or re.search(r"\bequal|\bthan at\b", text)
    ):
        return
    match, kind = phrases[0]
    written = kinds[type(made[0])]
    if written == kind or not _same_number(made[0], text, match.end()):
        return
    high = {"over", "at least"}
    opposite = (written in high) != (kind in high)
    evidence = f"the question says {match[0]!r}; the query has {shown(made[0])}"
    yield Finding("semantic logic", "comparison", 0.8 if opposite else 0.7, shown(made[0]), evidence)


def _same_number(node: exp.Expr, text: str, at: int) -> bool:
    """Whether the query compares with the very number of the question, not with the one before or after it."""
    right = node.expression
    if not isinstance(right, exp.Literal):
        return True
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    spelled = re.search(rf"\b({'|'.join(NUMBER_WORDS)})\b", text[max(0, at - 40) :])
    if digits:
        return float(digits[0].replace(",", "")) == _float(right.name)
    return spelled is not None and float(NUMBER_WORDS.index(spelled[1])) == _float(right.name)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def age_or_time(subject: Subject) -> Iterator[Finding]:
    """The oldest, youngest, earliest or latest is asked for, and the query takes the other end."""
    text = subject.question.lower()
    ends_asked = {match[0] for phrase, _, _ in _AGED if (match := phrase.search(text))}
    if subject.tree is None or len(ends_asked) != 1:
        return
    ends = []
    for select in subject.selects:
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None and len(order.expressions) == 1:
            ends.append((order.expressions[0], bool(order.expressions[0].args.get("desc"))))
        ends += [(node, isinstance(node, exp.Max)) for node in within(select, exp.Max, exp.Min)]
    if len(ends) != 1 or not isinstance(ends[0][0].this, exp.Column):
        return
    node, greatest = ends[0]
    for phrase, name, wanted in _AGED:
        match = phrase.search(text)
        if match and name.search(node.this.name.lower()) and wanted != greatest:
            end = "greatest" if greatest else "least"
            evidence = f"the question says {match[0]!r}; the query takes the {end} {node.this.name}"
            yield Finding("semantic logic", "age-or-time", 0.8, shown(node), evidence)
            return


def without_condition(subject: Subject) -> Iterator[Finding]:
    """No condition connects a table of FROM to the others: each of its rows is joined to all of theirs."""
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
    """The aliases that are connected to the first one by comparisons of columns, directly or through others.

    A subquery of a single row needs no condition.
    """
    pairs = []
    for node in within(select, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.Between, exp.In):
        aliases = set()
        columns = [
            column
            for column in node.find_all(exp.Column)
            if column.parent_select is select or not isinstance(node, exp.In)
        ]
        for column in columns:
            if column.table:
                aliases.add(column.table.lower())
            elif (owner := subject.owner(column)) is not None:
                aliases.add(owner[0])
            else:
                return set(names)  # it may be of any of them
        pairs.append(aliases & set(names))
    single = {item.alias_or_name.lower() for item in from_items(select) if _is_one_row(item)}
    tied = {next((name for name in names if name not in single), names[0])} | single
    for _ in names:
        tied |= {name for pair in pairs if pair & tied for name in pair}
    return tied


def _is_one_row(item: exp.Expr) -> bool:
    """Whether a part of FROM is a subquery that only aggregates."""
    inner = item.this if isinstance(item, exp.Subquery) else None
    return (
        isinstance(inner, exp.Select)
        and inner.args.get("group") is None
        and all(term.find(exp.AggFunc) is not None and not term.find(exp.Window) for term in inner.expressions)
    )


def unrelated(subject: Subject) -> Iterator[Finding]:
    """A join on columns whose values differ by spaces and case, or not on the key that ties the two tables."""
    for select in subject.selects:
        for join in _joins(subject, select):
            owners, sides = join.owners, join.sides
            if join.misspelled:
                common = _apart(join.left, join.right)
                evidence = (
                    f"{shown(sides[0])} and {shown(sides[1])} have values in common only without spaces and case, such "
                    f"as {common}"
                )
                yield Finding("wrong value", "join-spelling", 0.9, shown(join.node), evidence)
            elif _as_texts(join.left) & _as_texts(join.right) and (
                key := _better(owners[0][1], owners[1][1], sides[0].name, sides[1].name)
            ):
                if _tied_otherwise(subject, select, join.node, {owners[0][0], owners[1][0]}):
                    continue
                evidence = f"the schema ties {owners[0][1].name} and {owners[1][1].name} by {key}"
                yield Finding("semantic logic", "join-column", 0.7, shown(join.node), evidence)


def misspelled_joins(subject: Subject) -> list[exp.EQ]:
    """The comparisons of two tables' columns that have values in common only without spaces and case."""
    return [join.node for select in subject.selects for join in _joins(subject, select) if join.misspelled]


class _Join(NamedTuple):
    """Two columns that a query compares, the aliases and tables they are of, and their values."""

    node: exp.EQ
    sides: list[exp.Column]
    owners: list[tuple[str, Table]]
    left: set[object]
    right: set[object]

    @property
    def misspelled(self) -> bool:
        alike = _as_texts(self.left) & _as_texts(self.right)
        return not alike and bool(_folded(self.left) & _folded(self.right))


def _joins(subject: Subject, select: exp.Select) -> Iterator[_Join]:
    """Comparisons of columns of two tables, both of which have values that can be read."""
    for node in within(select, exp.EQ):
        sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
        owners = [owner for side in sides if (owner := subject.owner(side)) is not None]
        if len(owners) != 2 or owners[0][0] == owners[1][0]:
            continue
        left, right = (
            set(subject.data.values(owner[1], side.name) or ()) for owner, side in zip(owners, sides, strict=True)
        )
        if left and right:
            yield _Join(node, sides, owners, left, right)


def _tied_otherwise(subject: Subject, select: exp.Select, condition: exp.EQ, pair: set[str]) -> bool:
    """Whether another condition connects the same two tables."""
    for node in within(select, exp.EQ):
        sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
        if node is not condition and {owner[0] for side in sides if (owner := subject.owner(side))} == pair:
            return True
    return False


def _as_texts(values: set[object]) -> set[str]:
    return {str(value) for value in values}


def _apart(left: set[object], right: set[object]) -> str:
    """The first pair of values that are alike but for spaces and case."""
    by_folded = {str(value).strip().casefold(): value for value in sorted(map(str, right))}
    alike = next(value for value in sorted(map(str, left)) if value.strip().casefold() in by_folded)
    return f"{alike!r} and {by_folded[alike.strip().casefold()]!r}"


def _folded(values: set[object]) -> set[str]:
    return {str(value).strip().casefold() for value in values}


def _better(left: Table, right: Table, left_column: str, right_column: str) -> str:
    """A foreign key between two tables; empty if there is none, or if this pair of columns is part of one."""
    joined = (left_column.lower(), right_column.lower())
    foreign_key = ""
    for table, other, pair in ((left, right, joined), (right, left, joined[::-1])):
        for key in table.foreign_keys:
            if key.ref_table.lower() != other.name.lower():
                continue
            for column, ref_column in zip(key.columns, key.ref_columns, strict=True):
                if (column.lower(), ref_column.lower()) == pair:
                    return ""
                foreign_key = f"{table.name}.{column} = {other.name}.{ref_column}"
    # Columns of one name on both sides may be a second way that the schema forgot.
    return "" if joined[0] == joined[1] else foreign_key


def fails(subject: Subject) -> Iterator[Finding]:
    """The query does not run."""
    if not subject.result.ok:
        limit = subject.result.error_kind == "limit"
        yield Finding("semantic logic", "fails", 0.5 if limit else 0.95, shown(subject.sql), str(subject.result.error))


def empty(subject: Subject) -> Iterator[Finding]:
    """The query returns nothing although its tables have rows; what empties it is named."""
    if not subject.result.ok or subject.result.rows:
        return
    tables = {table.name: table for select in subject.selects for table in subject.sources(select).values()}
    if any(not subject.data.size(table) for table in tables.values()):
        return
    why = emptied(subject.sql, subject.schema, lambda sql: bool(subject.data.run(sql).rows))
    nothing = any("finds nothing" in line for line in why)
    clause = "" if subject.tree is None else shown(subject.tree.args.get("where") or subject.tree)
    yield Finding("semantic logic", "returns-nothing", 0.5 if nothing else 0.3, clause, "; ".join(["no row", *why]))
