"""The way to the terminal: nothing that came from outside steers it, and no character it lacks ends the program.

Cells for people to read.

Ctrl-C that ends the work at hand, wherever it is.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from sqljury.types import Cell
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


WIDE = 10_000


def prepare() -> None:
    """Characters that a stream cannot show become escapes; a warning is one line, said once, and so is a log entry."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(str(message))

    warnings.showwarning = show
    logging.lastResort = _Said(logging.WARNING)
    # The parser quotes the query that it does not take, and whoever reads the query says so better.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)


class _Said(logging.Handler):
    """What libraries log goes the way of all that is said: it may quote what came from outside."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def clean(text: str) -> str:
    """``text`` on one line, with blanks for what is no printable character: content must not steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def cleaned(value: Any) -> Any:
    """The same for every text in lists, dictionaries (keys too) and dataclasses."""
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: cleaned(getattr(value, one.name)) for one in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(cleaned, value))
    if isinstance(value, dict):
        return {cleaned(key): cleaned(part) for key, part in value.items()}
    return [cleaned(part) for part in value] if isinstance(value, list | tuple) else value


def clean_lines(text: str) -> str:
    """The same, but the lines stay: those that end as files' lines do, for nothing else may look like a line."""
    return "\n".join(map(clean, text.replace("\r\n", "\n").removesuffix("\n").split("\n")))


def say(text: str) -> None:
    """One line on stderr that says who speaks."""
    print(f"sqljury: {' '.join(clean(text).split())}", file=sys.stderr)


def note(text: str) -> None:
    """One plain line on stderr."""
    print(clean(text), file=sys.stderr)


def at_terminal() -> bool:
    """Whether somebody looks at stdout; otherwise it is data for another program, and stays as it is."""
    return sys.stdout.isatty()


def to_json(value: Any) -> str:
    """JSON for stdout: text as it is, with escapes for what the encoding lacks or a terminal would obey."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not unicode, indent=2)
    if not at_terminal():
        return text
    return re.sub(r"[^\n]", lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def console(*, stderr: bool = False) -> Console:
    """A console of ``rich`` that wraps nothing for a pipe and leaves a reader that has gone to ``cli.main``."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    made = Plain(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.is_terminal:
        return made
    return Plain(stderr=stderr, highlight=False, markup=False, emoji=False, width=WIDE)


def show(*parts: RenderableType, stderr: bool = False) -> None:
    """Print texts and tables of ``rich``, one below the other; texts are no markup."""
    made = console(stderr=stderr)
    for part in parts:
        made.print(part, soft_wrap=not made.is_terminal)


def show_query(sql: str, dialect: str) -> None:
    """Print a query as ``written.query`` has it, in colours; a terminal wraps it by itself, so that no line is made."""
    from rich.syntax import Syntax

    text = written.query(sql, dialect)
    painted = Syntax(text, "sql", theme="ansi_dark", background_color="default").highlight(text)
    painted.rstrip()
    console().print(painted, soft_wrap=True)
    say_escapes(sql, dialect)


def say_escapes(sql: str, dialect: str) -> None:
    """Say that a query was shown with escapes, where it was."""
    if written.has_escapes(sql, dialect):
        say("the query has characters that cannot be shown; they stand as escapes, --output json has the query itself")


def abandon() -> None:
    """Let go of the streams that nobody takes anything from any more, so that leaving does not fail on them."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


BLOB_BYTES = 16


def text(cell: Cell) -> str:
    """A cell for people to read: on one line, without control characters, a long blob cut."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return f"0x{cell[:BLOB_BYTES].hex()}{'...' if len(cell) > BLOB_BYTES else ''}"
    return clean(str(cell))


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that threads and running queries stop; leaves with ``KeyboardInterrupt`` then.

    The exception alone is not enough: threads never see it, and SQLite swallows it while it calls back into Python.
    """
    cancel = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    pressed = False

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        cancel.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    except Exception:
        if pressed:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
