"""llama.cpp's notation for grammars: how names, words and rules are written in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

NOTHING: Final = r"[^\x00-\U0010FFFF]"
"""What no text matches: the place of a list of names that is empty."""

_KEYWORD: Final = re.compile(r'("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\])|\b([A-Z][A-Z_0-9]+)\b')


class Names:
    """Words that share their beginnings, each with the rules that may follow it.

    llama.cpp follows every alternative at once, at a cost for each: so names branch letter by letter, and a thousand
    columns start with some thirty alternatives.
    """

    def __init__(self) -> None:
        self._next: dict[str, Names] = {}
        self._ends: dict[str, None] = {}

    def add(self, word: str, follow: str = "", *, fold: bool = True) -> None:
        """Take in a word, after which ``follow`` comes, or nothing; ``fold`` takes ASCII letters in both cases."""
        node = self
        for char in word:
            letter = f"[{char.lower()}{char.upper()}]" if fold and char.isascii() and char.isalpha() else quoted(char)
            node = node._next.setdefault(letter, Names())
        node._ends[follow] = None

    def write(self) -> str:
        """The alternatives in GBNF."""
        ways = [letter + node._tail() for letter, node in self._next.items()]
        return " | ".join([*ways, *(follow or '""' for follow in self._ends)]) or NOTHING

    def _tail(self) -> str:
        """What stands after this node's letter; a chain of single letters needs no brackets."""
        ways = [letter + node._tail() for letter, node in self._next.items()] + [end for end in self._ends if end]
        if "" in self._ends:
            return f" ({' | '.join(ways)})?" if ways else ""
        return f" ({' | '.join(ways)})" if len(ways) > 1 else f" {ways[0]}"


def quoted(text: str) -> str:
    """A text as a literal: only ASCII letters, digits and blanks stand for themselves."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in " _-.,()"):
        return char
    return f"\\x{ord(char):02X}" if ord(char) < 256 else f"\\U{ord(char):08X}"


def keywords(rules: str) -> str:
    """The rules with each word in capitals as a reference to a rule for it in capitals or small, those rules added."""
    words: dict[str, None] = {}

    def reference(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        words[match[2]] = None
        return _rule_of(match[2])

    body = _KEYWORD.sub(reference, rules)
    return body + "".join(f'\n{_rule_of(word)} ::= "{word}" | "{word.lower()}"' for word in words)


def _rule_of(word: str) -> str:
    return "k-" + word.replace("_", "-")


def grammar_text(rules: Mapping[str, str]) -> str:
    """The rules that ``root`` needs, one a line; any other is left out."""
    needed = ["root"]
    for name in needed:
        needed += [
            reference
            for reference in dict.fromkeys(_references(rules[name]))
            if reference in rules and reference not in needed
        ]
    return "".join(f"{name} ::= {rules[name]}\n" for name in needed)


def _references(body: str) -> Iterable[str]:
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', " ", body)
    return re.findall(r"[A-Za-z][A-Za-z0-9-]*", bare)
