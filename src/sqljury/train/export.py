"""Export of a trained adapter as a GGUF file, which llama.cpp adds to the weights at run time.

For each adapted matrix W of the model, GGUF holds two: ``NAME.lora_a`` of shape (rank, inputs) and ``NAME.lora_b`` of
shape (outputs, rank); llama.cpp computes ``W x + alpha / rank * B A x``.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from sqljury.errors import DatasetError, InputError
from sqljury.llm import adapters
from sqljury.resources import must_write
from sqljury.train import card, gguf_base
from sqljury.train.settings import ADAPTER, ADAPTER_CONFIG, ADAPTER_WEIGHTS, read_settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Precision = Literal["f32", "f16", "q8_0"]

METADATA: Final = {"part": "part", "base": "base_model", "base_sha256": "base_sha256", "data_sha256": "data_sha256"}
"""Settings of the training that the file keeps, by their entry after ``sqljury.``."""
_ADAPTER_TYPE: Final = b"".join(
    struct.pack("<Q", len(text)) + text + kind
    for text, kind in ((b"general.type", struct.pack("<I", 8)), (b"adapter", b""))
)
"""The entry of the file's type as GGUF writes it: key and text with their lengths; 8 means a text."""
_KEY: Final = re.compile(r"(?:base_model\.model\.)*(?P<module>.+)\.lora_(?P<half>[AB])\.weight")


