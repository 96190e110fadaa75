"""The training loop: steps over prefix trees, evaluations, checkpoints, and when to stop."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final, NamedTuple

import torch

from sqljury.errors import DatasetError
from sqljury.llm.base import derive_seed
from sqljury.resources import must_write, write_whole
from sqljury.train import card, memory
from sqljury.train.settings import ADAPTER, CHECKPOINT, LOG, Settings
from sqljury.train.tree import TreeSequence, batches, rows
from sqljury.train.tree_model import TreeModel

MAX_GRADIENT: Final = 1.0
"""The norm that gradients are scaled down to, as by default in ``transformers``, whose moments AdamW has here too."""
NOTE_SECONDS: Final = 20.0
"""Time between two notes of figures."""
LOG_ENTRIES: Final = 200
"""Entries of the log about steps."""

Note = Callable[[str], None]


class Sets(NamedTuple):
    """The trees to train on and those to evaluate on, which may be none; ``length`` is the most rows of a tree."""

    training: Sequence[TreeSequence]
    held_out: Sequence[TreeSequence]
    length: int


@dataclass(slots=True)
class Progress:
    """How far a training is: steps, the last one evaluated, seconds, tokens computed, the lowest held-out loss,
    evaluations since, the log."""

    step: int = 0
    evaluated: int = -1
    seconds: float = 0.0
    tokens: int = 0
    best: float = math.inf
    since_best: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)


class Learned(NamedTuple):
    """What a step learns from: trees, the factor of their losses, and figures of the step."""

    trees: Sequence[TreeSequence]
    scale: float
    figures: dict[str, float]


class Measured(NamedTuple):
    """What an adapter is kept by, the lower the better, and the figures of an evaluation."""

    loss: float
    figures: dict[str, float]


class Loop:
    """A training in the folder ``out``, which continues from the checkpoint there.

    ``progress.log`` has the figures, ``steps`` the indexes of the trees of each step. ``adapter/`` in the folder has
    the adapter with the lowest held-out loss, or without held-out examples the last one.
    """

    def __init__(self, model: TreeModel, sets: Sets, out: Path, settings: Settings, note: Note) -> None:
        self.progress = Progress()
        self._model, self._sets, self._out, self._settings, self._note = model, sets, out, settings, note
        self.steps = self._scheduled()
        interval = settings.eval_steps if settings.eval_steps >= 1 else settings.eval_steps * len(self.steps)
        self._interval = max(1, int(interval))
        self._optimiser = torch.optim.AdamW(model.adapter.parameters(), lr=settings.learning_rate, weight_decay=0.0)
        self._recent: list[dict[str, float]] = []
        self._whole = self._log_works = True
        self._started = self._saved = self._noted = time.monotonic()

    def run(self) -> None:
        """Train to the end; raises ``DatasetError`` for a checkpoint that cannot be continued, or not be written.

        Ctrl-C leaves a checkpoint of the last whole step.
        """
        state = self._resume()
        self._started = time.monotonic() - state.seconds
        try:
            self._run()
        except KeyboardInterrupt:
            if self._whole and state.step:
                self._save()
                self._note(f"the same command continues from step {state.step} of {len(self.steps)}")
            raise
        state.seconds = time.monotonic() - self._started
        peak = memory.peak(self._model.device) / memory.GB
        self._write({"train_runtime": round(state.seconds, 1), "peak_memory_gb": round(peak, 2)})

    def _run(self) -> None:
        state = self.progress
        if self._is_due():
            self._evaluate()
        while not self._finished():
            self._advance()
            state.seconds = time.monotonic() - self._started
            last = state.step == len(self.steps)
            if last or state.step % max(1, len(self.steps) // LOG_ENTRIES) == 0:
                self._log_steps(always_noted=last)
            if self._is_due():
                self._evaluate()
            if time.monotonic() - self._saved >= 60 * self._settings.checkpoint_minutes:
                self._save()
        if state.evaluated != state.step:
            self._evaluate()

    def _scheduled(self) -> list[list[int]]:
        """The indexes of what each step learns from."""
        return schedule(self._sets.training, self._settings)

    def _is_due(self) -> bool:
        """Whether this step is to be evaluated, and was not before the training was stopped."""
        step = self.progress.step
        return self.progress.evaluated != step and (step % self._interval == 0 or step == len(self.steps))

    def _finished(self) -> bool:
        state, settings = self.progress, self._settings
        if state.step >= len(self.steps):
            return True
        if settings.minutes and state.seconds >= 60 * settings.minutes:
            self._note(f"the {settings.minutes:g} minutes are over after step {state.step} of {len(self.steps)}")
            return True
        if settings.patience and state.since_best >= settings.patience:
            self._note(f"the held-out loss did not fall in {settings.patience} evaluations: stopping early")
            return True
        return False

    def _advance(self) -> None:
        """One step of the optimiser."""
        state, settings, parameters = self.progress, self._settings, self._model.adapter.parameters()
        torch.manual_seed(derive_seed(settings.seed, "dropout", state.step))
        trees, scale, figures = self._step(self.steps[state.step])
        losses = []
        for tree in trees:
            losses.append(self._model.learn(tree, scale, settings.pull))
            self._trim()
        norm = torch.nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT)
        for group in self._optimiser.param_groups:
            group["lr"] = self._learning_rate()
        self._whole = False  # a checkpoint of half an update would be none
        if torch.isfinite(norm):
            self._optimiser.step()
        else:  # one update with it would leave nothing but such numbers
            self._note(f"step {state.step + 1} is left out: its gradient is not finite")
        self._optimiser.zero_grad()
        figures |= {"loss": sum(loss.loss for loss in losses), "gradient": float(norm)}
        if settings.pull:
            figures["divergence"] = sum(loss.divergence for loss in losses)
        self._recent.append(figures)
        state.tokens += rows(trees)
        state.step += 1
        self._whole = True

    def _step(self, indexes: Sequence[int]) -> Learned:
        """What the step of ``indexes`` learns from."""
        trees = [self._sets.training[index] for index in indexes]
        return Learned(trees, 1 / sum(sum(tree.weights) for tree in trees), {})

    def _trim(self) -> None:
        device = self._model.device
        if memory.used(device) > memory.FULL * memory.budget(device, self._settings.memory_gb):
            memory.trim()

    def _learning_rate(self) -> float:
        """Linear warm-up, then a cosine to 0 at the last step or at the end of the time, whichever comes first."""
        state, settings = self.progress, self._settings
        warmup = max(1, round(settings.warmup_ratio * len(self.steps)))
        done = state.step / len(self.steps)
        if settings.minutes:
            done = max(done, min(1.0, state.seconds / (60 * settings.minutes)))
        return settings.learning_rate * min(1.0, (state.step + 1) / warmup) * (1 + math.cos(math.pi * done)) / 2

    def _evaluate(self) -> None:
        """Measure what is held out; keep the adapter if it is the best so far, or if nothing is held out."""
        state, started = self.progress, time.monotonic()
        state.evaluated = state.step
        measured = self._measured()
        if measured is None:
            self._model.adapter.save(self._out / ADAPTER)
            return
        if measured.loss < state.best:
            self._model.adapter.save(self._out / ADAPTER)
            state.best, state.since_best = measured.loss, 0
        else:
            state.since_best += 1
        self._shown({**measured.figures, "eval_seconds": round(time.monotonic() - started, 1)})

    def _measured(self) -> Measured | None:
        """How the adapter does on what is held out; None where nothing is."""
        trees = self._sets.held_out
        if not trees:
            return None
        losses = [self._model.measure(tree) for tree in trees]
        self._trim()
        loss = sum(loss.loss for loss in losses) / sum(sum(tree.weights) for tree in trees)
        right = [
            all(right[index] for index in answer)
            for tree, right in zip(trees, (loss.right.tolist() for loss in losses), strict=True)
            for answer in tree.answers
        ]
        return Measured(loss, {"eval_loss": loss, "eval_right_answers": sum(right) / len(right)})

    def _log_steps(self, *, always_noted: bool) -> None:
        """Log the means of the steps since the last entry."""
        state = self.progress
        means = {key: sum(step[key] for step in self._recent) / len(self._recent) for key in self._recent[0]}
        self._recent.clear()
        figures = {
            **means,
            "learning_rate": self._optimiser.param_groups[0]["lr"],
            "tokens_per_second": round(state.tokens / max(state.seconds, 1e-3), 1),
            "memory_gb": round(memory.used(self._model.device) / memory.GB, 2),
        }
        if always_noted or time.monotonic() - self._noted >= NOTE_SECONDS:
            self._noted = time.monotonic()
            self._shown(figures, f"; {duration(self._seconds_left())} left")
        else:
            self._write(figures)

    def _seconds_left(self) -> float:
        state, limit = self.progress, 60 * self._settings.minutes
        remaining = (len(self.steps) - state.step) * state.seconds / max(1, state.step)
        return min(remaining, max(0.0, limit - state.seconds)) if limit else remaining

    def _shown(self, figures: dict[str, Any], more: str = "") -> None:
        """Log figures and report them."""
        self._write(figures)
        known = ", ".join(f"{name} {figures[key]:.4g}" for key, name in card.SHOWN.items() if key in figures)
        self._note(f"step {self.progress.step}/{len(self.steps)}: {known}{more}")

    def _write(self, figures: dict[str, Any]) -> None:
        entry = {"step": self.progress.step, "seconds": round(self.progress.seconds, 1), **figures}
        self.progress.log.append(entry)
        try:
            with (self._out / LOG).open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry) + "\n")
        except OSError as error:  # checkpoint and card have the entries too
            if self._log_works:
                self._note(f"{self._out / LOG} cannot be written ({error.strerror}); the training goes on")
            self._log_works = False

    def _save(self) -> None:
        """Replace the checkpoint by one of now, in one piece; the one before stays until then.

        Raises ``DatasetError`` where it cannot be written.
        """
        raw = io.BytesIO()
        tensors = {"adapter": self._model.adapter.state(), "optimiser": self._optimiser.state_dict()}
        shape = {"steps": len(self.steps), "length": self._sets.length}
        torch.save({"progress": asdict(self.progress), **shape, **tensors}, raw)
        advice = "free some space and give the same command again: it continues from its last checkpoint"
        with must_write(self._out / CHECKPOINT, DatasetError, advice):
            write_whole(self._out / CHECKPOINT, raw.getbuffer().tobytes())
        self._saved = time.monotonic()

    def _resume(self) -> Progress:
        """Take the checkpoint, if there is one; entries of the log behind it are made again."""
        file = self._out / CHECKPOINT
        if file.is_file():
            try:
                saved = torch.load(file, map_location="cpu", weights_only=True)
                if saved["steps"] != len(self.steps):
                    raise ValueError(f"it has {saved['steps']} steps, not {len(self.steps)}")
                self.progress = Progress(**saved["progress"])
                self._model.adapter.restore(saved["adapter"])
                self._optimiser.load_state_dict(saved["optimiser"])
            except (OSError, ValueError, KeyError, TypeError, RuntimeError, UnpicklingError) as error:
                raise DatasetError(f"{file} cannot be continued: {error}; remove it to start anew") from None
            self._note(f"continuing from step {self.progress.step} of {len(self.steps)}")
        write_whole(self._out / LOG, "".join(json.dumps(entry) + "\n" for entry in self.progress.log))
        return self.progress


def checkpointed_length(out: Path) -> int:
    """The length of sequences that a stopped training in ``out`` has; 0 where there is none, or it cannot be read."""
    try:
        saved = torch.load(out / CHECKPOINT, map_location="cpu", weights_only=True, mmap=True)
        return int(saved["length"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, UnpicklingError):
        return 0


def schedule(trees: Sequence[TreeSequence], settings: Settings) -> list[list[int]]:
    """Indexes of the trees of each step of the whole training."""
    steps: list[list[int]] = []
    epoch = 0
    wanted = settings.max_steps if settings.max_steps > 0 else None
    while len(steps) < wanted if wanted else epoch < settings.epochs or len(steps) < settings.least_steps:
        of_epoch = batches(trees, settings.batch_size, derive_seed(settings.seed, "epoch", epoch))
        if wanted is None and 0 < settings.epochs - epoch < 1:
            of_epoch = of_epoch[: max(1, round((settings.epochs - epoch) * len(of_epoch)))]
        steps += of_epoch
        epoch += 1
    return steps[:wanted]


def duration(seconds: float) -> str:
    """Seconds as hours and minutes."""
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
