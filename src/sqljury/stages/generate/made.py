"""Questions with their queries, written by a program: the rules of ``prompts/made/rules.md`` over a database.

Examples for this very database that a program writes: what the model's own do, without asking it.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from sqljury import prompts
from sqljury.access.guard import skip
from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.language.words import words
from sqljury.llm.base import derive_seed
from sqljury.recipes import GeneratePart
from sqljury.schema.samples import sample_rows
from sqljury.sql.text import literal
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.examples import EXAMPLES, SECONDS, conversation, finds, focus, harmless, run, unlike
from sqljury.stages.generate.facts import Attribute, Entity, Link, entity, links
from sqljury.types import Schema, Table, Task

_RULE: Final = re.compile(r"^# (?P<name>.+): (?P<cues>.+)\n(?P<question>.+)\n(?P<sql>.+)$", re.MULTILINE)
_SLOT: Final = re.compile(r"\{(\w+)(?:\.(\w+))?(?:\.(\w+))?\}")
_CHOICES: Final = ("kind", "number", "shown")
_SHARES: Final = {"low": 0.25, "middle": 0.5, "high": 0.75}
_SHOWN: Final = 4
_VALUES: Final = 5
"""The values that a text is chosen from: those that most rows have."""


class Rule(NamedTuple):
    """A feature of SQL: words that call for it, a question and a query with slots, and the slots' first two parts."""

    name: str
    cues: tuple[str, ...]
    question: str
    sql: str
    slots: frozenset[tuple[str, str]]

    @property
    def tables(self) -> int:
        """How many tables its query names: 1, 2, or 3."""
        return len({table for table, _ in self.slots if table in ("a", "b", "c")})


@dataclass(frozen=True, slots=True)
class Made:
    """An example, the feature of SQL that it shows, and the tables and columns that it names."""

    shot: Shot
    rule: Rule
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


@cache
def rules() -> tuple[Rule, ...]:
    """The rules as the file has them."""
    return tuple(
        Rule(name, tuple(cues.split()), question, sql, frozenset(slot[:2] for slot in _SLOT.findall(question + sql)))
        for name, cues, question, sql in _RULE.findall(prompts.render("made/rules"))
    )


def compose(entities: Sequence[Entity], links: Sequence[Link], seed: int) -> list[Made]:
    """All examples that the rules give; those on some tables do not depend on the others.

    ``seed`` decides which values stand in them.
    """
    pairs = [
        (first, second)
        for first, second in product(links, links)
        if first.child is second.child and first.parent is not second.parent
    ]
    found: list[Made] = []
    for rule in rules():
        if rule.tables == 1:
            found += [made for one in entities for made in _filled(rule, {"a": one}, {}, seed)]
        elif rule.tables == 2:
            found += [made for link in links for made in _filled(rule, *_named(link), seed)]
        else:
            found += [made for first, second in pairs for made in _filled(rule, *_named(first, second), seed)]
    return found


def _named(first: Link, second: Link | None = None) -> tuple[dict[str, Entity], dict[str, Link]]:
    """The tables and the ways to join them by the names that rules have for them."""
    tables, ways = {"a": first.child, "b": first.parent}, {"ab": first}
    if second is not None:
        tables["c"], ways["ac"] = second.parent, second
    return tables, ways


def _filled(rule: Rule, tables: Mapping[str, Entity], ways: Mapping[str, Link], seed: int) -> Iterator[Made]:
    """The examples of one rule on these tables: one for each choice of columns."""
    wanted = sorted({slot for slot in rule.slots if slot[1] in (*_CHOICES, "label")})
    for chosen in product(*(_columns(tables[table], role) for table, role in wanted)):
        columns = dict(zip(wanted, chosen, strict=True))
        if len({(table, one.column) for (table, _), one in columns.items()}) < len(columns):
            continue  # a column shown for its own value
        pick = random.Random(f"{seed} {rule.name} {[one.full for one in chosen]}")  # noqa: S311
        filling = _Filling(tables, ways, columns, {slot: _values(one, pick) for slot, one in columns.items()})
        if (shot := filling.shot(rule)) is not None:
            yield Made(
                shot,
                rule,
                frozenset(one.table.name for one in tables.values()),
                frozenset((tables[table].table.name, one.column) for (table, _), one in columns.items()),
            )


@dataclass(frozen=True, slots=True)
class _Filling:
    """What stands for the slots of one example."""

    tables: Mapping[str, Entity]
    ways: Mapping[str, Link]
    columns: Mapping[tuple[str, str], Attribute]
    values: Mapping[tuple[str, str], Mapping[str, Any]]

    def shot(self, rule: Rule) -> Shot | None:
        """The rule's example; None where a column has fewer values than it names."""
        try:
            question = _SLOT.sub(lambda match: self.told(*match.groups()), rule.question)
            sql = _SLOT.sub(lambda match: self.written(*match.groups()), rule.sql)
        except KeyError:
            return None
        return Shot(question[0].upper() + question[1:], sql)

    def told(self, table: str, role: str | None, part: str | None) -> str:
        """A slot of the question: words."""
        one = self.tables[table]
        if role == "row":
            return one.noun
        if role == "rows":
            return one.plural
        column = table, role or ""
        if part == "plural":
            return self.columns[column].plural
        return str(self.values[column][part]) if part else self.columns[column].noun

    def written(self, table: str, role: str | None, part: str | None) -> str:
        """A slot of the query: names and literals; columns with their table where there are several."""
        if table in self.ways:
            link = self.ways[table]
            return {"from": link.column, "to": link.to}[role] if role else link.on
        if role is None:
            return self.tables[table].sql
        column = self.columns[table, role]
        if part:
            return literal(self.values[table, role][part])
        return column.full if len(self.tables) > 1 else column.sql


