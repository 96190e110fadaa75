"""The parts of a recipe that steps read: how a schema is shown, how tables are linked, how queries are tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Form = Literal["ddl", "compact", "mschema"]
Keywords = Literal["rules", "model"]
LinkKind = Literal["", "retrieval", "model"]


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """How the model sees the schema: ``form`` as in ``schema.render``, and example rows of each table.

    The form ``mschema`` has so many example values of each column instead. ``types`` says of columns what their
    values show and their type does not, such as text that holds numbers. ``values`` is how many values of the database
    that the question seems to mean are told at most; 0 needs no value index. ``keywords`` says who picks the words
    that are looked up in it: ``rules``, or the ``model``, which costs a call. ``examples`` is how many values stand
    beside each column in any form, seeded draws from the first rows; with ``nearest`` those of text columns are the
    ones most like the question's words, which needs the value index (MSc-SQL, section 3.2).
    """

    form: Form = "ddl"
    sample_rows: int = 3
    types: bool = False
    values: int = 0
    keywords: Keywords = "rules"
    examples: int = 0
    nearest: bool = False


@dataclass(frozen=True, slots=True)
class LinkPart:
    """Which tables of a schema a question is shown: all, or those that ``retrieval`` or a ``model`` picks.

    Retrieval keeps the tables whose score is at least ``share`` of the best one's. The model is asked ``samples``
    times at ``temperature``, and what any reply names is kept, beside what retrieval keeps. It is the model of that
    name, as ``open_model`` takes it; where ``model`` is empty, the one that writes the queries. Schemas of at most
    ``whole`` tables are shown as they are.
    """

    kind: LinkKind = ""
    share: float = 0.6
    samples: int = 1
    temperature: float = 0.0
    model: str = ""
    whole: int = 0


TestKind = Literal["", "suite", "agents"]
Shown = Literal["csv", "sqlite"]
Data = Literal["model", "program", "real"]
Sayer = Literal["code", "model"]
Voting = Literal["majority", "selection"]


@dataclass(frozen=True, slots=True)
class TestsPart:
    """How queries are tested: not at all, or on a ``suite`` (Li & Xie 2024), or by the ``agents`` of TS-SQL.

    A suite has up to ``cases`` databases, drawn ones with at most ``rows`` rows a table and ``numbers`` as the number
    constraint; the model says ``samples`` times, at ``temperature``, what is expected there, after ``shots``
    examples, with databases shown as ``form``.

    Agents write ``codes`` programs of at most ``max_tokens`` each, looked at
    up to ``inspections`` times, for data that the model or a ``program`` makes up; ``real`` is no data agent: rows of
    the user's, which the model is not shown. ``by`` ``model`` is no code agent: the model itself says what is expected.

    ``models`` are the code agents, by what ``open_model`` takes: each writes ``codes`` programs and inspects its own;
    an empty name, or none at all, is the model that judges. What most programs return is expected (``majority``), or
    what the model ``chooser`` takes for right (``selection``); where that is empty, the model that judges chooses.
    """

    __test__: ClassVar[bool] = False  # no test of pytest's

    kind: TestKind = ""
    cases: int = 10
    rows: int = 5
    numbers: bool = True
    form: Shown = "csv"
    shots: int = 7
    samples: int = 1
    temperature: float = 0.0
    codes: int = 3
    inspections: int = 5
    max_tokens: int = 400
    data: Data = "model"
    by: Sayer = "code"
    models: tuple[str, ...] = ()
    voting: Voting = "majority"
    chooser: str = ""

    @property
    def programs(self) -> int:
        """How many programs are asked for, of all models together."""
        return self.codes * max(1, len(self.models))

    @property
    def runs_code(self) -> bool:
        """Whether code that a model wrote is run."""
        return self.kind == "agents" and (self.by == "code" or self.data == "model")

    @property
    def named(self) -> frozenset[str]:
        """The models that are named."""
        return frozenset({*self.models, self.chooser} - {""})
