"""Calls of functions that a server does not stop in the middle of, told by the words of a query.

PostgreSQL and MariaDB look for a cancel request between rows, and within some functions. Others run on: the search for
a long pattern in a long text takes the product of the two lengths, minutes after the client has its answer. So a
pattern is written out and short, or both texts are columns of tables; and what a call makes out of nothing is bounded.
Whatever is left takes the time of one pass over a text. ``benchmarks/busy.py`` measures the calls.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqljury.sql.parse import exp

MAX_MADE_CHARS: Final = 1_000
"""What one call of ``repeat``, ``lpad`` and their like may make of a single character."""

MAX_MADE_TOGETHER: Final = 10_000
"""The product of all ``repeat`` counts of a query, which may stand within one another or feed one another."""

MAX_PATTERN_CHARS: Final = 100

_COUNTED: Final = {"lpad": 1, "repeat": 1, "rpad": 1, "space": 0}
"""Functions that make text, and which argument says how much."""

_TRIMS: Final = frozenset({"btrim", "ltrim", "rtrim", "trim", "translate"})
_FINDS: Final = frozenset({"position", "replace", "split_part", "string_to_array", "string_to_table", "strpos"})
_SEARCHES: Final = {
    "mysql": frozenset({"find_in_set", "instr", "locate", "position", "replace", "substring_index", "trim"}),
    "postgres": _TRIMS | _FINDS,
}
"""By dialect, functions whose work is the product of the lengths of their first two arguments."""

_SQUARES: Final = frozenset({"normalize"})
"""Functions whose work is the square of the length of their first argument."""

BOUNDED: Final = {dialect: functions | _SQUARES | _COUNTED.keys() for dialect, functions in _SEARCHES.items()}
"""By dialect, the functions that are allowed with some arguments only."""

_WORDED: Final = frozenset({"position", "trim"})
_BETWEEN: Final = frozenset({"BOTH", "FROM", "IN", "LEADING", "TRAILING"})
"""What stands between the arguments of the functions in ``_WORDED``."""

_SIGNS: Final = frozenset({"DASH", "PLUS"})
_KEPT_WORDS: Final = 8  # of an argument: enough to tell a constant or a column


@dataclass(slots=True)
class _Argument:
    words: list[Any] = field(default_factory=list)
    compound: bool = False

    def add(self, word: Any) -> None:
        if len(self.words) < _KEPT_WORDS:
            self.words.append(word)
        else:
            self.compound = True

    @property
    def constant(self) -> bool:
        """Whether it is texts and numbers alone."""
        kinds = [word.token_type.name for word in self.words]
        return not self.compound and all(kind in _SIGNS or _is_value(kind) for kind in kinds)

    @property
    def column(self) -> bool:
        """Whether it is the name of a column, with or without that of its table."""
        names, dots = self.words[::2], self.words[1::2]
        return (
            not self.compound
            and len(self.words) % 2 == 1
            and all(word.token_type.name == "DOT" for word in dots)
            and not any(_is_value(word.token_type.name) for word in names)
        )

    @property
    def number(self) -> int | None:
        """Its value where it is one whole number."""
        digits = [word.text for word in self.words if word.token_type.name == "NUMBER"]
        if not self.constant or len(digits) != 1 or not digits[0].isdecimal():
            return None
        return int(digits[0]) if len(self.words) == 1 else 0 if self.words[0].token_type.name == "DASH" else None

    @property
    def chars(self) -> int:
        return sum(len(word.text) for word in self.words)


@dataclass(slots=True)
class _Call:
    name: str
    arguments: list[_Argument] = field(default_factory=lambda: [_Argument()])


def objection(tokens: Sequence[Any], statement: exp.Expr, dialect: str) -> str | None:
    """Why the server could not be stopped in time, None when no call tells so."""
    searches = _SEARCHES.get(dialect, frozenset())
    from_tables = functools.cache(lambda: _reads_tables_only(statement))
    together = 1
    for call in _calls(tokens, searches | _SQUARES | _COUNTED.keys()):
        arguments = [argument for argument in call.arguments if argument.words or argument.compound]
        if call.name in _COUNTED:
            made = _made(arguments, _COUNTED[call.name])
            if made is None or made > MAX_MADE_CHARS:
                return f"{call.name} takes a number of at most {MAX_MADE_CHARS:,} here"
            together *= max(made, 1) if call.name == "repeat" else 1
            if together > MAX_MADE_TOGETHER:
                return f"the calls of repeat make more than {MAX_MADE_TOGETHER:,} times a text"
        elif not _is_quick(arguments[:2], call.name in searches) and not (
            all(argument.constant or argument.column for argument in arguments[:2]) and from_tables()
        ):
            return _advice(call.name, call.name in searches)
    return None


def _made(arguments: Sequence[_Argument], at: int) -> int | None:
    return arguments[at].number if at < len(arguments) else None


def _is_quick(arguments: Sequence[_Argument], search: bool) -> bool:
    """Whether the call takes no more than one pass over a text for each of a few characters."""
    constants = [argument for argument in arguments if argument.constant]
    if len(constants) == len(arguments):
        return True
    if not search:
        return False
    short = sum(argument.chars for argument in constants) <= MAX_PATTERN_CHARS
    return short and len(arguments) - len(constants) == 1


def _advice(name: str, search: bool) -> str:
    if search:
        what = f"a text of at most {MAX_PATTERN_CHARS} characters to look for, or columns of tables"
    else:
        what = "a column of a table"
    return f"{name} could keep the server busy after the time limit: give it {what}"


def _calls(tokens: Sequence[Any], names: frozenset[str]) -> Iterator[_Call]:
    """The calls of these functions, inner ones first; one pass."""
    opened: list[_Call] = []
    name = ""
    for token in tokens:
        kind = token.token_type.name
        if kind in ("L_PAREN", "L_BRACKET"):
            if opened:
                opened[-1].arguments[-1].compound = True
            opened.append(_Call(name if kind == "L_PAREN" else ""))
        elif kind in ("R_PAREN", "R_BRACKET") and opened:
            call = opened.pop()
            if call.name in names:
                yield call
        elif opened and (kind == "COMMA" or (token.text.upper() in _BETWEEN and not _is_value(kind))):
            opened[-1].arguments.append(_Argument())
        elif opened:
            opened[-1].arguments[-1].add(token)
        name = token.text.lower()


def _is_value(kind: str) -> bool:
    return kind in ("NUMBER", "NULL") or kind.endswith("STRING")


def _reads_tables_only(statement: exp.Expr) -> bool:
    """Whether all columns of the query are of tables or views: no WITH, no query or function in FROM."""
    for node in statement.find_all(exp.With, exp.Lateral, exp.Unnest, exp.Values, exp.Subquery, exp.Table):
        if isinstance(node, exp.Subquery):
            if isinstance(node.parent, exp.From | exp.Join | exp.Subquery | exp.Lateral):
                return False
        elif not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            return False
    return True
