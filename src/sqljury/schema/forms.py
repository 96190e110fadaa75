"""Writes a table for a prompt: as DDL, on one line, or as M-Schema's list of columns.

``contents`` finds what the values of a column show and its declared type does not, such as dates stored as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.text import NAME_CHARS, cell_text, name, names, plain, table_name, type_text
from sqljury.types import Column, ForeignKey, Result, Schema, Table

MIN_VALUES: Final = 5
"""The fewest non-NULL values, two of them different, from which ``contents`` infers anything."""

_TEXT: Final = re.compile(r"char|clob|text|string", re.IGNORECASE)
_NUMBER_TYPE: Final = re.compile(r"int|real|floa|doub|num|dec|serial|money", re.IGNORECASE)
_DATE_TYPE: Final = re.compile(r"date|time", re.IGNORECASE)
_TIME_NAME: Final = re.compile(r"date|time|stamp|epoch|created|updated|modified|(_|[a-z])(at|on|At|On)$", re.IGNORECASE)
_MONTH_NAME: Final = re.compile(r"date|month|year|period", re.IGNORECASE)

_NUMBER: Final = re.compile(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d+)?)")
_LEADING_ZERO: Final = re.compile(r"[+-]?0\d")
_YEAR_FIRST: Final = re.compile(r"(?P<y>\d{4})(?P<s>[-/.])(?P<a>\d{1,2})(?P=s)(?P<b>\d{1,2})(?P<rest>.*)")
_YEAR_LAST: Final = re.compile(r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d\d)(?P<rest>.*)")
_TIME: Final = re.compile(
    r"[ T]\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-]\d\d(:?\d\d)?))?", re.IGNORECASE
)

_SECONDS: Final = (946_684_800, 2_208_988_800)  # the years 2000 to 2039: smaller numbers are too often plain ones
_YEARS: Final = (1900, 2100)


def contents(table: Table, sample: Result) -> dict[str, str]:
    """For each column what its sampled values show and its type does not, such as ``text that holds numbers``.

    All sampled values of a column must agree. Digits with leading zeros are not numbers: they may be postcodes.
    """
    found = {}
    for column in table.columns:
        if column.name not in sample.columns:
            continue
        index = sample.columns.index(column.name)
        values = [row[index] for row in sample.rows if row[index] is not None]
        if len(values) >= MIN_VALUES and len(set(values)) > 1 and (held := _held(column, values)):
            found[column.name] = held
    return found


def are_numbers(values: Sequence[str]) -> bool:
    """Whether each text is a number, with neither leading zeros nor blanks; true for no texts."""
    return all(_NUMBER.fullmatch(value) and not _LEADING_ZERO.match(value) for value in values)


def _held(column: Column, values: Sequence[Any]) -> str:
    is_date = bool(_DATE_TYPE.search(column.type))
    if all(isinstance(value, str) for value in values):
        kind = _kind(column, [value.strip() for value in values])
        if is_date:
            return "" if kind.startswith("dates as YYYY-MM-DD") else kind and f"text that holds {kind}"
        if not column.type or _TEXT.search(column.type):
            return f"text that holds {kind}" if kind else ""
        return f"holds text: {kind}" if kind else "holds text" if _NUMBER_TYPE.search(column.type) else ""
    if all(_is_whole(value) for value in values):
        dated = _dated(column, [int(value) for value in values])
        return f"number that holds {dated}" if dated else ""
    return ""


def _is_whole(value: Any) -> bool:
    return type(value) in (int, float) and value == value // 1  # neither holds for infinities and NaN


def _kind(column: Column, values: list[str]) -> str:
    if dates := _dates(values):
        return dates
    if all(value.isascii() and value.isdigit() for value in values) and (
        dated := _dated(column, [int(value[:20]) for value in values])
    ):
        return dated
    if are_numbers(values):
        return "numbers"
    if any(_LEADING_ZERO.match(value) for value in values):
        return ""
    if all(_GROUPED.fullmatch(value) for value in values):
        return "numbers with commas in them"
    return ""


def _dates(values: list[str]) -> str:
    """The format in which all values are dates, such as ``dates as DD.MM.YYYY``; empty if there is none."""
    matches = [_YEAR_FIRST.fullmatch(value) or _YEAR_LAST.fullmatch(value) for value in values]
    if not all(matches):
        return ""
    parts = [match.groupdict() for match in matches if match is not None]
    shapes = {(value[:4].isdigit(), part["s"], len(part["y"])) for value, part in zip(values, parts, strict=True)}
    timed = {bool(part["rest"]) for part in parts}
    if len(shapes) != 1 or not all(_TIME.fullmatch(part["rest"]) for part in parts if part["rest"]):
        return ""
    ((year_first, mark, year),) = shapes
    first, second = ([int(part[key]) for part in parts] for key in "ab")
    if min(first + second) < 1 or max(first + second) > 31:
        return ""
    order = ["YYYY", "MM", "DD"] if year_first else _day_and_month(first, second, mark)
    if not order or (year_first and max(first) > 12):
        return ""
    form = mark.join([*order, "Y" * year] if not year_first else order)
    ambiguous = order[0] == "DD" and max(first + second) <= 12 and mark != "."
    more = f" or {mark.join(['MM', 'DD', 'Y' * year])}" if ambiguous else ""
    return f"dates as {form}{more}" + {(True,): " with times", (False, True): ", some with times"}.get(
        tuple(sorted(timed)), ""
    )


def _day_and_month(first: list[int], second: list[int], mark: str) -> list[str]:
    if max(second) > 12:
        return ["MM", "DD"] if max(first) <= 12 and mark != "." else []
    return ["DD", "MM"]


def _dated(column: Column, numbers: list[int]) -> str:
    """The format in which all numbers are dates: 20240131, 202401, or seconds since 1970; empty if there is none."""
    if all(_is_day(number) for number in numbers):
        return "dates as YYYYMMDD"
    hinted = bool(_TIME_NAME.search(column.name) or _DATE_TYPE.search(column.type))
    if all(_is_month(number) for number in numbers) and _MONTH_NAME.search(column.name):
        return "months as YYYYMM"
    for unit, scale in (("seconds", 1), ("milliseconds", 1000)):
        if hinted and all(_SECONDS[0] * scale <= number < _SECONDS[1] * scale for number in numbers):
            return f"{unit} since 1970-01-01"
    return ""


def _is_day(number: int) -> bool:
    return _is_month(number // 100) and 1 <= number % 100 <= 31


def _is_month(number: int) -> bool:
    return _YEARS[0] <= number // 100 <= _YEARS[1] and 1 <= number % 100 <= 12


_VIEW_CHARS: Final = 1_000


class Remarks(NamedTuple):
    """Text beside a table: ``about`` it, ``columns`` and ``examples`` by column, the number of columns ``left_out``."""

    about: str = ""
    columns: Mapping[str, str] = {}
    examples: Mapping[str, str] = {}
    left_out: int = 0

    def beside(self, column: str) -> str:
        """The remark and the examples of a column."""
        examples = self.examples.get(column)
        return _joined(self.columns.get(column, ""), f"such as {examples}" if examples else "")


def ddl(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """CREATE TABLE with one column or constraint on each line and remarks as comments, such as ``likely``."""
    about = [f"-- {remarks.about}"] if remarks.about else []
    if table.kind == "view" and (query := _view_query(table.definition, dialect)):
        columns = names(tuple(column.name for column in table.columns), dialect)
        return [*about, f"CREATE VIEW {_table(table, dialect)} ({columns}) AS", f"{query};"]
    likely = {table.likely_key[0]: "likely key"} if len(table.likely_key) == 1 else {}
    body = [
        (_column(column, table, dialect), _joined(likely.get(column.name, ""), remarks.beside(column.name)))
        for column in table.columns
    ]
    body += _constraints(table, dialect)
    last = len(body) - 1
    lines = [
        f"  {line}{',' if number < last else ''}{f' -- {beside}' if beside else ''}"
        for number, (line, beside) in enumerate(body)
    ]
    return [*about, f"CREATE {table.kind.upper()} {_table(table, dialect)} (", *lines, ");"]


def compact(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """``table(column type pk, column type -> other.column, ...)``; ``likely`` precedes ``pk`` or ``->`` if inferred."""
    targets = {
        column: f"{'' if key.certain else 'likely '}-> "
        f"{table_name(key.ref_table, key.ref_schema, dialect)}.{name(ref_column, dialect)}"
        for key in reversed(table.foreign_keys)
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    }
    columns = [
        _words(
            name(column.name, dialect),
            type_text(column.type).lower(),
            "pk" if column.name in table.primary_key else "likely pk" if column.name in table.likely_key else "",
            targets.get(column.name, ""),
            f"/* {beside} */" if (beside := remarks.beside(column.name)) else "",
        )
        for column in table.columns
    ]
    if remarks.left_out:
        columns.append(f"… {remarks.left_out} more")
    about = f" /* {remarks.about} */" if remarks.about else ""
    return [f"{_table(table, dialect)}({', '.join(columns)}){about}"]


def mschema(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """``# Table: name, remark``, then ``(column: TYPE, remark, Primary Key, examples: [...])`` for each column."""
    lines = []
    for column in table.columns:
        kind = type_text(column.type)
        examples = remarks.examples.get(column.name)
        parts = [
            name(column.name, dialect) + (f": {kind}" if kind else ""),
            remarks.columns.get(column.name, ""),
            "Primary Key" if column.name in table.primary_key else "",
            "Likely Primary Key" if column.name in table.likely_key else "",
            "NOT NULL" if column.not_null and column.name not in table.primary_key else "",
            "UNIQUE" if column.unique and table.primary_key != (column.name,) else "",
            f"examples: [{examples}]" if examples else "",
        ]
        lines.append(f"({', '.join(filter(None, parts))}),")
    head = ", ".join(filter(None, (f"# {table.kind.capitalize()}: {_table(table, dialect)}", remarks.about)))
    query = _view_query(table.definition, dialect) if table.kind == "view" else ""
    return [head, *([f"as {query}"] if query else []), "[", *lines, "]"]


