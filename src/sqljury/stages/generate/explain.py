"""What a query does, in numbered sentences: find, match, keep, count, sort, deliver (CHASE-SQL, section 3.3).

The sentences come from the parsed query, the order of its tables and the ways to them from the engine's own plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from sqljury.db import readonly
from sqljury.errors import QueryRefusedError
from sqljury.sql import parse as parsing
from sqljury.stages.generate import query_parts as parts
from sqljury.stages.generate.engine_steps import Access, Block, blocks
from sqljury.stages.generate.phrases import Words, conjuncts, phrase

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Sentence:
    """One step of a query; ``how`` is the engine's way to do it, empty where its plan says nothing of it."""

    text: str
    how: str = ""


def explain(sql: str, dialect: str = "sqlite", rows: Iterable[Sequence[Any]] = ()) -> tuple[Sentence, ...]:
    """What the query does, step by step; the last sentence delivers its columns.

    ``rows`` are those of SQLite's EXPLAIN QUERY PLAN as ``engine_steps.ask`` gives them; without them tables are in
    the order the query has. Sentences refer to one another by number, from 1. Raises ``QueryRefusedError`` for what
    is no plain read.
    """
    readonly.check(sql, dialect)
    _, statement = readonly.parse(sql, dialect)
    try:
        parsing.check_writable(statement, dialect)
    except RecursionError as error:
        raise QueryRefusedError(str(error)) from None
    narrator = _Narrator(dialect, list(blocks(rows)))
    narrator.query(statement, "Deliver ", {})
    return tuple(narrator.sentences)


def numbered(sentences: Sequence[Sentence], *, ways: bool = False) -> str:
    """One sentence a line with its number, and with ``ways`` the engine's way in brackets."""
    told = (f"{one.text[:-1]} ({one.how})." if ways and one.how else one.text for one in sentences)
    return "\n".join(f"{number}. {text}" for number, text in enumerate(told, 1))


_SETS: Final = {
    "Union": "Put the results of steps {} and {} together",
    "Intersect": "Keep what is in the results of both step {} and step {}",
    "Except": "Keep what is in the result of step {} and not in that of step {}",
}


@dataclass(slots=True)
class _Narrator:
    """Goes through the tree and says what each part does; ``plan`` is what is left of the engine's."""

    dialect: str
    plan: list[Block]
    sentences: list[Sentence] = field(default_factory=list)
    opening: str = ""

    def say(self, text: str, how: str = "") -> int:
        """Add a sentence, on one line and as one that a reader can tell from the others; its number."""
        if self.opening:
            text, self.opening = f"{self.opening}{text[0].lower()}{text[1:]}", ""
        line = " ".join(text.split())
        self.sentences.append(Sentence(line, how))
        return len(self.sentences)

    def query(self, node: exp.Expr, closing: str, outer: dict[str, str]) -> int:
        """Tell a query and what it is built from; the number of the sentence that holds its result.

        ``closing`` begins that sentence and the columns end it, unless it ends with a full stop; ``outer`` are the
        tables of the queries around it.
        """
        from sqlglot import exp

        for cte in node.ctes if isinstance(node, exp.Query) else ():
            self.query(cte.this, f"Call the result {cte.alias}: ", {})
        if isinstance(node, exp.Subquery):
            inner = node.unnest()
            if any(node.args.get(part) for part in ("order", "limit", "offset")):
                number = self.query(inner, "Keep ", outer)
                return self._end(node, f"the result of step {number}", closing, Words(self.dialect))
            return self.query(inner, closing, outer)
        if isinstance(node, exp.SetOperation):
            return self._set(node, closing, outer)
        if isinstance(node, exp.Select):
            return _Select(self, node, outer).tell(closing)
        return self.say(_closed(closing, "the values written in the query"))

    def _set(self, node: exp.SetOperation, closing: str, outer: dict[str, str]) -> int:
        left = self.query(node.this, "Keep ", outer)
        right = self.query(node.expression, "Keep ", outer)
        text = _SETS[type(node).__name__].format(left, right)
        repeats = ", with repeats" if node.args.get("distinct") is False else ", without repeats"
        self.say(f"{text}{repeats}.")
        return self._end(node, "these rows", closing, Words(self.dialect))

    def _end(self, node: exp.Expr, columns: str, closing: str, words: Words, how: str = "") -> int:
        """Sort, cut and deliver."""
        if told := _order(node, words):
            self.say(told, how)
        return self.say(_closed(closing, columns))


def _closed(closing: str, columns: str) -> str:
    return closing if closing.endswith(".") else f"{closing}{columns}."


