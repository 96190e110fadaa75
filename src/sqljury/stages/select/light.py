"""The light judge: a linear score over features of each group of candidates; no model, no GPU, no library.

The weights were learned from which of a question's groups is right (conditional logit, McFadden 1974): what all groups
of a question share does not count, and the difference of two scores is the log-odds that one group is right rather than
the other. Votes are overruled only by more than a margin.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from math import exp
from typing import Any, ClassVar, Final, TypeGuard, get_args

from sqljury.context import Context
from sqljury.errors import InputError
from sqljury.recipes.parts import Judged
from sqljury.stages.select.base import Selector, representatives
from sqljury.stages.select.features import JUDGED, TESTED, Opinions, described_once, features, names, passed
from sqljury.stages.select.scorers import SCORERS, Scorer
from sqljury.stages.select.sketch import Sketch, read_sketch
from sqljury.stages.weights import Format, in_measure
from sqljury.testing import run_tests
from sqljury.types import Candidate, Choice, Comparison, Task

FORMAT: Final = Format(
    "sqljury light judge", 5, "a light judge", "sqljury train light", "sqljury.stages.select", "light.json"
)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Calibrated log-odds for one unit of each feature.

    ``margin``, in log-odds, is by how much a group must surpass the one that votes choose.
    """

    weights: Mapping[str, float]
    margin: float = 0.0

    def score(self, figures: Mapping[str, float]) -> float:
        """A group's score in log-odds; only differences between groups of one question are meaningful."""
        return sum(weight * figures[name] for name, weight in self.weights.items())