def mschema_keys(schema: Schema) -> list[str]:
    """The foreign keys of all tables, which end an M-Schema, the inferred ones under a heading of their own."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for table in schema.tables:
        for key in table.foreign_keys:
            lines[key.certain].append(_equated(table, key, schema.dialect))
    headed = (("# Foreign keys", lines[True]), ("# Likely foreign keys", lines[False]))
    return [line for heading, keys in headed if keys for line in (heading, *keys)]


def _equated(table: Table, key: ForeignKey, dialect: str) -> str:
    return " AND ".join(
        f"{_table(table, dialect)}.{name(column, dialect)} = "
        f"{table_name(key.ref_table, key.ref_schema, dialect)}.{name(ref_column, dialect)}"
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    )


def sample_lines(table: Table, sample: Result, cell_chars: int, rows: int | None) -> Iterator[str]:
    """The rows in a comment, with the table's columns only: a linked schema may have fewer than the sample."""
    kept = [sample.columns.index(column.name) for column in table.columns if column.name in sample.columns]
    if not kept:
        return
    shown = sample.rows[:rows]
    yield "/*"
    yield f"{len(shown)} row{'s' * (len(shown) != 1)} of {plain(table.name, NAME_CHARS)}:"
    yield " | ".join(plain(sample.columns[index], NAME_CHARS) for index in kept)
    for row in shown:
        yield " | ".join(cell_text(row[index], cell_chars) for index in kept)
    yield "*/"


