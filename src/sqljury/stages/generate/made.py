"""Few-shot examples on the question's own database, written by rules without a model (cf. CHASE-SQL, section 3.3).

The rules of ``prompts/made/rules.md`` are pairs of a question and a query with slots. They are filled with the tables,
columns and values of the database; the examples that are most relevant to the question are tried, and shown.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final, Literal, NamedTuple

from sqljury import prompts
from sqljury.access.guard import skip
from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.language.words import words
from sqljury.llm.base import derive_seed
from sqljury.patterns import regex
from sqljury.recipes import GeneratePart
from sqljury.schema.samples import MASKED, TOO_LARGE, sample_rows
from sqljury.sql.text import NAME_CHARS, literal, plain, quote_name, quote_table
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.direct import messages
from sqljury.stages.generate.examples import EXAMPLES, SECONDS, conversation, finds, focus, harmless, run, unlike
from sqljury.types import Column, ForeignKey, Result, Schema, Table, Task

ROWS: Final = 50
"""Rows read of each table, for the values in examples."""

TABLES: Final = 12
"""Tables that examples are made on at most, those in focus first."""

_RULE: Final = regex(r"^# (?P<name>.+): (?P<cues>.+)\n(?P<question>.+)\n(?P<sql>.+)$", re.MULTILINE)
_SLOT: Final = regex(r"\{(\w+)(?:\.(\w+))?(?:\.(\w+))?\}")
_CHOICES: Final = ("kind", "number", "shown")
_SHARES: Final = {"low": 0.25, "middle": 0.5, "high": 0.75}
_SHOWN: Final = 4
_VALUES: Final = 5
"""Text values are drawn from this many of the most frequent ones."""
_VALUE: Final = regex(r"[^\W\d_][\w .,&/-]{0,28}\w")
"""A text that fits into a question unchanged: short, on one line, without characters that end a literal."""

_NO_MEASURE: Final = regex(r"(?:^|[ _])(?:id|key|code|no|zip|phone|fax|lat|lng|latitude|longitude)$", re.I)
_LABEL: Final = ("name", "title")


def made(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Request:
    """The generator: examples written by rules and tried on the database, the most relevant last, then the question."""
    if task.shows == "schema":  # the examples have values in them
        return Request(tuple(messages(task)))
    wanted = focus(task, drafts)
    candidates = _candidates(task, context, wanted)
    shots = _choose(candidates, task, wanted, context, part.examples or EXAMPLES)
    return Request(conversation(task, shots, "values"))


def _candidates(task: Task, context: Context, wanted: Schema) -> list[Made]:
    """Examples on the tables in focus, on those that keys connect with them, and on some others."""
    seed = derive_seed("made", task.shown.name)
    described = [_entity(table, task, context) for table in _nearest(task.shown, wanted)]
    entities = [entity for entity in described if entity is not None]
    return compose(entities, links(task.shown, entities), seed)


def _nearest(schema: Schema, wanted: Schema) -> list[Table]:
    """At most ``TABLES`` tables, those in focus first and then their neighbours, in the order of the schema."""
    inside = {table.name for table in wanted.tables}
    beside = {key.ref_table for table in schema.tables if table.name in inside for key in table.foreign_keys}
    beside |= {table.name for table in schema.tables if inside & {key.ref_table for key in table.foreign_keys}}
    rank = {table.name: (table.name not in inside, table.name not in beside) for table in schema.tables}
    chosen = sorted((table for table in schema.tables if not table.is_view), key=lambda table: rank[table.name])
    names = {table.name for table in chosen[:TABLES]}
    return [table for table in schema.tables if table.name in names]


def _entity(table: Table, task: Task, context: Context) -> Entity | None:
    def read() -> Entity | None:
        return entity(table, sample_rows(context.db, table, ROWS), task.shown.dialect)

    masked = skip(context.db)
    hidden = tuple(column.name for column in table.columns if masked(table.name, column.name))
    key = "made", context.db.url, context.content().version, table, hidden
    return context.kept.get(key, read, context.cancel)


def _choose(candidates: Iterable[Made], task: Task, wanted: Schema, context: Context, count: int) -> list[Shot]:
    """The best examples that run and return rows, the best last; rules that were used score less."""
    asked = set(words(task.question.text))
    scored = [(_score(example, asked, wanted), example) for example in candidates if harmless(example.shot)]
    scored.sort(key=lambda pair: (-pair[0], pair[1].shot.sql))
    chosen: list[tuple[float, Shot]] = []
    uses: Counter[str] = Counter()
    ends = time.monotonic() + SECONDS
    while scored and len(chosen) < count and time.monotonic() < ends:
        at = max(range(len(scored)), key=lambda index: scored[index][0] - uses[scored[index][1].rule.name])
        score, best = scored.pop(at)
        if unlike(task, [best.shot]) and finds(run(best.shot.sql, context)):
            uses[best.rule.name] += 1
            chosen.append((score, best.shot))
    return [shot for _, shot in sorted(chosen, key=lambda pair: pair[0])]


def _score(example: Made, asked: set[str], wanted: Schema) -> float:
    """The relevance of an example to a question: by cue words of its rule, its tables and its columns."""
    form = sum(1 / _spread()[word] for word in example.rule.cues if word in asked)
    tables = {table.name for table in wanted.tables}
    columns = {(table.name, column.name) for table in wanted.tables for column in table.columns}
    shared = len(example.tables & tables) / len(example.tables | tables) if tables else 0.0
    return min(form, 1.0) + shared + 0.25 * len(example.columns & columns) / max(len(example.columns), 1)


@cache
def _spread() -> Counter[str]:
    """How many rules each cue word calls for: one that calls for many is weak evidence."""
    return Counter(word for rule in rules() for word in rule.cues)


class Rule(NamedTuple):
    """A feature of SQL: words that call for it, question and query with slots, and the slots' first two parts."""

    name: str
    cues: tuple[str, ...]
    question: str
    sql: str
    slots: frozenset[tuple[str, str]]

    @property
    def tables(self) -> int:
        """How many tables the query names: 1, 2, or 3."""
        return len({table for table, _ in self.slots if table in ("a", "b", "c")})


