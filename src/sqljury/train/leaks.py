"""Nothing of the evaluation may be trained on: its databases are refused, questions like its own are reported."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.datasets import questions, spider
from sqljury.datasets.spider import Example
from sqljury.errors import InputError

LEAST: Final = 90.0
"""From here on, of 100, two questions are near-duplicates: a few letters differ, or one short word."""


def evaluation(against: Path | None, own: Path | None = None) -> list[Example]:
    """The questions that are measured on: of a file, or a Spider folder's dev. Their databases need not be there.

    ``against`` is what the user named; where they named nothing, it is dev of ``own``, the folder that is trained on,
    if it has one. Raises ``DatasetError`` as the readers do.
    """
    if against is None:
        there = own is not None and (own / "dev.json").is_file()
        return spider.load(own, "dev", databases=False) if own is not None and there else []
    if against.is_dir():
        return spider.load(against, "dev", databases=False)
    return questions.load(against)


def checked(measured: Sequence[Example]) -> dict[str, int] | None:
    """For a card: how many databases and questions something was checked against; None where it was not checked."""
    if not measured:
        return None
    return {"databases": len({one.db_id.casefold() for one in measured}), "questions": len(measured)}


class Asked(NamedTuple):
    """A question of the training set; its id alone does not tell it from another dataset's."""

    id: str
    db_id: str
    text: str


class Near(NamedTuple):
    """A question of the training set and the one of the evaluation that it is like, ``likeness`` of 100."""

    id: str
    db_id: str
    other: str
    likeness: float


def refuse(databases: Iterable[str], measured: Sequence[Example]) -> None:
    """Raise ``InputError`` where any of the databases, by name whatever its case, is one of the evaluation."""
    kept = {one.db_id.casefold() for one in measured}
    shared = sorted({name for name in databases if name.casefold() in kept})
    if shared:
        more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
        raise InputError(
            f"{', '.join(shared[:3])}{more}: what is measured on these databases may not be trained on them; leave "
            "them out of the training set, or name another evaluation with --against"
        )


def near(asked: Sequence[Asked], measured: Sequence[Example], least: float = LEAST) -> list[Near]:
    """Of ``asked`` those like a question that is measured on, with the likest one."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    if not asked or not measured:
        return []
    ours = [plain(one.text) for one in asked]
    theirs = [plain(one.question.text) for one in measured]
    likeness = cdist(ours, theirs, scorer=Indel.normalized_similarity, score_cutoff=least / 100)
    best = likeness.argmax(axis=1)
    return [
        Near(one.id, one.db_id, measured[int(place)].id, round(100 * float(row[place]), 1))
        for one, row, place in zip(asked, likeness, best, strict=True)
        if row[place] > 0
    ]


def plain(text: str) -> str:
    """A question without case, accents, punctuation and repeated blanks."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in bare).split())
