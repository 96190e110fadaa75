"""LoRA adapters by ``peft`` and ``trl`` (MSc-SQL, section 5: rank 32, alpha 128, dropout 0.05, batches of 12).

One folder is one training: ``training.json`` what was asked for, ``checkpoints/`` from which a training that was
killed goes on, ``log.jsonl`` the figures so far, ``adapter/`` the result, and the run card. The paper says nothing of
rate, schedule and epochs; those here are the usual ones of LoRA.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import DatasetError, InputError
from sqljury.evaluation.run_folder import held
from sqljury.resources import write_whole
from sqljury.train import card, examples, gguf_base
from sqljury.train.examples import Encoded, Example, encode

if TYPE_CHECKING:
    from transformers import TrainerCallback
    from trl import SFTConfig, SFTTrainer

    from datasets import Dataset

ADAPTER: Final = "adapter"
CHECKPOINTS: Final = "checkpoints"
LOG: Final = "log.jsonl"
SETTINGS: Final = "training.json"
STATE: Final = "trainer_state.json"
MODULES: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ATTENTION: Final = MODULES[:4]
IGNORED: Final = -100
"""What a token's label is that is not learnt."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train and how.

    ``batch`` examples make one step, ``micro`` of them at a time. ``steps`` above 0 ends the training there, whatever
    ``epochs`` says. ``longest`` is in tokens; longer examples are left out and counted. ``held_out`` is the share of
    databases to evaluate on, of questions where there is one database; ``looks`` how often in the course of the
    training, each with a checkpoint. ``attention`` adapts the attention alone, for adapters of a third of the size.
    ``packed`` fills sequences with whole examples; ``four_bits`` is QLoRA; ``frugal`` computes activations again
    instead of keeping them.
    """

    part: str
    base: str
    rank: int = 32
    alpha: int = 128
    dropout: float = 0.05
    batch: int = 12
    micro: int = 4
    epochs: float = 2.0
    steps: int = 0
    rate: float = 2e-4
    warmup: float = 0.03
    longest: int = 4096
    held_out: float = 0.05
    looks: int = 10
    attention: bool = False
    packed: bool = False
    four_bits: bool = False
    frugal: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.batch % self.micro:
            raise InputError(f"a batch of {self.batch} cannot be learnt {self.micro} at a time; choose a divisor")


def train(data: Path, out: Path, settings: Settings, say: Say) -> Path:
    """Train on the examples in ``data`` and return the folder of the adapter.

    A training that was stopped in ``out`` goes on from its last checkpoint; one that has ended is not done again.
    Raises ``DatasetError`` for a set that cannot be read or is for another part, and for a folder of another training,
    ``WeightsError`` and ``MissingExtraError`` as ``gguf_base.load``.
    """
    gguf_base.require()
    with held(out):
        known = examples.read(data)
        examples.check_kind(known, settings.part, data)
        facts = {
            **asdict(settings),
            "data": str(data),
            "data_sha256": examples.digest(data),
            "base_sha256": gguf_base.digest(settings.base),
        }
        _claim(out, facts)
        if (out / card.JSON).is_file():
            say(f"{out} has ended its training; its adapter is in {out / ADAPTER}")
            return out / ADAPTER
        return _train(known, out, settings, facts, say)


def _train(known: Sequence[Example], out: Path, settings: Settings, facts: dict[str, Any], say: Say) -> Path:
    import torch

    cuda = torch.cuda.is_available()
    base = gguf_base.load(settings.base, half=cuda, four_bits=settings.four_bits)
    learn, held_out = examples.split(known, settings.held_out, settings.seed)
    learning = [encode(base.tokenizer, example) for example in learn]
    watching = [encode(base.tokenizer, example) for example in held_out]
    fitting = _fitting(learning, settings.longest)
    evaluated = _fitting(watching, settings.longest)
    counts = {
        "examples": len(fitting),
        "held_out": len(evaluated),
        "too_long": len(learning) - len(fitting) + len(watching) - len(evaluated),
        "tokens": sum(len(one.ids) for one in fitting),
        "answer_tokens": sum(sum(one.mask) for one in fitting),
    }
    if not fitting:
        raise DatasetError(f"no example of {facts['data']} has {settings.longest} tokens or less; raise --longest")
    say(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice of the libraries on choices that are made here
        trainer = _trainer(base, fitting, evaluated, out, settings, say)
        checkpoint = last_checkpoint(out / CHECKPOINTS)
        if checkpoint is not None:
            say(f"going on from {checkpoint.name}")
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        trainer.model.save_pretrained(str(out / ADAPTER), save_embedding_layers=False)
    device = torch.cuda.get_device_name() if cuda else "CPU"
    facts = {**facts, "held_out_by": examples.held_by(known)}
    card.write(out, facts, counts, device, trainer.state.log_history)
    return out / ADAPTER


def asked(run: Path) -> dict[str, Any]:
    """What a training was asked for, with the hashes of data and base; raises ``DatasetError``."""
    try:
        settings = json.loads((run / SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        settings = None
    shape = {**dict.fromkeys(("part", "base", "data", "base_sha256", "data_sha256"), str), "longest": int}
    if not isinstance(settings, dict) or not all(type(settings.get(key)) is kind for key, kind in shape.items()):
        raise DatasetError(f"{run} holds no training (no readable {SETTINGS}); give a folder of `sqljury train`")
    return settings


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; the trainer's state is written last, so one without it was cut off."""
    found: list[tuple[int, Path]] = []
    for place in folder.glob("checkpoint-*"):
        try:
            found.append((int(json.loads((place / STATE).read_bytes())["global_step"]), place))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return max(found)[1] if found else None


