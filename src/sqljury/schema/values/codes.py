"""Codes and names that everybody knows to mean the same: countries, states, languages, currencies, months, units."""

from __future__ import annotations

from functools import cache
from importlib import resources

from sqljury.schema.values.fold import fold


def other_names(text: str) -> tuple[str, ...]:
    """The folded other names of what ``text`` names, none where the table does not have it.

    A code of two letters counts only in capitals: ``in`` and ``no`` are seldom Indiana and Norwegian.
    """
    folded = fold(text)
    if len(folded) < 3 and not text.isupper():
        return ()
    return tuple(name for name in _table().get(folded, ()) if name != folded)


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """From each folded name to all names of the things that it may be."""
    text = resources.files(__package__).joinpath("codes.tsv").read_text(encoding="utf-8")
    found: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            names = [fold(name) for name in line.split("\t")[1:]]
            for name in names:
                found.setdefault(name, {}).update(dict.fromkeys(names))
    return {name: tuple(names) for name, names in found.items()}
