"""Questions with their queries, written by a program over what a database holds: one rule for each feature of SQL."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqljury.generate.facts import Attribute, Entity, Link
from sqljury.generate.pool import Shot
from sqljury.schema.text import literal

Pick = random.Random


@dataclass(frozen=True, slots=True)
class Made:
    """An example, the feature of SQL that it shows, and the tables and columns that it names."""

    shot: Shot
    feature: str
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


def compose(entities: Sequence[Entity], links: Sequence[Link], seed: int) -> list[Made]:
    """All examples that the rules write; what a table's examples are does not depend on the other tables.

    ``seed`` decides which values stand in them and how they are worded.
    """
    found = [made for one in entities for rule in ALONE for made in rule(one, random.Random(f"{seed} {one.sql}"))]
    found += [made for link in links for rule in JOINED for made in rule(link, random.Random(f"{seed} {link.on}"))]
    for first in links:
        for second in links:
            if first.child is second.child and first.on < second.on and first.parent is not second.parent:
                found += through(first, second, random.Random(f"{seed} {first.on} {second.on}"))
    return found


def _made(
    feature: str, question: str, sql: str, entities: Sequence[Entity], *attributes: tuple[Entity, Attribute]
) -> Made:
    return Made(
        Shot(question[0].upper() + question[1:], sql),
        feature,
        frozenset(one.table.name for one in entities),
        frozenset((one.table.name, attribute.column) for one, attribute in attributes),
    )


def _number(attribute: Attribute, share: float) -> Any:
    """A value with about this share of the others below it, whole where they are."""
    value = attribute.values[int(share * (len(attribute.values) - 1))]
    return value if isinstance(value, int) else round(value, 2)


def _what(label: Attribute, rows: str) -> str:
    return f"the {label.noun}s of {rows}"


def counts(one: Entity, pick: Pick) -> Iterator[Made]:
    yield _made("count", f"how many {one.plural} are there?", f"SELECT count(*) FROM {one.sql}", [one])
    for kind in one.texts:
        value = pick.choice(kind.values[:5])
        sql = f"SELECT count(*) FROM {one.sql} WHERE {kind.sql} = {literal(value)}"
        yield _made("count where", f"how many {one.plural} have the {kind.noun} {value}?", sql, [one], (one, kind))


def filters(one: Entity, pick: Pick) -> Iterator[Made]:
    label = one.label
    if label is None:
        return
    for kind in one.texts:
        if kind is label:
            continue
        value = pick.choice(kind.values[:5])
        sql = f"SELECT {label.sql} FROM {one.sql} WHERE {kind.sql} = {literal(value)}"
        ask = f"what are {_what(label, one.plural)} whose {kind.noun} is {value}?"
        yield _made("equal", ask, sql, [one], (one, kind), (one, label))
        if len(kind.values) > 1:
            first, second = pick.sample(kind.values[:5], 2)
            sql = f"SELECT {label.sql} FROM {one.sql} WHERE {kind.sql} = {literal(first)} OR {kind.sql} = {literal(second)}"
            ask = f"show {_what(label, one.plural)} whose {kind.noun} is {first} or {second}."
            yield _made("or", ask, sql, [one], (one, kind), (one, label))
        if len(kind.values) > 1:
            sql = f"SELECT {label.sql} FROM {one.sql} WHERE {kind.sql} != {literal(value)}"
            ask = f"which {one.plural} do not have the {kind.noun} {value}? Show their {label.noun}."
            yield _made("not equal", ask, sql, [one], (one, kind), (one, label))


def thresholds(one: Entity, pick: Pick) -> Iterator[Made]:
    for number in one.numbers:
        low, high = _number(number, 0.25), _number(number, 0.75)
        above = pick.random() < 0.5
        sign, word, value = (">", "more than", low) if above else ("<", "less than", high)
        sql = f"SELECT count(*) FROM {one.sql} WHERE {number.sql} {sign} {value}"
        ask = f"how many {one.plural} have a {number.noun} of {word} {value}?"
        yield _made("count compare", ask, sql, [one], (one, number))
        if (label := one.label) is None:
            continue
        sql = f"SELECT {label.sql} FROM {one.sql} WHERE {number.sql} {sign} {value}"
        ask = f"list {_what(label, one.plural)} with a {number.noun} {'above' if above else 'below'} {value}."
        yield _made("compare", ask, sql, [one], (one, number), (one, label))
        if low < high:
            sql = f"SELECT {label.sql} FROM {one.sql} WHERE {number.sql} BETWEEN {low} AND {high}"
            ask = f"which {one.plural} have a {number.noun} between {low} and {high}? Give their {label.noun}."
            yield _made("between", ask, sql, [one], (one, number), (one, label))
        sql = f"SELECT {label.sql} FROM {one.sql} WHERE {number.sql} > (SELECT avg({number.sql}) FROM {one.sql})"
        ask = f"what are {_what(label, one.plural)} whose {number.noun} is above the average?"
        yield _made("above average", ask, sql, [one], (one, number), (one, label))


def orders(one: Entity, pick: Pick) -> Iterator[Made]:
    if (label := one.label) is None:
        return
    for number in one.numbers:
        word, way = pick.choice([("highest", "DESC"), ("lowest", "ASC")])
        sql = f"SELECT {label.sql} FROM {one.sql} ORDER BY {number.sql} {way} LIMIT 1"
        ask = f"what is the {label.noun} of the {one.noun} with the {word} {number.noun}?"
        yield _made("first", ask, sql, [one], (one, number), (one, label))
        word, way = pick.choice([("descending", "DESC"), ("ascending", "ASC")])
        sql = f"SELECT {label.sql}, {number.sql} FROM {one.sql} ORDER BY {number.sql} {way}"
        ask = f"list the {label.noun} and {number.noun} of all {one.plural} in {word} order of {number.noun}."
        yield _made("order", ask, sql, [one], (one, number), (one, label))


def aggregates(one: Entity, pick: Pick) -> Iterator[Made]:
    for number in one.numbers:
        sql = f"SELECT avg({number.sql}), min({number.sql}), max({number.sql}) FROM {one.sql}"
        ask = f"what are the average, minimum and maximum {number.noun} of all {one.plural}?"
        yield _made("aggregate", ask, sql, [one], (one, number))
        for kind in one.texts[:3]:
            value = pick.choice(kind.values[:5])
            function, word = pick.choice([("avg", "average"), ("max", "maximum"), ("sum", "total")])
            sql = f"SELECT {function}({number.sql}) FROM {one.sql} WHERE {kind.sql} = {literal(value)}"
            ask = f"what is the {word} {number.noun} of {one.plural} with {kind.noun} {value}?"
            yield _made("aggregate where", ask, sql, [one], (one, number), (one, kind))
            sql = f"SELECT {kind.sql}, {function}({number.sql}) FROM {one.sql} GROUP BY {kind.sql}"
            ask = f"what is the {word} {number.noun} of {one.plural} for each {kind.noun}?"
            yield _made("aggregate group", ask, sql, [one], (one, number), (one, kind))


def grouped(one: Entity, pick: Pick) -> Iterator[Made]:
    for kind in one.texts:
        ask = pick.choice(["what are the different {}s of {}?", "show all distinct {}s of {}."])
        sql = f"SELECT DISTINCT {kind.sql} FROM {one.sql}"
        yield _made("distinct", ask.format(kind.noun, one.plural), sql, [one], (one, kind))
        sql = f"SELECT count(DISTINCT {kind.sql}) FROM {one.sql}"
        yield _made("count distinct", f"how many different {kind.noun}s do {one.plural} have?", sql, [one], (one, kind))
        sql = f"SELECT {kind.sql}, count(*) FROM {one.sql} GROUP BY {kind.sql}"
        yield _made("group", f"how many {one.plural} are there for each {kind.noun}?", sql, [one], (one, kind))
        sql = f"SELECT {kind.sql} FROM {one.sql} GROUP BY {kind.sql} HAVING count(*) >= 2"
        yield _made("having", f"which {kind.noun}s have at least 2 {one.plural}?", sql, [one], (one, kind))
        sql = f"SELECT {kind.sql} FROM {one.sql} GROUP BY {kind.sql} ORDER BY count(*) DESC LIMIT 1"
        yield _made("most common", f"which {kind.noun} is the most common among {one.plural}?", sql, [one], (one, kind))


def both(one: Entity, _pick: Pick) -> Iterator[Made]:
    for kind in one.texts[:3]:
        for number in one.numbers[:3]:
            value = _number(number, 0.5)
            parts = [f"SELECT {kind.sql} FROM {one.sql} WHERE {number.sql} {sign} {value}" for sign in "><"]
            ask = (
                f"which {kind.noun}s have both {one.plural} with a {number.noun} above {value} and {one.plural} below?"
            )
            yield _made("both", ask, " INTERSECT ".join(parts), [one], (one, kind), (one, number))


def joined(link: Link, pick: Pick) -> Iterator[Made]:
    child, parent = link.child, link.parent
    source = f"{child.sql} JOIN {parent.sql} ON {link.on}"
    pair = [child, parent]
    if child.label and parent.label:
        sql = f"SELECT {child.label.full}, {parent.label.full} FROM {source}"
        ask = f"show the {child.label.noun} of each {child.noun} and the {parent.label.noun} of its {parent.noun}."
        yield _made("join", ask, sql, pair, (child, child.label), (parent, parent.label))
    for kind in [one for one in (parent.label, *parent.texts) if one]:
        value = pick.choice(kind.values[:5])
        where = f"{kind.full} = {literal(value)}"
        ask = f"how many {child.plural} belong to the {parent.noun} with {kind.noun} {value}?"
        yield _made("join count", ask, f"SELECT count(*) FROM {source} WHERE {where}", pair, (parent, kind))
        for shown in [one for one in dict.fromkeys((child.label, *child.attributes[:3])) if one]:
            sql = f"SELECT {shown.full} FROM {source} WHERE {where}"
            ask = f"what are {_what(shown, child.plural)} of the {parent.noun} whose {kind.noun} is {value}?"
            yield _made("join where", ask, sql, pair, (parent, kind), (child, shown))
    for number in child.numbers:
        if parent.label:
            sql = f"SELECT {parent.label.full} FROM {source} WHERE {number.full} > {_number(number, 0.5)}"
            ask = f"which {parent.plural} have a {child.noun} with a {number.noun} above {_number(number, 0.5)}?"
            ask = f"{ask} Show the different {parent.label.noun}s."
            distinct = sql.replace("SELECT", "SELECT DISTINCT", 1)
            yield _made("join distinct", ask, distinct, pair, (parent, parent.label), (child, number))


def per_parent(link: Link, _pick: Pick) -> Iterator[Made]:
    child, parent = link.child, link.parent
    if (label := parent.label) is None:
        return
    pair, to = [child, parent], f"{parent.sql}.{link.to}"
    grouped_by = f"FROM {child.sql} JOIN {parent.sql} ON {link.on} GROUP BY {to}, {label.full}"
    named = (parent, label)
    ask = f"how many {child.plural} does each {parent.noun} have? Show its {label.noun} and the number."
    yield _made("join group", ask, f"SELECT {label.full}, count(*) {grouped_by}", pair, named)
    ask = f"what is the {label.noun} of the {parent.noun} with the most {child.plural}?"
    sql = f"SELECT {label.full} {grouped_by} ORDER BY count(*) DESC LIMIT 1"
    yield _made("join most", ask, sql, pair, named)
    ask = f"what are {_what(label, parent.plural)} with at least 2 {child.plural}?"
    yield _made("join having", ask, f"SELECT {label.full} {grouped_by} HAVING count(*) >= 2", pair, named)
    inner = f"SELECT {link.column} FROM {child.sql}"
    ask = f"what are {_what(label, parent.plural)} that have no {child.noun}?"
    sql = f"SELECT {label.sql} FROM {parent.sql} WHERE {link.to} NOT IN ({inner})"
    yield _made("absent", ask, sql, pair, named)
    for number in child.numbers[:3]:
        ask = (
            f"what is the average {number.noun} of the {child.plural} of each {parent.noun}? Show its {label.noun} too."
        )
        sql = f"SELECT {label.full}, avg({number.full}) {grouped_by}"
        yield _made("join aggregate", ask, sql, pair, named, (child, number))


def through(first: Link, second: Link, pick: Pick) -> Iterator[Made]:
    """Examples on two tables that a third one connects."""
    for near, far in ((first, second), (second, first)):
        label, known, child = near.parent.label, far.parent.label, near.child
        if label is None or known is None:
            continue
        source = f"{near.parent.sql} JOIN {child.sql} ON {near.on} JOIN {far.parent.sql} ON {far.on}"
        value = pick.choice(known.values[:5])
        sql = f"SELECT {label.full} FROM {source} WHERE {known.full} = {literal(value)}"
        ask = (
            f"what are {_what(label, near.parent.plural)} that have a {child.noun} with the {far.parent.noun} {value}?"
        )
        three = [near.parent, child, far.parent]
        yield _made("three tables", ask, sql, three, (near.parent, label), (far.parent, known))


Alone = Callable[[Entity, Pick], Iterator[Made]]
Joined = Callable[[Link, Pick], Iterator[Made]]
ALONE: Final[tuple[Alone, ...]] = (counts, filters, thresholds, orders, aggregates, grouped, both)
JOINED: Final[tuple[Joined, ...]] = (joined, per_parent)
