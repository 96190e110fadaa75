"""Answers as the API and the page show them: rows, confidence in words, and groups of candidates side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from sqljury.types import Answer, Candidate, Choice, Result, Row, serialize
from sqljury.types.answer import in_words as certain
from sqljury.types.chart import chart

GROUP_ROWS: Final = 20
"""Rows of each group that are shown beside those of the others."""

Clean = Callable[[str], str]


def in_words(confidence: float | None) -> str:
    """A confidence for people; None where it is not known, as of a reading that somebody chose."""
    return "of unknown confidence" if confidence is None else certain(confidence)


def answer_json(answer: Answer, database: str, rows: int, clean: Clean) -> dict[str, Any]:
    """An answer for clients: ``Answer.to_dict`` with at most ``rows`` rows, and ``groups`` of equal results."""
    made = replace(answer, rows=()).to_dict()  # result_json has them
    result = Result(answer.columns, answer.rows, answer.truncated)
    for candidate in made["candidates"]:
        if candidate["error"]:
            candidate["error"] = clean(candidate["error"])
    return {
        **made,
        **result_json(result, rows),
        "chart": chart_json(result, rows),
        "database": database,
        "dialect": answer.dialect,
        "shown_sql": serialize.query(answer.sql, answer.dialect),
        "confidence_in_words": in_words(answer.confidence),
        "agreement": _agreement(answer),
        "groups": list(_groups(answer.candidates, answer.choice)),
        "failed": [
            {"sql": candidate.sql, "error": clean(str(candidate.result.error))}
            for candidate in answer.candidates
            if candidate.result.error
        ],
    }


def result_json(result: Result, rows: int) -> dict[str, Any]:
    """Columns and at most ``rows`` rows.

    ``row_count`` counts those that the database returned, and ``limit_reached`` says that it may have more.
    """
    return {
        "columns": list(result.columns),
        "rows": plain_rows(result.rows[:rows]),
        "row_count": len(result.rows),
        "truncated": result.truncated or len(result.rows) > rows,
        "limit_reached": result.truncated,
    }


def chart_json(result: Result, rows: int) -> dict[str, Any] | None:
    """The chart that is proposed for the rows of ``result_json``, without the rows themselves."""
    made = chart(result.columns, result.rows[:rows])
    if made is not None:
        made["data"].pop("values")
    return made


def candidate_json(candidate: Candidate, clean: Clean) -> dict[str, Any]:
    """A candidate as it was just run."""
    error = candidate.result.error
    return {
        "sql": candidate.sql,
        "generator": candidate.generator,
        "error": None if error is None else clean(str(error)),
        "row_count": len(candidate.result.rows) if error is None else None,
    }


def plain_rows(rows: Sequence[Row]) -> list[list[Any]]:
    """Rows whose cells JSON can hold."""
    return [[serialize.json_cell(cell) for cell in row] for row in rows]


def _agreement(answer: Answer) -> float | None:
    """The share of candidates with the answer's result, None for a single one."""
    chosen = None if answer.choice is None else answer.choice.index
    if chosen is None or len(answer.candidates) < 2:
        return None
    group = answer.candidates[chosen].group
    return round(sum(candidate.group == group for candidate in answer.candidates) / len(answer.candidates), 4)


def _groups(candidates: Sequence[Candidate], choice: Choice | None) -> Iterator[dict[str, Any]]:
    """One entry for each different result, the largest group first."""
    chosen = None if choice is None else choice.index
    scores = () if choice is None else choice.scores
    for number in sorted({candidate.group for candidate in candidates if candidate.group is not None}):
        members = [index for index, candidate in enumerate(candidates) if candidate.group == number]
        best = chosen if chosen in members and chosen is not None else members[0]
        queries = {candidates[index].sql: None for index in (best, *members)}
        yield {
            "group": number,
            "votes": len(members),
            "chosen": chosen in members,
            "score": round(scores[number], 4) if number < len(scores) else None,
            "queries": list(queries),
            **result_json(candidates[best].result, GROUP_ROWS),
        }
