"""The light judge: a linear score over features of each group of candidates; no model, no GPU, no library.

The score's weights were learned from which of a question's groups is the right one (conditional logit, McFadden 1974),
so what all groups of a question share plays no part, one score orders all groups, and the difference of two scores is
the log-odds that the one is right rather than the other. Votes are overruled only by more than a margin.
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
from sqljury.stages.select.base import Selector, UnjudgedError, groups, spokesman
from sqljury.stages.select.critic import critic
from sqljury.stages.select.features import CRITIC, TESTED, Opinions, features, names, passed
from sqljury.stages.select.sketch import Sketch, read_sketch
from sqljury.testing import run_tests
from sqljury.types import Candidate, Choice, Comparison, Task

KIND: Final = "sqljury light judge"
VERSION: Final = 4
"""Of the file's form; a change of what a feature means raises it too."""
LARGEST: Final = 1e6
"""Of a weight, either way; scores that no number can hold would order nothing."""
_BYTES: Final = 8 << 20  # far more than weights with their card
_AGAIN: Final = "make it again with `sqljury train light`"


@dataclass(frozen=True)
class Weights:
    """What was learned: by feature, calibrated log-odds for one unit of it; ``card`` says from what and how well.

    ``margin``, in log-odds too, is by how much a group must surpass the one that votes choose to take its place.
    ``sketch`` is what a question lets expect, None where too little was known to learn that.
    """

    weights: Mapping[str, float]
    card: Mapping[str, Any]
    margin: float = 0.0
    sketch: Sketch | None = None

    def score(self, figures: Mapping[str, float]) -> float:
        """The group's score, in log-odds; only differences between groups of one question mean anything."""
        return sum(weight * figures[name] for name, weight in self.weights.items())

    @property
    def asks_tests(self) -> bool:
        """Whether what tests say has a weight."""
        return bool(self.weights.get(TESTED))

    @property
    def asks_critic(self) -> bool:
        """Whether what the critic says has a weight."""
        return bool(self.weights.get(CRITIC))

    @property
    def digest(self) -> str:
        """A short hash of all but the card; equal for equal judges."""
        drawn = None if self.sketch is None else self.sketch.to_json()
        told = json.dumps([dict(self.weights), float(self.margin), drawn], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """As ``read`` takes it."""
        return {
            "kind": KIND,
            "version": VERSION,
            "margin": self.margin,
            "weights": dict(self.weights),
            "sketch": None if self.sketch is None else self.sketch.to_json(),
            "card": dict(self.card),
        }


def read(file: str = "") -> Weights:
    """The weights in a file of ``sqljury train light``, those of the package for none.

    Raises ``InputError`` for a file that cannot be read or is no such file, one of another version, and for a package
    that has none.
    """
    return _read(file, _text(file)) if file else _shipped()


def replaceable(file: str) -> None:
    """Raise ``InputError`` for a file that is not empty and not one of ``sqljury train light``, of any version."""
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
        raise InputError(f"{file}: is no UTF-8 text; name a file of `sqljury train light`") from None


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
        raise InputError(f"{file}: is no JSON; {_AGAIN}") from None
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
            raise InputError(f"{file}: {name!r} is no feature that this version knows; {_AGAIN}")
        if not _in_measure(weight):
            raise InputError(f"{file}: the weight of {name!r} is no number of log-odds; {_AGAIN}")
    if not _in_measure(margin) or margin < 0:
        raise InputError(f"{file}: the margin is no number of log-odds from 0; {_AGAIN}")
    try:
        drawn = None if loaded.get("sketch") is None else read_sketch(loaded["sketch"])
    except InputError as error:
        raise InputError(f"{file}: {error}; {_AGAIN}") from None
    return Weights(weights, card, margin, drawn)


def _in_measure(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def better(scores: Sequence[float], margin: float) -> int:
    """The place of the highest score, but the first, which votes choose, where none surpasses it by the margin.

    Ties go to the earlier place. There must be a score.
    """
    best = max(range(len(scores)), key=lambda place: (scores[place], -place))
    return best if scores[best] - scores[0] > margin else 0


def light(most: int = 0, file: str = "") -> Selector:
    """The selector, with the weights in ``file``; only the ``most`` largest groups take part, all for 0.

    A group's score is the probability that it is the right one, given that one of them is. Votes stand where no group
    surpasses theirs by the margin of the weights. Raises what ``read`` raises.
    """
    weights = read(file)

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        taking_part = groups(candidates)[: most or None]
        if not taking_part:
            return Choice(None, "light")
        speakers = {group: spokesman(candidates, group) for group in taking_part}
        queries = [candidates[place].sql for place in speakers.values()]
        tests = run_tests(queries, task, context) if len(queries) > 1 and weights.asks_tests else ()
        heard = _critic(candidates, task, context, most) if weights.asks_critic else Choice(None, "critic")
        told = {candidates[speakers[group]].sql: score for group, score in zip(taking_part, heard.scores, strict=False)}
        known = Opinions(passed((one.queries, one.passed, one.case.sureness) for one in tests), told)
        figures = features(candidates, task, known, weights.sketch)
        scores = {group: weights.score(figures[group]) for group in taking_part}
        winner = taking_part[better(list(scores.values()), weights.margin)]
        comparisons = tuple(_compared(pair, scores) for pair in combinations(taking_part, 2))
        chances = shares(list(scores.values()))
        return Choice(speakers[winner], "light", chances, comparisons, tests, heard.note)

    return select


def _critic(candidates: Sequence[Candidate], task: Task, context: Context, most: int) -> Choice:
    """The critic's choice, without scores and with a note where it cannot be asked: the other features remain."""
    try:
        return critic(most)(candidates, task, context)
    except UnjudgedError as error:
        return Choice(None, "critic", note=f"{error}, so the critic was not heard")


def _compared(pair: tuple[int, int], scores: Mapping[int, float]) -> Comparison:
    """One probability for both orders: nothing is shown first."""
    first, _ = shares([scores[group] for group in pair])
    return Comparison(*pair, first, first)


def shares(scores: Sequence[float]) -> tuple[float, ...]:
    """Scores in log-odds as probabilities that add up to 1; there must be one."""
    highest = max(scores)
    powers = [exp(score - highest) for score in scores]
    return tuple(power / sum(powers) for power in powers)
