"""Adapters merged into small GGUF files."""

from __future__ import annotations

import hashlib
import resource
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sqljury.cli import _guarded

gguf = pytest.importorskip("gguf")
np = pytest.importorskip("numpy")

ROWS, COLUMNS, RANK, ALPHA = 24, 512, 4, 8.0
KINDS = {"blk.0.attn_q": "Q4_K", "blk.0.attn_v": "Q6_K", "blk.0.ffn_up": "Q8_0", "blk.0.attn_k": "F16"}


@pytest.fixture(scope="module")
def matrices() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {name: rng.normal(0, 0.05, (ROWS, COLUMNS)).astype("float32") for name in KINDS}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, matrices: dict[str, Any]) -> Path:
    from sqljury.train.merge import quantized

    file = tmp_path_factory.mktemp("weights") / "base.gguf"
    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_name("small")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_tensor("output_norm.weight", np.ones(COLUMNS, dtype="float32"))
    for name, kind in KINDS.items():
        chosen = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(f"{name}.weight", quantized(matrices[name], chosen), raw_dtype=chosen)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def adapter(folder: Path, names: list[str], columns: int = COLUMNS, served: str = "") -> tuple[Path, dict[str, Any]]:
    rng = np.random.default_rng(2)
    file, deltas = folder / "adapter.gguf", {}
    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_type("adapter")
    if served:
        writer.add_string("sqljury.served_sha256", served)
    writer.add_float32("adapter.lora.alpha", ALPHA)
    for name in names:
        a = rng.normal(0, 0.1, (RANK, columns)).astype("float32")
        b = rng.normal(0, 0.1, (ROWS, RANK)).astype("float32")
        writer.add_tensor(f"{name}.weight.lora_a", a)
        writer.add_tensor(f"{name}.weight.lora_b", b)
        deltas[name] = ALPHA / RANK * b @ a
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file, deltas


def tensors(file: Path) -> dict[str, Any]:
    return {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}


def test_merged_weights_are_the_sum_in_the_same_kinds_of_numbers(
    base: Path, matrices: dict[str, Any], tmp_path: Path
) -> None:
    adapted = ["blk.0.attn_q", "blk.0.attn_v", "blk.0.attn_k"]
    file, deltas = adapter(tmp_path, adapted)
    out = tmp_path / "merged.gguf"
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) == 0
    before, after = tensors(base), tensors(out)
    assert list(before) == list(after)
    for name, tensor in before.items():
        assert after[name].tensor_type == tensor.tensor_type
        if name.removesuffix(".weight") not in adapted:
            assert (after[name].data == tensor.data).all()
    for name, delta in deltas.items():
        merged = gguf.quants.dequantize(after[f"{name}.weight"].data, after[f"{name}.weight"].tensor_type)
        exact = matrices[name] + delta
        error = np.sqrt(np.mean((merged - exact) ** 2)) / np.std(exact)
        assert error < {"Q4_K": 0.12, "Q6_K": 0.04, "F16": 0.001}[KINDS[name]]
    reader = gguf.GGUFReader(out)
    assert reader.get_field("general.name").contents() == "small"
    assert reader.get_field("tokenizer.ggml.tokens").contents() == ["a", "b"]
    assert reader.get_field("sqljury.merged_adapter").contents().startswith("adapter@")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["adapter.gguf", "merged.gguf"]


def test_what_does_not_fit_is_refused(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, _ = adapter(tmp_path, ["blk.7.attn_q"])
    out = tmp_path / "merged.gguf"
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) != 0
    assert "no blk.7.attn_q.weight" in capsys.readouterr().err
    file, _ = adapter(tmp_path, ["blk.0.attn_q"], columns=256)
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) != 0
    assert "the adapter's is for another one" in capsys.readouterr().err
    assert _guarded(["models", "merge", str(base), str(base), "--out", str(out)]) != 0
    assert "is not a LoRA adapter" in capsys.readouterr().err
    assert not out.exists()
    out.write_bytes(b"mine")
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) == 2
    assert out.read_bytes() == b"mine"


def test_an_adapter_for_other_weights_is_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has hashed the base before, so merging reads it for that."""
    out = tmp_path / "merged.gguf"
    file, _ = adapter(tmp_path, ["blk.0.attn_q"], served="0" * 64)
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) == 5
    assert f"is an adapter for other weights (those of SHA-256 {'0' * 64})" in capsys.readouterr().err
    assert not out.exists()
    file, _ = adapter(tmp_path, ["blk.0.attn_q"], served=hashlib.sha256(base.read_bytes()).hexdigest())
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) == 0


def test_merged_weights_take_no_adapter(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, _ = adapter(tmp_path, ["blk.0.attn_q"])
    out = tmp_path / "merged.gguf"
    assert _guarded(["models", "merge", str(base), str(file), "--out", str(out)]) == 0
    again = ["models", "merge", str(out), str(file), "--out", str(tmp_path / "twice.gguf")]
    sqlite3.connect(tmp_path / "one.db").execute("CREATE TABLE t (i INTEGER)").connection.close()
    run_time = ["ask", "How many?", "--db", str(tmp_path / "one.db"), "--model", f"{out}+{file}"]
    for command in (again, run_time):
        assert _guarded(command) == 5
        assert "merged.gguf has the adapter adapter@" in capsys.readouterr().err


def test_a_full_disk_is_named(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """numpy's errors have no text of the system."""
    file, _ = adapter(tmp_path, ["blk.0.attn_q"])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, before[1]))
    try:
        assert _guarded(["models", "merge", str(base), str(file), "--out", str(tmp_path / "merged.gguf")]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    message = capsys.readouterr().err
    assert "cannot be written" in message
    assert "None" not in message
