"""Reads SQL into the structure of ESM+, accepting what the published program accepts and nothing else.

Its limits are the published ones (ESM+ paper, section 7): no parentheses around conditions, no columns of queries in
FROM, one operator in an expression, aliases only of tables; those of columns are passed over. Conditions stay in one
flat list. A column compared with a column swallows an OR behind it up to the next AND, comma, parenthesis or clause, as
in Spider's parser.

Where the published program is odd, so is this reader, for verdicts follow from it:

- An alias with AS holds in the whole query, the last one of a name; one without AS in its own SELECT only.
- INNER, FULL and NATURAL are no words of joins. Behind a table without an alias they are read as its alias, behind a
  condition they are passed over, and behind an alias the query cannot be read.
- CAST is the expression in it; ``strftime`` with a format of one letter is known outside SELECT's own list.
- What a rule cannot take apart makes the query unreadable: a value in ON, a number in GROUP BY or beside a join, the
  count of an arithmetic expression.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sqljury.metrics.esm_plus.structure import (
    NULL,
    STAR,
    Aggregate,
    Arithmetic,
    Call,
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
from sqljury.metrics.esm_plus.words import constant, fail, is_constant, unquoted, words_of
from sqljury.metrics.spider.parser import Cursor
from sqljury.metrics.spider.structure import AGGREGATES, ARITHMETIC, OPERATORS, SET_OPERATORS, Names

MAX_DEPTH: Final = 60
"""Queries inside queries; deeper ones are not read."""

_JOINS: Final = frozenset({"join", "left join", "right join", "outer join", "cross join"})
_CLAUSES: Final = frozenset({"select", "from", "where", "group", "order", "limit", "partition", *SET_OPERATORS})
_CONNECTIVES: Final = frozenset({"and", "or"})
_ENDS: Final = _CLAUSES | {")", ";"}
_CONDITION_ENDS: Final = _ENDS | _JOINS | {"on", "as"}
_NO_ALIAS: Final = _ENDS | _JOINS | _CONNECTIVES | {"on", "as", ",", "asc", "desc", ""}
_VALUE_ENDS: Final = _CLAUSES | _JOINS | {"on", "as", ",", ")", "and", ""}
_TIMES: Final = frozenset("YmdHMSs")


class Read(NamedTuple):
    """A query and what reading it took: ``bare_aliases`` are tables with an alias without AS (rule 14)."""

    query: Query
    bare_aliases: tuple[str, ...]


def read(sql: str, names: Names, *, bare_aliases: bool = True) -> Read:
    """The structure of one query; raises ``InputError`` where it cannot be read, valid SQL or not."""
    words, aliases = words_of(sql, names)
    reader = _Reader(words, names, aliases, bare_aliases)
    return Read(reader.query(), tuple(reader.found))


@dataclass(slots=True)
class _Scope:
    """The tables of one FROM in their order, and what names stand for there."""

    aliases: dict[str, str]
    tables: list[str] = field(default_factory=list)


class _Reader(Cursor):
    """Each method reads one part of a query and moves on."""

    def __init__(self, words: list[str], names: Names, aliases: dict[str, str], bare_aliases: bool) -> None:
        self.found: list[str] = []
        super().__init__(words, fail)
        self._names = names
        self._aliases = aliases
        self._bare_aliases = bare_aliases
        self._depth = 0

    # Queries

    def query(self) -> Query:
        """A SELECT and what a set operator joins to it, in parentheses or not."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            fail("too many queries inside each other")
        in_parentheses = self._skip("(")
        query = self._clauses(_Scope(dict(self._aliases)))
        self._skip_semicolons()
        if in_parentheses:
            self._expect(")")
        self._skip_semicolons()
        if self._peek() in SET_OPERATORS:
            query = replace(query, set_operator=self._next(), other=self.query())
        self._depth -= 1
        _check(query)
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
            limit=self._limit(),
        )

    def _position_of_from(self) -> int:
        try:
            return self._words.index("from", self._at) + 1
        except ValueError:
            fail("there is no FROM")

    def _skip_semicolons(self) -> None:
        while self._skip(";"):
            pass

    # Clauses

    def _from(self, scope: _Scope) -> tuple[tuple[Source, ...], tuple[str, ...], Conditions]:
        tables: list[Source] = []
        joins: list[str] = []
        on: list[Condition | Group | str] = []
        while self._peek():
            if tables:
                if self._peek() not in _JOINS:
                    fail(f"{self._peek()!r} in FROM")
                joins.append(self._next())
            in_parentheses = not tables and self._skip("(")
            if self._peek() == "select" and not tables:
                tables.append(self.query())
            else:
                tables.append(self._table(scope))
            if self._skip("on"):
                conditions = self._conditions(scope)
                on += ["and", *conditions] if on else conditions
            if in_parentheses:
                self._expect(")")
            if self._peek() in _ENDS:
                break
        return tuple(tables), tuple(joins), tuple(on)

    def _table(self, scope: _Scope) -> str:
        word = unquoted(self._next())
        table = scope.aliases.get(word, "")
        if table not in self._names.tables:
            fail(f"{word!r} is no table")
        scope.tables.append(table)
        if self._peek() == "as":
            self._at += 2
        elif self._peek() not in _NO_ALIAS:
            if not self._bare_aliases:
                fail(f"{self._peek()!r} is an alias without AS, and rule 14 is off")
            alias = self._next()
            if alias not in ("inner", "full", "natural"):
                self.found.append(f"{table} {alias}")
            scope.aliases[alias] = table
        return table

    def _select(self, scope: _Scope) -> tuple[bool, tuple[Expression, ...]]:
        self._expect("select")
        distinct = self._skip("distinct")
        units: list[Expression] = []
        while self._peek() and self._peek() not in _CLAUSES:
            units.append(self._selected(scope))
            if self._skip("as"):
                self._at += 1
            self._skip(",")
        return distinct, tuple(units)

    def _selected(self, scope: _Scope) -> Expression:
        function = self._next() if self._peek() in AGGREGATES or self._peek() == "strftime" else ""
        expression = self._expression(scope)
        if not function or function == "none":
            return expression
        match expression:
            case Aggregate("", True, argument):
                return Aggregate(function, True, argument)
        return Aggregate(function, False, expression)

    def _group_by(self, scope: _Scope) -> tuple[Expression, ...]:
        units: list[Expression] = []
        if self._skip("group"):
            self._expect("by")
            while self._peek() and self._peek() not in _ENDS:
                units.append(self._operand(scope))
                if not self._skip(","):
                    break
        return tuple(units)

    def _order_by(self, scope: _Scope) -> tuple[Key, ...]:
        keys: list[Key] = []
        if self._skip("order"):
            self._expect("by")
            while self._peek() and self._peek() not in _ENDS:
                expression = self._expression(scope)
                keys.append(Key(expression, self._next() if self._peek() in ("asc", "desc") else ""))
                if not self._skip(","):
                    break
        return tuple(keys)

    def _limit(self) -> int | None:
        """A whole number, of which 0 limits nothing but counts as a LIMIT; OFFSET is not read."""
        if not self._skip("limit"):
            return None
        word = self._next()
        try:
            return int(word) if len(word) < 20 else fail("LIMIT is too long")
        except ValueError:
            fail(f"LIMIT {word[:20]} is no whole number")

    # Conditions

    def _conditions(self, scope: _Scope) -> Conditions:
        units: list[Condition | Group | str] = []
        while self._peek():
            units.append(self._condition(scope))
            if self._peek() in _CONDITION_ENDS:
                break
            if self._peek() in _CONNECTIVES:
                units.append(self._next())
            elif self._peek():
                fail(f"{self._peek()!r} behind a condition")
        return tuple(units[:-1] if units and isinstance(units[-1], str) else units)

    def _condition(self, scope: _Scope) -> Condition:
        negated = self._skip("not")
        left = self._expression(scope)
        negated ^= self._skip("not")
        operator = self._next()
        if operator not in OPERATORS:
            fail(f"{operator!r} is no comparison")
        value1: Value
        value2: Value = None
        if operator == "in" and is_constant(self._peek(1)):
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
        values: list[Value] = []
        while self._peek() and self._peek() != ")":
            values.append(self._value(scope))
            self._skip(",")
        self._expect(")")
        return ValueList(tuple(values))

    def _value(self, scope: _Scope) -> Value:
        start = self._at
        in_parentheses = self._skip("(")
        value: Value
        word = self._peek() or self._next()
        if word == "select":
            value = self.query()
        elif is_constant(word) or word == NULL:
            self._at += 1
            value = Literal(word if '"' in word or word == NULL else float(word))
        else:
            value = self._column_value(start, scope)
        if in_parentheses:
            self._expect(")")
        return value

    def _column_value(self, start: int, scope: _Scope) -> Expression:
        """All words up to the end of the condition are one column, though only the first ones are looked at.

        An opening parenthesis is among them and the closing one is not, so a column in parentheses cannot be read.
        """
        while self._peek() not in _VALUE_ENDS:
            self._at += 1
        words = self._words[start : self._at]
        return _Reader(words, self._names, self._aliases, self._bare_aliases)._expression(scope)

    # Expressions

    def _expression(self, scope: _Scope) -> Expression:
        in_parentheses = self._skip("(")
        expression = self._operand(scope)
        if self._peek() in ARITHMETIC:
            expression = Arithmetic(self._next(), expression, self._operand(scope))
        if in_parentheses:
            self._expect(")")
        return expression

    def _operand(self, scope: _Scope) -> Expression:
        in_parentheses = self._skip("(")
        if (number := constant(self._peek())) is not None:
            self._at += 1
            if number.value:  # a zero is passed over, as published
                if in_parentheses:
                    self._expect(")")
                return number
        word = self._peek()
        if word == "cast":
            self._at += 2
            inside = self._operand(scope)
            self._at += 3
            return inside
        if word == "strftime":
            return self._strftime(scope)
        if word in AGGREGATES:
            self._at += 1
            self._expect("(")
            distinct = self._skip("distinct")
            argument = self._column(scope)
            self._expect(")")
            return Aggregate(word, distinct, argument)
        distinct = self._skip("distinct")
        column = self._column(scope)
        if in_parentheses:
            self._expect(")")
        return Aggregate("", True, column) if distinct else column

    def _strftime(self, scope: _Scope) -> Expression:
        self._at += 2
        times = [part.strip('"').strip("%") for part in self._next().split(" ")]
        if not all(time in _TIMES for time in times):
            fail("strftime with another format than letters")
        self._at += 1
        distinct = self._skip("distinct")
        column = self._column(scope)
        self._expect(")")
        return Call(f"strftime {' '.join(times)}", (Aggregate("", True, column) if distinct else column,))

    def _column(self, scope: _Scope) -> Column:
        word = unquoted(self._next())
        if word == STAR:
            return Column(STAR)
        if "." in word:
            qualifier, _, column = word.partition(".")
            table = scope.aliases.get(qualifier, "")
            if column in self._names.tables.get(table, ()):
                return Column(f"{table}.{column}")
        elif word == "cast":
            self._at += 1
            inside = self._column(scope)
            self._at += 3
            return inside
        else:
            for table in scope.tables:
                if word in self._names.tables[table]:
                    return Column(f"{table}.{word}")
        return fail(f"{word!r} is no column of {', '.join(scope.tables) or 'any table in FROM'}")


