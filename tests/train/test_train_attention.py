"""Attention by blocks is attention with a mask, gradients included."""

from __future__ import annotations

import random

import pytest

from sqljury.train import tree
from sqljury.train.examples import Encoded

pytestmark = pytest.mark.train


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_blocks_give_what_a_mask_gives(kv_heads: int) -> None:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from sqljury.train import attention

    draw = random.Random(1)

    def text(length: int) -> list[int]:
        return [draw.randrange(50) for _ in range(length)]

    system, question = text(18), text(20)
    schema = system + text(attention.SHORT + 20)
    prompts = [schema + text(5), schema + question + text(9), schema + question + text(30), system + text(12)]
    [sequence] = tree.Forest([Encoded(one, [0] * len(one)) for one in prompts], 10, 0).sequences(1000)
    assert len(sequence.nodes) == 7
    assert {node.end - node.start > attention.SHORT for node in sequence.nodes} == {True, False}

    torch.manual_seed(0)
    shapes = [(1, heads, len(sequence), 8) for heads in (4, kv_heads, kv_heads)]
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    output = attention.TreeAttention.apply(*inputs, sequence.nodes, 0.3)
    weights = torch.randn(output.shape)
    gradients = torch.autograd.grad((output * weights).sum(), inputs)

    query, key, value = inputs
    hidden = attention.mask(sequence, torch.device("cpu"))
    expanded = [one.repeat_interleave(4 // kv_heads, 1) for one in (key, value)]
    expected = scaled_dot_product_attention(query, *expanded, hidden, scale=0.3)
    torch.testing.assert_close(output, expected)
    masked, _ = attention._attend(None, query, key, value, None, tree=sequence, visible=hidden, scaling=0.3)
    torch.testing.assert_close(masked.transpose(1, 2), expected)
    # Seldom, on a busy machine, torch's own kernels differ by 8e-5 here; a block left out makes a difference above 0.1.
    for one, other in zip(gradients, torch.autograd.grad((expected * weights).sum(), inputs), strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)
