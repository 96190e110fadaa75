"""Libraries that some tests need and not every machine has."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


def needs(*libraries: str) -> None:
    """Skip the module that calls this where one of them is missing.

    ``pytest.importorskip`` would import them in every process that collects tests: those of three vendors take six
    seconds.
    """
    for name in libraries:
        if not _is_there(name):
            pytest.skip(f"no {name}", allow_module_level=True)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even what it is a part of
        return False


class Later:
    """A module that is imported once something of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
