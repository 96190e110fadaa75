"""Answers as HTML for notebooks: every value is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from sqljury.types.serialize import json_cell, one_line, query

if TYPE_CHECKING:
    from sqljury.types.answer import Answer
    from sqljury.types.candidate import Candidate
    from sqljury.types.explanation import Reading
    from sqljury.types.result import Row
    from sqljury.types.testcase import Tried

HTML_ROWS: Final = 50
"""Rows shown of one table."""


def answer_html(answer: Answer) -> str:
    """What ``Answer._repr_html_`` returns: query, first rows, confidence, verifying rows; every value is escaped."""
    shown = answer.rows[:HTML_ROWS]
    more = "" if len(shown) == len(answer.rows) and not answer.truncated else f", {len(shown)} shown"
    rows = f"{len(answer.rows)}{'+' if answer.truncated else ''} row{'' if len(answer.rows) == 1 else 's'}{more}"
    from sqljury.types.answer import in_words

    sure = answer.confidence
    agreement = "" if sure is None else f"; <b>{in_words(sure)}</b> ({sure:.0%})"
    if answer.agreement is not None:
        agreement += f"; {answer.agreement:.0%} of {len(answer.candidates)} candidates agree"
    sql = escape(query(answer.sql, answer.dialect))
    return (
        f"<p><b>{escape(answer.question.text)}</b></p>"
        f"{'' if answer.abstention is None else f'<p>No answer: {escape(str(answer.abstention))}</p>'}"
        f"<pre><code>{sql}</code></pre>"
        f"{_table(answer.columns, shown)}"
        f"<p>{'; '.join([rows, *map(escape, answer.remarks)])}{agreement}</p>"
        f"{_readings_html(answer.readings)}"
        f"{_groups_html(answer)}"
        f"{_example(answer.verified.test, answer.dialect) if answer.verified and answer.verified.test else ''}"
    )


def _groups_html(answer: Answer) -> str:
    """The different results of the candidates, each with its votes and first query, collapsed; the answer's first."""
    groups: dict[int, list[Candidate]] = {}
    for candidate in answer.candidates:
        if candidate.group is not None:
            groups.setdefault(candidate.group, []).append(candidate)
    if len(groups) < 2:
        return ""
    chosen = None if answer.choice is None or answer.choice.index is None else answer.choice.index
    first = None if chosen is None else answer.candidates[chosen].group
    lines = "".join(
        f"<tr><td>{'the answer' if group == first else 'another result'}</td><td>{len(members)}</td>"
        f"<td>{len(members[0].result.rows)}</td>"
        f"<td><code>{escape(one_line(members[0].sql, answer.dialect))}</code></td></tr>"
        for group, members in sorted(groups.items(), key=lambda pair: (pair[0] != first, pair[0]))
    )
    head = "<tr><th></th><th>votes</th><th>rows</th><th>query</th></tr>"
    return f"<details><summary>{len(groups)} different results</summary><table>{head}{lines}</table></details>"


def _readings_html(readings: Sequence[Reading]) -> str:
    """Both readings of an ambiguous question, collapsed; empty where there are none."""
    if not readings:
        return ""
    tables = "".join(
        f"<p>{escape(reading.meaning)}</p>{_table(reading.columns, reading.rows[:HTML_ROWS])}" for reading in readings
    )
    return f"<details><summary>{escape(readings[0].words)} can be read in two ways</summary>{tables}</details>"


def _example(tried: Tried, dialect: str) -> str:
    """The rows on which an answer and its strongest rival differ, collapsed."""
    tables = "".join(
        f"<p>{escape(table.name)}</p>{_table([column.name for column in table.columns], rows[:HTML_ROWS])}"
        for table, rows in zip(tried.case.schema.tables, tried.case.rows, strict=True)
    )
    results = "".join(
        f"<p>the {name} returns <code>{escape(one_line(sql, dialect))}</code></p>"
        f"{_table(result.columns, result.rows[:HTML_ROWS])}"
        for name, sql, result in zip(("answer", "rival"), tried.queries, tried.results, strict=True)
    )
    summary = "on these rows the answer differs from its strongest rival"
    return f"<details><summary>{summary}</summary>{tables}{results}</details>"


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(json_cell(cell)))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
