"""Calls of several threads to the embedded engine, on real weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqljury.errors import CancelledError
from sqljury.llm import engine
from sqljury.llm.base import Message, Reply, Sampling
from sqljury.llm.local import LocalModel

pytestmark = pytest.mark.weights

SCHEMA = "You know these tables: " + ", ".join(f"table_{number}" for number in range(40))


@pytest.fixture
def together(cached_weights: Path, tmp_path: Path) -> Iterator[LocalModel]:
    model = LocalModel("smollm2-135m", slots=2, context=1024, states=tmp_path / "states", together=3)
    yield model
    model.close()


def asked(number: int) -> list[Message]:
    return [Message("system", SCHEMA), Message("user", f"How many rows has table_{number}?")]


def all_of(model: LocalModel, count: int) -> dict[int, Reply]:
    """The replies to so many questions, asked at once; the odd ones are asked for two samples."""
    replies: dict[int, Reply] = {}

    def ask(number: int) -> None:
        replies[number] = model.complete(asked(number), Sampling(max_tokens=8), 1 + number % 2)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def test_calls_together_read_their_schema_once_and_answer_as_alone(
    together: LocalModel, small_model: LocalModel
) -> None:
    together.complete(asked(0), Sampling(max_tokens=1))
    replies = all_of(together, 6)
    other = together.complete([Message("system", "Be brief."), Message("user", "Hello")], Sampling(max_tokens=4))
    schema_tokens = small_model.count_tokens(SCHEMA)
    assert all(reply.cost.cached_tokens >= schema_tokens for reply in replies.values())
    assert other.cost.cached_tokens < schema_tokens
    alone = [small_model.complete(asked(number), Sampling(max_tokens=8)).completions[0] for number in range(6)]
    # several sequences in one matrix are rounded otherwise than one alone, on some processors by a tenth
    for number, expected in enumerate(alone):
        for completion in replies[number].completions:
            assert completion.tokens[0].text == expected.tokens[0].text
            assert completion.tokens[0].logprob == pytest.approx(expected.tokens[0].logprob, abs=0.25)


def test_a_schema_whose_reading_was_cancelled_is_read_and_shared_by_the_next_calls(
    together: LocalModel, tmp_path: Path
) -> None:
    cancel = threading.Event()
    cancel.set()  # an idle model begins to read before it looks
    with pytest.raises(CancelledError):
        together.complete(asked(0), Sampling(max_tokens=1), cancel=cancel)
    assert list((tmp_path / "states").iterdir()) == []
    first = together.complete(asked(0), Sampling(max_tokens=1))
    replies = all_of(together, 3)
    (kept,) = (tmp_path / "states").iterdir()
    assert kept.suffix == ".state"
    assert first.cost.cached_tokens == 0
    schema_tokens = together.count_tokens(SCHEMA)
    assert all(reply.cost.cached_tokens >= schema_tokens for reply in replies.values())


def test_closing_waits_for_tokens_that_are_being_counted(together: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    request = engine.Engine._request
    counting, go_on = threading.Event(), threading.Event()
    counted: list[int] = []

    def slow(self: engine.Engine, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        counting.set()
        assert go_on.wait(10)
        return request(self, path, body)

    monkeypatch.setattr(engine.Engine, "_request", slow)
    counter = threading.Thread(target=lambda: counted.append(together.count_tokens("SELECT 1")))
    counter.start()
    assert counting.wait(30)
    closer = threading.Thread(target=together.close)
    closer.start()
    closer.join(0.3)
    go_on.set()
    counter.join()
    closer.join()
    assert counted
    assert together._loaded.engine is None
