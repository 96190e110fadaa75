"""``sqljury schema``: what is known of a database before a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sqljury.cli import show, terminal
from sqljury.cli.groups import AccessOptions, grouped
from sqljury.cli.options import DbOption, NotesOption, ProjectOption, SchemaOption
from sqljury.cli.target import session_options
from sqljury.cli.terminal import clean
from sqljury.types.schema import DIALECT_NAMES

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as Grid

    from sqljury.schema.describe import Description
    from sqljury.types import Column, ForeignKey, Table

SHOWN_TABLES: Final = 300
SHOWN_KEYS: Final = 1_000
REMARK_CHARS: Final = 300


class Output(StrEnum):
    """The output formats of a schema."""

    TABLE = "table"
    JSON = "json"


@grouped
def describe(
    access: AccessOptions,
    db: DbOption = None,
    project: ProjectOption = None,
    schema: SchemaOption = None,
    notes: NotesOption = None,
    output: Annotated[Output, typer.Option(help="The output format.")] = Output.TABLE,
) -> None:
    """Show tables, columns and keys as the model sees them, with the evidence for inferred keys."""
    from sqljury import api

    target = session_options(db, project, schemas=schema, access=access.rules(), notes=notes)
    known = {name: value for name, value in target.items() if name in ("database", "schemas", "access", "notes")}
    with show.progress() as report, terminal.interruptible() as cancel:
        description = api.describe(**known, progress=report, cancel=cancel)
    if output is Output.JSON:
        print(terminal.to_json(description.to_dict()))
        return
    terminal.show(*parts(description))


def parts(description: Description) -> Iterator[RenderableType]:
    """The description as texts and tables, one below the other."""
    tables = description.schema.tables
    keys = [(table, key) for table in tables for key in table.foreign_keys]
    yield _heading(description, [key for _, key in keys])
    yield ""
    yield _columns(tables[:SHOWN_TABLES], description)
    if keys:
        yield ""
        yield _keys(keys[:SHOWN_KEYS])
    if len(tables) > SHOWN_TABLES or len(keys) > SHOWN_KEYS:
        yield f"\nThe first {SHOWN_TABLES} tables and {SHOWN_KEYS:,} keys are shown; --output json has all."


def _heading(description: Description, keys: list[ForeignKey]) -> str:
    schema = description.schema
    kinds = {"declared": 0, "from notes": 0, "likely": 0}
    for key in keys:
        kinds[_source(key)] += 1
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
    return ", ".join(
        (
            f"{clean(schema.name)}: {DIALECT_NAMES.get(schema.dialect, schema.dialect)}",
            _count(len(schema.tables), "table"),
            _count(sum(len(table.columns) for table in schema.tables), "column"),
            _count(len(keys), "foreign key") + (f" ({counts})" if counts else ""),
        )
    )


def _columns(tables: Sequence[Table], description: Description) -> Grid:
    """All tables in one grid, so that their columns stand below each other."""
    from rich.text import Text

    grid = _grid("table, column", "type", "key", "remarks")
    for number, table in enumerate(tables):
        kind = table.kind if table.kind != "table" else ""
        grid.add_row(Text(clean(table.name), "bold"), kind, "", _remark(table.comment))
        for column in table.columns:
            remarks = (column.comment, _allowed(column), description.contents.get((table.name, column.name), ""))
            keys = Text(clean(", ".join(_marks(table, column))))
            grid.add_row(Text(f"  {clean(column.name)}"), Text(clean(column.type)), keys, _remark(*remarks))
        if number < len(tables) - 1:
            grid.add_row()
    return grid


def _marks(table: Table, column: Column) -> Iterator[str]:
    if column.name in table.primary_key:
        yield "primary key"
    elif column.name in table.likely_key:
        yield "likely key"
    elif column.unique:
        yield "unique"
    for key in table.foreign_keys:
        for name, ref_column in zip(key.columns, key.ref_columns, strict=True):
            if name == column.name:
                yield f"{'' if key.certain else 'likely '}-> {key.ref_table}.{ref_column}"


def _allowed(column: Column) -> str:
    values = f"one of {', '.join(column.values)}" if column.values else ""
    return "; ".join(filter(None, (values, "computed from other columns" if column.generated else "")))


def _keys(keys: Sequence[tuple[Table, ForeignKey]]) -> Grid:
    from rich.text import Text

    from sqljury.schema.notes import EVIDENCE

    grid = _grid("foreign key", "refers to", "source", "evidence")
    for table, key in keys:
        ends = _end(table.name, key.columns), _end(key.ref_table, key.ref_columns)
        source = _source(key) if key.certain else f"{_source(key)} {key.score:.2f}"
        evidence = () if key.evidence == EVIDENCE else key.evidence
        grid.add_row(*(Text(clean(text)) for text in (*ends, source, "; ".join(evidence))))
    return grid


def _end(table: str, columns: tuple[str, ...]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}({', '.join(columns)})"


def _source(key: ForeignKey) -> str:
    return "declared" if key.declared else "from notes" if key.certain else "likely"


def _grid(*titles: str) -> Grid:
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        grid.add_column(title, overflow="fold")
    return grid


def _remark(*texts: str) -> RenderableType:
    from rich.text import Text

    text = " ".join(clean("; ".join(filter(None, texts))).split())
    return Text(text if len(text) <= REMARK_CHARS else text[: REMARK_CHARS - 1] + "…")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
