"""Writes a schema for a prompt, deterministically, and shrinks the text until it fits a limit.

Shrinking removes the least useful information first:

1. Cells of sample rows and examples are cut to 20 characters, then to 10.
2. One row and one example are left, then none.
3. Comments are cut to 60 characters; then only those that share a word with the question stay.
4. The form becomes ``compact``, first with those comments, then without any.
5. As few columns as necessary are left out; the text says how many. Primary keys, foreign keys and the columns they
   refer to stay, declared or inferred; of the others, those that share a word with the question, and the first of each
   table, stay longest.
6. Tables are left out; the text says how many. Those that share a word with the question stay longest.
7. The text is empty.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from sqljury.language.words import content_words, words
from sqljury.schema import forms
from sqljury.schema.forms import Remarks, contents
from sqljury.schema.meanings import meanings, odd
from sqljury.schema.samples import TOO_LARGE
from sqljury.sql.resolve import is_date
from sqljury.sql.text import CELL_CHARS, COMMENT_CHARS, literal, remark, tokens
from sqljury.types import Column, Result, Schema, Table
from sqljury.types.schema import Form, only_tables, qualified, shuffled, subset

SCHEMA_CHARS: Final = 36_000
"""What a schema may take of a prompt: some 12,000 tokens, of the embedded model's 16,384."""
_MSCHEMA_EXAMPLES: Final = 3
CODES: Final = 5
"""Values beside a column of codes or categories where other columns have one example."""
_MOST_CODES: Final = 10
_CODE_CHARS: Final = 16
_WRITERS: Final = {"ddl": forms.ddl, "compact": forms.compact, "mschema": forms.mschema, "listed": forms.listed}
_BETWEEN: Final = {"ddl": "\n\n", "compact": "\n", "mschema": "\n", "listed": "\n"}
_ROWLESS: Final = ("mschema", "listed")
"""Forms with examples beside columns in place of rows."""


@dataclass(frozen=True, slots=True)
class Style:
    """What is written besides names, types and keys.

    ``rows`` is the number of sample rows below a table (all if None), never used in the forms ``mschema`` and
    ``listed``. ``examples`` is the number of distinct values beside each column (if None, three in the form
    ``mschema``, one in ``listed``, none in others): first those in ``near`` by table and column, then values of rows
    chosen by ``seed``. With ``only_telling`` columns of numbers, of dates by type, and of references to other columns
    have none, and a column of few short texts has up to ``CODES``. Comments are cut to ``comments`` characters, 0 for
    none. ``types`` adds what ``contents`` finds, ``odd`` only what ``meanings.odd``
    finds. ``shuffle`` seeds an order of tables and columns; None keeps the database's. Words of ``question`` decide
    what stays when the text must shrink. ``meant`` has what codes mean, by table and column: shown in place of
    examples. With ``apart`` the values of each column are drawn by themselves, so that
    those of several columns do not make a row.
    """

    rows: int | None = None
    cell_chars: int = CELL_CHARS
    examples: int | None = None
    only_telling: bool = False
    comments: int = COMMENT_CHARS
    types: bool = False
    odd: bool = False
    shuffle: int | None = None
    seed: int = 0
    near: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    question: str = ""
    meant: Mapping[tuple[str, str], Mapping[str | int, str]] = field(default_factory=dict)
    apart: bool = False


def render(
    schema: Schema,
    samples: Mapping[str, Result] | None = None,
    *,
    form: Form = "ddl",
    style: Style | None = None,
    max_chars: int | None = None,
    max_tokens: int | None = None,
) -> str:
    """The schema as text; ``samples``, as ``sample`` reads them, add rows, examples and contents of columns.

    ``ddl`` is a CREATE TABLE for each table with its rows in a comment, ``compact`` one line for each table,
    ``mschema`` a list of columns as in M-Schema, ``listed`` a line of columns with a value each. The text shrinks to
    ``max_chars`` characters and ``max_tokens`` tokens as estimated by ``text.tokens``; it is never longer, and empty if
    not even one table fits.
    """
    style = style or Style()
    if style.shuffle is not None:
        schema = shuffled(schema, style.shuffle)
    room = _Room(max_chars, max_tokens)
    text = _write(schema, samples or {}, form, style)
    if room.fits(text):
        return text
    for step in _ladder(style.cell_chars, style.comments):
        smaller = _smaller(style, step, form)
        kept = _only_relevant(schema, style.question) if step.relevant else schema
        text = _write(kept, samples or {}, "compact" if step.compact else form, smaller)
        if room.fits(text):
            return text
    return _cut(schema, style.question, room)


def _smaller(style: Style, step: _Step, form: Form) -> Style:
    examples = _examples(style, form) if step.rows is None else min(step.rows, _examples(style, form))
    rows = style.rows if step.rows is None else min(step.rows, style.rows if style.rows is not None else step.rows)
    return replace(
        style,
        cell_chars=min(step.cell_chars, style.cell_chars),
        rows=rows,
        examples=examples,
        comments=min(step.comment_chars, style.comments),
        types=style.types and not step.relevant,
        odd=style.odd and not step.relevant,
        meant={} if step.relevant else style.meant,
    )


