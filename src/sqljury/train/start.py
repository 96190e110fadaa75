"""The adapter that a training starts from: the folder of a finished training, or an adapter that is in use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqljury.errors import DatasetError, WeightsError
from sqljury.llm import adapters
from sqljury.train import export
from sqljury.train.merge import Delta, deltas
from sqljury.train.settings import ADAPTER, ADAPTER_WEIGHTS

if TYPE_CHECKING:
    from sqljury.train.adapter import Adapter


def find(start: str, base: str) -> Path:
    """The file of ``start``: the folder of a finished training, or an adapter's name or path; raises ``WeightsError``.

    An adapter that says it is for other weights than ``base`` is refused.
    """
    folder = Path(start)
    if folder.is_dir():
        file = folder / ADAPTER / ADAPTER_WEIGHTS
        if not file.is_file():
            raise WeightsError(f"{folder} does not hold a finished training; give its folder, or an adapter's name")
        return file
    return adapters.find(start, base).file


def start(adapter: Adapter, config: Any, file: Path) -> None:
    """Give ``adapter`` the updates of the one in ``file``, so that the model computes what it does with that one.

    ``config`` is the model's configuration. A higher rank than the file's leaves room to learn more: further rows of A
    stay as drawn, and their columns of B zero. Raises ``DatasetError`` for a lower one, and for an adapter of other
    matrices.
    """
    import torch

    known = _of_run(file) if file.suffix == ".safetensors" else deltas(file)
    names = {name: export.tensor_name(name, config) for name in adapter.layers}
    missing = sorted(set(known) - {name for pair in names.items() for name in pair})
    if missing:
        raise DatasetError(f"{file} changes {missing[0]}, which this training does not adapt; see --target-modules")
    with torch.no_grad():
        for name, layer in adapter.layers.items():
            delta = known.get(name)
            if delta is None and (stored := known.get(gguf_name := names[name] or "")) is not None:
                delta = stored._replace(b=export.unpermuted(gguf_name, config, stored.b))
            if delta is None:
                continue
            rank = delta.a.shape[0]
            if rank > layer.a.shape[0]:
                raise DatasetError(f"{file} has rank {rank}; give --lora-r {rank} or more")
            if delta.a.shape[1] != layer.a.shape[1] or delta.b.shape[0] != layer.b.shape[0]:
                raise DatasetError(f"{file} is for another model: {name} has other sizes; check --base-model")
            layer.a[:rank] = torch.tensor(delta.a)
            layer.b[:, :rank] = torch.tensor(delta.b) * (delta.scale / layer.scale)


def _of_run(file: Path) -> Mapping[str, Delta]:
    """What the adapter of a training adds, by the names of the layers."""
    matrices, config = export.read_adapter(file.parent)
    halves = {name: matrix for key, matrix in matrices.items() if (name := export.layer_name(key))}
    return {
        layer: Delta(a, halves[layer, "B"], float(config["lora_alpha"]) / a.shape[0])
        for (layer, half), a in halves.items()
        if half == "A"
    }
