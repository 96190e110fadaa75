"""A database of 1,000 tables and 20,000 columns as companies have them, and questions on it; see `large_schema.py`."""

from __future__ import annotations

import itertools
import random
import re
import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from large_words import AUDIT, DOMAINS, JUNK, MORE, ONE, SHORT, VARIANTS

TABLES, COLUMNS, ROWS = 1_000, 20_000, 3
VARIANT_SHARE = 0.15
"""Of the questions ask for a near-duplicate: an archive, a year, a staging table."""


@dataclass
class Attribute:
    """A column before it has a name: how people say it."""

    phrase: str
    others: tuple[str, ...]
    type: str


@dataclass
class Entity:
    """What a table is about, and how its domain spells names."""

    phrase: str
    others: tuple[str, ...]
    style: str
    prefix: str
    attributes: list[Attribute]
    refers: list[str]
    domain: str


@dataclass
class Made:
    """A table: its columns by name with their types and phrases, its keys (column, table, column)."""

    name: str
    entity: Entity
    said: tuple[str, ...]
    key: str
    columns: dict[str, str] = field(default_factory=dict)
    spoken: dict[str, Attribute] = field(default_factory=dict)
    keys: list[tuple[str, str, str]] = field(default_factory=list)
    variant: bool = False


@dataclass(frozen=True)
class Asked:
    """A question, the tables it needs, and those of their columns that it speaks of."""

    text: str
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


def entities() -> list[Entity]:
    """What `large_words` describes."""
    found = []
    for block in DOMAINS.strip().split("\n\n"):
        head, *lines = block.splitlines()
        domain, style, *prefix = head.split()
        for line in lines:
            match = re.fullmatch(r"(.+?) \((.+?)\): (.+?) >(.*)", line)
            if match is None:
                raise ValueError(f"large_words: cannot read {line!r}")
            phrase, others, attributes, refers = match.groups()
            found.append(
                Entity(
                    phrase,
                    tuple(others.split(", ")),
                    style,
                    "".join(prefix),
                    [_attribute(text) for text in attributes.split(", ")],
                    [name.strip() for name in refers.split(",") if name.strip()],
                    domain,
                )
            )
    return found


def _attribute(text: str) -> Attribute:
    kind = {"#": "INTEGER", "@": "DATE"}.get(text[-1], "TEXT")
    phrase, _, others = text.rstrip("#@").partition("=")
    return Attribute(phrase, tuple(others.split("/")), kind)


def spell(phrase: str, style: str, *, plural: bool = False) -> str:
    """A phrase as a name in the style of a domain."""
    words = re.findall(r"[a-z0-9]+", phrase.lower())
    if style in ("short", "upper"):
        words = [SHORT.get(word, word[:6] if len(word) > 6 else word) for word in words]
    elif plural and style in ("plain", "own"):
        words[-1] = plural_of(words[-1])
    if style == "camel":
        return "".join(word.capitalize() for word in words)
    return "_".join(words).upper() if style == "upper" else "_".join(words)


def plural_of(word: str) -> str:
    """An English plural, near enough."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def make(seed: int, tables: int = TABLES, columns: int = COLUMNS) -> list[Made]:
    """The tables: each entity's own, then near-duplicates of them by turns, with so many columns in all."""
    rng = random.Random(f"{seed} schema")
    base: dict[tuple[str, str], Made] = {}
    for entity in entities():
        table = _base(entity, {made.name for made in base.values()})
        base[entity.domain, entity.phrase] = table
    for table in base.values():
        for phrase in table.entity.refers:
            target = base[table.entity.domain, phrase]
            column = _column(f"{phrase} id", table.entity)
            table.columns[column] = "INTEGER"
            table.keys.append((column, target.name, target.key))
    made = list(base.values())
    names = {table.name.lower() for table in made}
    for pattern in VARIANTS:
        for table in rng.sample(list(base.values()), len(base)):
            if len(made) < tables and rng.random() < 0.7:
                made.append(_variant(table, pattern, rng))
                if made[-1].name.lower() in names:
                    made.pop()
                names.add(made[-1].name.lower())
    _fill(made, columns, rng)
    rng.shuffle(made)
    return made


def _base(entity: Entity, taken: set[str]) -> Made:
    prefix = entity.prefix or ("tbl_" if entity.style == "own" and entity.domain == "education" else "")
    name = prefix + spell(entity.phrase, entity.style, plural=True)
    if name.lower() in {other.lower() for other in taken}:
        name = f"{entity.domain[:3]}_{name}"
    key = _column("id", entity) if entity.style != "own" else _column(f"{entity.phrase} id", entity)
    table = Made(name, entity, (entity.phrase, *entity.others), key, {key: "INTEGER"})
    for attribute in entity.attributes:
        column = _column(attribute.phrase, entity)
        table.columns[column] = attribute.type
        table.spoken[column] = attribute
    return table


def _column(phrase: str, entity: Entity) -> str:
    name = spell(phrase, entity.style)
    if entity.style == "camel":
        return name[0].lower() + name[1:]
    if entity.style == "own" and not phrase.endswith("id"):
        return f"{entity.phrase.split()[-1][:3]}_{name}"
    return name


