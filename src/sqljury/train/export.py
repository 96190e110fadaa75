"""A trained adapter as a GGUF file, which llama.cpp adds to the weights while it runs them.

For every adapted matrix W of the model, GGUF holds two: ``NAME.lora_a`` of shape (rank, inputs) and ``NAME.lora_b`` of
shape (outputs, rank); llama.cpp computes ``W x + alpha / rank * B A x``.
"""

from __future__ import annotations

import contextlib
import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from sqljury.errors import DatasetError, InputError
from sqljury.llm import adapters
from sqljury.train import card, gguf_base, lora

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Precision = Literal["f32", "f16", "q8_0"]

TOLD: Final = ("part", "base", "base_sha256", "data_sha256")
"""What an adapter's file says of its training."""
_ADAPTER: Final = b"".join(
    struct.pack("<Q", len(text)) + text + kind
    for text, kind in ((b"general.type", struct.pack("<I", 8)), (b"adapter", b""))
)
"""The entry of an adapter's type: key and text with their lengths, 8 for a text."""
_KEY: Final = re.compile(r"(?:base_model\.model\.)*(?P<module>.+)\.lora_(?P<half>[AB])\.weight")


def export(
    run: Path,
    file: Path,
    precision: Precision = "f16",
    check: Callable[[Path], None] = lambda _: None,
    served: str = "",
) -> Path:
    """Write the adapter of the training in ``run`` to ``file``, for the local weights ``served``, or else its base.

    ``check`` is given the whole adapter before it takes its place; if it raises, what was in ``file`` stays.
    ``q8_0`` takes half the room of ``f16``; rows that its blocks of 32 do not fit stay ``f16``. Raises
    ``DatasetError`` for a folder without a finished training and for an adapter with other parts than matrices of a
    known model, ``InputError`` for a ``file`` that is there and no adapter, and for one that cannot be written,
    ``WeightsError`` for weights that are not there.
    """
    refuse_foreign(file)
    gguf_base.require()
    settings, adapter, config = _read(run)
    model = _config(settings["base"])
    facts = {**_served(settings, served), **{f"sqljury.{key}": settings[key] for key in TOLD}}
    tensors = {
        name: _permuted(name, model, matrix) if half == "B" else matrix
        for name, half, matrix in _named(adapter, model, run)
    }
    with _beside(file) as unfinished:
        with _writing(file):
            _write(unfinished, tensors, model, float(config["lora_alpha"]), facts, precision)
        check(unfinished)
        with _writing(file):
            unfinished.replace(file)
    return file


@contextlib.contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """A file of the same name, in a folder that is gone afterwards."""
    with _writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(prefix=f"{file.name}.", dir=file.parent, ignore_cleanup_errors=True)
    with folder as place:
        yield Path(place) / file.name


@contextlib.contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Raise ``InputError`` where ``file`` cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror}); name another file with --out") from None


def refuse_foreign(file: Path) -> None:
    """Raise ``InputError`` where there is something else than an adapter, such as the weights it is for."""
    if not file.exists():
        return
    begins = b""
    if file.is_file():
        with file.open("rb") as stream:
            begins = stream.read(adapters.HEAD)
    if begins[:4] != b"GGUF" or _ADAPTER not in begins:
        raise InputError(f"{file}: is there and no adapter; name a new file with --out, or remove this one")