def export(
    run: Path,
    file: Path,
    precision: Precision = "f16",
    check: Callable[[Path], None] = lambda _: None,
    served_model: str = "",
    rank: int = 0,
    scale: float = 1.0,
    note: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write the adapter of the training in ``run`` to ``file``, for ``served_model``, or else for its base model.

    A ``rank`` above 0 and below the training's makes the file smaller: each update becomes the nearest one of that
    rank, and ``note`` is told what share of the updates' squares remains. ``scale`` is the share of the way from the
    base model to the trained one that the adapter goes: on data unlike the training's, a model in between can be better
    than either (Wortsman et al., 2022, arXiv 2109.01903).

    ``check`` is called with the finished adapter before it replaces ``file``; if it raises, ``file`` stays as it was.
    ``q8_0`` is half as large as ``f16``; rows that its blocks of 32 do not fit stay ``f16``. Raises ``DatasetError``
    for a folder without a finished training and for an adapter with tensors that GGUF has no name for, ``InputError``
    for an existing ``file`` that is not an adapter and for one that cannot be written, ``WeightsError`` for missing
    weights.
    """
    refuse_foreign(file)
    gguf_base.require_libraries()
    settings, adapter, config = _read(run)
    alpha = scale * float(config["lora_alpha"])
    trained_rank = next(matrix.shape[0] for key, matrix in adapter.items() if ".lora_A." in key)
    if 0 < rank < trained_rank:
        adapter, share = lowered(adapter, rank)
        alpha *= rank / trained_rank  # the file's updates are scaled by alpha / rank
        note(f"of rank {rank} instead of {trained_rank}, the adapter keeps {share:.1%} of the updates' squares")
    model = gguf_base.config(settings["base_model"])
    facts = {
        **_served_entry(settings, served_model),
        **{f"sqljury.{entry}": settings[key] for entry, key in METADATA.items()},
        "sqljury.scale": f"{scale:g}",
    }
    tensors = {
        name: permuted(name, model, matrix) if half == "B" else matrix
        for name, half, matrix in _gguf_names(adapter, model, run)
    }
    with _beside(file) as unfinished:
        with _writing(file):
            _write(unfinished, tensors, model, alpha, facts, precision)
        check(unfinished)
        with _writing(file):
            unfinished.replace(file)
    return file


@contextlib.contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """A file of the same name in a temporary folder beside ``file``."""
    with _writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(prefix=f"{file.name}.", dir=file.parent, ignore_cleanup_errors=True)
    with folder as path:
        yield Path(path) / file.name


def _writing(file: Path) -> contextlib.AbstractContextManager[None]:
    return must_write(file, InputError, "name another file with --out")


def refuse_foreign(file: Path) -> None:
    """Raise ``InputError`` for an existing file that is not an adapter, such as the weights it is for."""
    if not file.exists():
        return
    start = b""
    if file.is_file():
        with file.open("rb") as stream:
            start = stream.read(adapters.HEAD)
    if start[:4] != b"GGUF" or _ADAPTER_TYPE not in start:
        raise InputError(f"{file}: exists and is not an adapter; name a new file with --out, or remove this one")


def lowered(adapter: Mapping[str, Matrix], rank: int) -> tuple[dict[str, Matrix], float]:
    """(the nearest adapter of ``rank``, the share of the squares of all updates B A that it keeps).

    The singular value decomposition of B A gives the nearest matrix of a rank (Eckart and Young, 1936).
    """
    import numpy as np

    kept = whole = 0.0
    matrices: dict[str, Matrix] = {}
    for key, a in adapter.items():
        if ".lora_A." not in key:
            continue
        b_key = key.replace(".lora_A.", ".lora_B.")
        outer, left = np.linalg.qr(adapter[b_key].astype(np.float64))
        inner, right = np.linalg.qr(a.astype(np.float64).T)
        u, values, v = np.linalg.svd(left @ right.T)
        root = np.sqrt(values[:rank])
        matrices[key] = (root[:, None] * (v[:rank] @ inner.T)).astype(np.float32)
        matrices[b_key] = (outer @ (u[:, :rank] * root)).astype(np.float32)
        kept += float((values[:rank] ** 2).sum())
        whole += float((values**2).sum())
    return matrices, kept / whole if whole else 1.0


def _read(run: Path) -> tuple[dict[str, Any], dict[str, Matrix], dict[str, Any]]:
    """(settings, matrices by their names, the adapter's configuration) of a finished training."""
    if not (run / card.JSON).is_file():
        raise DatasetError(f"{run} does not hold a finished training; finish it with the command that started it")
    settings = read_settings(run)
    return settings, *read_adapter(run / ADAPTER)


def read_adapter(folder: Path) -> tuple[dict[str, Matrix], dict[str, Any]]:
    """(matrices by their names, configuration) of an adapter in the format of ``peft``; raises ``DatasetError``."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        config = json.loads((folder / ADAPTER_CONFIG).read_bytes())
        tensors = load_file(folder / ADAPTER_WEIGHTS)
    except (OSError, ValueError, RecursionError, SafetensorError) as error:
        raise DatasetError(f"{folder} cannot be read as an adapter: {error}") from None
    if not isinstance(config, dict) or type(config.get("lora_alpha")) not in (int, float):
        raise DatasetError(f"{folder} cannot be used: its {ADAPTER_CONFIG} has no lora_alpha")
    if config.get("use_rslora") or config.get("use_dora") or config.get("alpha_pattern"):
        raise DatasetError(f"{folder} holds an adapter that GGUF cannot hold (rsLoRA, DoRA or alpha by module)")
    return tensors, config


def layer_name(key: str) -> tuple[str, str] | None:
    """(layer, A or B) of a matrix of ``peft``; None for another name."""
    part = _KEY.fullmatch(key)
    return (part["module"], part["half"]) if part else None


def tensor_name(layer: str, model: Any) -> str | None:
    """GGUF's name of the matrix of a layer of a model with the configuration ``model``; None if it has none."""
    name = _names(_arch(model), model.num_hidden_layers).get_name(layer)
    return f"{name}.weight" if name else None


@functools.cache
def _names(arch: Any, layers: int) -> Any:
    """GGUF's names of all matrices of a model, which take long to list and are asked for one by one."""
    import gguf

    return gguf.get_tensor_name_map(arch, layers)


def _gguf_names(adapter: Mapping[str, Matrix], model: Any, run: Path) -> list[tuple[str, str, Matrix]]:
    """(GGUF's name, A or B, matrix) of each tensor of ``peft``."""
    tensors = []
    for key, matrix in sorted(adapter.items()):
        part = layer_name(key)
        name = tensor_name(part[0], model) if part else None
        if part is None or name is None or matrix.ndim != 2:
            raise DatasetError(f"{run}: GGUF has no name for {key}; train the matrices of --target-modules only")
        tensors.append((f"{name}.lora_{part[1].lower()}", part[1], matrix))
    return tensors


def _served_entry(settings: Mapping[str, Any], served_model: str) -> dict[str, str]:
    """The entry that names the weights the adapter is for; none where only a folder is known."""
    if served_model:
        return {adapters.SERVED: gguf_base.digest(served_model)}
    return {adapters.SERVED: settings["base_sha256"]} if gguf_base.resolve(settings["base_model"]).is_file() else {}


def _arch(model: Any) -> Any:
    import gguf

    for arch, name in gguf.MODEL_ARCH_NAMES.items():
        if name == model.model_type:
            return arch
    raise DatasetError(f"adapters of {model.model_type} models cannot be exported; train a Llama or Qwen model")


def permuted(name: str, model: Any, matrix: Matrix) -> Matrix:
    """The rows of B in GGUF's order.

    For Llama models, GGUF orders the rows of queries and keys differently from Hugging Face: rotary embeddings rotate
    the two halves of a head against each other there, and neighbouring rows here. B must follow the rows of its matrix.
    """
    return _swapped(name, model, matrix, (2, -1))


def unpermuted(name: str, model: Any, matrix: Matrix) -> Matrix:
    """The rows of B in Hugging Face's order, from GGUF's."""
    return _swapped(name, model, matrix, (-1, 2))


def _swapped(name: str, model: Any, matrix: Matrix, order: tuple[int, int]) -> Matrix:
    """The matrix with the two numbers exchanged by which ``order`` counts the rows of a head."""
    heads = _reordered_heads(name, model)
    if not heads:
        return matrix
    return matrix.reshape(heads, *order, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def _reordered_heads(name: str, model: Any) -> int:
    """The number of heads of a matrix whose rows the two formats order differently, else 0."""
    if model.model_type != "llama" or not (".attn_q." in name or ".attn_k." in name):
        return 0
    return int(model.num_attention_heads if ".attn_q." in name else model.num_key_value_heads)


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
