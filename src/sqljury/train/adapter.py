"""LoRA (Hu et al., 2021, arXiv 2106.09685) on a frozen model, saved in the format of ``peft``.

Adapted matrices compute ``W x + alpha / rank * B A x``. ``A`` and ``B`` are in single precision; they are rounded to
the precision of ``W`` where they are multiplied.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional

from sqljury.errors import DatasetError, WeightsError
from sqljury.resources import write_whole
from sqljury.train.settings import ADAPTER_CONFIG, ADAPTER_WEIGHTS

PREFIX: Final = "base_model.model."
"""What ``peft`` puts before the name of a module."""


class LoraLinear(nn.Module):  # type: ignore[misc]  # of a library that need not be installed
    """A frozen linear layer and its low-rank update; ``update`` False leaves the layer as it was."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float, dropout: float) -> None:
        super().__init__()
        self.linear = linear
        self.scale = alpha / rank
        self.dropout = dropout
        self.update = True
        self.a = nn.Parameter(torch.empty(rank, linear.in_features, device=linear.weight.device))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank, device=linear.weight.device))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def factors(self, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """(A, scaled B) in ``dtype``."""
        return self.a.to(dtype), (self.b * self.scale).to(dtype)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor
        if not self.update:
            outputs = self.linear(inputs)
            return outputs
        down, up = self.factors(inputs.dtype)
        if not self.dropout:
            outputs = Updated.apply(inputs, self.linear.weight, self.linear.bias, down, up)
            return outputs
        outputs = self.linear(inputs)
        low = functional.linear(functional.dropout(inputs, self.dropout, self.training), down)
        flat = outputs.reshape(-1, outputs.shape[-1])
        return flat.addmm_(low.reshape(-1, low.shape[-1]), up.t()).view(outputs.shape)


class Updated(torch.autograd.Function):  # type: ignore[misc]
    """``W x + c + B A x`` with frozen ``W`` and ``c``; keeps ``x`` and ``A x``.

    As separate operations, autograd would copy the gradient of the sum that is made in place.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: torch.Tensor,
        weight: nn.Parameter,
        bias: nn.Parameter | None,
        a: torch.Tensor,
        b: torch.Tensor,
    ) -> torch.Tensor:
        outputs, low = updated(inputs, weight, bias, a, b)
        ctx.save_for_backward(inputs, weight, a, b, low)
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs, weight, a, b, low = ctx.saved_tensors
        flat = gradient.reshape(-1, gradient.shape[-1])
        d_low = flat @ b
        d_inputs = None
        if ctx.needs_input_grad[0]:
            d_inputs = (flat @ weight).addmm_(d_low, a).view(inputs.shape)
        d_a = d_low.t() @ inputs.reshape(-1, inputs.shape[-1])
        return d_inputs, None, None, d_a, flat.t() @ low


def updated(
    inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, a: torch.Tensor, b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """(``W x + c + B A x``, ``A x`` as a matrix with a row for each of ``x``)."""
    low = functional.linear(inputs, a).view(-1, a.shape[0])
    outputs = functional.linear(inputs, weight, bias)
    outputs.view(-1, outputs.shape[-1]).addmm_(low, b.t())
    return outputs, low


class Adapter:
    """The updates of all adapted layers of a model, by the names of the layers."""

    def __init__(self, layers: Mapping[str, LoraLinear]) -> None:
        self.layers = dict(layers)

    def parameters(self) -> list[nn.Parameter]:
        """All trainable parameters, in a fixed order."""
        return [matrix for layer in self.layers.values() for matrix in (layer.a, layer.b)]

    @contextlib.contextmanager
    def disabled(self) -> Iterator[None]:
        """Make the model compute what it did before it was adapted."""
        for layer in self.layers.values():
            layer.update = False
        try:
            yield
        finally:
            for layer in self.layers.values():
                layer.update = True

    def state(self) -> dict[str, torch.Tensor]:
        """Copies of all matrices, by the names that ``peft`` gives them."""
        halves = ((name, half, getattr(layer, half)) for name, layer in self.layers.items() for half in "ab")
        return {
            f"{PREFIX}{name}.lora_{half.upper()}.weight": matrix.detach().to("cpu", copy=True).contiguous()
            for name, half, matrix in halves
        }

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take the matrices of ``state``; raises ``KeyError`` or ``RuntimeError`` for those of another adapter."""
        with torch.no_grad():
            for name, layer in self.layers.items():
                layer.a.copy_(state[f"{PREFIX}{name}.lora_A.weight"])
                layer.b.copy_(state[f"{PREFIX}{name}.lora_B.weight"])

    def save(self, folder: Path) -> None:
        """Write the adapter as ``peft`` does; the matrices last, since they are what a reader needs."""
        from safetensors.torch import save

        first = next(iter(self.layers.values()))
        rank = first.a.shape[0]
        config = {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "r": rank,
            "lora_alpha": first.scale * rank,
            "lora_dropout": first.dropout,
            "target_modules": sorted({name.rpartition(".")[2] for name in self.layers}),
        }
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ADAPTER_CONFIG, json.dumps(config, indent=2) + "\n")
        write_whole(folder / ADAPTER_WEIGHTS, save(self.state(), metadata={"format": "pt"}))


def attach(model: Any, modules: tuple[str, ...], rank: int, alpha: float, dropout: float = 0.0) -> Adapter:
    """Freeze ``model`` and adapt its linear layers with these last names; raises ``WeightsError`` without any.

    Updates start at zero; ``A`` is drawn from torch's generator.
    """
    model.requires_grad_(False)
    layers = {}
    for name, module in list(model.named_modules()):
        parent, _, last = name.rpartition(".")
        if last in modules and isinstance(module, nn.Linear):
            layers[name] = LoraLinear(module, rank, alpha, dropout)
            setattr(model.get_submodule(parent), last, layers[name])
    if not layers:
        raise WeightsError(f"the model has no matrices {', '.join(modules)} to adapt; train a Llama or Qwen model")
    return Adapter(layers)


def load(model: Any, folder: Path) -> Adapter:
    """Adapt ``model`` with the adapter in ``folder``; raises ``DatasetError`` for one of another model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / ADAPTER_CONFIG).read_bytes())
        state = load_file(folder / ADAPTER_WEIGHTS)
        adapter = attach(model, tuple(config["target_modules"]), int(config["r"]), float(config["lora_alpha"]))
        adapter.restore(state)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise DatasetError(f"{folder} does not hold an adapter of this model: {error}") from None
    return adapter
