"""Output and interruption: texts, tables and JSON for the terminal, TSV files, Ctrl-C.

Content from databases, models and files is cleaned before it is printed, so that it cannot control the terminal, and
characters that an encoding lacks become escapes.
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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from sqljury.errors import InputError
from sqljury.resources import must_write, would_change
from sqljury.types import Cell, serialize

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


BLOB_BYTES = 16
WIDE = 10_000


def prepare() -> None:
    """Set up stdout and stderr: unencodable characters become escapes, warnings and log entries single lines."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(str(message))

    warnings.showwarning = show
    logging.lastResort = _LogHandler(logging.WARNING)
    # The parser quotes queries that it cannot parse; sqljury reports those itself.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)


class _LogHandler(logging.Handler):
    """Log entries of libraries, cleaned: they may quote content from outside."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def clean(text: str) -> str:
    """``text`` on one line, with blanks for unprintable characters, so that content cannot control the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def cleaned(value: Any) -> Any:
    """The same for every text in lists, dictionaries (keys too) and dataclasses."""
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: cleaned(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(cleaned, value))
    if isinstance(value, dict):
        return {cleaned(key): cleaned(part) for key, part in value.items()}
    return [cleaned(part) for part in value] if isinstance(value, list | tuple) else value


def clean_lines(text: str) -> str:
    """``clean`` for each line; only ``\\n`` and ``\\r\\n`` end lines."""
    return "\n".join(map(clean, text.replace("\r\n", "\n").removesuffix("\n").split("\n")))


def say(text: str) -> None:
    """Print one line on stderr with the prefix ``sqljury:``, for errors and warnings."""
    print(f"sqljury: {' '.join(clean(text).split())}", file=sys.stderr)


def note(text: str) -> None:
    """Print one line on stderr, for progress and remarks."""
    print(clean(text), file=sys.stderr)


def at_terminal() -> bool:
    """Whether stdout is a terminal; otherwise it is data for another program and is not changed."""
    return sys.stdout.isatty()


def to_json(value: Any) -> str:
    """JSON for stdout, with escapes for characters that the encoding lacks or that could control a terminal."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not unicode, indent=2)
    if not at_terminal():
        return text
    return re.sub(r"[^\n]", lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text)


def console(*, stderr: bool = False) -> Console:
    """A ``rich`` console that does not wrap lines for a pipe, and raises ``BrokenPipeError`` for ``cli.main``."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    made = Plain(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.is_terminal:
        return made
    return Plain(stderr=stderr, highlight=False, markup=False, emoji=False, width=WIDE)


def show(*parts: RenderableType, stderr: bool = False) -> None:
    """Print texts and ``rich`` tables, one below the other; texts are not markup."""
    made = console(stderr=stderr)
    for part in parts:
        made.print(part, soft_wrap=not made.is_terminal)


def show_query(sql: str, dialect: str) -> None:
    """Print a query in colours; the terminal wraps it, so that no line end is added to it."""
    from rich.syntax import Syntax

    text = serialize.query(sql, dialect)
    painted = Syntax(text, "sql", theme="ansi_dark", background_color="default").highlight(text)
    painted.rstrip()
    console().print(painted, soft_wrap=True)
    say_escapes(sql, dialect)


def say_escapes(sql: str, dialect: str) -> None:
    """Report a query that was shown with escapes."""
    if serialize.has_escapes(sql, dialect):
        say("the query has characters that cannot be shown and were escaped; --output json has the query itself")


def abandon() -> None:
    """Redirect streams that can no longer be written to the null device, so that exiting does not fail on them."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def text(cell: Cell) -> str:
    """A cell for display: on one line, without control characters, a long blob cut, 12 digits of a float.

    The digits after those are what adding up floats leaves behind: 37163.69999999998 is 37163.7.
    """
    if cell is None:
        return "NULL"
    if isinstance(cell, float):
        return str(float(f"{cell:.12g}"))
    if isinstance(cell, bytes):
        return f"0x{cell[:BLOB_BYTES].hex()}{'...' if len(cell) > BLOB_BYTES else ''}"
    return clean(str(cell))


@contextmanager
def interruptible(stopped: str = "stopped") -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that threads and running queries stop; then raises ``KeyboardInterrupt``.

    ``stopped`` is what the user is told.
    The exception alone is not enough: threads never see it, and SQLite swallows it in callbacks into Python.
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
        raise KeyboardInterrupt(stopped)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    except Exception:
        if pressed:
            raise KeyboardInterrupt(stopped) from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt(stopped)


class TableFile:
    """A TSV file that is written once, at the end."""

    def __init__(self, stream: IO[str], regular: bool) -> None:
        self._stream = stream
        self._regular = regular
        self.written = False

    def write(self, text: str) -> None:
        """Replace the content of the file by ``text``."""
        if self._regular:
            self._stream.seek(0)
            self._stream.truncate()
        self.written = True
        self._stream.write(text)


@contextmanager
def table_file(file: Path | None, header: str, inputs: Iterable[Path | None] = ()) -> Iterator[TableFile | None]:
    """The file of a table whose first line begins with ``header``, opened before the long work; None for no file.

    Raises ``InputError`` for a file that is among ``inputs`` or in a folder of them, for an existing file that is
    neither empty nor such a table, and for one that cannot be written. A new file is removed if nothing is written.
    """
    if file is None:
        yield None
        return
    if would_change(file, filter(None, inputs)):
        raise InputError(f"{file}: is an input, or lies in a folder that is; name another file for the table")
    new = not file.exists()
    regular = new or file.is_file()
    if file.is_block_device():
        raise InputError(f"{file}: is a disk, not a file; name a file")
    with must_write(file, InputError, "name another file"):
        # the old content stays until the new table is written
        stream = file.open("a+" if regular else "w", encoding="utf-8", errors="backslashreplace")
    with stream:
        if regular:
            stream.seek(0)
            start = stream.read(len(header))
            if start not in ("", header):
                raise InputError(
                    f"{file}: exists and was not written by this command; name a new file, or remove this one"
                )
        table = TableFile(stream, regular)
        try:
            yield table
        finally:
            if new and not table.written:
                os.unlink(file)


def plain_table(title: str) -> Table:
    """A table without lines, and without a title where that is empty."""
    from rich.table import Table
    from rich.text import Text

    named = Text(title, no_wrap=True) if title else None
    width = named.cell_len if named else None  # a narrow table would break its title
    return Table(title=named, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0), min_width=width)


def figures(first: str, *numbers: str) -> Table:
    """A table without lines or title: a column of words, then columns of numbers."""
    table = plain_table("")
    table.add_column(first)
    for head in numbers:
        table.add_column(head, justify="right")
    return table


def indented(shown: RenderableType) -> RenderableType:
    """What is shown, two columns to the right."""
    from rich.padding import Padding

    return Padding(shown, (0, 0, 0, 2), expand=False)
