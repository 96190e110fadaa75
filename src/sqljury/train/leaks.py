"""Leak checks: what the evaluation holds out is not trained on, near-duplicates of its questions are reported.

It holds out databases, which are refused, or, of databases that are trained on too, questions: then those that are
equal or nearly equal on the same database are left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_args

from sqljury.datasets import benchmarks, questions, spider
from sqljury.datasets.benchmarks import Kind
from sqljury.datasets.spider import Example
from sqljury.errors import InputError
from sqljury.evaluation.run_folder import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_SIMILARITY: Final = 90.0
"""In percent: two questions this similar are near-duplicates; a few letters differ, or one short word."""


HeldOutBy = Literal["database", "question"]


class SetQuestion(NamedTuple):
    """A question of a training set; ids of different datasets may be the same."""

    id: str
    db_id: str
    text: str

    @classmethod
    def of(cls, example: Example) -> SetQuestion:
        """A benchmark's question."""
        return cls(example.id, example.db_id, example.question.text)

    @classmethod
    def of_record(cls, record: Record) -> SetQuestion:
        """The question of a run's answer."""
        return cls(record["id"], record["db_id"], record["question"])


class NearDuplicate(NamedTuple):
    """A question of the training set, the evaluation question most like it (``other``), and their similarity in %."""

    id: str
    db_id: str
    other: str
    likeness: float


def evaluation_questions(eval_data: Path | None, data: Path | None = None, kind: str = "spider") -> list[Example]:
    """The questions of an evaluation: of a file, or of a Spider folder's dev split. Databases are not needed.

    ``eval_data`` is what the user named. Where it is None, the evaluation is the dev split of ``data``, the folder of a
    dataset of this ``kind`` that is trained on, if it has one; beside a user's own databases that is ``dev.json`` in
    any form. Raises ``DatasetError`` as the readers do.
    """
    if eval_data is None:
        known = cast("Kind", kind if kind in get_args(Kind) else "spider")
        if data is None or not benchmarks.has_split(data, known, "dev"):
            return []
        if known == "jsonl":
            return questions.load(data / "dev.json")
        return list(benchmarks.load(data, known, "dev", there=False).examples)
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
            "leave them out (--without-databases), name another evaluation with --eval-data, or hold out its questions "
            "alone with --held-out-by question"
        )


def held_out_questions(
    asked: Sequence[SetQuestion], evaluation: Sequence[Example], by: HeldOutBy = "database"
) -> frozenset[tuple[str, str]]:
    """The questions that may not be trained on, as (database, text): none where ``evaluation`` holds out databases.

    Where it holds out questions, those that it asks of the same database in the same words or nearly so. Raises
    ``InputError`` as ``refuse`` where it holds out databases.
    """
    if by == "database":
        refuse({question.db_id for question in asked}, evaluation)
        return frozenset()
    held_out = set()
    for name in {question.db_id.casefold() for question in asked}:
        ours = {(question.db_id, question.text): question for question in asked if question.db_id.casefold() == name}
        theirs = [example for example in evaluation if example.db_id.casefold() == name]
        texts = [question._replace(id=question.text) for question in ours.values()]
        held_out |= {(question.db_id, question.id) for question in near_duplicates(texts, theirs)}
    return frozenset(held_out)


def near_duplicates(
    asked: Sequence[SetQuestion], evaluation: Sequence[Example], min_similarity: float = MIN_SIMILARITY
) -> list[NearDuplicate]:
    """The training questions that resemble an evaluation question, each with the most similar one."""
    if not asked or not evaluation:
        return []
    theirs = [example.question.text for example in evaluation]
    similarity = _similarity([question.text for question in asked], theirs, min_similarity)
    best = similarity.argmax(axis=1)
    return [
        NearDuplicate(question.id, question.db_id, evaluation[int(index)].id, round(100 * float(row[index]), 1))
        for question, row, index in zip(asked, similarity, best, strict=True)
        if row[index] > 0
    ]


def alike(asked: Sequence[Example]) -> list[str]:
    """For each question a name that it shares with those like it, and with those that are like these.

    Alike are questions on one database that are near-duplicates or have the same gold query.
    """
    names = [""] * len(asked)
    for database in dict.fromkeys(example.db_id.casefold() for example in asked):
        indices = [index for index, example in enumerate(asked) if example.db_id.casefold() == database]
        texts = [asked[index].question.text for index in indices]
        golds = [" ".join(asked[index].gold_sql.rstrip("; \n").split()).casefold() for index in indices]
        near = _similarity(texts, texts, MIN_SIMILARITY) > 0
        for first, index in enumerate(indices):
            if names[index]:
                continue
            reached, name = [first], f"{database}\x1f{texts[first]}"
            while reached:
                member = reached.pop()
                if names[indices[member]]:
                    continue
                names[indices[member]] = name
                reached += [other for other, gold in enumerate(golds) if near[member, other] or gold == golds[member]]
    return names


def _similarity(ours: Sequence[str], theirs: Sequence[str], least: float) -> NDArray[np.float32]:
    """The similarity of each text with each other one, as a share; 0 below ``least`` percent."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    texts = [[normalized(text) for text in side] for side in (ours, theirs)]
    return cdist(*texts, scorer=Indel.normalized_similarity, score_cutoff=least / 100)


def normalized(text: str) -> str:
    """A question without case, accents, punctuation and repeated blanks."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in bare).split())
