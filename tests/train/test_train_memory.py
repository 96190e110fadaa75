"""The estimate of memory counts what is kept, and the plan takes the least time."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest

from sqljury.train.examples import Encoded
from sqljury.train.tree import Forest

pytestmark = pytest.mark.train


@pytest.mark.parametrize(("dropout", "checkpointed"), [(0.0, 0), (0.1, 0), (0.0, 3)])
def test_what_is_counted_is_what_is_kept(dropout: float, checkpointed: int) -> None:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    from sqljury.train import memory
    from sqljury.train.adapter import attach
    from sqljury.train.settings import MODULES
    from sqljury.train.tree_model import TreeModel

    sizes = {"vocab_size": 50, "hidden_size": 96, "intermediate_size": 560, "num_hidden_layers": 4}
    model = Qwen2ForCausalLM(Qwen2Config(**sizes, num_attention_heads=3, num_key_value_heads=1)).to(torch.bfloat16)
    adapter = attach(model, MODULES["all-linear"], 1, 1, dropout)
    [tree] = Forest([Encoded([index % 50 for index in range(700)], [0] * 690 + [1] * 10)], 1, 0).sequences(1000)
    trained = TreeModel(model, adapter, checkpointed)
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        hidden = trained._hidden(tree)
    del hidden
    measured = sum(tensor.untyped_storage().nbytes() for tensor in kept.values()) / len(tree)
    costs = memory.costs(model, adapter, 1e10)
    counted = (4 - checkpointed) * costs.kept + checkpointed * costs.input
    assert measured == pytest.approx(counted, rel=0.12)


def test_longer_sequences_are_taken_while_memory_lasts() -> None:
    from sqljury.train.memory import Costs, Plan, plan

    costs = Costs(layers=28, free=3e9, kept=55_000, input=3_000, backward=150_000)
    lengths = [costs.length(checkpointed) for checkpointed in (0, 14, 28)]
    assert lengths == sorted(lengths)

    def rows(prefix: int, length: int) -> int:  # of 100 examples with 200 tokens after a prefix
        return prefix * -(-100 // ((length - prefix) // 200)) + 100 * 200

    assert plan(costs, 1000, 5000, partial(rows, 100)) == Plan(lengths[0], 0)
    assert plan(costs, 1000, 5000, partial(rows, 800)).checkpointed > 0, "a long prefix is repeated less"
    assert plan(costs, lengths[0] + 1, 5000, partial(rows, 100)).checkpointed > 0
    small = Costs(28, 3e8, 55_000, 3_000, 150_000)
    assert plan(small, 5000, 9000, rows) == Plan(small.length(28), 28)
    assert plan(costs, 1000, 5000, partial(rows, 100), lengths[0]) == Plan(lengths[0], 0)
    assert plan(costs, 1000, 5000, partial(rows, 100), lengths[0] + 1).checkpointed > 0
    assert plan(small, 5000, 9000, rows, 9000) == Plan(9000, 28)


def test_the_limit_of_a_container(tmp_path: Path) -> None:
    from sqljury.train.memory import _group_limit

    own, mounted = tmp_path / "cgroup", tmp_path / "mounted"
    assert _group_limit(mounted, own) == math.inf
    own.write_text("0::/slice/unit\n")
    (mounted / "slice" / "unit").mkdir(parents=True)
    assert _group_limit(mounted, own) == math.inf
    (mounted / "slice" / "memory.max").write_text("8000000000\n")
    (mounted / "slice" / "unit" / "memory.max").write_text("max\n")
    assert _group_limit(mounted, own) == 8e9
    (mounted / "memory.max").write_text("4000000000\n")  # what a container sees of its own group
    assert _group_limit(mounted, own) == 4e9
    own.write_text("5:cpu,memory:/docker/1\n3:devices:/docker/1\n")
    (mounted / "memory").mkdir()
    (mounted / "memory" / "memory.limit_in_bytes").write_text("2000000000\n")
    assert _group_limit(mounted, own) == 2e9