class _Select:
    """One SELECT: its tables in the order of the engine, each with the conditions that can be checked by then."""

    def __init__(self, narrator: _Narrator, node: exp.Select, outer: dict[str, str]) -> None:
        self.narrator, self.node, self.outer = narrator, node, outer
        self.sources = parts.sources(node, narrator.dialect)
        shown = {one.name.lower(): one.shown for one in self.sources}
        qualify = len(self.sources) > 1 or bool(parts.refers(node, set(outer)))
        self.words = Words(narrator.dialect, {**outer, **shown}, qualify)

    def tell(self, closing: str) -> int:
        """The sentences of this SELECT and of the queries inside it; the number of the last one."""
        block = self._block()
        self._derived()
        self._subqueries()
        where = self.node.args.get("where")
        waiting = conjuncts(where.this if where else None)
        self._tables(waiting)
        if waiting:
            self.narrator.say(f"Keep the rows where {self._all(waiting)}.")
        self._groups("in a temporary sorted list" if "group by" in block.sorts else "")
        columns = ", ".join(_delivered(one, self.words) for one in self.node.expressions)
        if self.node.args.get("distinct"):
            self.narrator.say(f"Take each different {columns} once.")
        how = "in a temporary sorted list" if any("order by" in one for one in block.sorts) else ""
        return self.narrator._end(self.node, columns, closing, self.words, how)

    def _block(self) -> Block:
        """The engine's steps for this SELECT, taken out of the plan; its tables put in the engine's order."""
        own = {one.name.lower() for one in self.sources}
        plan = self.narrator.plan
        best = max(plan, key=lambda block: (len(own & block.names), -len(block.names - own)), default=Block())
        if not own & best.names:
            return Block()
        plan.remove(best)
        places = {access.name.lower(): place for place, access in reversed(list(enumerate(best.tables)))}
        ways: dict[str, Access] = {access.name.lower(): access for access in best.tables}
        for source in self.sources:
            source.how = ways[source.name.lower()].how if source.name.lower() in ways else ""
        # What an outer join means, and one that names its columns or none, depends on the order it is written in.
        if not any(one.outer or one.using or one.natural for one in self.sources):
            self.sources.sort(key=lambda one: places.get(one.name.lower(), len(places)))
            self._connect()
        return best

    def _connect(self) -> None:
        """Put off tables that no condition connects with those before: the engine may use one that follows from two."""
        where = self.node.args.get("where")
        links = [one for source in self.sources for one in source.on] + conjuncts(where.this if where else None)
        links = [one for one in links if parts.matches(one)]
        waiting, self.sources = self.sources, []
        while waiting:
            known = {one.name.lower() for one in self.sources}
            connected = (
                one
                for one in waiting
                if any({c.table.lower() for c in parts.columns(link)} - known == {one.name.lower()} for link in links)
            )
            chosen = next(connected, waiting[0]) if known else waiting[0]
            waiting.remove(chosen)
            self.sources.append(chosen)

    def _derived(self) -> None:
        """Queries in the place of tables come first, under the name that this SELECT gives them."""
        from sqlglot import exp

        for source in parts.tables_of(self.node):
            if isinstance(source, exp.Subquery) and isinstance(source.unnest(), exp.Query):
                name = source.alias
                closing = f"Call the result {name}: " if name else "Keep "
                number = self.narrator.query(source.unnest(), closing, self.outer)
                for one in self.sources:
                    if one.name == name and not name:
                        one.called = f"the result of step {number}"

    def _subqueries(self) -> None:
        """Queries inside conditions and columns come next; what they found is spoken of by number."""
        from sqlglot import exp

        results: dict[int, int] = {}
        for inner in parts.inner_queries(self.node):
            correlated = parts.refers(inner, set(self.words.tables))
            if correlated:
                shown = ", ".join(sorted({self.words.tables[name] for name in correlated}))
                self.narrator.opening = f"For each row of {shown} below: "
            closing = "See whether there is such a row." if isinstance(inner.parent, exp.Exists) else "Keep "
            results[id(inner)] = self.narrator.query(inner, closing, dict(self.words.tables))
        self.words = replace(self.words, results=results)

    def _tables(self, waiting: list[exp.Expr]) -> None:
        """Each table with the conditions of ``waiting`` and of joins that can be checked once it is there.

        After an outer join conditions of WHERE stay where they are, as they see the rows that found no match.
        """
        late = any(one.outer in ("RIGHT", "FULL") for one in self.sources)
        pool = [part for one in self.sources if not one.outer for part in one.on]
        known: set[str] = set()
        for place, source in enumerate(self.sources):
            known.add(source.name.lower())
            late = late or bool(source.outer)
            if late:
                ready = list(source.on) if source.outer else self._take(pool, known)
            else:
                ready = self._take(pool, known) + self._take(waiting, known)
            self._table(source, ready, first=place == 0)
        waiting[:0] = pool

    def _take(self, pool: list[exp.Expr], known: set[str]) -> list[exp.Expr]:
        """What can be checked now; a column without its table's name may be any table's, so it waits for the last."""
        ready = [one for one in pool if len(known) == len(self.sources) or parts.ready(one, known | set(self.outer))]
        pool[:] = [one for one in pool if one not in ready]
        return ready

    def _table(self, source: parts.Source, ready: list[exp.Expr], *, first: bool) -> None:
        matching = [] if first else [one for one in ready if parts.matches(one)]
        where = self._all([one for one in ready if one not in matching])
        told = [*(phrase(one, self.words) for one in matching), *(f"equal {name}" for name in source.using)]
        if first:
            text = f"Find the rows of {source.called}"
        elif told or source.outer:
            text = f"Match each with {source.called}" + (f" on {' and '.join(told)}" if told else "")
        elif source.natural:
            text = f"Match each with {source.called} on all columns of the same name"
        else:
            text = f"Combine each with every row of {source.called}"
        comma = "" if first else ","
        text += f"{comma} where {where}" if where else ""
        self.narrator.say(f"{text}{_UNMATCHED.get(source.outer, '')}.", source.how)

    def _groups(self, how: str) -> None:
        """Put rows together, compute what is computed of each group, and keep the groups that HAVING wants."""
        group, having = self.node.args.get("group"), self.node.args.get("having")
        computed = ", ".join(_aggregates(self.node, self.words))
        keys = ", ".join(phrase(parts.named(one, self.node), self.words) for one in group.expressions) if group else ""
        if keys:
            each = f"; for each group take {computed}" if computed else ""
            self.narrator.say(f"Group the rows by {keys}{each}.", how)
        elif computed and having:
            self.narrator.say(f"Over all these rows take {computed}.")
        if having:
            kept = "groups" if keys else "result"
            words = replace(self.words, aliases=parts.aliases(self.node))
            told = " and ".join(_bracketed(one, words) for one in conjuncts(having.this))
            self.narrator.say(f"Keep the {kept} where {told}.")

    def _all(self, conditions: list[exp.Expr]) -> str:
        return " and ".join(_bracketed(one, self.words) for one in conditions)


