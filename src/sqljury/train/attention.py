"""Attention over a prefix tree, for the models of ``transformers``.

On a processor, each node attends causally to itself, and all descendants of a node to it: dense blocks, without the
pairs that a mask would hide. A row's blocks are merged by their log-sum-exp, as in ring attention (Liu et al., 2023,
arXiv 2310.01889), and the backward kernel gets the merged output and log-sum-exp, so that each block's gradients are
exact. That kernel is slow on short nodes, so those attend to themselves in one batch of matrix products there. On a GPU
one call with a mask does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from sqljury.errors import WeightsError
from sqljury.train.cache import Cache
from sqljury.train.tree import Node, TreeSequence

NAME: Final = "sqljury_tree"
SHORT: Final = 96
"""Rows of the longest node of the batch; above that the kernel is as fast."""
MASKED: Final = [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Kernels for a mask. That of cuDNN gives no numbers as gradients for some lengths of sequences (torch 2.11 on H100 and
H200, github.com/pytorch/pytorch/issues/196678)."""
_forward: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_backward: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def use(model: Any) -> None:
    """Let ``model`` attend by trees: its forward pass takes ``tree=``.

    It takes ``visible=`` too, the tree's mask, which is then used instead of blocks. For sampling it takes ``kv=``
    in the place of a tree.
    """
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, lambda *_, **__: None)  # the tree takes the mask's place
    model.set_attn_implementation(NAME)


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    _: Any,
    *,
    tree: TreeSequence | None = None,
    kv: Cache | None = None,
    visible: torch.Tensor | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **__: Any,
) -> tuple[torch.Tensor, None]:
    """(outputs, None) in the form of ``transformers``: (1, heads, rows, width) in, (1, rows, heads, width) out."""
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if kv is not None:
        _check_window(sliding_window, kv.slots)
        return kv.attend(module.layer_idx, query, key, value, scale), None
    assert tree is not None
    if sliding_window is not None:  # each layer of each sequence comes here
        _check_window(sliding_window, max(tree.positions) + 1)
    if visible is not None:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        with sdpa_kernel(MASKED):
            output = functional.scaled_dot_product_attention(query, key, value, visible, scale=scale)
        return output.transpose(1, 2), None
    return TreeAttention.apply(query, key, value, tree.nodes, scale).transpose(1, 2), None


def _check_window(window: int | None, tokens: int) -> None:
    """Raise ``WeightsError`` for a model that sees fewer tokens than a sequence has."""
    if window is not None and window < tokens:
        raise WeightsError(
            f"this model attends to the last {window} tokens only, fewer than an example has; train a Llama or "
            "Qwen model, or leave out long examples with --max-length"
        )


def mask(tree: TreeSequence, device: torch.device) -> torch.Tensor:
    """(rows, rows) of True where a row attends to another."""
    rows = len(tree)
    ends = torch.empty(rows, dtype=torch.long)
    for node in tree.nodes:
        ends[node.start : node.end] = node.last
    row, ends = torch.arange(rows, device=device), ends.to(device)
    return (row[None] <= row[:, None]) & (row[:, None] < ends[None])


def blocks(nodes: Sequence[Node]) -> list[tuple[slice, slice, bool]]:
    """(queries, keys, causal) of all blocks; a row's first is that of its own node."""
    within_nodes = [(slice(node.start, node.end), slice(node.start, node.end), True) for node in nodes]
    descendants = [
        (slice(node.end, node.last), slice(node.start, node.end), False) for node in nodes if node.last > node.end
    ]
    return within_nodes + descendants