@dataclass(frozen=True, slots=True)
class Made:
    """An example, the rule that made it, and the tables and columns that it names."""

    shot: Shot
    rule: Rule
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


@cache
def rules() -> tuple[Rule, ...]:
    """The rules of ``prompts/made/rules.md``."""
    return tuple(
        Rule(name, tuple(cues.split()), question, sql, frozenset(slot[:2] for slot in _SLOT.findall(question + sql)))
        for name, cues, question, sql in _RULE.findall(prompts.render("made/rules"))
    )


def compose(entities: Sequence[Entity], joins: Sequence[Link], seed: int) -> list[Made]:
    """All examples of the rules, with values drawn by ``seed``; those of a table do not depend on the other tables."""
    pairs = [
        (first, second)
        for first, second in product(joins, joins)
        if first.child is second.child and first.parent is not second.parent
    ]
    examples: list[Made] = []
    for rule in rules():
        if rule.tables == 1:
            examples += [example for table in entities for example in _filled(rule, {"a": table}, {}, seed)]
        elif rule.tables == 2:
            examples += [example for link in joins for example in _filled(rule, *_named(link), seed)]
        else:
            examples += [example for first, second in pairs for example in _filled(rule, *_named(first, second), seed)]
    return examples


def _named(first: Link, second: Link | None = None) -> tuple[dict[str, Entity], dict[str, Link]]:
    """The tables, and the links between them, by their names in rules."""
    tables, ways = {"a": first.child, "b": first.parent}, {"ab": first}
    if second is not None:
        tables["c"], ways["ac"] = second.parent, second
    return tables, ways


