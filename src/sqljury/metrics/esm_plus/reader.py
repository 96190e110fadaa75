"""The words of a query as ESM+ reads it: Spider's, with joins and ``<>`` put together.

Reads SQL into the structure of ESM+, accepting what the published program accepts, and a little more.

Its limits are the published ones (ESM+ paper, section 7): no parentheses around conditions, no columns of queries in
FROM, one operator in an expression, aliases only of tables; those of columns are passed over. Conditions stay in one
flat list. A column compared with a column swallows an OR behind it up to the next AND, comma, parenthesis or clause, as
in Spider's parser.

More than the published program reads: an alias holds in its own query and those nested in it (section 3.3, item 4),
and INNER JOIN also after an alias (item 1). As there, an alias may be used in ON before the table that has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Final, NamedTuple, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.structure import (
    NULL,
    STAR,
    Aggregate,
    Arithmetic,
    Column,
    Condition,
    Conditions,
    Expression,
    Group,
    Key,
    Literal,
    Query,
    Source,
    Value,
    ValueList,
)
from sqljury.metrics.spider.parser import Cursor, tokenize
from sqljury.metrics.spider.structure import AGGREGATES, ARITHMETIC, OPERATORS, SET_OPERATORS, Names

MAX_CHARACTERS: Final = 100_000
"""Longer queries are not read."""

_SPELLINGS: Final = re.compile(r"""('[^']*'|"[^"]*")|`|<>""")
"""Strings stay as they are; backticks go, for the tokenizer would make words of them."""
_SIDES: Final = frozenset({"left", "right", "full"})


def words_of(sql: str) -> list[str]:
    """Lower-case words, ``left outer join`` one word ``left join``, ``inner join`` just ``join``.

    Raises ``InputError`` for a quotation mark that is not closed, and for a query that is too long.
    """
    if len(sql) > MAX_CHARACTERS:
        raise InputError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read")
    words: list[str] = []
    for word in tokenize(_SPELLINGS.sub(_respelled, sql)):
        if word == "join":
            word = _join(words)
        words.append(word)
    return words


def _respelled(found: re.Match[str]) -> str:
    return found[1] or ("!=" if found[0] == "<>" else "")


def _join(before: list[str]) -> str:
    """The word for a join, taking what belongs to it off the words before."""
    if before and before[-1] in ("inner", "cross"):
        return "join" if before.pop() == "inner" else "cross join"
    if before and before[-1] == "outer":
        before.pop()
        return f"{before.pop()} join" if before and before[-1] in _SIDES else "outer join"
    if before and before[-1] in _SIDES:
        return f"{before.pop()} join"
    return "join"


MAX_DEPTH: Final = 60
"""Queries inside queries; deeper ones are not read."""

_JOINS: Final = frozenset({"join", "left join", "right join", "full join", "outer join", "cross join"})
_CLAUSES: Final = frozenset({"select", "from", "where", "group", "order", "limit", *SET_OPERATORS})
_CONNECTIVES: Final = frozenset({"and", "or"})
_ENDS: Final = _CLAUSES | {")", ";"}
_FROM_ENDS: Final = (_CLAUSES - {"from"}) | {"having", ";"}
_NO_ALIAS: Final = _ENDS | _JOINS | _CONNECTIVES | {"on", "as", ",", "asc", "desc", "having", "using", "natural", ""}
_VALUE_ENDS: Final = _CLAUSES | _JOINS | {"on", "as", ",", ")", "and", ""}
_FUNCTIONS: Final = frozenset(AGGREGATES) - {"none"}


class Read(NamedTuple):
    """A query and what reading it took: ``bare_aliases`` are tables with an alias without AS (rule 14)."""

    query: Query
    bare_aliases: tuple[str, ...]


def read(sql: str, names: Names, *, bare_aliases: bool = True) -> Read:
    """The structure of one query; raises ``InputError`` where it cannot be read, valid SQL or not."""
    reader = _Reader(words_of(sql), names, bare_aliases)
    return Read(reader.query(None), tuple(reader.found))


def _fail(reason: str) -> NoReturn:
    raise InputError(f"not in ESM+'s grammar: {reason}")


@dataclass(slots=True)
class _Scope:
    """The tables of one FROM in their order, the names they go by there, and the query around."""

    outer: _Scope | None
    tables: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def table(self, alias: str) -> str | None:
        """The table that goes by this name, here or in a query around."""
        scope: _Scope | None = self
        while scope is not None:
            if alias in scope.aliases:
                return scope.aliases[alias]
            scope = scope.outer
        return None


