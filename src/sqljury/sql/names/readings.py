"""A reading of a query with ambiguous names: the options that it chose, and the scores of those it did not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from sqljury.language.alike import pieces, question_words
from sqljury.sql.names.routes import Routes
from sqljury.sql.parse import exp
from sqljury.sql.resolve import bare_name, identifier
from sqljury.types import Schema, Table

MAX_UNKNOWN = 32
"""Most unknown names in a query: each may take a search of the schema. A query with more is left as it is."""

READINGS: Final = 3
"""Most readings of one query; if more are equally likely, none is used."""
PLAUSIBLE: Final = 0.5
"""Options below this share of the best score are not used for other readings."""
_EQUAL: Final = 0.99
_ASKED: Final = 1.2
_SHARED_WORD: Final = 0.05


class TooManyError(ValueError):
    """The query has more than ``MAX_UNKNOWN`` unknown names."""


class Option(NamedTuple):
    """What an unknown name may mean: how likely, what kind of repair that is, and the repair itself."""

    score: float
    kind: str
    apply: Callable[[], object]


class Reading:
    """One reading of a query: at each decision the best option, or the one that ``picks`` gives by number.

    ``decisions`` are the scores of the options there were, ``kinds`` the repairs that were made.
    """

    def __init__(self, schema: Schema, question: str, picks: Mapping[int, int]) -> None:
        self.schema, self.question, self.picks = schema, question, picks
        self.routes = Routes(schema)
        self.decisions: list[list[float]] = []
        self.kinds: dict[str, None] = {}
        self.score = 1.0
        self._left = MAX_UNKNOWN

    def search(self) -> None:
        """Count a search for a name; raises ``TooManyError``."""
        if not self._left:
            raise TooManyError
        self._left -= 1

    def choose(self, options: Collection[Option]) -> bool:
        """Apply the option of this reading; False without options, or if too many are equally likely."""
        ranked = sorted(options, key=lambda option: -option.score)
        ranked = [option for option in ranked if option.score >= PLAUSIBLE * ranked[0].score]
        if not ranked or sum(option.score >= _EQUAL * ranked[0].score for option in ranked) > READINGS:
            return False
        option = ranked[min(self.picks.get(len(self.decisions), 0), len(ranked) - 1)]
        self.decisions.append([item.score for item in ranked])
        self.kinds[option.kind] = None
        self.score *= min(option.score, 1.0)
        option.apply()
        return True

    def asks_for(self, table: Table) -> float:
        """A factor above 1 for a table if the question has all words of its name."""
        named = pieces(table.name)
        return _ASKED if named and set(named) <= self._asked else 1.0

    def overlap(self, names: Collection[str]) -> float:
        """A factor of at least 1 for columns, higher for each word that their names share with the question."""
        return 1.0 + _SHARED_WORD * len({word for name in names for word in pieces(name)} & self._asked)

    @functools.cached_property
    def _asked(self) -> frozenset[str]:
        return frozenset(question_words(self.question))

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """All columns of the schema in lower case."""
        return frozenset(column.name.lower() for table in self.schema.tables for column in table.columns)


def table_node(table: Table, dialect: str) -> exp.Table:
    """A table as FROM names it, with its schema where it is not in the default one."""
    node = exp.Table(this=identifier(bare_name(table), dialect))
    if table.schema:
        node.set("db", identifier(table.schema, dialect))
    return node
