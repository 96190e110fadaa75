"""Answers and schemas as JSON, values in TOML, and SQL with every character visible."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqljury.types.answer import Answer, Choice, Cost, Verified
    from sqljury.types.candidate import Candidate
    from sqljury.types.explanation import Explanation, Reading
    from sqljury.types.result import Result, Row
    from sqljury.types.schema import Column, ForeignKey, Schema, Table
    from sqljury.types.testcase import Tried

_PLAIN: Final = r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)"
_DOLLAR: Final = r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)"
_WITH_ESCAPES: Final = r"(?<![\w$])[eE]'(?:[^'\\]|''|\\.)*(?:'|\Z)"
_TEXTS: Final = {
    "sqlite": rf"{_PLAIN}|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)",
    "duckdb": rf"{_WITH_ESCAPES}|{_PLAIN}|(?<![\w$]){_DOLLAR}",
    "postgres": rf"{_WITH_ESCAPES}|{_PLAIN}|(?<![\w$]){_DOLLAR}",
    "mysql": r"'(?:[^'\\]|''|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\"\"|\\.)*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z)",
}
"""Texts and quoted names by dialect; an unclosed one extends to the end."""
_REMARKS: Final = {
    "sqlite": r"--[^\n]*",
    "duckdb": r"--[^\n\r]*",
    "postgres": r"--[^\n\r]*",
    "mysql": r"\#[^\n]*|--(?=[\x00-\x20\x7f]|\Z)[^\n]*",
}
"""Comments up to the end of a line: PostgreSQL and DuckDB also end it at a carriage return."""
_NESTING: Final = frozenset({"duckdb", "postgres"})
_PIECES: Final = {
    dialect: re.compile(rf"(?P<text>{texts})|(?P<remark>{_REMARKS[dialect]})|(?P<block>/\*)", re.DOTALL)
    for dialect, texts in _TEXTS.items()
}
_BLOCK: Final = re.compile(r"/\*|\*/")
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that are invisible although ``str.isprintable`` is true of them."""
_BREAKS: Final = re.compile(r"([\t\n\r])")
_BLANKS: Final = re.compile(r"[ \t\n\f\r]+")
_BEFORE_NAME: Final = re.compile(r"(\.|\bas\s*)$", re.IGNORECASE)
"""What stands before a quoted name that cannot be a text."""


def query(sql: str, dialect: str = "") -> str:
    """``sql`` for display: the lines that the database sees, with every character visible.

    Invisible characters are removed from comments, which stay on their line. Elsewhere blanks of other kinds become
    blanks, and other invisible characters become escapes such as ``\\u2028``, which ``has_escapes`` reports. What is
    displayed as a comment is therefore one to the database too. An unknown dialect is read as SQLite.
    """
    return "".join(_readable(kind, piece) for kind, piece in _pieces(sql, dialect)).strip("\n")


def one_line(sql: str, dialect: str = "") -> str:
    """``query`` on one line: comments that end with their line become ``/* */``, so that nothing after them is lost."""
    pieces = (_flat(kind, piece) for kind, piece in _pieces(sql, dialect))
    return "".join(pieces).strip(" ")


def same_line(sql: str) -> str:
    """A SQLite query on one line without tabs, with the same result: for files that hold a query a line.

    A tab or line end within a text becomes ``char(9)`` (``10``, ``13``), comments become blanks, and all other
    characters stay. A name has no such form: a line end in one becomes a blank.
    """
    if not _BREAKS.search(sql):
        return sql.strip()
    pieces, written = list(_pieces(sql, "sqlite")), [""]
    for (kind, piece), (_, after) in zip(pieces, (*pieces[1:], ("", "")), strict=True):
        if kind == "comment":
            written.append(" ")
        elif kind == "rest":
            written.append(_BLANKS.sub(" ", piece))
        elif not _BREAKS.search(piece):
            written.append(piece)
        elif piece[0] in "`[" or after.startswith(".") or _BEFORE_NAME.search(written[-1]):
            written.append(_BREAKS.sub(" ", piece))
        else:
            written.append(_concatenated(piece))
    return "".join(written).strip()


