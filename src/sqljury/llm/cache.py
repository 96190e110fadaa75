"""Replies kept on disk, so that the same question to the same model is paid once."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sqlite3
import stat
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar, Unpack

from sqljury.errors import CancelledError, InputError
from sqljury.llm.base import Completion, LanguageModel, Message, Reply, Sampling, Streaming, Token, Wrapper
from sqljury.types import Cost

T = TypeVar("T")

FORMAT = 1
_APPLICATION_ID = 0x53514A59  # "SQJY", in the file's header
_BUSY_SECONDS = 10.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
"""The last one is for a table that is not as it was made: nothing else can be wrong with these statements."""

_TABLE = """
create table reply (
    key text primary key, body text not null, size integer not null, made real not null, used real not null
) without rowid
"""


class Cached(Wrapper):
    """A model whose replies are kept in the SQLite file ``path`` and given again for the same call.

    A call is the same if the model's ``identity`` (its name where it has none), the messages, every field of the
    sampling and ``n`` are. A reply that was kept costs nothing but the seconds to read it: no call, no tokens. So put
    the meter inside: ``Cached(Metered(model, ledger), path)``. Replies older than ``max_age`` seconds are not given;
    beyond ``max_bytes`` the ones longest unused go first. With ``charged`` replies are kept with their cost, and cost
    it again: for measuring what questions take, where calls were made before. Threads and processes may share the file,
    which only its owner can read. A damaged file is put aside, one that cannot be written is done without, both with a
    warning.
    Raises ``InputError`` if ``path`` is a database of another kind.
    """

    def __init__(
        self,
        model: LanguageModel,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = 256 * 1024 * 1024,
        max_age: float | None = 30 * 24 * 3600.0,
        charged: bool = False,
    ) -> None:
        super().__init__(model)
        self.path = Path(path)
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._charged = charged
        self._use(lambda _: None)

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Give the kept reply, its text replayed to ``on_text``, or ask the model within and keep what it says."""
        began = time.perf_counter()
        key = call_key(self.identity, messages, sampling, n)
        kept = self._use(lambda connection: self._read(connection, key))
        if kept is None:
            reply = self.model.complete(messages, sampling, n, **streaming)
            self._use(lambda connection: self._write(connection, key, reply))
            return reply
        if (cancel := streaming.get("cancel")) and cancel.is_set():
            raise CancelledError("The call was cancelled.")
        if on_text := streaming.get("on_text"):
            for index, completion in enumerate(kept.completions):
                on_text(index, completion.text)
        now = time.perf_counter() - began
        if self._charged:
            return Reply(kept.completions, kept.cost, max(0.0, kept.cost.seconds - now))
        return Reply(kept.completions, Cost(seconds=now))

    def clear(self) -> None:
        """Forget all replies."""
        self._use(lambda connection: connection.execute("delete from reply"))

    def _read(self, connection: sqlite3.Connection, key: str) -> Reply | None:
        now = time.time()
        oldest = now - self._max_age if self._max_age is not None else 0.0
        row = connection.execute(
            "select cast(body as blob) from reply where key = ? and made >= ?", (key, oldest)
        ).fetchone()
        if row is None:
            return None
        try:
            kept = _from_json(row[0], self._charged)
        except (ValueError, KeyError, TypeError):
            connection.execute("delete from reply where key = ?", (key,))
            return None
        connection.execute("update reply set used = ? where key = ?", (now, key))
        return kept

    def _write(self, connection: sqlite3.Connection, key: str, reply: Reply) -> None:
        now, body = time.time(), _to_json(reply, self._charged)
        connection.execute(
            "insert or replace into reply values (?, ?, ?, ?, ?)", (key, body, len(body.encode()) + len(key), now, now)
        )
        if self._max_age is not None:
            connection.execute("delete from reply where made < ?", (now - self._max_age,))
        connection.execute(
            "delete from reply where key in (select key from (select key, sum(size) over (order by used desc, key) "
            "as total from reply) where total > ?)",
            (self._max_bytes,),
        )

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do ``work`` in a transaction; a damaged file is replaced first, and any other trouble is only warned of."""
        for attempt in (1, 2):
            try:
                with closing(_open(self.path)) as connection, connection:
                    return work(connection)
            except sqlite3.DatabaseError as error:
                if attempt == 1 and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                    try:
                        self._put_aside(str(error))
                    except OSError as moving:
                        self._warn(f"The cache of replies {self.path} is damaged, and stays: {moving.strerror}.")
                        break
                    continue
                self._warn(f"The cache of replies {self.path} is not used: {error}.")
            except UnicodeDecodeError:  # SQLite's message quotes what is in the file
                if attempt == 1:
                    self._put_aside("it holds names that are not UTF-8 text")
                    continue
                self._warn(f"The cache of replies {self.path} is not used: it holds names that are not UTF-8 text.")
            except OSError as error:
                self._warn(f"The cache of replies {self.path} is not used: {error.strerror}.")
            break
        return None

    def _put_aside(self, error: str) -> None:
        aside = self.path.with_name(self.path.name + ".damaged")
        self._warn(f"The cache of replies {self.path} is damaged ({error}); it is now {aside.name}, a new one begins.")
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        if self.path.exists():
            os.replace(self.path, aside)

    def _warn(self, text: str) -> None:
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def call_key(identity: str, messages: Sequence[Message], sampling: Sampling, n: int) -> str:
    """The SHA-256, in hexadecimal, over everything that shapes a reply."""
    # Keys are not sorted: the order of a JSON schema's properties shapes the reply.
    call = {
        "format": FORMAT,
        "model": identity,
        "messages": [list(message) for message in messages],
        "sampling": {field.name: getattr(sampling, field.name) for field in fields(sampling)},
        "n": n,
    }
    return hashlib.sha256(json.dumps(call, default=_plain).encode()).hexdigest()


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a call's key")


def _to_json(reply: Reply, charged: bool) -> str:
    listed = [[c.text, c.finish_reason, c.tokens] for c in reply.completions]
    return json.dumps([listed, asdict(reply.cost)] if charged else listed, separators=(",", ":"))


def _from_json(body: str | bytes, charged: bool) -> Reply:
    """Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what is not such a body; bytes may not be UTF-8."""
    loaded = json.loads(body.decode() if isinstance(body, bytes) else body)
    listed, cost = loaded if charged else (loaded, {})
    if not isinstance(cost, dict) or not all(type(figure) in (int, float) for figure in cost.values()):
        raise TypeError("a cost that is no number")
    kept = tuple(
        Completion(text, finish, tuple(Token(t, p, tuple((o, q) for o, q in top)) for t, p, top in tokens))
        for text, finish, tokens in listed
    )
    pairs = (
        (t, p)
        for completion in kept
        for token in completion.tokens
        for t, p in ((token.text, token.logprob), *token.top)
    )
    good = all(
        isinstance(completion.text, str) and completion.finish_reason in ("stop", "length") for completion in kept
    )
    if not kept or not good or not all(isinstance(t, str) and isinstance(p, int | float) for t, p in pairs):
        raise ValueError("no completions")
    return Reply(kept, Cost(**cost))


def _open(path: Path) -> sqlite3.Connection:
    """A connection to the file, made and laid out if need be; each use opens its own, so threads share nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NONBLOCK", 0), 0o600)
    regular = stat.S_ISREG(os.fstat(handle).st_mode)
    os.close(handle)
    if not regular:
        raise OSError(errno.EINVAL, "it is not a regular file")
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)  # it holds what was asked about a database, and its rows
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS)
    try:
        ours, version, tables = _header(connection, "begin")
        if tables and ours != _APPLICATION_ID:
            raise InputError(f"{path} is a database of another kind; give the cache of replies a path of its own.")
        if (ours, version) != (_APPLICATION_ID, FORMAT):
            _lay_out(connection)
        connection.execute("pragma synchronous = normal")
    except BaseException:
        connection.close()
        raise
    return connection


def _header(connection: sqlite3.Connection, begin: str) -> tuple[int, int, int]:
    connection.execute(begin)
    row = connection.execute(
        "select application_id, user_version, exists (select * from sqlite_master) "
        "from pragma_application_id, pragma_user_version"
    ).fetchone()
    if begin == "begin":
        connection.commit()
    return row[0], row[1], row[2]


def _lay_out(connection: sqlite3.Connection) -> None:
    connection.execute("pragma auto_vacuum = full")
    with contextlib.suppress(sqlite3.OperationalError):  # another process is at it
        connection.execute("pragma journal_mode = wal")
    if _header(connection, "begin immediate")[:2] != (_APPLICATION_ID, FORMAT):
        connection.execute("drop table if exists reply")
        connection.execute(_TABLE)
        connection.execute("create index reply_used on reply (used)")
        connection.execute(f"pragma application_id = {_APPLICATION_ID}")
        connection.execute(f"pragma user_version = {FORMAT}")
    connection.commit()
