"""From values to the arrays of an index.

Ways to write a text whose meaning is compared, and what the vectors of meanings cannot be trusted with.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqljury.language import embed
from sqljury.language.embed import is_token, tokens
from sqljury.values import grams
from sqljury.values.fold import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqljury.values.collect import Found


Check = Callable[[str, int, int], None]


def arrays(found: Sequence[Found], check: Check) -> dict[str, NDArray[Any]]:
    """What ``search`` needs, as docs/value_index.md lists it; ``check`` takes progress and may raise.

    Values that fold to the same key are neighbours. Equal input gives equal arrays.
    """
    import numpy as np

    known: dict[str, int] = {}
    key_of, column_of = array("I"), array("I")
    for number, column in enumerate(found):
        check("folding", number, len(found))
        key_of.extend(known.setdefault(fold(value), len(known)) for value in column.values)
        column_of.extend([number] * len(column.values))
    keys = list(known)
    del known
    texts = [value for column in found for value in column.values]
    owners = np.asarray(key_of, dtype=np.uint32)
    order = np.argsort(owners, kind="stable")
    sorted_owners = owners[order]
    starts, lists = grams.invert(keys, lambda done: check("indexing", done, len(keys)))
    notions = _notions(found, owners)
    check("reading meanings", 0, len(notions))
    key_letters, key_at = _joined(keys)
    text_letters, text_at = _joined([texts[at] for at in order])
    return {
        "keys": key_letters,
        "key_at": key_at,
        "texts": text_letters,
        "text_at": text_at,
        "first": np.searchsorted(sorted_owners, np.arange(len(keys) + 1)).astype(np.uint32),
        "column": np.asarray(column_of, dtype=np.uint32)[order],
        "starts": starts.astype(np.uint32),
        "lists": lists,
        "vector_keys": owners[notions],
        "vectors": embed.vectors([usual(texts[at]) for at in notions])
        if embed.available()
        else np.zeros((0, 0), np.float32),
    }


def _notions(found: Sequence[Found], owners: NDArray[Any]) -> list[int]:
    """Positions of the values whose meaning counts, one for each key: those of columns with few, the fewest first."""
    if not embed.available():
        return []
    begins, total = [], 0
    for column in found:
        begins.append(total)
        total += len(column.values)
    few = sorted(range(len(found)), key=lambda number: len(found[number].values))
    chosen: dict[int, int] = {}
    for number in few:
        count = len(found[number].values)
        if count > COLUMN_VALUES or len(chosen) + count > ALL_VALUES:
            break
        for at in range(begins[number], begins[number] + count):
            chosen.setdefault(int(owners[at]), at)
    return sorted(chosen.values())


def _joined(texts: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """All texts as UTF-8 in a row, and where each begins; where the last ends comes last."""
    import numpy as np

    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


COLUMN_VALUES: Final = 2_000
"""Columns with more different values than this hold names rather than notions; their meaning is not looked at."""
ALL_VALUES: Final = 50_000
"""Values in all whose meaning is looked at, those of the columns with the fewest first; 1 KB each."""

_ABBREVIATION: Final = 4


def forms(text: str) -> list[str]:
    """The ways to write a text that is searched for, of which one may be nearer to a value's than another."""
    if text.isupper():  # perhaps an abbreviation, which is no word in small letters
        return [text]
    return list(dict.fromkeys((text, usual(text), text.title())))


def usual(text: str) -> str:
    """Small letters where all words are known in these, as most are but names; long words in capitals too."""
    lowered = text.lower()
    if len(text) > _ABBREVIATION and text.isupper():
        return lowered
    return lowered if all(is_token(word) for word in lowered.split()) else text


def knows(text: str) -> bool:
    """Whether all words are of the model's own vocabulary, so that they are hardly misspelt."""
    return all(any(map(is_token, {word, word.lower(), word.title()})) for word in text.split())


def shares_pieces_only(one: str, other: str) -> bool:
    """Whether two texts share pieces of words but no word: then their vectors are alike for no reason of meaning."""
    words = set(one.lower().split()) & set(other.lower().split())
    return not words and any(set(tokens(form)) & set(tokens(other)) for form in forms(one))