def _read(run: Path) -> tuple[dict[str, Any], dict[str, Matrix], dict[str, Any]]:
    """(what was asked for, matrices by their names, the adapter's configuration) of a finished training."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = run / lora.ADAPTER
    if not (run / card.JSON).is_file():
        raise DatasetError(f"{run} holds no finished training; finish it with the command that began it")
    settings = lora.asked(run)
    try:
        config = json.loads((folder / "adapter_config.json").read_bytes())
        tensors = load_file(folder / "adapter_model.safetensors")
    except (OSError, ValueError, RecursionError, SafetensorError) as error:
        raise DatasetError(f"{run} cannot be exported: {error}") from None
    if not isinstance(config, dict) or type(config.get("lora_alpha")) not in (int, float):
        raise DatasetError(f"{run} cannot be exported: its adapter_config.json has no lora_alpha")
    if config.get("use_rslora") or config.get("use_dora") or config.get("alpha_pattern"):
        raise DatasetError(f"{run} holds an adapter that GGUF has no form for (rsLoRA, DoRA or alpha by module)")
    return settings, tensors, config


def _config(base: str) -> Any:
    """The configuration of the base, read without its weights."""
    from transformers import AutoConfig

    place = gguf_base.resolve(base)
    where, file = (place, {}) if place.is_dir() else (place.parent, {"gguf_file": place.name})
    try:
        return AutoConfig.from_pretrained(where, local_files_only=True, **file)
    except (OSError, ValueError, KeyError) as error:
        raise DatasetError(f"{place} has no readable configuration: {' '.join(str(error).split())[:300]}") from None


def _named(adapter: Mapping[str, Matrix], model: Any, run: Path) -> list[tuple[str, str, Matrix]]:
    """(GGUF's name, A or B, matrix) of each tensor of ``peft``."""
    import gguf

    arch = _arch(model)
    names = gguf.get_tensor_name_map(arch, model.num_hidden_layers)
    found = []
    for key, matrix in sorted(adapter.items()):
        part = _KEY.fullmatch(key)
        name = names.get_name(part["module"]) if part else None
        if part is None or name is None or matrix.ndim != 2:
            raise DatasetError(f"{run}: GGUF has no name for {key}; train the usual matrices alone")
        found.append((f"{name}.weight.lora_{part['half'].lower()}", part["half"], matrix))
    return found


def _served(settings: Mapping[str, Any], served: str) -> dict[str, str]:
    """The entry that names the weights which the adapter is for; none where that is only known to be a folder."""
    if served:
        return {adapters.SERVED: gguf_base.digest(served)}
    return {adapters.SERVED: settings["base_sha256"]} if gguf_base.resolve(settings["base"]).is_file() else {}


def _arch(model: Any) -> Any:
    import gguf

    for arch, name in gguf.MODEL_ARCH_NAMES.items():
        if name == model.model_type:
            return arch
    raise DatasetError(f"adapters of {model.model_type} models cannot be exported; take one of Llama's or Qwen's kind")


def _permuted(name: str, model: Any, matrix: Matrix) -> Matrix:
    """The rows of B in GGUF's order.

    For models of Llama's kind, queries and keys lie otherwise in GGUF than at Hugging Face: there, the two halves of a
    head are rotated against each other, here, neighbours. What is added to such a matrix has to follow its rows.
    """
    if model.model_type != "llama" or not (".attn_q." in name or ".attn_k." in name):
        return matrix
    heads = model.num_attention_heads if ".attn_q." in name else model.num_key_value_heads
    rows = matrix.reshape(heads, 2, matrix.shape[0] // heads // 2, *matrix.shape[1:])
    return rows.swapaxes(1, 2).reshape(matrix.shape)


def _write(
    file: Path, tensors: Mapping[str, Matrix], model: Any, alpha: float, facts: Mapping[str, str], precision: str
) -> None:
    import gguf

    writer = gguf.GGUFWriter(file, gguf.MODEL_ARCH_NAMES[_arch(model)])
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for key, value in facts.items():
        writer.add_string(key, value)
    writer.add_name(f"sqljury {facts['sqljury.part']}")
    for name, matrix in tensors.items():
        kind = _kind(matrix, precision)
        writer.add_tensor(name, gguf.quants.quantize(matrix.astype("float32"), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _kind(matrix: Matrix, precision: str) -> Any:
    import gguf

    kinds = gguf.GGMLQuantizationType
    if precision == "q8_0" and matrix.shape[1] % gguf.GGML_QUANT_SIZES[kinds.Q8_0][0]:
        return kinds.F16
    return {"f32": kinds.F32, "f16": kinds.F16, "q8_0": kinds.Q8_0}[precision]
