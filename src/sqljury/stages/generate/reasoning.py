"""Generators that reason before they write: ``divide`` (CHASE-SQL, Algorithm 1) and ``plan`` (section 3.3).

``divide`` splits the question into sub-questions with partial queries, puts these together and simplifies the result;
``plan`` lists the steps of a database engine, then writes the query. Worked examples on a small schema show the form of
the answer. Each generator has a full form for strong models and a short one for small models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.llm.base import Fixed, Message
from sqljury.llm.replies import extract_sql
from sqljury.prompts import Text
from sqljury.recipes import GeneratePart
from sqljury.sql.text import printable
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.direct import question, system
from sqljury.types import Task

TABLES: Final = "gardener(id, name, town), plot(id, gardener_id, size), harvest(plot_id, crop, kilos)"
"""The schema of the worked examples, as prompts show it."""

MOST: Final = Shot(
    "Which gardener from Leeds harvested the most kilos of beans?",
    "SELECT gardener.name FROM gardener JOIN plot ON plot.gardener_id = gardener.id "
    "JOIN harvest ON harvest.plot_id = plot.id WHERE gardener.town = 'Leeds' AND harvest.crop = 'beans' "
    "GROUP BY gardener.id ORDER BY sum(harvest.kilos) DESC LIMIT 1",
)
NONE: Final = Shot(
    "How many gardeners have no plot?",
    "SELECT count(*) FROM gardener WHERE id NOT IN (SELECT gardener_id FROM plot)",
)
LEEDS: Final = Shot(
    "Of the gardeners from Leeds, name those whose harvest of beans is above the average harvest of beans from a plot.",
    "WITH beans AS (SELECT plot_id, sum(kilos) AS total FROM harvest WHERE crop = 'beans' GROUP BY plot_id)\n"
    "SELECT gardener.name FROM gardener JOIN plot ON plot.gardener_id = gardener.id "
    "JOIN beans ON beans.plot_id = plot.id\n"
    "WHERE gardener.town = 'Leeds' GROUP BY gardener.id HAVING sum(beans.total) > (SELECT avg(total) FROM beans)",
)
ABOVE: Final = Shot(
    "Name the gardeners with a plot larger than the average plot.",
    "SELECT name FROM gardener WHERE id IN (SELECT gardener_id FROM plot WHERE size > (SELECT avg(size) FROM plot))",
)

Worked = tuple[Shot, str]
"""An example and the prompt of its answer, which has a slot for the query."""

DIVIDE: Final[tuple[Worked, ...]] = ((LEEDS, "divide/full_leeds"),)
DIVIDE_SHORT: Final[tuple[Worked, ...]] = ((MOST, "divide/short_most"), (ABOVE, "divide/short_above"))
PLAN_SHORT: Final[tuple[Worked, ...]] = ((MOST, "plan/most"), (NONE, "plan/none"))
PLAN: Final[tuple[Worked, ...]] = (*PLAN_SHORT, (LEEDS, "plan/leeds"))
"""Their steps are those of SQLite's EXPLAIN QUERY PLAN for the query."""

STOP: Final = (";\n```",)
"""The end of the query and of its block: small models repeat the query after it."""

NAMED: Final = 30
"""Tables named again before the question, as a small model invents names after examples on other tables."""


