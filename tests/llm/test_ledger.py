import threading

import pytest

from sqljury.errors import BudgetExceededError, InputError, ModelUnavailableError
from sqljury.llm.base import LanguageModel, Message, Sampling
from sqljury.llm.fake import FakeModel
from sqljury.llm.ledger import Budget, Ledger, Metered, Price
from sqljury.types import Cost

ASK = [Message("user", "a b c")]  # three tokens to FakeModel
BRIEF = Sampling(max_tokens=2)


def test_it_is_a_language_model_of_the_same_name() -> None:
    model = Metered(FakeModel("x", name="m"), Ledger())
    assert isinstance(model, LanguageModel)
    assert model.name == "m"
    assert model.count_tokens("a b") == 2


def test_costs_add_up_over_models_and_threads() -> None:
    ledger = Ledger()
    metered = [Metered(FakeModel("x y"), ledger) for _ in range(2)]

    def ask() -> None:
        for model in metered:
            for _ in range(20):
                model.complete(ASK, BRIEF)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ledger.spent.calls, ledger.spent.prompt_tokens, ledger.spent.completion_tokens) == (160, 480, 320)


def test_a_call_limit_stops_before_the_call_is_sent() -> None:
    fake = FakeModel("x")
    model = Metered(fake, Ledger(Budget(calls=2)))
    model.complete(ASK, BRIEF)
    model.complete(ASK, BRIEF)
    with pytest.raises(BudgetExceededError, match=r"limit of 2 calls .* 2 spent"):
        model.complete(ASK, BRIEF)
    assert len(fake.calls) == 2


def test_a_token_limit_counts_the_most_the_next_call_can_take() -> None:
    fake = FakeModel("x")
    model = Metered(fake, Ledger(Budget(tokens=10)))
    model.complete(ASK, BRIEF, 3)  # at most 3 + 3 * 2, in truth 3 + 3
    with pytest.raises(BudgetExceededError, match=r"limit of 10 tokens .* 6 spent, and it may take up to 5"):
        model.complete(ASK, BRIEF)
    assert len(fake.calls) == 1


def test_a_dollar_limit_stops_at_the_price_given() -> None:
    price = Price(input=1.0, output=10.0, cached_input=0.1)
    assert price.usd(Cost(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)) == pytest.approx(
        0.6 + 0.04 + 1.0
    )
    ledger = Ledger(Budget(usd=0.00004))
    model = Metered(FakeModel("x"), ledger, price)
    assert model.complete(ASK, BRIEF).cost.usd == pytest.approx(13e-6)
    model.complete(ASK, BRIEF)
    with pytest.raises(BudgetExceededError, match=r"limit of 4e-05 dollars .* 2.6e-05 spent"):
        model.complete(ASK, BRIEF)
    assert ledger.spent.usd == pytest.approx(26e-6)


def test_a_dollar_limit_without_a_price_would_never_stop_anything() -> None:
    with pytest.raises(InputError, match="price"):
        Metered(FakeModel("x"), Ledger(Budget(usd=1.0)))


def test_a_prompt_sent_for_each_sample_is_counted_for_each() -> None:
    fake = FakeModel("x")
    fake.prompt_per_sample = True  # type: ignore[attr-defined]
    with pytest.raises(BudgetExceededError, match="up to 10"):
        Metered(fake, Ledger(Budget(tokens=9))).complete(ASK, BRIEF, 2)


def test_calls_side_by_side_cannot_pass_the_limit_together() -> None:
    fake = FakeModel("x", delay=0.05)
    model = Metered(fake, Ledger(Budget(calls=3)))
    refused = []

    def ask() -> None:
        try:
            model.complete(ASK, BRIEF)
        except BudgetExceededError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.calls) == 3
    assert len(refused) == 5
    assert any("held for calls under way" in text for text in refused)


def test_a_failed_call_counts_as_a_call_and_frees_what_it_held() -> None:
    ledger = Ledger(Budget(calls=2))
    model = Metered(FakeModel([ModelUnavailableError("busy"), "x"]), ledger)
    with pytest.raises(ModelUnavailableError):
        model.complete(ASK, BRIEF)
    assert ledger.spent.calls == 1
    assert ledger.spent.seconds > 0
    model.complete(ASK, BRIEF)
    assert ledger.spent.calls == 2


def test_what_was_used_elsewhere_counts_too() -> None:
    ledger = Ledger(Budget(calls=1))
    ledger.add(Cost(calls=1))
    with pytest.raises(BudgetExceededError):
        Metered(FakeModel("x"), ledger).complete(ASK, BRIEF)
