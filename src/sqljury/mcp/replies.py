"""What the tools reply: small, for a reader who pays for each token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqljury.schema.describe import Description
from sqljury.schema.render import render
from sqljury.stages.check import Checked
from sqljury.stages.select.base import representatives
from sqljury.types import Answer, Reading, Result, Row, Tried, serialize
from sqljury.types.schema import only_tables
from sqljury.values.objects import Found

ROWS: Final = 50
DISSENT: Final = 3
"""Groups with another result that are shown, the largest first, with ``FEW`` rows each."""
FEW: Final = 5
CELL_CHARS: Final = 500
SCHEMA_CHARS: Final = 16_000


def result(found: Result, rows: int = ROWS) -> dict[str, Any]:
    """Columns and rows, cut in number and length; ``row_count`` counts what the database returned."""
    return {
        "columns": list(found.columns),
        "rows": _rows(found.rows[:rows]),
        "row_count": len(found.rows),
        "truncated": found.truncated or len(found.rows) > rows,
    }


def answer(given: Answer, database: str) -> dict[str, Any]:
    """An answer with the evidence for it: how sure it is, who dissents, and rows that tell the two apart."""
    return {
        "database": database,
        "sql": given.sql,
        **result(Result(given.columns, given.rows, given.truncated)),
        "confidence": None if given.confidence is None else round(given.confidence, 4),
        "candidates": len(given.candidates),
        "agreeing": _agreeing(given),
        "abstained": None if given.abstention is None else given.abstention.reason,
        "remarks": list(given.remarks),
        **({"readings": [_reading(reading) for reading in given.readings]} if given.readings else {}),
        "dissent": list(_dissent(given)),
        "distinguishing": None if given.verified is None else _distinguishing(given.verified.test),
    }


def _reading(given: Reading) -> dict[str, Any]:
    """What a reading takes words of the question to mean, and what it gives."""
    rows = result(Result(given.columns, given.rows, given.truncated), FEW)
    return {"words": given.words, "meaning": given.meaning, "sql": given.sql, **rows}


def checked(found: Checked) -> dict[str, Any]:
    """The verdict on a query, with the test that says most."""
    failing = sorted(found.tests, key=lambda test: (test.passed[0] is not False, test.case.size))
    return {
        "verdict": found.verdict,
        "why": found.why,
        **result(found.result, FEW),
        "agreeing": found.agreeing,
        "candidates": len(found.candidates),
        "correction": None if found.correction is None else found.correction.sql,
        "test": _distinguishing(failing[0]) if failing else None,
    }


def schema(known: Description, tables: Sequence[str]) -> tuple[str, list[str]]:
    """The schema as CREATE TABLE, as far as it fits, and the tables that it leaves out, none if it has none."""
    wanted = {name.casefold() for name in tables}
    names = [table.name for table in known.schema.tables if not wanted or table.name.casefold() in wanted]
    text = render(only_tables(known.schema, names), max_chars=SCHEMA_CHARS)
    known_names = {table.name.casefold() for table in known.schema.tables}
    unknown = [f"{name[:CELL_CHARS]} (no such table)" for name in tables if name.casefold() not in known_names]
    return text, [*(name for name in names if name not in text), *(unknown if names else [])]


def objects(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Tables, columns and values without empty fields."""
    return [
        {
            "kind": match.kind,
            "name": f"{match.table}.{match.column}" if match.column else match.table,
            **({"value": match.value[:CELL_CHARS]} if match.kind == "value" else {}),
            **({"about": match.about[:CELL_CHARS]} if match.about else {}),
            "score": round(match.score, 2),
        }
        for match in found
    ]


def _agreeing(given: Answer) -> int:
    chosen = None if given.choice is None or given.choice.index is None else given.candidates[given.choice.index].group
    return sum(candidate.group == chosen for candidate in given.candidates if candidate.group is not None)


def _dissent(given: Answer) -> Iterator[dict[str, Any]]:
    """The largest groups with another result than the answer's."""
    chosen = None if given.choice is None or given.choice.index is None else given.candidates[given.choice.index].group
    others = [(group, index) for group, index in representatives(given.candidates).items() if group != chosen]
    for group, index in others[:DISSENT]:
        votes = sum(candidate.group == group for candidate in given.candidates)
        yield {"sql": given.candidates[index].sql, "votes": votes, **result(given.candidates[index].result, FEW)}


def _distinguishing(test: Tried | None) -> dict[str, Any] | None:
    """The rows of a small database, and what the two queries return there."""
    if test is None:
        return None
    tables = [
        {"table": table.name, "columns": [column.name for column in table.columns], "rows": _rows(rows[:ROWS])}
        for table, rows in zip(test.case.schema.tables, test.case.rows, strict=True)
        if rows
    ]
    returned = [
        {"sql": sql, **({"error": str(outcome.error)} if outcome.error else result(outcome, FEW))}
        for sql, outcome in zip(test.queries[:2], test.results, strict=False)
    ]
    return {"tables": tables, "returned": returned}


def _rows(rows: Sequence[Row]) -> list[list[Any]]:
    return [[_cut(serialize.json_cell(cell)) for cell in row] for row in rows]


def _cut(cell: Any) -> Any:
    return cell[: CELL_CHARS - 1] + "…" if isinstance(cell, str) and len(cell) > CELL_CHARS else cell
