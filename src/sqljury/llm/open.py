"""A model from its name, with the cache and the limits around it."""

from __future__ import annotations

import os

from sqljury.llm import models
from sqljury.llm.base import LanguageModel
from sqljury.llm.ledger import Ledger, Metered, Price

CACHE_FILE = "replies.sqlite"


def open_model(
    name: str | None = None, *, cache: bool = True, ledger: Ledger | None = None, price: Price | None = None
) -> LanguageModel:
    """The model of that name: one of the catalogue, a ``.gguf`` file, or a service such as ``openai:NAME``.

    Without a name, ``SQLJURY_MODEL`` or the embedded default. ``cache`` keeps replies between runs; ``ledger``
    counts calls, tokens and dollars at ``price`` and holds them to its budget; several models may share one. Raises
    ``WeightsError``, ``MissingExtraError``, ``ModelAuthError`` or ``ModelError``.
    """
    model = _bare(name or os.environ.get("SQLJURY_MODEL") or models.DEFAULT)
    if ledger is not None or price is not None:
        model = Metered(model, ledger or Ledger(), price)
    if cache:
        from sqljury.llm.cache import Cached

        model = Cached(model, models.cache_dir() / CACHE_FILE)
    return model


def _bare(name: str) -> LanguageModel:
    if name not in models.CATALOGUE and ":" in name and not name.endswith(".gguf"):
        from sqljury.llm.api import open_api_model

        return open_api_model(name)
    from sqljury.llm.local import LocalModel

    return LocalModel(name)
