"""Losses and gradients of trees are those of separate sequences; on models of a few random numbers."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from sqljury.train.examples import Encoded
from sqljury.train.tree import Forest

pytestmark = pytest.mark.train

WORDS = 40
SIZES = {"vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 256}
HEADS = {"num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.5}


def tiny(kind: str) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES, **HEADS, pad_token_id=0, eos_token_id=1)
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def examples() -> list[Encoded]:
    draw = random.Random(5)

    def text(length: int) -> list[int]:
        return [draw.randrange(3, WORDS) for _ in range(length)]

    system = text(20)
    known = []
    for _ in range(2):
        schema = system + text(30)
        for _ in range(3):
            question = schema + text(20)
            for length in (1, 6, 17):
                prompt, answer = question + text(length % 4), text(length)
                known.append(Encoded(prompt + answer, [0] * len(prompt) + [1] * len(answer)))
    return [*known, known[4]]


def separately(model: Any, known: list[Encoded], temperature: float = 1.0) -> Any:
    """The summed loss of examples, a sequence each, by the model of ``transformers`` as it is."""
    import torch
    from torch.nn.functional import cross_entropy

    losses = []
    for ids, mask, _ in known:
        logits = model(torch.tensor([ids])).logits[0, :-1] / temperature
        learned = torch.tensor(mask[1:], dtype=torch.bool)
        losses.append(cross_entropy(logits[learned], torch.tensor(ids[1:])[learned], reduction="sum"))
    return torch.stack(losses).sum()


def with_updates(model: Any, dropout: float = 0.0, modules: str = "all-linear") -> Any:
    """Adapters of random numbers, so that the updates matter."""
    import torch

    from sqljury.train.adapter import attach
    from sqljury.train.settings import MODULES

    torch.manual_seed(1)
    adapter = attach(model, MODULES[modules], 4, 8, dropout)
    for matrix in adapter.parameters():
        torch.nn.init.normal_(matrix, std=0.1)
    return adapter


@pytest.mark.parametrize(
    ("kind", "checkpointed", "modules", "temperature"),
    [
        ("Qwen2", 0, "all-linear", 1.0),
        ("Qwen2", 2, "attention", 0.5),
        ("Llama", 0, "all-linear", 1.0),
        ("Qwen3", 3, "all-linear", 1.5),
    ],
)
def test_losses_and_gradients_are_those_of_separate_sequences(
    kind: str, checkpointed: int, modules: str, temperature: float
) -> None:
    import torch

    from sqljury.train.tree_model import TreeModel

    plain = tiny(kind)
    ours = copy.deepcopy(plain)
    adapter, expected_adapter = with_updates(ours, modules=modules), with_updates(plain, modules=modules)
    known = examples()
    trees = Forest(known, 12, 0).sequences(250)
    assert len(trees) > 1
    assert sum(map(len, trees)) < sum(len(one.ids) for one in known) / 2

    tokens = sum(sum(one.mask) for one in known)
    expected = separately(plain, known, temperature) / tokens
    expected.backward()
    model = TreeModel(ours, adapter, checkpointed, temperature)
    loss = sum(model.learn(tree, 1 / tokens).loss for tree in trees)
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert loss * tokens == pytest.approx(sum(model.measure(tree).loss for tree in trees), rel=1e-5)
    for one, other in zip(adapter.parameters(), expected_adapter.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-5, rtol=1e-4)
    assert all(parameter.grad is None for parameter in ours.model.embed_tokens.parameters())


def test_the_pull_is_the_divergence_from_the_base_model() -> None:
    import torch
    from torch.nn.functional import kl_div

    from sqljury.train.tree_model import TreeModel

    plain = tiny("Qwen2")
    adapted, ours = copy.deepcopy(plain), copy.deepcopy(plain)
    expected_adapter, adapter = with_updates(adapted), with_updates(ours)
    known = examples()[:4]
    expected = separately(adapted, known)
    divergence = torch.zeros(())
    for ids, mask, _ in known:
        learned = torch.tensor(mask[1:], dtype=torch.bool)
        base, now = (one(torch.tensor([ids])).logits[0, :-1][learned].log_softmax(-1) for one in (plain, adapted))
        divergence = divergence + kl_div(now, base.detach(), reduction="sum", log_target=True)
    (expected + 0.7 * divergence).backward()

    model = TreeModel(ours, adapter)
    results = [model.learn(tree, 1.0, pull=0.7) for tree in Forest(known, 4, 0).sequences(500)]
    assert sum(one.divergence for one in results) == pytest.approx(divergence.item(), rel=1e-4)
    assert sum(one.loss for one in results) == pytest.approx(expected.item(), rel=1e-4)
    for one, other in zip(adapter.parameters(), expected_adapter.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_an_answer_is_right_where_all_its_tokens_are(wrong: int) -> None:
    import torch

    from sqljury.train.adapter import attach
    from sqljury.train.tree_model import TreeModel

    plain = tiny("Llama")
    draw = random.Random(5)
    known = []
    for length in (39, 24, 37, 45, 26):
        prompt = [draw.randrange(3, WORDS) for _ in range(length)]
        ids = list(prompt)
        with torch.no_grad():
            for _ in range(3):
                ids.append(int(plain(torch.tensor([ids])).logits[0, -1].argmax()))
        known.append(Encoded(ids, [0] * len(prompt) + [1] * 3))
    for index in range(wrong):
        known[index].ids[-2] = (known[index].ids[-2] + 1) % WORDS
    trees = Forest(known, 10, 0).sequences(200)
    model = TreeModel(plain, attach(plain, ("q_proj",), 2, 4))
    right = []
    for tree in trees:
        tokens = model.measure(tree).right
        right += [all(tokens[index] for index in answer) for answer in tree.answers]
    assert right.count(False) == wrong


def test_an_adapter_is_saved_as_peft_reads_it_and_loaded_again(tmp_path: Path) -> None:
    import json

    import torch

    from sqljury.errors import DatasetError
    from sqljury.train.adapter import load

    adapted = tiny("Qwen2")
    adapter = with_updates(adapted)
    ids = torch.tensor([examples()[0].ids])
    with torch.no_grad():
        changed = adapted(ids).logits
        with adapter.disabled():
            base = adapted(ids).logits
        assert not torch.allclose(changed, base, atol=1e-2)
        torch.testing.assert_close(base, tiny("Qwen2")(ids).logits)
        adapter.save(tmp_path)
        again = tiny("Qwen2")
        load(again, tmp_path)
        torch.testing.assert_close(again(ids).logits, changed)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    assert (config["peft_type"], config["r"], config["lora_alpha"]) == ("LORA", 4, 8.0)
    peft = pytest.importorskip("peft")
    theirs = peft.PeftModel.from_pretrained(tiny("Qwen2"), str(tmp_path))
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, changed)
    with pytest.raises(DatasetError, match="does not hold an adapter of this model"):
        load(tiny("Llama").model.layers[0], tmp_path)
