"""The weights that an adapter is trained on: a Hugging Face folder, or the GGUF file that the adapter will serve.

A GGUF file is read into the same classes as a folder, its tokenizer and chat template included, and its quantised
weights are expanded. So an adapter is trained on just the numbers it will be added to.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqljury.errors import MissingExtraError, WeightsError
from sqljury.llm import models

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CONFIG = "config.json"
LIBRARIES = ("torch", "transformers", "peft", "trl", "datasets", "gguf")


class Base(NamedTuple):
    """Weights with the tokenizer that belongs to them, both in the classes of ``transformers``."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def require() -> None:
    """Raise ``MissingExtraError`` for the first library of the extra ``train`` that is not installed."""
    from importlib.util import find_spec

    for library in LIBRARIES:
        if find_spec(library) is None:
            raise MissingExtraError(library, "train")


def resolve(name: str) -> Path:
    """The folder or the GGUF file of ``name``: a catalogue name or a path; raises ``WeightsError``."""
    folder = models.expand(name)
    if name in models.CATALOGUE or not os.path.isdir(folder):
        return models.resolve(name)
    if not (folder / CONFIG).is_file():
        raise WeightsError(f"{folder} holds no weights (it has no {CONFIG}); give a Hugging Face folder or a GGUF file")
    return folder


def load(name: str, *, half: bool = False, four_bits: bool = False) -> Base:
    """The weights of ``name`` in single precision, in bfloat16 (``half``), or in 4 bits as QLoRA has them.

    4 bits take a folder, a CUDA device and ``bitsandbytes``. Raises ``WeightsError`` for weights that cannot be read,
    ``MissingExtraError`` for a library that is not installed.
    """
    require()
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig
    from transformers.utils import logging

    place = resolve(name)
    where, file = _place(place)
    wanted: dict[str, Any] = {"dtype": torch.bfloat16 if half else torch.float32, "local_files_only": True, **file}
    if four_bits:
        wanted["quantization_config"] = _four_bits(place)
    elif file:
        wanted["quantization_config"] = GgufConfig(dequantize=True)
    logging.disable_progress_bar()
    read = tokenizer(name)
    with _reading(place), contextlib.redirect_stderr(io.StringIO()):  # a bar of progress that cannot be turned off
        model = AutoModelForCausalLM.from_pretrained(where, **wanted)
    return Base(model, read)


def tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer of ``name`` without the weights; raises as ``load``."""
    require()
    from transformers import AutoTokenizer

    place = resolve(name)
    where, file = _place(place)
    with _reading(place):
        found = AutoTokenizer.from_pretrained(where, local_files_only=True, **file)
    if not found.chat_template:
        raise WeightsError(f"{place} has no chat template; take the weights of a model that was tuned to instructions")
    return found


def _place(place: Path) -> tuple[str, dict[str, str]]:
    """How ``transformers`` is told of a folder or a GGUF file."""
    return (str(place), {}) if place.is_dir() else (str(place.parent), {"gguf_file": place.name})


@contextlib.contextmanager
def _reading(place: Path) -> Iterator[None]:
    """What ``transformers`` cannot read is a ``WeightsError``."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, NotImplementedError) as error:
        line = " ".join(str(error).split())[:300]
        raise WeightsError(f"{place} cannot be trained on: {line}") from error


def digest(name: str) -> str:
    """The SHA-256 of the weights in hex; for a folder, of its files' names and contents."""
    place = resolve(name)
    files = [place] if place.is_file() else sorted(file for file in place.iterdir() if file.is_file())
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            part = hashlib.file_digest(stream, "sha256").hexdigest()
        if len(files) == 1:
            return part
        whole.update(f"{file.name}\0{part}\n".encode())
    return whole.hexdigest()


def _four_bits(place: Path) -> Any:
    """The settings of QLoRA (Dettmers et al., 2023): 4-bit NormalFloat, double quantisation, bfloat16 products."""
    from importlib.util import find_spec

    import torch
    from transformers import BitsAndBytesConfig

    if place.is_file():
        raise WeightsError(
            f"4 bits are made from a Hugging Face folder, and {place.name} is a GGUF file; "
            "give the folder with --base, or train without --four-bits"
        )
    if not torch.cuda.is_available():
        raise WeightsError("4 bits need a CUDA device, and none is here; train without --four-bits")
    if find_spec("bitsandbytes") is None:
        raise WeightsError("4 bits need bitsandbytes; run: pip install bitsandbytes")
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
