"""``sqljury index``: build the value index of a database and search it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import AccessOptions, grouped
from sqljury.cli.options import SchemaOption
from sqljury.cli.target import session_options

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.db.base import Database
    from sqljury.parallel.processes import Tell, Work
    from sqljury.types import Schema
    from sqljury.values import Match, ValueIndex
    from sqljury.values.collect import Skip

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
@grouped
def build(
    dbs: Annotated[
        list[str],
        typer.Argument(metavar="DB...", help="Databases, as in --db of `sqljury ask`; they are opened read-only."),
    ],
    access: AccessOptions,
    schema: SchemaOption = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that build indexes of several databases.")] = 1,
) -> None:
    """Build indexes anew and list the columns that were left out; each set of access rules has its own index."""
    from sqljury.parallel.processes import map_processes

    builder = _Builder(schema, access.rules())
    if len(dbs) == 1:
        _print_built(builder.built(dbs[0]))
        return
    map_processes(builder.begin, dbs, builder.lost, silence=inf, processes=processes, on_result=_print_built)


@dataclass(frozen=True)
class _Builder:
    """The work of one process: what is to be printed of each index that it builds."""

    schemas: list[str] | None
    rules: Access | None

    def begin(self) -> Work[str, list[str]]:
        return self._alone

    def lost(self, db: str, why: str, _: object) -> list[str]:
        from sqljury.errors import DatabaseError

        scheme, separator, address = db.partition("://")
        shown = f"{scheme}://…" if separator and re.search("[@?]", address) else db  # a user and options may be secrets
        raise DatabaseError(f"{shown}: its value index cannot be built; {why}")

    def built(self, db: str) -> list[str]:
        with _index(db, self.schemas, self.rules, anew=True) as index:
            return _lines(index)

    def _alone(self, db: str, _: Tell) -> list[str]:
        """Without progress on the terminal, which belongs to the parent, as does Ctrl-C."""
        with _source(db, self.schemas, self.rules) as (source, schema, skipped):
            from sqljury.values import build

            shown = source.url if "://" in db else db  # the URL may have a password
            return [f"{shown}:", *_lines(build(source, schema, skip_columns=skipped))]


def _lines(index: ValueIndex) -> list[str]:
    values, columns = sum(index.columns.values()), len(index.columns)
    lines = [f"{values:,} values of {columns} column{'' if columns == 1 else 's'}"]
    lines += [f"{table}.{column}: {why}" for (table, column), why in index.notes.items()]
    if index.path is not None:
        lines.append(f"{index.path} ({os.path.getsize(index.path) / 1e6:,.1f} MB)")
    return lines


def _print_built(lines: list[str]) -> None:
    print("\n".join(map(terminal.clean, lines)))


@app.command("search")
@grouped
def search(
    db: Db,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts to search for, each on its own.")],
    access: AccessOptions,
    schema: SchemaOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Values to find for each text.")] = 5,
    output: Annotated[Output, typer.Option(help="The output format.")] = Output.TABLE,
) -> None:
    """Find the values nearest to each text; the index is built or refreshed first if necessary."""
    with _index(db, schema, access.rules()) as index:
        matches = index.search_many(texts, limit)
    if output is Output.JSON:
        listed = [
            {"text": text, "matches": list(map(asdict, nearest))} for text, nearest in zip(texts, matches, strict=True)
        ]
        print(terminal.to_json(listed))
        return
    for text, nearest in zip(texts, matches, strict=True):
        _print(text, nearest, titled=len(texts) > 1)


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

    from sqljury.cli.terminal import interruptible
    from sqljury.values import build, open_or_build

    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    silent = not sys.stderr.isatty()
    bar = Progress(*columns, console=terminal.console(stderr=True), transient=True, disable=silent)
    with interruptible() as cancel, _source(target, schemas, rules) as (source, schema, skipped):
        with bar:
            task = bar.add_task("opening", total=None)
            index = (build if anew else open_or_build)(
                source,
                schema,
                progress=lambda what, done, total: bar.update(
                    task, description=terminal.clean(what), completed=done, total=total or None
                ),
                cancel=cancel,
                skip_columns=skipped,
            )
        yield index


@contextmanager
def _source(target: str, schemas: list[str] | None, rules: Access | None) -> Iterator[tuple[Database, Schema, Skip]]:
    """The database as its rules let it be seen, its schema, and which columns are skipped."""
    from sqljury.access.guard import guard, skip
    from sqljury.db.connect import connect
    from sqljury.schema.introspect import introspect

    known = session_options(target, None, schemas=schemas, access=rules)
    rules = known.get("access")
    with connect(known["database"], known.get("schemas") or ()) as opened:
        source = guard(opened, introspect(opened), rules) if rules else opened
        yield source, introspect(source), skip(source)
