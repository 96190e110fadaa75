"""Answers as JSON and as HTML, and queries as people may read them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqljury.types import Answer, Candidate, Choice, Cost, Result, Row, Tried, Verified

HTML_ROWS = 50

_PLAIN: Final = r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)"
_DOLLAR: Final = r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)"
_WITH_ESCAPES: Final = r"(?<![\w$])[eE]'(?:[^'\\]|''|\\.)*(?:'|\Z)"
_TEXTS: Final = {
    "sqlite": rf"{_PLAIN}|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)",
    "duckdb": rf"{_WITH_ESCAPES}|{_PLAIN}|(?<![\w$]){_DOLLAR}",
    "postgres": rf"{_WITH_ESCAPES}|{_PLAIN}|(?<![\w$]){_DOLLAR}",
    "mysql": r"'(?:[^'\\]|''|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\"\"|\\.)*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z)",
}
"""Texts and quoted names by dialect; what is opened and never closed goes on to the end."""
_REMARKS: Final = {
    "sqlite": r"--[^\n]*",
    "duckdb": r"--[^\n\r]*",
    "postgres": r"--[^\n\r]*",
    "mysql": r"\#[^\n]*|--(?=[\x00-\x20\x7f]|\Z)[^\n]*",
}
"""Comments up to the end of a line: PostgreSQL and DuckDB end it at a carriage return too, the others do not."""
_NESTING: Final = frozenset({"duckdb", "postgres"})
_PIECES: Final = {
    dialect: re.compile(rf"(?P<text>{texts})|(?P<remark>{_REMARKS[dialect]})|(?P<block>/\*)", re.DOTALL)
    for dialect, texts in _TEXTS.items()
}
_BLOCK: Final = re.compile(r"/\*|\*/")
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python takes for printable and nobody sees."""


def query(sql: str, dialect: str = "") -> str:
    """``sql`` as people may read it, in the lines that the database sees, every character visible.

    Comments lose what cannot be seen, and stay on their line. Elsewhere blanks of other kinds become blanks, and what
    else cannot be seen, in texts and names, stands as an escape such as ``\\u2028``, which ``has_escapes`` tells. So
    what looks like a comment is one, and what does not is none. An unknown dialect is read as SQLite.
    """
    return "".join(_readable(kind, piece) for kind, piece in _pieces(sql, dialect)).strip("\n")


def one_line(sql: str, dialect: str = "") -> str:
    """The same on one line: comments that end with their line become ``/* */``, so that nothing after them is lost."""
    pieces = (_flat(kind, piece) for kind, piece in _pieces(sql, dialect))
    return "".join(pieces).strip(" ")


def has_escapes(sql: str, dialect: str = "") -> bool:
    """Whether ``query`` shows escapes for some characters of ``sql``, so that it is not ``sql`` to the letter."""
    pieces = ((kind, piece) for kind, piece in _pieces(sql, dialect) if kind != "comment")
    return any(_escaped(kind, piece) != piece for kind, piece in pieces)


def statement(sql: str) -> str:
    """``sql`` with the semicolon that other programs want, which no comment at its end may swallow."""
    text = sql.rstrip()
    last = text.rpartition("\n")[2]
    if "--" in last or "#" in last:
        return f"{text}\n;"
    return text if text.endswith(";") else f"{text};"


def _pieces(sql: str, dialect: str) -> Iterator[tuple[str, str]]:
    """What the database reads as text or quoted name, as comment, and as the rest, in order."""
    dialect = dialect if dialect in _PIECES else "sqlite"
    at = 0
    while match := _PIECES[dialect].search(sql, at):
        start, end = match.span()
        kind = "text" if match["text"] is not None else "comment"
        if match["block"] is not None:
            end = _end_of_block(sql, start, nested=dialect in _NESTING)
        if start > at:
            yield "rest", sql[at:start]
        yield kind, sql[start:end]
        at = end
    if at < len(sql):
        yield "rest", sql[at:]


def _end_of_block(sql: str, start: int, *, nested: bool) -> int:
    if not nested:
        end = sql.find("*/", start + 2)
        return len(sql) if end < 0 else end + 2
    depth = 0
    for match in _BLOCK.finditer(sql, start):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(sql)


def _readable(kind: str, piece: str) -> str:
    if kind == "comment":
        return "\n".join("".join(c if _is_seen(c) else " " for c in line).rstrip() for line in piece.split("\n"))
    if kind == "rest":
        piece = re.sub(r"\r\n?", "\n", re.sub(r"[\t\f\v]", " ", piece))
    return _escaped(kind, piece)


def _flat(kind: str, piece: str) -> str:
    if kind == "comment":
        inner = piece[2:].removesuffix("*/") if piece.startswith("/*") else piece.lstrip("#-")
        inner = "".join(c if _is_seen(c) else " " for c in inner).replace("*/", "* /").replace("/*", "/ *")
        return f"/* {' '.join(inner.split())} */"
    if kind == "rest":
        return _escaped(kind, re.sub(r"[ \t\n\f\v\r]+", " ", piece))
    return _escaped(kind, piece).replace("\n", "\\n")


def _escaped(kind: str, piece: str) -> str:
    """Every character that cannot be seen as JSON writes it; line feeds stay, and blanks outside of texts."""
    plain = "\n\t\f\v\r" if kind == "rest" else "\n"
    return "".join(c if c in plain or _is_seen(c) else json.dumps(c)[1:-1] for c in piece)


def _is_seen(character: str) -> bool:
    return character.isprintable() and not _UNSEEN.match(character)


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
        f"<p><b>{escape(found.question.text)}</b></p><pre><code>{escape(query(found.sql, found.dialect))}</code></pre>"
        f"{_table(found.columns, shown)}"
        f"<p>{'; '.join([rows, *map(escape, found.remarks)])}{agreement}</p>"
        f"{_example(found.verified.test, found.dialect) if found.verified and found.verified.test else ''}"
    )


def _example(tried: Tried, dialect: str) -> str:
    """The rows on which an answer and its strongest rival differ, folded away."""
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
