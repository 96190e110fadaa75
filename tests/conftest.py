"""What all tests share: no network but loopback, a cache of their own, and the parts that may be missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import servers
from sqljury.llm import models
from sqljury.llm.local import LocalModel
from sqljury.train import gguf_base

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
WEIGHTS = {name: models.path(name) for name in models.CATALOGUE}
"""Where the weights lie in the user's cache, read before any test gets a cache of its own."""
LONGEST = (
    "docs/test_docs_commands.py",
    "db/test_files.py",
    "train/test_train_light.py",
    "parallel/test_cluster.py",
    "bench/test_tune.py",
    "mcp/test_mcp_attacks.py",
    "llm/api/test_api_hostile.py",
    "parallel/test_processes.py",
    "evaluation/test_evaluation.py",
    "cli/test_leaving.py",
    "experiments/test_analysis.py",
    "experiments/report/test_run_report.py",
    "web/test_web_openapi.py",
)
"""Files that take the most seconds, the longest first: begun last, one keeps its worker when the others have ended."""
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2 << 30


def pytest_configure() -> None:
    """Have the tests' folders in memory where the system keeps files there.

    Tests make thousands of small databases and runs, each of which is written through to the disk several times.
    """
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:  # some tests write programs
        return
    if shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first, and skip what cannot run here.

    CI fetches weights and libraries, so there a test without them runs, and fails.
    """
    weights = [name for name, path in WEIGHTS.items() if not path.is_file()]
    libraries = [name for name in gguf_base.LIBRARIES if find_spec(name) is None]
    missing = {
        "weights": weights and f"no weights of {', '.join(weights)}; run: make pytest",
        "train": libraries and f"without {', '.join(libraries)}; run: make test-all",
    }
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))
    for item in items:
        for mark, reason in missing.items():
            if reason and not os.environ.get("CI") and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
        if not SHARED.is_dir() and item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason="no ../shared"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither read nor write the user's cache, except for the weights."""
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.delenv("SQLJURY_MODEL", raising=False)


@pytest.fixture(scope="session")
def cached_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds the real weights, as links."""
    cache = tmp_path_factory.getbasetemp() / "cache"
    folder = cache / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for path in WEIGHTS.values():
        link = folder / path.name
        if path.is_file() and not link.exists():
            link.symlink_to(path)
            stamp = path.with_name(path.name + ".sha256")
            if stamp.is_file():
                link.with_name(stamp.name).symlink_to(stamp)
    return cache


@pytest.fixture(scope="session")
def small_model(cached_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    """The smallest real model, for what does not depend on what it says."""
    model = _load("smollm2-135m", tmp_path_factory)
    yield model
    model.close()


@pytest.fixture(scope="session")
def default_model(cached_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    """The embedded model."""
    model = _load(models.DEFAULT, tmp_path_factory)
    yield model
    model.close()


def _load(name: str, factory: pytest.TempPathFactory) -> LocalModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLJURY_CACHE", str(factory.getbasetemp() / "cache"))
        return LocalModel(name, slots=4, context=4096, states=factory.mktemp("states"))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example database."""
    import subprocess
    import sys

    path = tmp_path_factory.mktemp("shop") / "shop.db"
    subprocess.run([sys.executable, str(ROOT / "examples" / "shop" / "build.py"), str(path)], check=True)
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[servers.Server]:
    """A PostgreSQL of the session's own."""
    server = servers.running(servers.start_postgres, "PostgreSQL")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[servers.Server]:
    """A MariaDB of the session's own."""
    server = servers.running(servers.start_mariadb, "MariaDB")
    yield server
    server.stop()
