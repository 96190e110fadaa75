"""What a training needs of memory: an estimate to choose from, and what it took.

The backward pass needs, of a token in a layer, with hidden width h, query width q, key and value width k, intermediate
width i, and e bytes a number (``activations`` says what is not kept):

    kept = e * (4 h + 3 q + 2 k + 2 i)   inputs and outputs of two norms; queries, attention's output and its copy for
                                         the output projection; keys and values; gate and up projections
    kept + e * (8 h + q + 2 i)           with dropout: a mask and a product for the input of each matrix
    kept + e * 2 i                       where the MLP is of another kind
    kept + 16 h                          where the norms are of another kind
    e * h                                of a layer whose activations are computed again (checkpointing)

One layer at a time needs e * 6 i + 24 q more for its own backward pass, and all of ``kept`` if it is computed again.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch

from sqljury.train import activations
from sqljury.train.adapter import Adapter
from sqljury.train.cache import head_width
from sqljury.train.loss import CHUNK_BYTES

GB: Final = 10**9
DEFAULT: Final = 12 * GB
SHARE: Final = 0.8
"""The share of the machine's memory that a training takes where none is given."""
SLACK: Final = 1.5
"""What is taken beside what was counted: temporary results, and freed pieces of the heap that the next do not fit."""
FULL: Final = 0.95
"""The share of the budget above which freed memory goes back to the system: fetching it again takes seconds."""
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
PROCESS: Final = 1.2 * GB
"""Python, the libraries and the examples, without weights."""
HEAD_COPIES: Final = 2
"""Chunks of logits at a time: of the model and of the base."""
RECOMPUTED: Final = 1 / 3
"""The share of time that computing all activations again adds: a forward pass beside one and a backward pass."""


class Plan(NamedTuple):
    """Rows of the longest sequence, and the number of layers whose activations are computed again."""

    length: int
    checkpointed: int

    def text(self, layers: int) -> str:
        """The plan in words, of a model of so many layers."""
        return (
            f"sequences of at most {self.length:,} tokens; activations of {self.checkpointed} of {layers} layers are "
            "computed again"
        )


@dataclass(frozen=True, slots=True)
class Costs:
    """Bytes of a training: ``free`` for activations, and what a token needs in a layer (see above)."""

    layers: int
    free: float
    kept: int
    input: int
    backward: int

    def length(self, checkpointed: int) -> int:
        """Rows of the longest sequence that fits with so many layers checkpointed; 0 where none fits."""
        whole = self.kept if checkpointed else 0
        token = (self.layers - checkpointed) * self.kept + checkpointed * self.input + whole + self.backward
        return max(0, int(self.free / token))


def costs(model: Any, adapter: Adapter, budget: float) -> Costs:
    """The costs of training ``adapter`` on ``model`` within ``budget`` bytes, weights and process included.

    They depend on nothing but settings and shapes, so that a training that is continued has the same sequences.
    """
    config = model.config
    first = next(iter(adapter.layers.values()))
    size = first.linear.weight.element_size()
    width = head_width(config)
    queries, keys = config.num_attention_heads * width, config.num_key_value_heads * width
    kept = size * (4 * config.hidden_size + 3 * queries + 2 * (keys + config.intermediate_size))
    modules = list(model.modules())
    if first.dropout:
        kept += size * (8 * config.hidden_size + queries + 2 * config.intermediate_size)
    if not any(map(activations.is_gated, modules)):
        kept += size * 2 * config.intermediate_size
    if not any(type(module).__name__ in activations.NORMS for module in modules):
        kept += 16 * config.hidden_size
    weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    parameters = sum(matrix.numel() for matrix in adapter.parameters())
    state = parameters * (3 * 4 + 2 * size)  # gradients, two moments; rounded copies
    free = (budget - PROCESS - weights - state - HEAD_COPIES * CHUNK_BYTES) / SLACK
    backward = size * 6 * config.intermediate_size + 24 * queries
    return Costs(config.num_hidden_layers, free, kept, size * config.hidden_size, backward)


def plan(costs: Costs, longest_example: int, longest: int, rows: Callable[[int], int], fixed: int = 0) -> Plan:
    """The plan that takes the least time: longer sequences repeat less, and checkpointing makes room for them.

    ``rows`` gives all rows to compute where sequences have at most a given length; none is longer than ``longest``. The
    ``length`` is below ``longest_example`` where memory is too small for that, and 0 where it is too small for any. It
    is ``fixed`` where that is given: then as few layers are checkpointed as fit, or all.
    """
    choices = sorted({round(costs.layers * quarter / 4) for quarter in range(5)})
    if fixed:
        return Plan(fixed, next((length for length in choices if costs.length(length) >= fixed), costs.layers))
    plans = []
    for checkpointed in choices:
        length = min(costs.length(checkpointed), longest)
        if length >= longest_example:
            time = rows(length) * (1 + RECOMPUTED * checkpointed / costs.layers)
            plans.append((time, Plan(length, checkpointed)))
    return min(plans)[1] if plans else Plan(costs.length(costs.layers), costs.layers)


def budget(device: torch.device, given: float = 0.0) -> float:
    """Bytes that a training takes: ``given`` x 10^9, or most of a GPU, or up to 12 GB of the machine's memory."""
    if given:
        return given * GB
    if device.type == "cuda":
        return float(SHARE * torch.cuda.get_device_properties(device).total_memory)
    try:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return DEFAULT
    return min(DEFAULT, SHARE * min(installed, _group_limit()))


def _group_limit(mounted: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> float:
    """The bytes that Linux lets this process's control groups take, as of a container; infinite where none is set."""
    try:
        listed = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return math.inf
    limits = []
    for _, controllers, path in (line for line in listed if len(line) == 3):
        if controllers and "memory" not in controllers.split(","):
            continue
        root = mounted / "memory" if controllers else mounted
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        # A container sees its own group as the root, whatever the path says.
        group = root / path.lstrip("/")
        for folder in (root, *(parent for parent in (group, *group.parents) if root in parent.parents)):
            with contextlib.suppress(OSError, ValueError):  # "max" is not a number
                limits.append(int((folder / name).read_text()))
    return min(limits, default=math.inf)


def used(device: torch.device) -> int:
    """Bytes that are taken now: of the GPU, or by this process."""
    if device.type == "cuda":
        return int(torch.cuda.memory_allocated())
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak(device)


def peak(device: torch.device) -> int:
    """The most bytes that were taken at a time."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated())
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def keep_freed_memory() -> None:
    """Let glibc reuse the memory of freed tensors: fresh pages from the system take a third of a training's time."""
    if (set_option := _of_glibc("mallopt")) is not None:
        set_option(_M_MMAP_THRESHOLD, 2**30)
        set_option(_M_TRIM_THRESHOLD, 2**31 - 1)


def trim() -> None:
    """Give freed memory back to the system."""
    if (release := _of_glibc("malloc_trim")) is not None:
        release(0)


@cache
def _of_glibc(function: str) -> Any:
    """A function of the C library, None where it has none."""
    return getattr(ctypes.CDLL(None), function, None) if sys.platform.startswith("linux") else None