class TreeAttention(torch.autograd.Function):  # type: ignore[misc]
    """Outputs (1, heads, rows, width) of queries of that shape; keys and values may have fewer heads (GQA)."""

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, nodes: Sequence[Node], scale: float
    ) -> torch.Tensor:
        groups = query.shape[1] // key.shape[1]
        keys, values = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        output = torch.empty(query.shape, dtype=torch.float32)
        logsumexp = torch.empty(query.shape[:3], dtype=torch.float32)
        for rows, columns, causal in blocks(nodes):
            part, total = _forward(
                query[:, :, rows], keys[:, :, columns], values[:, :, columns], 0.0, causal, scale=scale
            )
            if causal:
                output[:, :, rows], logsumexp[:, :, rows] = part, total
                continue
            before = logsumexp[:, :, rows]
            share = torch.sigmoid(total - before).unsqueeze(-1)  # of this block in both
            output[:, :, rows].lerp_(part.float(), share)
            logsumexp[:, :, rows] = torch.logaddexp(before, total)
        output = output.to(query.dtype)
        ctx.save_for_backward(query, key, value, output, logsumexp)
        ctx.nodes, ctx.scale = nodes, scale
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        query, key, value, output, logsumexp = ctx.saved_tensors
        groups = query.shape[1] // key.shape[1]
        keys, values = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        totals = [torch.zeros(tensor.shape, dtype=torch.float32) for tensor in (query, keys, values)]
        short = [node for node in ctx.nodes if node.end - node.start <= SHORT]
        if short:
            _add_of_short(totals, short, (gradient, query, keys, values, output), logsumexp, ctx.scale)
        for rows, columns, causal in blocks(ctx.nodes):
            if causal and rows.stop - rows.start <= SHORT:
                continue
            parts = _backward(
                gradient[:, :, rows],
                query[:, :, rows],
                keys[:, :, columns],
                values[:, :, columns],
                output[:, :, rows],
                logsumexp[:, :, rows],
                0.0,
                causal,
                scale=ctx.scale,
            )
            for total, part, where in zip(totals, parts, (rows, columns, columns), strict=True):
                total[:, :, where] += part
        d_query, d_key, d_value = (total.to(query.dtype) for total in totals)
        heads = (1, key.shape[1], groups, *key.shape[2:])
        return d_query, d_key.view(heads).sum(2), d_value.view(heads).sum(2), None, None


def _add_of_short(
    totals: Sequence[torch.Tensor],
    nodes: Sequence[Node],
    tensors: Sequence[torch.Tensor],
    logsumexp: torch.Tensor,
    scale: float,
) -> None:
    """Add the gradients by queries, keys and values of nodes within themselves to ``totals``.

    ``tensors`` are the output's gradient, queries, keys, values and outputs, each (1, heads, rows, width).
    """
    longest = max(node.end - node.start for node in nodes)
    positions = torch.arange(longest)
    starts, lengths = (
        torch.tensor(column)[:, None] for column in zip(*((n.start, n.end - n.start) for n in nodes), strict=True)
    )
    inside = positions < lengths  # (nodes, longest): padding repeats the last row and is masked
    rows = starts + torch.minimum(positions, lengths - 1)
    hidden = ~(inside[:, :, None] & inside[:, None, :] & (positions[:, None] >= positions))
    heads = logsumexp.shape[1]
    gradient, query, key, value, output = (tensor[0][:, rows].flatten(0, 1) for tensor in tensors)
    weights = torch.bmm(query.float(), key.float().transpose(1, 2)).mul_(scale)  # large scores need all digits
    weights.sub_(logsumexp[0][:, rows].flatten(0, 1).unsqueeze(-1)).exp_()
    weights.view(heads, *hidden.shape).masked_fill_(hidden, 0.0)
    d_value = torch.bmm(weights.to(value.dtype).transpose(1, 2), gradient)
    d_scores = torch.bmm(gradient, value.transpose(1, 2)).float()
    d_scores.sub_((gradient.float() * output.float()).sum(-1, keepdim=True)).mul_(weights).mul_(scale)
    scores = d_scores.to(query.dtype)
    parts = torch.bmm(scores, key), torch.bmm(scores.transpose(1, 2), query), d_value
    for total, part in zip(totals, parts, strict=True):
        added = part.view(heads, *rows.shape, -1)[:, inside].float()
        total[0].index_add_(1, rows[inside], added)