@dataclass(frozen=True)
class Weights:
    """Learned weights with their margin, see ``Fitted``; ``card`` documents the training.

    ``sketch`` predicts a query's parts from the question; None where there were too few questions to learn that.
    ``scorer`` is the kind of judge's scores that it was fitted with; None for none. ``blind`` has weights for
    candidates without log-probabilities, as those of other systems are; None where no others were learned from.
    """

    FORMAT: ClassVar[Format] = FORMAT

    weights: Mapping[str, float]
    card: Mapping[str, Any]
    margin: float = 0.0
    sketch: Sketch | None = None
    scorer: Scorer | None = None
    blind: Fitted | None = None

    def fitted(self, *, logprobs: bool = True) -> Fitted:
        """The weights for candidates with or without log-probabilities."""
        return Fitted(self.weights, self.margin) if logprobs or self.blind is None else self.blind

    @property
    def asks_tests(self) -> bool:
        """Whether the tests have a weight."""
        return bool(self.weights.get(TESTED))

    @property
    def asked(self) -> Scorer | None:
        """Whose scores are asked for at each choice; None unless they have a weight."""
        return self.scorer if self.weights.get(JUDGED) else None

    @property
    def asks(self) -> bool:
        """Whether a choice runs tests or asks a judge."""
        return self.asks_tests or self.asked is not None

    @property
    def digest(self) -> str:
        """A short hash of all but the card; equal for equal judges."""
        sketch = None if self.sketch is None else self.sketch.to_json()
        scorer = [] if self.scorer is None else [asdict(self.scorer)]
        blind = [] if self.blind is None else [asdict(self.blind)]
        text = json.dumps([dict(self.weights), float(self.margin), sketch, *scorer, *blind], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The format that ``read`` accepts."""
        return {
            "kind": FORMAT.kind,
            "version": FORMAT.version,
            "margin": self.margin,
            "scorer": None if self.scorer is None else asdict(self.scorer),
            "weights": dict(self.weights),
            "blind": None if self.blind is None else asdict(self.blind),
            "sketch": None if self.sketch is None else self.sketch.to_json(),
            "card": dict(self.card),
        }


def read(file: str = "") -> Weights:
    """The weights in a file of ``sqljury train light``; without a name, those of the package.

    Raises ``InputError`` for a file that is missing, cannot be read, or is not a light judge of this version.
    """
    return _read(file) if file else _shipped()


@lru_cache(maxsize=1)
def _shipped() -> Weights:
    return _read("")


def _read(file: str) -> Weights:
    loaded = FORMAT.read(file, names())
    source, again = file or FORMAT.own, f"make it again with `{FORMAT.made_by}`"
    margin, blind = loaded.get("margin"), loaded.get("blind")
    if blind is not None:
        if not isinstance(blind, dict) or set(blind) != {"weights", "margin"} or not isinstance(blind["weights"], dict):
            raise InputError(f"{source}: its weights without log-probabilities are not weights and a margin; {again}")
        FORMAT.check_weights(blind["weights"], file, names())
    if not _is_margin(margin) or (blind is not None and not _is_margin(blind["margin"])):
        raise InputError(f"{source}: the margin is not a number of log-odds from 0; {again}")
    try:
        sketch = None if loaded.get("sketch") is None else read_sketch(loaded["sketch"])
    except InputError as error:
        raise InputError(f"{source}: {error}; {again}") from None
    scorer = _scorer(loaded.get("scorer"))
    if scorer is None and (loaded["weights"].get(JUDGED) or loaded.get("scorer") is not None):
        raise InputError(f"{source}: it does not say which judge's scores it was fitted with; {again}")
    without = None if blind is None else Fitted(**blind)
    return Weights(loaded["weights"], loaded["card"], margin, sketch, scorer, without)


def _is_margin(value: Any) -> TypeGuard[float]:
    return in_measure(value) and value >= 0


def _scorer(value: Any) -> Scorer | None:
    """The scorer of a file, None where it does not name one."""
    if not isinstance(value, dict) or set(value) != {"selector", "groups", "schema"}:
        return None
    selector, groups, schema = value["selector"], value["groups"], value["schema"]
    known = selector in tuple(SCORERS) and schema in get_args(Judged)
    return Scorer(selector, groups, schema) if known and type(groups) is int and groups >= 0 else None


def better(scores: Sequence[float], margin: float) -> int:
    """The index of the highest score, or 0, which votes choose, where none surpasses it by the margin.

    Ties go to the earlier index. There must be a score.
    """
    best = max(range(len(scores)), key=lambda index: (scores[index], -index))
    return best if scores[best] - scores[0] > margin else 0


def light(most: int = 0, file: str = "", schema: Judged = "used") -> Selector:
    """The selector, with the weights in ``file``; only the ``most`` largest groups take part, all for 0.

    ``schema`` is what the recipe shows to judges.

    A group's score is the probability that it is right, given that one of them is. Votes decide where no group
    surpasses theirs by the margin of the weights. Where some candidate has no log-probability, the weights are those
    without: groups that have none would all rank last. ``note`` says where scores of a judge are missing, which then
    decide nothing. Raises what ``read`` raises, and ``InputError`` for weights that were fitted with scores of a judge
    that is shown another ``schema``.
    """
    weights = read(file)
    if weights.asked is not None and weights.asked.schema != schema:
        wanted = weights.asked.schema
        raise InputError(
            f"{file}: was fitted with scores of a judge that is shown the {wanted!r} schema, and here it would be "
            f"{schema!r}; give select.schema (--schema) as {wanted!r}"
        )

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "light")
        queries = [candidates[index].sql for index in best.values()]
        tests = run_tests(queries, task, context) if len(queries) > 1 and weights.asks_tests else ()
        judged, missing = weights.asked.scores(candidates, task, context) if weights.asked else ({}, "")
        outcomes = ((test.queries, test.passed, test.case.confidence) for test in tests)
        opinions = Opinions(passed(outcomes), judged)
        figures = features(candidates, task, opinions, weights.sketch, described_once(candidates, task, context))
        fitted = weights.fitted(logprobs=all(candidate.logprob is not None for candidate in candidates))
        scores = {group: fitted.score(figures[group]) for group in best}
        winner = list(best)[better(list(scores.values()), fitted.margin)]
        comparisons = tuple(_compared(pair, scores) for pair in combinations(best, 2))
        chances = shares(list(scores.values()))
        return Choice(best[winner], "light", chances, comparisons, tests, missing)

    return select


def _compared(pair: tuple[int, int], scores: Mapping[int, float]) -> Comparison:
    """One probability for both orders, as nothing is shown first."""
    first, _ = shares([scores[group] for group in pair])
    return Comparison(*pair, first, first)


def shares(scores: Sequence[float]) -> tuple[float, ...]:
    """Scores in log-odds as probabilities that add up to 1; there must be a score."""
    highest = max(scores)
    powers = [exp(score - highest) for score in scores]
    return tuple(power / sum(powers) for power in powers)
