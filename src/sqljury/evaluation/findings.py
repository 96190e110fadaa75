"""What an evaluation found, as frozen values, and the one function that turns them into JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

from sqljury.metrics.agreement import Comparison, Slice
from sqljury.metrics.partial import Shares

_OPTIONAL: Final = {"left_out_if_none": True}
"""Metadata of a field that JSON leaves out where it is None."""


@dataclass(frozen=True, slots=True)
class GoldFault:
    """A gold query that is bad or returns nothing; ``index`` is the pair's, from 0."""

    index: int
    id: str
    place: str
    fault: str


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean in percent over the queries that have a score."""

    queries: int
    percent: float


@dataclass(frozen=True, slots=True)
class Dialogues:
    """Dialogues of which every turn is right, in percent; ``turns`` are the means by number of the turn."""

    interactions: int
    percent: float
    turns: Mapping[str, Mean]


@dataclass(frozen=True, slots=True)
class MetricFindings:
    """One metric's mean in percent with its 95 % interval, over the ``judged`` queries, and by level of hardness."""

    title: str
    judged: int
    percent: float
    low: float
    high: float
    hardness: Mapping[str, Mean]
    interactions: Dialogues | None = field(default=None, metadata=_OPTIONAL)


@dataclass(frozen=True, slots=True)
class Confused:
    """How many queries two metrics accept; ``agreement`` is in percent, ``kappa`` None where it is not defined."""

    metrics: tuple[str, str]
    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    agreement: float
    kappa: float | None


@dataclass(frozen=True, slots=True)
class MetricErrors:
    """Errors of a metric against the reference, in percent of all queries."""

    false_positives: float
    false_negatives: float
    title: str


@dataclass(frozen=True, slots=True)
class RefusedPair:
    """A pair that the reference accepts and a metric refuses, and why."""

    index: int
    database: str
    reason: str
    gold: str
    predicted: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The pairs that a metric alone refuses; ``clauses`` counts the clauses in which they differ."""

    clauses: Mapping[str, int]
    pairs: Sequence[RefusedPair]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How metrics agree; ``reference`` names the one that stands for the truth."""

    reference: str
    confusion: Sequence[Confused]
    errors: Mapping[str, MetricErrors]
    refused: Mapping[str, Refused]


@dataclass(frozen=True, slots=True)
class Against:
    """Two files by one metric; see ``agreement.Comparison``."""

    title: str
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        """Flat, as JSON has it."""
        return {"title": self.title, **to_json(self.comparison), "interval": list(self.comparison.interval)}


@dataclass(frozen=True, slots=True)
class RuleStep:
    """False negatives with the rules of ESM+ up to one of them switched on, or of ESM; ``rule`` says which is new."""

    label: str
    rule: str
    missed: int
    percent: float


@dataclass(frozen=True, slots=True)
class AccumulatedRules:
    """False negatives of ESM+ as its rules are switched on; ``title`` is the reference's."""

    reference: str
    title: str
    queries: int
    accepted: int
    steps: Sequence[RuleStep]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that scores depend on."""

    plug_values: bool
    seconds_a_query: float
    disabled_rules: Sequence[int]
    seed: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """SHA-256 of files and databases, and versions."""

    files: Mapping[str, str]
    databases: Mapping[str, str]
    all_databases: str
    sqljury: str
    python: str
    sqlite: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All that an evaluation found; what is wrong with gold comes before the scores.

    ``left_out`` counts the queries without a score by any metric. ``slices`` are means by metric, kind and feature.
    """

    queries: int
    seconds: float
    gold: Sequence[GoldFault]
    left_out: int
    metrics: Mapping[str, MetricFindings]
    partial: Mapping[str, Mapping[str, Shares]] | None = field(default=None, metadata=_OPTIONAL)
    slices: Mapping[str, Mapping[str, Mapping[str, Slice]]] = field(default_factory=dict)
    settings: Settings | None = field(default=None, metadata=_OPTIONAL)
    against: Mapping[str, Against] = field(default_factory=dict)
    agreement: Agreement | None = field(default=None, metadata=_OPTIONAL)
    accumulated_rules: AccumulatedRules | None = field(default=None, metadata=_OPTIONAL)
    provenance: Provenance | None = field(default=None, metadata=_OPTIONAL)


def to_json(value: Any) -> Any:
    """Lists, dictionaries, texts and numbers for ``json``; a value with a ``to_json`` of its own decides for itself."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: to_json(part)
            for field, part in pairs
            if part is not None or not field.metadata.get("left_out_if_none")
        }
    if isinstance(value, Mapping):
        return {key: to_json(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return to_json(value._asdict())
    return [to_json(part) for part in value] if isinstance(value, list | tuple) else value
