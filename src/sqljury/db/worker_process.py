"""What the worker process of an engine starts with: limits of the system, and an environment without secrets.

Imported by the workers themselves, so it imports nothing that takes long.
"""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False  # `typing` takes longer to import than all of a worker for SQLite
if TYPE_CHECKING:
    from typing import Final

KEPT_VARIABLES: Final = ("TZ", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that a worker gets to see of the environment: no keys, no passwords."""


def environment(*more: str) -> dict[str, str]:
    """The variables that a worker is started with; ``more`` names some beyond ``KEPT_VARIABLES``."""
    return {name: os.environ[name] for name in (*KEPT_VARIABLES, *more) if name in os.environ}


def limit_process(memory_bytes: int, file_bytes: int) -> None:
    """Have the system refuse more memory and larger files than that, where it can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, limit in (("DATA", memory_bytes), ("FSIZE", file_bytes), ("CORE", 0)):
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{what}"))
            if hard != resource.RLIM_INFINITY:
                limit = min(limit, hard)
            resource.setrlimit(getattr(resource, f"RLIMIT_{what}"), (limit, limit))
