"""What the difference of two queries means in plain words, and the words of the question that leave it open."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sqljury.language import ambiguity
from sqljury.language.words import FILLERS, JOINING, words
from sqljury.sql import text
from sqljury.sql.differences import Difference, Kind
from sqljury.sql.parse import exp
from sqljury.sql.provenance.phrases import Phrases
from sqljury.sql.resolve import table_named
from sqljury.types import Column, Result, Schema

Senses = tuple[str, str, str]
"""Words of the question, and what the first and the second query take them to mean."""

_DATE_WORDS: Final = """
    date time datetime timestamp day month year datum zeit geburtstag monat jahr fecha hora mes jour heure mois annee
    giorno mese anno
"""
_DATED: Final = frozenset(_DATE_WORDS.split())
_DATED_END: Final = ("date", "time", "day", "month", "year", "datum", "zeit", "monat", "jahr")
"""A word may end with one, where names have neither humps nor underscores: ``orderdate``."""
_NOT_DATED: Final = frozenset({"candidate", "mandate"})
_SINCE: Final = frozenset({"on", "at", "since", "am"})
"""Last words of names of dates."""
_DATE_TYPE: Final = re.compile(r"date|time", re.IGNORECASE)
_NUMBERED: Final = frozenset(
    {"id", "no", "nr", "num", "number", "nummer", "numero", "code", "seq", "sequence", "serial", "rank", "version"}
)
"""Last words of names of numbers that are given in turn."""


def senses(found: Difference, question: str, schema: Schema, results: tuple[Result, Result]) -> Senses | None:
    """The words on which two readings part, and both meanings; None where no word leaves the difference open."""
    word_senses = _Asked(found, question, schema, results).senses()
    return word_senses if word_senses is not None and word_senses[0] else None


class _Asked:
    """A difference beside the question."""

    def __init__(self, found: Difference, question: str, schema: Schema, results: tuple[Result, Result]) -> None:
        self._found, self._question, self._schema, self._results = found, question, schema, results
        self._left, self._right = found.first, found.second
        self._one_table = all(len(shape.tables) == 1 for shape in found.shapes)
        self._phrases = Phrases(schema)

    def senses(self) -> Senses | None:
        rules: dict[Kind, Callable[[], Senses | None]] = {
            "extreme": self._extreme,
            "measure": self._measure,
            "repeated": self._repeated,
            "counted": self._counted,
            "bound": self._bound,
            "place": self._place,
            "value": self._value,
            "column": self._column,
            "tie": self._tie,
            "absent": self._absent,
        }
        return rules[self._found.kind]()

    def _extreme(self) -> Senses | None:
        """``last`` by a date or by a number, ``biggest`` by one size or another; a column that is named settles it."""
        sides = (self._left, self._right)
        if any(self._is_named(node) for node in sides):
            return None
        of_time = all(self._is_dated(node) or self._is_numbered(node) for node in sides)
        if not of_time and any(self._is_dated(node) or self._is_key(node) for node in sides):
            return None
        word = ambiguity.superlative(self._question, of_time=of_time)
        return self._both(word, lambda node: f"by {self._said(node)}, the {self._first(node)} first")

    def _first(self, node: exp.Expr) -> str:
        if self._is_dated(node):
            return "latest" if self._found.descending else "earliest"
        return "highest" if self._found.descending else "lowest"

    def _is_dated(self, node: exp.Expr) -> bool:
        """Whether a column holds dates or times, by its type or its name."""
        column, named = self._column_of(node), words(self._spelled(node))
        typed = column is not None and _DATE_TYPE.search(column.type) is not None
        ends = any(word.endswith(_DATED_END) and word not in _NOT_DATED for word in named)
        return typed or ends or not _DATED.isdisjoint(named) or not _SINCE.isdisjoint(named[-1:])

    def _is_numbered(self, node: exp.Expr) -> bool:
        """Whether a column holds numbers that are given in turn, by its name."""
        last = "".join(words(self._spelled(node))[-1:])
        return last in _NUMBERED or (last.endswith("id") and self._is_key(node))

    def _measure(self) -> Senses | None:
        """``how many`` or ``most``: rows, or the sum of a column that the question does not name."""
        total = self._left if isinstance(self._left, exp.Sum) else self._right
        columns = list(total.find_all(exp.Column))
        if len(columns) != 1 or self._is_named(columns[0]):
            return None
        word, noun = ambiguity.counting(self._question)
        if not word and self._found.shapes[0].limit:
            word = ambiguity.superlative(self._question, of_time=False)
            noun = ambiguity.after(self._question, word) if word else ""
        if noun in words(columns[0].table):  # how many orders: its rows
            return None
        rows = f"the number of rows of {self._table(columns[0].table)}"
        return self._both(word, lambda node: self._said(node) if isinstance(node, exp.Sum) else rows)

    def _repeated(self) -> Senses | None:
        """``List the towns``: each once, or once for each row of one table."""
        shape = self._found.shapes[0]
        if not self._one_table or shape.limit or shape.group:
            return None
        names = [self._spelled(item) for item in shape.items if isinstance(item, exp.Column)]
        word = ambiguity.repeated(self._question, names, words(shape.tables[0]))
        return self._more(word, f"one row for every row of {self._table(shape.tables[0])}", "equal rows once")

    def _counted(self) -> Senses | None:
        """``how many products were sold``: different ones, or each as often as it was sold."""
        distinct = self._left if isinstance(self._left, exp.Distinct) else self._right
        columns = [part for part in distinct.expressions if isinstance(part, exp.Column)]
        word, noun = ambiguity.counted_events(self._question), ambiguity.counting(self._question)[1]
        if len(columns) != 1 or noun not in words(self._spelled(columns[0])) or noun in words(columns[0].table):
            return None
        once = f"each {self._said(columns[0])} counted once"
        rows = f"every row of {self._table(columns[0].table)} counted"
        return self._both(word, lambda node: once if isinstance(node, exp.Distinct) else rows)

    def _bound(self) -> Senses | None:
        """``between 5 and 10``: with 5 and 10, or without."""
        constants = [term.expression for term, _ in self._found.pairs]
        if not all(isinstance(node, exp.Literal) for node in constants):
            return None
        word = ambiguity.bound(self._question, [node.name for node in constants])
        first, second = (" and ".join(self._condition(pair[side]) for pair in self._found.pairs) for side in (0, 1))
        return word, first, second

    def _place(self) -> Senses | None:
        """A text that two columns hold, neither of which the question names."""
        first, second = self._found.pairs[0]
        values = {term.expression.name.strip("%").casefold() for pair in self._found.pairs for term in pair}
        if len(values) != 1 or self._is_settled():
            return None
        word = ambiguity.quoted(self._question, first.expression.name.strip("%"))
        return word, self._condition(first), self._condition(second)

    def _value(self) -> Senses | None:
        """Words that are part of two stored values, and all of neither."""
        values = [node.name.strip("%") for node in (self._left, self._right)]
        if any(ambiguity.quoted(self._question, value) for value in values):
            return None
        word = ambiguity.shared(self._question, values, FILLERS)
        first, second = self._found.pairs[0]
        return word, self._condition(first), self._condition(second)

    def _column(self) -> Senses | None:
        """A word that is part of the names of two columns, and all of neither."""
        if self._is_settled():
            return None
        tables = {word for node in (self._left, self._right) for word in words(node.text("table"))}
        names = [self._spelled(self._left), self._spelled(self._right)]
        word = ambiguity.shared(self._question, names, FILLERS | tables)
        return self._both(word, self._said)

    def _tie(self) -> Senses | None:
        """``the highest``: one of those that share it, or all of them."""
        rows = [set(map(tuple, result.rows)) for result in self._results]
        if not rows[1 - self._found.more] < rows[self._found.more]:
            return None
        words_ = [ambiguity.superlative(self._question, of_time=of_time) for of_time in (False, True)]
        end = f"{'highest' if self._found.descending else 'lowest'} {self._said(self._left)}"
        return self._more("".join(words_), f"all that share the {end}", f"a single one with the {end}")

    def _absent(self) -> Senses | None:
        """``each``: with those that have no row in another table, or without."""
        table = self._table(self._left.text("table"))
        return self._more(
            ambiguity.whole(self._question), f"those without a row in {table} too", f"only those with a row in {table}"
        )

    def _both(self, word: str, meaning_of: Callable[[exp.Expr], str]) -> Senses:
        return word, meaning_of(self._left), meaning_of(self._right)

    def _more(self, word: str, more: str, fewer: str) -> Senses:
        """``more`` for the query that shows more rows."""
        return (word, fewer, more) if self._found.more else (word, more, fewer)

    def _said(self, node: exp.Expr) -> str:
        return self._phrases.value(self._bare(node))

    def _condition(self, node: exp.Expr) -> str:
        return self._phrases.condition(self._bare(node))

    def _bare(self, node: exp.Expr) -> exp.Expr:
        """With names as the schema spells them, without those of tables where one table is read."""
        node = node.copy()
        for column in node.find_all(exp.Column):
            table = table_named(self._schema, column.table)
            column.set("this", exp.to_identifier(self._spelled(column)))
            column.set("table", exp.to_identifier(table.name) if table is not None and not self._one_table else None)
        return node

    def _spelled(self, node: exp.Expr) -> str:
        """A column's name as the schema spells it."""
        column = self._column_of(node)
        return node.name if column is None else column.name

    def _column_of(self, node: exp.Expr) -> Column | None:
        table = table_named(self._schema, node.text("table"))
        return next((column for column in table.columns if column.name.lower() == node.name), None) if table else None

    def _table(self, name: str) -> str:
        """A table's name as the schema spells it."""
        table = table_named(self._schema, name)
        return text.printable(name if table is None else table.name)

    def _is_named(self, node: exp.Expr) -> bool:
        """Whether the question has the words of a column's name, apart from those of its table's."""
        return ambiguity.names(self._question, self._spelled(node), {*JOINING, *words(node.text("table"))})

    def _is_settled(self) -> bool:
        """Whether the question names a column of the two, or the table of one of them alone."""
        sides = (self._left, self._right)
        tables = {ambiguity.names(self._question, node.text("table")) for node in sides}
        return len(tables) > 1 or any(self._is_named(node) for node in sides)

    def _is_key(self, node: exp.Expr) -> bool:
        table = table_named(self._schema, node.text("table"))
        keys = {name.lower() for name in table.row_key} if table is not None else set()
        refers = {name.lower() for key in table.foreign_keys for name in key.columns} if table is not None else set()
        return node.name in keys | refers
