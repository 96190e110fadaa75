"""What a model expects the right query to return on a small database (Li & Xie 2024, section 2.2).

The examples in the prompt come with the package; ``benchmarks/make_expect_examples.py`` made them from this project's
own databases.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from math import isfinite
from typing import Any, Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.recipes.parts import Shown, TestsPart
from sqljury.sql.affinity import number_of
from sqljury.sql.compare import EXPECTED
from sqljury.testing.show import EMPTY, Known, known, show_case, show_result
from sqljury.testing.trial import grouped
from sqljury.types import Cell, Column, ForeignKey, Question, Result, Row, Schema, Table, TestCase

TOKENS: Final = 300
"""Of one reply; a longer one is not an answer, since its last row may be cut."""

STOP: Final = ("\n\n",)

ROWS: Final = 100
COLUMNS: Final = 30
CHARS: Final = 20_000
"""Of a reply; a longer one is not an answer on a database of a few rows."""

_RESULT: Final = "Result:"
_CELL: Final = re.compile(r'[ \t]*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^",]*))[ \t]*(?P<end>,|\Z)')
_FENCE: Final = re.compile(r"```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BLANK: Final = re.compile(r"\n[ \t]*\n")


def with_expected(
    case: TestCase, question: Question, part: TestsPart, context: Context, *, examples: int = 0
) -> TestCase:
    """The case with the result that the model expects there.

    Of ``part.samples`` replies the most frequent result is taken, its ``confidence`` the share of all replies that give
    it; at temperature 0 one reply is asked for. Replies are compared without the order of rows; the most frequent order
    of the most frequent rows is taken. ``expected`` is None where no reply could be read, and where there is none (see
    ``Context.ask``). ``examples`` is the seed by which those shown are chosen: the same for all questions, so that a
    model may keep them read. Raises ``ModelError`` and its kinds, ``CancelledError`` once the work is cancelled.
    """
    replies = _replies(conversation(case, question, part, examples=examples), part, context)
    cells = known(case)
    results = [result for text in replies if (result := read_rows(text, cells)) is not None]
    if not results:
        return replace(case, expected=None)
    expected, votes = _most_frequent(results)
    return replace(case, expected=expected, confidence=votes / len(replies))


def _replies(messages: Sequence[Message], part: TestsPart, context: Context) -> list[str]:
    """Every reply; one that was cut is empty."""
    seed = derive_seed(context.seed, "expect", messages[0].content, messages[1].content)
    sampling = Sampling(temperature=part.temperature, max_tokens=TOKENS, seed=seed, stop=STOP)
    reply = context.ask(messages, sampling, part.samples if part.temperature > 0 else 1)
    completions = () if reply is None else reply.completions
    return [completion.text if completion.finish_reason == "stop" else "" for completion in completions]


def conversation(case: TestCase, question: Question, part: TestsPart, *, examples: int = 0) -> tuple[Message, ...]:
    """The task with the examples, the same for all questions; then the case."""
    asked = _asked(" ".join((question.text, question.evidence)), show_case(case, part.form))
    return Message("system", _system(part.form, part.shots, examples)), Message("user", f"{asked}\n{_RESULT}")


def _asked(question: str, database: str) -> str:
    return prompts.render("expect/question", question=" ".join(question.split()), database=database)


@lru_cache(maxsize=8)
def _system(form: Shown, shots: int, seed: int) -> str:
    shown = [
        "\n".join(
            (
                _asked(example.question, show_case(example.case, form)),
                _RESULT,
                show_result(example.case.expected or Result()),
            )
        )
        for example in choose_examples(shots, seed)
    ]
    return "\n\n".join((prompts.render("expect/system"), *shown))


def _most_frequent(results: Sequence[Result]) -> tuple[Result, int]:
    """The result that most of them are, in the order of rows that most of those have, and how many they are."""
    largest = [results[index] for index in max(grouped(results, EXPECTED), key=len)]
    ((rows, _),) = Counter(result.rows for result in largest).most_common(1)
    return next(result for result in largest if result.rows == rows), len(largest)


class _UnreadableError(ValueError):
    """The reply holds something that is not a cell."""


def read_rows(reply: str, known: Known) -> Result | None:
    """The rows of a reply, one a line, cells separated by commas; None where it is anything else.

    Texts stand in double quotes, doubled inside; bare words are texts only where ``known`` (``show.known``) has them,
    so that prose is not a row. Cells become what the database keeps. What follows a blank line is left out. The
    result's columns have no names.
    """
    if len(reply) > CHARS:
        return None
    fenced = _FENCE.match(reply.strip())
    text = _BLANK.split((fenced[1] if fenced else reply).strip(), maxsplit=1)[0]
    if text.strip().strip('"').lower() == EMPTY:
        return Result()
    lines = text.splitlines()
    if not text or len(lines) > ROWS:
        return None
    try:
        rows = tuple(_row(line, known) for line in lines)
    except _UnreadableError:
        return None
    width = len(rows[0])
    if width > COLUMNS or any(len(row) != width for row in rows):
        return None
    return Result(columns=("",) * width, rows=rows)


def _row(line: str, known: Known) -> Row:
    cells, at = list[Cell](), 0
    while True:
        match = _CELL.match(line, at)
        if match is None:
            raise _UnreadableError
        quoted = match["quoted"]
        cells.append(_bare(match["bare"].strip(), known) if quoted is None else _text(quoted.replace('""', '"'), known))
        at = match.end()
        if not match["end"]:
            return tuple(cells)


def _text(text: str, known: Known) -> Cell:
    """As the database keeps it; a number in quotes is one where the database has it as such only."""
    if text in known:
        return known[text]
    number = number_of(text)
    return known[number] if number is not None and number in known else text


def _bare(text: str, known: Known) -> Cell:
    if text.upper() == "NULL":
        return None
    number = number_of(text)
    if number is not None and isfinite(number):
        return known.get(number, number)
    if text in known:
        return known[text]
    raise _UnreadableError


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its case; ``kind`` is what it asks for, ``sql`` the query that returned ``case.expected``."""

    question: str
    sql: str
    kind: str
    case: TestCase


