import json
import multiprocessing
import os
import sqlite3
import stat
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sqljury.errors import CancelledError, InputError, ModelUnavailableError
from sqljury.llm.base import Completion, LanguageModel, Message, Reply, Sampling, Token
from sqljury.llm.cache import Cached, call_key
from sqljury.llm.fake import FakeModel
from sqljury.llm.ledger import Ledger, Metered

ASK = [Message("user", "How many?")]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield tmp_path / "deep" / "replies.sqlite"


def counting() -> FakeModel:
    return FakeModel(lambda call: f"reply {call.prompt}")


def test_the_second_call_is_answered_from_the_file(path: Path) -> None:
    fake = FakeModel([["SELECT 1", "SELECT 2"]])
    first = Cached(fake, path).complete(ASK, Sampling(top_logprobs=2), 2)
    second = Cached(fake, path).complete(ASK, Sampling(top_logprobs=2), 2)
    assert isinstance(Cached(fake, path), LanguageModel)
    assert second.completions == first.completions
    assert len(fake.calls) == 1
    assert replace(second.cost, seconds=0.0) == replace(second.cost.__class__(), seconds=0.0)
    assert second.cost.seconds > 0


def test_infinite_log_probabilities_and_every_character_survive(path: Path) -> None:
    wanted = Completion("é\ud800\x00'\"", "length", (Token("é", float("-inf"), (("x", -1.5),)),))
    model = Cached(FakeModel([wanted]), path)
    model.complete(ASK, Sampling())
    assert model.complete(ASK, Sampling()).completions == (wanted,)


def test_hits_stay_off_the_meter(path: Path) -> None:
    ledger = Ledger()
    model = Cached(Metered(counting(), ledger), path)
    for _ in range(3):
        model.complete(ASK, Sampling())
    assert ledger.spent.calls == 1


def test_text_is_replayed(path: Path) -> None:
    model = Cached(FakeModel([["a b", "c"]]), path)
    model.complete(ASK, Sampling(), 2)
    heard: list[tuple[int, str]] = []
    model.complete(ASK, Sampling(), 2, on_text=lambda i, t: heard.append((i, t)))
    assert heard == [(0, "a b"), (1, "c")]


def test_a_set_cancel_stops_a_hit_too(path: Path) -> None:
    model = Cached(counting(), path)
    model.complete(ASK, Sampling())
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        model.complete(ASK, Sampling(), cancel=cancel)


def test_errors_are_not_kept(path: Path) -> None:
    model = Cached(FakeModel([ModelUnavailableError("busy"), "ok"]), path)
    with pytest.raises(ModelUnavailableError):
        model.complete(ASK, Sampling())
    assert model.complete(ASK, Sampling()).completions[0].text == "ok"


OTHERS = {
    "temperature": 0.5,
    "top_p": 0.5,
    "max_tokens": 7,
    "seed": 1,
    "stop": (";",),
    "json_schema": {"type": "object"},
    "grammar": 'root ::= "a"',
    "top_logprobs": 1,
}


def test_everything_that_shapes_a_reply_shapes_the_key() -> None:
    assert set(OTHERS) == {field.name for field in fields(Sampling)}
    keys = {call_key("m", ASK, Sampling(), 1)}
    keys |= {call_key("m", ASK, replace(Sampling(), **{name: value}), 1) for name, value in OTHERS.items()}
    keys |= {call_key("other", ASK, Sampling(), 1), call_key("m", ASK, Sampling(), 2)}
    keys |= {call_key("m", [Message("assistant", "How many?")], Sampling(), 1)}
    keys |= {call_key("m", [Message("user", "How"), Message("user", " many?")], Sampling(), 1)}
    assert len(keys) == len(OTHERS) + 5


def test_the_order_of_a_schema_counts_and_its_kind_of_mapping_does_not() -> None:
    def key(schema: object) -> str:
        return call_key("m", ASK, Sampling(json_schema=schema), 1)  # type: ignore[arg-type]

    assert key({"a": 1, "b": 2}) != key({"b": 2, "a": 1})
    assert key(MappingProxyType({"a": 1})) == key({"a": 1})


def test_only_the_owner_can_read_it(path: Path) -> None:
    old = os.umask(0)
    try:
        Cached(counting(), path).complete(ASK, Sampling())
        path.chmod(0o666)
        Cached(counting(), path).complete(ASK, Sampling())
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_prompt_itself_is_not_stored(path: Path) -> None:
    Cached(FakeModel("answer"), path).complete([Message("user", "private question")], Sampling())
    assert b"private question" not in b"".join(p.read_bytes() for p in path.parent.iterdir())


def test_old_replies_are_not_given(path: Path) -> None:
    fake = counting()
    model = Cached(fake, path, max_age=0.05)
    model.complete(ASK, Sampling())
    time.sleep(0.1)
    model.complete(ASK, Sampling())
    assert len(fake.calls) == 2
    Cached(fake, path, max_age=None).complete(ASK, Sampling())
    assert len(fake.calls) == 2


