"""``sqljury index``: build the value index of a database and search it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.options import AccessOption, AllowOption, DenyOption, MaskOption, SchemaOption, access_of
from sqljury.cli.target import session_options

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.values import Match, ValueIndex

app = typer.Typer(
    help="Build and search the value index: the stored values that a text may mean.", no_args_is_help=True
)

Db = Annotated[
    str, typer.Argument(metavar="DB", help="The database, as in --db of `sqljury ask`; it is opened read-only.")
]


class Output(StrEnum):
    """The output formats of matches."""

    TABLE = "table"
    JSON = "json"


@app.command("build")
def build(
    db: Db,
    schema: SchemaOption = None,
    access: AccessOption = None,
    allow: AllowOption = None,
    deny: DenyOption = None,
    mask: MaskOption = None,
) -> None:
    """Build the index anew and list the columns that were left out; each set of access rules has its own index."""
    with _index(db, schema, access_of(access, allow, deny, mask), anew=True) as index:
        values, columns = sum(index.columns.values()), len(index.columns)
        print(f"{values:,} values of {columns} column{'' if columns == 1 else 's'}")
        for (table, column), why in index.notes.items():
            print(terminal.clean(f"{table}.{column}: {why}"))
        if index.path is not None:
            print(f"{terminal.clean(str(index.path))} ({os.path.getsize(index.path) / 1e6:,.1f} MB)")


@app.command("search")
def search(
    db: Db,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts to search for, each on its own.")],
    schema: SchemaOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Values to find for each text.")] = 5,
    output: Annotated[Output, typer.Option(help="The output format.")] = Output.TABLE,
    access: AccessOption = None,
    allow: AllowOption = None,
    deny: DenyOption = None,
    mask: MaskOption = None,
) -> None:
    """Find the values nearest to each text; the index is built or refreshed first if necessary."""
    with _index(db, schema, access_of(access, allow, deny, mask)) as index:
        matches = index.search_many(texts, limit)
    if output is Output.JSON:
        listed = [{"text": text, "matches": list(map(asdict, own))} for text, own in zip(texts, matches, strict=True)]
        print(terminal.to_json(listed))
        return
    for text, own in zip(texts, matches, strict=True):
        _print(text, own, titled=len(texts) > 1)


def _print(text: str, matches: list[Match], *, titled: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    if titled:
        terminal.show(Text(terminal.clean(text), style="bold"))
    table = Table(box=None, pad_edge=False)
    for title in ("score", "value", "column", "found by"):
        table.add_column(title, justify="right" if title == "score" else "left", overflow="fold")
    for match in matches:
        where = terminal.clean(f"{match.table}.{match.column}")
        table.add_row(f"{match.score:.2f}", Text(terminal.clean(match.value)), Text(where), match.how)
    terminal.show(table if matches else "no near value")


@contextmanager
def _index(target: str, schemas: list[str] | None, rules: Access | None, *, anew: bool = False) -> Iterator[ValueIndex]:
    """The index of this database, up to date; progress is shown on a terminal."""
    import sys

    from rich.progress import BarColumn, Progress, TextColumn

    from sqljury.access.guard import guard, skip
    from sqljury.cli.terminal import interruptible
    from sqljury.db.connect import connect
    from sqljury.schema.introspect import introspect
    from sqljury.values import build, open_or_build

    known = session_options(target, None, schemas=schemas, access=rules)
    target, schemas, rules = known["database"], known.get("schemas"), known.get("access")
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    silent = not sys.stderr.isatty()
    bar = Progress(*columns, console=terminal.console(stderr=True), transient=True, disable=silent)
    with interruptible() as cancel, connect(target, schemas or ()) as opened:
        source = guard(opened, introspect(opened), rules) if rules else opened
        with bar:
            task = bar.add_task("opening", total=None)
            index = (build if anew else open_or_build)(
                source,
                introspect(source),
                progress=lambda what, done, total: bar.update(
                    task, description=terminal.clean(what), completed=done, total=total or None
                ),
                cancel=cancel,
                skip_columns=skip(source),
            )
        yield index
