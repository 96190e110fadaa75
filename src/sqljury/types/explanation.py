"""How an answer came about, in plain words, and the other reading of an ambiguous question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqljury.types.result import Row

StepKind = Literal["read", "join", "filter", "group", "show", "combine", "order", "limit", "subquery", "rewrite"]
EffectKind = Literal["unmatched", "null", "tie", "cut", "alike", "repeated"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the query in plain words; ``depth`` is 0 for the query itself, 1 for a query inside it, and so on.

    ``rewrite`` is a repair that changed what the query means.
    """

    kind: StepKind
    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """What the query did to rows without saying so, as observed on the database.

    ``unmatched``: a join dropped ``rows`` rows that match none, or a query counted them like others; ``repeated``: a
    join made several rows of each of ``rows`` rows whose values are added up; ``null``: an aggregate or a condition
    ignored ``rows`` rows without a value, or LIMIT kept them in an order by it; ``tie``: LIMIT cut off ``rows`` rows
    that rank as high as the last one kept, or OFFSET one that ranks as high as the first;
    ``cut``: LIMIT without ORDER BY kept arbitrary rows and cut off at least ``rows``; ``alike``: a value of the
    question was replaced by a stored one, and ``rows`` is None. ``sql`` is the query that counted; empty for ``alike``.
    ``warns`` says whether the answer may be another one without the effect: these effects are remarks of the answer.
    """

    kind: EffectKind
    text: str
    rows: int | None = None
    sql: str = ""
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an answer came about: the ``steps`` of its query, and their ``effects``.

    ``uncounted`` says why effects were not, or not all, looked for; empty if all were.
    """

    steps: tuple[Step, ...] = ()
    effects: tuple[Effect, ...] = ()
    uncounted: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The effects that may have changed the answer."""
        return tuple(effect.text for effect in self.effects if effect.warns)


@dataclass(frozen=True, slots=True)
class Reading:
    """One of two readings of a question: what it takes ``words`` of the question to mean, and its answer.

    ``candidate`` is the index of its query among the candidates; ``votes`` counts the candidates with its result.
    ``explanation`` and ``remarks`` are those of an answer by this reading.
    """

    words: str
    meaning: str
    sql: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: bool
    candidate: int
    votes: int
    explanation: Explanation | None = None
    remarks: tuple[str, ...] = ()

    def first(self, rows: int) -> Reading:
        """The reading with at most so many rows."""
        cut = len(self.rows) > rows
        return replace(self, rows=self.rows[:rows], truncated=True) if cut else self
