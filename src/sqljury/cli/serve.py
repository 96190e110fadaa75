"""``sqljury serve``: the page and the HTTP API."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import ListenOptions, PaidAnswerOptions, ViewOptions, grouped
from sqljury.cli.options import ExamplesOption, ProjectOption, SchemaOption
from sqljury.cli.target import project_for, session_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqljury.api import Session
    from sqljury.web.databases import Served
    from sqljury.web.settings import Settings
    from sqljury.web.walls import Walls


@grouped
def serve(
    *,
    db: Annotated[
        list[str] | None,
        typer.Option(
            "--db",
            metavar="[NAME=]PLACE",
            help="A database, as for `ask`, optionally with a name of its own; repeatable. By default all of the "
            "context folder.",
        ),
    ] = None,
    project: ProjectOption = None,
    listening: ListenOptions,
    new_token: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print a new token and its entry for the file of tokens, and exit."),
    ] = None,
    https: Annotated[
        bool, typer.Option("--https", help="Clients connect by TLS through a proxy; cookies are marked as secure.")
    ] = False,
    rows: Annotated[int, typer.Option(min=1, help="The most rows of a result in JSON; downloads have all.")] = 1_000,
    schema: SchemaOption = None,
    notes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PATH", help="Notes on a database, as NAME=PATH if there are several databases; repeatable."
        ),
    ] = None,
    answering: PaidAnswerOptions,
    examples: ExamplesOption = None,
    view: ViewOptions,
) -> None:
    """Serve the page and the HTTP API; Ctrl-C ends it after the running questions."""
    if new_token is not None:
        _new_token(new_token, db or [])
        return
    from sqljury.errors import InputError, MissingExtraError

    try:
        from sqljury.web.app import create
        from sqljury.web.databases import Databases
        from sqljury.web.tokens import Tokens
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "serve") from None
    from sqljury.api import Session

    folder = project_for(None, project) if project is not None or not db else None
    db = db or list(folder.names if folder else ())
    if not db:
        raise InputError("there is no database to serve; give --db, or work in a folder with sqljury.toml")
    settings = listening.settings(rows=rows, https=https)
    settings.check(tokens=listening.tokens is not None)
    with ExitStack() as stack:
        served = _opened(stack, db, project, schema or [], notes or [])
        known = Tokens.load(listening.tokens, list(served)) if listening.tokens is not None else None
        opened = partial(Session, examples=examples, together=settings.workers, **answering.session())
        served = _with_bases(stack, served, opened, answering.recipe, answering.spec)
        if view.privacy is not None:
            served = {name: replace(served_database, privacy=view.level) for name, served_database in served.items()}
        base = next(served_database.base for served_database in served.values() if served_database.base is not None)
        _run(create(Databases(base, served, view.rules()), settings, known), settings, list(served))


def _run(app: Walls, settings: Settings, names: list[str]) -> None:
    """Listen, say where, and answer until interrupted."""
    from sqljury.web.running import WebServer, listen

    terminal.note(f"databases: {', '.join(names)}")
    with listen(settings) as listening:
        at = listening.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        terminal.note(f"listening on http://{host}:{at}/ (Ctrl-C ends it)")
        WebServer(app).run([listening])


def _new_token(name: str, targets: list[str]) -> None:
    """Print an entry for the file on stdout, and the token itself, which is kept nowhere, on stderr."""
    from sqljury.web.databases import named
    from sqljury.web.tokens import entry, new_token

    token = new_token()
    print(entry(name, token, [named(target)[0] for target in targets]))
    terminal.note(f"token of {name}, shown only now: {token}")


def _opened(
    stack: ExitStack, targets: list[str], project: str | None, schemas: list[str], notes: list[str]
) -> dict[str, Served]:
    """The databases by name, closed with the stack; raises what ``connect`` and ``load`` raise, and ``InputError``."""
    from sqljury.db.connect import connect
    from sqljury.errors import InputError
    from sqljury.schema.introspect import introspect
    from sqljury.schema.notes import NO_NOTES, bind
    from sqljury.schema.notes_files import load
    from sqljury.web.databases import Served, named

    databases = [named(target) for target in targets]
    names = [name for name, _ in databases]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two databases are called {twice}; name them, as in --db {twice}2=PLACE")
    paths: dict[str, list[str]] = {name: [] for name in names}
    for given in notes:
        name, separator, path = given.partition("=")
        if not separator or name not in paths:
            if len(names) > 1:
                raise InputError(f"--notes {given}: name its database, as in --notes {names[0]}=PATH")
            name, path = names[0], given
        paths[name].append(path)
    served = {}
    for name, location in databases:
        more = load(*paths[name]) if paths[name] else NO_NOTES
        folder = project_for(location, project)
        if folder is None:
            served[name] = Served(stack.enter_context(connect(location, schemas)), more)
        else:
            known = folder.database(location)
            database = stack.enter_context(connect(known.url, schemas or known.schemas))
            options = {"access": known.access, "examples": known.session()["examples"], "privacy": known.privacy}
            served[name] = Served(database, known.notes + more, project=folder, known=known.name, **options)
        bind(introspect(served[name].database), served[name].notes)  # no tables, or notes on others, are said now
    return served


def _with_bases(
    stack: ExitStack,
    served: dict[str, Served],
    opened: Callable[..., Session],
    recipe: str | None,
    model: str | None,
) -> dict[str, Served]:
    """The databases with the session of their recipe and model, which those with the same ones share.

    The two are the folder's where none is given: a database that a local model is to answer is shown to no other.
    """
    bases: dict[tuple[str, str | None], Session] = {}
    with_base = {}
    for name, served_database in served.items():
        key = recipe or "default", model
        if served_database.project is not None:
            options = session_options(
                served_database.known, str(served_database.project.folder), recipe=recipe, model=model
            )
            key = options["recipe"], options["model"]
        if key not in bases:
            bases[key] = stack.enter_context(opened(served_database.database, recipe=key[0], model=key[1]))
        with_base[name] = replace(served_database, base=bases[key])
    return with_base
