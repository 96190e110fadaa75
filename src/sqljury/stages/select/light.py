"""The light judge: a linear score over features of each group of candidates; no model, no GPU, no library.

The weights were learned from which of a question's groups is right (conditional logit, McFadden 1974): what all groups
of a question share does not count, and the difference of two scores is the log-odds that one group is right rather than
the other. Votes are overruled only by more than a margin.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from math import exp
from pathlib import Path
from typing import Any, Final, TypeGuard

from sqljury.context import Context
from sqljury.errors import InputError
from sqljury.stages.select.base import Selector, UnjudgedError, representatives
from sqljury.stages.select.critic import critic
from sqljury.stages.select.features import CRITIC, LOGPROBS, TESTED, Opinions, features, names, passed
from sqljury.stages.select.sketch import Sketch, read_sketch
from sqljury.testing import run_tests
from sqljury.types import Candidate, Choice, Comparison, Task

KIND: Final = "sqljury light judge"
VERSION: Final = 4
"""Version of the file format; a change of what a feature means raises it too."""
LARGEST: Final = 1e6
"""Largest weight, positive or negative: infinite scores cannot be ordered."""
BLIND: Final = 1.5
"""The least margin, in log-odds, where the weights learned from log-probabilities and the candidates have none.

Odds of 4.5 to 1. On pools of two to four stored candidates of Spider's train split, without their log-probabilities,
it is the smallest margin tried with which the judge lost no question to votes (docs/log.md).
"""
UNSURE: Final = "the candidates have no log-probabilities, without which the judge was not sure, so votes decided"
_BYTES: Final = 8 << 20  # far more than weights with their card
_AGAIN: Final = "make it again with `sqljury train light`"


@dataclass(frozen=True)
class Weights:
    """Learned weights: calibrated log-odds for one unit of each feature; ``card`` documents the training.

    ``margin``, in log-odds, is by how much a group must surpass the one that votes choose. ``sketch`` predicts a
    query's parts from the question; None where there were too few questions to learn that.
    """

    weights: Mapping[str, float]
    card: Mapping[str, Any]
    margin: float = 0.0
    sketch: Sketch | None = None

    def score(self, figures: Mapping[str, float]) -> float:
        """A group's score in log-odds; only differences between groups of one question are meaningful."""
        return sum(weight * figures[name] for name, weight in self.weights.items())

    @property
    def expects_logprobs(self) -> bool:
        """Whether log-probabilities have a weight."""
        return any(self.weights.get(name) for name in LOGPROBS)

    @property
    def asks_tests(self) -> bool:
        """Whether the tests have a weight."""
        return bool(self.weights.get(TESTED))

    @property
    def asks_critic(self) -> bool:
        """Whether the critic has a weight."""
        return bool(self.weights.get(CRITIC))

    @property
    def digest(self) -> str:
        """A short hash of all but the card; equal for equal judges."""
        sketch = None if self.sketch is None else self.sketch.to_json()
        text = json.dumps([dict(self.weights), float(self.margin), sketch], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The format that ``read`` accepts."""
        return {
            "kind": KIND,
            "version": VERSION,
            "margin": self.margin,
            "weights": dict(self.weights),
            "sketch": None if self.sketch is None else self.sketch.to_json(),
            "card": dict(self.card),
        }


def read(file: str = "") -> Weights:
    """The weights in a file of ``sqljury train light``; without a name, those of the package.

    Raises ``InputError`` for a file that is missing, cannot be read, or is not a light judge of this version.
    """
    return _read(file, _text(file)) if file else _shipped()


def replaceable(file: str) -> None:
    """Raise ``InputError`` unless the file is empty or a light judge, of any version."""
    if text := _text(file):
        _loaded(file, text)


def _text(file: str) -> str:
    try:
        if not os.path.isfile(file):  # a pipe or a device may never end
            raise InputError(f"{file}: cannot be read (no such file); name a file of `sqljury train light`")
        with Path(file).open("rb") as stream:
            raw = stream.read(_BYTES + 1)
        if len(raw) > _BYTES:
            raise InputError(f"{file}: is too large for weights; name a file of `sqljury train light`")
        return raw.decode()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name a file of `sqljury train light`") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8 text; name a file of `sqljury train light`") from None


@lru_cache(maxsize=1)
def _shipped() -> Weights:
    file = files("sqljury.stages.select") / "light.json"
    if not file.is_file():
        raise InputError(
            "this version comes without weights for the light judge; train some with `sqljury train light` and name "
            "their file as select.weights"
        )
    return _read("light.json", file.read_text(encoding="utf-8"))


def _loaded(file: str, text: str) -> dict[str, Any]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{file}: is not JSON; {_AGAIN}") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != KIND:
        raise InputError(f"{file}: is not the file of a light judge; {_AGAIN}")
    return loaded


def _read(file: str, text: str) -> Weights:
    loaded = _loaded(file, text)
    if loaded.get("version") != VERSION:
        raise InputError(f"{file}: is of version {loaded.get('version')!r}, not {VERSION}; {_AGAIN}")
    weights, card, margin = (loaded.get(key) for key in ("weights", "card", "margin"))
    if not isinstance(weights, dict) or not weights or not isinstance(card, dict):
        raise InputError(f"{file}: has no weights or no card; {_AGAIN}")
    for name, weight in weights.items():
        if name not in names():
            raise InputError(f"{file}: {name!r} is not a feature of this version; {_AGAIN}")
        if not _in_measure(weight):
            raise InputError(f"{file}: the weight of {name!r} is not a number of log-odds; {_AGAIN}")
    if not _in_measure(margin) or margin < 0:
        raise InputError(f"{file}: the margin is not a number of log-odds from 0; {_AGAIN}")
    try:
        sketch = None if loaded.get("sketch") is None else read_sketch(loaded["sketch"])
    except InputError as error:
        raise InputError(f"{file}: {error}; {_AGAIN}") from None
    return Weights(weights, card, margin, sketch)


def _in_measure(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def better(scores: Sequence[float], margin: float) -> int:
    """The index of the highest score, or 0, which votes choose, where none surpasses it by the margin.

    Ties go to the earlier index. There must be a score.
    """
    best = max(range(len(scores)), key=lambda index: (scores[index], -index))
    return best if scores[best] - scores[0] > margin else 0


def light(most: int = 0, file: str = "") -> Selector:
    """The selector, with the weights in ``file``; only the ``most`` largest groups take part, all for 0.

    A group's score is the probability that it is right, given that one of them is. Votes decide where no group
    surpasses theirs by the margin of the weights, or by ``BLIND`` where log-probabilities are missing; ``note`` says
    so if that decided. Raises what ``read`` raises.
    """
    weights = read(file)

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "light")
        queries = [candidates[index].sql for index in best.values()]
        tests = run_tests(queries, task, context) if len(queries) > 1 and weights.asks_tests else ()
        judged = _critic(candidates, task, context, most) if weights.asks_critic else Choice(None, "critic")
        outcomes = ((test.queries, test.passed, test.case.sureness) for test in tests)
        opinions = Opinions(passed(outcomes), dict(zip(queries, judged.scores, strict=False)))
        figures = features(candidates, task, opinions, weights.sketch)
        scores = {group: weights.score(figures[group]) for group in best}
        blind = weights.expects_logprobs and all(one.logprob is None for one in candidates)
        preferred = better(list(scores.values()), weights.margin)
        chosen = better(list(scores.values()), max(weights.margin, BLIND)) if blind else preferred
        winner = list(best)[chosen]
        comparisons = tuple(_compared(pair, scores) for pair in combinations(best, 2))
        chances = shares(list(scores.values()))
        note = judged.note or (UNSURE if chosen != preferred else "")
        return Choice(best[winner], "light", chances, comparisons, tests, note)

    return select


def _critic(candidates: Sequence[Candidate], task: Task, context: Context, most: int) -> Choice:
    """The critic's choice; where it cannot be asked, one without scores and with a note."""
    try:
        return critic(most)(candidates, task, context)
    except UnjudgedError as error:
        return Choice(None, "critic", note=f"{error}, so the critic was not heard")


def _compared(pair: tuple[int, int], scores: Mapping[int, float]) -> Comparison:
    """One probability for both orders, as nothing is shown first."""
    first, _ = shares([scores[group] for group in pair])
    return Comparison(*pair, first, first)


def shares(scores: Sequence[float]) -> tuple[float, ...]:
    """Scores in log-odds as probabilities that add up to 1; there must be a score."""
    highest = max(scores)
    powers = [exp(score - highest) for score in scores]
    return tuple(power / sum(powers) for power in powers)
