"""Estimated token counts of a text, and of the tables, columns and keys of a rendered schema."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.schema.render import render
from sqljury.types import Column, ForeignKey, Schema, Table
from sqljury.types.schema import Form

_LIKELY: Final = " -- likely"  # as ``forms.ddl`` marks a key that was inferred
_WORD: Final = re.compile(r"_?[^\W\d_]+|\d|[^\w\s]+\n?|\n|_")


def estimate_tokens(text: str) -> int:
    """An estimate, rather too high than too low for the tokenizers of current models; 0 for empty text.

    Long words count several tokens, each digit one, a run of punctuation one for two characters; spaces and
    underscores count with what follows.
    """
    return sum(map(_cost, _WORD.findall(text)))


def _cost(word: str) -> int:
    if not word.isascii():
        return len(word.encode()) // 2 + 1
    if word[-1].isalpha():
        return 1 + (len(word) - 1) // (8 if word.islower() else 5)
    return 1 + (len(word) - 1) // 3


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The estimated tokens of tables, columns and keys of a schema in ``form``, each computed once.

    The sum of the parts is usually more than the estimate of the whole.
    """

    schema: Schema
    form: Form
    _frames: dict[int, int] = field(default_factory=dict)
    _columns: dict[tuple[Column, bool, bool], int] = field(default_factory=dict)

    def whole_fits(self, tokens: int) -> bool:
        """Whether the schema takes at most ``tokens``; stops rendering beyond them."""
        total = 0
        for table in self.schema.tables:
            total += self._size(table)
            if total > tokens:
                return False
        return True

    def table(self, number: int, names: Collection[str]) -> int:
        """The tokens of a table with these columns and its unique keys, without foreign keys; of a view, all of it."""
        if number not in self._frames:
            table = self.schema.tables[number]
            bare = replace(
                table, columns=(Column("a"),), primary_key=(), foreign_keys=(), unique_keys=(), candidate_keys=()
            )
            keys = [(key, "") for key in (table.primary_key, *table.unique_keys)] + [(table.likely_key, _LIKELY)]
            frame = self._size(table if table.is_view else bare)
            lines = [f"  PRIMARY KEY ({_listed(key)}),{beside}\n" for key, beside in keys if len(key) > 1]
            self._frames[number] = frame + sum(map(estimate_tokens, lines))
        if self.schema.tables[number].is_view:
            return self._frames[number]
        return self._frames[number] + sum(self.column(number, name) for name in names)

    def column(self, number: int, name: str) -> int:
        """The tokens of one more column of a table."""
        table = self.schema.tables[number]
        column = next(column for column in table.columns if column.name == name)
        seen = column, table.primary_key == (name,), table.likely_key == (name,)
        if seen not in self._columns:
            placeholder = Column("a")  # the column's line is the difference between a table with it and one without
            both = Table("t", (placeholder, column), (name,) if seen[1] else (), candidate_keys=((name,),) * seen[2])
            self._columns[seen] = self._size(both) - self._size(Table("t", (placeholder,)))
        return self._columns[seen]

    def key(self, key: ForeignKey) -> int:
        """The tokens of a foreign key."""
        target = f'"{key.ref_schema}"."{key.ref_table}"({_listed(key.ref_columns)})'
        beside = "" if key.certain else _LIKELY
        return estimate_tokens(f"  FOREIGN KEY ({_listed(key.columns)}) REFERENCES {target},{beside}\n")

    def _size(self, table: Table) -> int:
        return estimate_tokens(render(replace(self.schema, tables=(table,)), form=self.form)) + 1


def _listed(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
