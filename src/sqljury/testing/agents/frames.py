"""The tables of a test case as pandas frames: their names, their cells as Arrow, and how a prompt shows them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import MissingExtraError
from sqljury.sql.affinity import affinity, stored
from sqljury.sql.text import COMMENT_CHARS, plain, remark, type_text
from sqljury.types import Cell, Column, ForeignKey, Row, Schema, TestCase

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_ROWS: Final = 12
SHOWN_NAME: Final = 80
SHOWN_CELL: Final = 80
"""Longer than in other prompts: a program compares with the whole text."""

_TAKEN: Final = frozenset({"pd", "np", "result", "tables", *keyword.kwlist, *keyword.softkwlist, *dir(builtins)})
_MIDNIGHT: Final = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?")
_WHOLE: Final = 2**53
"""Up to here pandas keeps integers as they are beside a missing value, which makes them floats."""


def frame_names(schema: Schema) -> dict[str, str]:
    """By table, the variable of its frame: the table's name made a unique identifier."""
    names: dict[str, str] = {}
    for table in schema.tables:
        name = re.sub(r"\W+", "_", table.name[:SHOWN_NAME], flags=re.ASCII).strip("_") or "table"
        name = f"t_{name}" if name[0].isdigit() else name
        used = {other.lower() for other in names.values()}
        while name in _TAKEN or name.lower() in used:
            name += "_table"
        names[table.name] = name
    return names


def joinable(case: TestCase) -> TestCase:
    """The case with the cells of foreign keys as their parents have them: SQLite joins '4' with 4, pandas does not."""
    types = {(table.name, column.name): column.type for table in case.schema.tables for column in table.columns}
    joined = []
    for table, rows in zip(case.schema.tables, case.rows, strict=True):
        parents = {
            name: affinity(types[key.ref_table, ref])
            for key in table.foreign_keys
            for name, ref in zip(key.columns, key.ref_columns, strict=True)
            if (key.ref_table, ref) in types
        }
        kinds = [parents.get(column.name) for column in table.columns]
        joined.append(
            tuple(
                tuple(cell if kind is None else stored(cell, kind) for cell, kind in zip(row, kinds, strict=True))
                for row in rows
            )
        )
    return replace(case, rows=tuple(joined))


def arrow(case: TestCase) -> dict[str, pa.Table]:
    """The frames by their names; raises ``MissingExtraError`` without pyarrow."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "sandbox")
    import pyarrow as pa

    names = frame_names(case.schema)
    tables = {}
    for table, rows in zip(case.schema.tables, case.rows, strict=True):
        columns = [_column(column, [row[index] for row in rows]) for index, column in enumerate(table.columns)]
        tables[names[table.name]] = pa.Table.from_arrays(columns, names=[column.name for column in table.columns])
    return tables


def _column(column: Column, cells: Sequence[Cell]) -> pa.Array:
    """Cells of one kind as they are, those of several kinds as text; without any, of the kind of the declared type."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds:
        return pa.array(cells, {"INTEGER": pa.int64(), "REAL": pa.float64()}.get(affinity(column.type), pa.string()))
    if kinds <= {int, float}:
        numbers = [cell for cell in cells if isinstance(cell, int | float)]
        exact = len(numbers) == len(cells) or all(abs(number) < _WHOLE for number in numbers)
        if kinds == {int} and exact:
            return pa.array(cells, pa.int64())
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if kinds == {bytes}:
        return pa.array(cells, pa.binary())
    return pa.array([None if cell is None else str(cell).encode(errors="replace").decode() for cell in cells])


def described(schema: Schema) -> str:
    """The frames without rows: names, columns with types and descriptions, then the keys."""
    names = frame_names(schema)
    lines = []
    for table in schema.tables:
        lines.append(f"{names[table.name]}:")
        lines += [f"- {_described(column)}" for column in table.columns]
    keys = [
        f"# {child}[{_listed(key.columns)}] refers to {parent}[{_listed(key.ref_columns)}]"
        for child, parent, key in _links(schema)
    ]
    return "\n".join((*lines, *keys))


def _described(column: Column) -> str:
    facts = [type_text(column.type) or "any", *(["unique"] if column.unique else [])]
    comment = f": {remark(column.comment, COMMENT_CHARS)}" if column.comment else ""
    return f"{quoted(column.name)} ({', '.join(facts)}){comment}"


def shown(case: TestCase) -> str:
    """The frames as the lines of Python that would build them, at most ``SHOWN_ROWS`` rows of each, then the merges."""
    names = frame_names(case.schema)
    blocks = []
    for table, rows in zip(case.schema.tables, case.rows, strict=True):
        lines = [
            f"    {quoted(column.name)}: [{', '.join(_cell(row[index]) for row in rows[:SHOWN_ROWS])}],"
            for index, column in enumerate(table.columns)
        ]
        more = [f"# and {len(rows) - SHOWN_ROWS} rows more"] if len(rows) > SHOWN_ROWS else []
        blocks.append("\n".join((f"{names[table.name]} = pd.DataFrame({{", *lines, "})", *more)))
    return "\n".join((*blocks, *merges(case.schema)))


def merges(schema: Schema) -> list[str]:
    """For each foreign key the merge by it, as a comment for small models to copy."""
    return [
        f"# {child}.merge({parent}, left_on=[{_listed(key.columns)}], right_on=[{_listed(key.ref_columns)}], "
        f"suffixes=('', '_{parent}'))"
        for child, parent, key in _links(schema)
    ]


def _links(schema: Schema) -> list[tuple[str, str, ForeignKey]]:
    names = frame_names(schema)
    return [
        (names[table.name], names[key.ref_table], key)
        for table in schema.tables
        for key in table.foreign_keys
        if key.ref_table in names
    ]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns))


def _cell(cell: Cell) -> str:
    return quoted(cell, SHOWN_CELL) if isinstance(cell, str) else repr(cell) if not isinstance(cell, bytes) else "b''"


def quoted(text: str, chars: int = SHOWN_NAME) -> str:
    """A text as Python writes it: it cannot leave its quotes, its line or a fenced block."""
    return repr(plain(text, chars)).replace("`", r"\x60")


def cells(rows: Sequence[Row], *, days: bool) -> tuple[Row, ...]:
    """Rows that came out of pandas as a database has them: TRUE is 1, and with ``days`` midnight is its day."""
    return tuple(tuple(_plain(cell, days) for cell in row) for row in rows)


def _plain(cell: Any, days: bool) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    if days and isinstance(cell, str) and (match := _MIDNIGHT.fullmatch(cell)):
        return match[1]
    return cell


def has_midnights(tables: Mapping[str, Sequence[Row]]) -> bool:
    """Whether a cell is a day with the time 00:00:00, which ``cells`` would cut."""
    texts = (cell for rows in tables.values() for row in rows for cell in row if isinstance(cell, str))
    return any(_MIDNIGHT.fullmatch(text) for text in texts)
