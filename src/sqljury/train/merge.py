"""An adapter merged into its weights: one GGUF file, of the same kinds of numbers, that needs no adapter at run time.

llama.cpp adds ``alpha / rank * B A x`` to what a matrix W makes of x; here W becomes W + alpha / rank * B A and is
quantised again as it was. All other tensors stay as they are, to the bit. Quantising is done by the functions of the
installed llama.cpp, which has the kinds that the package ``gguf`` can read and not write (Q4_K, Q6_K and the like).
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqljury.errors import InputError, MissingExtraError, WeightsError
from sqljury.llm import adapters, engine, models
from sqljury.resources import must_write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

KINDS: Final = frozenset(
    {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}
)
"""Kinds of tensors that can be written again; the others need statistics of the original quantisation (imatrix)."""


class Delta(NamedTuple):
    """What an adapter adds to one matrix: ``scale`` times ``b`` (outputs, rank) times ``a`` (rank, inputs)."""

    a: Matrix
    b: Matrix
    scale: float

    def added_to(self, matrix: Matrix) -> Matrix:
        if (self.b.shape[0], self.a.shape[1]) != matrix.shape or self.b.shape[1] != self.a.shape[0]:
            raise WeightsError(f"an adapted matrix is {matrix.shape}, the adapter's is for another one")
        return matrix + self.scale * (self.b @ self.a)


def merge(base: str, adapter: str, out: Path, note: Callable[[str], None] = lambda _: None) -> Path:
    """Write the weights ``base`` with ``adapter`` merged in to ``out``, a file that must not exist.

    Raises ``InputError`` for an ``out`` that exists or cannot be written, ``WeightsError`` for weights or an adapter
    that cannot be read, that are not for each other, or whose numbers cannot be quantised again, ``MissingExtraError``
    without ``gguf``.
    """
    if out.exists():
        raise InputError(f"{out}: exists; name a new file with --out, or remove this one")
    weights, chosen = models.resolve(base), adapters.find(adapter, base, read=True)
    reader, added = _reader(weights), deltas(chosen.file)
    known = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    for name in added:
        if known.get(name) not in KINDS:
            what = f"its {name} is {known[name]}, which cannot be quantised again" if name in known else f"no {name}"
            raise WeightsError(f"{weights} cannot take {chosen.file}: {what}; use the adapter at run time instead")
    unfinished = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with must_write(out, InputError, "name another file with --out"):
            _write(unfinished, reader, added, chosen.label, note)
            unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return out


def _reader(file: Path) -> Any:
    try:
        import gguf
    except ImportError:
        raise MissingExtraError("gguf", "train") from None
    try:
        return gguf.GGUFReader(file)
    except (OSError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise WeightsError(f"{file} is not a readable GGUF file: {' '.join(str(error).split())[:200]}") from None


def deltas(file: Path) -> dict[str, Delta]:
    """What an adapter in GGUF adds, by the name of the tensor; raises ``WeightsError`` for another file."""
    import numpy as np
    from gguf.quants import dequantize

    reader = _reader(file)
    alpha = reader.get_field("adapter.lora.alpha")
    halves: dict[str, Matrix] = {
        tensor.name: np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        for tensor in reader.tensors
    }
    names = [name.removesuffix(".lora_a") for name in halves if name.endswith(".lora_a")]
    if (
        alpha is None
        or not names
        or len(halves) != 2 * len(names)
        or any(f"{name}.lora_b" not in halves for name in names)
    ):
        raise WeightsError(f"{file} is not a LoRA adapter; export one with `sqljury train export`")
    pairs = {name: (halves[f"{name}.lora_a"], halves[f"{name}.lora_b"]) for name in names}
    return {name: Delta(a, b, float(alpha.contents()) / a.shape[0]) for name, (a, b) in pairs.items()}


def _write(file: Path, reader: Any, added: Mapping[str, Delta], label: str, note: Callable[[str], None]) -> None:
    """Copy the file tensor by tensor, merged ones quantised again: one of them is in memory at a time."""
    import gguf

    architecture = reader.get_field(gguf.Keys.General.ARCHITECTURE).contents()
    writer = gguf.GGUFWriter(file, architecture, endianess=reader.endianess)
    writer.data_alignment = reader.alignment
    writer.add_string(adapters.MERGED, label)  # before lists of tokens, where a look at the file's head finds it
    for field in reader.fields.values():
        if field.name == gguf.Keys.General.ARCHITECTURE or field.name.startswith("GGUF."):
            continue  # the writer's own
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)
    for tensor in reader.tensors:
        data = tensor.data
        writer.add_tensor_info(tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for number, tensor in enumerate(reader.tensors, 1):
        delta = added.get(tensor.name)
        data = tensor.data if delta is None else _merged(tensor, delta)
        writer.write_tensor_data(data, tensor_endianess=reader.endianess)
        if number % 50 == 0:
            note(f"{number} of {len(reader.tensors)} tensors")
    writer.close()


def _merged(tensor: Any, delta: Delta) -> Any:
    import numpy as np
    from gguf.quants import dequantize

    matrix = delta.added_to(np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
    return quantized(matrix, tensor.tensor_type).reshape(tensor.data.shape).view(tensor.data.dtype)


def quantized(matrix: Matrix, kind: Any) -> Any:
    """The matrix in a kind of number of GGUF, row by row; raises ``WeightsError`` where llama.cpp does not do it."""
    import numpy as np
    from gguf.quants import quantize

    if kind.name in ("F32", "F16", "BF16"):
        return quantize(matrix, kind)
    rows, columns = matrix.shape
    data = np.ascontiguousarray(matrix, dtype=np.float32)
    library = _llama()
    result = np.empty((rows, library.ggml_row_size(int(kind), columns)), dtype=np.uint8)
    source = data.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    written = library.ggml_quantize_chunk(int(kind), source, result.ctypes.data, 0, rows, columns, None)
    if written != result.nbytes:
        raise WeightsError(f"llama.cpp wrote {written} bytes of {kind.name} where {result.nbytes} were expected")
    return result


@functools.cache
def _llama() -> Any:
    """The installed llama.cpp, by its C interface; raises ``WeightsError`` where it does not offer quantising."""
    for file in sorted(Path(engine.library().__file__).parent.glob("xllamacpp*.so")):
        library = ctypes.CDLL(str(file))
        if hasattr(library, "ggml_quantize_chunk") and hasattr(library, "ggml_row_size"):
            library.ggml_row_size.restype = ctypes.c_size_t
            library.ggml_row_size.argtypes = [ctypes.c_int, ctypes.c_int64]
            library.ggml_quantize_chunk.restype = ctypes.c_size_t
            numbers = ctypes.POINTER(ctypes.c_float)
            library.ggml_quantize_chunk.argtypes = [
                ctypes.c_int, numbers, ctypes.c_void_p, *[ctypes.c_int64] * 3, numbers
            ]  # fmt: skip
            return library
    raise WeightsError("the installed xllamacpp does not offer quantising; use the adapter at run time instead")
