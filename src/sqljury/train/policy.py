"""Learning from rewards: the model writes queries, each is run, and right ones become likelier than wrong ones.

Policy gradient with the group's mean as its baseline (GRPO: Shao et al., 2024, arXiv 2402.03300, section 4.1; without
the division by the group's standard deviation and by each answer's length, which favour easy questions and long wrong
answers: Liu et al., 2025, arXiv 2503.20783, section 3). Each batch of answers is used for one step, so no ratio of
probabilities needs to be clipped. The model learns from its own queries, and so keeps its manner; gold queries only say
which of these are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import DatasetError
from sqljury.llm.engine import cores
from sqljury.resources import locked_folder
from sqljury.train import examples, gguf_base, lora
from sqljury.train.examples import TrainingExample
from sqljury.train.rewards import GoldQuery, PolicyQuestion, RewardProcesses
from sqljury.train.settings import SamplingOptions, Settings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from sqljury.train.loop import Note
    from sqljury.train.tree_model import TreeModel

SEQUENCE_TOKENS: Final = 4096
"""Tokens of the sequences that are learned from; longer ones pay for pairs of rows that see nothing of each other."""
PROCESSES: Final = 16
"""The most processes that run queries: each takes some memory of its own."""
CACHE_SHARE: Final = 0.4
"""The share of the memory that keys and values take while answers are written."""


def train(
    data: Path, folders: Sequence[Path], out: Path, settings: Settings, options: SamplingOptions, note: Note
) -> Path:
    """Train on the questions of a generator's set ``data`` and return the folder of the adapter.

    The databases are SQLite files in ``folders``, ``FOLDER/NAME/NAME.sqlite``. A step takes ``settings.batch_size``
    questions with ``options.samples`` answers each. Continues, and raises, as ``lora.train``; ``DatasetError`` also for
    a database that is in none of the folders, or in two.
    """
    with locked_folder(out):
        sampled = {f"sampling_{name}": value for name, value in asdict(options).items()}
        known, facts = lora.begun(data, out, settings, sampled)
        if adapter := lora.finished_before(out, note):
            return adapter
        return _train(known, _files(known, folders, data), out, settings, options, facts, note)


def _train(
    known: Sequence[TrainingExample],
    files: dict[str, str],
    out: Path,
    settings: Settings,
    options: SamplingOptions,
    facts: dict[str, Any],
    note: Note,
) -> Path:
    from sqljury.train import memory
    from sqljury.train.policy_loop import PolicyLoop, PolicySets

    memory.keep_freed_memory()
    base = gguf_base.load(settings.base_model, half=lora.half())
    sides = examples.split(known, settings.held_out, settings.seed)
    end = examples.end_token(base.tokenizer, known[0])
    training, held_out = (_questions(base.tokenizer, side, files) for side in sides[:2])
    room = settings.max_length - options.tokens
    known_questions = len(training) + len(held_out)
    training, held_out = (
        [question for question in side if len(question.prompt) <= room] for side in (training, held_out)
    )
    counts = {
        "questions": len(training),
        "held_out": len(held_out),
        "too_long": known_questions - len(training) - len(held_out),
    }
    if not training:
        raise DatasetError(f"{facts['data']}: every prompt is too long; raise --max-length")
    model, length, free = _prepared(base.model, settings, options.temperature, note)
    note(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()))
    processes = RewardProcesses(min(PROCESSES, max(1, cores() - 1)))
    try:
        sets = PolicySets(training, held_out, length, end, free, base.tokenizer)
        loop = PolicyLoop(model, sets, out, settings, options, processes, note)
        loop.run()
    finally:
        processes.close()
    return lora.finish(out, {**facts, "held_out_by": sides.by}, counts, model.device, loop.progress.log, note)


def _prepared(model: Any, settings: Settings, temperature: float, note: Note) -> tuple[TreeModel, int, float]:
    """``model`` with its adapter at a ``temperature``, the tokens of the longest sequence that fits the memory, and the
    bytes for keys and values."""
    from sqljury.train import memory
    from sqljury.train.tree_model import TreeModel

    updates = lora.adapted(model, settings)
    budget = memory.budget(lora.device(), settings.memory_gb)
    costs = memory.costs(model, updates, budget)
    longest = max(settings.max_length, SEQUENCE_TOKENS)
    plan = memory.plan(costs, settings.max_length, longest, lambda length: longest - length)
    if plan.length < settings.max_length:
        raise DatasetError(
            f"no sequence of {settings.max_length} tokens fits the memory; raise --memory or lower --max-length"
        )
    note(plan.text(costs.layers))
    free = min(CACHE_SHARE * budget, costs.free * memory.SLACK)
    return TreeModel(model, updates, plan.checkpointed, temperature), plan.length, free


def _questions(
    tokenizer: PreTrainedTokenizerBase, known: Iterable[TrainingExample], files: dict[str, str]
) -> list[PolicyQuestion]:
    """Each prompt once, with the first answer to it as gold."""
    first: dict[str, TrainingExample] = {}
    for example in known:
        first.setdefault(example.prompt_hash(), example)
    return [
        PolicyQuestion(
            str(example.meta.get("id", "")),
            examples.tokens(tokenizer, examples.prompt_text(tokenizer, example.messages)),
            GoldQuery(files[example.meta["db_id"]], example.answer),
        )
        for example in first.values()
    ]


def _files(known: Iterable[TrainingExample], folders: Sequence[Path], data: Path) -> dict[str, str]:
    """The file of each database that the examples name."""
    files: dict[str, str] = {}
    for example in known:
        name = example.meta.get("db_id")
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise DatasetError(f"{data}: an example names no database (db_id); make the set with `sqljury train data`")
        if name in files:
            continue
        copies = {file.resolve() for folder in folders if (file := folder / name / f"{name}.sqlite").is_file()}
        if not copies:
            raise DatasetError(f"{data}: the database {name!r} is in none of the folders of --db-dir")
        if len(copies) > 1:
            raise DatasetError(
                f"{data}: the database {name!r} is in two folders of --db-dir; rename one, or leave it out"
            )
        [file] = copies
        files[name] = str(file)
    return files
