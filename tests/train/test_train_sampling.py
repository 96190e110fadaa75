"""Answers that are sampled with a cache are those of the whole sequences; on models of a few random numbers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sqljury.train.tree_model import TreeModel

pytestmark = pytest.mark.train

WORDS = 40
END = 1
SIZES = {"vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 256}
HEADS = {"num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.5}
TOKENS = 12
PLENTY = 1e9


def tiny(kind: str) -> tuple[TreeModel, Any]:
    """A model that is sampled from, and the same with the same adapter, as ``transformers`` computes it."""
    import torch
    import transformers

    from sqljury.train.adapter import attach
    from sqljury.train.settings import MODULES
    from sqljury.train.tree_model import TreeModel

    models = []
    for _ in range(2):
        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(**SIZES, **HEADS, pad_token_id=0, eos_token_id=END)
        model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
        adapter = attach(model, MODULES["all-linear"], 4, 8)
        torch.manual_seed(1)
        for matrix in adapter.parameters():
            torch.nn.init.normal_(matrix, std=0.1)
        models.append((model, adapter))
    return TreeModel(*models[0]), models[1][0]


def sampled(
    model: TreeModel, asked: list[list[int]], end: int = END, *, free: float = PLENTY, seed: int = 0, **options: Any
) -> list[list[list[int]]]:
    """Answers; without ``options`` one to each prompt, of the likeliest tokens."""
    from sqljury.train.sampling import sample
    from sqljury.train.settings import SamplingOptions

    given = SamplingOptions(**{"samples": 1, "temperature": 0.0, "tokens": TOKENS, **options})
    return sample(model, asked, given, end, free, seed)


def prompts(lengths: tuple[int, ...] = (30, 7, 19, 30, 1, 16, 33, 12)) -> list[list[int]]:
    draw = random.Random(3)
    return [[draw.randrange(3, WORDS) for _ in range(length)] for length in lengths]


def decoded(plain: Any, prompt: list[int], end: int, tokens: int) -> list[int]:
    """The likeliest token each time, by a forward pass over the whole sequence."""
    import torch

    ids = list(prompt)
    while len(ids) < len(prompt) + tokens and (len(ids) == len(prompt) or ids[-1] != end):
        with torch.no_grad():
            ids.append(int(plain(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt) :]


@pytest.mark.parametrize("kind", ["Qwen2", "Llama", "Qwen3"])
def test_the_likeliest_answers_are_those_of_whole_sequences(kind: str) -> None:
    """Whichever sequences end first, and whatever else is in the cache."""
    from sqljury.train.cache import Cache

    model, plain = tiny(kind)
    asked = prompts()
    whole = [decoded(plain, prompt, -1, TOKENS) for prompt in asked]
    # The token that most answers have somewhere: taken as the end, they stop at different places.
    end = max(range(WORDS), key=lambda token: len({answer.index(token) for answer in whole if token in answer}))
    expected = [decoded(plain, prompt, end, TOKENS) for prompt in asked]
    assert len({len(answer) for answer in expected}) > 2
    slot = Cache.bytes_of_slot(model.model.config, model.model.lm_head.weight)
    for free in (PLENTY, 100 * slot, 0.0):
        assert sampled(model, asked, end, free=free) == [[answer] for answer in expected]
    assert sampled(model, asked, end, free=300 * slot, samples=3) == [[answer] * 3 for answer in expected]


def test_prompts_that_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqljury.train import sampling

    model, plain = tiny("Qwen2")
    monkeypatch.setattr(sampling, "READ_TOKENS_CPU", 40)
    expected = [[decoded(plain, prompt, END, TOKENS)] for prompt in prompts()]
    assert sampled(model, prompts()) == expected


@pytest.mark.parametrize("temperature", [0.7, 1.5])
def test_tokens_are_drawn_by_their_probabilities(temperature: float) -> None:
    import torch

    model, plain = tiny("Llama")
    [prompt] = prompts((9,))
    with torch.no_grad():
        expected = torch.softmax(plain(torch.tensor([prompt])).logits[0, -1] / temperature, -1)
    [answers] = sampled(model, [prompt], samples=8000, temperature=temperature, tokens=1)
    assert {len(answer) for answer in answers} == {1}
    found = torch.bincount(torch.tensor(answers)[:, 0], minlength=WORDS) / len(answers)
    assert expected.max() < 0.99, "else there is little to draw"
    # Five times the standard error of each frequency.
    assert ((found - expected).abs() <= 5 * (expected * (1 - expected) / len(answers)).sqrt() + 1e-3).all()


def test_later_tokens_are_drawn_after_those_before() -> None:
    """The second token's probabilities are those behind the first, in each sequence of its own."""
    import torch

    model, plain = tiny("Qwen2")
    [prompt] = prompts((9,))
    [answers] = sampled(model, [prompt], samples=4000, temperature=2.0, tokens=2)
    firsts = [answer[0] for answer in answers if answer[0] != END]
    first = max(set(firsts), key=firsts.count)
    seconds = torch.tensor([answer[1] for answer in answers if answer[0] == first])
    assert len(seconds) > 200
    with torch.no_grad():
        expected = torch.softmax(plain(torch.tensor([[*prompt, first]])).logits[0, -1] / 2.0, -1)
    found = torch.bincount(seconds, minlength=WORDS) / len(seconds)
    assert ((found - expected).abs() <= 5 * (expected * (1 - expected) / len(seconds)).sqrt() + 5e-3).all()


def test_the_seed_repeats_answers() -> None:
    import torch

    model, _ = tiny("Qwen2")
    options = {"samples": 4, "temperature": 1.0, "tokens": 6}
    one = sampled(model, prompts(), seed=7, **options)
    torch.manual_seed(123)
    assert one == sampled(model, prompts(), seed=7, **options) != sampled(model, prompts(), seed=8, **options)
    assert all(len(answers) == 4 for answers in one)
    for answer in (answer for answers in one for answer in answers):
        assert 1 <= len(answer) <= 6
        assert END not in answer[:-1]
    assert any(len({tuple(answer) for answer in answers}) > 1 for answers in one)
    assert sampled(model, []) == []


def test_a_model_that_sees_few_tokens_back_is_refused() -> None:
    import torch
    import transformers

    from sqljury.errors import WeightsError
    from sqljury.train.adapter import attach
    from sqljury.train.tree_model import TreeModel

    torch.manual_seed(0)
    sliding = transformers.MistralConfig(**SIZES, **HEADS, sliding_window=20)
    model = transformers.MistralForCausalLM(sliding)
    adapted = TreeModel(model, attach(model, ("q_proj",), 2, 4))
    weights = [layer.linear.weight.clone() for layer in adapted.adapter.layers.values()]
    with pytest.raises(WeightsError, match="the last 20 tokens only"):
        sampled(adapted, prompts((30,)))
    for layer, weight in zip(adapted.adapter.layers.values(), weights, strict=True):
        assert (layer.linear.weight == weight).all()
        assert layer.update
