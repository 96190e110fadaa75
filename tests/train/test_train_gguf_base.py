"""The weights that are trained on: what 4 bits need is said before any are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sqljury.errors import WeightsError
from sqljury.train import gguf_base

pytestmark = pytest.mark.train


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / gguf_base.CONFIG).write_text("{}")
    return tmp_path


def test_four_bits_are_not_made_of_a_gguf_file(tmp_path: Path) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(WeightsError, match=r"small\.gguf is a GGUF file; give the folder with --base-model"):
        gguf_base.load(str(file), load_in_4bit=True)


def test_four_bits_need_a_cuda_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(WeightsError, match="needs a CUDA device"):
        gguf_base.load(str(folder), load_in_4bit=True)


def test_four_bits_need_bitsandbytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)  # cannot be imported, whether it is installed or not
    with pytest.raises(WeightsError, match="pip install bitsandbytes"):
        gguf_base.load(str(folder), load_in_4bit=True)
