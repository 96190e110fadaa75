"""Connections to a server, kept for the next query, and one watcher for each query that runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from sqljury.errors import DatabaseError, MissingExtraError
from sqljury.parallel.watch import Watch

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

KEPT: Final = 8
"""Connections kept open between queries; more are opened while more queries run at once."""

_POLL_SECONDS: Final = 0.02
_GRACE_SECONDS: Final = 0.25  # for the server to obey, before the line is cut


class Pool:
    """SQLAlchemy's pool over the connections that ``connect`` opens, each tested before it is lent again.

    ``dialect`` makes SQLAlchemy's dialect, which knows how this driver tests a connection; ``url`` is for messages,
    ``extra`` for the one about a library that is missing.
    """

    def __init__(self, url: str, extra: str, connect: Callable[[], Any], dialect: Callable[[], Dialect]) -> None:
        try:
            from sqlalchemy.pool import QueuePool
        except ImportError:
            raise MissingExtraError("sqlalchemy", extra) from None
        self._url = url
        self._closed = False
        self._pool = QueuePool(
            connect,
            pool_size=KEPT,
            max_overflow=-1,
            pre_ping=True,
            use_lifo=True,
            reset_on_return=None,  # whoever borrowed it rolls back, or gives it up
            dialect=dialect(),
        )

    @contextlib.contextmanager
    def lend(self) -> Iterator[Lent]:
        """A connection that answers; raises ``DatabaseError`` once closed, and what ``connect`` raises."""
        if self._closed:
            raise DatabaseError(f"{self._url}: was closed; connect again")
        held = self._pool.connect()
        lent = Lent(held.driver_connection)
        try:
            yield lent
        except BaseException:
            lent.usable = False
            raise
        finally:
            if not lent.usable or self._closed:
                held.invalidate()
            held.close()

    def close(self) -> None:
        """Close the idle connections now, those in use when their query ends."""
        self._closed = True
        self._pool.dispose()


class Lent:
    """A connection on loan; not ``usable`` any more, it is closed when it comes back."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.usable = True


class Guard:
    """Watches a query from a thread of its own: once ``watch`` says stop, the server is told to, then the line is cut.

    ``cancel`` asks the server to end the query, ``sever`` makes the waiting client give up; both are called from
    other threads than the query's. After an interruption the connection is not to be used again: an order to stop may
    arrive late and hit the next query.
    """

    def __init__(self, watch: Watch, cancel: Callable[[], None], sever: Callable[[], None]) -> None:
        self.interrupted = False
        self._watch = watch
        self._cancel = cancel
        self._sever = sever
        self._done = threading.Event()
        self._ending = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="sqljury-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def give_up(self) -> None:
        """The rest of the rows is not wanted: have the server end the query, and wait for nothing."""
        self.interrupt()
        with contextlib.suppress(Exception):
            self._sever()

    def interrupt(self) -> None:
        """Have the server end the query; without effect the second time."""
        with self._ending:
            if self.interrupted or self._done.is_set():
                return
            self.interrupted = True
            orders = threading.Thread(target=self._order, name="sqljury-cancel", daemon=True)
            orders.start()
            # A server that cannot be reached must not hold the client up.
            orders.join(_GRACE_SECONDS)

    def _order(self) -> None:
        # Whatever goes wrong with the order, cutting the line works.
        with contextlib.suppress(Exception):
            self._cancel()

    def _look(self) -> None:
        while not self._done.wait(_POLL_SECONDS):
            if self._watch.stop():
                break
        else:
            return
        self.interrupt()
        if not self._done.wait(_GRACE_SECONDS):
            with contextlib.suppress(Exception):
                self._sever()
