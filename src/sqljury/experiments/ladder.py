"""MSc-SQL's ladder: what the linker, further queries and each way to choose add, on the same questions (section 4).

Its counterpart in the paper are Table 2 (one query, linked, two and three with the critic), Table 3 (the number of
samples), Table 5 (independent against joint critic) and the ways of section 4.2 to compare many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqljury.bench.choices import stored
from sqljury.bench.stored import FIXED, Asked, StoredRun
from sqljury.errors import DatasetError
from sqljury.evaluation.report import Share
from sqljury.metrics import agreement

Scores = Sequence[float | None]


def ladder(
    write: StoredRun, link: StoredRun, samples: Sequence[int], made: Mapping[tuple[str, int], str], seed: int = 0
) -> dict[str, Any]:
    """All rungs, ready for JSON: right, of how many, percent with its 95 % interval, and the difference to one query.

    ``made`` names the judges' choices by judge and number of samples. Questions are those that both runs can be judged
    on. Differences are to one linked query, in points, with intervals from draws of whole databases. Raises
    ``DatasetError`` for runs without a common question.
    """
    by_id = {question.id: question for question in write.questions}
    linked = [question for question in link.questions if question.id in by_id]
    if not linked:
        raise DatasetError(f"{write.folder} and {link.folder} have no question in common that can be judged")
    chosen = stored(link.folder, linked)
    alone = [_first(by_id[question.id]) for question in linked]
    base = [_first(question) for question in linked]
    rungs: list[tuple[str, int, Scores]] = [("write", 1, alone), ("+ link", 1, base)]
    for count in (count for count in samples if count > 1):
        rungs.append(
            (
                "votes",
                count,
                [float(question.right(question.voted(question.candidates[:count]))) for question in linked],
            )
        )
        for (label, number), name in made.items():
            if number == count:
                choices = chosen.get(name, {})
                rungs.append(
                    (
                        label,
                        count,
                        [
                            float(question.right(choices[question.id].sql)) if question.id in choices else None
                            for question in linked
                        ],
                    )
                )
        rungs.append(("oracle", count, [_any_right(question, count) for question in linked]))
    databases = [question.db_id for question in linked]
    return {
        "questions": len(linked),
        "several": sum(
            len({question.tried(c.queries[FIXED]).answer for c in question.candidates}) > 1 for question in linked
        ),
        "rungs": [_rung(label, count, scores, base, databases, seed) for label, count, scores in rungs],
    }


def _rung(label: str, count: int, scores: Scores, base: Scores, databases: Sequence[str], seed: int) -> dict[str, Any]:
    known = [score for score in scores if score is not None]
    against = agreement.compare(base, scores, databases, seed)
    return {
        "rung": label,
        "samples": count,
        **Share(sum(known), len(known)).figures(),
        "difference": round(100 * against.difference, 2),
        "interval": [round(100 * end, 2) for end in against.interval],
        "won": len(against.wins),
        "lost": len(against.losses),
        "p": against.p,
    }


def _first(question: Asked) -> float:
    """Whether the first query is right; a question without any is wrong."""
    return float(any(question.right(candidate.queries[FIXED]) for candidate in question.candidates[:1]))


def _any_right(question: Asked, count: int) -> float:
    return float(any(question.right(candidate.queries[FIXED]) for candidate in question.candidates[:count]))
