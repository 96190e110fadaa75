"""Build the suite of one database: fuzz many, keep the few that tell the most neighbours from their gold queries.

Zhong et al. 2020, section 4. One thing differs: a gold query counts on a database only where neither a tie nor the
order in which rows are stored matters to its answer, for with a tie behind LIMIT 1 any of the tied is right.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.db.base import Database, Runs
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError
from sqljury.metrics.execution import EXE, EXE_KEEP_DISTINCT, judge
from sqljury.parallel.crew import Crew
from sqljury.parallel.processes import Tell, Work, map_processes
from sqljury.resources import write_whole
from sqljury.schema.introspect import introspect
from sqljury.sql.mutate import MAX_NEIGHBOURS, neighbours
from sqljury.sql.resolve import column_names
from sqljury.sql.tree import facts_of, tree_of
from sqljury.testing.cells import sampled, sources
from sqljury.testing.fuzz import fuzz
from sqljury.testing.store import VERSION, Entry, Member, file_hash, query_hash, write_database
from sqljury.testing.ties import Ranked, decided, ranked
from sqljury.types import Limits, Schema

RULES: Final = EXE_KEEP_DISTINCT
LIMITS: Final = Limits(seconds=2.0, rows=10_000, bytes=16 * 1024 * 1024)
"""For one query at build; on the small databases here only a query that explodes needs more."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to build: how many databases to fuzz and at most keep, neighbours a query, and where NULL may stand.

    Without ``nulls`` only columns of which the user's database holds a NULL get some.
    """

    seed: int = 0
    candidates: int = 16
    databases: int = 8
    neighbours: int = MAX_NEIGHBOURS
    nulls: bool = False


DEFAULT: Final = Settings()


class Job(NamedTuple):
    """A database, by its name and its file, and the gold queries that its suite is for."""

    name: str
    database: Path
    golds: tuple[str, ...]


class Built(NamedTuple):
    """A suite, with the content of its files."""

    name: str
    entry: Entry
    files: dict[str, bytes]

    def save(self, folder: Path) -> None:
        """Write the files; those of an earlier suite there that are not written again stay."""
        (folder / self.name).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            write_whole(folder / self.name / name, content)


class Reading(NamedTuple):
    """A gold query as one EXE runs it, whether the order of its rows counts, and what shows its ties."""

    sql: str
    ordered: bool
    ties: tuple[Ranked, ...] | None


class _Group(NamedTuple):
    """A gold query and its neighbours."""

    gold: str
    readings: tuple[Reading, ...]
    neighbours: tuple[str, ...]


class _Candidate(NamedTuple):
    file: Path
    seed: str
    database: Database
    plain: Database


def inputs_hash(schema: Schema, database: Path, golds: Iterable[str], settings: Settings = DEFAULT) -> str:
    """A hash of all that decides how the suite of this database comes out."""
    parts = [VERSION, asdict(schema), file_hash(database), sorted(set(golds)), asdict(settings)]
    return sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def build_all(
    jobs: Sequence[Job],
    settings: Settings = DEFAULT,
    processes: int | Crew = 1,
    on_built: Callable[[Built], None] = lambda _: None,
) -> list[Built]:
    """The suites of several databases, in as many processes, or by a crew, which needs no folder of the suite's.

    ``on_built`` gets each suite as soon as it is built. Raises ``DatabaseError`` as ``build`` does.
    """
    files = [job.database for job in jobs]
    builder = _Builder(settings)
    return map_processes(
        builder.begin, jobs, builder.lost, silence=inf, processes=processes, on_result=on_built, files=files
    )


@dataclass(frozen=True)
class _Builder:
    """The work of one process."""

    settings: Settings

    def begin(self) -> Work[Job, Built]:
        return self._built

    def lost(self, job: Job, why: str, _: object) -> Built:
        raise DatabaseError(f"{job.database}: its suite cannot be built; {why}")

    def _built(self, job: Job, _: Tell) -> Built:
        with connect(job.database) as db:
            schema = introspect(db)
        with tempfile.TemporaryDirectory(prefix="sqljury-suite-") as folder:
            entry = build(schema, job.database, job.golds, Path(folder), self.settings)
            files = {member.file: (Path(folder) / member.file).read_bytes() for member in entry.members}
        return Built(job.name, entry, files)


def build(schema: Schema, database: Path, golds: Sequence[str], folder: Path, settings: Settings = DEFAULT) -> Entry:
    """Write the suite for these gold queries into ``folder`` and describe it; the user's database is only read.

    Files of an earlier suite there that are not written again stay. Raises ``DatabaseError`` when the database cannot
    be read or its schema not be written anew.
    """
    distinct = list(dict.fromkeys(golds))
    folder.mkdir(parents=True, exist_ok=True)
    with connect(database) as db:
        columns = column_names(schema)
        trees = [tree for tree in (tree_of(sql, columns) for sql in distinct) if tree is not None]
        drawn = sources(schema, sampled(schema, db), facts_of(trees), settings.nulls)
    groups = [
        _Group(sql, readings(sql, columns), neighbours(sql, columns, settings.neighbours, settings.seed))
        for sql in distinct
    ]
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        candidates = []
        for number in range(settings.candidates):
            seed = f"{settings.seed}|{schema.name}|{number}"
            rows = fuzz(schema, drawn, seed)
            file, plain = scratch / f"fuzz_{number:03}.sqlite", scratch / f"plain_{number:03}.sqlite"
            write_database(file, schema, rows)
            write_database(plain, schema, rows, plain=True)
            opened = [stack.enter_context(connect(path)) for path in (file, plain)]
            candidates.append(_Candidate(file, seed, *opened))
        kills, unsettled, ran = _tell_apart(groups, candidates)
        kept = greedy(kills, settings.databases)
        members = tuple(_keep(candidates[number], folder, new, unsettled[number]) for number, new in kept)
    hashes = tuple(query_hash(sql) for sql in distinct)
    return Entry(inputs_hash(schema, database, golds, settings), ran, sum(new for _, new in kept), hashes, members)


def greedy(kills: Sequence[set[tuple[int, int]]], most: int) -> list[tuple[int, int]]:
    """At most ``most`` of the sets, each the one that adds most to those before: its number and what it adds."""
    chosen: list[tuple[int, int]] = []
    covered: set[tuple[int, int]] = set()
    while len(chosen) < most and kills:
        best = max(range(len(kills)), key=lambda number: (len(kills[number] - covered), -number))
        new = len(kills[best] - covered)
        if not new:
            break
        chosen.append((best, new))
        covered |= kills[best]
    return chosen


def readings(sql: str, columns: Collection[str] = ()) -> tuple[Reading, ...]:
    """The gold query as each EXE runs it; ``columns`` are the schema's column names in lower case."""
    by_sql: dict[str, Reading] = {}
    for rules in (EXE_KEEP_DISTINCT, EXE):
        prepared, ordered = rules.prepare(sql), rules.ordered(sql)
        if prepared not in by_sql:
            by_sql[prepared] = Reading(prepared, ordered, ranked(prepared, columns, ordered=ordered))
    return tuple(by_sql.values())


