"""Adapters by name and path, and what shares the weights that they are added to."""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqljury import Pipeline, Session, recipes
from sqljury.cli import _guarded
from sqljury.cli.options import adapted
from sqljury.errors import CancelledError, InputError, ModelError, RecipeError, WeightsError
from sqljury.llm import adapters, engine, models
from sqljury.llm.base import Message, Sampling
from sqljury.llm.ledger import Ledger, Metered
from sqljury.llm.local import LocalModel
from sqljury.llm.open import open_model


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path))
    monkeypatch.delenv("SQLJURY_MODEL", raising=False)
    return tmp_path


def made(name: str, content: bytes = b"GGUF one") -> Path:
    folder = adapters.directory()
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.gguf").write_bytes(content)
    return folder / f"{name}.gguf"


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("gemma-3-270m", ("gemma-3-270m", "")),
        ("gemma-3-270m+linker", ("gemma-3-270m", "linker")),
        ("+linker", ("", "linker")),
        ("/w/m.gguf+/a/l.gguf", ("/w/m.gguf", "/a/l.gguf")),
        ("gemma-3-270m+/a/l.gguf", ("gemma-3-270m", "/a/l.gguf")),
        ("/odd+folder/m.gguf", ("/odd+folder/m.gguf", "")),
        ("openai:gpt+linker", ("openai:gpt", "linker")),
    ],
)
def test_a_spec_names_a_model_and_an_adapter(spec: str, parts: tuple[str, str]) -> None:
    assert adapters.parse(spec) == parts