def test_the_longest_unused_go_first(path: Path) -> None:
    fake = FakeModel("x" * 1000)
    model = Cached(fake, path, max_bytes=10_000)

    def ask(text: str) -> None:
        model.complete([Message("user", text)], Sampling())
        time.sleep(0.002)

    for text in ("a", "b", "c", "a", "d", "e", "f", "a"):
        ask(text)
    asked = [call.prompt for call in fake.calls]
    assert asked.count("a") == 1
    ask("b")
    assert [call.prompt for call in fake.calls].count("b") == 2
    with sqlite3.connect(path) as connection:
        assert connection.execute("select sum(size) from reply").fetchone()[0] <= 10_000


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_put_aside_with_a_warning(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(content)
    fake = counting()
    with pytest.warns(RuntimeWarning, match="damaged"):
        model = Cached(fake, path)
    model.complete(ASK, Sampling())
    model.complete(ASK, Sampling())
    assert len(fake.calls) == 1
    assert (tmp_path / "replies.sqlite.damaged").read_bytes() == content


def test_a_file_damaged_later_is_replaced_too(path: Path) -> None:
    fake = counting()
    model = Cached(fake, path)
    model.complete(ASK, Sampling())
    path.write_bytes(b"garbage" * 1000)
    with pytest.warns(RuntimeWarning, match="damaged"):
        model.complete(ASK, Sampling())
    model.complete(ASK, Sampling())
    assert len(fake.calls) == 2


def test_a_database_of_another_kind_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("create table customers (id)")
    before = path.read_bytes()
    with pytest.raises(InputError, match="another kind"):
        Cached(counting(), path)
    assert path.read_bytes() == before


def test_a_reply_that_cannot_be_read_is_asked_for_again(path: Path) -> None:
    fake = counting()
    model = Cached(fake, path)
    model.complete(ASK, Sampling())
    with sqlite3.connect(path) as connection:
        connection.execute("update reply set body = ?", (json.dumps([["a"]]),))
    model.complete(ASK, Sampling())
    model.complete(ASK, Sampling())
    assert len(fake.calls) == 2


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="not used"):
        model = Cached(counting(), tmp_path / "file" / "replies.sqlite")
    with pytest.warns(RuntimeWarning, match="not used"):
        assert model.complete(ASK, Sampling()).completions[0].text == "reply How many?"


def test_a_file_of_an_older_format_begins_anew(path: Path) -> None:
    fake = counting()
    Cached(fake, path).complete(ASK, Sampling())
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 0")
    Cached(fake, path).complete(ASK, Sampling())
    assert len(fake.calls) == 2


def test_clear_forgets_everything(path: Path) -> None:
    fake = counting()
    model = Cached(fake, path)
    model.complete(ASK, Sampling())
    model.clear()
    model.complete(ASK, Sampling())
    assert len(fake.calls) == 2


class _Local(FakeModel):
    """A model whose replies depend on more than its name, and which holds something."""

    identity = "weights 1"
    closed = False

    def close(self) -> None:
        self.closed = True


def test_what_a_model_says_its_replies_depend_on_is_in_the_key(path: Path) -> None:
    model = _Local("SELECT 1")
    wrapped = Cached(Metered(model, Ledger()), path)
    for identity in ("weights 1", "weights 2", "weights 2", "weights 1"):
        model.identity = identity
        wrapped.complete(ASK, Sampling())
    assert len(model.calls) == 2
    assert wrapped.name == "fake"
    assert (wrapped.identity, Cached(FakeModel("x"), path).identity) == ("weights 1", "fake")


def test_closing_reaches_the_model_within(path: Path) -> None:
    model = _Local("SELECT 1")
    Cached(Metered(model, Ledger()), path).close()
    assert model.closed
    Cached(Metered(counting(), Ledger()), path).close()  # a model that holds nothing has no close


def _fill(path: str, start: int) -> None:
    warnings.simplefilter("error")
    model = Cached(counting(), path)
    for number in range(start, start + 25):
        model.complete([Message("user", str(number))], Sampling())


def test_threads_and_processes_share_a_file(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(str(path), start)) for start in (0, 10)]
    threads = [threading.Thread(target=_fill, args=(str(path), start)) for start in (20, 30, 40)]
    for worker in [*processes, *threads]:
        worker.start()
    for worker in [*processes, *threads]:
        worker.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    fake = counting()
    model = Cached(fake, path)
    for number in range(65):
        assert model.complete([Message("user", str(number))], Sampling()).completions[0].text == f"reply {number}"
    assert fake.calls == []


class Slow(FakeModel):
    """A model whose calls took long."""

    def complete(self, *call: Any, **streaming: Any) -> Reply:
        reply = super().complete(*call, **streaming)
        return replace(reply, cost=replace(reply.cost, seconds=1000.0))


def test_a_charged_reply_costs_again_what_it_cost(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    inner = Slow("one two")
    first = Cached(inner, path, charged=True).complete(ASK, Sampling())
    again = Cached(inner, path, charged=True).complete(ASK, Sampling())
    assert (first.ahead, len(inner.calls)) == (0.0, 1)
    assert (again.completions, again.cost) == (first.completions, first.cost)
    assert 500 < again.ahead < 1000  # less the seconds that reading took


@pytest.mark.parametrize("body", ["[[]]", '[["a", "stop", []]]', "[[], 3]", '[[["a", "stop", []]], {"seconds": "1"}]'])
def test_a_kept_reply_without_a_cost_is_asked_for_again(tmp_path: Path, body: str) -> None:
    path = tmp_path / "replies.sqlite"
    inner = FakeModel("one two")
    cached = Cached(inner, path, charged=True)
    cached.complete(ASK, Sampling())
    with sqlite3.connect(path) as connection:
        connection.execute("update reply set body = ?", (body,))
    connection.close()
    assert cached.complete(ASK, Sampling()).completions[0].text == "one two"
    assert len(inner.calls) == 2
