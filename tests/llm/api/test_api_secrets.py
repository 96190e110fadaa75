"""No key in an error, a traceback, a representation, a log or a cache, whatever a service says."""

import gc
import logging
import sys
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_service import SECRET, Said, Service

from extras import needs
from sqljury.errors import ModelError
from sqljury.llm.api import BACKENDS, ApiModel, Retry, open_api_model
from sqljury.llm.api.spec import redactor
from sqljury.llm.base import Message, Sampling
from sqljury.llm.cache import Cached, call_key

needs("openai", "anthropic", "google.genai")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("keys")]

ASK = [Message("user", "How many?")]
SPEAKS = f"key {SECRET} refused, Bearer {SECRET}, url https://user:{SECRET}@host/?key={SECRET}"


def opened(service: Service, vendor: str) -> ApiModel:
    path = "/v1" if vendor == "openai" else ""
    return open_api_model(f"{vendor}:m@{service.url}{path}", retry=Retry(attempts=2, sleep=lambda _: None))


ANSWERS = {
    "refused": Said({"error": {"message": SPEAKS, "type": SPEAKS, "code": SPEAKS, "param": SPEAKS}}, 401),
    "failing": Said({"error": {"message": SPEAKS}}, 500),
    "plain": Said(SPEAKS, 400),
    "html": Said(f"<html>{SPEAKS}"),
    "nonsense": Said({"choices": SPEAKS, "content": SPEAKS, "candidates": SPEAKS}),
    "broken": Said({}, broken=True),
    "moved": Said({}, 307, {"Location": "http://127.0.0.1:9/"}),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("vendor", sorted(BACKENDS))
@pytest.mark.parametrize("said", ANSWERS.values(), ids=ANSWERS)
def test_a_failure_shows_no_key(
    service: Service, caplog: pytest.LogCaptureFixture, vendor: str, said: Said, stream: bool
) -> None:
    service.answers = [said]
    model = opened(service, vendor)
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        model.complete(ASK, Sampling(), on_text=(lambda *_: None) if stream else None)
    error = caught.value
    assert service.asked, "the key was really sent"
    assert SECRET in str(service.asked[0].headers)
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # this frame's variables hold the key
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert SECRET not in shown
    assert SECRET not in caplog.text
    assert error.__cause__ is None
    assert error.__context__ is None, "the vendor's exception holds the request with its headers"


@pytest.mark.parametrize("vendor", sorted(BACKENDS))
def test_a_model_shows_no_key(service: Service, vendor: str, tmp_path: Path) -> None:
    model = opened(service, vendor)
    key = call_key(model.name, ASK, Sampling(), 1)
    for shown in (repr(model), str(model), model.name, key, repr(Cached(model, tmp_path / "c")), repr(model.spec)):
        assert SECRET not in shown
    assert SECRET not in repr(vars(model))


@pytest.mark.parametrize("vendor", sorted(BACKENDS))
def test_an_unforeseen_exception_shows_no_key(service: Service, vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(service, vendor)

    def fail(_: object) -> object:
        raise RuntimeError(SPEAKS)

    monkeypatch.setattr(model, "_events", fail)
    with pytest.raises(ModelError) as caught:
        model.complete(ASK, Sampling())
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_keys_of_other_services_are_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "another/secret")
    redact = redactor("mine-own-key")
    assert redact("a mine-own-key b another/secret c another%2Fsecret") == "a [key] b [key] c [key]"
    assert redact("Incorrect API key provided: sk-proj-abc***xyz.") == "Incorrect API key provided: [key]"


def test_words_are_left_alone() -> None:
    text = "The task-force asked about disk-usage; see https://platform.openai.com/account/api-keys."
    assert redactor("none")(text + " none") == text + " none"


@given(st.text(min_size=6).map(str.strip).filter(lambda key: len(key) >= 6), st.text(), st.text())
def test_no_key_survives(key: str, before: str, after: str) -> None:
    if key not in "[key]" and "[key]" not in key:
        assert key not in redactor(key)(before + key + after).replace("[key]", "\0")


def test_no_other_thing_of_ours_holds_the_key(service: Service) -> None:
    model = opened(service, "openai")
    modules = [module for name, module in sys.modules.items() if name.startswith("sqljury")]
    assert all(SECRET not in repr(vars(module)) for module in modules)
    del model
    gc.collect()
