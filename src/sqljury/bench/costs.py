"""What a run has cost: calls, tokens, seconds and money, by step, by model and by question.

The journal of calls is what is added up. Calls of questions that were broken off, and asked again later, are counted
apart: they were paid too. Runs of before there was a journal are added up from their answers.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqljury.bench.calls import Call, calls
from sqljury.bench.stored import cost_of
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation.run_folder import ANSWERS, IN_FLIGHT, Record, described, records
from sqljury.llm.ledger import Price
from sqljury.llm.prices import Prices
from sqljury.types import Cost

_REFINING: Final = ("tests", "refine")
"""The steps of refining in runs of before their lines named them."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How a figure is distributed over questions; all 0 for none."""

    mean: float
    p50: float
    p90: float
    p99: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of these values; percentiles are the nearest of them."""
        if not values:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0)
        ordered = sorted(values)
        p50, p90, p99 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.9, 0.99))
        return cls(statistics.fmean(ordered), p50, p90, p99, ordered[-1])


@dataclass(frozen=True, slots=True)
class RunCost:
    """The costs of a run; seconds of ``steps``, ``models`` and ``broken_off`` are those of calls of models.

    ``questions`` holds the whole cost of each answered question, ``broken_off`` what was paid for questions in flight
    when a run was stopped. ``priced`` says whether dollars are known; ``unpriced`` counts the calls that were made
    without a price, or at one of 0; ``missing`` counts calls of answered questions that the journal does not hold, so
    that steps, models and dollars are without them.
    """

    questions: Mapping[str, Cost]
    steps: Mapping[str, Cost]
    models: Mapping[str, Cost]
    broken_off: Cost
    priced: bool
    unpriced: int = 0
    missing: int = 0

    @property
    def answers(self) -> Cost:
        """All answered questions together; seconds are from question to answer."""
        return total(self.questions.values())

    @property
    def spent(self) -> Cost:
        """All that was paid, with what was broken off."""
        return self.answers + self.broken_off

    def spread(self, figure: str) -> Spread:
        """How a figure of ``Cost`` is distributed over questions."""
        return Spread.of([float(getattr(cost, figure)) for cost in self.questions.values()])

    def to_json(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        return {
            "answered": len(self.questions),
            "priced": self.priced,
            "unpriced": self.unpriced,
            "missing": self.missing,
            "spent": asdict(self.spent),
            "answers": asdict(self.answers),
            "broken_off": asdict(self.broken_off),
            "steps": {name: asdict(cost) for name, cost in self.steps.items()},
            "models": {name: asdict(cost) for name, cost in self.models.items()},
            "spread": {
                figure: asdict(self.spread(figure)) for figure in ("seconds", "calls", "computed_tokens", "usd")
            },
            "questions": {name: asdict(cost) for name, cost in self.questions.items()},
        }


def total(costs: Iterable[Cost]) -> Cost:
    """The sum."""
    return sum(costs, Cost())


def costs(folder: Path, price: Price | Prices | None = None) -> RunCost:
    """What a run has cost; ``price`` replaces the dollars that were counted when it ran.

    The price of a machine's hour is shared by the questions that it had in flight at once.

    Raises ``DatasetError`` for a folder that holds no run, and ``InputError`` where a model has no price.
    """
    settings, answered = described(folder), records(folder)
    price = None if price is None else price.among(in_flight(settings))
    known = {record["id"]: _stored(record["cost"], folder, record["id"]) for record in answered}
    finished, lost = attempts(calls(folder), answered)
    if not finished and not lost:
        finished = list(_from_answers(settings, answered, price, folder))
    finished, lost = [[_priced(call, price) for call in listed] for listed in (finished, lost)]
    dollars: dict[str, float] = {}
    for call in finished:
        dollars[call.id] = dollars.get(call.id, 0.0) + call.cost.usd
    questions = {id_: replace(cost, usd=dollars.get(id_, 0.0)) for id_, cost in known.items()}
    written = Counter[str]()
    for call in finished:
        written[call.id] += call.cost.calls
    return RunCost(
        questions=questions,
        steps=_summed((call.step, call.cost) for call in finished),
        models=_summed((call.model, call.cost) for call in (*finished, *lost)),
        broken_off=total(call.cost for call in lost),
        priced=price is not None or any(call.cost.usd for call in (*finished, *lost)),
        unpriced=0 if price is not None else sum(_is_free(call.cost) for call in (*finished, *lost)),
        missing=sum(max(0, cost.calls - written[id_]) for id_, cost in known.items()),
    )


def in_flight(settings: Record) -> int:
    """The questions that a machine of the run had in flight at once, as its settings say."""
    count = settings.get("batch", settings.get(IN_FLIGHT, 1))
    return count if type(count) is int and count > 0 else 1


def _stored(value: object, folder: Path, id_: str) -> Cost:
    """A stored cost; raises ``DatasetError`` that names the question where it is none."""
    try:
        return cost_of(value)
    except DatasetError as error:
        raise DatasetError(f"{folder / ANSWERS}: {id_!r}: {error}; delete that line to go on") from None


def attempts(found: Sequence[Call], answered: Sequence[Record]) -> tuple[list[Call], list[Call]]:
    """The calls of each answered question's last attempt, and all others; an attempt's first call is number 1."""
    known, last = {record["id"] for record in answered}, dict[str, int]()
    for index, call in enumerate(found):
        if call.number == 1:
            last[call.id] = index
    kept = [call.id in known and index >= last.get(call.id, 0) for index, call in enumerate(found)]
    return (
        [call for call, is_kept in zip(found, kept, strict=True) if is_kept],
        [call for call, is_kept in zip(found, kept, strict=True) if not is_kept],
    )


def _from_answers(
    settings: Record, answered: Sequence[Record], price: Price | Prices | None, folder: Path
) -> Iterator[Call]:
    """The steps of stored answers, as if each were one call; they do not say which model was asked.

    Of a refined run the model of its settings was asked for the steps of refining alone, for the others that of the run
    before.
    """
    refined = settings["refined"] if isinstance(settings.get("refined"), dict) else {}
    if price is not None and (settings.get("others") or refined.get("others")):
        raise InputError(
            "this run asked several models and has no journal of its calls, so it cannot be priced; leave the price out"
        )
    for record in answered:
        steps = record.get("steps")
        for step, stored in (steps if isinstance(steps, dict) else {"": record["cost"]}).items():
            cost, added = _stored(stored, folder, record["id"]), Cost()
            if not refined:
                added = cost
            elif isinstance(refining := record.get("refining"), dict):
                added = _stored(refining[step], folder, record["id"]) if step in refining else Cost()
            elif step in _REFINING:  # an older line
                added = cost
            before = Cost(**{name: max(getattr(cost, name) - figure, 0) for name, figure in asdict(added).items()})
            for model, part in ((str(refined.get("of", "")), before), (settings["model"], added)):
                if part != Cost():
                    yield Call(record["id"], 1, step, model, part)


def _is_free(cost: Cost) -> bool:
    """Whether a call has tokens and no dollars. A call that failed has no tokens, so it is not one of these."""
    return not cost.usd and cost.prompt_tokens + cost.completion_tokens > 0


def _priced(call: Call, price: Price | Prices | None) -> Call:
    if price is None:
        return call
    model_price = price.needed(call.model) if isinstance(price, Prices) else price
    return replace(call, cost=replace(call.cost, usd=model_price.usd(call.cost)))


def _summed(named: Iterable[tuple[str, Cost]]) -> dict[str, Cost]:
    sums: dict[str, Cost] = {}
    for name, cost in named:
        sums[name] = sums.get(name, Cost()) + cost
    return sums