def _check(query: Query) -> None:
    """Fails where the published program's rules come to a part of the query that they cannot take apart."""
    for unit in query.on:
        if isinstance(unit, Condition):
            if isinstance(unit.value1, Literal | Query | ValueList) or unit.value1 is None:
                fail("a value in ON")
            if isinstance(unit.left, Literal):
                fail("a number in ON")
    if any(isinstance(unit, Literal) or unit == Column(STAR) for unit in query.group_by):
        fail("GROUP BY of no column")
    if any(isinstance(unit, Aggregate) and _counts_arithmetic(unit) for unit in query.select):
        fail("the count of an arithmetic expression")
    if query.on:
        compared = [unit.left for unit in (*query.where, *query.having) if isinstance(unit, Condition)]
        whole = [*query.select, *(key.expression for key in query.order_by)]
        if any(map(_has_number, whole)) or any(_has_number(left, right=False) for left in compared):
            fail("a number beside a join")


def _counts_arithmetic(unit: Aggregate) -> bool:
    return unit.function == "count" and isinstance(unit.argument, Arithmetic)


def _has_number(expression: Expression, *, right: bool = True) -> bool:
    match expression:
        case Literal(value):
            return not isinstance(value, str)
        case Aggregate(_, _, argument):
            return _has_number(argument, right=right)
        case Arithmetic(_, first, second):
            return _has_number(first) or (right and _has_number(second))
    return False
