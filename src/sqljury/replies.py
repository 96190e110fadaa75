"""Reading what was asked for out of a model's reply."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```[ \t]*(?:\w+)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"^[ \t(]*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE | re.MULTILINE)
_INLINE = re.compile(r"\b(?:SELECT|WITH)\b(?=\s)")  # in capitals, as prose selects things too
_OTHER = re.compile(
    r"^\s*(?:INSERT|UPDATE|DELETE|DROP|ALTER|CREATE|REPLACE|TRUNCATE|MERGE|GRANT|ATTACH|PRAGMA)\b", re.IGNORECASE
)


def extract_sql(reply: str) -> str:
    """The one statement in ``reply``, without fence, prose or trailing semicolon; empty when there is none.

    A fenced block is preferred, the last one when there are several, as models reason first and conclude last.
    A statement that writes is returned too: refusing it is the database layer's work, and says more than silence.
    """
    blocks = [block for block in _FENCE.findall(reply) if block.strip()]
    text = blocks[-1] if blocks else reply.replace("```", "\n")
    if _OTHER.match(text):
        return _trim(text)
    found = _START.search(text) or (None if blocks else _INLINE.search(text))
    return _trim(text[found.start() :]) if found else (_trim(text) if blocks else "")


def _trim(text: str) -> str:
    """Up to a blank line that prose follows, and without the semicolon at the end."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    kept = [paragraphs[0]]
    for paragraph in paragraphs[1:]:
        if kept[-1].rstrip().endswith(";") or re.match(r"\s*[A-Z][a-z]+ [a-z]+ ", paragraph):
            break
        kept.append(paragraph)
    return "\n".join(kept).strip().rstrip(";").strip()