def _claim(out: Path, facts: dict[str, Any]) -> None:
    """Keep what was asked for; raises ``DatasetError`` where the folder holds something else."""
    file = out / SETTINGS
    if not file.exists():
        if any(out.glob("*.json")) or (out / ADAPTER).exists():
            raise DatasetError(f"{out} holds something else; give another folder with --out")
        write_whole(file, json.dumps(facts, indent=2) + "\n")
        return
    before = asked(out)
    changed = sorted(key for key in {*before, *facts} - {"data"} if before.get(key) != facts.get(key))
    if changed:
        raise DatasetError(
            f"{out} holds a training with other settings ({', '.join(changed)} differ); give another folder with --out"
        )


def _fitting(encoded: Sequence[Encoded], longest: int) -> list[Encoded]:
    return [one for one in encoded if len(one.ids) <= longest]


def _trainer(
    base: gguf_base.Base,
    learning: Sequence[Encoded],
    watching: Sequence[Encoded],
    out: Path,
    settings: Settings,
    say: Say,
) -> SFTTrainer:
    """``trl``'s trainer on tokens that are ready: it adds nothing to them and cuts nothing off."""
    from peft import LoraConfig
    from transformers import PrinterCallback, set_seed
    from trl import SFTTrainer

    set_seed(settings.seed)
    trainer = SFTTrainer(
        model=base.model,
        processing_class=base.tokenizer,
        args=_arguments(out, settings, _steps(learning, settings), bool(watching)),
        train_dataset=_dataset(learning),
        eval_dataset=_dataset(watching) if watching else None,
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules=list(ATTENTION if settings.attention else MODULES),
        ),
        compute_metrics=_right_answers if watching else None,
        preprocess_logits_for_metrics=_likeliest if watching else None,
        callbacks=[_told(out / LOG, say)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _steps(learning: Sequence[Encoded], settings: Settings) -> int:
    """Steps of the whole training, about: looks, checkpoints and the warm-up are shares of them."""
    sequences = len(learning)
    if settings.packed:
        sequences = ceil(sum(len(one.ids) for one in learning) / settings.longest)  # packing leaves little room
    return settings.steps or max(1, round(settings.epochs * sequences / settings.batch))


def _arguments(out: Path, settings: Settings, steps: int, watched: bool) -> SFTConfig:
    import torch
    from trl import SFTConfig

    every = max(1, steps // max(1, settings.looks))
    arguments = SFTConfig(
        output_dir=str(out / CHECKPOINTS),
        per_device_train_batch_size=settings.micro,
        per_device_eval_batch_size=settings.micro,
        gradient_accumulation_steps=settings.batch // settings.micro,
        num_train_epochs=settings.epochs,
        max_steps=settings.steps or -1,
        learning_rate=settings.rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, round(settings.warmup * steps)),
        max_length=settings.longest,
        packing=settings.packed,
        eval_packing=False,
        completion_only_loss=True,
        bf16=torch.cuda.is_available(),
        gradient_checkpointing=settings.frugal,
        seed=settings.seed,
        logging_steps=max(1, steps // 200),
        eval_strategy="steps" if watched else "no",
        eval_steps=every,
        save_steps=every,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    # On several devices each would take ``micro`` examples, so that a step were more than ``batch`` of them.
    arguments._n_gpu = min(arguments.n_gpu, 1)  # as transformers itself does where it wants no copies of the model
    return arguments


def _dataset(encoded: Sequence[Encoded]) -> Dataset:
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    return Dataset.from_list([{"input_ids": one.ids, "completion_mask": one.mask} for one in encoded])


def _likeliest(logits: Any, _: Any) -> Any:
    """The likeliest token at each place, so that an evaluation does not keep whole distributions."""
    return (logits[0] if isinstance(logits, tuple) else logits).argmax(dim=-1)


def _right_answers(evaluated: Any) -> dict[str, float]:
    """The share of answers whose every token was the likeliest one: what greedy writing would have given.

    A row holds several examples where the training packs them; between two answers lies a prompt, which is not learnt.
    """
    guessed, labels = evaluated.predictions[:, :-1], evaluated.label_ids[:, 1:]
    learnt = labels != IGNORED
    begins = learnt.copy()
    begins[:, 1:] &= ~learnt[:, :-1]
    answers = begins.ravel().cumsum()  # of each token, the number of the answer that it is in or behind
    wrong = set(answers[((guessed != labels) & learnt).ravel()].tolist())
    return {"right_answers": float(1 - len(wrong) / max(1, begins.sum()))}


def _told(log: Path, say: Say) -> TrainerCallback:
    """Keeps the figures in a file as they come, and says them."""
    from transformers import TrainerCallback

    class Told(TrainerCallback):  # type: ignore[misc]  # of a library that need not be installed
        def on_log(self, _: Any, state: Any, __: Any, logs: Any = None, **___: Any) -> None:
            write_whole(log, "".join(json.dumps(line) + "\n" for line in state.log_history))
            shown = {key: value for key, value in (logs or {}).items() if key in card.SHOWN}
            if shown:
                figures = ", ".join(f"{card.SHOWN[key]} {value:.4g}" for key, value in shown.items())
                say(f"step {state.global_step}/{state.max_steps}: {figures}")

    return Told()
