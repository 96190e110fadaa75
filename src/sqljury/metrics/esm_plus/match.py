"""Whether SQLite accepts a query on a schema, asked of an empty database: nothing is run.

Numbers of tables that are in FROM more than once, which strict mode tells apart as ``t``, ``t:2``, ...

ESM+: exact set match that looks at all of a query and knows 20 equivalences (ESM+ paper, section 3.3, Table 1).

Both queries are read, rewritten by the rules that the schema allows, and compared clause by clause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, permutations, product
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.errors import DatabaseError, InputError
from sqljury.metrics.esm_plus.assumptions import Facts
from sqljury.metrics.esm_plus.compare import Compared, differing_clauses
from sqljury.metrics.esm_plus.reader import read
from sqljury.metrics.esm_plus.render import render
from sqljury.metrics.esm_plus.rules import NUMBERS, PUBLISHED_RULES, Fired, Rewriter
from sqljury.metrics.esm_plus.strict.reader import read_strictly
from sqljury.metrics.esm_plus.strict.rules import STRICT_RULES
from sqljury.metrics.esm_plus.structure import Query, columns, flat, grouped, renamed, table_of, without_distinct
from sqljury.metrics.spider.structure import Names
from sqljury.sql.scan import length_fault
from sqljury.types import Limits

LIMITS: Final = Limits(seconds=5.0)
"""For compiling one query, which can take as long as one likes."""


def is_valid(sql: str, names: Names) -> bool:
    """Whether the query can be compiled on the schema.

    Only for queries that begin with SELECT or a parenthesis: SQLite acts on some PRAGMAs while it compiles them.
    """
    ddl = tuple(
        (table, f"CREATE TABLE {_quoted(table)} ({', '.join(map(_quoted, columns))})")
        for table, columns in names.tables.items()
    )
    try:
        return _empty_database(ddl).compiles(sql, LIMITS)
    except DatabaseError:
        return False


@lru_cache(maxsize=64)
def _empty_database(ddl: tuple[tuple[str, str], ...]) -> MemoryDatabase:
    """One for each schema."""
    return MemoryDatabase(dict(ddl))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def renumbered(query: Query) -> Iterator[Query]:
    """The query with those numbers given out in every other order."""
    uses: dict[str, list[str]] = defaultdict(list)
    for table in query.tables:
        if isinstance(table, str):
            uses[table.partition(":")[0]].append(table)
    several = [occurrences for occurrences in uses.values() if 1 < len(occurrences) <= 4]
    used = set(columns(query))
    for orders in product(*map(permutations, several)):
        renumbering = dict(zip(chain(*several), chain(*orders), strict=True))
        if all(old == new for old, new in renumbering.items()):
            continue
        names = {
            name: renumbering[table] + name[len(table) :] for name in used if (table := table_of(name)) in renumbering
        }
        tables = tuple(renumbering.get(table, table) if isinstance(table, str) else table for table in query.tables)
        yield replace(renamed(query, names), tables=tables)


@dataclass(frozen=True, slots=True)
class Options:
    """How to judge; the defaults are the paper's.

    ``disabled`` holds numbers of rules, 1 to 20. Without ``values`` or ``distinct`` these are not compared, as in
    scores of the older ESM. ``strict`` is a metric of its own that goes beyond the paper's limits (section 7): its
    verdicts are not those published as ESM+. Raises ``InputError`` for the number of no rule.
    """

    disabled: frozenset[int] = frozenset()
    values: bool = True
    distinct: bool = True
    strict: bool = False

    def __post_init__(self) -> None:
        if unknown := self.disabled - NUMBERS:
            wrong = ", ".join(map(str, sorted(unknown)))
            raise InputError(f"ESM+ has no rule {wrong}; give numbers from 1 to {max(NUMBERS)}")


PUBLISHED: Final = Options()
STRICT: Final = Options(strict=True)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two queries: rewritten, as SQL, with the rules that fired in order; or why it cannot be judged."""

    sql: str = ""
    fired: tuple[Fired, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """The verdict on a pair; ``differs`` names the clauses in which the rewritten queries are not the same."""

    matches: bool
    gold: Side
    predicted: Side
    differs: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[int, ...]:
        """The numbers of the rules that changed either query."""
        return tuple(sorted({fired.rule for side in (self.gold, self.predicted) for fired in side.fired}))


def esm_plus(gold: str, predicted: str, facts: Facts, options: Options = PUBLISHED) -> Match:
    """Whether two queries match (ESM+ paper, section 3.3).

    A query that cannot be read matches none, nor does a prediction that SQLite would not compile; ``error`` of its side
    says so. Nothing is raised for what a query holds.
    """
    gold_query, gold_side = _rewritten(gold, facts, options)
    predicted_query, predicted_side = _rewritten(predicted, facts, options)
    if predicted_query is not None and not is_valid(predicted, facts.names):
        predicted_query, predicted_side = (
            None,
            replace(predicted_side, error="SQLite does not accept it on this schema"),
        )
    if gold_query is None or predicted_query is None:
        return Match(False, gold_side, predicted_side)
    differs = _differences(gold_query, predicted_query, options)
    return Match(not differs, gold_side, predicted_side, differs)


def deciding_rules(gold: str, predicted: str, facts: Facts, options: Options = PUBLISHED) -> tuple[int, ...]:
    """The rules without any one of which a pair that matches would not; empty for a pair that does not match."""
    match = esm_plus(gold, predicted, facts, options)
    if not match.matches:
        return ()
    less = {number: replace(options, disabled=options.disabled | {number}) for number in match.rules}
    return tuple(number for number in match.rules if not esm_plus(gold, predicted, facts, less[number]).matches)


def _rewritten(sql: str, facts: Facts, options: Options) -> tuple[Query | None, Side]:
    rules = STRICT_RULES if options.strict else PUBLISHED_RULES
    active = [(number, rule) for number, rule in rules if number not in options.disabled]
    rewriter = Rewriter(active, grouped if options.strict else flat)
    if why := length_fault(sql):
        return None, Side(error=why)
    try:
        if options.strict:
            query = read_strictly(sql, facts.names)
        else:
            query, bare = read(sql, facts.names, bare_aliases=14 not in options.disabled)
            if bare:
                rewriter.fired.append(Fired(14, ()))
        query = rewriter.rewrite(query if options.distinct else without_distinct(query), facts)
        return query, Side(render(query), tuple(rewriter.fired))
    except InputError as error:
        return None, Side(error=str(error))
    except RecursionError:
        return None, Side(error="nested too deeply")


def _differences(gold: Query, predicted: Query, options: Options) -> tuple[str, ...]:
    compared = Compared(options.values, options.strict)
    first = differing_clauses(gold, predicted, compared)
    if not options.strict or not first:
        return first
    # Which of two uses of a table is the first one says nothing, so a match under any numbering is one.
    others = islice(renumbered(predicted), 24)
    return () if any(not differing_clauses(gold, other, compared) for other in others) else first
