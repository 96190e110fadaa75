"""The embedded engine on real weights."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.errors import CancelledError, ContextLengthError, ModelError, WeightsError
from sqljury.llm import engine, models
from sqljury.llm.base import Fixed, LanguageModel, Message, Sampling
from sqljury.llm.local import LocalModel

pytestmark = pytest.mark.weights

SCHEMA = Message(
    "system", "You write SQLite queries and nothing else.\n\nCREATE TABLE singer (id INT, name TEXT, age INT);"
)
HOT = Sampling(temperature=1.0, seed=5, max_tokens=12)


@pytest.fixture
def fresh(cached_weights: Path, tmp_path: Path) -> Iterator[LocalModel]:
    model = LocalModel("smollm2-135m", slots=2, context=1024, states=tmp_path / "states")
    yield model
    model.close()


def user(text: str) -> list[Message]:
    return [SCHEMA, Message("user", text)]


def test_it_is_a_language_model(small_model: LocalModel) -> None:
    assert isinstance(small_model, LanguageModel)
    assert small_model.name == "smollm2-135m"


def test_samples_differ_and_carry_their_tokens(small_model: LocalModel) -> None:
    reply = small_model.complete(user("Tell me about singers."), HOT, 3)
    assert len({completion.text for completion in reply.completions}) == 3
    for completion in reply.completions:
        assert completion.finish_reason == "length"
        assert len(completion.tokens) == 12
        assert "".join(token.text for token in completion.tokens) == completion.text
        assert completion.logprob is not None
        assert completion.logprob < 0
    assert reply.cost.calls == 1
    assert reply.cost.completion_tokens == 36


def test_more_samples_than_slots_take_turns(small_model: LocalModel) -> None:
    reply = small_model.complete(user("Tell me about singers."), HOT, 6)
    assert len({completion.text for completion in reply.completions}) == 6


def test_a_reply_depends_on_the_request_alone(small_model: LocalModel, fresh: LocalModel) -> None:
    first = small_model.complete(user("Who sings?"), HOT, 2)
    small_model.complete(user("Who sings best, and where?"), HOT, 2)
    small_model.complete([Message("user", "Something else.")], HOT)
    again = small_model.complete(user("Who sings?"), HOT, 2)
    elsewhere = fresh.complete(user("Who sings?"), HOT, 2)
    assert first.completions == again.completions == elsewhere.completions
    other = small_model.complete(user("Who sings?"), Sampling(temperature=1.0, seed=6, max_tokens=12), 2)
    assert other.completions != first.completions


def test_greedy_is_the_likeliest(small_model: LocalModel) -> None:
    reply = small_model.complete(user("Who sings?"), Sampling(max_tokens=6, top_logprobs=3))
    for token in reply.completions[0].tokens:
        assert token.top[0] == (token.text, token.logprob)
        assert len(token.top) == 3


def test_fixed_turns_are_kept_upon_the_system_message(cached_weights: Path, tmp_path: Path) -> None:
    example = Fixed("user", "Which singers are older than thirty, and from which country?"), Fixed("assistant", "All.")
    asked = [[SCHEMA, *example, Message("user", question)] for question in ("Who sings?", "Who is old?")]
    states = tmp_path / "states"
    first = LocalModel("smollm2-135m", slots=2, context=1024, states=states)
    cold = first.complete(asked[0], HOT)
    alone = first.complete([SCHEMA, asked[0][-1]], HOT)
    warm = first.complete(asked[1], HOT)
    kept = first.count_tokens("".join(turn.content for turn in (SCHEMA, *example)))
    first.close()
    second = LocalModel("smollm2-135m", slots=2, context=1024, states=states)
    restored = second.complete(asked[0], HOT)
    second.close()
    assert cold.cost.cached_tokens == 0
    assert 0 < alone.cost.cached_tokens < kept, "the system message alone"
    assert warm.cost.cached_tokens >= kept
    assert restored.cost.cached_tokens >= kept
    assert restored.completions == cold.completions
    assert len(list(states.iterdir())) == 2
    other = LocalModel("smollm2-135m", slots=2, context=1024, states=tmp_path / "other")
    other.complete([SCHEMA, asked[0][-1]], HOT)
    assert other.complete(asked[0], HOT).completions == cold.completions, "whoever reads the system message first"
    other.close()


def test_the_prefix_is_computed_once_and_kept_on_disk(cached_weights: Path, tmp_path: Path) -> None:
    states = tmp_path / "states"
    first = LocalModel("smollm2-135m", slots=2, context=1024, states=states)
    cold = first.complete(user("Who sings?"), HOT)
    warm = first.complete(user("Who is old?"), HOT)
    first.close()
    second = LocalModel("smollm2-135m", slots=2, context=1024, states=states)
    restored = second.complete(user("Who sings?"), HOT)
    prefix = second.count_tokens(SCHEMA.content)
    second.close()
    assert cold.cost.cached_tokens == 0
    assert warm.cost.cached_tokens >= prefix
    assert restored.cost.cached_tokens >= prefix
    assert restored.completions == cold.completions
    (kept,) = states.iterdir()
    assert kept.suffix == ".state"
    assert stat.S_IMODE(states.stat().st_mode) == 0o700


def test_a_damaged_state_is_computed_again(fresh: LocalModel, tmp_path: Path) -> None:
    before = fresh.complete(user("Who sings?"), HOT)
    (kept,) = (tmp_path / "states").iterdir()
    kept.write_bytes(b"nonsense")
    after = fresh.complete(user("Who sings?"), HOT)
    assert after.completions == before.completions
    assert after.cost.cached_tokens == 0


def test_states_are_bounded(fresh: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.llm.states.STATES_BYTES", 1)
    for number in range(3):
        fresh.complete([Message("system", f"Prefix {number}"), Message("user", "Hi")], Sampling(max_tokens=1))
    assert len(list((tmp_path / "states").iterdir())) == 1


def test_a_folder_that_others_can_enter_is_not_used(cached_weights: Path, tmp_path: Path) -> None:
    states = tmp_path / "states"
    states.mkdir(mode=0o755)
    model = LocalModel("smollm2-135m", slots=1, context=1024, states=states)
    with pytest.warns(RuntimeWarning, match="others can enter it; run: chmod 700"):
        cold = model.complete(user("Who sings?"), HOT)
    warm = model.complete(user("Who sings?"), HOT)
    instead = model._loaded.engine.states  # type: ignore[union-attr]
    assert stat.S_IMODE(instead.stat().st_mode) == 0o700
    model.close()
    assert warm.completions == cold.completions
    assert warm.cost.cached_tokens > 0
    assert list(states.iterdir()) == []
    assert stat.S_IMODE(states.stat().st_mode) == 0o755
    assert not instead.exists()


def test_states_that_is_a_file(cached_weights: Path, tmp_path: Path) -> None:
    (tmp_path / "states").write_text("")
    model = LocalModel("smollm2-135m", slots=1, context=1024, states=tmp_path / "states")
    with pytest.warns(RuntimeWarning, match="it is not a folder"):
        assert model.complete(user("Who sings?"), HOT).completions
    model.close()


def test_a_state_that_cannot_be_saved_is_read_again(
    fresh: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        with pytest.warns(RuntimeWarning, match="No space left"):
            unkept = fresh.complete(user("Who sings?"), HOT)
    assert list((tmp_path / "states").iterdir()) == []
    assert fresh.complete(user("Who sings?"), HOT).completions == unkept.completions


def test_states_that_vanish_are_no_trouble(fresh: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fresh.complete(user("Who sings?"), HOT)

    def gone(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("os.utime", gone)  # another process deleted it just now
    assert fresh.complete(user("Who sings?"), HOT).completions == first.completions
    left = tmp_path / "states" / "x.0123.tmp"
    left.write_text("by a process that was killed")
    monkeypatch.undo()
    os.utime(left, (0, 0))
    fresh.complete([Message("system", "Another"), Message("user", "Hi")], Sampling(max_tokens=1))
    assert not left.exists()
    monkeypatch.setattr("os.scandir", gone)
    fresh.complete([Message("system", "Yet another"), Message("user", "Hi")], Sampling(max_tokens=1))


def test_what_caches_tell_models_apart_by(monkeypatch: pytest.MonkeyPatch) -> None:
    one = LocalModel("smollm2-135m")
    found = {one.identity, LocalModel("smollm2-135m", slots=4).identity, LocalModel("gemma-3-270m").identity}
    monkeypatch.setattr("sqljury.llm.engine.version", lambda: "0")
    assert len({*found, one.identity}) == 4
    assert models.entry("smollm2-135m").sha256 in one.identity
    assert one.name == "smollm2-135m"
    assert LocalModel("~nosuch/x.gguf").name == "~nosuch/x.gguf"


def test_a_call_after_one_that_was_given_up_waits_for_it(small_model: LocalModel) -> None:
    alone = small_model.complete(user("Who sings?"), HOT, 2).completions
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    with pytest.raises(CancelledError):
        small_model.complete([Message("system", "word " * 3000), Message("user", "Hi")], HOT, 4, cancel=cancel)
    assert small_model.complete(user("Who sings?"), HOT, 2).completions == alone


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_the_library_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Slim:
        """Finds the library, which then lacks another, as on a system without libgomp1."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "xllamacpp":
                raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Slim(), *sys.meta_path])
    with pytest.raises(ModelError, match=r"xllamacpp cannot be loaded: libgomp\.so\.1.*install the package libgomp1"):
        engine.Engine(engine.Options(tmp_path / "weights.gguf", 1, 64, 1, tmp_path))


