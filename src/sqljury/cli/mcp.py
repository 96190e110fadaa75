"""``sqljury mcp``: databases for agents, by the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sqljury.cli import terminal
from sqljury.cli.options import (
    AccessOption,
    AdapterOption,
    AllowOption,
    AskedRecipe,
    BudgetSeconds,
    CacheOption,
    DenyOption,
    MaskOption,
    ModelOption,
    NotesOption,
    PrivacyOption,
    ProjectOption,
    SeedOption,
    TimeoutOption,
    access_of,
    adapted,
    allowance,
)
from sqljury.cli.target import project_for, session_options

if TYPE_CHECKING:
    from sqljury.mcp.databases import Databases


def serve(
    db: Annotated[
        list[str] | None,
        typer.Option(
            "--db",
            metavar="[NAME=]URL",
            help="A database, by path, URL or name in the context folder; repeatable. By default all of the folder.",
        ),
    ] = None,
    project: ProjectOption = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, in place of stdio.")] = False,
    host: Annotated[
        str, typer.Option(help="With --http: the address to listen on; other than loopback only with --tokens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --http: the port.")] = 8765,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="With --http: a TOML file of tokens with their databases and rules, as for `serve`."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: a name under which clients call this server; repeatable."),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print how common clients are told of this server, and exit.")
    ] = False,
    recipe: AskedRecipe = None,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    notes: NotesOption = None,
    budget_seconds: BudgetSeconds = None,
    timeout: TimeoutOption = 30.0,
    seed: SeedOption = 0,
    cache: CacheOption = True,
    access: AccessOption = None,
    allow: AllowOption = None,
    deny: DenyOption = None,
    mask: MaskOption = None,
    privacy: PrivacyOption = None,
) -> None:
    """Serve databases to agents by the Model Context Protocol, read-only: on stdin and stdout, or by HTTP."""
    from sqljury.types import Limits

    beside = {
        "recipe": recipe,
        "model": adapted(model, adapter),
        "access": access_of(access, allow, deny, mask),
        "privacy": privacy and privacy.value,
        "notes": notes,
    }
    described, default = _described(db, project, beside)
    if print_config:
        _print_config()
        return
    common = {
        "limits": Limits(seconds=timeout),
        "allowance": allowance(budget_seconds, None),
        "seed": seed,
        "cache": cache,
    }
    from sqljury.errors import InputError

    if not http and (tokens is not None or allow_host):
        raise InputError(f"{'--tokens' if tokens is not None else '--allow-host'} is for --http; add that")
    listening = _Listening(host, port, tokens, tuple(allow_host or ())) if http else None
    _serve(described, default, common, listening)


class _Listening(NamedTuple):
    """Where and for whom HTTP is served."""

    host: str
    port: int
    tokens: str | None
    hosts: tuple[str, ...]


def _serve(
    described: dict[str, dict[str, Any]], default: str, common: dict[str, Any], listening: _Listening | None
) -> None:
    from importlib.metadata import version

    from sqljury.errors import MissingExtraError

    try:
        from sqljury.mcp import server as mcp_server
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("sqljury"):
            raise
        raise MissingExtraError("mcp", "mcp") from None
    from sqljury.mcp.databases import Databases
    from sqljury.web.settings import Settings

    settings = None if listening is None else Settings(listening.host, listening.port, listening.hosts)
    if settings is not None and listening is not None:
        settings.check(tokens=listening.tokens is not None)
    with Databases(described, default, **common) as databases:
        _try(databases)
        server = mcp_server.build(databases, version("sqljury"))
        if settings is None or listening is None:
            server.run("stdio")
            return
        allowed = None if listening.tokens is None else _allowed(listening.tokens, databases)
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
    clean = Problems(place for name in databases.names for place in Served(databases.plain(name)[0]).places).clean
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
    """Open every database now, so that a wrong path is told to who starts the server."""
    from sqljury.context import silent

    for name in databases.names:
        databases.session(name, silent)


def _described(
    targets: list[str] | None, project: str | None, beside: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], str]:
    """The arguments of ``Session`` for each database by name, and the default name."""
    from sqljury.errors import InputError
    from sqljury.project import is_name, starter

    if not targets:
        folder = project_for(None, project)
        if folder is None:
            raise InputError("no database; give --db, or work in a folder with sqljury.toml (sqljury init makes one)")
        return {name: session_options(name, str(folder.folder), **beside) for name in folder.names}, folder.default
    described = {}
    for target in targets:
        name, separator, url = target.partition("=")
        if not (separator and is_name(name)):
            name, url = target if is_name(target) else starter.name_of(target), target
        if name in described:
            raise InputError(f"two databases are called {name}; write --db NAME={url}")
        described[name] = session_options(url, project, **beside)
    return described, ""


def _print_config() -> None:
    """The registration of this very command line, without ``--print-config`` and with absolute paths."""
    import sys

    from sqljury.mcp.clients import registration

    arguments = [_absolute(argument) for argument in sys.argv[1:] if argument != "--print-config"]
    if not any(argument.partition("=")[0] in ("--db", "--project") for argument in arguments):
        folder = project_for(None, None)
        arguments += ["--project", str(folder.folder)] if folder else []
    print(terminal.clean_lines(registration([*_program(), *arguments])))


def _program() -> list[str]:
    """What starts ``sqljury`` from any folder."""
    import shutil
    import sys
    from pathlib import Path

    beside = Path(sys.executable).with_name("sqljury")
    found = str(beside) if beside.is_file() else shutil.which("sqljury")
    return [found] if found else [sys.executable, "-m", "sqljury"]


def _absolute(argument: str) -> str:
    """An argument whose path, if it has one, does not depend on the folder; raises ``InputError`` for a password."""
    import os

    from sqljury.errors import InputError
    from sqljury.project.settings import has_password

    if has_password(argument):
        raise InputError("the URL has a password, which a client would store; make a context folder with sqljury init")
    head, separator, path = argument.rpartition("=")
    return f"{head}{separator}{os.path.abspath(path)}" if os.path.exists(path) else argument
