"""The loop of learning from rewards: answers are written, judged, and learned from, step by step."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqljury.errors import DatasetError
from sqljury.llm.base import derive_seed
from sqljury.llm.replies import extract_sql
from sqljury.resources import must_write, write_whole
from sqljury.train import sampling
from sqljury.train.loop import Learned, Loop, Measured, Note, Progress, Sets
from sqljury.train.rewards import RIGHT, Group, PolicyQuestion, RewardProcesses
from sqljury.train.settings import SamplingOptions, Settings
from sqljury.train.tree import Forest
from sqljury.train.tree_model import TreeModel

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ANSWERS: Final = "answers.jsonl"
"""The file of a training's folder with all queries that were written, and the reward of each."""
ADVICE: Final = "free some space and give the same command again"
EXAMPLES: Final = 64
"""The most answers in one sequence."""


class PolicySets(NamedTuple):
    """Questions to learn from and held-out ones, and how they are asked.

    ``length`` is the most tokens of a sequence that is learned from, ``end`` the token that ends an answer, ``free``
    the bytes for keys and values while answers are written.
    """

    training: Sequence[PolicyQuestion]
    held_out: Sequence[PolicyQuestion]
    length: int
    end: int
    free: float
    tokenizer: PreTrainedTokenizerBase


class PolicyLoop(Loop):
    """A training from rewards in the folder ``out``, which continues from the checkpoint there.

    ``adapter/`` has the adapter with the most right answers to held-out questions, the likeliest token taken each time.
    """

    def __init__(
        self,
        model: TreeModel,
        asked: PolicySets,
        out: Path,
        settings: Settings,
        options: SamplingOptions,
        processes: RewardProcesses,
        note: Note,
    ) -> None:
        self._asked, self._options, self._processes = asked, options, processes
        super().__init__(model, Sets((), (), asked.length), out, settings, note)

    def _scheduled(self) -> list[list[int]]:
        """Indexes of the questions of each step."""
        settings, count = self._settings, len(self._asked.training)
        size = min(settings.batch_size, count)
        steps: list[list[int]] = []
        epoch = 0
        wanted = settings.max_steps if settings.max_steps > 0 else max(1, round(settings.epochs * count / size))
        while len(steps) < wanted:
            order = list(range(count))
            random.Random(derive_seed(settings.seed, "epoch", epoch)).shuffle(order)  # noqa: S311  # an order
            steps += [order[start : start + size] for start in range(0, count - size + 1, size)]
            epoch += 1
        return steps[:wanted]

    def _resume(self) -> Progress:
        """Answers behind the checkpoint are written again, too."""
        state, file = super()._resume(), self._out / ANSWERS
        if file.is_file():
            lines = file.read_bytes().splitlines()
            kept = b"".join(line + b"\n" for line in lines if _is_before(line, state))
            with must_write(file, DatasetError, ADVICE):
                write_whole(file, kept)
        return state

    def _step(self, indexes: Sequence[int]) -> Learned:
        started = time.monotonic()
        questions = [self._asked.training[index] for index in indexes]
        groups = self._groups(questions, self._options)
        decided = [learned for group in groups if (learned := group.learned())]
        forest = Forest([example for learned in decided for example in learned], EXAMPLES, self._settings.seed)
        trees = forest.sequences(self._asked.length) if decided else []
        rewards = [reward for group in groups for reward in group.rewards]
        tokens = sum(len(answer) for group in groups for answer in group.answers)
        figures = {
            "reward": sum(rewards) / len(rewards),
            "right": sum(reward == RIGHT for reward in rewards) / len(rewards),
            "undecided": 1 - len(decided) / len(groups),
            "answer_length": tokens / len(rewards),
            "writing_seconds": round(time.monotonic() - started, 2),
        }
        return Learned(trees, 1 / max(1, tokens), figures)

    def _measured(self) -> Measured | None:
        """The share of held-out questions that are answered wrong."""
        if not self._asked.held_out:
            return None
        greedy = replace(self._options, samples=1, temperature=0.0)
        groups = self._groups(self._asked.held_out, greedy, held_out=True)
        wrong = sum(group.rewards[0] != RIGHT for group in groups) / len(groups)
        return Measured(wrong, {"eval_wrong": wrong})

    def _groups(
        self, questions: Sequence[PolicyQuestion], options: SamplingOptions, *, held_out: bool = False
    ) -> list[Group]:
        asked, seed = self._asked, derive_seed(self._settings.seed, "answers", self.progress.step)
        prompts = [question.prompt for question in questions]
        written = sampling.sample(self._model, prompts, options, asked.end, asked.free, seed)
        texts = [
            # An answer that was cut off is none.
            [self._text(answer[:-1]) if answer[-1] == asked.end else "" for answer in answers]
            for answers in written
        ]
        rewards = self._processes.rewards(list(zip((question.gold for question in questions), texts, strict=True)))
        entries = [
            {"step": self.progress.step, "held_out": held_out, "id": question.id, "queries": queries, "rewards": graded}
            for question, queries, graded in zip(questions, texts, rewards, strict=True)
        ]
        self._store(entries)
        return [Group(*item) for item in zip(prompts, written, rewards, strict=True)]

    def _text(self, tokens: Sequence[int]) -> str:
        """The query of an answer, as a generator reads it; empty where there is none."""
        # Some tokenizers would take spaces before punctuation away, within values too.
        return extract_sql(str(self._asked.tokenizer.decode(list(tokens), clean_up_tokenization_spaces=False)))

    def _store(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Append what was written to ``answers.jsonl``: to be read, and to make other sets of."""
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
        file = self._out / ANSWERS
        with must_write(file, DatasetError, ADVICE), file.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write("".join(f"{line}\n" for line in lines))


def _is_before(line: bytes, state: Progress) -> bool:
    """Whether a line of ``answers.jsonl`` is of a step or of an evaluation that is not made again."""
    try:
        entry = json.loads(line)
        return bool(entry["step"] <= state.evaluated if entry["held_out"] else entry["step"] < state.step)
    except (ValueError, KeyError, TypeError):  # cut off while it was written
        return False
