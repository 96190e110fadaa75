"""The exceptions that sqljury raises on purpose.

    SqljuryError                      exit code 1
    ├── InputError                    2   what was asked for cannot be understood or found
    │   ├── QuestionError             2   an empty question, or one that asks to change data
    │   ├── DatasetError              2   an inconsistent dataset, prediction or run file
    │   ├── RecipeError               2   an unknown recipe, or one with a wrong field
    │   ├── NotesError                2   notes that cannot be read, or that name what the database lacks
    │   └── ProjectError              2   a context folder with a fault, or none where one is needed
    ├── DatabaseError                 3   the database cannot be used
    │   ├── DatabaseNotFoundError     3   nothing at this path or URL
    │   ├── NotADatabaseError         3   a file of another kind, or a corrupt one
    │   ├── DatabaseLockedError       3   another program holds it
    │   ├── EmptyDatabaseError        3   no table to ask about
    │   └── NoServerProgramError      3   no program of a database server that could be started
    ├── QueryError                    4   a query failed
    │   ├── QueryRefusedError         4   not a plain read; it never reached the database
    │   │   └── QueryStoppedError     4   stopped by its time limit or cancelled while it was still read
    │   └── QueryLimitError           4   over its time, row or memory limit
    ├── ModelError                    5   the model cannot be used
    │   ├── WeightsError              5   weights missing, incomplete, or with a wrong hash
    │   ├── ContextLengthError        5   the prompt is longer than the model's context
    │   ├── PrivacyError              5   the prompt holds more of the database than the model may get
    │   ├── ModelAuthError            5   no key, or a refused one
    │   ├── ModelUnavailableError     5   timeouts, rate limits or server errors that outlasted every retry
    │   ├── ModelResponseError        5   the backend's answer is not a completion
    │   └── MissingExtraError         5   an optional library is not installed
    ├── BudgetExceededError           6   the limit on calls, tokens or money was reached
    ├── NoAnswerError                 7   every candidate failed; carries what was tried
    ├── SandboxError                  8   written code cannot be run in isolation here
    ├── ClusterError                 10   no cluster, or its workers die one after the other
    ├── AbstainedError                9   the answer's confidence is too low, or the schema cannot answer
    └── CancelledError                130 stopped by the user

Messages name the input, say what is wrong with it, and what to do next; never a key, never a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sqljury.types import Candidate, Cost


class SqljuryError(Exception):
    """The root; ``exit_code`` is what the command line ends with."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by state, for other processes: subclasses take other arguments than their message."""
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[SqljuryError], args: tuple[Any, ...], state: dict[str, Any]) -> SqljuryError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(SqljuryError):
    """What was asked for cannot be understood or found."""

    exit_code = 2


class QuestionError(InputError):
    """The question is empty, or asks to change data."""


class DatasetError(InputError):
    """A dataset, prediction or run file is inconsistent."""


class RecipeError(InputError):
    """No such recipe, or one with a wrong field."""


class NotesError(InputError):
    """Notes on a database cannot be read, or name something that the database lacks."""


class ProjectError(InputError):
    """A context folder has a fault, or there is none where one is needed."""


class DatabaseError(SqljuryError):
    """The database cannot be used."""

    exit_code = 3


class DatabaseNotFoundError(DatabaseError):
    """Nothing is at this path or URL."""


class NotADatabaseError(DatabaseError):
    """The file is of another kind, or corrupt."""


class DatabaseLockedError(DatabaseError):
    """Another program holds the database."""


class EmptyDatabaseError(DatabaseError):
    """The database has no table to ask about."""


class NoServerProgramError(DatabaseError):
    """The programs of a database server are not installed."""


class QueryError(SqljuryError):
    """A query failed in the database."""

    exit_code = 4


class QueryRefusedError(QueryError):
    """The statement is not a plain read, so it was not sent to the database."""

    kind: Literal["refused", "limit", "cancelled"] = "refused"


class QueryStoppedError(QueryRefusedError):
    """Whether the statement is a plain read was not known when its time was over or it was cancelled."""

    def __init__(self, kind: Literal["limit", "cancelled"], reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class QueryLimitError(QueryError):
    """The query ran over its time, row or memory limit."""


class ModelError(SqljuryError):
    """The model cannot be used; ``cost`` is what its call took before it failed, None where that is not known."""

    exit_code = 5
    cost: Cost | None = None


class WeightsError(ModelError):
    """The weights are missing, incomplete, or have a wrong hash."""


class ContextLengthError(ModelError):
    """The prompt is longer than the model's context."""


class PrivacyError(ModelError):
    """The prompt may hold more of the database's content than the model may get, so it was not sent."""


class ModelAuthError(ModelError):
    """There is no key, or the service refused it."""


class ModelUnavailableError(ModelError):
    """Timeouts, rate limits or server errors outlasted every retry."""


class ModelResponseError(ModelError):
    """The backend's answer is not a completion."""


class MissingExtraError(ModelError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed; run: pip install 'sqljury[{extra}]'")


class BudgetExceededError(SqljuryError):
    """The limit on calls, tokens or money was reached."""

    exit_code = 6


class SandboxError(SqljuryError):
    """Code that a model wrote cannot be run in isolation on this machine, so it is not run."""

    exit_code = 8


class ClusterError(SqljuryError):
    """There is no cluster, or its workers die one after the other."""

    exit_code = 10


class AbstainedError(SqljuryError):
    """The confidence of the answer is too low, or the schema cannot answer the question."""

    exit_code = 9


class NoAnswerError(SqljuryError):
    """Every candidate failed; ``candidates`` and ``cost`` say what was tried."""

    exit_code = 7

    def __init__(self, message: str, candidates: tuple[Candidate, ...] = (), cost: Cost | None = None) -> None:
        super().__init__(message)
        self.candidates = candidates
        self.cost = cost


class CancelledError(SqljuryError):
    """The user stopped the work; ``cost`` is that of a stopped call of a model, as of ``ModelError``."""

    exit_code = 130
    cost: Cost | None = None