def _concatenated(text: str) -> str:
    """A quoted text as an expression without tabs and line ends."""
    quote = text[0]
    inner = text[1:].removesuffix(quote).replace(quote * 2, quote)
    parts = [
        f"char({ord(piece)})" if _BREAKS.match(piece) else _literal(piece) for piece in _BREAKS.split(inner) if piece
    ]
    return f"({' || '.join(parts)})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def has_escapes(sql: str, dialect: str = "") -> bool:
    """Whether ``query`` displays escapes for some characters, so that its output is not ``sql`` itself."""
    pieces = ((kind, piece) for kind, piece in _pieces(sql, dialect) if kind != "comment")
    return any(_escaped(kind, piece) != piece for kind, piece in pieces)


def statement(sql: str) -> str:
    """``sql`` with a final semicolon for other programs, on a line of its own after a trailing comment."""
    text = sql.rstrip()
    last = text.rpartition("\n")[2]
    if "--" in last or "#" in last:
        return f"{text}\n;"
    return text if text.endswith(";") else f"{text};"


def _pieces(sql: str, dialect: str) -> Iterator[tuple[str, str]]:
    """The kind (``text`` for texts and quoted names, ``comment``, ``rest``) and text of each piece, in order."""
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
    """The piece with JSON escapes for invisible characters; line feeds stay, and blanks outside of texts."""
    plain = "\n\t\f\v\r" if kind == "rest" else "\n"
    return "".join(c if c in plain or _is_seen(c) else json.dumps(c)[1:-1] for c in piece)


def _is_seen(character: str) -> bool:
    return character.isprintable() and not _UNSEEN.match(character)


def answer_dict(answer: Answer) -> dict[str, Any]:
    """What ``Answer.to_dict`` returns."""
    return {
        "question": answer.question.text,
        "sql": answer.sql,
        "columns": list(answer.columns),
        "rows": _rows(answer.rows),
        "truncated": answer.truncated,
        "confidence": None if answer.confidence is None else round(answer.confidence, 4),
        "agreement": None if answer.agreement is None else round(answer.agreement, 4),
        "signals": list(answer.signals),
        "abstained": answer.abstained,
        "abstention": None if answer.abstention is None else asdict(answer.abstention),
        "candidates": [_candidate(candidate, answer.candidates) for candidate in answer.candidates],
        "cost": cost_dict(answer.cost),
        "choice": None if answer.choice is None else _choice(answer.choice),
        "steps": [{"step": step, **cost_dict(cost)} for step, cost in answer.steps],
        "linked": list(answer.linked),
        "verified": None if answer.verified is None else _verified(answer.verified),
        "remarks": list(answer.remarks),
        "explanation": None if answer.explanation is None else _explanation(answer.explanation),
        "readings": [_reading(reading) for reading in answer.readings],
        "privacy": answer.privacy,
    }


def tried_dict(tried: Tried) -> dict[str, Any]:
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
        "confidence": round(tried.case.confidence, 4),
        "how": tried.how,
        "by": tried.by,
        "code": tried.code,
    }


def schema_dict(schema: Schema, contents: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """A schema for JSON; ``contents`` is what values show, by table and column."""
    return {
        "name": schema.name,
        "dialect": schema.dialect,
        "tables": [_table_dict(table, contents) for table in schema.tables],
        "foreign_keys": [_key_dict(table, key) for table in schema.tables for key in table.foreign_keys],
    }


def _table_dict(table: Table, contents: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "name": table.name,
        "schema": table.schema,
        "kind": table.kind,
        "comment": table.comment,
        "columns": [_column_dict(column, contents.get((table.name, column.name), "")) for column in table.columns],
        "primary_key": list(table.primary_key),
        "unique_keys": [list(key) for key in table.unique_keys],
        "candidate_keys": [list(key) for key in table.candidate_keys],
    }


def _column_dict(column: Column, contents: str) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "not_null": column.not_null,
        "unique": column.unique,
        "generated": column.generated,
        "values": list(column.values),
        "comment": column.comment,
        "contents": contents,
    }


