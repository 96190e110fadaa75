"""Text with a query a line: Spider's, SParC's and CoSQL's gold and prediction files, and BIRD's ``dev_gold.sql``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqljury.datasets.pairs import Gold, Prediction
from sqljury.datasets.reading import lines_of
from sqljury.errors import DatasetError

_DATABASE: Final = re.compile(r"[\w.-]+")


def golds(file: Path) -> list[Gold]:
    """``SQL TAB db_id`` a line; blank lines separate interactions. The ids count the queries from 0.

    Raises ``DatasetError`` for a line without a database.
    """
    found: list[Gold] = []
    for interaction, place, line in _numbered(file):
        sql, tab, db_id = line.strip().rpartition("\t")
        if not tab or not sql.strip() or not db_id.strip():
            raise DatasetError(f"{place}: is not a query, a tab and a database; add what is missing")
        found.append(Gold(str(len(found)), sql.strip(), db_id.strip(), interaction, place))
    return found


def predictions(file: Path, interactions: bool = False) -> list[Prediction]:
    """``SQL`` or ``SQL TAB db_id`` a line, without ids.

    With ``interactions`` blank lines separate them; else a blank line is an empty prediction.
    """
    found = []
    for interaction, place, line in _numbered(file, separated=interactions):
        sql, tab, db_id = line.rpartition("\t")
        if not tab or not _DATABASE.fullmatch(db_id.strip()):
            sql, db_id = line, ""
        found.append(Prediction(None, sql.strip(), db_id.strip() or None, interaction, place))
    return found


def _numbered(file: Path, separated: bool = True) -> Iterator[tuple[int, str, str]]:
    """Interaction, place and text of each line; blank ones only where they do not separate."""
    interaction, fresh = 0, True
    for number, line in enumerate(lines_of(file), 1):
        if line.strip() or not separated:
            fresh = False
            yield interaction, f"{file}, line {number}", line
        elif not fresh:
            interaction, fresh = interaction + 1, True
