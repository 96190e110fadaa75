"""Keys and values of tokens that were read or written, for many sequences that are sampled side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.nn import functional

ALIGNED: Final = 16
"""Slots are read in multiples of this, as kernels for masks want them."""


@dataclass
class Cache:
    """Of each layer keys and values (sequences, heads, slots, width); sequence ``i`` has filled ``filled[i]`` slots.

    While a prompt is read, ``reading`` has the sequences that begin with it: so many copies, and the first of them.
    """

    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    filled: torch.Tensor
    most: int = 0
    reading: tuple[int, int] | None = None

    @classmethod
    def empty(cls, config: Any, sequences: int, slots: int, weight: torch.Tensor) -> Cache:
        """A cache of a model with the configuration ``config``, where ``weight`` is and in its precision."""
        shape = (sequences, config.num_key_value_heads, _aligned(slots), head_width(config))
        keys, values = ([weight.new_zeros(shape) for _ in range(config.num_hidden_layers)] for _ in range(2))
        return cls(keys, values, torch.zeros(sequences, dtype=torch.long, device=weight.device))

    @staticmethod
    def bytes_of_slot(config: Any, weight: torch.Tensor) -> int:
        """Bytes of a slot of one sequence in all layers."""
        numbers = 2 * config.num_hidden_layers * config.num_key_value_heads * head_width(config)
        return int(numbers * weight.element_size())

    @property
    def slots(self) -> int:
        """Tokens that fit into a sequence."""
        return int(self.keys[0].shape[2])

    def keep(self, kept: torch.Tensor) -> None:
        """Forget all sequences but those with the indexes ``kept``."""
        for tensors in (self.keys, self.values):
            for layer, tensor in enumerate(tensors):
                tensors[layer] = tensor[kept]
        self.filled = self.filled[kept]

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
    ) -> torch.Tensor:
        """The outputs (sequences, rows, heads, width) of queries of the shape (sequences, heads, rows, width)."""
        if self.reading is not None:
            return self._read(layer, query, key, value, scale)
        keys, values = self.keys[layer], self.values[layer]
        sequence = torch.arange(len(keys), device=keys.device)
        keys[sequence, :, self.filled] = key[:, :, 0]
        values[sequence, :, self.filled] = value[:, :, 0]
        top = _aligned(self.most + 1)
        visible = torch.arange(top, device=keys.device) <= self.filled[:, None]
        # The heads that share keys stand for rows: no copies of keys and values for each of them.
        grouped = query.reshape(len(query), keys.shape[1], -1, query.shape[-1])
        output = functional.scaled_dot_product_attention(
            grouped, keys[:, :, :top], values[:, :, :top], visible[:, None, None], scale=scale
        )
        return output.reshape(len(query), 1, query.shape[1], query.shape[-1])

    def _read(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
    ) -> torch.Tensor:
        """Prompts, filled up on the right: what is behind the end of one is overwritten or masked later."""
        assert self.reading is not None
        copies, first = self.reading
        rows, groups = slice(first, first + copies * len(key)), query.shape[1] // key.shape[1]
        for kept, new in ((self.keys, key), (self.values, value)):
            kept[layer][rows, :, : new.shape[2]] = new.repeat_interleave(copies, 0)
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        output = functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scale)
        return output.transpose(1, 2)


def head_width(config: Any) -> int:
    """Numbers of a query, a key or a value of one head."""
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def _aligned(slots: int) -> int:
    return -(-slots // ALIGNED) * ALIGNED
