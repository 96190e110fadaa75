"""IPython and Jupyter: ``%load_ext sqljury``, then ``%ask_db`` once and ``%%ask`` for each question."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

from sqljury.errors import InputError, SqljuryError

if TYPE_CHECKING:
    from sqljury.api import Session
    from sqljury.types import Answer

P = ParamSpec("P")
T = TypeVar("T")

_SESSION: Final = "_sqljury_session"
_USAGE: Final = "write %ask_db PLACE first: a file, a URL, a name of the context folder, or a variable with a Session"


class _Parser(argparse.ArgumentParser):
    """Reads the options of a magic; raises ``InputError`` in place of leaving the program."""

    def error(self, message: str) -> NoReturn:
        """Raise ``InputError``."""
        raise InputError(f"%{self.prog}: {message}; {self.format_usage().strip()}")


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a shell; IPython calls it for ``%load_ext sqljury``."""
    opening, asking = _Parser("ask_db", add_help=False), _Parser("%ask", add_help=False)
    opening.add_argument("place", nargs="?", default="")
    opening.add_argument("--notes", action="append")
    for option in ("--project", "--recipe", "--model", "--privacy"):
        opening.add_argument(option)
    asking.add_argument("--verify", action="store_true")
    asking.add_argument("--evidence", default="")
    asking.add_argument("--into", metavar="NAME")

    def ask_db(line: str) -> None:
        """Open a database for the questions of this notebook: %ask_db PLACE; the one before it is closed."""
        given = vars(opening.parse_args(_words(line)))
        _open(shell, given.pop("place"), {name: value for name, value in given.items() if value})

    def ask(line: str, cell: str | None = None) -> Answer:
        """Answer the question of the line, or of the cell below %%ask [--into NAME] [--evidence TEXT] [--verify]."""
        if cell is None:
            return _session(shell).ask(line.strip())
        given = asking.parse_args(_words(line))
        answer = _session(shell).ask(cell.strip(), evidence=given.evidence, verify=given.verify)
        if given.into:
            shell.push({given.into: answer})
        return answer

    shell.register_magic_function(_in_a_line(ask_db), "line")
    shell.register_magic_function(_in_a_line(ask), "line_cell")


def _in_a_line(magic: Callable[P, T]) -> Callable[P, T]:
    """The magic with errors that IPython shows as their message, without the traceback through this package."""

    @wraps(magic)
    def called(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return magic(*arguments, **options)
        except SqljuryError as error:
            lines = [f"{type(error).__name__}: {error}"]
            error.__dict__["_render_traceback_"] = lambda: lines  # IPython calls it
            raise

    return called


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise InputError(f"{line.strip()[:80]}: {str(error).lower()}; close it") from None


def unload_ipython_extension(shell: Any) -> None:
    """Close what the magics opened; IPython calls it for ``%unload_ext sqljury``."""
    opened = getattr(shell, _SESSION, None)
    if opened is not None:
        session, opened_here = opened
        setattr(shell, _SESSION, None)
        if opened_here:
            session.close()


def _open(shell: Any, target: str, options: dict[str, Any]) -> None:
    """Keep the session in the shell, with whether it was opened here."""
    from sqljury.api import Session
    from sqljury.cli.target import session_options

    given = shell.user_ns.get(target)
    if isinstance(given, Session):
        opened = given, False
    else:
        db = str(given) if given is not None else target
        opened = Session(**session_options(db or None, options.pop("project", None), **options)), True
    unload_ipython_extension(shell)
    setattr(shell, _SESSION, opened)


def _session(shell: Any) -> Session:
    opened = getattr(shell, _SESSION, None)
    if opened is None:
        raise InputError(_USAGE)
    session: Session = opened[0]
    return session
