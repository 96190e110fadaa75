"""Whether a program works on the frames that it was given, or on rows of its own, whose result says nothing of them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from typing import Final

_REACH: Final = frozenset({"tables", "globals", "locals", "vars", "eval", "exec"})
"""Names by which a program comes to every frame."""

_TOOLS: Final = frozenset({"pd", "np", *dir(builtins)}) - _REACH
_RESULT: Final = "result"
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ROWS: Final = (ast.Call, ast.Dict, ast.List, ast.ListComp, ast.DictComp)
"""What may make rows, unlike a plain value that happens to be called as a frame is."""


def fault(code: str, frames: Collection[str]) -> str | None:
    """What speaks against the program's result: it makes a frame anew, or owes nothing to any; None where nothing does.

    Seen in its text alone, and in doubt the program may run: a frame may be bound again to what is made from given ones
    (``book = book[...]``) and to a plain value (``book = None``), not to rows that have nothing to do with them
    (``book = pd.DataFrame({...})``). It begins with the line, as errors do. A text that is no Python, or that reads a
    name which it never binds, is for the sandbox to refuse.
    """
    try:
        tree = ast.parse(code)
        reading = _Reading(frames)
        reading.follow(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if reading.again:
        return reading.again
    if reading.reached or _read(tree) - _bound(tree) - {*frames}:
        return None
    return "the result uses none of the given frames: work it out from them"


class _Reading:
    """Which names come from the given frames, statement by statement; ``again`` is what makes a frame anew."""

    def __init__(self, frames: Collection[str]) -> None:
        self.again = ""
        self._frames = frozenset(frames)
        self._drawn = {*frames, *_REACH}
        self._made: set[str] = set()
        self._defined: dict[str, set[str]] = {}
        self._used = self._has_result = False

    @property
    def reached(self) -> bool:
        """Whether the result comes from given frames; where no name ``result`` is bound, whether anything does."""
        return _RESULT in self._drawn if self._has_result else self._used

    def follow(self, body: Sequence[ast.stmt], inside: bool = False) -> None:
        """Go through statements in their order.

        ``inside`` one that reads a given frame, as ``for row in book.itertuples():``, all that is bound comes from it.
        The names within a function or class are its own.
        """
        for one in body:
            bound = _bound(one)
            self._has_result = self._has_result or _RESULT in bound
            if isinstance(one, _SCOPES):
                self._defined[one.name] = _read(one)
            drawn = not self._drawn.isdisjoint(self._reads(one))
            if drawn:
                self._used = True
                self._drawn |= (bound | _names(one)) - _TOOLS
            elif isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None:
                self._bind(one.lineno, one.value, bound, inside)
            if not isinstance(one, _SCOPES):
                for within in _blocks(one):
                    self.follow(within, inside or drawn)

    def _reads(self, statement: ast.stmt) -> set[str]:
        """Names that are read there, and by functions that it names."""
        found = _read(statement)
        for name in found & self._defined.keys():
            found = found | self._defined[name]
        return found

    def _bind(self, line: int, value: ast.expr, names: set[str], inside: bool) -> None:
        """Names are bound to what has nothing to do with given frames."""
        if any(isinstance(node, _ROWS) for node in ast.walk(value)) or not self._made.isdisjoint(_read(value)):
            self._made |= names
            again = sorted(names & self._frames)
            if again and not self.again:
                self.again = f"line {line}: {again[0]} is given and keeps its rows: leave this out"
        if not inside:
            self._drawn -= names


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements within one, block by block."""
    cases = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.ExceptHandler | ast.match_case)]
    for part in (statement, *cases):
        for name in ("body", "orelse", "finalbody"):
            yield getattr(part, name, [])


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _read(tree: ast.AST) -> set[str]:
    """Names that are read there, but for tools; the frame in ``book['new'] = 1`` is changed, not read."""
    nodes = list(ast.walk(tree))
    changed = {id(_base(node)) for node in nodes if isinstance(node, ast.Subscript | ast.Attribute) and _stores(node)}
    names = (node for node in nodes if isinstance(node, ast.Name) and not _stores(node))
    return {node.id for node in names if id(node) not in changed} - _TOOLS


def _stores(node: ast.Subscript | ast.Attribute | ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _bound(tree: ast.AST) -> set[str]:
    """Names that are bound there in any way."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
        elif isinstance(node, (*_SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name or "")
    return found
