"""Errors as clients see them: a documented status, a code for programs, and a message that reveals nothing of others.

Messages of the core name paths, addresses and rules for whoever started the server. Of these kinds a client gets a text
written here; the rest is sent with everything that looks like a path replaced.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqljury import errors
from sqljury.parallel.jobs import BusyError, EndingError, OverdueError
from sqljury.web.databases import UnknownDatabaseError

LOG = logging.getLogger("sqljury.web")

_PATH: Final = re.compile(r"(?<![\w<:/])(?:[A-Za-z]:\\|~?/)(?:[\w.@%+-]+[/\\])+[\w.@%+-]*")
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*:///?[^\s'\",;)]+", re.IGNORECASE)
HIDDEN: Final = "[path]"


@dataclass
class ProblemError(Exception):
    """What a client is told: HTTP status, ``code`` for programs, ``detail`` for people, and further keys."""

    status: int
    code: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, request_id: str) -> dict[str, Any]:
        """The problem as RFC 9457 has it, with ``code`` and ``request_id``."""
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id,
            **self.more,
        }


TITLES: Final = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    413: "Request too large",
    415: "Unsupported media type",
    421: "Misdirected request",
    422: "Not answered",
    429: "Too many questions",
    499: "Client closed the request",
    500: "Internal error",
    503: "Unavailable",
    504: "Took too long",
}

_SAID: Final[tuple[tuple[type[errors.SqljuryError], int, str], ...]] = (
    (errors.QuestionError, 400, "bad-question"),
    (errors.NoAnswerError, 422, "no-answer"),
    (errors.QueryRefusedError, 422, "query-refused"),
    (errors.QueryLimitError, 422, "query-limit"),
    (errors.QueryError, 422, "query-failed"),
    (errors.ContextLengthError, 422, "question-too-long"),
)
"""Errors whose own message is sent: it is about the question or its queries."""

_HIDDEN: Final[tuple[tuple[type[errors.SqljuryError], int, str, str], ...]] = (
    (errors.DatabaseLockedError, 503, "database-locked", "another program holds the database; try again soon"),
    (errors.EmptyDatabaseError, 503, "database-empty", "the database has no table to ask about now; tell its operator"),
    (errors.DatabaseError, 503, "database-unavailable", "the database cannot be reached now; try again soon"),
    (errors.BudgetExceededError, 503, "budget-spent", "the server's budget for its model is spent; tell its operator"),
    (errors.ModelUnavailableError, 503, "model-unavailable", "the model does not answer now; try again soon"),
    (errors.ModelError, 503, "model-unusable", "the model cannot be used now; the server's log says why"),
    (
        errors.SandboxError,
        503,
        "sandbox-unavailable",
        "the server cannot run its recipe; tell its operator",
    ),
    (errors.CancelledError, 503, "stopped", "the question was stopped; ask it again"),
    (errors.ProjectError, 503, "folder-faulty", "the context folder of this database has a fault; tell its operator"),
    (errors.NotesError, 503, "folder-faulty", "the notes on this database have a fault; tell its operator"),
    (errors.InputError, 400, "bad-request", "the server cannot do that with this database; its log says why"),
)
"""Errors whose message is for the operator, with what a client is told instead."""

_RETRY: Final = frozenset({"database-locked", "database-unavailable", "model-unavailable", "stopped"})


class Problems:
    """From exceptions to problems; ``places`` are texts that no client may see, such as paths of databases."""

    def __init__(self, places: Iterable[str]) -> None:
        self._places = sorted({location for location in places if len(location) > 1}, key=len, reverse=True)

    def clean(self, text: str) -> str:
        """``text`` without the places, other paths and URLs."""
        for location in self._places:
            text = text.replace(location, HIDDEN)
        return _PATH.sub(HIDDEN, _URL.sub(HIDDEN, text))

    def of(self, error: BaseException, database: str = "", retry_after: int = 1) -> ProblemError:
        """The problem that a client is told of; what it is not told is logged."""
        if isinstance(error, ProblemError):
            return error
        if isinstance(error, UnknownDatabaseError):
            return unknown_database(str(error))
        if isinstance(error, BusyError):
            wait = {"Retry-After": str(retry_after)}
            return ProblemError(429, "queue-full", "the server is busy; ask again after Retry-After seconds", wait)
        if isinstance(error, OverdueError):
            return ProblemError(504, "took-too-long", "no answer within the server's time limit; ask for less")
        if isinstance(error, EndingError):
            return ProblemError(503, "ending", "the server is shutting down", {"Retry-After": "10"})
        for kind, status, code in _SAID:
            if isinstance(error, kind):
                return ProblemError(status, code, self.clean(str(error)))
        for kind, status, code, detail in _HIDDEN:
            if isinstance(error, kind):
                LOG.warning("%s%s: %s", f"{database}: " if database else "", code, error)
                return ProblemError(status, code, detail, {"Retry-After": "5"} if code in _RETRY else {})
        LOG.error("an unexpected error", exc_info=error)
        return ProblemError(500, "internal", "the server failed; its log has the reason under this request_id")


def unknown_database(name: str) -> ProblemError:
    """The problem of a database that the client does not have; whether others have it is not said."""
    if not name:
        return ProblemError(404, "unknown-database", "name a database; GET /v1/databases lists yours")
    return ProblemError(404, "unknown-database", f"you have no database {name[:80]!r}; GET /v1/databases lists yours")