def settled(database: Runs, plain: Runs, gold: Iterable[Reading]) -> bool:
    """Whether gold runs here and its answer, by either EXE, hangs neither on ties nor on how rows are stored."""
    for reading in gold:
        result = database.execute(reading.sql, LIMITS)
        if not result.ok or result.truncated:
            return False
        if not judge(result, plain.execute(reading.sql, LIMITS), reading.ordered).correct:
            return False
        if not decided(database, reading.ties, LIMITS):
            return False
    return True


def _tell_apart(
    groups: Sequence[_Group], candidates: Sequence[_Candidate]
) -> tuple[list[set[tuple[int, int]]], list[tuple[str, ...]], int]:
    """By candidate the neighbours it tells from gold and the queries that do not count; how many neighbours ran."""
    kills: list[set[tuple[int, int]]] = [set() for _ in candidates]
    unsettled: list[list[str]] = [[] for _ in candidates]
    ran: set[tuple[int, int]] = set()
    for at, group in enumerate(groups):
        ordered, expected = RULES.ordered(group.gold), {}
        for number, candidate in enumerate(candidates):
            if settled(candidate.database, candidate.plain, group.readings):
                expected[number] = candidate.database.execute(RULES.prepare(group.gold), LIMITS)
            else:
                unsettled[number].append(query_hash(group.gold))
        # Query by query, not database by database, for the check of a query is remembered for a while only.
        for neighbour, sql in enumerate(group.neighbours):
            for number, gold in expected.items():
                result = candidates[number].database.execute(RULES.prepare(sql), LIMITS)
                if result.ok:
                    ran.add((at, neighbour))
                    if not judge(gold, result, ordered).correct:
                        kills[number].add((at, neighbour))
    return kills, [tuple(hashes) for hashes in unsettled], len(ran)


def _keep(candidate: _Candidate, folder: Path, kills: int, unsettled: tuple[str, ...]) -> Member:
    candidate.database.close()
    kept = candidate.file.replace(folder / candidate.file.name)
    return Member(kept.name, candidate.seed, file_hash(kept), kills, unsettled)
