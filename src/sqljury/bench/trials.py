"""The trials of `sqljury tune`: recipes on the two halves of the questions, each a run that is continued and kept.

Replies of models are kept with what they cost, so a call that two recipes share is made once, and other ways to choose
among the same candidates call nothing.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from sqljury.bench import run as bench
from sqljury.bench import stored
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError, InputError, ModelAuthError, ModelError, ModelUnavailableError, SandboxError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.run_folder import Record
from sqljury.llm.base import LanguageModel
from sqljury.llm.cache import Cached
from sqljury.pipeline import Pipeline
from sqljury.recipes import Recipe
from sqljury.resources import Closing

REPLIES: Final = "replies.sqlite"
REPLY_BYTES: Final = 4 << 30
LEDGER: Final = "trials.jsonl"

TUNING, CHECKING = "tuning", "checking"
LEAST: Final = 10
"""Questions in each half, at least: with fewer no recipe can be told from another."""
KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("recipe", "half", "error"), str),
    **dict.fromkeys(("asked", "judged", "right"), int),
    "seconds": (int, float),
}
"""The keys of a trial that was written down."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A recipe on the first ``asked`` questions of a half: how many of the ``judged`` ones are right.

    ``seconds`` is the mean of a question. With an ``error`` the recipe cannot be used; ``judged`` and ``right`` are 0.
    """

    recipe: str
    half: str
    asked: int
    judged: int
    right: int
    seconds: float
    error: str = ""

    @property
    def percent(self) -> str:
        """The share of right answers, for people."""
        return f"{100 * self.right / self.judged:.1f} %" if self.judged else "-"


def halves(examples: Sequence[Example], seed: int = 0) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """(tuning, checking), each in random order; databases are whole in one half.

    Of one database the questions with one gold query stay together, since they say the same in other words. Raises
    ``InputError`` for too few questions.
    """
    whole = len({example.db_id for example in examples}) > 1
    groups: dict[str, list[Example]] = {}
    for example in examples:
        group = example.db_id if whole else " ".join(example.gold_sql.casefold().split())
        groups.setdefault(group, []).append(example)
    split: tuple[list[Example], list[Example]] = ([], [])
    for key in sorted(groups, key=lambda key: hash_of(seed, key)):
        split[len(split[1]) < len(split[0])].extend(groups[key])
    if min(map(len, split)) < LEAST:
        raise InputError(
            f"{len(examples)} questions give {len(split[0])} to tune on and {len(split[1])} to check with; "
            f"at least {LEAST} each are needed: add questions, on several databases if you can"
        )
    tuning, checking = (sorted(half, key=lambda example: hash_of(seed, example.id)) for half in split)
    return tuple(tuning), tuple(checking)


class Trials(Closing):
    """The trials of a search: run if they are not known yet, and written down."""

    def __init__(
        self,
        start: Pipeline,
        out: Path,
        dataset: Mapping[str, Any],
        seed: int,
        parts: Mapping[str, Sequence[Example]],
        stream: IO[str],
        say: Callable[[str], None],
        cancel: threading.Event | None,
        opened: Callable[[str], LanguageModel],
    ) -> None:
        self.start, self.out, self.parts, self.seed, self.say = start, out, parts, seed, say
        self._dataset, self._stream, self._cancel, self._opened = dataset, stream, cancel, opened
        self._models: dict[str, LanguageModel] = {}
        self._model = self._kept(start.model)
        self._known = {(trial.recipe, trial.half, trial.asked): trial for trial in _read(out / LEDGER)}

    def close(self) -> None:
        """Close the models that were opened here."""
        for name, model in self._models.items():
            if name not in self.start.models and (close := getattr(model, "close", None)):
                close()

    def trial(self, recipe: Recipe, half: str, asked: int, most: float, *, tolerant: bool = True) -> Trial:
        """The trial of a recipe on the first ``asked`` questions of a half, run if it is not known.

        It has an error if the recipe takes more than ``most`` seconds a question and, where this is ``tolerant``, if it
        cannot be run. Raises what is not the recipe's fault, such as a model that cannot be reached.
        """
        name = digest(recipe)
        if known := self._known.get((name, half, asked)):
            return known if known.seconds <= most else replace(known, judged=0, right=0, error=_too_slow(most))
        trial = Trial(name, half, asked, 0, 0, 0.0)
        try:
            trial = self._measured(recipe, trial, most)
        except _TooSlowError as error:
            trial = replace(trial, seconds=error.seconds, error=_too_slow(most))
        except (InputError, SandboxError, ModelError) as error:
            if not tolerant or isinstance(error, DatasetError | ModelAuthError | ModelUnavailableError):
                raise
            trial = replace(trial, error=str(error))
        self._known[name, half, asked] = trial
        folder.append_line(self._stream, asdict(trial))
        return trial

    def is_known(self, recipe: Recipe, half: str, asked: int) -> bool:
        """Whether the trial was run before and the recipe could be used."""
        known = self._known.get((digest(recipe), half, asked))
        return known is not None and not known.error

    def answers(self, recipe: Recipe, half: str) -> Mapping[str, stored.Asked]:
        """The judged answers of a trial, by question."""
        where = self._folder(recipe, half)
        return {question.id: question for question in stored.load(where, folder.data_of(where)).questions}

    def _measured(self, recipe: Recipe, trial: Trial, most: float) -> Trial:
        where, asked = self._folder(recipe, trial.half), self.parts[trial.half][: trial.asked]
        models = {name: self._open(name) for name in recipe.models}
        trial_recipe = replace(recipe, name=f"trial {trial.recipe}", summary="")
        base = self.start
        pipeline = Pipeline(
            trial_recipe,
            self._model,
            base.limits,
            base.allowance,
            base.pool,
            models,
            notes=base.notes,
            privacy=base.privacy,
        )
        ids, spent = {example.id for example in asked}, 0.0

        def count(_: int, record: Record | None) -> None:
            nonlocal spent
            latest = folder.records(where) if record is None else [record]
            spent += sum(line["cost"]["seconds"] for line in latest if line["id"] in ids)
            if spent > most * len(asked):
                raise _TooSlowError(spent / len(asked))

        bench.run(asked, pipeline, where, bench.settings(pipeline, self._dataset, self.seed), count, self._cancel)
        answers = [answer for name, answer in self.answers(recipe, trial.half).items() if name in ids]
        right = sum(answer.right(answer.sql) for answer in answers)
        return replace(trial, judged=len(answers), right=right, seconds=round(spent / len(asked), 3))

    def _folder(self, recipe: Recipe, half: str) -> Path:
        return self.out / "trials" / f"{half}-{digest(recipe)}"

    def _open(self, name: str) -> LanguageModel:
        """The model that recipes call so; each is opened once, as its weights may fill the memory."""
        if name not in self._models:
            known = self.start.model if name == self.start.model.name else self.start.models.get(name)
            self._models[name] = self._kept(known or self._opened(name))
        return self._models[name]

    def _kept(self, model: LanguageModel) -> LanguageModel:
        return Cached(model, self.out / REPLIES, max_bytes=REPLY_BYTES, max_age=None, charged=True)


class _TooSlowError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def _too_slow(most: float) -> str:
    return f"takes more than {most:g} s a question"


def digest(recipe: Recipe) -> str:
    """A short hash of what a recipe does; its name and summary do nothing."""
    return hash_of(json.dumps(asdict(replace(recipe, name="", summary="")), sort_keys=True))


def hash_of(*parts: object) -> str:
    """A short hash of these parts."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode(errors="backslashreplace")).hexdigest()[:12]


def _read(file: Path) -> list[Trial]:
    """The trials that were written down; failed ones and lines that hold none are tried again."""
    trials = []
    for line in file.read_bytes().splitlines():
        with suppress(ValueError, RecursionError):
            loaded = json.loads(line)
            if folder.misshapen(loaded, KINDS) is None and loaded.keys() == KINDS.keys() and not loaded["error"]:
                trials.append(Trial(**loaded))
    return trials
