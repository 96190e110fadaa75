"""Where a server's own lexer sees text, quoted names and comments, compared with where the parser sees them.

A query that the two cut differently could hide a statement in what the parser takes for text, so it is refused.
The rules are PostgreSQL's with ``standard_conforming_strings`` on, and MySQL's with neither ``ANSI_QUOTES`` nor
``NO_BACKSLASH_ESCAPES`` in its ``sql_mode``; both engines set their sessions so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

DIALECTS: Final = frozenset({"mysql", "postgres"})
_SPACE: Final = frozenset(" \t\n\r\f\v")

_PLAIN: Final = r"'(?:[^']|'')*'"
_ESCAPED: Final = r"'(?:[^'\\]|''|\\.)*'"
_POSTGRES: Final = re.compile(
    rf"""
      (?P<refused> [uU]&["'] | /\*\+ )
    | (?P<escaped> [eE]{_ESCAPED} )
    | (?P<text> [bBxXnN]?{_PLAIN} | "(?:[^"]|"")*" | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$ )
    | (?P<comment> --[^\n\r]* | /\* )
    | (?P<open> ['"] | \$(?:[^\W\d]\w*)?\$ )
    | (?P<word> [^\W\d][\w$]* | \d[\w$]* )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_MYSQL: Final = re.compile(
    rf"""
      (?P<refused> /\*!  | /\*M! | /\*\+ )
    | (?P<text> [bBxXnN]?{_ESCAPED} | "(?:[^"\\]|""|\\.)*" | `(?:[^`]|``)*` )
    | (?P<comment> \#[^\n]* | --(?=[\x00-\x20\x7f]|\Z)[^\n]* | /\*.*?\*/ )
    | (?P<open> ['"`] | /\* )
    | (?P<word> [\w$]+ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_NESTED: Final = re.compile(r"/\*|\*/")


class _Span(NamedTuple):
    start: int
    end: int  # of the last character, as the parser's tokens have it
    is_comment: bool


class _UnclearError(ValueError):
    """The text cannot be cut, or has what is never allowed; the message says which."""


def objection(sql: str, tokens: Sequence[Any], dialect: str) -> str | None:
    """What keeps ``sql`` from being read in one way only, None when the parser's ``tokens`` are the server's too."""
    try:
        spans = list(_spans(sql, dialect))
    except _UnclearError as error:
        return str(error)
    texts = {(span.start, span.end) for span in spans if not span.is_comment}
    covered = bytearray(len(sql))
    for span in spans:
        covered[span.start : span.end + 1] = b"\x01" * (span.end + 1 - span.start)
    seen = set()
    for token in tokens:
        start, end = token.start, token.end
        if (start, end) in texts:
            seen.add((start, end))
        elif any(covered[start : end + 1]):
            return f"it is not clear where the text or comment at character {start + 1} ends"
        covered[start : end + 1] = b"\x01" * (end + 1 - start)
    for at, character in enumerate(sql):
        if not covered[at] and character not in _SPACE:
            return f"it is not clear what {character!r} at character {at + 1} means"
    if seen != texts:
        return f"it is not clear where the text at character {min(texts - seen)[0] + 1} ends"
    return None


def before_semicolon(sql: str, dialect: str) -> str:
    """``sql`` up to the semicolon that ends it, if one does; comments after it are left out with it."""
    try:
        comments = [span for span in _spans(sql, dialect) if span.is_comment]
    except _UnclearError:
        return sql
    end = len(sql)
    for comment in reversed(comments):
        if sql[comment.end + 1 : end].strip():
            break
        end = comment.start
    text = sql[:end].rstrip()
    return text[:-1] if text.endswith(";") else sql


def _spans(sql: str, dialect: str) -> Iterator[_Span]:
    pattern = _POSTGRES if dialect == "postgres" else _MYSQL
    at = 0
    after_escaped = False
    while at < len(sql):
        match = pattern.match(sql, at)
        if match is None:  # no alternative is left out, so this is never reached; it must not loop if it is
            raise _UnclearError(f"it is not clear what stands at character {at + 1}")
        kind, end = match.lastgroup, match.end()
        kind = "text" if kind == "tag" else kind
        if kind == "refused":
            raise _UnclearError(_reason(match.group()))
        if kind == "open":
            raise _UnclearError(f"the text or comment at character {at + 1} has no end")
        if kind == "comment" and match.group() == "/*":
            end = _end_of_nested(sql, at)
        if kind in ("text", "escaped"):
            if after_escaped:  # PostgreSQL takes text in the next line for the continuation of an E'...'
                raise _UnclearError("text in pieces after E'...' is not allowed")
            yield _Span(at, end - 1, False)
        elif kind == "comment":
            yield _Span(at, end - 1, True)
        if kind == "escaped":
            after_escaped = True
        elif kind != "comment" and not match.group().isspace():
            after_escaped = False
        at = end


def _reason(mark: str) -> str:
    if mark.startswith("/*"):
        return f"a comment that starts with {mark} may be run by the server, which is not allowed"
    return "U& is not allowed; write the characters themselves"


def _end_of_nested(sql: str, at: int) -> int:
    """The end of a comment in PostgreSQL, where comments nest."""
    depth = 0
    for match in _NESTED.finditer(sql, at):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise _UnclearError(f"the comment at character {at + 1} has no end")