def test_ctrl_c_while_the_weights_are_loaded(cached_weights: Path) -> None:
    code = (
        "import signal, threading, os; from pathlib import Path; from sqljury.llm.local import LocalModel\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        "import xllamacpp; model = LocalModel('smollm2-135m', states=Path(os.environ['SQLJURY_CACHE'], 's'))\n"
        "print('loading', flush=True)\n"
        "try: model.count_tokens('x'); signal.pause()\n"
        "except KeyboardInterrupt: os._exit(7)"
    )
    for delay in (0.0, 0.02, 0.05, 0.1):  # it hung one time in ten
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            env={**os.environ, "SQLJURY_CACHE": str(cached_weights)},
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 7


def test_stop_strings_end_the_text(small_model: LocalModel) -> None:
    whole = small_model.complete(user("Count."), Sampling(max_tokens=20)).completions[0].text
    middle = whole[len(whole) // 2 :][:3]
    cut = small_model.complete(user("Count."), Sampling(max_tokens=20, stop=(middle,))).completions[0]
    assert cut.text == whole[: whole.index(middle)]
    assert cut.finish_reason == "stop"


def test_a_reply_can_be_held_to_a_schema_or_grammar(small_model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    text = small_model.complete(user("How old?"), Sampling(max_tokens=40, json_schema=schema)).completions[0].text
    assert isinstance(json.loads(text)["age"], int)
    grammar = Sampling(max_tokens=3, grammar='root ::= "yes" | "no"')
    assert small_model.complete(user("Is it?"), grammar).completions[0].text in ("yes", "no")


def test_a_broken_grammar_is_an_error(small_model: LocalModel) -> None:
    with pytest.raises(ModelError, match="grammar"):
        small_model.complete(user("Is it?"), Sampling(grammar="root ::= ("))
    assert small_model.complete(user("Is it?"), HOT).completions  # and the engine goes on


def test_an_assistant_turn_is_continued(small_model: LocalModel) -> None:
    turns = [*user("Count to five."), Message("assistant", "1, 2, 3,")]
    assert small_model.complete(turns, Sampling(max_tokens=3)).completions[0].text.strip().startswith("4")


def test_text_arrives_as_it_is_written(small_model: LocalModel) -> None:
    seen: dict[int, str] = {}

    def note(index: int, text: str) -> None:
        seen[index] = seen.get(index, "") + text

    reply = small_model.complete(user("Who sings?"), HOT, 2, on_text=note)
    assert seen == dict(enumerate(completion.text for completion in reply.completions))


def test_a_prompt_that_is_too_long(fresh: LocalModel) -> None:
    with pytest.raises(ContextLengthError, match="1024"):
        fresh.complete(user("word " * 2000), HOT)
    with pytest.raises(ContextLengthError):
        fresh.complete([Message("system", "word " * 2000), Message("user", "hi")], HOT)
    assert fresh.complete(user("Who sings?"), HOT).completions


def test_cancelling_while_it_writes_and_while_it_waits(small_model: LocalModel) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.3, cancel.set)
    timer.start()
    with pytest.raises(CancelledError):
        small_model.complete(user("Write a long story."), Sampling(temperature=1.0, max_tokens=2500), cancel=cancel)
    assert small_model.complete(user("Who sings?"), HOT).completions
    waiting = threading.Event()
    waiting.set()
    with pytest.raises(CancelledError):
        small_model.complete(user("Who sings?"), HOT, cancel=waiting)


def test_threads_take_turns(small_model: LocalModel) -> None:
    alone = small_model.complete(user("Who sings?"), HOT, 2).completions
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(small_model.complete(user("Who sings?"), HOT, 2).completions))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 3


