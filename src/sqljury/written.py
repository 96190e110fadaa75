"""Answers as JSON and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqljury.types import Answer, Candidate, Choice, Cost, Result, Row, Tried, Verified

HTML_ROWS = 50


def answer(found: Answer) -> dict[str, Any]:
    """What ``Answer.to_dict`` returns."""
    return {
        "question": found.question.text,
        "sql": found.sql,
        "columns": list(found.columns),
        "rows": _rows(found.rows),
        "truncated": found.truncated,
        "confidence": None if found.confidence is None else round(found.confidence, 4),
        "candidates": [_candidate(candidate, found.candidates) for candidate in found.candidates],
        "cost": cost_dict(found.cost),
        "choice": None if found.choice is None else _choice(found.choice),
        "steps": [{"step": step, **cost_dict(cost)} for step, cost in found.steps],
        "linked": list(found.linked),
        "verified": None if found.verified is None else _verified(found.verified),
        "remarks": list(found.remarks),
    }


def test(tried: Tried) -> dict[str, Any]:
    """What ``Tried.to_dict`` returns."""
    return {
        "tables": {
            table.name: {"columns": [column.name for column in table.columns], "rows": _rows(rows)}
            for table, rows in zip(tried.case.schema.tables, tried.case.rows, strict=True)
        },
        "queries": list(tried.queries),
        "results": [result_dict(result) for result in tried.results],
        "passed": list(tried.passed),
        "classes": list(tried.classes),
        "expected": None if tried.case.expected is None else result_dict(tried.case.expected),
        "sureness": round(tried.case.sureness, 4),
        "how": tried.how,
        "by": tried.by,
        "code": tried.code,
    }


def html(found: Answer) -> str:
    """The query, the first rows, the confidence and the rows that verify it; every value is escaped."""
    shown = found.rows[:HTML_ROWS]
    more = "" if len(shown) == len(found.rows) and not found.truncated else f", {len(shown)} shown"
    rows = f"{len(found.rows)}{'+' if found.truncated else ''} row{'' if len(found.rows) == 1 else 's'}{more}"
    agreement = ""
    if found.confidence is not None:
        agreement = f"; {found.confidence:.0%} of {len(found.candidates)} candidates agree"
    return (
        f"<p><b>{escape(found.question.text)}</b></p><pre><code>{escape(found.sql)}</code></pre>"
        f"{_table(found.columns, shown)}"
        f"<p>{'; '.join([rows, *map(escape, found.remarks)])}{agreement}</p>"
        f"{_example(found.verified.test) if found.verified and found.verified.test else ''}"
    )


def _example(tried: Tried) -> str:
    """The rows on which an answer and its strongest rival differ, folded away."""
    tables = "".join(
        f"<p>{escape(table.name)}</p>{_table([column.name for column in table.columns], rows[:HTML_ROWS])}"
        for table, rows in zip(tried.case.schema.tables, tried.case.rows, strict=True)
    )
    results = "".join(
        f"<p>the {name} returns <code>{escape(sql)}</code></p>{_table(result.columns, result.rows[:HTML_ROWS])}"
        for name, sql, result in zip(("answer", "rival"), tried.queries, tried.results, strict=True)
    )
    summary = "on these rows the answer differs from its strongest rival"
    return f"<details><summary>{summary}</summary>{tables}{results}</details>"


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(_cell(cell)))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: Any) -> Any:
    """A cell as JSON has it: bytes become ``0x`` and hex digits; infinities, NaN and what JSON lacks become text."""
    if isinstance(cell, bytes):
        return f"0x{cell.hex()}"
    if isinstance(cell, float) and not isfinite(cell):
        return str(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _rows(rows: Sequence[Row]) -> list[list[Any]]:
    return [[_cell(cell) for cell in row] for row in rows]


def result_dict(result: Result) -> dict[str, Any]:
    """A result's columns and rows, whether a limit cut these, or why there are none."""
    return {
        "columns": list(result.columns),
        "rows": _rows(result.rows),
        "truncated": result.truncated,
        "error": result.error,
    }


def _candidate(candidate: Candidate, among: Sequence[Candidate]) -> dict[str, Any]:
    group = candidate.group
    return {
        "sql": candidate.sql,
        "result_group": group,
        "error": candidate.result.error,
        "votes": 0 if group is None else sum(other.group == group for other in among),
        "logprob": None if candidate.logprob is None else round(candidate.logprob, 4),
        "generator": candidate.generator,
        "fixes": [{"by": fix.by, "reason": fix.reason, "before": fix.before} for fix in candidate.fixes],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    """Comparisons as judged with the first group shown first, and shown second."""
    comparisons = [
        {
            "first": one.first,
            "second": one.second,
            "first_wins": [round(one.first_shown_first, 4), round(one.first_shown_second, 4)],
        }
        for one in choice.comparisons
    ]
    return {
        "selector": choice.selector,
        "candidate": choice.index,
        "scores": [round(score, 4) for score in choice.scores],
        "comparisons": comparisons,
        "tests": [test(one) for one in choice.tests],
        "note": choice.note,
    }


def _verified(verified: Verified) -> dict[str, Any]:
    shown = None if verified.test is None else test(verified.test)
    return {"outcome": verified.outcome, "rival": verified.rival, "test": shown, "why": verified.why}


def cost_dict(cost: Cost) -> dict[str, Any]:
    """What something cost, dollars left out."""
    return {
        "calls": cost.calls,
        "prompt_tokens": cost.prompt_tokens,
        "completion_tokens": cost.completion_tokens,
        "cached_tokens": cost.cached_tokens,
        "seconds": round(cost.seconds, 3),
    }
