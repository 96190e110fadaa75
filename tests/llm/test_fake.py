import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.errors import CancelledError, ModelResponseError, ModelUnavailableError
from sqljury.llm.base import Completion, LanguageModel, Message, Sampling
from sqljury.llm.fake import FakeModel

ASK = [Message("system", "Be brief."), Message("user", "How many orders?")]


def texts(model: FakeModel, n: int = 1, sampling: Sampling | None = None) -> list[str]:
    return [c.text for c in model.complete(ASK, sampling or Sampling(), n).completions]


def test_it_is_a_language_model() -> None:
    assert isinstance(FakeModel("a"), LanguageModel)


def test_one_text_answers_everything() -> None:
    model = FakeModel("SELECT 1")
    assert texts(model) == ["SELECT 1"]
    assert texts(model, 3) == ["SELECT 1"] * 3


def test_a_sequence_answers_call_by_call_and_a_list_in_it_sample_by_sample() -> None:
    model = FakeModel(["a", ["b", "c"], ModelUnavailableError("busy")])
    assert texts(model) == ["a"]
    assert texts(model, 3) == ["b", "c", "b"]
    with pytest.raises(ModelUnavailableError, match="busy"):
        texts(model)
    with pytest.raises(ModelResponseError, match=r"script has ended.*How many orders"):
        texts(model)


def test_a_mapping_answers_by_what_the_prompt_holds() -> None:
    model = FakeModel({"customers": "no", re.compile(r"how many \w+", re.I): "yes"})
    assert texts(model) == ["yes"]
    with pytest.raises(ModelResponseError, match="No pattern"):
        model.complete([Message("user", "hello")], Sampling())


def test_a_function_answers_anything() -> None:
    model = FakeModel(lambda call: [f"{call.sampling.seed}-{i}" for i in range(call.n)])
    assert texts(model, 2, Sampling(seed=4)) == ["4-0", "4-1"]


def test_calls_are_recorded() -> None:
    model = FakeModel("a")
    texts(model, 2, Sampling(temperature=0.8))
    assert model.calls[0].n == 2
    assert model.calls[0].sampling.temperature == 0.8
    assert model.calls[0].prompt == "Be brief.\n\nHow many orders?"


def test_stop_and_max_tokens_end_a_text() -> None:
    assert texts(FakeModel("SELECT 1; -- one"), sampling=Sampling(stop=("--", ";"))) == ["SELECT 1"]
    (cut,) = FakeModel("a b c d").complete(ASK, Sampling(max_tokens=2)).completions
    assert (cut.text, cut.finish_reason) == ("a b", "length")


def test_log_probabilities_depend_on_the_text_alone() -> None:
    (first,), (second,) = (FakeModel("SELECT 1").complete(ASK, Sampling(seed=s)).completions for s in (1, 2))
    assert first == second
    assert first.logprob is not None
    assert first.logprob < 0


def test_alternatives_are_given_when_asked_for() -> None:
    (completion,) = FakeModel("SELECT 1").complete(ASK, Sampling(top_logprobs=3)).completions
    for token in completion.tokens:
        assert token.top[0] == (token.text, token.logprob)
        assert len(token.top) == 3
        assert [p for _, p in token.top] == sorted((p for _, p in token.top), reverse=True)


def test_a_completion_is_given_back_as_it_is() -> None:
    wanted = Completion("x", "length")
    assert FakeModel([wanted]).complete(ASK, Sampling(max_tokens=1)).completions == (wanted,)


def test_text_is_streamed() -> None:
    heard: list[tuple[int, str]] = []
    FakeModel([["a b", "c"]]).complete(ASK, Sampling(), 2, on_text=lambda i, t: heard.append((i, t)))
    assert heard == [(0, "a"), (0, " b"), (1, "c")]


def test_a_call_can_be_cancelled_before_during_and_while_it_waits() -> None:
    cancel = threading.Event()
    with pytest.raises(CancelledError):
        FakeModel("a b c").complete(ASK, Sampling(), cancel=cancel, on_text=lambda *_: cancel.set())
    with pytest.raises(CancelledError):
        FakeModel("a").complete(ASK, Sampling(), cancel=cancel)
    cancel = threading.Event()
    threading.Timer(0.05, cancel.set).start()
    with pytest.raises(CancelledError):
        FakeModel("a", delay=20).complete(ASK, Sampling(), cancel=cancel)


def test_costs_are_counted() -> None:
    cost = FakeModel("SELECT 1").complete(ASK, Sampling(), 2).cost
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens) == (1, 7, 4)


@given(st.text())
def test_tokens_make_up_the_text(text: str) -> None:
    (completion,) = FakeModel(text).complete(ASK, Sampling(max_tokens=10_000)).completions
    assert "".join(token.text for token in completion.tokens) == completion.text == text
