"""Questions with their queries on a small schema of our own: what the generators that reason show as examples."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Final

from sqljury import prompts
from sqljury.generate.direct import question, system
from sqljury.generate.engine_steps import ask
from sqljury.generate.explain import explain, numbered
from sqljury.generate.pool import Shot
from sqljury.llm.base import Message
from sqljury.schema.text import printable
from sqljury.types import Task

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
    names = ", ".join(printable(table.name) for table in task.schema.tables[:NAMED])
    more = ", ..." if len(task.schema.tables) > NAMED else ""
    return (*said, Message("user", prompts.render("examples/ask", tables=names + more, question=question(task))))


@cache
def plan(shot: Shot) -> str:
    """The plan that SQLite makes for an example, one numbered sentence a line."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DDL)
        return numbered(explain(shot.sql, "sqlite", ask(connection, shot.sql)))
