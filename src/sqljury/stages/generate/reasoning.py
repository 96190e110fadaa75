"""Reading the query out of a reply that reasons before it concludes.

Questions with their queries on a small schema of our own: what the generators that reason show as examples.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.datasets.pool import Shot
from sqljury.llm.base import Message
from sqljury.llm.replies import extract_sql
from sqljury.sql.text import printable
from sqljury.stages.generate.direct import question, system
from sqljury.stages.generate.engine_steps import ask
from sqljury.stages.generate.explain import explain, numbered
from sqljury.types import Task

_FENCE: Final = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CONCLUDES: Final = re.compile(
    r"\b(?:final|finally|simplif\w+|answer|complete|whole|optimi[sz]ed|together|assembled)\b|^\W*(?:sql )?query\W*$",
    re.IGNORECASE,
)
_START: Final = re.compile(r"^(?:[^\n`]{0,60}:)?[\W\d]*?`?(?=(?:SELECT|WITH)\s)", re.IGNORECASE | re.MULTILINE)

STARTS: Final = 5
"""Lines outside of blocks that begin like a query and are read as one, at most."""


class _Found(NamedTuple):
    sql: str
    concludes: bool
    """The line before it says that this is the end of the reasoning."""


def concluding_sql(reply: str) -> str:
    """The query that a reply ends in, empty when there is none.

    Partial queries may stand before it, in fenced blocks or in lines, and a remark that quotes one of them after it:
    the last block is taken that a line announces as the end, else the last one that is no part of another. Where no
    block holds a query, the last line that begins one.
    """
    found = _blocks(reply)
    if not found:
        return _last_unfenced(reply)
    announced = [one for one in found if one.concludes]
    if announced:
        return announced[-1].sql
    flat = [" ".join(one.sql.split()).lower() for one in found]
    whole = [
        one.sql
        for one, text in zip(found, flat, strict=True)
        if not any(text != other and text in other for other in flat)
    ]
    return whole[-1]


def _blocks(reply: str) -> list[_Found]:
    """The fenced queries; one that stands unfenced after an announcement behind the last of them counts too."""
    found: list[_Found] = []
    end = 0
    for block in _FENCE.finditer(reply):
        end = block.end()
        sql = extract_sql(block[1])
        if sql:
            before = reply[: block.start()].rstrip().rpartition("\n")[2]
            found.append(_Found(sql, _CONCLUDES.search(before) is not None))
    if found and (sql := _announced(reply[end:])):
        found.append(_Found(sql, True))
    return found


def _announced(remark: str) -> str:
    """The query that is announced behind the last block; empty for words on the one in it ("it will select ...")."""
    from sqljury.sql.tree import tree_of  # needs the parser, which takes a while to load

    announced = _CONCLUDES.search(remark)
    if announced is None:
        return ""
    starts = [found.end() for found in _START.finditer(remark) if found.end() >= announced.end()]
    texts = (extract_sql(remark[start:].replace("`", "\n")) for start in starts[:STARTS])
    return next((sql for sql in texts if sql and tree_of(sql) is not None), "")  # what is nested in it comes later


def _last_unfenced(reply: str) -> str:
    """The last statement that begins a line, or follows a short heading and a colon on it.

    A part of it may begin a line too (behind WITH or UNION): the furthest beginning counts from which the text up to
    the same end still reads as one query.
    """
    from sqljury.sql.tree import tree_of  # needs the parser, which takes a while to load

    starts = [found.end() for found in _START.finditer(reply)]
    if not starts:
        return extract_sql(reply)
    last = extract_sql(reply[starts[-1] :].replace("`", "\n"))
    wider = (extract_sql(reply[start:].replace("`", "\n")) for start in starts[-STARTS:-1])
    return next((sql for sql in wider if len(sql) > len(last) and sql.endswith(last) and tree_of(sql)), last)


TABLES: Final = "gardener(id, name, town), plot(id, gardener_id, size), harvest(plot_id, crop, kilos)"
"""The schema as prompts show it."""

NAMED: Final = 30
"""Tables named again before the question, as a small model invents names after examples on other tables."""

DDL: Final = """
CREATE TABLE gardener (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE plot (id INTEGER PRIMARY KEY, gardener_id INTEGER NOT NULL REFERENCES gardener(id), size REAL);
CREATE TABLE harvest (plot_id INTEGER REFERENCES plot(id), crop TEXT, kilos REAL);
"""

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


def turns(task: Task, opening: str, bare: str, shown: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    """The worked examples, question and answer, as turns after the shared opening; small models keep to their form.

    ``opening`` is the prompt that says what is wanted, rendered before the first example's question; ``bare`` is the
    one that says it by the form of the answer alone, where no example is shown.
    """
    if not shown:
        return system(task), Message("user", prompts.render(bare, question=question(task)))
    said = [system(task)]
    for place, (asked, answer) in enumerate(shown):
        text = prompts.render(opening, tables=TABLES, question=asked) if place == 0 else asked
        said += [Message("user", text), Message("assistant", answer)]
    names = ", ".join(printable(table.name) for table in task.shown.tables[:NAMED])
    more = ", ..." if len(task.shown.tables) > NAMED else ""
    return (*said, Message("user", prompts.render("examples/ask", tables=names + more, question=question(task))))


@cache
def plan(shot: Shot) -> str:
    """The plan that SQLite makes for an example, one numbered sentence a line."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DDL)
        return numbered(explain(shot.sql, "sqlite", ask(connection, shot.sql)))