def test_tokens_are_counted_by_the_models_own_tokenizer(small_model: LocalModel) -> None:
    assert small_model.count_tokens("") == 0
    counted = small_model.count_tokens("SELECT 1")
    bare = small_model.complete([Message("user", "x")], Sampling(max_tokens=1)).cost.prompt_tokens
    longer = small_model.complete([Message("user", "x SELECT 1")], Sampling(max_tokens=1)).cost.prompt_tokens
    assert abs(longer - bare - counted) <= 1  # the blank may join a token


@pytest.mark.skipif(not hasattr(__import__("socket"), "AF_UNIX"), reason="no Unix sockets here")
def test_no_port_is_opened_and_the_socket_is_private(fresh: LocalModel) -> None:
    fresh.count_tokens("x")
    address = fresh._loaded.engine._server.listening_address  # type: ignore[union-attr]
    folder = Path(address.removeprefix("unix://")).parent
    assert address.startswith("unix://")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    if Path("/proc/net/tcp").exists():
        assert not listening_here()
    key = fresh._loaded.engine._key  # type: ignore[union-attr]
    fresh._loaded.engine._key = "guess"  # type: ignore[union-attr]
    with pytest.raises(ModelError, match="401"):
        fresh.count_tokens("x")
    fresh._loaded.engine._key = key  # type: ignore[union-attr]
    fresh.close()
    assert not folder.exists()


def listening_here() -> set[str]:
    """Inodes of listening TCP sockets that this process holds."""
    own = {os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if os.path.islink(entry.path)}
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                found.add(fields[9])
    return found


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(WeightsError, match=r"fake\.gguf"):
        LocalModel(str(fake)).count_tokens("x")


def test_the_second_small_model(cached_weights: Path, tmp_path: Path) -> None:
    model = LocalModel("gemma-3-270m", slots=1, context=512, states=tmp_path)
    began = time.perf_counter()
    reply = model.complete([Message("user", "Say hello.")], Sampling(max_tokens=5))
    model.close()
    assert reply.completions[0].text
    assert 0 < reply.cost.seconds <= time.perf_counter() - began


def test_any_gguf_file_by_path(cached_weights: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mine.gguf"
    copy.symlink_to(models.path("smollm2-135m"))
    model = LocalModel(str(copy), slots=1, context=512, states=tmp_path / "states")
    assert model.name.startswith("mine@")
    assert model.complete([Message("user", "Hi")], Sampling(max_tokens=2)).completions
    model.close()
