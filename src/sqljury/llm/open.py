"""A model from its name, with the cache and the limits around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from sqljury.errors import ModelError
from sqljury.llm import adapters, models
from sqljury.llm.base import LanguageModel, NoModel, Wrapper
from sqljury.llm.ledger import Ledger, Metered, Price
from sqljury.llm.prices import Prices

CACHE_FILE = "replies.sqlite"


def open_model(
    name: str | None = None,
    *,
    base: str | None = None,
    cache: bool = True,
    ledger: Ledger | None = None,
    price: Price | Prices | None = None,
    together: int = 1,
) -> LanguageModel:
    """The model of that name: one of the catalogue, a ``.gguf`` file, or a service such as ``openai:NAME``.

    ``vllm:NAME`` is a model on this machine's GPUs. Local ones take an adapter, as ``MODEL+ADAPTER``. Without a name,
    ``base``; without that too, ``SQLJURY_MODEL`` or the embedded default. ``+ADAPTER`` is that model with this
    adapter in place of its own, if any. Weights are loaded when they are first used; those that ``name`` itself names
    must be there now. ``none`` is a model that cannot be asked. ``cache`` keeps replies between runs;
    ``ledger`` counts calls, tokens and dollars at ``price``, which may be a table of prices by model, and holds them to
    its budget; several models may share one. A local model runs up to ``together`` calls at once.
    Raises ``WeightsError``, ``MissingExtraError``, ``ModelAuthError`` or ``ModelError``, and ``InputError`` for a table
    without the model.
    """
    model = _bare(_spec(name, base), together)
    if isinstance(model, NoModel):
        return model  # nothing to cache or count, and steps that look for it find it
    if name and not name.startswith("+"):
        _look_for(name)  # a recipe may come to it only after minutes
    model = metered(model, ledger, price)
    if cache:
        from sqljury.llm.cache import Cached

        model = Cached(model, models.cache_dir() / CACHE_FILE)
    return model


def metered(model: LanguageModel, ledger: Ledger | None, price: Price | Prices | None) -> LanguageModel:
    """The model with a meter around it, if there is a ledger or a price; one that counts in this ledger as it is.

    Raises ``InputError`` for a table of prices without the model.
    """
    if isinstance(model, NoModel) or (ledger is None and price is None) or _counts_in(model, ledger):
        return model
    return Metered(model, ledger or Ledger(), _price_of(model, price))


def _counts_in(model: LanguageModel, ledger: Ledger | None) -> bool:
    """Whether the model, or one within it, is metered in this ledger: a second meter would count each call twice."""
    if isinstance(model, Metered) and model.ledger is ledger:
        return True
    return isinstance(model, Wrapper) and _counts_in(model.model, ledger)


def _price_of(model: LanguageModel, price: Price | Prices | None) -> Price | None:
    if not isinstance(price, Prices):
        return price
    return price.of(model.name) if model.name == NoModel.name else price.needed(model.name)


def by_names(
    names: Iterable[str], model: LanguageModel, opened: Callable[[str], LanguageModel] = open_model
) -> dict[str, LanguageModel]:
    """By name the models of these names, each opened once; ``model`` is not opened again under its own."""
    return {name: model if name == model.name else opened(name) for name in sorted(set(names))}


def _spec(name: str | None, base: str | None) -> str:
    """``name`` in full: what it leaves out, taken from ``base`` or the environment."""
    whole = os.environ.get("SQLJURY_MODEL") or models.DEFAULT
    for spec in filter(None, (base, name)):
        whole = adapters.parse(whole)[0] + spec if spec.startswith("+") else spec
    return whole


def _look_for(spec: str) -> None:
    name, _ = adapters.parse(spec)
    if not _is_service(name):
        models.present(name)


def _is_service(name: str) -> bool:
    return name not in models.CATALOGUE and ":" in name and not name.endswith(".gguf")


def _bare(spec: str, together: int) -> LanguageModel:
    if spec.startswith("vllm:"):
        from sqljury.llm.vllm import VllmModel

        base, _, adapter_folder = spec.removeprefix("vllm:").partition("+")
        return VllmModel(base, adapter_folder)
    name, adapter = adapters.parse(spec)
    if name == NoModel.name:
        return NoModel()
    if _is_service(name):
        from sqljury.llm.api import open_api_model

        if adapter:
            raise ModelError(f"{name} is a service, and adapters are for local models; leave out +{adapter}")
        return open_api_model(name)
    from sqljury.llm.local import LocalModel

    return LocalModel(name, adapter=adapter, together=together)
