"""The base model of an adapter: a Hugging Face folder, or the GGUF file that the adapter will be used with.

A GGUF file is read into the same classes as a folder, its tokenizer and chat template included, and its quantised
weights are dequantised, so an adapter is trained on exactly the numbers that it will be added to.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqljury.errors import MissingExtraError, WeightsError
from sqljury.llm import models
from sqljury.resources import sha256_of

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

CONFIG = "config.json"
LIBRARIES = ("torch", "transformers", "accelerate", "safetensors", "gguf")


class Base(NamedTuple):
    """A model and its tokenizer, in the classes of ``transformers``."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def require_libraries() -> None:
    """Raise ``MissingExtraError`` for a library of the extra ``train`` that is not installed."""
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
        raise WeightsError(
            f"{folder} does not hold weights (it has no {CONFIG}); give a Hugging Face folder or a GGUF file"
        )
    return folder


def load(name: str, *, half: bool = False) -> Base:
    """The weights of ``name`` in single precision, or in bfloat16 (``half``).

    Raises ``WeightsError`` for weights that cannot be read, ``MissingExtraError`` for a library that is not installed.
    """
    require_libraries()
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig
    from transformers.utils import logging

    path = resolve(name)
    folder, file = source(path)
    arguments: dict[str, Any] = {"dtype": torch.bfloat16 if half else torch.float32, "local_files_only": True, **file}
    if file:
        arguments["quantization_config"] = GgufConfig(dequantize=True)
    logging.disable_progress_bar()
    with _each_file_read_once():
        loaded = tokenizer(name)
        with _reading(path), contextlib.redirect_stderr(io.StringIO()):  # a progress bar that cannot be turned off
            model = AutoModelForCausalLM.from_pretrained(folder, config=copy.deepcopy(config(name)), **arguments)
    return Base(model, loaded)


def tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer of ``name`` without the weights; raises as ``load``."""
    require_libraries()
    path = resolve(name)
    return _tokenizer(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _tokenizer(path: Path, _changed: int) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    folder, file = source(path)
    with _reading(path):
        loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True, **file)
    if not loaded.chat_template:
        raise WeightsError(f"{path} has no chat template; give an instruction-tuned model")
    return loaded


def config(name: str) -> PreTrainedConfig:
    """The configuration of ``name`` without the weights; raises as ``load``."""
    require_libraries()
    path = resolve(name)
    return _config(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _config(path: Path, _changed: int) -> PreTrainedConfig:
    from transformers import AutoConfig

    folder, file = source(path)
    with _reading(path):
        return AutoConfig.from_pretrained(folder, local_files_only=True, **file)


def source(path: Path) -> tuple[str, dict[str, str]]:
    """(folder, further arguments) with which ``transformers`` reads a folder or a GGUF file."""
    return (str(path), {}) if path.is_dir() else (str(path.parent), {"gguf_file": path.name})


@contextlib.contextmanager
def _each_file_read_once() -> Iterator[None]:
    """Have ``transformers`` read a GGUF file once, not for tokenizer, configuration and weights each.

    The reader goes through the whole vocabulary, ten seconds for one of 150,000 tokens.
    """
    import gguf

    reader = gguf.GGUFReader
    setattr(gguf, "GGUFReader", functools.cache(reader))  # noqa: B010 - an assignment is no class for mypy
    try:
        yield
    finally:
        setattr(gguf, "GGUFReader", reader)  # noqa: B010


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what ``transformers`` raises on reading into ``WeightsError``."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, NotImplementedError) as error:
        line = " ".join(str(error).split())[:300]
        raise WeightsError(f"{path} cannot be trained on: {line}") from error


def digest(name: str) -> str:
    """The SHA-256 of the weights in hex; for a folder, of its files' names and contents."""
    path = resolve(name)
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    combined = hashlib.sha256()
    for file in files:
        digest = sha256_of(file)
        if len(files) == 1:
            return digest
        combined.update(f"{file.name}\0{digest}\n".encode())
    return combined.hexdigest()
