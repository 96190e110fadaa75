"""Nothing of the evaluation may be trained on: its databases are refused, questions like its own are reported."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sqljury.datasets.spider import Example
from sqljury.errors import InputError

LEAST: Final = 90.0
"""From here on, of 100, two questions are near-duplicates: a few letters differ, or one short word."""


class Near(NamedTuple):
    """A question of the training set and the one of the evaluation that it is like, ``likeness`` of 100."""

    id: str
    other: str
    likeness: float


def refuse(databases: Iterable[str], evaluation: Sequence[Example]) -> None:
    """Raise ``InputError`` where any of the databases, by name whatever its case, is one of the evaluation."""
    kept = {one.db_id.casefold() for one in evaluation}
    shared = sorted({name for name in databases if name.casefold() in kept})
    if shared:
        more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
        raise InputError(
            f"{', '.join(shared[:3])}{more}: what is measured on these databases may not be trained on them; leave "
            "them out of the training set, or name another evaluation with --against"
        )


def near(questions: Sequence[tuple[str, str]], evaluation: Sequence[Example], least: float = LEAST) -> list[Near]:
    """Of ``questions``, each an id and a text, those like one of the evaluation, with the likest one."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    if not questions or not evaluation:
        return []
    ours = [plain(text) for _, text in questions]
    theirs = [plain(one.question.text) for one in evaluation]
    likeness = cdist(ours, theirs, scorer=Indel.normalized_similarity, score_cutoff=least / 100)
    best = likeness.argmax(axis=1)
    return [
        Near(name, evaluation[int(place)].id, round(100 * float(row[place]), 1))
        for (name, _), row, place in zip(questions, likeness, best, strict=True)
        if row[place] > 0
    ]


def plain(text: str) -> str:
    """A question without case, accents, punctuation and repeated blanks."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in bare).split())