_UNMATCHED: Final = {
    "LEFT": "; keep those that have none too",
    "RIGHT": "; keep its rows that match none too",
    "FULL": "; keep what has no match on either side too",
}


def _aggregates(node: exp.Select, words: Words) -> list[str]:
    """What is computed of each group, once each, sub-queries and windows aside."""
    from sqlglot import exp

    told: dict[str, None] = {}
    clauses = [*node.expressions, node.args.get("having"), node.args.get("order")]
    stack = [part for part in reversed(clauses) if part is not None]
    while stack:
        one = stack.pop()
        if isinstance(one, exp.Window | exp.Query):
            continue
        if isinstance(one, exp.AggFunc):
            told[phrase(one, words)] = None
            continue
        stack += reversed(list(one.iter_expressions()))
    return list(told)


def _delivered(one: exp.Expr, words: Words) -> str:
    """A column of the result; its own name where the query gives one."""
    from sqlglot import exp

    if isinstance(one, exp.Star):
        return "all columns"
    if isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
        return f"all columns of {words.tables.get(one.table.lower(), one.table)}"
    told = phrase(one.unalias(), words)
    return f"{told} as {one.args['alias'].sql(dialect=words.dialect)}" if isinstance(one, exp.Alias) else told


def _order(node: exp.Expr, words: Words) -> str:
    """The sentence for ORDER BY, LIMIT and OFFSET, empty where there is none of them."""
    order, limit, offset = (node.args.get(part) for part in ("order", "limit", "offset"))
    said = []
    if order:
        keys = []
        for key in order.expressions:
            told = phrase(parts.named(key.this, node), words)
            keys.append(f"column {told}" if told.isdigit() else told)
            keys[-1] += ", largest first" if key.args.get("desc") else ", smallest first"
        said.append(f"sort by {', then by '.join(keys)}")
    if offset:
        said.append(f"skip the first {phrase(offset.expression, words)}")
    if limit:
        said.append(f"keep the first {phrase(limit.expression, words)}")
    told = "; ".join(said)
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _bracketed(condition: exp.Expr, words: Words) -> str:
    """A condition that can stand beside others."""
    from sqlglot import exp

    told = phrase(condition, words)
    return f"({told})" if isinstance(condition, exp.Or) else told