def _filled(rule: Rule, tables: Mapping[str, Entity], ways: Mapping[str, Link], seed: int) -> Iterator[Made]:
    """The examples of a rule on these tables: one for each choice of columns."""
    wanted = sorted({slot for slot in rule.slots if slot[1] in (*_CHOICES, "label")})
    for chosen in product(*(_columns(tables[table], role) for table, role in wanted)):
        columns = dict(zip(wanted, chosen, strict=True))
        if len({(table, attribute.column) for (table, _), attribute in columns.items()}) < len(columns):
            continue  # one column in two roles
        pick = random.Random(f"{seed} {rule.name} {[attribute.full for attribute in chosen]}")  # noqa: S311
        filling = _Filling(
            tables, ways, columns, {slot: _values(attribute, pick) for slot, attribute in columns.items()}
        )
        if (shot := filling.shot(rule)) is not None:
            yield Made(
                shot,
                rule,
                frozenset(named.table.name for named in tables.values()),
                frozenset((tables[table].table.name, attribute.column) for (table, _), attribute in columns.items()),
            )


@dataclass(frozen=True, slots=True)
class _Filling:
    """What fills the slots of one example."""

    tables: Mapping[str, Entity]
    ways: Mapping[str, Link]
    columns: Mapping[tuple[str, str], Attribute]
    values: Mapping[tuple[str, str], Mapping[str, Any]]

    def shot(self, rule: Rule) -> Shot | None:
        """The rule's example; None where a column has fewer values than the rule needs."""
        try:
            question = _SLOT.sub(lambda match: self.in_question(*match.groups()), rule.question)
            sql = _SLOT.sub(lambda match: self.in_query(*match.groups()), rule.sql)
        except KeyError:
            return None
        return Shot(question[0].upper() + question[1:], sql)

    def in_question(self, table: str, role: str | None, part: str | None) -> str:
        """A slot of the question: words."""
        entity = self.tables[table]
        if role == "row":
            return entity.noun
        if role == "rows":
            return entity.plural
        column = table, role or ""
        if part == "plural":
            return self.columns[column].plural
        return str(self.values[column][part]) if part else self.columns[column].noun

    def in_query(self, table: str, role: str | None, part: str | None) -> str:
        """A slot of the query: names and literals; columns with their table where there are several tables."""
        if table in self.ways:
            link = self.ways[table]
            return {"from": link.column, "to": link.to}[role] if role else link.on
        if role is None:
            return self.tables[table].sql
        column = self.columns[table, role]
        if part:
            return literal(self.values[table, role][part])
        return column.full if len(self.tables) > 1 else column.sql


def _columns(entity: Entity, role: str) -> list[Attribute]:
    if role == "label":
        return [entity.label] if entity.label else []
    if role == "shown":
        return list(entity.attributes[:_SHOWN])
    return entity.texts if role == "kind" else entity.numbers


def _values(column: Attribute, pick: random.Random) -> dict[str, Any]:
    """The values that a rule may name, by their names in rules."""
    if column.kind == "number":
        last = len(column.values) - 1
        return {name: _short(column.values[int(share * last)]) for name, share in _SHARES.items()}
    common = column.values[:_VALUES]
    return dict(zip(("value", "other"), pick.sample(common, min(2, len(common))), strict=False))


