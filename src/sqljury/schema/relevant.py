"""Which notes on a database a question needs: those whose words it shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from sqljury.language.words import content_words, words
from sqljury.schema.describe import Item, Notes
from sqljury.sql.text import remark

NOTES: Final = 8
CHARS: Final = 1_500
NOTE_CHARS: Final = 240
_ENOUGH: Final = 0.5
"""The share of a term's words, rare ones weighing more, that the question must have."""


class _Entry(NamedTuple):
    """A note and the terms that call for it; ``values`` instead of a line where the order depends on the question."""

    line: str
    terms: tuple[tuple[str, ...], ...]
    values: tuple[tuple[str, str], ...] = ()


def relevant(notes: Notes, question: str, k: int = NOTES, chars: int = CHARS) -> list[str]:
    """At most ``k`` notes whose terms meet the question, the best first, together no longer than ``chars``.

    Terms are what the glossary and the formulas explain, synonyms, the names of columns with codes, and the codes and
    their meanings. Words meet without regard to case, accents and English plurals. Each note is one printable line of
    at most ``NOTE_CHARS`` characters that cannot end a comment.
    """
    entries = list(_entries(notes))
    asked = set(words(question))
    rarity = _counted(notes, entries)
    scores = [_score(entry, asked, rarity) for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda number: (*(-part for part in scores[number]), number))
    found: list[str] = []
    for number in ranked:
        if scores[number][0] < _ENOUGH:
            break
        line = remark(_line(entries[number], asked), NOTE_CHARS)
        if len(found) < k and len(line) <= chars and line not in found:
            found.append(line)
            chars -= len(line) + 1
    return found


def _entries(notes: Notes) -> Iterator[_Entry]:
    for term, meaning in notes.glossary:
        yield _Entry(f"{term}: {meaning}", _terms(term))
    for name, formula in notes.formulas:
        yield _Entry(f"{name} = {formula}", _terms(name))
    for item in notes.items:
        own = (item.column or item.table, *item.synonyms)
        if item.values:
            yield _Entry(f"{item.name}: ", _terms(*own, *_value_terms(item)), item.values)
        if item.synonyms:
            yield _Entry(f"{item.name} is also called {', '.join(item.synonyms)}", _terms(*item.synonyms))


def _value_terms(item: Item) -> Iterator[str]:
    for code, meaning in item.values:
        yield meaning
        if any(c.isalpha() for c in code):
            yield code


def _terms(*texts: str) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(found for text in texts if (found := content_words(text))))


def _counted(notes: Notes, entries: list[_Entry]) -> Counter[str]:
    """In how many terms and names each word stands: one that much is called by says little of any of it."""
    counted = Counter(word for entry in entries for word in {word for term in entry.terms for word in term})
    counted.update(word for item in notes.items for word in set(words(item.name)))
    return counted


def _score(entry: _Entry, asked: set[str], rarity: Counter[str]) -> tuple[float, int]:
    """The share of the best met term's weight that the question has, and how many words that are."""
    best = 0.0, 0
    for term in entry.terms:
        distinct = set(term)
        met = distinct & asked
        share = sum(1 / rarity[word] for word in met) / sum(1 / rarity[word] for word in distinct)
        best = max(best, (share, len(met)))
    return best


def _line(entry: _Entry, asked: set[str]) -> str:
    """The note's text; of codes, those that the question means come first, for a long list is cut."""
    if not entry.values:
        return entry.line
    values = sorted(entry.values, key=lambda value: asked.isdisjoint(content_words(value[1]) + words(value[0])))
    return entry.line + "; ".join(f"{code} = {meaning}" if code else meaning for code, meaning in values)
