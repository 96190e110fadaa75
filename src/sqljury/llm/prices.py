"""A user's table of prices: TOML with a table for each model, in US dollars for a million tokens."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import Any, Final

from sqljury.errors import InputError
from sqljury.llm.ledger import Price

_REQUIRED: Final = ("input", "output")
_KEYS: Final = (*_REQUIRED, "cached_input", "hour")
_MOST: Final = 1e9


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the names of models, in which ``*`` stands for anything; of several that fit, the longest name's."""

    by_name: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of this model, or of the model that its adapter is for; None where the table has none."""
        fitting = [name for name in self.by_name if name == model or fnmatchcase(model, name)]
        if fitting:
            return self.by_name[max(fitting, key=lambda name: (name == model, len(name)))]
        base, plus, _ = model.rpartition("+")
        return self.of(base) if plus else None

    def among(self, questions: int) -> Prices:
        """The prices where each machine has so many questions in flight, see ``Price.among``."""
        return Prices({name: price.among(questions) for name, price in self.by_name.items()})

    def needed(self, model: str) -> Price:
        """The price of this model; raises ``InputError`` where the table has none."""
        if (price := self.of(model)) is None:
            raise InputError(f"the table of prices has none for the model {model!r}; add it, 0 where it costs nothing")
        return price


def load(path: str | Path) -> Prices:
    """The prices of a file; raises ``InputError`` that names the file and the entry."""
    file = Path(path)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name a TOML file of prices") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{file}: is not TOML ({error}); see docs/benchmarks.md for an example") from None
    if not tables:
        raise InputError(f'{file}: has no prices; write ["MODEL"] with input = 0.25 and output = 1.0 below it')
    return Prices({name: _price(table, f"{file}: {name!r}") for name, table in tables.items()})


def _price(table: Any, entry: str) -> Price:
    if not isinstance(table, dict):
        raise InputError(f'{entry} is not a table; write ["MODEL"] with input = 0.25 and output = 1.0 below it')
    if unknown := sorted(set(table) - set(_KEYS)):
        raise InputError(f"{entry} has the unknown key {unknown[0]!r}; known are {', '.join(_KEYS)}")
    if missing := [key for key in _REQUIRED if key not in table]:
        raise InputError(f"{entry} has no {missing[0]}; add it, 0 where it costs nothing")
    for key, value in table.items():
        if type(value) not in (int, float) or not isfinite(value) or not 0 <= value <= _MOST:
            raise InputError(f"{entry}: {key} is {value!r}; write US dollars, 0 to {_MOST:,.0f}")
    return Price(**{key: float(value) for key, value in table.items()})