def _only_relevant(schema: Schema, question: str) -> Schema:
    """The schema without comments that share no word with the question."""
    asked = set(content_words(question)) if question else set()

    def kept(comment: str) -> str:
        return comment if asked.intersection(content_words(comment)) else ""

    tables = tuple(
        replace(
            table,
            comment=kept(table.comment),
            columns=tuple(replace(column, comment=kept(column.comment)) for column in table.columns),
        )
        for table in schema.tables
    )
    return replace(schema, tables=tables)


def _write(schema: Schema, samples: Mapping[str, Result], form: Form, style: Style) -> str:
    parts = []
    shown = qualified(schema)
    for table, named in zip(schema.tables, shown.tables, strict=True):
        sample = samples.get(table.name)
        sample = sample if sample is not None and sample.rows else None
        lines = _WRITERS[form](named, schema.dialect, _remarks(table, sample, schema.dialect, form, style))
        if sample is not None and style.rows != 0 and form not in _ROWLESS:
            lines.extend(forms.sample_lines(named, sample, style.cell_chars, style.rows))
        parts.append("\n".join(lines))
    if form == "mschema" and (keys := forms.mschema_keys(shown)):
        parts.append("\n".join(keys))
    return _BETWEEN[form].join(parts) + "\n"


def _write_cut(schema: Schema, left_out: Mapping[str, int]) -> str:
    """The tables in compact form; ``left_out`` has the number of missing columns by table, and of tables by ``""``."""
    lines = [
        line
        for table, named in zip(schema.tables, qualified(schema).tables, strict=True)
        for line in forms.compact(named, schema.dialect, Remarks(left_out=left_out.get(table.name, 0)))
    ]
    missing = left_out.get("", 0)
    return "\n".join([*lines, *([f"-- {missing} more table{'s' * (missing != 1)}"] if missing else [])]) + "\n"


def _contents(table: Table, sample: Result | None, dialect: str, style: Style) -> dict[str, str]:
    """What values show, by column: all of it, or what is odd and not in the column's comment."""
    if sample is None or not (style.types or style.odd):
        return {}
    if style.types:
        return contents(table, sample)
    comments = {column.name: column.comment.casefold() for column in table.columns}
    oddities = odd(table, meanings(table, sample), dialect, replace(sample, rows=sample.rows[: style.rows]))
    return {name: text for name, text in oddities.items() if text.split()[-1].casefold() not in comments[name]}


def _remarks(table: Table, sample: Result | None, dialect: str, form: Form, style: Style) -> Remarks:
    held = _contents(table, sample, dialect, style)
    columns = {}
    for column in table.columns:
        texts = _about(column, style.comments) + ([held[column.name]] if column.name in held else [])
        if meant := style.meant.get((table.name, column.name)):
            pairs = ", ".join(f"{literal(code)} = {text}" for code, text in meant.items())
            texts.append(remark(pairs, COMMENT_CHARS))
        if texts:
            columns[column.name] = "; ".join(texts)
    about = remark(table.comment, style.comments) if style.comments else ""
    count = _examples(style, form)
    examples = _values(table, sample, count, style) if count and sample is not None else {}
    return Remarks(about, columns, examples)


def _about(column: Column, chars: int) -> list[str]:
    if not chars:
        return []
    values = ", ".join(literal(value) for value in column.values[:chars])
    return [
        text
        for text in (
            remark(column.comment, chars),
            remark(f"one of {values}", chars) if values else "",
            "computed from other columns" if column.generated else "",
        )
        if text
    ]


def _examples(style: Style, form: Form) -> int:
    usual = {"mschema": _MSCHEMA_EXAMPLES, "listed": 1}
    return style.examples if style.examples is not None else usual.get(form, 0)


def _values(table: Table, sample: Result, count: int, style: Style) -> dict[str, str]:
    """For each column up to ``count`` distinct values: the near ones, then others in a seeded order."""
    rows = list(sample.rows)
    random.Random(f"{style.seed} {table.name}").shuffle(rows)  # noqa: S311
    examples = {}
    references = {name for key in table.foreign_keys for name in key.columns}
    for column in table.columns:
        known = style.only_telling and (column.name in references or is_date(column.type))
        if known or column.name not in sample.columns or (table.name, column.name) in style.meant:
            continue
        index = sample.columns.index(column.name)
        if style.apart:
            random.Random(f"{style.seed} {table.name} {column.name}").shuffle(rows)  # noqa: S311
        drawn = (row[index] for row in rows if row[index] is not None and not isinstance(row[index], bytes))
        usable = [*style.near.get((table.name, column.name), ()), *drawn]
        most = count
        if style.only_telling:
            if not any(isinstance(value, str) for value in usable):
                continue
            if codes := _codes([row[index] for row in sample.rows]):
                usable, most = [*codes, *usable], CODES
        values = dict.fromkeys(literal(value, style.cell_chars) for value in usable if value != TOO_LARGE)
        if values:
            examples[column.name] = ", ".join(list(values)[:most])
    return examples


