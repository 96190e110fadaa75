"""Layers that keep less for the backward pass, with the same outputs.

Frozen weights need no inputs for gradients of their own, so the backward pass needs little beyond what it cannot
recompute cheaply. ``transformers`` keeps normalised inputs in single precision and four matrices of an MLP; here it
is the input of a norm, and gate and up projections.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional

from sqljury.train.adapter import LoraLinear, updated

NORMS: Final = ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm")
"""Classes of ``transformers`` that compute ``weight * x / rms(x)``; others multiply with ``1 + weight``."""


def economise(model: Any) -> None:
    """Replace the norms and gated MLPs of ``model`` where they are known; others stay as they are."""
    for module in model.modules():
        if type(module).__name__ in NORMS:
            module.forward = partial(_norm, module)
        elif is_gated(module):
            module.forward = partial(_gated, module)


def is_gated(module: Any) -> bool:
    """Whether a module is an MLP ``down(silu(gate(x)) * up(x))``."""
    names = ("gate_proj", "up_proj", "down_proj", "act_fn")
    silu = type(getattr(module, "act_fn", None)).__name__ in ("SiLU", "SiLUActivation")
    return silu and all(hasattr(module, name) for name in names)


def _norm(module: Any, inputs: torch.Tensor) -> torch.Tensor:
    output: torch.Tensor = RootMeanSquareNorm.apply(inputs, module.weight, module.variance_epsilon)
    return output


def _gated(module: Any, inputs: torch.Tensor) -> torch.Tensor:
    gate, up, down = module.gate_proj(inputs), module.up_proj(inputs), module.down_proj
    output: torch.Tensor
    if isinstance(down, LoraLinear) and down.update and not down.dropout and down.linear.bias is None:
        output = GatedDown.apply(gate, up, down.linear.weight, *down.factors(gate.dtype))
    else:
        output = down(Gated.apply(gate, up))
    return output


class RootMeanSquareNorm(torch.autograd.Function):  # type: ignore[misc]
    """``weight * x / rms(x)`` with a frozen weight; keeps the input and one number a row."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: nn.Parameter, epsilon: float) -> torch.Tensor:
        single = inputs.float()
        inverse = torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + epsilon)
        ctx.save_for_backward(inputs, weight, inverse)
        return weight * (single * inverse).to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs, weight, inverse = ctx.saved_tensors
        normed = inputs.float() * inverse
        weighted = (gradient * weight).float()
        weighted -= normed * (weighted * normed).mean(-1, keepdim=True)
        return (weighted * inverse).to(inputs.dtype), None, None


class Gated(torch.autograd.Function):  # type: ignore[misc]
    """``silu(gate) * up``; keeps gate and up only."""

    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(gate, up)
        return functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gate, up = ctx.saved_tensors
        return _gated_gradients(gradient, gate, up, functional.silu(gate))


class GatedDown(torch.autograd.Function):  # type: ignore[misc]
    """``W h + B A h`` with ``h = silu(gate) * up``, which the backward pass computes again; ``W`` is frozen."""

    @staticmethod
    def forward(
        ctx: Any, gate: torch.Tensor, up: torch.Tensor, weight: nn.Parameter, a: torch.Tensor, b: torch.Tensor
    ) -> torch.Tensor:
        hidden = functional.silu(gate).mul_(up)
        output, low = updated(hidden, weight, None, a, b)
        ctx.save_for_backward(gate, up, weight, a, b, low)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gate, up, weight, a, b, low = ctx.saved_tensors
        flat = gradient.reshape(-1, gradient.shape[-1])
        d_low = flat @ b
        d_hidden = (flat @ weight).addmm_(d_low, a).view(gate.shape)
        activated = functional.silu(gate)
        d_gate, d_up = _gated_gradients(d_hidden, gate, up, activated)
        d_a = d_low.t() @ activated.mul_(up).reshape(-1, gate.shape[-1])
        return d_gate, d_up, None, d_a, flat.t() @ low


def _gated_gradients(
    gradient: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activated: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients by gate and up of ``activated * up``, where ``activated`` is ``silu(gate)``."""
    return torch.ops.aten.silu_backward(gradient * up, gate), activated * gradient
