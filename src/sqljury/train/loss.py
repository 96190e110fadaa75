"""The loss on learned tokens alone, in chunks: no logits of prompts, and never those of all answers at once."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch.nn import functional

CHUNK_BYTES: Final = 64 * 2**20
"""Logits of one chunk in single precision."""


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
    rows = max(1, CHUNK_BYTES // (4 * head.weight.shape[0]))
    total = divergence = 0.0
    right, gradients = [], []
    with torch.no_grad():
        for start in range(0, len(hidden), rows):
            chunk = slice(start, start + rows)
            labels, weights = targets.labels[chunk, None], targets.weights[chunk, None]
            logprobs = functional.linear(hidden[chunk], head.weight, head.bias).float().log_softmax(-1)
            right.append(logprobs.argmax(-1) == labels[:, 0])
            total -= float((logprobs.gather(-1, labels) * weights).sum())
            slope = logprobs.exp()
            base = None
            if base_hidden is not None:
                base = functional.linear(base_hidden[chunk], head.weight, head.bias).float().log_softmax(-1)
                divergence += float(
                    (functional.kl_div(logprobs, base, reduction="none", log_target=True) * weights).sum()
                )
            if gradient:
                # Of cross-entropy, softmax minus the label; of the divergence, softmax minus the base's.
                slope *= 1 + pull if base is not None else 1
                slope.scatter_add_(-1, labels, -torch.ones_like(labels, dtype=slope.dtype))
                if base is not None:
                    slope.sub_(base.exp_(), alpha=pull)
                gradients.append((slope * weights).to(hidden.dtype) @ head.weight)
    return HeadLoss(total, divergence, torch.cat(right), torch.cat(gradients) if gradient else None)