def _variant(table: Made, pattern: str, rng: random.Random) -> Made:
    name = pattern.format(table.name)
    name = name.upper() if table.entity.style == "upper" else name
    said = tuple(phrase.format("{}") for phrase in VARIANTS[pattern])
    copy = Made(name, table.entity, said, table.key, dict(table.columns), dict(table.spoken), variant=True)
    if rng.random() < 0.3:
        copy.keys = list(table.keys)
    return copy


def _fill(made: list[Made], columns: int, rng: random.Random) -> None:
    """Audit and junk columns, until there are as many columns as asked for."""
    missing = columns - sum(len(table.columns) for table in made)
    for table in itertools.cycle(made):
        if missing <= 0:
            return
        name = rng.choice(AUDIT) if rng.random() < 0.7 else rng.choice(JUNK).format(rng.randint(1, 30))
        name = spell(name, "upper") if table.entity.style == "upper" else name
        if name.lower() not in {column.lower() for column in table.columns}:
            table.columns[name] = rng.choice(("TEXT", "INTEGER", "DATE"))
            missing -= 1


def write(made: list[Made], path: Path, seed: int) -> None:
    """The tables as an SQLite database with a few rows each."""
    rng = random.Random(f"{seed} rows")
    connection = sqlite3.connect(path)
    connection.execute("BEGIN")
    for table in made:
        lines = [f'"{name}" {kind}{" PRIMARY KEY" * (name == table.key)}' for name, kind in table.columns.items()]
        lines += [f'FOREIGN KEY ("{column}") REFERENCES "{other}" ("{key}")' for column, other, key in table.keys]
        connection.execute(f'CREATE TABLE "{table.name}" ({", ".join(lines)})')
        for number in range(1, ROWS + 1):
            row = [number if kind == "INTEGER" else f"{kind[0]}{rng.randrange(99)}" for kind in table.columns.values()]
            connection.execute(f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(row))})', row)
    connection.commit()
    connection.close()


def ask(made: list[Made], count: int, seed: int) -> list[Asked]:
    """Questions over ways of one to three tables along keys, in other words than the names'."""
    by_name = {table.name: table for table in made}
    near = _near(made)
    found: dict[str, Asked] = {}
    for number in itertools.count():
        if len(found) == count:
            return list(found.values())
        rng = random.Random(f"{seed} question {number}")
        wanted = rng.random() < VARIANT_SHARE
        start = rng.choice([table for table in made if table.variant == wanted] or made)
        way = [start.name]
        for _ in range(rng.choice((0, 1, 1, 2, 2))):
            onward = sorted(near[way[-1]] - set(way))
            onward = [name for name in onward if not by_name[name].variant]
            if onward:
                way.append(rng.choice(onward))
        alone = len(way) == 3 and near[way[0]] & near[way[2]] == {way[1]} and way[2] not in near[way[0]]
        asked = _asked([by_name[name] for name in way], rng, implied=alone)
        found.setdefault(asked.text, asked)
    raise AssertionError


def _near(made: list[Made]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for table in made:
        for _, other, _ in table.keys:
            if other != table.name:
                near[table.name].add(other)
                near[other].add(table.name)
    return near


def _asked(way: list[Made], rng: random.Random, *, implied: bool) -> Asked:
    """One question; of three tables the middle one may be left unsaid where only it joins the others (``implied``)."""
    first, last = way[0], way[-1]
    said = {name: _pick(table, rng) for name, table in (("c", first), ("d", first), ("e", last))}
    words = {name: _said(attribute.phrase, attribute.others, rng) for name, (_, attribute) in said.items()}
    words |= {"t": _table(first, rng), "u": _table(last, rng)}
    words |= {"ts": _many(words["t"]), "us": _many(words["u"])}
    template = rng.choice(ONE if len(way) == 1 else MORE)
    text = template.format(**words)
    used = {name for name in said if f"{{{name}}}" in template}
    columns = {(first.name if name != "e" else last.name, said[name][0]) for name in used}
    if len(way) == 3 and (rng.random() < 0.4 or not implied):
        text = f"{text[:-1]}, by way of the {_table(way[1], rng)}{text[-1]}"
    return Asked(text, frozenset(table.name for table in way), frozenset(columns))


def _pick(table: Made, rng: random.Random) -> tuple[str, Attribute]:
    return rng.choice(sorted(table.spoken.items(), key=lambda pair: pair[0]))


def _said(phrase: str, others: tuple[str, ...], rng: random.Random) -> str:
    return rng.choice(others) if rng.random() < 0.6 else phrase


def _table(table: Made, rng: random.Random) -> str:
    phrase = _said(table.entity.phrase, table.entity.others, rng)
    return rng.choice(table.said).format(phrase) if table.variant else phrase


def _many(phrase: str) -> str:
    """The plural of the word before the first preposition: `items sent back`, `members of personnel`."""
    words = phrase.split()
    ends = [i for i, word in enumerate(words) if word in ("of", "in", "for", "to", "who", "with", "at", "from", "by")]
    place = (ends[0] if ends else len(words)) - 1
    words[place] = plural_of(words[place])
    return " ".join(words)
