import logging

import pytest

from extras import needs
from sqljury.errors import InputError, ModelAuthError
from sqljury.llm.api import BACKENDS, open_api_model, parse_spec
from sqljury.llm.api.spec import HOSTS, KEY_VARIABLES, read_key
from sqljury.llm.base import LanguageModel

needs("openai", "anthropic", "google.genai")

ALL_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "SQLJURY_API_KEY")


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ALL_KEYS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-5-mini", ("openai", "gpt-5-mini", None)),
        ("openai:qwen2.5-coder:7b", ("openai", "qwen2.5-coder:7b", None)),
        (
            "openai:qwen2.5-coder:7b@http://127.0.0.1:11434/v1/",
            ("openai", "qwen2.5-coder:7b", "http://127.0.0.1:11434/v1"),
        ),
        (
            "anthropic:claude@20260101@https://proxy.example/x",
            ("anthropic", "claude@20260101", "https://proxy.example/x"),
        ),
        ("gemini:models/gemini-3", ("gemini", "models/gemini-3", None)),
    ],
)
def test_a_spec_is_read(text: str, expected: tuple[str, str, str | None]) -> None:
    spec = parse_spec(text)
    assert spec == expected
    assert spec.name == text.rstrip("/")


@pytest.mark.parametrize("text", ["", "openai:", "gpt", "openai gpt", "openai:a b", "openai:m@http://", "nobody:gpt"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_spec(text)


@pytest.mark.parametrize(
    "text",
    [
        "openai:m@https://user:hunter2@host.example/v1",
        "openai:m@https://hunter2@host.example/v1",
        "openai:m@https://host.example/v1?api-key=hunter2",
        "openai:m@https://host.example/v1#hunter2",
        "openai:m@https://host.example:hunter2/v1",
        "openai:m n@https://user:hunter2@host.example/v1",
    ],
)
def test_secrets_in_an_address_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as caught:
        open_api_model(text)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_registry_names_the_same_vendors_everywhere() -> None:
    assert set(BACKENDS) == set(HOSTS) == set(KEY_VARIABLES)


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("openai:m@https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
        ("openai:m@https://api.openai.com.evil.example/v1", "SQLJURY_API_KEY"),
        ("openai:m@https://evilopenai.com/v1", "SQLJURY_API_KEY"),
        ("openai:m@http://api.openai.com/v1", "SQLJURY_API_KEY"),
        ("openai:m@http://127.0.0.1:1/v1", "SQLJURY_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("anthropic:m@https://proxy.example", "SQLJURY_API_KEY"),
        ("gemini:m", "GEMINI_API_KEY"),
    ],
)
def test_a_key_goes_to_its_vendor_only(no_keys: pytest.MonkeyPatch, text: str, variable: str) -> None:
    for name in ALL_KEYS:
        no_keys.setenv(name, f"key of {name}")
    assert read_key(parse_spec(text)) == f"key of {variable}"


def test_gemini_takes_googles_variable_too(no_keys: pytest.MonkeyPatch) -> None:
    no_keys.setenv("GOOGLE_API_KEY", "g")
    assert read_key(parse_spec("gemini:m")) == "g"


@pytest.mark.parametrize("vendor", sorted(BACKENDS))
def test_a_missing_key_is_named(no_keys: pytest.MonkeyPatch, vendor: str) -> None:
    with pytest.raises(ModelAuthError, match=KEY_VARIABLES[vendor][0]):
        open_api_model(f"{vendor}:m")
    with pytest.raises(ModelAuthError, match="SQLJURY_API_KEY"):
        open_api_model(f"{vendor}:m@https://proxy.example/v1")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.9.9.9"])
@pytest.mark.parametrize("vendor", sorted(BACKENDS))
def test_this_machine_needs_no_key(no_keys: pytest.MonkeyPatch, vendor: str, host: str) -> None:
    model = open_api_model(f"{vendor}:m@http://{host}/v1")
    assert isinstance(model, LanguageModel)
    assert model.name == f"{vendor}:m@http://{host}/v1"


def test_a_key_over_plain_http_is_warned_of(no_keys: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    no_keys.setenv("SQLJURY_API_KEY", "topsecret")
    with caplog.at_level(logging.WARNING):
        read_key(parse_spec("openai:m@http://192.0.2.1/v1"))
    assert "unencrypted" in caplog.text
    assert "topsecret" not in caplog.text
