"""Questions with their queries on a small schema of our own: what the generators that reason show as examples."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

from sqljury.generate.engine_steps import ask
from sqljury.generate.explain import explain, numbered
from sqljury.generate.pool import Shot

TABLES: Final = "gardener(id, name, town), plot(id, gardener_id, size), harvest(plot_id, crop, kilos)"
"""The schema as prompts show it."""

_DDL: Final = """
CREATE TABLE gardener (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE plot (id INTEGER PRIMARY KEY, gardener_id INTEGER REFERENCES gardener(id), size REAL);
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
ABOVE: Final = Shot(
    "Name the gardeners with a plot larger than the average plot.",
    "SELECT DISTINCT gardener.name FROM gardener JOIN plot ON plot.gardener_id = gardener.id "
    "WHERE plot.size > (SELECT avg(size) FROM plot)",
)


@cache
def plan(shot: Shot) -> str:
    """The plan that SQLite makes for an example, one numbered sentence a line."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_DDL)
        return numbered(explain(shot.sql, "sqlite", ask(connection, shot.sql)))
