"""Reading what was asked for out of a model's reply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqljury.patterns import regex

if TYPE_CHECKING:
    from sqljury.llm.base import Completion

STOP = (";\n",)
"""Where a reply may end. A semicolon alone may stand in a text, and prose may have one before the query."""

REASONING_TOKENS: Final = 1_000
"""Of a reply that reasons step by step, beside its conclusion."""

_FENCE = regex(r"```[ \t]*(?:\w+)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_START = regex(r"^[ \t(]*(?:SELECT\b|VALUES\s*\(|WITH\s+(?:RECURSIVE\s+)?[\w\"`\[]+\s*(?:\(|AS\b))", re.I | re.M)
_INLINE = regex(r"\b(?:SELECT|WITH)\b(?=\s)|\b[Ss]elect\b(?=[^.]*\bfrom\b)")
_WRITE = regex(
    r"\s*(?:INSERT|UPDATE|DELETE|DROP|ALTER|CREATE|REPLACE|TRUNCATE|MERGE|GRANT|REVOKE|ATTACH|VACUUM|PRAGMA)\b",
    re.IGNORECASE,
)
_ASSIGNS = regex(r"^[A-Za-z_]\w* *=(?!=)", re.MULTILINE)
_PROSE = regex(r"\s*[A-Z][a-z]+ [a-z]+ ")
_TOKEN = regex(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/"
    r"|(?P<end>;|\n[ \t]*[A-Z][a-z]+(?: [a-z]+){0,3}:(?=\s))",
    re.DOTALL,
)
"""What may hold anything, and what ends a query: a semicolon, or a line with a heading ("Simplify: ...")."""


def extract_sql(reply: str) -> str:
    """The first statement in ``reply``, without fence, prose or semicolon; empty when there is none.

    A fenced block is preferred, the last one when there are several, as models reason first and conclude last.
    A statement that writes is returned too: refusing it is the database layer's work, and says more than silence.
    """
    blocks = [block for block in _FENCE.findall(reply) if block.strip()]
    text = blocks[-1] if blocks else reply.replace("```", "\n")
    if is_write(text):
        return _first(text)
    start = _START.search(text) or (None if blocks else _INLINE.search(text))
    return _first(text[start.start() :]) if start else (_first(text) if blocks else "")


def extract_code(reply: str) -> str:
    """The last fenced block of ``reply`` that is not empty, else the reply where a line assigns; empty for prose."""
    blocks: list[str] = [block.strip("\n") for block in _FENCE.findall(reply) if block.strip()]
    if blocks:
        return blocks[-1]
    text = reply.replace("```", "\n").strip()
    return text if _ASSIGNS.search(text) else ""


def concluded(completion: Completion) -> bool:
    """Whether a reply came to its end, or was cut after a whole block; what is cut may end in the reasoning."""
    fences = completion.text.count("```")
    return completion.finish_reason != "length" or (fences >= 2 and fences % 2 == 0)


def lines_of(code: str) -> list[str]:
    """The lines of a program as Python counts them; ``splitlines`` knows ends of lines that Python does not."""
    return re.split(r"\r\n|\r|\n", code)


def is_write(sql: str) -> bool:
    """Whether the text begins like a statement that changes something."""
    return _WRITE.match(sql) is not None


def _first(text: str) -> str:
    """Up to its end as ``_TOKEN`` has it, outside texts, names and comments, or to a blank line that prose follows."""
    text = text.strip()
    end = next((token.start() for token in _TOKEN.finditer(text) if token["end"]), len(text))
    paragraphs = re.split(r"\n\s*\n", text[:end].strip())
    kept = paragraphs[:1]
    for paragraph in paragraphs[1:]:
        if _PROSE.match(paragraph):
            break
        kept.append(paragraph)
    return "\n".join(kept).strip()
