"""A recipe and its parts, one for each table of its TOML file; the annotations are what is validated on load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Interval, MinLen

from sqljury.types.schema import Form

Share = Annotated[float, Interval(ge=0, le=1)]
Temperature = Annotated[float, Interval(ge=0, le=5)]
MaxTokens = Annotated[int, Interval(ge=1, le=32_768)]
Keywords = Literal["rules", "model"]
LinkKind = Literal["", "retrieval", "model"]
Rounds = Literal["both", "features", "focus"]
Columns = Literal["drafts", "words", "model"]
Tables = Literal["", "drafts"]
TestKind = Literal["", "suite", "agents"]
Shown = Literal["csv", "sqlite"]
Voting = Literal["majority", "selection"]
Judged = Literal["used", "linked"]
KeptCases = Literal["pairs", "classes", "all"]
Draw = Literal["selection", "fuzzing"]
KeptQuery = Literal["better", "last"]
Opinion = Literal["none", "votes", "candidate"]


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """How the prompt shows the schema: its ``form`` as in ``schema.render``, and sample rows of each table.

    The form ``mschema`` has as many example values of each column instead. ``types`` adds what the values of a column
    show and its type does not, such as text that holds numbers. ``values`` is the largest number of database values
    that the question seems to mean; 0 needs no value index. ``keywords`` selects who extracts the words that are
    looked up in it: ``rules``, or the ``model``, at the cost of a call. ``examples`` is the number of values beside
    each column in any form, seeded draws from the first rows; with ``nearest`` those of text columns are the most
    similar to the question's words, which needs the value index (MSc-SQL, section 3.2). A schema of more than
    ``tokens`` is shown smaller, see ``schema.target``; 0 for any size.
    """

    form: Form = "ddl"
    sample_rows: Annotated[int, Interval(ge=0, le=100)] = 3
    types: bool = False
    values: Annotated[int, Interval(ge=0, le=100)] = 0
    keywords: Keywords = "rules"
    examples: Annotated[int, Interval(ge=0, le=20)] = 0
    nearest: bool = False
    tokens: Annotated[int, Interval(ge=0, le=100_000)] = 0

    @property
    def looks_up(self) -> bool:
        """Whether words of the question are looked up among the values of the database."""
        return self.values > 0 or (self.nearest and self.examples > 0)


@dataclass(frozen=True, slots=True)
class LinkPart:
    """Schema linking: which tables the prompt shows; all, or those that ``retrieval`` or a ``model`` selects.

    Retrieval keeps the tables with at least ``share`` of the best table's score. The model is sampled ``samples``
    times at ``temperature``; tables named in any reply are kept besides those of retrieval. ``model`` is a name for
    ``open_model``; if empty, the model that writes the queries. Schemas of at most ``whole`` tables are shown whole.
    """

    kind: LinkKind = ""
    share: Share = 0.6
    samples: Annotated[int, Interval(ge=1, le=64)] = 1
    temperature: Temperature = 0.0
    model: str = ""
    whole: Annotated[int, Interval(ge=0, le=100_000)] = 0


@dataclass(frozen=True, slots=True)
class GeneratePart:
    """``samples`` queries of one generator, of at most ``max_tokens`` each; a ``temperature`` of 0 is greedy.

    ``form`` is this part's form of the schema, the recipe's if empty. An ``order`` above 0 shuffles tables and
    columns, equally for all questions on a database, so that its state can be cached; with ``reorder`` each query is
    asked for by itself, in an order of its own, but by a model on this machine's cores, which would read the schema
    each time. ``examples`` is the number of few-shot examples of generators that use some; ``rounds`` selects which of
    the two kinds ``synthetic`` writes, by features of SQL or focused on the question: on the ``columns`` that earlier
    parts used in their ``drafts``, that share ``words`` with it, or that a ``model`` selects (CHASE-SQL, section 3.3).
    With ``tables`` of ``drafts`` the part is shown only the tables that the queries before it read; where these are all
    or none, it is shown all, and a greedy part is not asked.
    ``constrain`` restricts the model to SQL over existing names, see
    ``generate.grammar``. A ``fallback`` runs only if no query of the other parts does. ``model`` is a name for
    ``open_model``, such as ``+NAME`` for the run's model with that adapter; if empty, the run's model. A ``given`` part
    stands for another system, which ``generator`` names: its queries are there, and none is written.
    """

    generator: str = "direct"
    samples: Annotated[int, Interval(ge=1, le=256)] = 1
    temperature: Temperature = 0.0
    top_p: Share = 1.0
    max_tokens: MaxTokens = 300
    form: Literal["", Form] = ""
    order: Annotated[int, Interval(ge=0, le=1000)] = 0
    reorder: bool = False
    examples: Annotated[int, Interval(ge=0, le=100)] = 5
    rounds: Rounds = "both"
    columns: Columns = "drafts"
    tables: Tables = ""
    constrain: bool = False
    fallback: bool = False
    model: str = ""
    given: bool = False


@dataclass(frozen=True, slots=True)
class StopPart:
    """When later parts are not asked; a figure of 0 means that it never ends the writing.

    They are skipped once a ``share`` of at least ``least`` candidates agrees, or once the answer that the candidates so
    far would have by votes has this ``confidence``; or that which the user asks for, if it is higher. An empty result
    ends nothing.
    """

    share: Share = 0.0
    least: Annotated[int, Interval(ge=1, le=256)] = 2
    confidence: Share = 0.0


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """What a question may take on a model that runs on this machine's cores; other models take what the recipe says.

    After ``seconds`` (0: no limit) no call of the model begins, nor does one that would end after them, by the speed of
    the calls before it. A ``share`` of them is for writing, all of them while there are no two results to choose
    between: parts are cut to fewer queries and tokens so that it suffices, and every generator is asked once before any
    is asked for more, see ``stages.pace``; with 0 parts are asked as they are while time is left for their queries.
    Writing ends once ``agree`` queries, all so far, have one result; 0 for never.
    """

    seconds: Annotated[float, Interval(ge=0, le=3600)] = 0.0
    share: Share = 0.6
    agree: Annotated[int, Interval(ge=0, le=256)] = 0


@dataclass(frozen=True, slots=True)
class FixPart:
    """Repairs: of ``names``, ``dialect``, ``values`` and ``meaning`` without a model, up to ``attempts`` by the model.

    With ``hints`` the model is shown what schema and content tell about its query, besides the engine's message.
    Repairs by the model may take ``seconds`` of a question, and no longer than writing took; a call under way is
    finished, and one is begun at any rate unless ``seconds`` is 0.
    """

    names: bool = True
    dialect: bool = True
    values: bool = False
    meaning: bool = True
    attempts: Annotated[int, Interval(ge=0, le=20)] = 3
    hints: bool = True
    seconds: Annotated[float, Interval(ge=0, le=3600)] = 15.0


@dataclass(frozen=True, slots=True)
class TestsPart:
    """How queries are tested: not at all, on a ``suite`` (Li & Xie 2024), or by the ``agents`` of TS-SQL.

    A suite has up to ``cases`` databases; drawn ones have at most ``rows`` rows in a table and obey the number
    constraint if ``numbers`` is set. ``draw`` is where rows come from: random ``selection`` from the user's tables, or
    ``fuzzing``, which makes them up (Li & Xie 2024, section 2.1). ``keep`` says which databases are kept: those that
    tell apart ``pairs`` of queries that none before did, those with new ``classes`` of queries (Algorithm 1), or
    ``all`` that tell any apart, until there are ``cases`` (section 5.3). With ``reduce`` they lose the rows that no
    difference needs; without it, those drawn at random stay as they are, as in the paper. The model predicts the
    expected result ``samples`` times at ``temperature``, after ``shots`` examples, from databases shown as ``form``.

    Agents write ``codes`` programs of at most ``max_tokens`` each, inspected up to ``inspections`` times, for data
    that the model or a ``program`` invents; with ``real`` there is no data agent, but rows of the user's database,
    which the model is not shown: ``rows`` of each table, or a ``share`` of each table's rows if it is above 0 (TS-SQL,
    Figure 4). With ``by`` set to ``model`` there is no code agent: the model predicts the result. With ``reasoning``
    the agents' prompts ask for the reasoning step by step before the program (appendices A.3 to A.5), which counts in
    ``max_tokens``; without it for the program alone.

    ``models`` are the code agents as names for ``open_model``: each writes ``codes`` programs and inspects its own;
    an empty name, or no name, is the judging model. The expected result is that of most programs (``majority``), or
    the one that the model ``chooser`` selects (``selection``); if that is empty, the judging model.
    """

    __test__: ClassVar[bool] = False  # not a test class of pytest

    kind: TestKind = ""
    cases: Annotated[int, Interval(ge=1, le=100)] = 10
    rows: Annotated[int, Interval(ge=1, le=100)] = 5
    numbers: bool = True
    draw: Draw = "selection"
    keep: KeptCases = "pairs"
    reduce: bool = True
    form: Shown = "csv"
    shots: Annotated[int, Interval(ge=0, le=100)] = 7
    samples: Annotated[int, Interval(ge=1, le=64)] = 1
    temperature: Temperature = 0.0
    codes: Annotated[int, Interval(ge=1, le=64)] = 3
    inspections: Annotated[int, Interval(ge=0, le=20)] = 5
    max_tokens: MaxTokens = 400
    data: Literal["model", "program", "real"] = "model"
    share: Share = 0.0
    reasoning: bool = False
    by: Literal["code", "model"] = "code"
    models: tuple[str, ...] = ()
    voting: Voting = "majority"
    chooser: str = ""

    @property
    def programs(self) -> int:
        """The number of programs requested from all models together."""
        return self.codes * max(1, len(self.models))

    @property
    def runs_code(self) -> bool:
        """Whether code that a model wrote is run."""
        return self.kind == "agents" and (self.by == "code" or self.data == "model")

    @property
    def named(self) -> frozenset[str]:
        """The models given by name."""
        return frozenset({*self.models, self.chooser} - {""})


@dataclass(frozen=True, slots=True)
class RefinePart:
    """A query that fails its test is rewritten up to ``rounds`` times (TS-SQL, Algorithm 1); 0 for never.

    A test counts only if the confidence in its expected result is at least ``sure``; 0 is the paper's rule. ``keep``
    names the query that is returned: the ``last`` one, passed or not, as Algorithm 1 has it, or the first one that does
    ``better`` than the query it replaces, which else stays. With ``reasoning`` the prompt asks for the reasoning step
    by step before the query (appendix A.2).
    """

    rounds: Annotated[int, Interval(ge=0, le=20)] = 0
    sure: Share = 0.0
    keep: KeptQuery = "better"
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class SelectPart:
    """The selector of a candidate; ``groups`` is the number of different results that a judge compares, 0 for all.

    ``judge`` is the comparing model as a name for ``open_model``; if empty, the model that wrote the queries, which
    wears ``adapter`` while it judges if it is the one of the catalogue that this adapter is for. The judge is
    shown the tables and columns that the compared queries use, or the ``linked`` schema, with the values and
    descriptions that the writer saw (MSc-SQL, A.3): then a better column shows that no query uses.
    ``weights`` is a file of `sqljury train light` for the selector ``light``, ``confidence`` one of `sqljury calibrate`
    for the answer's confidence; if empty, the package's. ``opinion`` is for candidates of other systems: where these
    disagree, the recipe's own queries are written, and vote as one more system of the least trust (``votes``), or may
    be chosen too (``candidate``). They are chosen among in any case where none of the others runs.
    """

    selector: str = "consistency"
    groups: Annotated[int, Interval(ge=0, le=256)] = 0
    judge: str = ""
    adapter: str = ""
    schema: Judged = "used"
    weights: str = ""
    confidence: str = ""
    opinion: Opinion = "none"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A configuration of the pipeline.

    ``adapter`` is worn by the run's model if that is the one of the catalogue which the adapter is for, and wears none.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"strict": True, "extra": "forbid"}

    name: str
    summary: str = ""
    adapter: str = ""
    schema: SchemaPart = SchemaPart()
    link: LinkPart = LinkPart()
    generate: Annotated[tuple[GeneratePart, ...], MinLen(1)] = (GeneratePart(),)
    stop: StopPart = StopPart()
    budget: BudgetPart = BudgetPart()
    fix: FixPart = FixPart()
    tests: TestsPart = TestsPart()
    refine: RefinePart = RefinePart()
    select: SelectPart = SelectPart()

    @property
    def models(self) -> frozenset[str]:
        """The models given by name, as names for ``open_model``."""
        return self.judges | ({part.model for part in self.generate} | {self.link.model}) - {""}

    @property
    def judges(self) -> frozenset[str]:
        """Those of them that choose among candidates and test them."""
        return self.tests.named | {self.select.judge} - {""}

    def steps(self, parts: Iterable[int]) -> list[str]:
        """The names of these parts of ``generate``, by index, in an answer's ``steps``."""
        return [f"{index + 1} {self.generate[index].generator}" for index in parts]