def _key_dict(table: Table, key: ForeignKey) -> dict[str, Any]:
    return {
        "table": table.name,
        "columns": list(key.columns),
        "other_table": key.ref_table,
        "other_columns": list(key.ref_columns),
        "declared": key.declared,
        "score": round(key.score, 4),
        "evidence": list(key.evidence),
    }


def in_toml(value: Any) -> str:
    """A text, a number or a list in TOML, which writes them as JSON does, but knows no half surrogate pairs.

    So characters stand as they are; DEL, which TOML does not allow, becomes an escape.
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def json_cell(cell: Any) -> Any:
    """A cell for JSON: bytes become ``0x`` and hex digits; infinities, NaN and types that JSON lacks become text."""
    if isinstance(cell, bytes):
        return f"0x{cell.hex()}"
    if isinstance(cell, float) and not isfinite(cell):
        return str(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _rows(rows: Sequence[Row]) -> list[list[Any]]:
    return [[json_cell(cell) for cell in row] for row in rows]


def result_dict(result: Result) -> dict[str, Any]:
    """A result for JSON."""
    return {
        "columns": list(result.columns),
        "rows": _rows(result.rows),
        "truncated": result.truncated,
        "error": result.error and str(result.error),
    }


def _candidate(candidate: Candidate, among: Sequence[Candidate]) -> dict[str, Any]:
    group = candidate.group
    return {
        "sql": candidate.sql,
        "result_group": group,
        "error": candidate.result.error and str(candidate.result.error),
        "votes": 0 if group is None else sum(other.group == group for other in among),
        "logprob": None if candidate.logprob is None else round(candidate.logprob, 4),
        "generator": candidate.generator,
        "fixes": [{"by": fix.by, "reason": fix.reason, "before": fix.before} for fix in candidate.fixes],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    """``first_wins`` is the probability with the first group shown first, then shown second."""
    comparisons = [
        {
            "first": comparison.first,
            "second": comparison.second,
            "first_wins": [round(comparison.first_shown_first, 4), round(comparison.first_shown_second, 4)],
        }
        for comparison in choice.comparisons
    ]
    return {
        "selector": choice.selector,
        "candidate": choice.index,
        "scores": [round(score, 4) for score in choice.scores],
        "comparisons": comparisons,
        "tests": [tried_dict(tried) for tried in choice.tests],
        "note": choice.note,
    }


def _verified(verified: Verified) -> dict[str, Any]:
    test = None if verified.test is None else tried_dict(verified.test)
    return {"outcome": verified.outcome, "rival": verified.rival, "test": test, "why": verified.why}


def _explanation(explanation: Explanation) -> dict[str, Any]:
    effects = [
        {"kind": effect.kind, "text": effect.text, "rows": effect.rows, "sql": effect.sql, "warns": effect.warns}
        for effect in explanation.effects
    ]
    steps = [{"kind": step.kind, "text": step.text, "depth": step.depth} for step in explanation.steps]
    return {"steps": steps, "effects": effects, "uncounted": explanation.uncounted}


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "words": reading.words,
        "meaning": reading.meaning,
        "sql": reading.sql,
        "columns": list(reading.columns),
        "rows": _rows(reading.rows),
        "truncated": reading.truncated,
        "votes": reading.votes,
    }


def cost_dict(cost: Cost) -> dict[str, Any]:
    """A cost for JSON, without dollars."""
    return {
        "calls": cost.calls,
        "prompt_tokens": cost.prompt_tokens,
        "completion_tokens": cost.completion_tokens,
        "cached_tokens": cost.cached_tokens,
        "seconds": round(cost.seconds, 3),
    }