def _short(value: Any) -> Any:
    return int(value) if value == int(value) else round(value, 2)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column with values to ask about, ``values`` each once; ``repeats`` where rows share some.

    ``sql`` is the column in a query on its table alone, ``full`` in one on several tables.
    """

    column: str
    sql: str
    full: str
    noun: str
    plural: str
    kind: Literal["text", "number"]
    values: tuple[Any, ...]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Entity:
    """A table as a question names it; ``label`` is the column that names its rows."""

    table: Table
    sql: str
    noun: str
    plural: str
    label: Attribute | None
    attributes: tuple[Attribute, ...]

    @property
    def texts(self) -> list[Attribute]:
        """The columns of texts that rows share: kinds, places, states."""
        return [column for column in self.attributes if column.kind == "text" and column.repeats]

    @property
    def numbers(self) -> list[Attribute]:
        """The columns that measure or count something."""
        return [column for column in self.attributes if column.kind == "number"]


@dataclass(frozen=True, slots=True)
class Link:
    """Rows of ``child`` refer to rows of ``parent``: ``on`` is the condition, ``column`` refers to ``to``."""

    child: Entity
    parent: Entity
    on: str
    column: str
    to: str


def entity(table: Table, sample: Result, dialect: str) -> Entity | None:
    """A table by its declaration and some of its rows; None where its name does not fit into a question."""
    if not _sayable(table.name):
        return None
    sql = quote_table(table.name, table.schema, dialect)
    noun = _noun(table.name.removeprefix(f"{table.schema}."))
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    columns: list[Attribute] = []
    for column in table.columns:
        if column.name not in keys and column.name in sample.columns and _sayable(column.name):
            at = sample.columns.index(column.name)
            columns += _attribute(column, [row[at] for row in sample.rows], sql, noun, dialect)
    return Entity(table, sql, noun, _plural(noun), _label(columns), tuple(columns))


def links(schema: Schema, entities: Sequence[Entity]) -> list[Link]:
    """The single-column foreign keys between two of the entities.

    Where a table has several to the same other table they are left out, since a question would have to name one; an
    inferred one does not count beside a certain one.
    """
    by_name = {entity.table.name: entity for entity in entities}
    return [
        _link(child, by_name[key.ref_table], key, schema.dialect)
        for child in entities
        for key in child.table.foreign_keys
        if key.ref_table in by_name
        and key.ref_table != child.table.name
        and len(key.columns) == 1
        and _rivals(child.table, key) == [key]
        and all(map(_sayable, (*key.columns, *key.ref_columns)))
    ]


def _rivals(table: Table, key: ForeignKey) -> list[ForeignKey]:
    """The keys to the same table: the certain ones, or all where none is."""
    keys = [other for other in table.foreign_keys if other.ref_table == key.ref_table]
    return [other for other in keys if other.certain] or keys


def _link(child: Entity, parent: Entity, key: ForeignKey, dialect: str) -> Link:
    column = f"{child.sql}.{quote_name(key.columns[0], dialect)}"
    to = f"{parent.sql}.{quote_name(key.ref_columns[0], dialect)}"
    return Link(child, parent, f"{column} = {to}", column, to)


def _attribute(column: Column, cells: Sequence[Any], table: str, owner: str, dialect: str) -> Iterator[Attribute]:
    held = [cell for cell in cells if cell is not None]
    sql = quote_name(column.name, dialect)
    noun = _noun(column.name).removeprefix(f"{owner} ")
    if not held or any(cell in (MASKED, TOO_LARGE) for cell in held):
        return
    distinct = tuple(dict.fromkeys(held))
    named = (column.name, sql, f"{table}.{sql}", noun, _plural(noun))
    if all(type(cell) in (int, float) and math.isfinite(cell) for cell in held):
        if len(distinct) > 2 and not _NO_MEASURE.search(noun):
            yield Attribute(*named, "number", tuple(sorted(distinct)), False)
    elif all(isinstance(cell, str) for cell in held):
        counted = Counter(cell for cell in held if _VALUE.fullmatch(cell) and plain(cell, NAME_CHARS) == cell)
        if counted:
            values = tuple(value for value, _ in counted.most_common())
            yield Attribute(*named, "text", values, len(distinct) < len(held))


def _label(attributes: Sequence[Attribute]) -> Attribute | None:
    texts = [column for column in attributes if column.kind == "text"]
    named = [column for column in texts if any(word in words(column.column) for word in _LABEL)]
    return next(iter([*named, *(column for column in texts if not column.repeats), *texts]), None)


def _sayable(name: str) -> bool:
    return plain(name, NAME_CHARS) == name and any(c.isalpha() for c in name)


def _noun(name: str) -> str:
    """A name as words: ``SongRelease_year`` as ``song release year``; names that are not ASCII stay as they are."""
    return " ".join(words(name)) if name.isascii() else name


def _plural(noun: str) -> str:
    if not noun.isascii():
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"
