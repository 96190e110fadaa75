"""Whether predictions are for the questions beside which they stand, by the databases and tables that they name.

A file for another dataset, in another order, or with one line lost and another added may have as many queries as there
are questions; only the names show it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from sqljury.datasets.pairs import Prediction
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError
from sqljury.sql.parse import MAX_SQL_CHARS
from sqljury.sql.scan import named_tables

Tables = Mapping[str, Collection[str]]
"""The tables of each database in lower case; databases whose tables are not known are missing."""

NAMED: Final = 5
"""Lines that an error names of those that are wrong in the same way."""

STRANGE: Final = 3
"""Fewer lines that name tables of other databases may be mistakes of their system."""

MOST_UNKNOWN: Final = 0.9
"""Of a file more than this share names tables that no database of the questions has: it is for other questions."""

MOST_SHIFT: Final = 3
"""Lines that may have been lost, or be too many, in a file that is found to be shifted."""


@dataclass(frozen=True, slots=True)
class Shift:
    """``lines`` that are for the questions ``by`` places later, or earlier where it is negative.

    They are those whose names show it, ``start`` is the index of the first of them.
    """

    start: int
    by: int
    lines: int


@dataclass(frozen=True, slots=True)
class _Names:
    """What a prediction at ``place`` names: the database that it is said to be for, or None, and its tables."""

    place: str
    db_id: str | None
    tables: tuple[str, ...]

    @classmethod
    def of(cls, prediction: Prediction) -> Self:
        short = len(prediction.sql) <= MAX_SQL_CHARS  # others are not used
        return cls(prediction.place, prediction.db_id, tuple(named_tables(prediction.sql)) if short else ())

    def lacking(self, db_id: str, tables: Tables) -> tuple[str, ...]:
        """The tables that a database lacks, none if its tables are not known; SQLite has catalogues of its own."""
        known = tables.get(db_id)
        if known is None:
            return ()
        return tuple(
            table for table in self.tables if table.lower() not in known and not table.lower().startswith("sqlite_")
        )

    def are_elsewhere(self, db_id: str, tables: Tables) -> bool:
        """Whether they are those of another database."""
        return self.db_id not in (None, db_id) or bool(self.lacking(db_id, tables))


@dataclass(frozen=True, slots=True)
class _Stranger:
    """A prediction that names tables which its question's database lacks."""

    place: str
    db_id: str
    lacking: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place}: the database {self.db_id!r} has no table {self.lacking[0]!r}"


@dataclass(frozen=True)
class Alignment:
    """The names in a file's predictions beside the databases of the questions, of which there may be another number."""

    groups: tuple[tuple[_Names, ...], ...]
    databases: tuple[str, ...]
    tables: Tables

    @classmethod
    def of(cls, groups: Sequence[Sequence[Prediction]], examples: Sequence[Example], tables: Tables) -> Self:
        """Of the predictions for each question."""
        names = tuple(tuple(map(_Names.of, group)) for group in groups)
        return cls(names, tuple(example.db_id for example in examples), tables)

    def shift(self) -> Shift | None:
        """The shift that explains most names of other databases; None where none explains any.

        A line speaks for a shift if its names are not those of its question's database but of the shifted one's, and
        against it in the reverse case. The best stretch of lines counts, since a line may be lost in the middle of a
        file and made up for further down.
        """
        best: Shift | None = None
        for by in sorted((by for by in range(-MOST_SHIFT, MOST_SHIFT + 1) if by), key=abs):
            run, start = 0, 0
            for at in range(max(0, -by), min(len(self.groups), len(self.databases), len(self.databases) - by)):
                start = start if run else at
                run = max(0, run + self._are_elsewhere(at, 0) - self._are_elsewhere(at, by))
                if run > (best.lines if best else 0):
                    best = Shift(start, by, run)
        return best

    def where_others_begin(self) -> str:
        """The place from which on predictions are for other databases; empty where no name shows it."""
        locations = (
            names.place
            for group, db_id in zip(self.groups, self.databases, strict=False)
            for names in group
            if names.db_id not in (None, db_id)
        )
        shifted = self.shift()
        return next(locations, self.groups[shifted.start][0].place if shifted else "")

    def refuse_others(self, file: object) -> None:
        """Raise ``DatasetError`` for predictions that are not for these questions, or not in their order.

        That is where most name tables which their question's database lacks, ``STRANGE`` at least, and another
        question's has, or nearly all name tables that none has; and where ``STRANGE`` lines speak for a shift. Else a
        system invents names, which repairs may bind.
        """
        strange = list(self._strangers())
        anywhere = {name for names in self.tables.values() for name in names}
        elsewhere = sum(any(name.lower() in anywhere for name in stranger.lacking) for stranger in strange)
        queries = sum(bool(names.tables) for names, db_id in self._each() if db_id in self.tables)
        if len(strange) >= STRANGE and (2 * elsewhere > queries or len(strange) > MOST_UNKNOWN * queries):
            raise DatasetError(
                f"{file}: {len(strange)} of {queries} predictions name tables that their question's database lacks "
                f"({'; '.join(map(str, strange[:NAMED]))}{'; ...' if len(strange) > NAMED else ''}); give a file for "
                "these questions, in their order"
            )
        shifted = self.shift()
        if shifted is not None and shifted.lines >= STRANGE:
            start, by = shifted.start, shifted.by
            raise DatasetError(
                f"{self.groups[start][0].place}: is for the database {self.databases[start + by]!r}, that of the "
                f"question {abs(by)} {'later' if by > 0 else 'earlier'}, not for {self.databases[start]!r}, and so are "
                f"{shifted.lines - 1} more: a query before them is {'missing' if by > 0 else 'too many'}; give a file "
                "in the order of the questions"
            )

    def strangers(self) -> list[str]:
        """The lines that name tables which their question's database lacks, without those said to be for another."""
        return [str(stranger) for stranger in self._strangers()]

    def _are_elsewhere(self, at: int, by: int) -> bool:
        return any(names.are_elsewhere(self.databases[at + by], self.tables) for names in self.groups[at])

    def _strangers(self) -> Iterator[_Stranger]:
        for names, db_id in self._each():
            if names.db_id in (None, db_id) and (lacking := names.lacking(db_id, self.tables)):
                yield _Stranger(names.place, db_id, lacking)

    def _each(self) -> Iterator[tuple[_Names, str]]:
        for group, db_id in zip(self.groups, self.databases, strict=False):
            for names in group:
                yield names, db_id
