"""The search for the best recipe on questions with gold: coordinate ascent, each step by successive halving.

The databases are split into a tuning and a checking half; of a single database the questions are. One step after
another, such as the form of the schema, changes the best recipe so far in one respect. The variants are asked a part of
the tuning questions first, and the better half of them goes on to more (Jamieson & Talwalkar 2016). In the end the
starting recipe and the best one answer the checking half, which no choice has seen.

Which recipes are tried depends on the outcomes of trials alone, and these are kept: a search that is killed at any
moment goes on where it was. A further search in the folder of one that ended begins with the recipe that it found.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from math import ceil, inf
from pathlib import Path
from typing import Any, Final

from sqljury import recipes
from sqljury.bench import run as bench
from sqljury.bench.moves import STEPS, Move, Moves
from sqljury.bench.trials import CHECKING, KINDS, LEDGER, TUNING, Trial, Trials, digest, halves, hash_of
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError, InputError, RecipeError
from sqljury.evaluation import run_folder as folder
from sqljury.llm import adapters
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.metrics.agreement import Comparison, compare
from sqljury.pipeline import Pipeline
from sqljury.recipes import Recipe
from sqljury.resources import locked_folder, must_write, write_whole

TABLE: Final = "tune.md"
ROWS: Final = "rows.jsonl"
TUNED: Final = "tuned.toml"
RECIPE: Final = "recipe.toml"

RUNGS: Final = (0.25, 0.5, 1.0)
"""Shares of the tuning questions that variants are asked, one after the other."""
FEWEST: Final = 8
"""Questions of a rung, at least."""
SLACK: Final = 0.1
"""A variant that has this share of questions fewer than the best recipe goes no further."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched: ``steps`` of ``moves.STEPS``, so many ``rounds`` of them, up to ``trials`` variants.

    No recipe may take more than ``seconds`` a question in the mean; ``adapters`` are those that may write.
    """

    seconds: float = 30.0
    rounds: int = 2
    trials: int = 80
    steps: tuple[str, ...] = tuple(STEPS)
    adapters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what was changed in which step, the last trial of it, and what became of it."""

    step: str
    change: str
    trial: Trial
    outcome: str

    @property
    def key(self) -> tuple[str, str]:
        """The variant, of which the latest row counts."""
        return self.change, self.trial.recipe

    @classmethod
    def read(cls, file: Path) -> list[Row]:
        """The rows that were written down, none where there is no file; lines that hold none are left out."""
        names = ("step", "change", "outcome")
        kinds = {**KINDS, **dict.fromkeys(names, str)}
        rows = []
        for line in file.read_bytes().splitlines() if file.is_file() else ():
            with suppress(ValueError, RecursionError):
                loaded = json.loads(line)
                if folder.misshapen(loaded, kinds) is None and loaded.keys() == kinds.keys():
                    step, change, outcome = (loaded.pop(name) for name in names)
                    rows.append(cls(step, change, Trial(**loaded), outcome))
        return rows

    def line(self) -> str:
        """The row as a line that ``read`` takes."""
        known = {**asdict(self.trial), "step": self.step, "change": self.change, "outcome": self.outcome}
        return json.dumps(known) + "\n"


@dataclass(frozen=True)
class Tuned:
    """The outcome: the recipe to use, and how the ``tuned`` one does against the ``start`` on the checking half.

    ``gain`` is None where nothing better was found. ``seconds`` are those of a checking question with both.
    """

    start: Recipe
    tuned: Recipe
    rows: tuple[Row, ...]
    questions: tuple[int, int]
    databases: int
    gain: Comparison | None = None
    seconds: tuple[float, float] = (0.0, 0.0)

    @property
    def better(self) -> bool:
        """Whether the whole interval of the gain is above 0."""
        return self.gain is not None and self.gain.interval.low > 0

    @property
    def recipe(self) -> Recipe:
        """The tuned recipe if it is better, else the starting one."""
        return self.tuned if self.better else self.start

    @property
    def verdict(self) -> str:
        """What was found, in words."""
        if self.gain is None:
            reason = "no variant was better on the tuning half"
            if all(row.step == "start" for row in self.rows):
                reason = "these steps have no variant of the starting recipe"
                if any(row.trial.right == row.trial.judged for row in self.rows):
                    reason = "the starting recipe is right on all tuning questions"
            return f"{reason}, so the recipe is the starting one"
        low, high = (100 * end for end in self.gain.interval)
        figures = (
            f"{100 * self.gain.second:.1f} % instead of {100 * self.gain.first:.1f} % of {self.questions[1]} checking "
            f"questions ({100 * self.gain.difference:+.1f} points, 95 % interval {low:+.1f} to {high:+.1f}), "
            f"{self.seconds[1]:.1f} instead of {self.seconds[0]:.1f} s a question"
        )
        if self.better:
            return f"the tuned recipe is better: {figures}"
        return f"the gain is within what chance gives, so the recipe is the starting one: {figures}"


