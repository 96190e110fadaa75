"""``sqljury init``, ``test`` and ``feedback``: make a context folder, see what broke in it, and let it learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import show, terminal
from sqljury.cli.options import AdapterOption, CacheOption, ModelOption, ProjectOption, SeedOption, TimeoutOption

if TYPE_CHECKING:
    from sqljury.project import Project
    from sqljury.project.approved import Outcome
    from sqljury.project.feedback import Feedback, Proposal

BROKE = 10
"""What ``sqljury test`` ends with where a pair broke."""


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The folder; it is created if it does not exist.")
    ] = Path("."),
    db: Annotated[
        list[str] | None,
        typer.Option(
            "--db", metavar="[NAME=]URL", help="A database, by path or URL; repeatable. The first is the default."
        ),
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


def take_over(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="dbt's manifest.json or semantic_manifest.json, or Apache Ossie semantic models."
        ),
    ],
    db: Annotated[str, typer.Option("--db", help="The database of the folder; by default the default one.")] = "",
    project: ProjectOption = None,
) -> None:
    """Import descriptions, joins and metrics as notes, and list what could not be used."""
    from sqljury.api import Session, project_of
    from sqljury.project import imports

    folder = project_of(project)
    known = folder.database(db)
    with Session(**{**known.session(examples=False), "notes": (), "model": "none"}) as session:
        schema = session.describe().schema
    for kind, imported in imports.collect(files, schema.dialect).items():
        path = folder.imports_folder(known.name) / f"{kind}.yaml"
        left_out = imports.write(path, imported, schema)
        terminal.show(f"written: {terminal.clean(str(path))}")
        if folder.settings.databases[known.name].notes:
            terminal.say(f"sqljury.toml lists the notes of {known.name}: add {path.relative_to(folder.folder)} there")
        if left_out:
            terminal.show(f"Not used ({len(left_out)}):", *(f"  {terminal.clean(line)}" for line in left_out))


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
    """Ask the approved questions again and report what broke; exit code 10 if anything did."""
    from sqljury.api import project_of
    from sqljury.cli.options import adapted
    from sqljury.errors import InputError
    from sqljury.project import approved
    from sqljury.resources import must_write

    folder = project_of(project)
    names = tuple(db) if db else folder.names
    session = {"seed": seed, "cache": cache, **({"model": given} if (given := adapted(model, adapter)) else {})}
    outcomes: list[Outcome] = []
    try:
        for name in names:
            outcomes += _outcomes(folder, name, sql_only, timeout, session)
    finally:
        if junit is not None:
            with must_write(junit, InputError, "name another file"):
                junit.write_text(approved.junit(outcomes, str(folder.folder)), encoding="utf-8")
    if not outcomes:
        terminal.say("there is no approved pair; add lines to examples.jsonl, or take them over with sqljury feedback")
        return
    failed = [outcome for outcome in outcomes if not outcome.passed]
    terminal.show(f"{len(outcomes) - len(failed)} of {len(outcomes)} passed.")
    if failed:
        raise typer.Exit(BROKE)


def feedback(
    project: ProjectOption = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the proposed lines; review them with git diff.")
    ] = False,
) -> None:
    """Propose examples, terms and rules from ratings and corrections, and name the context that answers lacked."""
    from sqljury.api import project_of
    from sqljury.project import feedback as given

    folder = project_of(project)
    entries = given.read(folder)
    proposal = given.Proposal()
    for name in folder.names:
        if any(entry.database == name for entry in entries):
            _propose(folder, name, entries, proposal)
    for entry in entries:
        if entry.database not in folder.names:
            proposal.left_out.append(f"{entry.place}: is on {entry.database[:80]!r}, which sqljury.toml does not have")
    diff = proposal.diff(folder.folder)
    print(terminal.clean_lines(diff) if diff else f"{len(entries)} lines of feedback propose nothing new.")
    for heading, lines in (("Missing context:", proposal.missing), ("Not used:", proposal.left_out)):
        if lines:
            terminal.show("", heading, *(f"  {terminal.clean(line)}" for line in lines))
    if apply:
        proposal.apply()
    elif diff:
        terminal.say("nothing is written yet; --apply writes these lines")


def _propose(folder: Project, name: str, entries: list[Feedback], proposal: Proposal) -> None:
    from sqljury.api import Session
    from sqljury.project.feedback import propose

    known = folder.database(name)
    with Session(**{**known.session(examples=False), "model": "none"}) as session:

        def failing(sql: str) -> str:
            error = session.query(sql, 1).error
            return str(error) if error else ""

        propose(folder, known, entries, session.describe().schema, failing, proposal)


def _outcomes(folder: Project, name: str, sql_only: bool, timeout: float, session: dict[str, object]) -> list[Outcome]:
    """The outcomes of one database's pairs, each printed as it comes; broken ones where it cannot be opened."""
    from sqljury.api import Session
    from sqljury.errors import DatabaseError
    from sqljury.project.approved import Outcome, run
    from sqljury.types import Limits

    known = folder.database(name)
    if not known.approved:
        return []
    limits = Limits(seconds=timeout)
    options = {**known.session(examples=False), **session, "limits": limits}
    if sql_only:
        options["model"] = "none"
    outcomes: list[Outcome] = []

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        terminal.show(terminal.clean(f"{outcome.status:9} {name}: {outcome.pair.question}"))
        if not outcome.passed:
            for line in (f"{outcome.pair.place}: {outcome.why}", outcome.sql and f"answer: {outcome.sql}"):
                terminal.show(*([f"          {terminal.clean(line)}"] if line else []))

    with show.progress() as report, terminal.interruptible() as cancel:
        try:
            with Session(**options, progress=report, cancel=cancel) as opened:
                for outcome in run(known.approved, opened.database, None if sql_only else opened.ask, limits):
                    note(outcome)
        except DatabaseError as error:  # the pairs of the other databases are still tested
            for pair in known.approved[len(outcomes) :]:
                note(Outcome(pair, "broken", str(error)))
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