def _column(column: Column, table: Table, dialect: str) -> str:
    if (column.name,) in (table.primary_key, table.likely_key):
        return _words(name(column.name, dialect), type_text(column.type), "PRIMARY KEY")
    return _words(
        name(column.name, dialect),
        type_text(column.type),
        "NOT NULL" if column.not_null else "",
        "UNIQUE" if column.unique else "",
    )


def _constraints(table: Table, dialect: str) -> Iterator[tuple[str, str]]:
    """The constraints that have a line of their own, each with a remark."""
    for primary, beside in ((table.primary_key, ""), (table.likely_key, "likely")):
        if len(primary) > 1:
            yield f"PRIMARY KEY ({names(primary, dialect)})", beside
    for unique in table.unique_keys:
        if len(unique) > 1:
            yield f"UNIQUE ({names(unique, dialect)})", ""
    for key in table.foreign_keys:
        target = f"{table_name(key.ref_table, key.ref_schema, dialect)}({names(key.ref_columns, dialect)})"
        yield f"FOREIGN KEY ({names(key.columns, dialect)}) REFERENCES {target}", "" if key.certain else "likely"


@lru_cache(maxsize=256)
@quiet()
def _view_query(definition: str, dialect: str) -> str:
    """The query of a view on one line, empty if it is long or cannot be parsed.

    It shows what the name does not, such as which rows are excluded. Comments are removed, since they may contain
    instructions to the model.
    """
    if not definition or len(definition) > _VIEW_CHARS:
        return ""
    try:
        create = parse_one(definition, dialect)
        query = create.args.get("expression") if isinstance(create, exp.Create) else None
        text = query.sql(dialect=dialect, comments=False) if isinstance(query, exp.Query) else ""
    except (errors.SqlglotError, RecursionError, ValueError):
        return ""  # ValueError: the generator cannot write everything that the parser accepts
    return plain(text, _VIEW_CHARS)


def _table(table: Table, dialect: str) -> str:
    return table_name(table.name, table.schema, dialect)


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _words(*words: str) -> str:
    return " ".join(filter(None, words))
