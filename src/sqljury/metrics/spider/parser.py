"""A position in a list of words, which both readers of the benchmark's SQL move along.

Splits SQL into words the way Spider's parser does, which takes it for English.

The benchmark runs the Penn Treebank word tokenizer over the query. That shows where verdicts come from: ``a=1`` is one
word and no condition, ``1,2`` is one word, ``a , b`` are three. So the words have to be the same.

Reads SQL into Spider's structured form, accepting what the benchmark's own parser accepts and nothing else.

Where that parser is odd, so is this one, since hardness and exact set match are defined by what it sees:

- ``AS`` names an alias in the whole query, subqueries included, and a table needs it to have one.
- Parentheses around conditions, outer and LEFT joins, column aliases that are used, IS NOT NULL, lists after IN,
  ``<>``, CASE and functions other than the five aggregates cannot be read.
- A column compared with a column swallows an ``OR`` behind it up to the next AND, comma, parenthesis or clause.
- ORDER BY has one direction, that of its last key which names one. What follows a complete query is not read.
- Every LIMIT is 1, in nested queries too, where all else is compared as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.spider.structure import (
    AGGREGATES,
    ARITHMETIC,
    OPERATORS,
    SET_OPERATORS,
    ColUnit,
    Condition,
    Conditions,
    Names,
    Query,
    SelectUnit,
    TableUnit,
    Value,
    ValUnit,
)
from sqljury.sql.scan import length_fault


class Cursor:
    """The words and where reading is; ``fail`` raises for what the reader's grammar does not have."""

    def __init__(self, words: list[str], fail: Callable[[str], NoReturn]) -> None:
        self._words = words
        self._at = 0
        self._fail = fail

    def _peek(self, ahead: int = 0) -> str:
        """The next word, or one after it; empty at the end: no word is."""
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ""

    def _next(self) -> str:
        word = self._peek()
        if not word:
            self._fail("the query ends too early")
        self._at += 1
        return word

    def _skip(self, word: str) -> bool:
        """Move past the next word if it is this one."""
        skipped = self._peek() == word
        self._at += skipped
        return skipped

    def _expect(self, word: str) -> None:
        if not self._skip(word):
            self._fail(f"{self._peek() or 'the end'!r} where {word!r} is needed")


_SPLITS: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|`|[«»“”„‘’]", r" \g<0> "),
        (
            r"(?<!\.)\.(?=[\])}>»”’ ]*+\s*+\Z)",
            r" . ",
        ),  # a full stop ends the text, it does not end a word inside it
        (r"([:,])(\D|\Z)", r" \1 \2"),  # not between digits: 1,000
        (r"\.{2,}|--|[;@#$%&?!*\[\](){}<>\u2012-\u2015]", r" \g<0> "),
        (r"(?i)\b(?:(can)(not)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me))\b", r" \1\3\5\7\9 \2\4\6\8\g<10> "),
        (r"(?i)\b(wan)(na)(?=\s|\Z)", r" \1 \2 "),
    )
)


def tokenize(sql: str, *, backticks: bool = False) -> list[str]:
    """Words in lower case; a quoted string is one word, in double quotes, with its case kept.

    With ``backticks`` what stands between two of them is one word too, without them, also behind a full stop. Raises
    ``InputError`` for an odd number of quotation marks: single and double ones are not told apart.
    """
    strings: dict[str, str] = {}
    text = _set_aside(sql.replace("'", '"'), '"', "val", strings)
    if backticks:
        names: dict[str, str] = {}
        text = _set_aside(text, "`", "name", names)
        strings |= {key: name.strip("`") for key, name in names.items()}
    for pattern, replacement in _SPLITS:
        text = pattern.sub(replacement, text)
    words = [strings.get(word, word) for word in text.lower().split()]
    return _join_operators([_restored_behind(word, strings) for word in words] if backticks else words)


