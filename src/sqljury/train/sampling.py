"""Answers that an adapted model writes to many prompts at once, sampled from the weights that are being trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch

from sqljury.train.cache import Cache
from sqljury.train.settings import SamplingOptions
from sqljury.train.tree_model import TreeModel

READ_TOKENS: Final = 32_768
"""Tokens of prompts that are read at a time on a GPU."""
READ_TOKENS_CPU: Final = 2048
FEWER: Final = 0.7
"""Sequences that have ended leave the cache once no more than this share of it goes on."""

Answer = list[int]
"""Tokens, with the one that ends an answer if it was written."""


def sample(
    model: TreeModel, prompts: Sequence[Sequence[int]], options: SamplingOptions, end: int, free: float, seed: int
) -> list[list[Answer]]:
    """The answers to each prompt, which stop behind the token ``end``; the cache takes at most ``free`` bytes."""
    generator = torch.Generator(device=model.device).manual_seed(seed)
    answers: dict[int, list[Answer]] = {}
    model.model.eval()
    with torch.no_grad():
        for chunk in _chunks(model, prompts, options, free):
            written = _Chunk(model, [prompts[index] for index in chunk], options, end, generator).written()
            for position, index in enumerate(chunk):
                answers[index] = written[position * options.samples : (position + 1) * options.samples]
    model.model.train()
    return [answers[index] for index in range(len(prompts))]


def _chunks(
    model: TreeModel, prompts: Sequence[Sequence[int]], options: SamplingOptions, free: float
) -> Iterator[list[int]]:
    """Indexes of prompts of like lengths, whose sequences fit into the cache together; at least one prompt each."""
    weight = model.model.get_output_embeddings().weight
    slot = Cache.bytes_of_slot(model.model.config, weight) * options.samples
    chunk: list[int] = []
    for index in sorted(range(len(prompts)), key=lambda index: -len(prompts[index])):
        longest = len(prompts[chunk[0] if chunk else index]) + options.tokens
        if chunk and (len(chunk) + 1) * longest * slot > free:
            yield chunk
            chunk = []
        chunk.append(index)
    if chunk:
        yield chunk


class _Chunk:
    """Prompts, the longest first, whose answers are written side by side."""

    def __init__(
        self,
        model: TreeModel,
        prompts: Sequence[Sequence[int]],
        options: SamplingOptions,
        end: int,
        generator: torch.Generator,
    ) -> None:
        self._decoder, self._head = model.model.get_decoder(), model.model.get_output_embeddings()
        self._device, self._prompts, self._options = model.device, prompts, options
        self._end, self._generator = end, generator
        weight, sequences = self._head.weight, len(prompts) * options.samples
        self._cache = Cache.empty(model.model.config, sequences, len(prompts[0]) + options.tokens, weight)

    def written(self) -> list[Answer]:
        """The answers of all sequences, those to one prompt side by side."""
        tokens = self._drawn(self._read_prompts())
        columns: list[tuple[torch.Tensor, torch.Tensor]] = []  # (sequences that went on, their tokens) of each step
        active = torch.arange(len(tokens), device=self._device)
        for step in range(self._options.tokens):
            columns.append((active, tokens))
            going = tokens != self._end
            count = int(going.sum())
            if step + 1 == self._options.tokens or not count:
                break
            if count <= FEWER * len(going):
                kept = going.nonzero()[:, 0]
                self._cache.keep(kept)
                active, tokens = active[kept], tokens[kept]
                going = going[kept]
            tokens = torch.where(going, self._drawn(self._next(tokens)), self._end)
        return self._answers(columns)

    def _answers(self, columns: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> list[Answer]:
        answers: list[Answer] = [[] for _ in range(len(self._prompts) * self._options.samples)]
        for active, tokens in columns:
            for sequence, token in zip(active.tolist(), tokens.tolist(), strict=True):
                answer = answers[sequence]
                if not answer or answer[-1] != self._end:
                    answer.append(token)
        return answers

    def _read_prompts(self) -> torch.Tensor:
        """Fill the cache with the prompts; returns the state that predicts the first token of each sequence."""
        copies, states = self._options.samples, []
        most = READ_TOKENS if self._device.type == "cuda" else READ_TOKENS_CPU
        start = 0
        while start < len(self._prompts):
            longest = len(self._prompts[start])
            part = self._prompts[start : start + max(1, most // longest)]
            ids = torch.tensor([[*prompt, *[0] * (longest - len(prompt))] for prompt in part], device=self._device)
            positions = torch.arange(longest, device=self._device).expand(len(part), -1)
            self._cache.reading = (copies, start * copies)
            hidden = self._forward(ids, positions)
            lengths = torch.tensor([len(prompt) for prompt in part], device=self._device)
            states.append(hidden[torch.arange(len(part), device=self._device), lengths - 1])
            rows = slice(start * copies, (start + len(part)) * copies)
            self._cache.filled[rows] = lengths.repeat_interleave(copies)
            start += len(part)
        self._cache.reading, self._cache.most = None, len(self._prompts[0])
        return torch.cat(states).repeat_interleave(copies, 0)

    def _next(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read a token of each sequence; returns the states that predict the next."""
        hidden = self._forward(tokens[:, None], self._cache.filled[:, None])
        self._cache.filled += 1
        self._cache.most += 1
        return hidden[:, 0]

    def _forward(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        output: Any = self._decoder(input_ids=ids, position_ids=positions, use_cache=False, kv=self._cache)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    def _drawn(self, states: torch.Tensor) -> torch.Tensor:
        """A token of each sequence."""
        logits = self._head(states).float()
        if not self._options.temperature:
            return logits.argmax(-1)
        odds = torch.softmax(logits / self._options.temperature, -1)
        # The largest of probability / exponential noise is a draw by the probabilities.
        noise = torch.empty_like(odds).exponential_(generator=self._generator)
        return odds.div_(noise).argmax(-1)