def _columns(one: Entity, role: str) -> list[Attribute]:
    if role == "label":
        return [one.label] if one.label else []
    if role == "shown":
        return list(one.attributes[:_SHOWN])
    return one.texts if role == "kind" else one.numbers


def _values(one: Attribute, pick: random.Random) -> dict[str, Any]:
    """The values that a rule may name, by what it calls them."""
    if one.kind == "number":
        last = len(one.values) - 1
        return {name: _short(one.values[int(share * last)]) for name, share in _SHARES.items()}
    common = one.values[:_VALUES]
    return dict(zip(("value", "other"), pick.sample(common, min(2, len(common))), strict=False))


def _short(value: Any) -> Any:
    return int(value) if value == int(value) else round(value, 2)


ROWS: Final = 50
"""Read of each table, for values that stand in the examples."""

TABLES: Final = 12
"""Tables that examples are made on, those in focus first."""


def made(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Request:
    """The generator: examples that a program wrote and the database answered, the likest last, then the question."""
    wanted = focus(task, drafts)
    candidates = _candidates(task, context, wanted)
    shots = _choose(candidates, task, wanted, context, part.examples or EXAMPLES)
    return Request(conversation(task, shots))


def _candidates(task: Task, context: Context, wanted: Schema) -> list[Made]:
    """Examples on the tables in focus, on those that keys connect with them, and on some others."""
    seed = derive_seed("made", task.shown.name)
    found = [_known(table, task, context) for table in _nearest(task.shown, wanted)]
    entities = [one for one in found if one is not None]
    return compose(entities, links(task.shown, entities), seed)


def _nearest(schema: Schema, wanted: Schema) -> list[Table]:
    """At most ``TABLES`` tables, those in focus first and then their neighbours, in the order of the schema."""
    inside = {table.name for table in wanted.tables}
    beside = {key.ref_table for table in schema.tables if table.name in inside for key in table.foreign_keys}
    beside |= {table.name for table in schema.tables if inside & {key.ref_table for key in table.foreign_keys}}
    rank = {table.name: (table.name not in inside, table.name not in beside) for table in schema.tables}
    chosen = sorted((table for table in schema.tables if table.kind == "table"), key=lambda table: rank[table.name])
    names = {table.name for table in chosen[:TABLES]}
    return [table for table in schema.tables if table.name in names]


def _known(table: Table, task: Task, context: Context) -> Entity | None:
    def read() -> Entity | None:
        return entity(table, sample_rows(context.db, table, ROWS), task.shown.dialect)

    masked = skip(context.db)
    hidden = tuple(column.name for column in table.columns if masked(table.name, column.name))
    return context.kept.get(("made", context.db.url, table, hidden), read)


def _choose(candidates: Iterable[Made], task: Task, wanted: Schema, context: Context, count: int) -> list[Shot]:
    """The best examples that run and find something, no feature twice while there are others; the best is last."""
    asked = set(words(task.question.text))
    scored = [(_score(one, asked, wanted), one) for one in candidates if harmless(one.shot)]
    scored.sort(key=lambda one: (-one[0], one[1].shot.sql))
    chosen: list[tuple[float, Shot]] = []
    features: Counter[str] = Counter()
    ends = time.monotonic() + SECONDS
    while scored and len(chosen) < count and time.monotonic() < ends:
        at = max(range(len(scored)), key=lambda index: scored[index][0] - features[scored[index][1].rule.name])
        score, best = scored.pop(at)
        if unlike(task, [best.shot]) and finds(run(best.shot.sql, context)):
            features[best.rule.name] += 1
            chosen.append((score, best.shot))
    return [shot for _, shot in sorted(chosen, key=lambda one: one[0])]


def _score(one: Made, asked: set[str], wanted: Schema) -> float:
    """How much an example has to do with a question: in the words that tell its form, its tables, its columns."""
    form = sum(1 / _spread()[word] for word in one.rule.cues if word in asked)
    tables = {table.name for table in wanted.tables}
    columns = {(table.name, column.name) for table in wanted.tables for column in table.columns}
    met = len(one.tables & tables) / len(one.tables | tables) if tables else 0.0
    return min(form, 1.0) + met + 0.25 * len(one.columns & columns) / max(len(one.columns), 1)


@cache
def _spread() -> Counter[str]:
    """How many rules each word calls for: one that calls for many says little."""
    return Counter(word for rule in rules() for word in rule.cues)
