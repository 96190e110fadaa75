"""The chosen query with the evidence for it: how it was chosen, what verifies it, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sqljury.errors import MissingExtraError
from sqljury.types import serialize
from sqljury.types.candidate import Candidate
from sqljury.types.chart import chart
from sqljury.types.explanation import Explanation, Reading
from sqljury.types.html import answer_html
from sqljury.types.question import Privacy, Question
from sqljury.types.result import Row
from sqljury.types.testcase import Tried

WORDS: Final = ((0.9, "very likely right"), (0.75, "likely right"), (0.5, "uncertain"), (0.0, "probably wrong"))
"""What a probability is called, from the given one on."""

CHART_ROWS: Final = 1_000
"""A notebook keeps the rows of a chart in its file."""
VEGA_LITE: Final = "application/vnd.vegalite.v{}+json"
"""The media type by the version that a notebook knows; both draw the charts that are proposed here."""


def in_words(probability: float) -> str:
    """The probability as a reader would say it."""
    return next(words for least, words in WORDS if probability >= least)


@dataclass(frozen=True, slots=True)
class Cost:
    """Model calls, tokens (``cached_tokens`` are prompt tokens that were not recomputed), wall seconds, US dollars."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0

    @property
    def computed_tokens(self) -> int:
        """Prompt and completion tokens without the cached ones."""
        return self.prompt_tokens - self.cached_tokens + self.completion_tokens

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge's comparison of two groups: the probability that ``first`` is right, in both orders of presentation."""

    first: int
    second: int
    first_shown_first: float
    first_shown_second: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The index of the chosen candidate, None if every candidate failed, and the evidence for it.

    ``scores`` are indexed by group, and so are the queries of each of ``tests``; empty if the selector has none.
    ``note`` says what the selector could not do and what decided instead; empty if it ran as configured.
    """

    index: int | None
    selector: str
    scores: tuple[float, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    tests: tuple[Tried, ...] = ()
    note: str = ""

    def within_margin(self, group: int) -> bool:
        """Whether votes chose this group although the light judge scores another higher, by no more than its margin."""
        return self.selector == "light" and group < len(self.scores) and self.scores[group] < max(self.scores)


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer compared with the best candidate of another result, whose group is ``rival``.

    ``outcome`` is ``agreed`` if all results are equal, ``differ`` if ``test`` has rows on which the two queries (the
    answer's first) return different results, ``together`` if no such rows were found, and ``untried`` if one of them
    cannot be run on test databases, for the reason in ``why``.
    """

    outcome: Literal["agreed", "differ", "together", "untried"]
    rival: int | None = None
    test: Tried | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why an answer is not given: ``kind`` is ``unsure`` or ``unanswerable``.

    ``reason`` says so in a sentence. ``ask`` is the question whose answer would settle it, empty where none is known.
    """

    kind: Literal["unsure", "unanswerable"]
    reason: str
    ask: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.reason, self.ask)))


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen query, its rows, and the evidence for it.

    ``confidence`` is the probability that the answer is right, calibrated on questions with known answers, from
    what ``signals`` names; None where there is no calibration for it. ``agreement`` is the share of all candidates
    whose result agrees with the chosen one, in (0, 1]; None for a single candidate. ``abstention`` says why the
    answer is not to be relied on, where it was asked to be surer than it is. ``remarks`` are lines for the reader
    of the answer, such as which condition leaves it without rows, or which day the database's clock shows where the
    query counts from today. ``truncated`` means that the row limit cut ``rows``. ``steps`` are the steps that
    called the model, in order, with the cost of each. ``linked`` are the tables that schema linking selected, empty
    without linking. ``verified`` is None if no comparison with a rival was requested. ``dialect`` is that of
    ``sql``. ``privacy`` is the most of the database's content that models outside of this process may have got; None
    where all models were in it.

    ``explanation`` tells how the answer came about. ``readings`` are two if words of the question can be read in two
    ways, the answer's first, else none; see ``read_as``.
    """

    question: Question
    sql: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: bool
    confidence: float | None
    candidates: tuple[Candidate, ...]
    cost: Cost
    model: str = ""
    recipe: str = ""
    choice: Choice | None = None
    steps: tuple[tuple[str, Cost], ...] = ()
    linked: tuple[str, ...] = ()
    verified: Verified | None = None
    remarks: tuple[str, ...] = ()
    dialect: str = ""
    agreement: float | None = None
    signals: tuple[str, ...] = ()
    abstention: Abstention | None = None
    explanation: Explanation | None = None
    readings: tuple[Reading, ...] = ()
    privacy: Privacy | None = None

    @property
    def abstained(self) -> bool:
        """Whether the answer is not sure enough to be given."""
        return self.abstention is not None

    def read_as(self, index: int) -> Answer:
        """The answer by one of ``readings`` that was chosen, which comes first then; it is no longer ``unsure``.

        Another reading than the answer's own has no confidence. Raises ``IndexError`` for a reading that there is not.
        """
        reading = self.readings[index]
        unsure = self.abstention is not None and self.abstention.kind == "unsure"
        abstention = None if unsure else self.abstention
        if reading.sql == self.sql:
            return replace(self, abstention=abstention)
        return replace(
            self,
            sql=reading.sql,
            columns=reading.columns,
            rows=reading.rows,
            truncated=reading.truncated,
            choice=None if self.choice is None else replace(self.choice, index=reading.candidate),
            confidence=None,
            signals=(),
            agreement=None,
            abstention=abstention,
            explanation=reading.explanation,
            verified=None,
            remarks=reading.remarks,
            readings=(reading, *(other for other in self.readings if other is not reading)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings for JSON; the keys are part of the public interface."""
        return serialize.answer_dict(self)

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; raises ``MissingExtraError`` if pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "pandas") from None
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def chart(self) -> dict[str, Any] | None:
        """A Vega-Lite specification that draws the rows; None where a table says more."""
        return chart(self.columns, self.rows)

    def _repr_html_(self) -> str:
        """The answer as HTML for notebooks; every value is escaped."""
        return answer_html(self)

    def _ipython_display_(self) -> None:
        """The answer and below it its chart: of several forms of one output a notebook shows only one."""
        from IPython import display as shown

        text = f"{self.question.text}\n{self.sql}\n{len(self.rows)} rows"
        show: Any = shown.display
        show({"text/html": self._repr_html_(), "text/plain": text}, raw=True)
        drawn = self.chart() if not self.abstained and len(self.rows) <= CHART_ROWS else None
        if drawn is not None:
            older = {**drawn, "$schema": drawn["$schema"].replace("v6", "v5")}
            bundle = {VEGA_LITE.format(6): drawn, VEGA_LITE.format(5): older}
            show({**bundle, "text/plain": drawn.get("description", "a chart")}, raw=True)
