"""``sqljury mcp``: databases for agents, by the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import AnswerOptions, ListenOptions, ViewOptions, grouped
from sqljury.cli.options import NotesOption, ProjectOption, WorkersOption
from sqljury.cli.target import project_for, session_options

if TYPE_CHECKING:
    from sqljury.mcp.databases import Databases
    from sqljury.project import Project
    from sqljury.web.settings import Settings

_PATHS: Final = ("--project", "--notes", "--access")
"""Options whose value is a path."""
_FILES: Final = {"--recipe": ".toml", "--model": ".gguf", "--adapter": ".gguf"}
"""Options whose value is a path where it ends like this, and a name elsewhere."""


@dataclass(frozen=True, kw_only=True)
class HttpListenOptions(ListenOptions):
    """The same with ``--http`` alone, and for calls of tools."""

    host: Annotated[
        str, typer.Option(help="With --http: the address to listen on; other than loopback only with --tokens.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --http: the port.")] = 8765
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="With --http: a TOML file of tokens with their databases and rules, as for `serve`."
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: a name under which clients call this server; repeatable."),
    ] = None
    workers: WorkersOption = 8


@grouped
def serve(
    *,
    db: Annotated[
        list[str] | None,
        typer.Option(
            "--db",
            metavar="[NAME=]URL",
            help="A database, by path, URL or name in the context folder; repeatable. By default all of the "
            "context folder.",
        ),
    ] = None,
    project: ProjectOption = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, in place of stdio.")] = False,
    listening: HttpListenOptions,
    print_config: Annotated[
        bool,
        typer.Option("--print-config", help="Print the configuration of this server for common clients, and exit."),
    ] = False,
    answering: AnswerOptions,
    notes: NotesOption = None,
    view: ViewOptions,
) -> None:
    """Serve databases to agents by the Model Context Protocol, read-only: on stdin and stdout, or by HTTP."""
    from sqljury.errors import InputError
    from sqljury.mcp.databases import Databases

    beside = {**answering.target(), "notes": notes, **view.target()}
    described, default = _described(db, project, beside)
    tokens, settings = listening.tokens, listening.settings()
    if http:
        settings.check(tokens=tokens is not None)
    elif tokens is not None or settings.hosts:
        raise InputError(f"{'--tokens' if tokens is not None else '--allow-host'} is for --http; add that")
    if print_config:
        _print_config(db or [], project, settings if http else None, tokens)
        return
    _serve(Databases(described, default, **answering.session()), settings, http=http, tokens=tokens)


def _serve(opened: Databases, settings: Settings, *, http: bool, tokens: str | None) -> None:
    from importlib.metadata import version

    from sqljury.errors import MissingExtraError
    from sqljury.parallel.jobs import Jobs

    try:
        from sqljury.mcp import server as mcp_server
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("sqljury"):
            raise
        raise MissingExtraError("mcp", "mcp") from None
    with opened as databases:
        _try(databases)
        jobs = Jobs(settings.workers, settings.queue, settings.seconds, shared=tokens is not None)
        server = mcp_server.build(databases, version("sqljury"), jobs)
        if not http:
            server.run("stdio")
            return
        allowed = None if tokens is None else _allowed(tokens, databases)
        at = f"[{settings.host}]" if ":" in settings.host else settings.host
        terminal.note(f"serving {', '.join(databases.names)} at http://{at}:{settings.port}/mcp")
        mcp_server.serve_http(server, (settings.host, settings.port), settings.names, allowed)


def _allowed(file: str, databases: Databases) -> Callable[[str], tuple[str, Databases] | None]:
    """By token its client's name and databases; every rule is tried now, so that a wrong one is told to who starts."""
    from sqljury.mcp.databases import Allowed
    from sqljury.web.databases import Served
    from sqljury.web.problems import Problems
    from sqljury.web.tokens import Tokens

    known = Tokens.load(file, databases.names)
    clean = Problems(location for name in databases.names for location in Served(databases.plain(name)[0]).places).clean
    views = {
        client.name: Allowed(
            databases, [name for name in databases.names if client.may_use(name)], client.access, clean
        )
        for client in known.clients
    }
    for view in views.values():
        _try(view)

    def allowed(token: str) -> tuple[str, Databases] | None:
        client = known.client(token)
        return None if client is None else (client.name, views[client.name])

    return allowed


