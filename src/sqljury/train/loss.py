"""The loss on learned tokens alone, in chunks: no logits of prompts, and never those of all answers at once."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch.nn import functional

CHUNK_BYTES: Final = 128 * 2**20
"""Logits of one chunk, in the precision of the model; each chunk reads the whole output matrix."""
SLICE_BYTES: Final = 2 * 2**20
"""Logits in single precision that are turned to slopes at a time: they stay in the processor's cache meanwhile."""
ON_GPU: Final = 32
"""Times as much on a GPU, which has no such cache and takes time for each call."""


class HeadLoss(NamedTuple):
    """Sums over rows, weighted: negative log-likelihood in nats, and divergence from the base model where asked for.

    ``right`` has True for each row whose likeliest token is its label. ``gradient`` (rows, width) is that of the whole
    loss by the hidden states, None where it was not asked for.
    """

    loss: float
    divergence: float
    right: torch.Tensor
    gradient: torch.Tensor | None


class Targets(NamedTuple):
    """What rows of hidden states are to predict: label and weight of each."""

    labels: torch.Tensor
    weights: torch.Tensor


def head_loss(
    head: Any,
    hidden: torch.Tensor,
    targets: Targets,
    base_hidden: torch.Tensor | None = None,
    pull: float = 0.0,
    gradient: bool = True,
) -> HeadLoss:
    """Cross-entropy of ``hidden`` (rows, width) through the frozen output matrix ``head``.

    With ``base_hidden``, the states of the base model, ``pull`` times KL(base || model) is added.
    """
    vocabulary, size = head.weight.shape[0], hidden.element_size()
    chunks = _slices(len(hidden), CHUNK_BYTES // (size * vocabulary))
    per_row, gradients = [], []
    with torch.no_grad():
        for chunk in chunks:
            logits = functional.linear(hidden[chunk], head.weight, head.bias)
            base = None
            if base_hidden is not None:
                base = functional.linear(base_hidden[chunk], head.weight, head.bias)
            few = (ON_GPU if logits.is_cuda else 1) * SLICE_BYTES // (4 * vocabulary)
            for rows in _slices(len(logits), few):
                labels = targets.labels[chunk][rows, None]
                per_row.append(_to_slopes(logits[rows], labels, base[rows] if base is not None else None, pull))
            if gradient:
                # The weights go to the products, which are a hundred times smaller than the logits.
                gradients.append(((logits @ head.weight) * targets.weights[chunk, None]).to(hidden.dtype))
    logprobs, divergences, right = (torch.cat(column) for column in zip(*per_row, strict=True))
    return HeadLoss(
        -float((logprobs * targets.weights).sum()),
        float((divergences * targets.weights).sum()),
        right,
        torch.cat(gradients) if gradient else None,
    )


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, start + max(1, step)) for start in range(0, length, max(1, step))]


def _to_slopes(
    logits: torch.Tensor, labels: torch.Tensor, base: torch.Tensor | None, pull: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Write the loss's slope by each logit over ``logits`` (rows, vocabulary).

    Returns of each row the label's log-probability, the divergence from the base model, and whether the label is the
    likeliest token.
    """
    logprobs = logits.float().log_softmax(-1)
    right = logprobs.argmax(-1) == labels[:, 0]
    label_logprobs = logprobs.gather(-1, labels)[:, 0]
    divergence = torch.zeros_like(label_logprobs)
    # Of cross-entropy the slope is softmax minus the label; of the divergence, softmax minus the base's.
    if base is None:
        slope = logprobs.exp_()
    else:
        of_base = base.float().log_softmax(-1)
        divergence = functional.kl_div(logprobs, of_base, reduction="none", log_target=True).sum(-1)
        slope = logprobs.exp_().mul_(1 + pull).sub_(of_base.exp_(), alpha=pull)
    slope.scatter_add_(-1, labels, -torch.ones_like(labels, dtype=slope.dtype))
    logits.copy_(slope)
    return label_logprobs, divergence, right
