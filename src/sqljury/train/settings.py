"""Settings of a training, and its folder.

``training.json`` holds the settings, ``checkpoint.pt`` where a training that was stopped continues, ``log.jsonl`` the
figures so far, ``adapter/`` the best adapter so far, and ``card.json`` the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from sqljury.errors import DatasetError
from sqljury.resources import write_whole

ADAPTER: Final = "adapter"
ADAPTER_WEIGHTS: Final = "adapter_model.safetensors"
ADAPTER_CONFIG: Final = "adapter_config.json"
"""The two files of that folder, as ``peft`` calls them."""
CHECKPOINT: Final = "checkpoint.pt"
LOG: Final = "log.jsonl"
SETTINGS: Final = "training.json"
ATTENTION: Final = ("q_proj", "k_proj", "v_proj", "o_proj")
MODULES: Final = {"all-linear": (*ATTENTION, "gate_proj", "up_proj", "down_proj"), "attention": ATTENTION}
CHANGEABLE: Final = frozenset({"data", "minutes", "memory_gb", "checkpoint_minutes"})
"""Settings with which a training may be continued that they were not started with."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train and how.

    A step takes about ``batch_size`` examples, in as few sequences as ``memory_gb`` allows (10^9 bytes; 0 for what the
    machine has, up to 12). ``max_examples`` above 0 is the size of a random sample to train on. A set too small for
    ``least_steps`` in ``epochs`` is passed over more often. ``max_steps`` above 0 overrides both; after ``minutes``
    above 0 the training ends, and its learning rate with it. Examples of more than ``max_length`` tokens are left out
    and counted. ``held_out`` is the share of databases to evaluate on, or of questions where there is one database.
    ``eval_steps`` is the number of steps between evaluations; below 1, a share of all steps. After ``patience``
    evaluations without a lower held-out loss the training ends; 0 for never. ``pull`` weighs the divergence
    KL(base || adapted) on learned tokens, which holds the adapter near the base model. ``target_modules`` names the
    adapted matrices; attention alone gives a third of the size. ``start`` names the adapter that the training starts
    from, as a folder of a training, a path or a name; empty for none.
    """

    part: str
    base_model: str
    start: str = ""
    lora_r: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    target_modules: Literal["all-linear", "attention"] = "all-linear"
    batch_size: int = 24
    max_examples: int = 0
    epochs: float = 2.0
    least_steps: int = 0
    max_steps: int = -1
    minutes: float = 0.0
    learning_rate: float = 5e-5
    warmup_ratio: float = 0.03
    pull: float = 0.0
    max_length: int = 4096
    held_out: float = 0.05
    eval_steps: float = 0.1
    patience: int = 3
    memory_gb: float = 0.0
    checkpoint_minutes: float = 10.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How a policy's answers are drawn: ``samples`` for each prompt, of at most ``tokens`` tokens each.

    At temperature 0 each token is the likeliest.
    """

    samples: int = 8
    temperature: float = 1.0
    tokens: int = 160


PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "chase": {"lora_r": 16, "epochs": 10.0, "max_examples": 3800},
    "msc": {"lora_r": 32, "lora_alpha": 128, "lora_dropout": 0.05, "batch_size": 12},
}
"""Settings of CHASE-SQL (appendix A.2) and of MSc-SQL (section 5), as far as the papers give them."""


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


def claim(out: Path, facts: dict[str, Any]) -> None:
    """Write the settings; raises ``DatasetError`` where the folder holds something else."""
    file = out / SETTINGS
    if not file.exists():
        if any(out.glob("*.json")) or (out / ADAPTER).exists():
            raise DatasetError(f"{out} holds something else; give another folder with --out")
    else:
        before = read_settings(out)
        changed = sorted(key for key in {*before, *facts} - CHANGEABLE if before.get(key) != facts.get(key))
        if changed:
            raise DatasetError(
                f"{out} holds a training with other settings ({', '.join(changed)} differ); give another folder with "
                "--out"
            )
    write_whole(file, json.dumps(facts, indent=2) + "\n")
