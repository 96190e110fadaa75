"""The service of ``llm_service``, keys, and llama.cpp's own server with the real weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_service import SECRET, Service

from sqljury.llm import models


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.close()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> str:
    """The same key for every service, and nothing else of the user's environment."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "SQLJURY_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    for name in ("GOOGLE_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return SECRET


@pytest.fixture(scope="module")
def llama_server(cached_weights: Path) -> Iterator[str]:
    """The address of llama.cpp's server with the embedded model, four slots, key ``SECRET``."""
    import xllamacpp

    path = cached_weights / "models" / models.entry(models.DEFAULT).file

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel, params.n_ctx, params.kv_unified = 4, 2048, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.warmup, params.verbosity = False, -1
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [SECRET]
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server
