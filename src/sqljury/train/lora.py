"""LoRA adapters by ``peft`` and ``trl`` (MSc-SQL, section 5: rank 32, alpha 128, dropout 0.05, batches of 12).

The paper does not give learning rate, schedule and epochs; the defaults here are usual ones for LoRA. A training has a
folder: ``training.json`` holds its settings, ``checkpoints/`` the checkpoints from which it continues after it was
killed, ``log.jsonl`` the figures so far, ``adapter/`` the result.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from sqljury.errors import DatasetError
from sqljury.resources import locked_folder, write_whole
from sqljury.train import card, examples, gguf_base
from sqljury.train.examples import Encoded, TrainingExample, encode

if TYPE_CHECKING:
    from transformers import TrainerCallback
    from trl import SFTConfig, SFTTrainer

    from datasets import Dataset

ADAPTER: Final = "adapter"
CHECKPOINTS: Final = "checkpoints"
LOG: Final = "log.jsonl"
SETTINGS: Final = "training.json"
STATE: Final = "trainer_state.json"
ATTENTION: Final = ("q_proj", "k_proj", "v_proj", "o_proj")
MODULES: Final = {"all-linear": (*ATTENTION, "gate_proj", "up_proj", "down_proj"), "attention": ATTENTION}
IGNORED: Final = -100
"""The label of tokens that are not learned."""

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train and how, by the names of ``transformers``, ``trl`` and ``peft``.

    A step takes ``batch_size`` times ``gradient_accumulation_steps`` examples. ``max_steps`` above 0 overrides
    ``epochs``. Examples of more than ``max_length`` tokens are left out and counted. ``held_out`` is the share of
    databases to evaluate on, or of questions where there is one database. ``eval_steps`` is the number of steps between
    evaluations, each with a checkpoint; below 1, a share of all steps. ``target_modules`` names the adapted matrices;
    attention alone gives a third of the size. ``packing`` fills sequences with whole examples; ``load_in_4bit`` is
    QLoRA.
    """

    part: str
    base_model: str
    lora_r: int = 32
    lora_alpha: int = 128
    lora_dropout: float = 0.05
    target_modules: Literal["all-linear", "attention"] = "all-linear"
    batch_size: int = 4
    gradient_accumulation_steps: int = 3
    epochs: float = 2.0
    max_steps: int = -1
    learning_rate: float = 2e-4
    warmup_ratio: float = 0.03
    max_length: int = 4096
    held_out: float = 0.05
    eval_steps: float = 0.1
    packing: bool = False
    load_in_4bit: bool = False
    gradient_checkpointing: bool = False
    seed: int = 0


def train(data: Path, out: Path, settings: Settings, note: Note) -> Path:
    """Train on the examples in ``data`` and return the folder of the adapter.

    A training that was stopped in ``out`` continues from its last checkpoint; a finished one is not repeated. Raises
    ``DatasetError`` for a set that cannot be read or is for another part, and for a folder of another training;
    ``WeightsError`` and ``MissingExtraError`` as ``gguf_base.load``.
    """
    gguf_base.require_libraries()
    with locked_folder(out):
        known = examples.read(data)
        examples.check_kind(known, settings.part, data)
        facts = {
            **asdict(settings),
            "data": str(data),
            "data_sha256": examples.digest(data),
            "base_sha256": gguf_base.digest(settings.base_model),
        }
        _claim(out, facts)
        if (out / card.JSON).is_file():
            note(f"{out} has finished its training; its adapter is in {out / ADAPTER}")
            return out / ADAPTER
        return _train(known, out, settings, facts, note)


