"""Weights in memory, once for all models of a process that run the same file: without an adapter, or with one each."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from sqljury.llm import engine, models
from sqljury.llm.adapters import Adapter


class Key(NamedTuple):
    """What makes two models share their weights: the source, and everything the engine is started with."""

    source: str
    slots: int
    context: int
    threads: int
    states: Path


class Loaded:
    """An engine that is started when it is needed, and what its slots hold.

    ``lock`` is held for every use of ``running`` and of what it returns. ``prefix`` is the system message in the
    slots, ``worn`` the adapter they were computed with; None before the first call.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.lock = threading.Lock()
        self.engine: engine.Engine | None = None
        self.adapters: dict[str, Adapter] = {}
        self.prefix = ""
        self.worn: str | None = None

    def running(self) -> engine.Engine:
        """The engine with all adapters that are known by now; raises ``WeightsError``.

        llama.cpp takes adapters only when it starts, so one that came later starts it anew.
        """
        files = tuple(adapter.file for adapter in self.adapters.values())
        if self.engine is not None and self.engine.options.adapters != files:
            self.close()
        if self.engine is None:
            source, slots, context, threads, states = self.key
            options = engine.Options(models.resolve(source), slots, context, threads, states, files)
            self.engine = engine.Engine(options)
        return self.engine

    def close(self) -> None:
        """Free the weights; they are loaded again when they are used again."""
        if self.engine is not None:
            self.engine.close()
        self.engine = None
        self.prefix = ""
        self.worn = None

    def scales(self, adapter: Adapter | None) -> list[dict[str, float]]:
        """The adapters of a request in llama.cpp's terms.

        All are named, those that are off as well: for a request that names none, it neither turns one off nor
        forgets what the slot read with one.
        """
        worn = adapter.sha256 if adapter else ""
        return [{"id": place, "scale": float(mark == worn)} for place, mark in enumerate(self.adapters)]


# The one place where models know of each other: the weights fill most of a small machine's memory.
_SHARED: Final[WeakValueDictionary[Key, Loaded]] = WeakValueDictionary()
_GUARD: Final = threading.Lock()


def shared(key: Key, adapter: Adapter | None) -> Loaded:
    """The weights of ``key``, not yet in memory if nothing has used them, ready for ``adapter``."""
    with _GUARD:
        found = _SHARED.get(key)
        if found is None:
            _SHARED[key] = found = Loaded(key)
    if adapter is not None:
        with found.lock:  # a call may be running, which models of other weights do not wait for
            found.adapters.setdefault(adapter.sha256, adapter)
    return found