def tune(
    examples: Sequence[Example],
    start: Pipeline,
    out: Path,
    dataset: Mapping[str, Any],
    search: Search | None = None,
    *,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
    cancel: threading.Event | None = None,
    opened: Callable[[str], LanguageModel] = open_model,
) -> Tuned:
    """Search for a better recipe than that of ``start``, and write it, the table and the trials into ``out``.

    ``dataset`` names the questions, as for ``bench.run.settings``; ``opened`` opens the models that recipes name.
    Raises ``InputError`` for too few questions, unknown steps, and a starting recipe that is too slow;
    ``DatasetError`` for a folder that holds other work; ``CancelledError``; and what a model that cannot be reached
    raises: the same call then goes on where it ended.
    """
    search = search or Search()
    if unknown := [step for step in search.steps if step not in STEPS]:
        raise InputError(f"there is no step {unknown[0]!r}; known are {', '.join(STEPS)}")
    parts = dict(zip((TUNING, CHECKING), halves(examples, seed), strict=True))
    settled = bench.settings(start, dataset, seed)  # how it is searched may change: trials stay what they are
    settled["questions"] = hash_of(
        *(part for example in examples for part in (example.id, example.question.text, example.gold_sql))
    )
    with ExitStack() as stack:
        stack.enter_context(locked_folder(out))
        folder.claim(out, settled)
        stream = stack.enter_context(folder.appending(out / LEDGER))
        work = stack.enter_context(Trials(start, out, dataset, seed, parts, stream, say, cancel, opened))
        return _Tuning(work, search).tuned()


