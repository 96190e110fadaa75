"""What is the same for many questions on a database, made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

T = TypeVar("T")

SIZE: Final = 256
"""Things kept at most; those not asked for the longest go first."""


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: list[Any] = field(default_factory=list)


class Kept:
    """What generators made for a database; any number of threads may ask, and each thing is made by one of them.

    The writers of a recipe share it. What is kept must depend on nothing but its key, which names the model and the
    database where they matter, so that a prompt is the same whether or not another question was there before.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, or gave for this key before; what it raises is raised, and nothing kept."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        with entry.lock:
            if not entry.made:
                entry.made.append(make())
            found: T = entry.made[0]
            return found