def divide(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for strong models: every sub-question, the query put together from them, and a simpler one."""
    return _request(task, part, "divide/full", DIVIDE)


def divide_short(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for small models: up to three sub-questions of one line each, then the whole query."""
    return _request(task, part, "divide/short", DIVIDE_SHORT, STOP)


def plan(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for strong models: how the tables are found, what is done with them, what is delivered."""
    return _request(task, part, "plan/full", PLAN)


def plan_short(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for small models: at most six short steps, then the query."""
    return _request(task, part, "plan/short", PLAN_SHORT, STOP)


def _request(
    task: Task, part: GeneratePart, prompt: str, examples: Sequence[Worked], stop: tuple[str, ...] = ()
) -> Request:
    """``prompt`` gives the instructions, before the first example; without examples ``<step>/bare`` gives the form."""
    step = prompt.partition("/")[0]
    turns = [system(task)]
    for index, (shot, answer) in enumerate(examples[: part.examples]):
        text = Text(shot.question, "schema")
        text = text if index else prompts.render(prompt, "schema", tables=TABLES, question=text)
        turns += [Fixed("user", text), Fixed("assistant", prompts.render(answer, "schema", sql=shot.sql))]
    if len(turns) > 1:
        names = ", ".join(printable(table.name) for table in task.shown.tables[:NAMED])
        more = ", ..." if len(task.shown.tables) > NAMED else ""
        asked = prompts.render("examples/ask", "schema", tables=names + more, question=question(task))
    else:
        asked = prompts.render(f"{step}/bare", question=question(task))
    return Request((*turns, Message("user", asked)), stop, concluding_sql, reasons=True)


_FENCE: Final = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CONCLUDES: Final = re.compile(
    r"\b(?:final|finally|simplif\w+|answer|complete|whole|optimi[sz]ed|together|assembled)\b|^\W*(?:sql )?query\W*$",
    re.IGNORECASE,
)
_START: Final = re.compile(r"^(?:[^\n`]{0,60}:)?(?:(?!\n)[\W\d])*?`?(?=(?:SELECT|WITH)\s)", re.I | re.M)

STARTS: Final = 5
"""Lines outside of blocks that begin like a query and are read as one, at most."""


class _Block(NamedTuple):
    """A query in a reply; ``concludes`` where the line before it announces the end of the reasoning."""

    sql: str
    concludes: bool


def concluding_sql(reply: str) -> str:
    """The query that a reply ends in, empty when there is none.

    Partial queries may come before it, fenced or on lines of their own, and a remark that quotes one of them after it.
    So the last block that its line announces as the final one is taken, else the last block that is not part of
    another. Where no block holds a query, the last line that begins one is taken.
    """
    blocks = _blocks(reply)
    if not blocks:
        return _last_unfenced(reply)
    announced = [block.sql for block in blocks if block.concludes]
    if announced:
        return announced[-1]
    flat = [" ".join(block.sql.split()).lower() for block in blocks]
    whole = [
        block.sql
        for block, text in zip(blocks, flat, strict=True)
        if not any(text != other and text in other for other in flat)
    ]
    return whole[-1]


def _blocks(reply: str) -> list[_Block]:
    """The fenced queries, and an unfenced one that is announced after the last of them."""
    blocks: list[_Block] = []
    end = 0
    for fence in _FENCE.finditer(reply):
        end = fence.end()
        sql = extract_sql(fence[1])
        if sql:
            before = reply[: fence.start()].rstrip().rpartition("\n")[2]
            blocks.append(_Block(sql, _CONCLUDES.search(before) is not None))
    if blocks and (sql := _announced(reply[end:])):
        blocks.append(_Block(sql, True))
    return blocks


def _announced(remark: str) -> str:
    """The query that is announced after the last block; empty for prose about that block ("it will select ...")."""
    from sqljury.sql.tree import tree_of  # needs the parser, which takes a while to load

    announced = _CONCLUDES.search(remark)
    if announced is None:
        return ""
    starts = [start.end() for start in _START.finditer(remark) if start.end() >= announced.end()]
    texts = (_unfenced(remark, start) for start in starts[:STARTS])
    return next((sql for sql in texts if sql and tree_of(sql) is not None), "")  # what is nested in it comes later


def _last_unfenced(reply: str) -> str:
    """The last statement that begins a line, or follows a short heading and a colon on it.

    A part of a statement may begin a line too (after WITH or UNION): of the lines before with the same end, the first
    one from which the text still parses is taken.
    """
    from sqljury.sql.tree import tree_of  # needs the parser, which takes a while to load

    starts = [start.end() for start in _START.finditer(reply)]
    if not starts:
        return extract_sql(reply)
    last = _unfenced(reply, starts[-1])
    wider = (_unfenced(reply, start) for start in starts[-STARTS:-1])
    return next((sql for sql in wider if len(sql) > len(last) and sql.endswith(last) and tree_of(sql)), last)


def _unfenced(reply: str, start: int) -> str:
    return extract_sql(reply[start:].replace("`", "\n"))
