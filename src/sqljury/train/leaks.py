"""Leak checks: databases of the evaluation are refused, near-duplicates of its questions are reported."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.datasets import questions, spider
from sqljury.datasets.spider import Example
from sqljury.errors import InputError

MIN_SIMILARITY: Final = 90.0
"""In percent: two questions this similar are near-duplicates; a few letters differ, or one short word."""


class SetQuestion(NamedTuple):
    """A question of a training set; ids of different datasets may be the same."""

    id: str
    db_id: str
    text: str


class NearDuplicate(NamedTuple):
    """A question of the training set, the evaluation question most like it (``other``), and their similarity in %."""

    id: str
    db_id: str
    other: str
    likeness: float


def evaluation_questions(eval_data: Path | None, data: Path | None = None) -> list[Example]:
    """The questions of an evaluation: of a file, or of a Spider folder's dev split. Databases are not needed.

    ``eval_data`` is what the user named. Where it is None, the evaluation is the dev split of ``data``, the folder
    that is trained on, if it has one. Raises ``DatasetError`` as the readers do.
    """
    if eval_data is None:
        if data is None or not (data / "dev.json").is_file():
            return []
        return spider.load(data, "dev", databases=False)
    if eval_data.is_dir():
        return spider.load(eval_data, "dev", databases=False)
    return questions.load(eval_data)


def evaluation_size(evaluation: Sequence[Example]) -> dict[str, int] | None:
    """For a card: the numbers of databases and questions that were checked against; None where there are none."""
    if not evaluation:
        return None
    return {"databases": len({example.db_id.casefold() for example in evaluation}), "questions": len(evaluation)}


def refuse(databases: Iterable[str], evaluation: Sequence[Example]) -> None:
    """Raise ``InputError`` if any of the databases, by its case-folded name, belongs to the evaluation."""
    held_out = {example.db_id.casefold() for example in evaluation}
    shared = sorted({name for name in databases if name.casefold() in held_out})
    if shared:
        more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
        raise InputError(
            f"{', '.join(shared[:3])}{more}: these databases belong to the evaluation and may not be trained on; "
            "leave them out of the training set, or name another evaluation with --eval-data"
        )


def near_duplicates(
    asked: Sequence[SetQuestion], evaluation: Sequence[Example], min_similarity: float = MIN_SIMILARITY
) -> list[NearDuplicate]:
    """The training questions that resemble an evaluation question, each with the most similar one."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    if not asked or not evaluation:
        return []
    ours = [normalized(question.text) for question in asked]
    theirs = [normalized(example.question.text) for example in evaluation]
    similarity = cdist(ours, theirs, scorer=Indel.normalized_similarity, score_cutoff=min_similarity / 100)
    best = similarity.argmax(axis=1)
    return [
        NearDuplicate(question.id, question.db_id, evaluation[int(index)].id, round(100 * float(row[index]), 1))
        for question, row, index in zip(asked, similarity, best, strict=True)
        if row[index] > 0
    ]


def normalized(text: str) -> str:
    """A question without case, accents, punctuation and repeated blanks."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in bare).split())
