"""The values that pass between steps: frozen, comparable, without behaviour beyond reading themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sqljury.errors import MissingExtraError
from sqljury.types import serialize as written

Cell = None | int | float | str | bytes
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question in plain language; ``evidence`` is outside knowledge (BIRD's term), ``id`` seeds random choices."""

    text: str
    evidence: str = ""
    id: str = ""

    @property
    def whole(self) -> str:
        """The text with the evidence, where there is some, behind it."""
        return " ".join(filter(None, (self.text, self.evidence)))


@dataclass(frozen=True, slots=True)
class Column:
    """A column as declared; ``unique`` means a key or UNIQUE constraint on this column alone.

    ``values`` are all that an enumerated type allows, ``comment`` is what the database keeps about the column.
    """

    name: str
    type: str = ""
    not_null: bool = False
    unique: bool = False
    comment: str = ""
    values: tuple[str, ...] = ()
    generated: bool = False


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """``columns`` of the table that holds it refer to ``ref_columns`` of ``ref_table``, position by position.

    ``ref_table`` and ``ref_schema`` are the ``name`` and ``schema`` of the other ``Table``.
    """

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    ref_schema: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view.

    ``name`` tells it from every other of its database: bare in the default schema, else ``schema`` before a dot.
    ``unique_keys`` holds each UNIQUE constraint's columns, the primary key not among them. ``definition`` is the
    statement that made a view, as the database keeps it; empty for tables.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    kind: Literal["table", "view"] = "table"
    definition: str = ""
    schema: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables and views of one database, in the order the database lists them."""

    name: str
    dialect: str
    tables: tuple[Table, ...]


DIALECT_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB", "postgres": "PostgreSQL", "mysql": "MySQL"}


@dataclass(frozen=True, slots=True)
class Task:
    """A question on a schema: ``known`` is the whole schema, ``shown`` the part of it that the writer of queries sees.

    ``text`` is ``shown`` as a prompt has it. ``notes`` are lines on the database that this question may need; they are
    data, not instructions. ``hits`` holds table and column of values that the question seems to name, and how surely in
    (0, 1]; ``near`` table, column and some of its values, those most like the question's words first. ``linked`` is the
    part that schema linking kept, None where the whole schema is shown.
    """

    question: Question
    known: Schema
    text: str
    notes: tuple[str, ...] = ()
    hits: tuple[tuple[str, str, float], ...] = ()
    near: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    linked: Schema | None = None

    @property
    def shown(self) -> Schema:
        """The part of the schema that the writer of queries sees."""
        return self.known if self.linked is None else self.linked

    @property
    def dialect_name(self) -> str:
        """The dialect as people write it."""
        return DIALECT_NAMES.get(self.known.dialect, self.known.dialect)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use: seconds of wall time, rows fetched, bytes of all fetched cells together."""

    seconds: float = 30.0
    rows: int = 10_000
    bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Result:
    """What running a query gave: rows, or ``error`` and no rows.

    ``truncated`` says that the row limit cut the result; ``seconds`` is wall time.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    truncated: bool = False
    error: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The query ran, whatever it returned."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class TestCase:
    """A small database on which queries can be tried, and what the right query returns there.

    ``rows`` has an item for each table of ``schema``, in its order; each row's cells are in the order of the columns.
    ``expected`` is None as long as nobody has said; ``sureness`` is the share of the opinions asked for that said it,
    or the probability that a model gave it which chose among them, in (0, 1]. Li & Xie 2024, section 2.
    """

    __test__: ClassVar[bool] = False  # no test of pytest's

    schema: Schema
    rows: tuple[tuple[Row, ...], ...]
    expected: Result | None = None
    sureness: float = 1.0

    @property
    def tables(self) -> dict[str, tuple[Row, ...]]:
        """The rows by the name of their table."""
        return {table.name: rows for table, rows in zip(self.schema.tables, self.rows, strict=True)}

    @property
    def size(self) -> int:
        """Rows of all tables together."""
        return sum(map(len, self.rows))


@dataclass(frozen=True, slots=True)
class Tried:
    """A test case and what each of some queries does there.

    ``queries``, ``results`` and ``passed`` go together, place by place; ``passed`` is None where nobody said what is
    expected, and for a query that cannot be run here. ``how`` says where the rows come from (``drawn``, ``real``,
    ``mutated``, ``fuzzed`` or ``written``) and ``by`` who said what is expected: ``model``, ``code``, or empty.
    ``code`` is the program that said it. ``classes`` has for each query the place of the first that it does not differ
    from here, whichever way ties fall; empty where that was not looked at.
    """

    case: TestCase
    queries: tuple[str, ...]
    results: tuple[Result, ...]
    passed: tuple[bool | None, ...]
    how: str = ""
    by: str = ""
    code: str = ""
    classes: tuple[int, ...] = ()

    def differ(self, one: int, other: int) -> bool:
        """Whether the queries at these places differ here, and not by luck as far as that was looked at."""
        if not (self.results[one].ok and self.results[other].ok):
            return False
        if self.classes:
            return self.classes[one] != self.classes[other]
        return self.results[one].rows != self.results[other].rows

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; tables by their names."""
        return written.test(self)


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair of a candidate: the query before, why it needed one, and who repaired it.

    ``schema`` bound its names, ``dialect`` rewrote what another engine would take, ``values`` put stored values for
    texts that a column does not have, ``model`` was asked again, and so it was where ``tests`` failed.
    """

    before: str
    reason: str
    by: Literal["schema", "dialect", "values", "model", "tests"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query that might answer the question, and all that is known of it.

    ``sql`` is empty when no query could be read out of the reply. ``logprob`` is the sum of the natural-log
    probabilities of the generated tokens, None where the backend gives none. ``group`` numbers the set of
    candidates with the same result (0 is the largest), None when the query failed. ``part`` is the place of the part
    of the recipe that made it, from 0. ``tokens`` is how many tokens ``logprob`` is the sum of, None where it is None.
    """

    sql: str
    generator: str
    logprob: float | None = None
    result: Result = field(default_factory=Result)
    group: int | None = None
    fixes: tuple[Fix, ...] = ()
    part: int = 0
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Model calls, tokens (``cached_tokens`` of the prompt's were not computed again), wall seconds, US dollars."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0

    @property
    def computed_tokens(self) -> int:
        """Tokens that were read and written, without those that were known already."""
        return self.prompt_tokens - self.cached_tokens + self.completion_tokens

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two groups of candidates before a judge: its probability that ``first`` is right, in both orders of showing."""

    first: int
    second: int
    first_shown_first: float
    first_shown_second: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The place of the chosen candidate, None when every candidate failed, and why it was chosen.

    ``scores`` are those of the groups that took part, by their numbers; empty where the selector has none. The
    queries of each of ``tests`` are those of the groups, by their numbers. ``note`` says what could not be asked, and
    what decided instead; empty where all could.
    """

    index: int | None
    selector: str
    scores: tuple[float, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    tests: tuple[Tried, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer beside the best of the other results, whose group is ``rival``.

    ``outcome`` is ``agreed`` where all results are the same, ``differ`` where ``test`` shows rows on which the two
    queries, the answer's first, do different things, ``together`` where no such rows were found, and ``untried`` where
    one of them cannot be run on small databases, for the reason in ``why``.
    """

    outcome: Literal["agreed", "differ", "together", "untried"]
    rival: int | None = None
    test: Tried | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen query, its rows, and the evidence for it.

    ``confidence`` is the share of all candidates whose result agrees with the chosen one, in (0, 1]; None where there
    is only one candidate, which nothing could agree with. ``remarks`` are lines that a reader of the answer should
    know, such as which condition leaves it without rows.
    ``truncated`` says that the row limit cut ``rows``. ``steps`` are the steps that asked the model, in order, with
    what each of them took. ``linked`` are the tables that the model was shown where the recipe links some. ``verified``
    is what ``verify.verified`` found, None where it was not asked. ``dialect`` is that of ``sql``.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; the keys are part of the public interface."""
        return written.answer(self)

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; raises ``MissingExtraError`` where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "pandas") from None
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def _repr_html_(self) -> str:
        """The query, the first rows, the confidence and what verifies it, for notebooks; every value is escaped."""
        return written.html(self)
