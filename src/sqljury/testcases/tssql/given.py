"""Whether a program works on the frames that it was given, or on rows of its own, whose result says nothing of them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from typing import Final

_REACH: Final = frozenset({"tables", "globals", "locals", "vars", "eval", "exec"})
"""Names by which a program comes to every frame."""

_TOOLS: Final = frozenset({"pd", "np", *dir(builtins)}) - _REACH


def fault(code: str, frames: Collection[str]) -> str | None:
    """What speaks against the program's result: it makes one of the frames anew, or uses none; None where nothing does.

    Seen in its text alone: a frame may be bound again to what is made from given ones (``book = book[...]``), not to
    what has nothing to do with them (``book = pd.DataFrame({...})``). It begins with the line, as errors do.
    A text that is no Python is for the sandbox to refuse.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    drawn, used = {*frames, *_REACH}, False
    for statement in _statements(body):
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - _TOOLS
        if _loaded(statement) & drawn:
            drawn |= names
            used = True
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            if again := sorted(_bound(statement).intersection(frames)):
                return f"line {statement.lineno}: {again[0]} is given and keeps its rows: leave this out"
            drawn -= _bound(statement)
    return None if used else "the code uses none of the given frames: work out the result from them"


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements in the order in which they stand, those within others after them."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        inside: list[ast.stmt] = []
        for part in ast.iter_child_nodes(statement):
            inside += [part] if isinstance(part, ast.stmt) else getattr(part, "body", []) if _holds(part) else []
        waiting += reversed(inside)


def _holds(part: ast.AST) -> bool:
    return isinstance(part, ast.ExceptHandler | ast.match_case)


def _loaded(statement: ast.stmt) -> set[str]:
    """Names that are read there; the frame in ``book['new'] = 1`` is changed, not read."""
    read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return read - _TOOLS


def _bound(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