def _set_aside(text: str, mark: str, kind: str, originals: dict[str, str]) -> str:
    """The text with what is between marks replaced by words that are not split, which ``originals`` leads back."""
    pieces = text.split(mark)
    if len(pieces) % 2 == 0:
        raise InputError("not in Spider's grammar: a quotation mark is not closed")
    originals |= {f"__{kind}_{index}__": f"{mark}{inside}{mark}" for index, inside in enumerate(pieces[1::2])}
    keys = [*(f"__{kind}_{index}__" for index in range(len(pieces) // 2)), ""]
    return "".join(piece + key for piece, key in zip(pieces[::2], keys, strict=True))


def _restored_behind(word: str, strings: Mapping[str, str]) -> str:
    """``t.`` and what was set aside behind it."""
    table, dot, name = word.partition(".")
    return table + dot + strings[name] if name in strings else word


def _join_operators(words: list[str]) -> list[str]:
    """``>`` and a following ``=`` are one operator, likewise ``<`` and ``!``; ``<>`` stays two words."""
    joined: list[str] = []
    for word in words:
        if word == "=" and joined and joined[-1] in ("!", ">", "<"):
            joined[-1] += "="
        else:
            joined.append(word)
    return joined


MAX_DEPTH: Final = 60
"""Queries inside queries; deeper ones cannot be read."""

_CLAUSES: Final = frozenset({"select", "from", "where", "group", "order", "limit", *SET_OPERATORS})
_JOINS: Final = frozenset({"join", "on", "as"})
_ENDS: Final = _CLAUSES | {")", ";"}


def parse(sql: str, names: Names) -> Query:
    """The structure of one query; raises ``InputError`` for what Spider's parser cannot read, valid SQL or not."""
    words = tokenize(sql)
    return _Parser(words, names, _aliases(words, names), 0).query()


def parse_or_empty(sql: str, names: Names) -> Query:
    """The structure, or the empty one for what cannot be read, or is too long: how the benchmark treats predictions."""
    if length_fault(sql):
        return Query()
    try:
        return parse(sql, names)
    except InputError:
        return Query()


def _fail(reason: str) -> NoReturn:
    raise InputError(f"not in Spider's grammar: {reason}")


def _aliases(words: list[str], names: Names) -> dict[str, str]:
    """What each name stands for in the whole query, tables for themselves; the last AS of a name counts."""
    aliases: dict[str, str] = {}
    for at, word in enumerate(words):
        if word == "as":
            if at + 1 == len(words):
                _fail("nothing follows AS")
            aliases[words[at + 1]] = words[at - 1]
    for table in names.tables:
        if table in aliases:
            _fail(f"the alias {table} is also the name of a table")
        aliases[table] = table
    return aliases


class _Parser(Cursor):
    """Each method reads one part of a query and moves on."""

    def __init__(self, words: list[str], names: Names, aliases: dict[str, str], depth: int) -> None:
        super().__init__(words, _fail)
        self._names = names
        self._aliases = aliases
        self._depth = depth

    # Queries

    def query(self) -> Query:
        """A SELECT and what a set operator joins to it, in parentheses or not."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            _fail("too many queries inside each other")
        start = self._at
        in_parentheses = self._skip("(")
        select_at = self._at
        # FROM comes first: it says where the columns of the other clauses are looked up.
        self._at = self._position_of_from(start)
        tables, join, scope = self._from()
        after_from, self._at = self._at, select_at
        distinct, select = self._select(scope)
        self._at = after_from
        where = self._conditions(scope) if self._skip("where") else ()
        group_by = self._group_by(scope)
        having = self._conditions(scope) if self._skip("having") else ()
        order, order_by = self._order_by(scope)
        limit = self._limit()
        self._skip_semicolons()
        if in_parentheses:
            self._expect(")")
        self._skip_semicolons()
        set_operator = self._next() if self._peek() in SET_OPERATORS else ""
        other = self.query() if set_operator else None
        self._depth -= 1
        return Query(
            distinct,
            select,
            tables,
            join,
            where,
            group_by,
            having,
            order,
            order_by,
            limit,
            set_operator,
            other,
        )

    def _position_of_from(self, start: int) -> int:
        try:
            return self._words.index("from", start) + 1
        except ValueError:
            _fail("there is no FROM")

    def _skip_semicolons(self) -> None:
        while self._skip(";"):
            pass

    # Clauses

    def _from(self) -> tuple[tuple[TableUnit, ...], Conditions, tuple[str, ...]]:
        """Tables, join conditions, and the tables in which a column without a table is looked up."""
        tables: list[TableUnit] = []
        join: list[Condition | str] = []
        scope: list[str] = []
        while self._peek():
            in_parentheses = self._skip("(")
            if self._peek() == "select":
                tables.append(self.query())
            else:
                self._skip("join")
                scope.append(self._table())
                tables.append(scope[-1])
            if self._skip("on"):
                conditions = self._conditions(tuple(scope))
                join += ["and", *conditions] if join else conditions
            if in_parentheses:
                self._expect(")")
            if self._peek() in _ENDS:
                break
        return tuple(tables), tuple(join), tuple(scope)

    def _table(self) -> str:
        word = self._next()
        table = self._aliases.get(word, "")
        if table not in self._names.tables:
            _fail(f"{word!r} is no table")
        if self._peek() == "as":
            self._at += 2
        return table

    def _select(self, scope: tuple[str, ...]) -> tuple[bool, tuple[SelectUnit, ...]]:
        self._expect("select")
        distinct = self._skip("distinct")
        units: list[SelectUnit] = []
        while self._peek() and self._peek() not in _CLAUSES:
            aggregate = self._next() if self._peek() in AGGREGATES else "none"
            units.append(SelectUnit(aggregate, self._val_unit(scope)))
            self._skip(",")
        return distinct, tuple(units)

    def _group_by(self, scope: tuple[str, ...]) -> tuple[ColUnit, ...]:
        units: list[ColUnit] = []
        if self._skip("group"):
            self._expect("by")
            while self._peek() and self._peek() not in _ENDS:
                units.append(self._col_unit(scope))
                if not self._skip(","):
                    break
        return tuple(units)

    def _order_by(self, scope: tuple[str, ...]) -> tuple[str, tuple[ValUnit, ...]]:
        if not self._skip("order"):
            return "", ()
        self._expect("by")
        direction, units = "asc", []
        while self._peek() and self._peek() not in _ENDS:
            units.append(self._val_unit(scope))
            if self._peek() in ("asc", "desc"):
                direction = self._next()
            if not self._skip(","):
                break
        return direction, tuple(units)

    def _limit(self) -> int | None:
        """1 whatever stands behind LIMIT: the published parser takes numbers for text, and then sets 1."""
        if not self._skip("limit"):
            return None
        self._next()
        return 1

    # Conditions

    def _conditions(self, scope: tuple[str, ...]) -> Conditions:
        units: list[Condition | str] = []
        while self._peek():
            units.append(self._condition(scope))
            if self._peek() in _ENDS or self._peek() in _JOINS:
                break
            if self._peek() in ("and", "or"):
                units.append(self._next())
        return tuple(units)

    def _condition(self, scope: tuple[str, ...]) -> Condition:
        left = self._val_unit(scope)
        negated = self._skip("not")
        operator = self._next()
        if operator not in OPERATORS:
            _fail(f"{operator!r} is no comparison")
        value1, value2 = self._value(scope), None
        if operator == "between":
            self._expect("and")
            value2 = self._value(scope)
        return Condition(negated, operator, left, value1, value2)

    def _value(self, scope: tuple[str, ...]) -> Value:
        start = self._at
        in_parentheses = self._skip("(")
        word = self._peek() or self._next()
        value: Value
        if word == "select":
            value = self.query()
        elif '"' in word:
            value = self._next()
        else:
            value = self._number_or_column(start, scope)
        if in_parentheses:
            self._expect(")")
        return value

    def _number_or_column(self, start: int, scope: tuple[str, ...]) -> float | ColUnit:
        try:
            number = float(self._peek())
        except ValueError:
            return self._column_value(start, scope)
        self._at += 1
        return number

    def _column_value(self, start: int, scope: tuple[str, ...]) -> ColUnit:
        """All words up to the end of the condition are one column, though only the first ones are looked at.

        An opening parenthesis is among them and the closing one is not, so a column in parentheses cannot be read.
        """
        stops = _CLAUSES | _JOINS | {",", ")", "and"}
        while self._peek() and self._peek() not in stops:
            self._at += 1
        words = self._words[start : self._at]
        return _Parser(words, self._names, self._aliases, self._depth)._col_unit(scope)

    # Columns

    def _val_unit(self, scope: tuple[str, ...]) -> ValUnit:
        in_parentheses = self._skip("(")
        left, right, operator = self._col_unit(scope), None, "none"
        if self._peek() in ARITHMETIC:
            operator = self._next()
            right = self._col_unit(scope)
        if in_parentheses:
            self._expect(")")
        return ValUnit(operator, left, right)

    def _col_unit(self, scope: tuple[str, ...]) -> ColUnit:
        in_parentheses = self._skip("(")
        if self._peek() in AGGREGATES:
            # The parenthesis that may stand before an aggregate is not closed here, it never was.
            aggregate = self._next()
            self._expect("(")
            unit = ColUnit(aggregate, distinct=self._skip("distinct"), column=self._column(scope))
            self._expect(")")
            return unit
        unit = ColUnit("none", distinct=self._skip("distinct"), column=self._column(scope))
        if in_parentheses:
            self._expect(")")
        return unit

    def _column(self, scope: tuple[str, ...]) -> str:
        word = self._next()
        if word == "*":
            return word
        if "." in word:
            qualifier, _, column = word.partition(".")
            table = self._aliases.get(qualifier, "")
            if column in self._names.tables.get(table, ()):
                return f"{table}.{column}"
        else:
            for table in scope:
                if word in self._names.tables[table]:
                    return f"{table}.{word}"
        _fail(f"{word!r} is no column of {', '.join(scope) or 'any table in FROM'}")
