"""Examples of expected results: a question, a small database, and what the right query returns there.

They come with the package and were made by ``benchmarks/make_expect_examples.py`` from this project's own databases.

Reads the rows that a model says a query returns; what is no table is nothing, never a guess.

Says what the right query returns on a small database, before any query is looked at (Li & Xie 2024, section 2.2).
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
from sqljury.testing.agree import agree
from sqljury.testing.show import EMPTY, Known, known, show, show_result
from sqljury.types import Cell, Column, ForeignKey, Question, Result, Row, Schema, Table, TestCase


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the case that answers it; ``kind`` says what it asks for, ``sql`` made ``case.expected``."""

    question: str
    sql: str
    kind: str
    case: TestCase


def choose(count: int, seed: int = 0) -> tuple[Example, ...]:
    """So many of the examples, of as many kinds as there are, drawn by the seed; all where there are no more.

    What a seed gives stays the same for a larger count and is gone on from.
    """
    rng = random.Random(f"{seed}|expect")  # noqa: S311 - no secret
    by_kind: dict[str, list[Example]] = {}
    for example in rng.sample(everything(), len(everything())):
        by_kind.setdefault(example.kind, []).append(example)
    ranked = [(at, example) for listed in by_kind.values() for at, example in enumerate(listed)]
    return tuple(example for _, example in sorted(ranked, key=lambda pair: pair[0])[:count])


@cache
def everything() -> tuple[Example, ...]:
    """All examples of the package."""
    lines = (files(__package__) / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_example(json.loads(line)) for line in lines)


def line_of(example: Example) -> str:
    """The example as a line of JSON, the opposite of what is read."""
    tables = [
        {
            "name": table.name,
            "columns": [[column.name, column.type] for column in table.columns],
            "primary_key": table.primary_key,
            "foreign_keys": [[key.columns, key.ref_table, key.ref_columns] for key in table.foreign_keys],
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
    keys = tuple(ForeignKey(tuple(own), table, tuple(refs)) for own, table, refs in entry["foreign_keys"])
    return Table(entry["name"], columns, tuple(entry["primary_key"]), keys)


def _rows(listed: Iterable[Iterable[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in listed)


ROWS: Final = 100
COLUMNS: Final = 30
CHARS: Final = 20_000
"""Of a reply; a longer one is no answer on a database of a few rows."""

_CELL: Final = re.compile(r'[ \t]*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^",]*))[ \t]*(?P<end>,|\Z)')
_FENCE: Final = re.compile(r"```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BLANK: Final = re.compile(r"\n[ \t]*\n")


class _UnreadableError(ValueError):
    """The reply holds something that is no cell."""


def read_rows(reply: str, known: Known) -> Result | None:
    """The rows of a reply, one a line, cells with commas between them; None where it is anything else.

    Texts stand in double quotes, doubled inside; bare words are texts only where ``known`` has them, so that prose is
    no row. Cells become what the database keeps (``shown.known``). All rows have the same number of cells. What
    follows a blank line is left out. The result's columns have no names.
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


TOKENS: Final = 300
"""Of one reply; one that is longer is no answer, for its last row may be cut."""

STOP: Final = ("\n\n",)

_RESULT: Final = "Result:"


def expect(case: TestCase, question: Question, part: TestsPart, context: Context, *, examples: int = 0) -> TestCase:
    """The case with the result that the model expects there.

    Of ``part.samples`` replies the most frequent result is taken, its ``sureness`` the share of all replies that say
    it; at temperature 0 they would all be the same, and one is asked for. Rows count in any order when replies are
    compared, for the question may leave it open; the most frequent order of the most frequent rows is taken.
    ``expected`` is None where no reply could be read, and where there is none (see ``Context.ask``). ``examples`` is
    the seed by which those shown are chosen: the same for all questions, so that a model may keep them read.
    Raises ``ModelError`` and its kinds, ``CancelledError`` once the work is cancelled.
    """
    messages = conversation(case, question, part, examples=examples)
    answers = _answers(messages, part, context)
    cells = known(case)
    read = [result for text in answers if (result := read_rows(text, cells)) is not None]
    if not read:
        return replace(case, expected=None)
    expected, votes = _most_frequent(read)
    return replace(case, expected=expected, sureness=votes / len(answers))


def _answers(messages: Sequence[Message], part: TestsPart, context: Context) -> list[str]:
    """Every reply; one that was cut is empty. None where the model could not be asked."""
    seed = derive_seed(context.seed, "expect", messages[0].content, messages[1].content)
    sampling = Sampling(temperature=part.temperature, max_tokens=TOKENS, seed=seed, stop=STOP)
    reply = context.ask(messages, sampling, part.samples if part.temperature > 0 else 1)
    if reply is None:
        return []
    return [one.text if one.finish_reason == "stop" else "" for one in reply.completions]


def conversation(case: TestCase, question: Question, part: TestsPart, *, examples: int = 0) -> tuple[Message, ...]:
    """What is to be done, with the examples, the same for all questions; then the case."""
    asked = _asked(" ".join((question.text, question.evidence)), show(case, part.form))
    return Message("system", _system(part.form, part.shots, examples)), Message("user", f"{asked}\n{_RESULT}")


def _asked(question: str, database: str) -> str:
    return prompts.render("expect/question", question=" ".join(question.split()), database=database)


@lru_cache(maxsize=8)
def _system(form: Shown, shots: int, seed: int) -> str:
    chosen = [
        "\n".join((_asked(one.question, show(one.case, form)), _RESULT, show_result(one.case.expected or Result())))
        for one in choose(shots, seed)
    ]
    return "\n\n".join((prompts.render("expect/system"), *chosen))


def _most_frequent(results: Sequence[Result]) -> tuple[Result, int]:
    """The result that most of them are, in the order of rows that most of those have, and how many they are."""
    groups: list[list[Result]] = []
    for result in results:
        group = next((group for group in groups if agree(group[0], result, ordered=False)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    largest = max(groups, key=len)
    ((rows, _),) = Counter(result.rows for result in largest).most_common(1)
    return next(result for result in largest if result.rows == rows), len(largest)