def _try(databases: Databases) -> None:
    """Open every database now, so that a wrong path, and notes that do not fit, are told to who starts the server."""
    from sqljury.context import silent
    from sqljury.errors import NotesError
    from sqljury.schema.introspect import introspect
    from sqljury.schema.notes import bind
    from sqljury.stages.prepare import visible

    for name in databases.names:
        session = databases.session(name, silent)
        try:
            bind(introspect(session.database), visible(session.database, session.notes))
        except NotesError as error:
            raise NotesError(f"{name}: {error}") from None


def _described(
    targets: list[str] | None, project: str | None, beside: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], str]:
    """The arguments of ``Session`` for each database by name, and the default name."""
    from sqljury.errors import InputError

    if not targets:
        folder = project_for(None, project)
        if folder is None:
            raise InputError("no database; give --db, or work in a folder with sqljury.toml (sqljury init makes one)")
        return {name: session_options(name, str(folder.folder), **beside) for name in folder.names}, folder.default
    described = {}
    for target in targets:
        name, url = _named(target)
        if name in described:
            raise InputError(f"two databases are called {name}; write --db NAME={url}")
        described[name] = session_options(url, project, **beside)
    return described, ""


def _named(target: str) -> tuple[str, str]:
    """The name of a database on the server, and its path, URL or name in the folder."""
    from sqljury.project import is_name, starter

    name, separator, url = target.partition("=")
    if separator and is_name(name):
        return name, url
    return target if is_name(target) else starter.name_of(target), target


def _print_config(targets: list[str], project: str | None, http: Settings | None, tokens: str | None) -> None:
    """The registration of this very command line, without ``--print-config`` and with absolute paths."""
    import sys

    from sqljury.mcp.clients import registration, remote_registration
    from sqljury.project.settings import variables

    if http is not None:
        host = next(iter(http.hosts), http.host)
        url = f"http://{f'[{host}]' if ':' in host else host}:{http.port}/mcp"
        print(terminal.clean_lines(remote_registration(url, token=tokens is not None)))
        return
    given = [argument for argument in sys.argv[1:] if argument != "--print-config"]
    folder = _folder(targets, project)
    arguments = list(_absolute(given, project))
    needed: dict[str, None] = {}
    if folder is not None:
        arguments += [] if project is not None else ["--project", str(folder.folder)]
        for name in [_named(target)[1] for target in targets] or folder.names:
            needed |= dict.fromkeys(variables(folder.settings.databases[name].url))
    print(terminal.clean_lines(registration([*_program(), *arguments], list(needed))))
    if needed:
        terminal.note(f"the client starts the server in its own environment; set {', '.join(needed)} there")


def _folder(targets: list[str], project: str | None) -> Project | None:
    """The context folder of all databases; raises ``InputError`` where only some are of it: a command has one."""
    from sqljury.errors import InputError

    locations = [_named(target)[1] for target in targets]
    folders = {location: project_for(location, project) for location in locations} or {"": project_for(None, project)}
    outside = [location for location, folder in folders.items() if folder is None]
    if outside and len(outside) < len(folders):
        raise InputError(
            f"{outside[0]} is not in the context folder, but other databases are; one server cannot serve both: "
            "add it to sqljury.toml, or register it as a second server"
        )
    return next(iter(folders.values()))


def _program() -> list[str]:
    """What starts ``sqljury`` from any folder."""
    import shutil
    import sys
    from pathlib import Path

    beside = Path(sys.executable).with_name("sqljury")
    program = str(beside) if beside.is_file() else shutil.which("sqljury")
    return [program] if program else [sys.executable, "-m", "sqljury"]


def _absolute(arguments: Sequence[str], project: str | None) -> Iterator[str]:
    """The arguments with paths that do not depend on the folder; raises ``InputError`` for a password."""
    from sqljury.errors import InputError
    from sqljury.project.settings import has_password

    before = ""
    for argument in arguments:
        if has_password(argument):
            raise InputError(
                "the URL has a password, which a client would store; make a context folder with sqljury init"
            )
        option, separator, value = argument.partition("=") if argument.startswith("--") else (before, "", argument)
        placed = _placed(option, value, project)
        yield f"{option}{separator}{placed}" if argument.startswith("--") else placed
        before = argument


def _placed(option: str, value: str, project: str | None) -> str:
    """The value of an option; a path in it is made absolute."""
    import os

    name = ""
    if option == "--db":
        location = _named(value)[1]
        name = value.removesuffix(location)
        is_path = "://" not in location and project_for(location, project) is None
    else:
        location = value
        is_path = option in _PATHS or (option in _FILES and value.endswith(_FILES[option]))
    return f"{name}{os.path.abspath(os.path.expanduser(location))}" if is_path and location else value