class _Reader(Cursor):
    """Each method reads one part of a query and moves on."""

    def __init__(self, words: list[str], names: Names, bare_aliases: bool) -> None:
        self.found: list[str] = []
        super().__init__(words, _fail)
        self._names = names
        self._bare_aliases = bare_aliases
        self._depth = 0

    # Queries

    def query(self, outer: _Scope | None) -> Query:
        """A SELECT and what a set operator joins to it, in parentheses or not."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            _fail("too many queries inside each other")
        in_parentheses = self._skip("(")
        query = self._clauses(_Scope(outer))
        self._skip_semicolons()
        if in_parentheses:
            self._expect(")")
        self._skip_semicolons()
        if self._peek() in SET_OPERATORS:
            query = replace(query, set_operator=self._next(), other=self.query(outer))
        self._depth -= 1
        return query

    def _clauses(self, scope: _Scope) -> Query:
        """One SELECT; FROM is read first, since it says where the columns of the other clauses are looked up."""
        select_at = self._at
        self._at = self._position_of_from()
        tables, joins, on = self._from(scope)
        after_from, self._at = self._at, select_at
        distinct, select = self._select(scope)
        self._at = after_from
        return Query(
            select=select,
            tables=tables,
            distinct=distinct,
            joins=joins,
            on=on,
            where=self._conditions(scope) if self._skip("where") else (),
            group_by=self._group_by(scope),
            having=self._conditions(scope) if self._skip("having") else (),
            order_by=self._order_by(scope),
            limit=self._number_after("limit"),
            offset=self._number_after("offset") or None,
        )

    def _position_of_from(self) -> int:
        try:
            return self._words.index("from", self._at) + 1
        except ValueError:
            _fail("there is no FROM")

    def _skip_semicolons(self) -> None:
        while self._skip(";"):
            pass

    # Clauses

    def _from(self, scope: _Scope) -> tuple[tuple[Source, ...], tuple[str, ...], Conditions]:
        tables: list[Source] = []
        joins: list[str] = []
        on: list[Condition | Group | str] = []
        self._note_aliases(scope)
        while self._peek():
            if tables:
                if self._peek() not in _JOINS:
                    _fail(f"{self._peek()!r} in FROM")
                joins.append(self._next())
            in_parentheses = self._skip("(")
            if self._peek() == "select":
                tables.append(self.query(scope.outer))
            else:
                tables.append(self._table(scope))
            if self._skip("on"):
                conditions = self._conditions(scope)
                on += ["and", *conditions] if on else conditions
            if in_parentheses:
                self._expect(")")
            if self._peek() in _ENDS or self._peek() == "having":
                break
        return tuple(tables), tuple(joins), tuple(on)

    def _note_aliases(self, scope: _Scope) -> None:
        """Names of all tables of this FROM: a condition may name a table that is joined after it."""
        depth, at = 0, self._at
        while at < len(self._words) and depth >= 0 and not (depth == 0 and self._words[at] in _FROM_ENDS):
            word, before = self._words[at], self._words[at - 1]
            table = _unquoted(word)
            if depth == 0 and (at == self._at or before in _JOINS) and table in self._names.tables:
                alias = self._words[at + 1 : at + 3]
                alias = alias[1:] if alias[:1] == ["as"] else alias[:1] if self._bare_aliases else []
                scope.aliases.setdefault(table, table)
                if alias and alias[0] not in _NO_ALIAS:
                    scope.aliases.setdefault(_unquoted(alias[0]), table)
            depth += (word == "(") - (word == ")")
            at += 1

    def _table(self, scope: _Scope) -> str:
        table = _unquoted(self._next())
        if table not in self._names.tables:
            _fail(f"{table!r} is no table")
        scope.tables.append(table)
        scope.aliases.setdefault(table, table)
        if self._skip("as"):
            scope.aliases[_unquoted(self._next())] = table
        elif self._peek() not in _NO_ALIAS:
            if not self._bare_aliases:
                _fail(f"{self._peek()!r} is an alias without AS, and rule 14 is off")
            alias = _unquoted(self._next())
            self.found.append(f"{table} {alias}")
            scope.aliases[alias] = table
        return table

    def _select(self, scope: _Scope) -> tuple[bool, tuple[Expression, ...]]:
        self._expect("select")
        distinct = self._skip("distinct")
        units = [self._selected(scope)]
        while self._skip(","):
            units.append(self._selected(scope))
        if self._peek() != "from":
            _fail(f"{self._peek()!r} in SELECT")
        return distinct, tuple(units)

    def _selected(self, scope: _Scope) -> Expression:
        expression = self._expression(scope)
        if self._skip("as"):
            self._next()
        return expression

    def _group_by(self, scope: _Scope) -> tuple[Expression, ...]:
        units: list[Expression] = []
        if self._skip("group"):
            self._expect("by")
            units.append(self._operand(scope))
            while self._skip(","):
                units.append(self._operand(scope))
        return tuple(units)

    def _order_by(self, scope: _Scope) -> tuple[Key, ...]:
        keys: list[Key] = []
        if self._skip("order"):
            self._expect("by")
            while True:
                expression = self._expression(scope)
                keys.append(Key(expression, self._next() if self._peek() in ("asc", "desc") else ""))
                if not self._skip(","):
                    break
        return tuple(keys)

    def _number_after(self, clause: str) -> int | None:
        if not self._skip(clause):
            return None
        word = self._next()
        if not (word.isascii() and word.isdigit() and len(word) < 20):
            _fail(f"{clause.upper()} {word[:20]} is no whole number")
        return int(word)

    # Conditions

    def _conditions(self, scope: _Scope) -> Conditions:
        units: list[Condition | Group | str] = [self._condition(scope)]
        while self._peek() in _CONNECTIVES:
            units.append(self._next())
            units.append(self._condition(scope))
        return tuple(units)

    def _condition(self, scope: _Scope) -> Condition:
        negated = self._skip("not")
        left = self._expression(scope)
        negated ^= self._skip("not")
        operator = self._next()
        if operator not in OPERATORS:
            _fail(f"{operator!r} is no comparison")
        value1: Value
        value2: Value = None
        if operator == "in" and self._peek() == "(" and _is_constant(self._peek(1)):
            value1 = self._list(scope)
        elif operator == "between":
            value1 = self._value(scope)
            self._expect("and")
            value2 = self._value(scope)
        else:
            negated ^= self._skip("not")  # IS NOT
            value1 = self._value(scope)
        return Condition(negated, operator, left, value1, value2)

    def _list(self, scope: _Scope) -> ValueList:
        self._expect("(")
        values = [self._value(scope)]
        while self._skip(","):
            values.append(self._value(scope))
        self._expect(")")
        return ValueList(tuple(values))

    def _value(self, scope: _Scope) -> Value:
        in_parentheses = self._skip("(")
        value: Value
        word = self._peek()
        if word == "select":
            value = self.query(scope)
        elif _is_constant(word):
            self._at += 1
            value = Literal(word if '"' in word or word == NULL else float(word))
        else:
            value = self._column_value(scope)
        if in_parentheses:
            self._expect(")")
        return value

    def _column_value(self, scope: _Scope) -> Expression:
        """All words up to the end of the condition are one column, though only the first ones are looked at."""
        start = self._at
        value = self._expression(scope)
        end = max(self._at, start)
        while (self._words[end] if end < len(self._words) else "") not in _VALUE_ENDS:
            end += 1
        self._at = end
        return value

    # Expressions

    def _expression(self, scope: _Scope) -> Expression:
        in_parentheses = self._skip("(")
        expression = self._operand(scope)
        if self._peek() in ARITHMETIC and self._peek() != "none":
            expression = Arithmetic(self._next(), expression, self._operand(scope))
        if in_parentheses:
            self._expect(")")
        return expression

    def _operand(self, scope: _Scope) -> Expression:
        if self._peek() in _FUNCTIONS and self._peek(1) == "(":
            function = self._next()
            self._expect("(")
            distinct = self._skip("distinct")
            argument = self._expression(scope)
            self._expect(")")
            return Aggregate(function, distinct, argument)
        in_parentheses = self._skip("(")
        column = self._column(scope)
        if in_parentheses:
            self._expect(")")
        return column

    def _column(self, scope: _Scope) -> Column:
        word = _unquoted(self._next())
        if word == STAR:
            return Column(STAR)
        if "." in word:
            qualifier, _, column = word.partition(".")
            table = scope.table(qualifier)
            if table is not None and column in self._names.tables[table]:
                return Column(f"{table}.{column}")
        else:
            for table in scope.tables:
                if word in self._names.tables[table]:
                    return Column(f"{table}.{word}")
        _fail(f"{word!r} is no column of {', '.join(scope.tables) or 'any table in FROM'}")


def _unquoted(word: str) -> str:
    return word.strip("\"'`").lower()


def _is_constant(word: str) -> bool:
    """Whether a word is a string, NULL or a number; ``nan`` and ``inf`` are none of these."""
    return '"' in word or word == NULL or _is_number(word)


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False
