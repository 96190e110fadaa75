"""A reader of GBNF as llama.cpp documents it: whether a text is in a grammar's language, and texts of that language."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(\[(?:[^\]\\]|\\.)*\])|(\{\d*,?\d*\}|[*+?])|([()|])|([A-Za-z][\w-]*))')
_CHAR = re.compile(r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\(.)|(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
MANY = 1_000_000


@dataclass(frozen=True)
class Class:
    """One character out of ranges, or out of all others."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool

    def has(self, char: str) -> bool:
        return any(low <= ord(char) <= high for low, high in self.ranges) != self.negated

    @cached_property
    def examples(self) -> list[str]:
        some = [chr(code) for low, high in self.ranges for code in range(low, min(high, low + 300) + 1)]
        return [char for char in [*some, *"abz '\"\\;-`\n\u00e9\u4e2d%_"] if self.has(char)]


@dataclass(frozen=True)
class Rule:
    name: str


@dataclass(frozen=True)
class Repeat:
    node: Node
    least: int
    most: int


@dataclass(frozen=True)
class Sequence:
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    ways: tuple[Node, ...]


Node = str | Class | Rule | Repeat | Sequence | Choice


class Reader:
    """A grammar, read; raises ``ValueError`` for one that is none, or that names a rule it does not have."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Node] = {}
        for line in text.split("\n"):
            if line:
                name, _, body = line.partition(" ::= ")
                assert re.fullmatch(r"[a-zA-Z0-9-]+", name), name
                assert name not in self.rules, name
                self.rules[name] = _Parser(body).parsed()
        missing = {node.name for node in self._nodes() if isinstance(node, Rule)} - self.rules.keys()
        if missing or "root" not in self.rules:
            raise ValueError(f"missing rules {missing}")

    def _nodes(self) -> list[Node]:
        found: list[Node] = list(self.rules.values())
        for node in found:
            if isinstance(node, Repeat):
                found.append(node.node)
            elif isinstance(node, Sequence):
                found += node.nodes
            elif isinstance(node, Choice):
                found += node.ways
        return found

    def accepts(self, text: str) -> bool:
        return len(text) in _Match(self.rules, text).ends(Rule("root"), 0)

    def reach(self, text: str) -> int:
        """How far into the text some of the language goes: where a refused text went wrong."""
        match = _Match(self.rules, text)
        match.ends(Rule("root"), 0)
        return match.far

    def write(self, seed: int, pieces: int = 120) -> str:
        """A text of the language; after so many pieces each way out that is nearest is taken."""
        return _Writer(self.rules, self._heights, random.Random(seed), pieces).text(Rule("root"))

    @cached_property
    def _heights(self) -> dict[str, int]:
        heights = dict.fromkeys(self.rules, MANY)
        for _ in self.rules:
            new = {name: 1 + _height(node, heights) for name, node in self.rules.items()}
            if new == heights:
                break
            heights = new
        return heights


class _Parser:
    def __init__(self, body: str) -> None:
        self._tokens: list[re.Match[str]] = []
        at = 0
        while body[at:].strip():
            token = _TOKEN.match(body, at)
            if token is None:
                raise ValueError(f"not GBNF: {body[at : at + 40]!r}")
            self._tokens.append(token)
            at = token.end()
        self._at = 0

    def parsed(self) -> Node:
        node = self._choice()
        if self._at != len(self._tokens):
            raise ValueError("a bracket too many")
        return node

    def _next(self) -> re.Match[str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _choice(self) -> Node:
        ways = [self._sequence()]
        while (token := self._next()) and token[4] == "|":
            self._at += 1
            ways.append(self._sequence())
        return ways[0] if len(ways) == 1 else Choice(tuple(ways))

    def _sequence(self) -> Node:
        nodes: list[Node] = []
        while (token := self._next()) and token[4] not in ("|", ")"):
            self._at += 1
            if token[3]:
                nodes[-1] = Repeat(nodes[-1], *_bounds(token[3]))
            elif token[4]:
                nodes.append(self._choice())
                closing = self._next()
                if closing is None or closing[4] != ")":
                    raise ValueError("a bracket is not closed")
                self._at += 1
            else:
                nodes.append(_leaf(token))
        if not nodes:
            raise ValueError("an alternative is empty")
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))


def _bounds(mark: str) -> tuple[int, int]:
    if mark in "*+?":
        return int(mark == "+"), 1 if mark == "?" else MANY
    least, comma, most = mark[1:-1].partition(",")
    return int(least or 0), int(most) if most else (MANY if comma else int(least))


def _leaf(token: re.Match[str]) -> Node:
    if token[5]:
        return Rule(token[5])
    if token[1] is not None:
        return "".join(char for char, _ in _chars(token[1][1:-1]))
    negated = token[2].startswith("[^")
    chars = _chars(token[2][2 if negated else 1 : -1])
    ranges = []
    while chars:
        low = chars.pop(0)[0]
        if len(chars) > 1 and chars[0] == ("-", True):
            chars.pop(0)
            ranges.append((ord(low), ord(chars.pop(0)[0])))
        else:
            ranges.append((ord(low), ord(low)))
    return Class(tuple(ranges), negated)


def _chars(text: str) -> list[tuple[str, bool]]:
    """Characters, each with whether it was written as itself."""
    found = []
    for match in _CHAR.finditer(text):
        code = match[1] or match[2] or match[3]
        char = chr(int(code, 16)) if code else _ESCAPES.get(match[4], match[4]) if match[4] else match[5]
        found.append((char, match[5] is not None))
    return found


class _Match:
    """All ways to read a text, each rule at each place once."""

    def __init__(self, rules: dict[str, Node], text: str) -> None:
        self._rules, self._text = rules, text
        self._known: dict[tuple[str, int], frozenset[int]] = {}
        self.far = 0

    def ends(self, node: Node, at: int) -> frozenset[int]:
        """Where a piece that begins at ``at`` may end."""
        if isinstance(node, str):
            return self._found(at + len(node)) if self._text.startswith(node, at) else frozenset()
        if isinstance(node, Class):
            return self._found(at + 1) if at < len(self._text) and node.has(self._text[at]) else frozenset()
        if isinstance(node, Rule):
            if (node.name, at) not in self._known:
                self._known[node.name, at] = self.ends(self._rules[node.name], at)
            return self._known[node.name, at]
        if isinstance(node, Choice):
            return frozenset().union(*(self.ends(way, at) for way in node.ways))
        if isinstance(node, Sequence):
            places = frozenset({at})
            for part in node.nodes:
                places = frozenset().union(*(self.ends(part, place) for place in places))
            return places
        return self._repeated(node, at)

    def _repeated(self, node: Repeat, at: int) -> frozenset[int]:
        places, found = frozenset({at}), set()
        for count in range(min(node.most, len(self._text)) + 1):
            if count >= node.least:
                found |= places
            places = frozenset().union(*(self.ends(node.node, place) for place in places))
            if not places or (count >= node.least and places <= found):
                break
        return frozenset(found)

    def _found(self, end: int) -> frozenset[int]:
        self.far = max(self.far, end)
        return frozenset({end})


def _height(node: Node, heights: dict[str, int]) -> int:
    if isinstance(node, Rule):
        return heights[node.name]
    if isinstance(node, Choice):
        return min(_height(way, heights) for way in node.ways)
    if isinstance(node, Sequence):
        return max(_height(part, heights) for part in node.nodes)
    if isinstance(node, Repeat):
        return _height(node.node, heights) if node.least else 0
    return MANY if isinstance(node, Class) and not node.examples else 0


class _Writer:
    def __init__(self, rules: dict[str, Node], heights: dict[str, int], dice: random.Random, pieces: int) -> None:
        self._rules, self._heights, self._dice, self._left = rules, heights, dice, pieces

    def text(self, node: Node) -> str:
        if isinstance(node, str | Class):
            self._left -= 1
            return node if isinstance(node, str) else self._dice.choice(node.examples)
        if isinstance(node, Rule):
            return self.text(self._rules[node.name])
        if isinstance(node, Sequence):
            return "".join([self.text(part) for part in node.nodes])
        if isinstance(node, Repeat):
            more = self._dice.choice((0, 0, 1, 2, 3)) if self._left > 0 else 0
            count = max(node.least, min(node.most, node.least + more))
            return "".join([self.text(node.node) for _ in range(count)])
        ways = [way for way in node.ways if _height(way, self._heights) < MANY]
        if self._left <= 0:
            ways = [min(ways, key=lambda way: _height(way, self._heights))]
        return self.text(self._dice.choice(ways))
