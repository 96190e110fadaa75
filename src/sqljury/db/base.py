"""What every engine offers, how a query fails, and what is checked about a database file before it is opened."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Protocol, Self, runtime_checkable

from sqljury.errors import DatabaseError, DatabaseNotFoundError, NotADatabaseError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.types import FailureKind, Limits, QueryFailure, Result, Row

DEFAULT_LIMITS: Final = Limits()

MAX_ERROR_CHARS: Final = 500


@runtime_checkable
class Database(Protocol):
    """A database opened for reading; every method may be called from several threads at once."""

    @property
    def name(self) -> str:
        """A short name for prompts and messages: a file's stem, a server's database."""

    @property
    def dialect(self) -> str:
        """The SQL dialect by sqlglot's name: ``sqlite``, ``postgres``, ``mysql``, ``duckdb``."""

    @property
    def schemas(self) -> tuple[str, ...]:
        """The schemas that were asked for, the default one first; empty for the default alone."""

    @property
    def url(self) -> str:
        """Where it is, without any password."""

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``, nothing is raised.

        ``cancel`` stops the running query once set.
        """

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own on the engine's catalogue; never for SQL written by others.

        Raises ``DatabaseError`` when the catalogue cannot be read, ``QueryError`` when this query fails.
        """

    def close(self) -> None:
        """Release every connection; a query still running ends first. Closing twice is harmless."""

    def __enter__(self) -> Self:
        """The database itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""


class Runs(Protocol):
    """The part of a database that evaluation needs."""

    def execute(self, sql: str, limits: Limits = ...) -> Result:
        """Run one query; whatever is wrong with it becomes ``Result.error``."""


class FileDatabase(Closing):
    """What databases in a file have in common; ``path`` and ``dialect`` are set by the kinds."""

    path: str
    dialect: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that hold the data."""
        return (self.path,)

    @property
    def url(self) -> str:
        """The dialect as the scheme, and the absolute path."""
        return f"{self.dialect}:///{os.path.abspath(self.path)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


def one_line(text: str) -> str:
    """The text on one line, with blanks for what cannot be printed."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def failure(kind: FailureKind, message: str) -> QueryFailure:
    """The failure with its message on one line, cut at ``MAX_ERROR_CHARS``."""
    line = one_line(message)
    if len(line) > MAX_ERROR_CHARS:
        line = line[: MAX_ERROR_CHARS - 1] + "…"
    return QueryFailure(kind, line or ("unknown error" if kind == "sql" else ""))


def failed(kind: FailureKind, message: str, watch: Watch) -> Result:
    """The result of a query that failed, with the seconds it took."""
    return Result(error=failure(kind, message), seconds=watch.seconds)


def lost(watch: Watch) -> QueryFailure:
    """Why the process that ran a query was ended, or ended by itself."""
    if watch.kind is not None:
        return failure(watch.kind, watch.reason or "stopped")
    return failure("limit", "the process that ran the query ended, most likely out of memory; ask for less")


def first_bytes(path: str, count: int, read: Callable[[str, int], bytes] | None = None) -> bytes:
    """The first ``count`` bytes of a database file; raises what ``connect`` raises for one that cannot be read.

    ``read(path, count)`` replaces opening the file in this process.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise NotADatabaseError(f"{path}: is a folder; give the database file in it")
        if not stat.S_ISREG(mode):  # reading a pipe would wait for its writer
            raise NotADatabaseError(f"{path}: is not a regular file")
        head = (read or read_bytes)(path, count)
    except (FileNotFoundError, NotADirectoryError):
        raise DatabaseNotFoundError(f"{path or '(empty path)'}: no such file; check the path") from None
    except ValueError:
        raise DatabaseNotFoundError(f"{path!r}: is not a path; check it") from None
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    if not head:
        raise NotADatabaseError(f"{path}: is an empty file, not a database; check the path")
    return head


def read_bytes(path: str, count: int) -> bytes:
    """The first ``count`` bytes of a file."""
    with open(path, "rb") as file:
        return file.read(count)
