"""Text with a query a line: Spider's, SParC's and CoSQL's gold and prediction files, and BIRD's ``dev_gold.sql``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.datasets.pairs import Gold, Known, Prediction
from sqljury.datasets.reading import Document
from sqljury.errors import DatasetError

_DATABASE: Final = re.compile(r"[\w.-]+")
_UNFINISHED: Final = re.compile(
    r"(\b(select|distinct|all|from|join|on|as|where|and|or|not|in|like|between|is|by|having|limit|offset|union|"
    r"intersect|except|case|when|then|else)|[-,.=<>+*/%|(])$",
    re.IGNORECASE,
)
"""How no query ends, so that a tab and a word go on with it; ``count(*)`` ends in a parenthesis."""


def golds(file: Document) -> list[Gold]:
    """``SQL TAB db_id`` a line; blank lines separate interactions. The ids count the queries from 0.

    Raises ``DatasetError`` for a line without a database, and where no line has a query.
    """
    found: list[Gold] = []
    for interaction, place, line in _numbered(file):
        sql, tab, db_id = line.rstrip().rpartition("\t")
        if not tab or not db_id.strip():
            raise _misshapen(place)
        found.append(Gold(str(len(found)), sql.strip(), db_id.strip(), interaction, place))
    if found and not any(gold.sql for gold in found):
        raise _misshapen(found[0].place)
    return found


def _misshapen(place: str) -> DatasetError:
    return DatasetError(f"{place}: is not a query, a tab and a database; add what is missing")


def predictions(file: Document, known: Known) -> list[Prediction]:
    """``SQL`` or ``SQL TAB db_id`` a line, without ids.

    Where gold has interactions blank lines separate them; else a blank line is an empty prediction. Queries may hold
    tabs: what stands behind the last one is a database where all lines end so, or gold knows one of this name.
    """
    numbered = _numbered(file, separated=known.interactions)
    listed = [(interaction, place, *_parted(line)) for interaction, place, line in numbered]
    everywhere = all(db_id for _, _, sql, db_id in listed if sql or db_id)
    found = []
    for interaction, place, sql, db_id in listed:
        if db_id and not everywhere and known.databases and db_id not in known.databases:
            sql, db_id = f"{sql}\t{db_id}", ""
        found.append(Prediction(None, sql, db_id or None, interaction, place))
    return found


def _parted(line: str) -> tuple[str, str]:
    """The query and what may be a database behind its last tab, empty where none can be."""
    sql, tab, db_id = line.rpartition("\t")
    if not tab or not _DATABASE.fullmatch(db_id.strip()) or _UNFINISHED.search(sql.rstrip()):
        return line.strip(), ""
    return sql.strip(), db_id.strip()


def _numbered(file: Document, separated: bool = True) -> Iterator[tuple[int, str, str]]:
    """Interaction, place and text of each line; blank ones only where they do not separate."""
    interaction, fresh = 0, True
    for number, line in enumerate(file.lines, 1):
        if line.strip() or not separated:
            fresh = False
            yield interaction, f"{file}, line {number}", line
        elif not fresh:
            interaction, fresh = interaction + 1, True