class _Tuning:
    """The search itself."""

    def __init__(self, work: Trials, search: Search) -> None:
        self._work, self._search = work, search
        self._start = work.start.recipe
        self._seen = {digest(self._start)}
        self._rows = {row.key: row for row in Row.read(work.out / ROWS)}
        worn = adapters.parse(work.start.model.name)[1].partition("@")[0]
        writers = (*search.adapters, *((adapters.NONE,) if worn and search.adapters else ()))
        self._adapters = tuple(name for name in writers if name != worn)
        whole = len(work.parts[TUNING])
        counts = (max(1, ceil(share * whole)) for share in RUNGS)
        self._rungs = sorted({count for count in counts if count >= FEWEST} | {whole})

    def tuned(self) -> Tuned:
        """Search, check and write."""
        first = self._first()
        self._add(Row("start", self._start.name, first, f"{first.percent} to begin with"))
        best = earlier = self._earlier(first)
        for number in range(self._search.rounds):
            before = best
            for step in self._search.steps:
                best = self._step(f"{number + 1} {step}", STEPS[step], best)
            if best == before:
                break
        result = self._checked(best)
        if not result.better and best != earlier:  # by the tuning half better, and not by the checking half
            kept = self._checked(earlier)
            result = kept if kept.better else result
        self._write({TUNED: recipes.dump(result.tuned), RECIPE: recipes.dump(result.recipe)})
        self._write_table(markdown(result))
        return result

    def _earlier(self, first: Trial) -> Recipe:
        """The recipe that an earlier search in this folder found, if it can still be used; else the starting one."""
        file = self._work.out / TUNED
        if not file.is_file():
            return self._start
        with suppress(RecipeError):
            recipe = replace(recipes.load(str(file)), name=self._start.name, summary=self._start.summary)
            if recipe != self._start and self._work.is_known(recipe, TUNING, self._rungs[-1]):
                trial = self._trial(recipe, self._rungs[-1])
                if not trial.error and trial.right > first.right:
                    self._work.say(f"begins with {file}, {trial.percent} on the tuning half")
                    return recipe
        return self._start

    def _first(self) -> Trial:
        """The starting recipe on all tuning questions; raises ``InputError`` where it cannot be used."""
        for count in self._rungs:
            trial = self._work.trial(self._start, TUNING, count, self._search.seconds, tolerant=False)
            if trial.error:
                begins = f"the recipe {self._start.name}, with which the search begins,"
                raise InputError(f"{begins} {trial.error}; begin with a faster one (--recipe), or give more --seconds")
        return trial

    def _step(self, title: str, moves: Moves, best: Recipe) -> Recipe:
        """The best recipe after one step; none can be better than one that is always right."""
        mark = self._trial(best, self._rungs[-1])
        if mark.right == mark.judged:
            return best
        left = max(0, self._search.trials - len(self._seen) + 1)
        new = {digest(move.recipe): move for move in moves(best, self._adapters)}
        contenders = [move for name, move in new.items() if name not in self._seen][:left]
        self._seen |= {digest(move.recipe) for move in contenders}
        for count in self._rungs:
            contenders = self._rung(title, contenders, best, count)
        taken = best
        if contenders:
            trials = [(move, self._trial(move.recipe, self._rungs[-1])) for move in contenders]
            winner, _ = min(trials, key=lambda pair: (-pair[1].right, pair[1].seconds))
            for move, trial in trials:
                better = trial.right > mark.right
                taken = move.recipe if better and move is winner else taken
                outcome = f"{'' if better else 'not '}better than {mark.percent}"
                outcome += f": {'taken' if move is winner else 'another is better or faster'}" if better else ""
                self._add(Row(title, move.change, trial, outcome))
        if new:
            self._write_table(markdown(self._found(taken), ended=False))
        return taken

    def _rung(self, title: str, contenders: Sequence[Move], best: Recipe, count: int) -> list[Move]:
        """Those that go on after so many questions: the better half, at the last rung all that can be used."""
        mark = self._trial(best, count)
        alive: list[tuple[Move, Trial]] = []
        for move in contenders:
            trial = self._trial(move.recipe, count)
            shown = f"{trial.error[:90]}" if trial.error else f"{trial.percent}, {trial.seconds:.1f} s a question"
            self._work.say(f"{title}, {move.change}: {shown} ({count} questions; the best so far {mark.percent})")
            if trial.error:
                self._add(Row(title, move.change, trial, trial.error))
            else:
                alive.append((move, trial))
        if count == self._rungs[-1]:
            return [move for move, _ in alive]
        order = sorted(alive, key=lambda pair: (-pair[1].right, pair[1].seconds))
        kept = [move for move, trial in order[: ceil(len(order) / 2)] if trial.right >= mark.right - SLACK * count]
        for move, trial in alive:
            if move not in kept:
                outcome = f"left out after {count} questions (the best so far: {mark.percent})"
                self._add(Row(title, move.change, trial, outcome))
        return [move for move, _ in alive if move in kept]

    def _trial(self, recipe: Recipe, count: int) -> Trial:
        return self._work.trial(recipe, TUNING, count, self._search.seconds)

    def _found(self, best: Recipe) -> Tuned:
        parts = self._work.parts
        databases = len({example.db_id for half in parts.values() for example in half})
        tuned = replace(best, name=f"{self._start.name}-tuned" if best != self._start else best.name)
        rows, counts = tuple(self._rows.values()), (len(parts[TUNING]), len(parts[CHECKING]))
        return Tuned(self._start, tuned, rows, counts, databases)

    def _checked(self, best: Recipe) -> Tuned:
        """Both recipes on the checking half, which takes as long as it takes."""
        result = self._found(best)
        if best == self._start:
            return result
        asked = self._work.parts[CHECKING]
        trials, answers = [], []
        for recipe in (self._start, best):
            trial = self._work.trial(recipe, CHECKING, len(asked), inf, tolerant=False)
            self._work.say(f"checking: {trial.percent} of {trial.judged}, {trial.seconds:.1f} s a question")
            trials.append(trial)
            answers.append(self._work.answers(recipe, CHECKING))
        shared = [example for example in asked if all(example.id in known for known in answers)]
        scores = [[float(known[example.id].right(known[example.id].sql)) for example in shared] for known in answers]
        gain = compare(scores[0], scores[1], [example.db_id for example in shared], self._work.seed)
        result = replace(result, gain=gain, seconds=(trials[0].seconds, trials[1].seconds))
        return replace(result, tuned=replace(result.tuned, summary=_summary(result)))

    def _add(self, row: Row) -> None:
        self._rows[row.key] = row

    def _write_table(self, text: str) -> None:
        self._write({ROWS: "".join(row.line() for row in self._rows.values()), TABLE: text})

    def _write(self, texts: Mapping[str, str]) -> None:
        """Write these files; raises ``DatasetError`` where they cannot be written."""
        with must_write(self._work.out, DatasetError, "make room there"):
            for name, text in texts.items():
                write_whole(self._work.out / name, text)


def markdown(found: Tuned, *, ended: bool = True) -> str:
    """The table of all trials, failures included, with the verdict of a search that ``ended``."""
    lines = [
        f"# Tuning of the recipe {found.start.name}",
        "",
        f"{found.questions[0]} questions to tune on, {found.questions[1]} to check with, {found.databases} databases.",
        "",
        f"{found.verdict[0].upper()}{found.verdict[1:]}." if ended else "Not checked yet.",
        "",
        "| step | change | questions | right, % | s a question | outcome |",
        "|---|---|---:|---:|---:|---|",
    ]
    for row in found.rows:
        trial = row.trial
        figures = (str(trial.asked), trial.percent.removesuffix(" %"), f"{trial.seconds:.1f}")
        cells = (row.step, row.change, *figures, row.outcome)
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "/").split()) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _summary(tuned: Tuned) -> str:
    assert tuned.gain is not None
    low, high = (100 * end for end in tuned.gain.interval)
    gained = f"{100 * tuned.gain.difference:+.1f} points (95 % interval {low:+.1f} to {high:+.1f})"
    return f"Tuned from {tuned.start.name}: {gained} on {tuned.questions[1]} questions, {tuned.seconds[1]:.1f} s each."