def test_a_file_that_is_there_is_no_spec(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf+x.gguf"
    file.write_bytes(b"GGUF")
    assert adapters.parse(str(file)) == (str(file), "")


def test_an_adapter_is_found_by_name_and_by_path() -> None:
    file = made("linker")
    found = adapters.find("linker")
    assert found == adapters.find(str(file))
    assert found.sha256 == hashlib.sha256(b"GGUF one").hexdigest()


def test_what_is_no_adapter_is_told_apart(tmp_path: Path) -> None:
    made("linker")
    with pytest.raises(WeightsError, match=r"no adapter 'critic'; known are linker, sqljury-writer, or"):
        adapters.find("critic")
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(WeightsError, match="is not a GGUF"):
        adapters.find(str(tmp_path / "text.gguf"))


def entry(sha256: str) -> bytes:
    """The head of an adapter that says which weights it is for, as GGUF writes it."""
    key, kind = adapters.SERVED.encode(), struct.pack("<I", 8)
    return b"GGUF\3\0\0\0" + struct.pack("<Q", len(key)) + key + kind + struct.pack("<Q", 64) + sha256.encode()


def test_an_adapter_for_other_weights_is_refused(tmp_path: Path) -> None:
    made("small", entry(models.CATALOGUE["smollm2-135m"].sha256))
    assert LocalModel("smollm2-135m", adapter="small").name.startswith("smollm2-135m+small@")
    with pytest.raises(WeightsError, match=r"other weights \(smollm2-135m\) than gemma-3-270m; name those before"):
        open_model("gemma-3-270m+small", cache=False)
    made("unknown", entry("0" * 64))
    with pytest.raises(WeightsError, match=r"other weights \(those of SHA-256 0{64}\) than smollm2-135m"):
        LocalModel("smollm2-135m", adapter="unknown")


def test_weights_whose_hash_is_not_known_take_any_adapter(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF")
    made("small", entry("0" * 64))
    assert "+small@" in LocalModel(str(file), adapter="small").name
    assert models.verified(file, hashlib.sha256(b"GGUF").hexdigest())
    with pytest.raises(WeightsError, match="other weights"):
        LocalModel(str(file), adapter="small")
    file.write_bytes(b"GGUF, changed")
    assert models.known_sha256(str(file)) is None
    for odd in (".", "/", "a\0b"):
        assert models.known_sha256(odd) is None


def test_a_recipe_s_adapter_is_worn_by_its_own_weights_that_wear_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made("writer", entry(models.CATALOGUE["smollm2-135m"].sha256))
    recipe = tmp_path / "own.toml"
    recipe.write_text('adapter = "writer"\n[[generate]]\n')

    def pipeline_of(name: str) -> Pipeline:
        return Pipeline.from_recipe(str(recipe), opened=partial(open_model, base=name, cache=False))

    def asked(name: str) -> str:
        return pipeline_of(name).model.name

    plain = "smollm2-135m"
    assert asked(plain) == "smollm2-135m", "its weights are not there"
    monkeypatch.setattr(models, "find", lambda name: tmp_path / name)
    monkeypatch.setattr(models, "present", lambda name: tmp_path / name)
    assert asked(plain).startswith("smollm2-135m+writer@")
    assert asked("gemma-3-270m") == "gemma-3-270m"
    made("own", b"GGUF two")
    assert asked("smollm2-135m+own").startswith("smollm2-135m+own@")
    assert asked("smollm2-135m+none") == "smollm2-135m+none"
    made("judge", entry(models.CATALOGUE["smollm2-135m"].sha256))
    recipe.write_text('adapter = "writer"\n[[generate]]\n[select]\nselector = "tournament"\nadapter = "judge"\n')

    def judging(name: str) -> list[str]:
        pipeline = pipeline_of(name)
        assert pipeline.recipe.select.adapter == ("" if pipeline.others() else "judge")
        return [other.name.partition("@")[0] for other in pipeline.others()]

    assert judging(plain) == ["smollm2-135m+judge"]
    assert judging("gemma-3-270m") == []
    assert judging("smollm2-135m+none") == []
    recipe.write_text('[[generate]]\n[select]\nselector = "tournament"\nadapter = "judge"\njudge = "+judge"\n')
    with pytest.raises(RecipeError, match="is worn by the model that writes; write it behind"):
        judging(plain)
    recipe.write_text('adapter = "nosuch"\n[[generate]]\n')
    with pytest.raises(WeightsError, match="no adapter 'nosuch'"):
        asked(plain)


def test_a_model_that_is_given_is_asked_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shop: Path) -> None:
    """Its context, its meter and its cache would be lost with another model in its place."""
    made("writer", entry(models.CATALOGUE["smollm2-135m"].sha256))
    recipe = tmp_path / "own.toml"
    recipe.write_text('adapter = "writer"\n[[generate]]\n[select]\nselector = "tournament"\nadapter = "writer"\n')
    monkeypatch.setattr(models, "find", lambda name: tmp_path / name)
    monkeypatch.setattr(models, "present", lambda name: tmp_path / name)
    given = Metered(LocalModel("smollm2-135m", context=1024), Ledger())
    with Session(shop, recipe=str(recipe), model=given) as session:
        assert session.pipeline.model is given
        assert session.pipeline.others() == []
    with Session(shop, recipe=str(recipe), model="smollm2-135m", cache=False) as session:
        assert session.pipeline.model.name.startswith("smollm2-135m+writer@")


def test_two_adapters_for_one_model_are_refused() -> None:
    assert adapted(None, "two") == "+two"
    assert adapted("gemma-3-270m", "two") == "gemma-3-270m+two"
    assert adapted("gemma-3-270m+one", None) == "gemma-3-270m+one"
    with pytest.raises(InputError, match=r"gemma-3-270m\+one already names an adapter; .* leave out --adapter two"):
        adapted("gemma-3-270m+one", "two")


def test_adapters_are_listed_with_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(["models", "list"]) == 0
    assert "Adapters for --adapter NAME: sqljury-writer\n" in capsys.readouterr().out
    made("linker")
    made("[x] \x1b[31mred")
    assert _guarded(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert "Adapters for --adapter NAME: [x]  [31mred, linker, sqljury-writer" in out


def test_a_name_that_could_not_be_found_again_is_refused() -> None:
    assert adapters.named("linker") == adapters.directory() / "linker.gguf"
    for name in ("", "none", "a/b", "../a", "/a", "linker.gguf"):
        with pytest.raises(InputError, match="is not a name for an adapter"):
            adapters.named(name)


def test_an_unknown_adapter_is_told_when_the_model_is_opened() -> None:
    with pytest.raises(WeightsError, match="no adapter 'nosuch'; known are sqljury-writer, or"):
        open_model("smollm2-135m+nosuch", cache=False)


def test_a_service_takes_no_adapter() -> None:
    with pytest.raises(ModelError, match="adapters are for local models; leave out"):
        open_model("openai:gpt+linker", cache=False)


@pytest.mark.parametrize(
    ("name", "base", "opened"),
    [
        (None, None, "qwen2.5-coder-1.5b"),
        (None, "gemma-3-270m+one", "gemma-3-270m+one"),
        ("+two", "gemma-3-270m+one", "gemma-3-270m+two"),
        ("+two", None, "qwen2.5-coder-1.5b+two"),
        ("+two", "+one", "qwen2.5-coder-1.5b+two"),
        ("smollm2-135m", "+one", "smollm2-135m"),
    ],
)
def test_what_a_name_leaves_out_is_the_bases(name: str | None, base: str | None, opened: str) -> None:
    made("one")
    made("two", b"GGUF two")
    models.path("smollm2-135m").parent.mkdir(parents=True, exist_ok=True)
    models.path("smollm2-135m").touch()
    assert open_model(name, base=base, cache=False).name.split("@")[0] == opened


def test_a_retrained_adapter_is_another_model() -> None:
    made("linker")
    before = LocalModel("smollm2-135m", adapter="linker")
    made("linker", b"GGUF retrained")
    after = LocalModel("smollm2-135m", adapter="linker")
    assert len({LocalModel("smollm2-135m").identity, before.identity, after.identity}) == 3
    assert before.name != after.name


def test_models_of_one_file_share_its_weights_and_name_every_adapter() -> None:
    made("one")
    made("two", b"GGUF two")
    plain, one, two = (LocalModel("smollm2-135m", adapter=name) for name in ("", "one", "two"))
    assert plain._loaded is one._loaded is two._loaded
    assert LocalModel("smollm2-135m", slots=2)._loaded is not plain._loaded
    marks = [adapters.find(name).sha256 for name in ("one", "two")]
    assert list(plain._loaded.adapters) == marks
    plain._loaded.known = tuple(marks)  # as an engine that is started has them
    scales = [plain._loaded.scales(model._adapter) for model in (plain, one, two)]
    assert scales == [
        [{"id": 0, "scale": 0.0}, {"id": 1, "scale": 0.0}],
        [{"id": 0, "scale": 1.0}, {"id": 1, "scale": 0.0}],
        [{"id": 0, "scale": 0.0}, {"id": 1, "scale": 1.0}],
    ]


def test_a_call_that_runs_keeps_no_other_weights_waiting() -> None:
    made("one")
    busy = LocalModel("smollm2-135m")
    with busy._loaded.lock:
        waiting = threading.Thread(target=LocalModel, args=("smollm2-135m",), kwargs={"adapter": "one"})
        waiting.start()
        LocalModel("gemma-3-270m", adapter="one")
        assert waiting.is_alive()
    waiting.join(10)
    assert not waiting.is_alive()


class Idle:
    """An engine whose streams can be cancelled and end at once otherwise; it notes what it reads."""

    def __init__(self, options: engine.Options) -> None:
        self.options, self.states = options, options.states
        self.read: list[str] = []

    def stream(self, body: dict[str, Any], cancel: threading.Event | None) -> Generator[dict[str, Any], None, None]:
        if cancel is not None and cancel.is_set():
            raise CancelledError("stopped while the model was writing")
        self.read.append(body["messages"][0]["content"])
        yield {"choices": [{"index": at, "delta": {}, "finish_reason": "stop"} for at in range(body.get("n", 1))]}

    def forget(self) -> None:
        self.read.append("(nothing)")

    def save(self, _slot: int, file: Path) -> None:
        file.touch()

    def restore(self, _slot: int, file: Path) -> bool:
        self.read.append("(restored)")
        return file.exists()


def test_a_change_of_adapter_that_was_cancelled_leaves_nothing_in_the_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "Engine", Idle)
    monkeypatch.setattr(models, "resolve", lambda _: made("weights"))
    made("one")
    plain, one = (LocalModel("smollm2-135m", states=tmp_path, adapter=name, together=2) for name in ("", "one"))
    asked = [Message("system", "a schema"), Message("user", "Who sings?")]
    plain.complete(asked, Sampling())
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        one.complete(asked, Sampling(), cancel=cancel)
    running = plain._loaded.engine
    assert isinstance(running, Idle)
    before = len(running.read)
    plain.complete(asked, Sampling())
    assert running.read[before:] == ["", "", "(nothing)", "(restored)", "(restored)", "a schema"]


def test_weights_are_forgotten_with_their_last_model() -> None:
    from sqljury.llm import local as loaded

    model = LocalModel("smollm2-135m", context=1234)
    key = model._loaded.key
    assert key in loaded._SHARED
    del model
    assert key not in loaded._SHARED


def test_the_writer_of_the_package_is_for_the_default_model_and_is_small() -> None:
    file = adapters.PACKAGED / "sqljury-writer.gguf"
    assert adapters.served(file) == models.CATALOGUE[models.DEFAULT].sha256
    assert file.stat().st_size <= 20_000_000
    worn = {name for name in recipes.names() if recipes.load(name).adapter}
    assert worn == {"choose", "default", "fast", "max"}
