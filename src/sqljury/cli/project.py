"""``sqljury init`` and ``sqljury test``: make a context folder, and see what broke in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import show, terminal
from sqljury.cli.options import AdapterOption, CacheOption, ModelOption, ProjectOption, SeedOption, TimeoutOption

if TYPE_CHECKING:
    from sqljury.project import Project
    from sqljury.project.approved import Outcome

BROKE = 10
"""What ``sqljury test`` ends with where a pair broke."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder; it is made if need be.")] = Path("."),
    db: Annotated[
        list[str] | None,
        typer.Option("--db", metavar="[NAME=]URL", help="A database, by path or URL; repeatable. The first is asked."),
    ] = None,
) -> None:
    """Make a context folder: sqljury.toml, notes.yaml, glossary.yaml and examples.jsonl."""
    from sqljury.project import starter

    named = dict(_named(text) for text in db or ())
    sizes = [_size_of(url) for url in named.values()]  # before anything is written
    written, variables = starter.create(folder, named)
    for file in written:
        terminal.show(f"written: {terminal.clean(str(file))}")
    for name, size in zip(named, sizes, strict=True):
        terminal.show(f"database {name}: {size}")
    for variable in variables:
        terminal.say(f"the password is not in the file; set the environment variable {variable} before you ask")


def retest(
    db: Annotated[
        list[str] | None, typer.Option("--db", help="A database of the folder; repeatable, all by default.")
    ] = None,
    project: ProjectOption = None,
    sql_only: Annotated[
        bool, typer.Option("--sql-only", help="Run only the approved queries; no model is asked.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the outcomes as JUnit XML.")] = None,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    seed: SeedOption = 0,
    timeout: TimeoutOption = 30.0,
    cache: CacheOption = True,
) -> None:
    """Ask the approved questions again and say what broke; exit code 10 if anything did."""
    from sqljury.api import project_of
    from sqljury.cli.options import adapted
    from sqljury.errors import InputError
    from sqljury.project import approved

    folder = project_of(project)
    names = tuple(db) if db else folder.names
    session = {"seed": seed, "cache": cache, **({"model": given} if (given := adapted(model, adapter)) else {})}
    outcomes = [outcome for name in names for outcome in _outcomes(folder, name, sql_only, timeout, session)]
    if junit is not None:
        try:
            junit.write_text(approved.junit(outcomes, str(folder.folder)), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{junit}: cannot be written ({error.strerror}); name another file") from None
    if not outcomes:
        terminal.say("there is no approved pair; add lines to examples.jsonl, or take them over with sqljury feedback")
        return
    failed = [outcome for outcome in outcomes if not outcome.passed]
    terminal.show(f"{len(outcomes) - len(failed)} of {len(outcomes)} passed.")
    if failed:
        raise typer.Exit(BROKE)


def _outcomes(folder: Project, name: str, sql_only: bool, timeout: float, session: dict[str, object]) -> list[Outcome]:
    """The outcomes of one database's pairs, each printed as it comes."""
    from sqljury.api import Session
    from sqljury.project.approved import run
    from sqljury.types import Limits

    known = folder.database(name)
    if not known.approved:
        return []
    limits = Limits(seconds=timeout)
    options = {**known.session(examples=False), **session, "limits": limits}
    if sql_only:
        options["model"] = "none"
    outcomes = []
    with (
        show.progress() as report,
        terminal.interruptible() as cancel,
        Session(**options, progress=report, cancel=cancel) as opened,
    ):
        for outcome in run(known.approved, opened.database, None if sql_only else opened.ask, limits):
            outcomes.append(outcome)
            terminal.show(terminal.clean(f"{outcome.status:9} {name}: {outcome.pair.question}"))
            if not outcome.passed:
                for line in (f"{outcome.pair.place}: {outcome.why}", outcome.sql and f"answer: {outcome.sql}"):
                    terminal.show(*([f"          {terminal.clean(line)}"] if line else []))
    return outcomes


def _named(text: str) -> tuple[str, str]:
    from sqljury.project import is_name, starter

    name, separator, url = text.partition("=")
    return (name, url) if separator and url and is_name(name) else (starter.name_of(text), text)


def _size_of(url: str) -> str:
    """How many tables a database has, so that a wrong path or URL is noticed now."""
    from sqljury.db.connect import connect
    from sqljury.schema.introspect import introspect
    from sqljury.types.schema import DIALECT_NAMES

    with connect(url) as opened:
        schema = introspect(opened)
    tables = len(schema.tables)
    return f"{DIALECT_NAMES.get(schema.dialect, schema.dialect)}, {tables} table{'' if tables == 1 else 's'}"