def _codes(cells: Sequence[Any]) -> list[str]:
    """The different values of a column of codes or categories, the most frequent first; none for other columns.

    Such a column has at most ``_MOST_CODES`` short texts, which recur: half as many as there are values, or fewer.
    """
    known = [cell for cell in cells if cell is not None]
    if not all(isinstance(cell, str) and len(cell) <= _CODE_CHARS for cell in known):
        return []
    counts = Counter(known)
    return [code for code, _ in counts.most_common()] if len(counts) <= min(_MOST_CODES, len(known) // 2) else []


class _Room(NamedTuple):
    """The limits of a text in characters and estimated tokens; None is unlimited."""

    chars: int | None = None
    tokens: int | None = None

    def fits(self, text: str) -> bool:

        if self.chars is not None and len(text) > self.chars:
            return False
        return self.tokens is None or tokens(text) <= self.tokens


class _Step(NamedTuple):
    """Limits on the characters of a cell and of a comment, and on rows and examples (None: unchanged)."""

    cell_chars: int
    rows: int | None
    comment_chars: int
    relevant: bool = False
    compact: bool = False


def _ladder(cell_chars: int, comment_chars: int) -> Iterator[_Step]:
    """Steps 1 to 4, starting from the limits of the style."""
    yield _Step(min(20, cell_chars), None, comment_chars)
    yield _Step(min(10, cell_chars), None, comment_chars)
    yield _Step(min(10, cell_chars), 1, comment_chars)
    yield _Step(0, 0, comment_chars)
    yield _Step(0, 0, 60)
    yield _Step(0, 0, 60, relevant=True)
    yield _Step(0, 0, 60, relevant=True, compact=True)
    yield _Step(0, 0, 0, compact=True)


def _cut(schema: Schema, question: str, room: _Room) -> str:
    """Steps 5 to 7, with the largest numbers of columns and tables that a binary search finds to fit."""
    asked = frozenset(content_words(question)) if question else frozenset()
    keys, ranked = _keys(schema), {table.name: _ranked(table, asked) for table in schema.tables}

    def with_columns(count: int) -> str:
        return _write_cut(*_thinned(schema, keys, ranked, count))

    most = max((len(names) for names in ranked.values()), default=0)
    if (text := _largest(with_columns, most, room)) is not None:
        return text
    thin, gone = _thinned(schema, keys, ranked, 0)
    order = sorted(range(len(schema.tables)), key=lambda number: (-_score(schema.tables[number], asked), number))

    def with_tables(count: int) -> str:
        kept = {schema.tables[number].name for number in order[:count]}
        return _write_cut(only_tables(thin, kept), {**gone, "": len(schema.tables) - count}) if count else ""

    return _largest(with_tables, len(schema.tables), room) or ""


def _largest(make: Callable[[int], str], most: int, room: _Room) -> str | None:
    """The text for the largest count that fits, None if even that for 0 does not."""
    best = make(0)
    if not room.fits(best):
        return None
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        text = make(middle)
        if room.fits(text):
            best, low = text, middle
        else:
            high = middle - 1
    return best


def _keys(schema: Schema) -> dict[str, set[str]]:
    """For each table the columns that joins need; the first column of a table without keys."""
    keys = {table.name: set(table.row_key) for table in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            keys[table.name].update(key.columns)
            keys.get(key.ref_table, set()).update(key.ref_columns)
    for table in schema.tables:
        if not keys[table.name]:
            keys[table.name].update(column.name for column in table.columns[:1])
    return keys


def _ranked(table: Table, asked: frozenset[str]) -> list[str]:
    names = [column.name for column in table.columns]
    return sorted(names, key=lambda name: -len(asked.intersection(words(name))))  # stable: else in their order


def _score(table: Table, asked: frozenset[str]) -> int:
    """The number of the question's words in the table's name, which counts twice, and in its columns."""
    named = asked.intersection(words(table.name))
    return len(named) + len(asked.intersection(word for column in table.columns for word in words(column.name)) | named)


def _thinned(
    schema: Schema, keys: Mapping[str, set[str]], ranked: Mapping[str, list[str]], count: int
) -> tuple[Schema, dict[str, int]]:
    """Every table with its keys and ``count`` more columns, and the number of missing columns by table."""
    kept = {name: keys[name] | set([column for column in ranked[name] if column not in keys[name]][:count])
            for name in ranked}  # fmt: skip
    thin = subset(schema, kept)
    return thin, {table.name: len(ranked[table.name]) - len(table.columns) for table in thin.tables}
