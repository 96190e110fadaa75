"""IPython and Jupyter: ``%load_ext sqljury``, then ``%ask_db`` once and ``%%ask`` for each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqljury.api import Session
    from sqljury.types import Answer

_SESSION: Final = "_sqljury_session"
_OPTIONS: Final = ("project", "recipe", "model", "privacy", "notes")
_USAGE: Final = "write %ask_db PLACE first: a file, a URL, a name of the context folder, or a variable with a Session"


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a shell; IPython calls it for ``%load_ext sqljury``."""
    from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
    from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

    @magics_class
    class Asking(Magics):
        """``%ask_db`` opens a database, ``%ask`` and ``%%ask`` answer questions on it."""

        @magic_arguments()
        @argument("place", nargs="?", default="", help="a file, a URL, a name of the context folder, or a variable")
        @argument("--project", help="the context folder")
        @argument("--recipe", help="the recipe")
        @argument("--model", help="the model")
        @argument("--privacy", choices=("schema", "values", "rows"), help="what a service may get of the content")
        @argument("--notes", action="append", help="notes on the database; repeatable")
        @line_magic
        def ask_db(self, line: str) -> None:
            """Open a database for the questions of this notebook; the one before it is closed."""
            given = vars(parse_argstring(self.ask_db, line))
            options = {name: given[name] for name in _OPTIONS if given[name]}
            _open(self.shell, given["place"], options)

        @magic_arguments()
        @argument("--verify", action="store_true", help="look for rows that tell the answer from its rival")
        @argument("--evidence", default="", help="what the database does not hold, in quotes")
        @argument("--into", metavar="NAME", help="a variable for the answer")
        @argument("question", nargs="*", help="the question, where the cell has no lines below this one")
        @line_cell_magic
        def ask(self, line: str, cell: str | None = None) -> Answer:
            """Answer the question of the cell, or of the line."""
            if cell is None:
                return _session(self.shell).ask(line.strip())
            given = parse_argstring(self.ask, line)
            answer = _session(self.shell).ask(cell.strip(), evidence=given.evidence.strip("'\""), verify=given.verify)
            if given.into:
                self.shell.push({given.into: answer})
            return answer

    shell.register_magics(Asking)


def unload_ipython_extension(shell: Any) -> None:
    """Close what the magics opened; IPython calls it for ``%unload_ext sqljury``."""
    opened = getattr(shell, _SESSION, None)
    if opened is not None:
        session, own = opened
        setattr(shell, _SESSION, None)
        if own:
            session.close()


def _open(shell: Any, place: str, options: dict[str, Any]) -> None:
    """Keep the session in the shell, with whether it was opened here."""
    from sqljury.api import Session
    from sqljury.cli.target import session_options

    given = shell.user_ns.get(place)
    if isinstance(given, Session):
        opened = given, False
    else:
        db = str(given) if given is not None else place
        opened = Session(**session_options(db or None, options.pop("project", None), **options)), True
    unload_ipython_extension(shell)
    setattr(shell, _SESSION, opened)


def _session(shell: Any) -> Session:
    from sqljury.errors import InputError

    opened = getattr(shell, _SESSION, None)
    if opened is None:
        raise InputError(_USAGE)
    session: Session = opened[0]
    return session