def choose_examples(count: int, seed: int = 0) -> tuple[Example, ...]:
    """So many examples drawn by the seed, of as many kinds as possible; a larger count adds to those of a smaller."""
    rng = random.Random(f"{seed}|expect")  # noqa: S311 - no secret
    by_kind: dict[str, list[Example]] = {}
    for example in rng.sample(all_examples(), len(all_examples())):
        by_kind.setdefault(example.kind, []).append(example)
    ranked = [(rank, example) for listed in by_kind.values() for rank, example in enumerate(listed)]
    return tuple(example for _, example in sorted(ranked, key=lambda pair: pair[0])[:count])


@cache
def all_examples() -> tuple[Example, ...]:
    """All examples of the package."""
    lines = (files(__package__) / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_example(json.loads(line)) for line in lines)


def line_of(example: Example) -> str:
    """The example as a line of JSON."""
    tables = [
        {
            "name": table.name,
            "columns": [[column.name, column.type] for column in table.columns],
            "primary_key": table.primary_key,
            "foreign_keys": [_stored(key) for key in table.foreign_keys],
            "rows": rows,
        }
        for table, rows in zip(example.case.schema.tables, example.case.rows, strict=True)
    ]
    assert example.case.expected is not None
    return json.dumps(
        {
            "db_id": example.case.schema.name,
            "kind": example.kind,
            "question": example.question,
            "query": example.sql,
            "tables": tables,
            "result": example.case.expected.rows,
        },
        ensure_ascii=False,
    )


def _example(entry: dict[str, Any]) -> Example:
    schema = Schema(entry["db_id"], "sqlite", tuple(map(_table, entry["tables"])))
    rows = tuple(_rows(table["rows"]) for table in entry["tables"])
    result = _rows(entry["result"])
    expected = Result(columns=("",) * len(result[0]), rows=result)
    case = TestCase(schema, rows, expected)
    return Example(entry["question"], entry["query"], entry["kind"], case)


def _table(entry: dict[str, Any]) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in entry["columns"])
    keys = tuple(map(_restored, entry["foreign_keys"]))
    return Table(entry["name"], columns, tuple(entry["primary_key"]), keys)


def _stored(key: ForeignKey) -> list[Any]:
    """The key as a list; the score comes last where the key is not declared."""
    return [key.columns, key.ref_table, key.ref_columns, *([] if key.declared else [key.score])]


def _restored(entry: list[Any]) -> ForeignKey:
    columns, table, refs, *score = entry
    return ForeignKey(tuple(columns), table, tuple(refs), declared=not score, score=score[0] if score else 1.0)


def _rows(listed: Iterable[Iterable[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in listed)
