"""The weights that are trained on: what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.errors import WeightsError
from sqljury.train import gguf_base

pytestmark = pytest.mark.train


@pytest.mark.parametrize("file", ["small.gguf", "config.json"])
def test_unreadable_weights_are_named(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_bytes(b"GGUF" + bytes(64))
    name = tmp_path / file if file.endswith(".gguf") else tmp_path
    with pytest.raises(WeightsError, match=f"{name.name} cannot be trained on"):
        gguf_base.load(str(name))
