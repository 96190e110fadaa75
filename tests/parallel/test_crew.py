"""Sharing items among workers that say several things at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sqljury.parallel.crew import Message, Start, Worker, share


class Scripted:
    """A crew of one worker of three items; all that it says of them is heard at once."""

    workers, slots = 1, 3

    def __init__(self, *said: Message) -> None:
        self._said = said

    def begin(self, _: Start[Any, Any]) -> Worker:
        return self

    def give(self, number: int, item: Any) -> None:
        """Work on nothing."""

    def end(self) -> None:
        """Nothing runs."""

    def heard(self, pool: Sequence[Worker], _: float) -> list[tuple[Worker, list[Message] | str]]:
        return [(pool[0], list(self._said))]


def test_what_was_said_after_a_failure_is_not_lost() -> None:
    crew = Scripted(
        Message(0, "failed", ValueError("broken")), Message(1, "progress", "half way"), Message(2, "done", "c")
    )
    results: list[tuple[int, str]] = []
    progress: list[str] = []

    shared = share(lambda: lambda item, _: item, "abc", crew, lambda item, *_: item, on_progress=progress.append)
    with pytest.raises(ValueError, match="broken"):
        results.extend(shared)
    assert (results, progress) == ([(2, "c")], ["half way"])
