"""Calls with one state run together, others in turn, and none waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sqljury.errors import CancelledError, ModelError
from sqljury.llm import together
from sqljury.llm.together import Together

WAIT = 10.0


def nothing() -> None:
    """A state that needs no preparation."""


@dataclass
class Clock:
    """The clock of ``together``, which goes on when it is told to."""

    seconds: float = 0.0

    def monotonic(self) -> float:
        """Seconds since the start of the test."""
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(together, "time", made)
    return made


class Calls:
    """Calls in threads of their own, each of which stays inside until it is let go."""

    def __init__(self, order: Together, prepare: Callable[[], object] = nothing) -> None:
        self.order = order
        self._prepare = prepare
        self.inside: list[str] = []
        self.numbers: dict[str, int] = {}
        self.prepared: list[str] = []
        self._doors: dict[str, threading.Event] = {}
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        for door in self._doors.values():
            door.set()
        for thread in self._threads:
            thread.join(WAIT)

    def begin(self, name: str, state: str) -> None:
        """Begin a call; returns once it waits or is inside."""
        self._doors[name] = threading.Event()
        waiting = len(self.order._waiting)
        thread = threading.Thread(target=self._call, args=(name, state), daemon=True)
        self._threads.append(thread)
        thread.start()
        self._until(lambda: name in self.inside or len(self.order._waiting) > waiting)

    def end(self, name: str) -> None:
        """Let a call that is inside go, and wait until it has."""
        self._doors[name].set()
        self._until(lambda: name not in self.inside)

    def expect(self, *names: str) -> None:
        """Wait until exactly these are inside."""
        self._until(lambda: sorted(self.inside) == sorted(names))

    def _call(self, name: str, state: str) -> None:
        def prepare() -> None:
            self.prepared.append(state)
            self._prepare()

        with self.order.taken(state, prepare) as number:
            with self._changed:
                self.inside.append(name)
                self.numbers[name] = number
                self._changed.notify_all()
            assert self._doors[name].wait(WAIT)
            with self._changed:
                self.inside.remove(name)
                self._changed.notify_all()

    def _until(self, holds: Callable[[], bool]) -> None:
        with self._changed:
            for _ in range(int(WAIT / 0.01)):
                if holds():
                    return
                self._changed.wait(0.01)
            raise AssertionError(f"inside: {self.inside}")


def test_one_at_a_time_each_prepares_its_state() -> None:
    with Calls(Together()) as calls:
        calls.begin("one", "A")
        calls.begin("two", "A")
        calls.expect("one")
        calls.end("one")
        calls.expect("two")
        calls.end("two")
        assert calls.prepared == ["A", "A"]
        assert set(calls.numbers.values()) == {0}


def test_calls_with_one_state_run_together_up_to_the_most_each_at_a_place_of_its_own() -> None:
    with Calls(Together(2)) as calls:
        for name in ("one", "two", "three"):
            calls.begin(name, "A")
        calls.expect("one", "two")
        assert sorted(calls.numbers.values()) == [0, 1]
        calls.end("one")
        calls.expect("two", "three")
        assert calls.numbers["three"] == calls.numbers["one"]
        assert calls.prepared == ["A"]


def test_another_state_waits_until_the_slots_are_free_while_others_may_go_before_it() -> None:
    with Calls(Together(2)) as calls:
        calls.begin("one", "A")
        calls.begin("other", "B")
        calls.begin("two", "A")
        calls.expect("one", "two")
        calls.end("one")
        calls.end("two")
        calls.expect("other")
        assert calls.prepared == ["A", "B"]


def test_nobody_waits_for_ever_behind_calls_that_fit_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "PATIENCE_SECONDS", 0.0)
    with Calls(Together(2)) as calls:
        calls.begin("one", "A")
        calls.begin("other", "B")
        calls.begin("two", "A")
        calls.expect("one")
        calls.end("one")
        calls.expect("other")
        calls.end("other")
        calls.expect("two")


@pytest.mark.parametrize("preparing", [0.0, 30.0])
def test_calls_in_mixed_order_run_together_however_long_they_have_waited(clock: Clock, preparing: float) -> None:
    def prepare() -> None:
        clock.seconds += preparing

    with Calls(Together(2), prepare) as calls:
        calls.begin("one", "A")
        for name, state in (("first", "B"), ("two", "A"), ("second", "B"), ("three", "A")):
            calls.begin(name, state)
            clock.seconds += together.PATIENCE_SECONDS + 1
        calls.end("one")
        calls.expect("first", "second")
        calls.end("first")
        calls.end("second")
        calls.expect("two", "three")
        assert calls.prepared[-2:] == ["B", "A"]


def test_a_state_that_others_wait_for_gets_its_turn_after_ten_seconds_of_another(clock: Clock) -> None:
    with Calls(Together(2)) as calls:
        calls.begin("one", "A")
        calls.begin("other", "B")
        clock.seconds += together.PATIENCE_SECONDS - 1
        calls.begin("two", "A")
        calls.expect("one", "two")
        clock.seconds += 2
        calls.begin("three", "A")
        calls.end("two")
        calls.expect("one")
        calls.end("one")
        calls.expect("other")


def test_what_cannot_be_prepared_leaves_the_slots_to_the_next() -> None:
    order = Together(2)

    def fail() -> None:
        raise ModelError("no weights")

    with pytest.raises(ModelError, match="no weights"), order.taken("A", fail):
        raise AssertionError("not reached")
    prepared: list[bool] = []
    with order.taken("A", lambda: prepared.append(True)):
        assert prepared


def test_a_call_that_waits_can_be_cancelled() -> None:
    order = Together()
    cancel = threading.Event()
    cancel.set()
    late = pytest.raises(CancelledError, match="another call")
    with order.taken("A", nothing), late, order.taken("A", nothing, cancel):
        raise AssertionError("not reached")
    with order.taken("B", nothing) as number:  # the one that gave up holds nobody up
        assert number == 0
