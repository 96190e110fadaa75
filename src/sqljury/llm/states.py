"""The states of prompts that were read, kept as files in a folder of bounded size."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqljury.errors import ModelError
from sqljury.llm import engine
from sqljury.llm.base import Message

STATES_BYTES: Final = 1 << 30
"""What the kept states may take on disk; the longest unused go first."""

ABANDONED_SECONDS: Final = 3600.0
"""An unfinished state older than this was left by a process that was killed."""

STATE: Final = ".state"


def of(running: engine.Engine, opening: Sequence[Message], *depends: str) -> Path:
    """The file for the state of a conversation's opening, which there may be none of yet."""
    texts = (text for turn in opening for text in turn)
    return running.states / f"{fingerprint(running.options.weights, *texts, *depends)}{STATE}"


def fingerprint(weights: Path, *depends: str) -> str:
    """What a state depends on: the library, the weights, the text, the adapter.

    The weights' own hash would take a second.
    """
    stat = weights.stat()
    parts = (engine.version(), str(weights), str(stat.st_size), str(stat.st_mtime_ns), *depends)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def keep(running: engine.Engine, slot: int, file: Path) -> None:
    """Save an opening's state; without it the next call reads the schema again, and that is all."""
    try:
        running.save(slot, file)
    except (OSError, ModelError) as error:
        warnings.warn(f"this schema is not kept in {file.parent}, which may be full: {error}", RuntimeWarning, 2)
    _shrink(file.parent, STATES_BYTES)


def _shrink(folder: Path, limit: int) -> None:
    """Delete the longest unused states until the rest fits ``limit`` bytes; the newest always stays.

    Other processes may be doing the same: a file that has gone is ignored.
    """
    with contextlib.suppress(OSError):
        entries = [(entry.stat(), entry.path) for entry in os.scandir(folder)]
        states = [(status, path) for status, path in entries if path.endswith(STATE)]
        used = 0
        for number, (status, path) in enumerate(sorted(states, key=lambda pair: -pair[0].st_mtime)):
            used += status.st_size
            if used > limit and number:
                Path(path).unlink(missing_ok=True)
        for status, path in entries:
            if path.endswith(engine.UNFINISHED) and time.time() - status.st_mtime > ABANDONED_SECONDS:
                Path(path).unlink(missing_ok=True)
