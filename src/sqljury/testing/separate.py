"""Small databases on which candidate queries differ: drawn at random, chosen for the difference, made for it.

Test-suite generation of Li & Xie 2024 (section 3, Algorithm 1), with a search where random selection gives up, and with
the paper's rule of which databases are kept beside a stricter one (``Search.keep``). What is found is made small by
delta debugging over rows (Zeller & Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input", section 3,
without its tests of single parts): a removed row takes those that refer to it along.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

from sqljury.recipes.parts import KeptCases
from sqljury.testing.draw import MTS, Origin, select, small_numbers
from sqljury.testing.fuzz import fuzz
from sqljury.testing.mutate import Mutator
from sqljury.testing.shape import Rows, Shape, size
from sqljury.testing.trial import Pair, Trial, finds, pairs_of
from sqljury.types import TestCase

MOST_DETACHED: Final = 24
"""Rows up to which references are changed to remove more; a larger database is not read by eye anyway."""


def minimised(
    shape: Shape, rows: Rows, holds: Callable[[Rows], bool], over: Callable[[], bool] = lambda: False
) -> Rows:
    """As few rows as it takes for ``holds``, which is true of ``rows``; once ``over`` is true, the fewest so far.

    Rows stay as they are, but for references that are changed where fewer rows are needed then. Takes about
    ``r * log(n)`` calls of ``holds`` to leave ``r`` of ``n`` rows.
    """
    chunk = max(1, size(rows) // 2)
    while not over():
        fewer = _thinned(shape, rows, chunk, holds, over)
        if size(fewer) == size(rows):
            if chunk == 1:
                break
            chunk //= 2
        rows, chunk = fewer, max(1, min(chunk, size(fewer) // 2))
    return _detached(shape, rows, holds, over) if size(rows) <= MOST_DETACHED else rows


def _detached(shape: Shape, rows: Rows, holds: Callable[[Rows], bool], over: Callable[[], bool]) -> Rows:
    """Fewer rows by references changed to NULL or to another row."""
    changed = True
    while changed:
        changed = False
        for variant in _references(shape, rows):
            if over():
                return rows
            if holds(variant):
                fewer = _thinned(shape, variant, 1, holds, over)
                if size(fewer) < size(rows):
                    rows, changed = fewer, True
                    break
    return rows


def _references(shape: Shape, rows: Rows) -> Iterator[Rows]:
    """The rows with one reference changed, for each reference and each change."""
    for link in shape.links:
        optional = shape.optional(link.child).intersection(link.columns)
        for index, row in enumerate(rows[link.child]):
            if link.wanted(row) is None:
                continue
            cut = tuple(None if at in optional else cell for at, cell in enumerate(row))
            for changed in [cut] if optional else [link.pointed(row, parent) for parent in rows[link.parent]]:
                if changed != row:
                    held = rows[link.child]
                    yield shape.closed({**rows, link.child: [*held[:index], changed, *held[index + 1 :]]})


def _thinned(shape: Shape, rows: Rows, chunk: int, holds: Callable[[Rows], bool], over: Callable[[], bool]) -> Rows:
    """The rows without those of their chunks that are not needed."""
    start = 0
    while start < size(rows) and not over():
        fewer = shape.closed(_without(shape, rows, start, chunk))
        if holds(fewer):
            rows = fewer
        else:
            start += chunk
    return rows


def _without(shape: Shape, rows: Rows, start: int, count: int) -> Rows:
    """All but ``count`` rows from the one at ``start``, counted over all tables, referencing ones first."""
    kept, passed = {}, 0
    for name in shape.children_first():
        held = rows[name]
        first, last = (min(max(0, number - passed), len(held)) for number in (start, start + count))
        kept[name] = held[:first] + held[last:]
        passed += len(held)
    return kept


How = Literal["drawn", "real", "mutated", "fuzzed"]


@dataclass(frozen=True, slots=True)
class Search:
    """The limits of a search: ``cases`` to keep, databases to draw or make (``tries``), wall seconds.

    ``size`` is the paper's maximum table size of rows drawn at random, ``numbers`` its number constraint for them.
    ``keep`` says which databases are kept, see ``separate``. With ``fuzzing`` none has a row of the origin's pool: rows
    are made up (section 2.1), and ``how`` is always ``fuzzed``. Without ``reduce`` a database drawn at random is kept
    with all its rows, as in the paper. Equal seeds give equal databases as long as time does not run out.
    """

    cases: int = 10
    tries: int = 3_000
    seconds: float = 5.0
    size: int = MTS
    numbers: bool = True
    seed: str = ""
    keep: KeptCases = "pairs"
    fuzzing: bool = False
    reduce: bool = True


DEFAULT: Final = Search()

READABLE: Final = 6
"""Rows that a person can check by eye."""

SMALLER: Final = 300
"""Databases tried for fewer rows where those found are more than ``READABLE``."""

BOTH: Final = 100
"""Databases tried before one is taken on which only one of two queries finds something (``trial.finds``)."""

PATIENCE: Final = 200
"""Databases tried before one is taken on which two queries differ but neither finds anything: NULL is not 0."""

NATURAL: Final = 80
"""Databases made from real rows that are tried before made-up ones."""


@dataclass(frozen=True, slots=True)
class Separation:
    """The databases found; ``classes`` has for each the class of each query, the index of its first query.

    ``how`` is the origin of each: ``drawn`` at random, ``real`` rows chosen because results differ on them, rows
    ``mutated`` or ``fuzzed``. ``together`` are the pairs of queries that differ on none: they may mean the same.
    ``looked_at`` counts the databases drawn or made, not those that minimising tried.
    """

    cases: tuple[TestCase, ...]
    classes: tuple[tuple[int, ...], ...]
    how: tuple[How, ...]
    together: tuple[Pair, ...]
    looked_at: int


def separate(
    origin: Origin, queries: Sequence[str], search: Search = DEFAULT, cancel: threading.Event | None = None
) -> Separation:
    """Find small databases, until every pair of these queries in SQLite's dialect differs on one of them.

    Kept are those on which a pair differs that differs on none before (``pairs``), or those that put the queries into
    other classes than any before (``classes``, Algorithm 1). With ``all`` every one on which some pair differs is kept,
    also once all pairs have been told apart, until there are ``search.cases``: tests with the same classes are the
    redundancy of section 5.3. A database on which all queries agree is never kept, for it favours none.

    Each is made as small as possible while those pairs differ on it for which it is kept (``Search.reduce``). If
    possible both queries find something there, else one of them: an empty against a non-empty result is weak evidence
    (TS-SQL, section 3, non-duality). Once ``cancel`` is set the search ends. Raises ``DatabaseError`` when SQLite does
    not take the schema.
    """
    with Trial(origin.shape, queries) as trial:
        return _Separator(origin, trial, search, cancel).run()


class _Separator:
    def __init__(self, origin: Origin, trial: Trial, search: Search, cancel: threading.Event | None) -> None:
        self._origin = origin
        self._trial = trial
        self._search = search
        self._cancel = cancel
        self._rng = random.Random(f"{search.seed}|separate")  # noqa: S311 - no secret
        self._mutator = Mutator(origin, self._rng)
        self._deadline = time.monotonic() + search.seconds
        self._looked_at = 0
        self._pairs = pairs_of(len(trial.queries))
        self._together = set(self._pairs)
        self._kept: list[tuple[TestCase, tuple[int, ...], How]] = []
        self._witnesses: dict[int, Rows] = {}

    def run(self) -> Separation:
        databases = self._databases()
        while not self._done():
            how, rows = next(databases)
            as_drawn = not self._search.reduce and self._looked_at < self._search.cases
            self._look(how, rows, reduce=not as_drawn)
        cases, classes, origins = zip(*self._kept, strict=True) if self._kept else ((), (), ())
        return Separation(cases, classes, origins, tuple(sorted(self._together)), self._looked_at)

    def _done(self) -> bool:
        told_apart = not self._pairs if self._search.keep == "all" else not self._together
        enough = told_apart or len(self._kept) >= self._search.cases
        return enough or self._looked_at >= self._search.tries or self._late()

    def _late(self) -> bool:
        return time.monotonic() >= self._deadline or (self._cancel is not None and self._cancel.is_set())

    def _look(self, how: How, rows: Rows, reduce: bool) -> None:
        """Keep the database, made smaller if ``reduce``, if ``search.keep`` asks for it."""
        self._looked_at += 1
        if not self._trial.load(rows):
            rows = self._trial.mended(rows)
        least = 2 if self._looked_at <= BOTH else 1 if self._looked_at <= PATIENCE else 0
        among = self._together if self._search.keep == "pairs" else self._pairs
        new = frozenset(pair for pair in self._trial.apart(among) if self._finding(pair) >= least)
        if not new or not self._is_new(rows):
            return
        if reduce:
            rows, how = self._smaller(self._minimised(rows, new), how, new)
            self._trial.load(rows)
            if not self._is_new(rows):
                return
        self._together -= self._trial.apart(self._together)
        self._kept.append((self._origin.shape.case(rows), self._trial.classes(), how))

    def _is_new(self, rows: Rows) -> bool:
        """Whether the loaded database, whose rows these are, is other than those that are kept."""
        if self._search.keep == "classes":
            classes = self._trial.classes()
            return all(classes != kept for _, kept, _ in self._kept)
        return self._search.keep == "pairs" or self._origin.shape.case(rows) not in [case for case, _, _ in self._kept]

    def _minimised(self, rows: Rows, pairs: Collection[Pair]) -> Rows:
        finding = self._findings(pairs)
        return minimised(self._origin.shape, rows, lambda fewer: self._shows(fewer, finding), self._late)

    def _smaller(self, rows: Rows, how: How, pairs: Collection[Pair]) -> tuple[Rows, How]:
        """Other rows on which the pairs differ too, where these are more than ``READABLE``.

        Removing rows ends at a local minimum: of two groups of 100 rows that tie, none can be removed.
        """
        self._trial.load(rows)
        finding = self._findings(pairs)
        for number in range(SMALLER):
            if size(rows) <= READABLE or self._late():
                break
            variant = self._mutator.changed(self._base(number, f"{self._search.seed}|smaller|{number}"))
            if self._shows(variant, finding):
                fewer = self._minimised(variant, pairs)
                if size(fewer) < size(rows):
                    rows, how = fewer, self._label("mutated")
        return rows, how

    def _shows(self, rows: Rows, finding: Mapping[Pair, int]) -> bool:
        """Whether all the pairs differ there, and at least as many of each pair find something."""
        if not self._trial.load(rows) or any(self._finding(pair) < least for pair, least in finding.items()):
            return False
        return self._trial.apart(finding) == finding.keys()

    def _findings(self, pairs: Collection[Pair]) -> dict[Pair, int]:
        return {pair: self._finding(pair) for pair in pairs}

    def _finding(self, pair: Pair) -> int:
        """How many of the two queries find something."""
        return sum(finds(self._trial.results[query]) for query in pair)

    def _databases(self) -> Iterator[tuple[How, Rows]]:
        """Cheap and natural ones first."""
        for number in range(self._search.cases):
            yield self._label("drawn"), self._drawn(f"{self._search.seed}|{number}")
        yield self._label("real"), self._origin.pool
        for number in count():
            seed = f"{self._search.seed}|{number}"
            if number >= NATURAL and number % 4 == 3:
                yield "fuzzed", fuzz(self._origin.shape.schema, self._origin.sources, seed)
            else:
                yield self._label("mutated"), self._mutator.changed(self._base(number, seed))

    def _label(self, how: How) -> How:
        return "fuzzed" if self._search.fuzzing else how

    def _drawn(self, seed: str) -> Rows:
        origin = self._origin
        if self._search.fuzzing:
            origin = replace(origin, pool=fuzz(origin.shape.schema, origin.sources, seed))
        rows = select(origin, seed, self._search.size)
        changed = small_numbers(origin, rows, seed) if self._search.numbers else rows
        return changed if self._trial.load(changed) else rows

    def _base(self, number: int, seed: str) -> Rows:
        """Rows to change: those by which one of two queries finds something, some drawn at random, or both."""
        drawn = select(self._origin, seed, self._rng.randint(2, 8)) if number % 4 else None
        if number % 4 == 2 and drawn is not None:
            return drawn
        query = self._rng.choice(self._rng.choice(sorted(self._together or self._pairs)))
        witness = self._witness(query)
        if drawn is None:
            return witness
        return {name: list(dict.fromkeys([*witness[name], *drawn[name]])) for name in witness}

    def _witness(self, query: int) -> Rows:
        """The fewest real rows by which this query finds something, the smallest draw where there are none."""
        if query not in self._witnesses:
            pool = self._origin.pool
            if self._returns(pool, query):
                rows = minimised(self._origin.shape, pool, lambda rows: self._returns(rows, query), self._late)
            else:
                rows = select(self._origin, f"{self._search.seed}|witness", 2)
            self._witnesses[query] = rows
        return self._witnesses[query]

    def _returns(self, rows: Rows, query: int) -> bool:
        return self._trial.load(rows) and finds(self._trial.results[query])
