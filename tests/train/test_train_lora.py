"""What an evaluation counts, and on how many devices a training runs; on a model of a few random numbers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqljury.train import lora
from sqljury.train.examples import Encoded
from sqljury.train.gguf_base import Base

if TYPE_CHECKING:
    from transformers import PreTrainedModel

WORDS = 40
SETTINGS = lora.Settings(
    "generator", "random", lora_r=2, lora_dropout=0.0, batch_size=2, gradient_accumulation_steps=1, max_length=64
)


@pytest.fixture
def base() -> Base:
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    sizes = {"vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 128}
    heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(**sizes, **heads, initializer_range=0.5, pad_token_id=0, eos_token_id=1))
    words = Tokenizer(WordLevel({f"w{number}": number for number in range(WORDS)}, unk_token="w2"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w1", unk_token="w2")
    return Base(model, tokenizer)


def answered(model: PreTrainedModel, prompt: list[int]) -> Encoded:
    """A prompt with what the model would greedily write next."""
    import torch

    ids = list(prompt)
    with torch.no_grad():
        for _ in range(3):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return Encoded(ids, [0] * len(prompt) + [1] * 3)


@pytest.mark.train
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_an_evaluation_counts_answers_however_they_are_laid_out(
    base: Base, tmp_path: Path, packed: bool, wrong: int
) -> None:
    from dataclasses import replace

    base.model.eval()
    drawn = random.Random(5)
    known = [answered(base.model, [drawn.randrange(3, WORDS) for _ in range(length)]) for length in (9, 4, 7, 5, 6)]
    for number in range(wrong):
        known[number].ids[-2] = (known[number].ids[-2] + 1) % WORDS
    trainer = lora._trainer(base, known, known, tmp_path, replace(SETTINGS, packing=packed), print)
    assert trainer.evaluate()["eval_right_answers"] == pytest.approx(1 - wrong / 5)


@pytest.mark.train
def test_a_training_takes_one_device_of_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    arguments = lora._arguments(tmp_path, SETTINGS, 10, evaluated=False)
    assert arguments.device.type == "cuda"
    assert (arguments.n_gpu, arguments.train_batch_size) == (1, SETTINGS.batch_size)