def _train(known: Sequence[TrainingExample], out: Path, settings: Settings, facts: dict[str, Any], note: Note) -> Path:
    import torch

    cuda = torch.cuda.is_available()
    base = gguf_base.load(settings.base_model, half=cuda, load_in_4bit=settings.load_in_4bit)
    encoded = [
        [encode(base.tokenizer, example) for example in side]
        for side in examples.split(known, settings.held_out, settings.seed)
    ]
    training, held_out = ([one for one in side if len(one.ids) <= settings.max_length] for side in encoded)
    counts = {
        "examples": len(training),
        "held_out": len(held_out),
        "too_long": sum(map(len, encoded)) - len(training) - len(held_out),
        "tokens": sum(len(one.ids) for one in training),
        "answer_tokens": sum(sum(one.mask) for one in training),
    }
    if not training:
        raise DatasetError(
            f"{facts['data']}: every example has more than {settings.max_length} tokens; raise --max-length"
        )
    note(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice of the libraries on choices that are made here
        trainer = _trainer(base, training, held_out, out, settings, note)
        checkpoint = last_checkpoint(out / CHECKPOINTS)
        if checkpoint is not None:
            note(f"continuing from {checkpoint.name}")
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        trainer.model.save_pretrained(str(out / ADAPTER), save_embedding_layers=False)
    device = torch.cuda.get_device_name() if cuda else "CPU"
    facts = {**facts, "held_out_by": examples.held_out_by(known)}
    card.write(out, facts, counts, device, trainer.state.log_history)
    return out / ADAPTER


def read_settings(run: Path) -> dict[str, Any]:
    """The settings of a training, with the hashes of data and base model; raises ``DatasetError``."""
    try:
        settings = json.loads((run / SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        settings = None
    texts = ("part", "base_model", "data", "base_sha256", "data_sha256")
    shape = {**dict.fromkeys(texts, str), "max_length": int}
    if not isinstance(settings, dict) or not all(type(settings.get(key)) is kind for key, kind in shape.items()):
        raise DatasetError(f"{run} does not hold a training (no readable {SETTINGS}); give a folder of `sqljury train`")
    return settings


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint; the trainer's state is written last, so one without it was cut off."""
    checkpoints: list[tuple[int, Path]] = []
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            checkpoints.append((int(json.loads((checkpoint / STATE).read_bytes())["global_step"]), checkpoint))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return max(checkpoints)[1] if checkpoints else None


def _claim(out: Path, facts: dict[str, Any]) -> None:
    """Write the settings; raises ``DatasetError`` where the folder holds something else."""
    file = out / SETTINGS
    if not file.exists():
        if any(out.glob("*.json")) or (out / ADAPTER).exists():
            raise DatasetError(f"{out} holds something else; give another folder with --out")
        write_whole(file, json.dumps(facts, indent=2) + "\n")
        return
    before = read_settings(out)
    changed = sorted(key for key in {*before, *facts} - {"data"} if before.get(key) != facts.get(key))
    if changed:
        raise DatasetError(
            f"{out} holds a training with other settings ({', '.join(changed)} differ); give another folder with --out"
        )


def _trainer(
    base: gguf_base.Base,
    training: Sequence[Encoded],
    held_out: Sequence[Encoded],
    out: Path,
    settings: Settings,
    note: Note,
) -> SFTTrainer:
    """``trl``'s trainer on encoded examples: it adds nothing to them and cuts nothing off."""
    from peft import LoraConfig
    from transformers import PrinterCallback, set_seed
    from trl import SFTTrainer

    set_seed(settings.seed)
    trainer = SFTTrainer(
        model=base.model,
        processing_class=base.tokenizer,
        args=_arguments(out, settings, _total_steps(training, settings), bool(held_out)),
        train_dataset=_dataset(training),
        eval_dataset=_dataset(held_out) if held_out else None,
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=settings.lora_r,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules=list(MODULES[settings.target_modules]),
        ),
        compute_metrics=_right_answers if held_out else None,
        preprocess_logits_for_metrics=_greedy_tokens if held_out else None,
        callbacks=[_logger(out / LOG, note)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _total_steps(training: Sequence[Encoded], settings: Settings) -> int:
    """Approximate steps of the whole training; evaluations, checkpoints and warm-up are shares of them."""
    sequences = len(training)
    if settings.packing:
        sequences = ceil(sum(len(one.ids) for one in training) / settings.max_length)  # packing leaves little room
    if settings.max_steps > 0:
        return settings.max_steps
    return max(1, round(settings.epochs * sequences / (settings.batch_size * settings.gradient_accumulation_steps)))


def _arguments(out: Path, settings: Settings, steps: int, evaluated: bool) -> SFTConfig:
    import torch
    from trl import SFTConfig

    cuda = torch.cuda.is_available()
    interval = max(1, int(settings.eval_steps if settings.eval_steps >= 1 else settings.eval_steps * steps))
    arguments = SFTConfig(
        output_dir=str(out / CHECKPOINTS),
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.gradient_accumulation_steps,
        num_train_epochs=settings.epochs,
        max_steps=settings.max_steps,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, round(settings.warmup_ratio * steps)),
        max_length=settings.max_length,
        packing=settings.packing,
        eval_packing=False,
        completion_only_loss=True,
        bf16=cuda,
        gradient_checkpointing=settings.gradient_checkpointing,
        seed=settings.seed,
        logging_steps=max(1, steps // 200),
        eval_strategy="steps" if evaluated else "no",
        eval_steps=interval,
        save_steps=interval,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        use_cpu=not cuda,
        dataloader_pin_memory=cuda,
    )
    # On several devices each would take ``batch_size`` examples, and a step would have more than the settings say.
    arguments._n_gpu = min(arguments.n_gpu, 1)  # as transformers itself does where it wants no copies of the model
    return arguments


def _dataset(encoded: Sequence[Encoded]) -> Dataset:
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    return Dataset.from_list([{"input_ids": one.ids, "completion_mask": one.mask} for one in encoded])


def _greedy_tokens(logits: Any, _: Any) -> Any:
    """The likeliest token at each position, so that an evaluation does not keep whole distributions."""
    return (logits[0] if isinstance(logits, tuple) else logits).argmax(dim=-1)


def _right_answers(evaluated: Any) -> dict[str, float]:
    """The share of answers whose every token was the likeliest one: what greedy decoding would have given.

    A row holds several examples where the training packs them; a prompt, which is not learned, lies between answers.
    """
    guessed, labels = evaluated.predictions[:, :-1], evaluated.label_ids[:, 1:]
    learned = labels != IGNORED
    starts = learned.copy()
    starts[:, 1:] &= ~learned[:, :-1]
    answers = starts.ravel().cumsum()  # of each token, the number of the answer that it is in or behind
    wrong = set(answers[((guessed != labels) & learned).ravel()].tolist())
    return {"right_answers": float(1 - len(wrong) / max(1, starts.sum()))}


def _logger(log: Path, note: Note) -> TrainerCallback:
    """A callback that writes the figures to a file as they come, and reports them."""
    from transformers import TrainerCallback

    class Logger(TrainerCallback):  # type: ignore[misc]  # of a library that need not be installed
        def on_log(self, _: Any, state: Any, __: Any, logs: Any = None, **___: Any) -> None:
            write_whole(log, "".join(json.dumps(line) + "\n" for line in state.log_history))
            shown = {key: value for key, value in (logs or {}).items() if key in card.SHOWN}
            if shown:
                figures = ", ".join(f"{card.SHOWN[key]} {value:.4g}" for key, value in shown.items())
                note(f"step {state.global_step}/{state.max_steps}: {figures}")

    return Logger()
