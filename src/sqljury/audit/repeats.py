"""Missing deduplication: rows that a join or the data repeats, listed or counted more than once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, outputs, plain, shown, told, within
from sqljury.language.cues import DIFFERENT
from sqljury.language.words import words
from sqljury.types import Table

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


def different(subject: Subject) -> Iterator[Finding]:
    """The question says different, distinct or unique; nothing in the query says so, and rows are repeated."""
    tree = subject.tree
    if tree is None or not _DIFFERENT.search(subject.question.lower()) or not isinstance(tree, exp.Select):
        return
    if tree.find(exp.Distinct) is not None or "distinct" in subject.sql.lower():
        return
    counted = [one for one in outputs(tree) if isinstance(one, exp.Count)]
    if counted and tree.args.get("group") is None:
        yield from _count_of_column(subject, tree, counted[0])
        return
    rows = subject.rows
    if rows and tree.args.get("group") is None and len(set(rows)) < len(rows):
        evidence = f"the question asks for different ones; {len(rows)} rows are {len(set(rows))} different ones"
        yield Finding("deduplication", "no-distinct", 0.9, "SELECT", evidence)


def _count_of_column(subject: Subject, tree: exp.Select, count: exp.Count) -> Iterator[Finding]:
    """``count(*)`` or ``count(x)``, where "how many different" names a column whose values repeat."""
    column = count.this if isinstance(count.this, exp.Column) else _named_column(subject, tree)
    if column is None:
        return
    whole = tree.copy()
    place = outputs(tree).index(count)
    twin = outputs(whole)[place]
    twin.replace(exp.Count(this=exp.Distinct(expressions=[column.copy()])))
    changed = subject.differs(whole)
    if changed:
        evidence = f"counts {changed[0][0]}, but there are {changed[1][0]} different values of {shown(column)}"
        yield Finding("deduplication", "count-distinct", 0.85, shown(count), evidence)


def _named_column(subject: Subject, select: exp.Select) -> exp.Column | None:
    """The column of its tables that the words after "how many different" name, where it is one."""
    phrase = _counted_words(subject)
    found = [
        exp.column(column.name, table=alias)
        for alias, table in subject.sources(select).items()
        for column in table.columns
        if words(column.name) and phrase == words(column.name)
    ]
    return found[0] if len(found) == 1 else None


def listed_twice(subject: Subject) -> Iterator[Finding]:
    """A join repeats the rows of the table that is selected from, and nothing takes the repetitions away."""
    select = subject.outer
    if select is None or not plain(select) or not select.args.get("joins"):
        return
    columns = [one for one in outputs(select) if isinstance(one, exp.Column)]
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
    """Whether a row for each partner may be what the question wants: for all, ordered by the partner, or of it."""
    if _ALL.search(subject.question.lower()):
        return True
    order = select.args.get("order")
    for column in [] if order is None else order.find_all(exp.Column):
        if (owner := subject.owner(column)) is not None and owner[0] != alias:
            return True
    text = " ".join(subject.stems)
    others = [words(other.name) for other in subject.sources(select).values() if other.name != table.name]
    return any(re.search(rf"\b(?:of|for) (?:the |all )*{re.escape(' '.join(own))}\b", text) for own in others if own)


def same_listed(subject: Subject) -> Iterator[Finding]:
    """One column that is no key is listed, and values of it repeat."""
    select = subject.outer
    if select is None or not plain(select) or len(select.expressions) != 1 or select.args.get("joins"):
        return
    column = outputs(select)[0]
    owner = subject.owner(column) if isinstance(column, exp.Column) else None
    rows = subject.rows if owner else None
    if rows and len(set(rows)) < len(rows) and not _DIFFERENT.search(subject.question.lower()):
        evidence = f"{len(rows)} rows are {len(set(rows))} different values"
        yield Finding("deduplication", "values-repeat", 0.3, shown(column), evidence)


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
    """The table whose rows an aggregate is about: the one that its column is of, or that is said to be counted."""
    if not isinstance(node, exp.Count):
        return subject.owner(node.this) if isinstance(node.this, exp.Column) else None
    phrase = _counted_words(subject)
    named = [
        (alias, table)
        for alias, table in subject.sources(select).items()
        if (own := words(table.name)) and phrase[-len(own) :] == own
    ]
    return named[0] if len(named) == 1 else None


def _about(subject: Subject, table: Table) -> bool:
    """Whether an average or a total is said to be one of the table's rows, and not of what is joined to them."""
    match = re.search(r"\b(?:average|mean|total|sum)\b.*?\b(?:of|for|across|among)\s+(.*)", subject.question.lower())
    own = words(table.name)
    said = [word for word in words(match[1]) if word not in ("all", "the", "different")] if match else []
    return tuple(said[: len(own)]) == own


def _counted_words(subject: Subject) -> tuple[str, ...]:
    match = _COUNTED.search(subject.question.lower())
    return words(_AFTER.split(match[1], maxsplit=1)[0]) if match else ()


def _as_distinct(
    subject: Subject, select: exp.Select, node: exp.Count, key: exp.Column, table: Table
) -> Iterator[Finding]:
    whole = select.copy()
    place = [shown(one) for one in outputs(select)].index(shown(node))
    outputs(whole)[place].replace(exp.Count(this=exp.Distinct(expressions=[key])))
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
