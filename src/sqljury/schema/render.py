"""Writes a schema down for a model: the same bytes for the same schema, samples and style, always."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.language.words import content_words
from sqljury.schema import forms, shrink
from sqljury.schema.forms import Form, Remarks, contents
from sqljury.schema.samples import TOO_LARGE
from sqljury.sql.text import CELL_CHARS, COMMENT_CHARS, cell_text, literal, remark
from sqljury.types import Column, Result, Schema, Table
from sqljury.types.schema import shuffled

__all__ = ["CELL_CHARS", "Form", "Style", "cell_text", "render"]

EXAMPLES: Final = 3
_WRITERS: Final = {"ddl": forms.ddl, "compact": forms.compact, "mschema": forms.mschema}
_BETWEEN: Final = {"ddl": "\n\n", "compact": "\n", "mschema": "\n"}


@dataclass(frozen=True, slots=True)
class Style:
    """What is written down beside names, types and keys.

    ``rows`` of the samples are shown below a table (all if None), never in the form ``mschema``; ``examples`` distinct
    values beside each column (if None, three in the form ``mschema`` and none in others), from rows that ``seed``
    chooses, after those that ``near`` has by table and column. ``comments`` are cut to so many characters, none at 0.
    ``types`` says what ``contents`` found. ``shuffle`` is the seed of an order of tables and columns, None keeps the
    database's. What meets ``question`` outlasts the rest when the text must shrink.
    """

    rows: int | None = None
    cell_chars: int = CELL_CHARS
    examples: int | None = None
    comments: int = COMMENT_CHARS
    types: bool = False
    shuffle: int | None = None
    seed: int = 0
    near: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    question: str = ""


def render(
    schema: Schema,
    samples: Mapping[str, Result] | None = None,
    *,
    form: Form = "ddl",
    style: Style | None = None,
    max_chars: int | None = None,
    max_tokens: int | None = None,
) -> str:
    """The schema as text; ``samples`` (of ``sample``) adds rows, examples and what columns hold.

    ``ddl`` is one CREATE TABLE a table with its rows in a comment, ``compact`` one line a table, ``mschema`` a list of
    columns like M-Schema's. Over ``max_chars``, or ``max_tokens`` as ``text.tokens`` estimates them, the text shrinks
    by the ladder of ``shrink``; it is never longer, and empty when not even one table fits.
    """
    style = style or Style()
    if style.shuffle is not None:
        schema = shuffled(schema, style.shuffle)
    room = shrink.Room(max_chars, max_tokens)
    text = _write(schema, samples or {}, form, style)
    if room.fits(text):
        return text
    for step in shrink.ladder(style.cell_chars, style.comments):
        smaller = _smaller(style, step, form)
        kept = _only_relevant(schema, style.question) if step.relevant else schema
        text = _write(kept, samples or {}, "compact" if step.compact else form, smaller)
        if room.fits(text):
            return text
    return shrink.cut(schema, style.question, room, _write_cut)


def _smaller(style: Style, step: shrink.Step, form: Form) -> Style:
    examples = _examples(style, form) if step.rows is None else min(step.rows, _examples(style, form))
    rows = style.rows if step.rows is None else min(step.rows, style.rows if style.rows is not None else step.rows)
    return replace(
        style,
        cell_chars=min(step.cell_chars, style.cell_chars),
        rows=rows,
        examples=examples,
        comments=min(step.comment_chars, style.comments),
        types=style.types and not step.relevant,
    )


def _only_relevant(schema: Schema, question: str) -> Schema:
    """The schema without the comments that share no word with the question."""
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
    for table in schema.tables:
        sample = samples.get(table.name)
        sample = sample if sample is not None and sample.rows else None
        lines = _WRITERS[form](table, schema.dialect, _remarks(table, sample, form, style))
        if sample is not None and style.rows != 0 and form != "mschema":
            lines.extend(forms.sample_lines(table, sample, style.cell_chars, style.rows))
        parts.append("\n".join(lines))
    if form == "mschema" and (keys := forms.mschema_keys(schema)):
        parts.append("\n".join(keys))
    return _BETWEEN[form].join(parts) + "\n"


def _write_cut(schema: Schema, left_out: Mapping[str, int]) -> str:
    """The form that tables have when columns are left out; a last line says how many tables are missing."""
    lines = [
        line
        for table in schema.tables
        for line in forms.compact(table, schema.dialect, Remarks(left_out=left_out.get(table.name, 0)))
    ]
    missing = left_out.get("", 0)
    return "\n".join([*lines, *([f"-- {missing} more table{'s' * (missing != 1)}"] if missing else [])]) + "\n"


def _remarks(table: Table, sample: Result | None, form: Form, style: Style) -> Remarks:
    held = contents(table, sample) if style.types and sample is not None else {}
    columns = {}
    for column in table.columns:
        said = _about(column, style.comments) + ([held[column.name]] if column.name in held else [])
        if said:
            columns[column.name] = "; ".join(said)
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
    return style.examples if style.examples is not None else EXAMPLES * (form == "mschema")


def _values(table: Table, sample: Result, count: int, style: Style) -> dict[str, str]:
    """By column, up to ``count`` distinct values: the near ones, then others in an order that seed and table give."""
    rows = list(sample.rows)
    random.Random(f"{style.seed} {table.name}").shuffle(rows)  # noqa: S311
    found = {}
    for column in table.columns:
        if column.name not in sample.columns:
            continue
        index = sample.columns.index(column.name)
        drawn = (row[index] for row in rows if row[index] is not None and not isinstance(row[index], bytes))
        usable = (*style.near.get((table.name, column.name), ()), *drawn)
        values = dict.fromkeys(literal(value, style.cell_chars) for value in usable if value != TOO_LARGE)
        if values:
            found[column.name] = ", ".join(list(values)[:count])
    return found
