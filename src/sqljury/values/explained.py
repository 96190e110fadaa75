"""Finds the table that explains the codes of many columns, and what each column's codes mean.

Older systems keep one table of all codes: a group (``UTIL``), a code (``G``) and its text (``gas``), without a key to
the columns that hold the codes (``tariffs.util_cd``). Such a column is recognised by its values, all of which the
group has, and by its name, which shares the group's words, or one of them if no other group has all the values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from sqljury.db.base import Database
from sqljury.language.words import words
from sqljury.schema.samples import sample_rows
from sqljury.types import Result, Schema, Table
from sqljury.values.spelling import abbreviates

MOST_ROWS: Final = 2_000
MOST_COLUMNS: Final = 8
"""A table of codes has no more rows and columns than these."""
READ_ROWS: Final = 200
"""Rows of every other table in which the codes of its columns are looked at."""
CODE_CHARS: Final = 12
LEAST_GROUPS: Final = 2
LEAST_CODES: Final = 2
"""The fewest different codes of a column: a single one may be in a group by chance, unless both have one name."""
_CALLED: Final = frozenset(
    words(
        "code cd cod lookup lkp lu domain reference ref enum list value val param parameter option dictionary dict"
        " label lbl choice meaning"
    )
)
"""Words in the names of tables of codes. A table with a key of one column needs such a name to count as one."""
_KINDS: Final = frozenset(
    words("code cd cod type typ kind knd status stat sts stt st state cat category class flag flg")
)
"""Words of the names of columns with codes that do not say what the codes are of."""
_UNLIKE: Final = (0, 0)

Code = str | int
Codes = Mapping[tuple[str, str], Mapping[Code, str]]
"""By table and column what each code means, as stored."""


Cells = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class CodeTable:
    """A table of codes: its name, its columns of codes and of texts, and the texts by group and code."""

    table: str
    code: str
    text: str
    groups: Mapping[str, Mapping[Code, str]]


@dataclass(frozen=True, slots=True)
class Explained:
    """The code tables of a database, and the columns whose codes they explain."""

    tables: tuple[CodeTable, ...] = ()
    columns: Codes = field(default_factory=dict)

    def columns_of(self, table: str, column: str, text: str) -> list[tuple[str, str, Code]]:
        """Table, column and code, where a value of a code table's texts means something; empty for other values."""
        if not any((codes.table, codes.text) == (table, column) for codes in self.tables):
            return []
        return [
            (*where, code)
            for where, meanings in self.columns.items()
            for code, meant in meanings.items()
            if meant == text
        ]


def explained(db: Database, schema: Schema) -> Explained:
    """What the code tables of a database explain, by the first ``READ_ROWS`` rows of each other table.

    Masked and hidden columns are seen as access rules have them: their codes explain nothing, and are not explained.
    """
    tables = [codes for table in schema.tables if (codes := _read(db, table)) is not None]
    if not tables:
        return Explained()
    named = {table.table for table in tables}
    columns = {
        (table.name, column): meanings
        for table in schema.tables
        if table.name not in named and not table.is_view
        for column, meanings in _columns(table, sample_rows(db, table, READ_ROWS), tables)
    }
    return Explained(tuple(tables), columns) if columns else Explained()


def _read(db: Database, table: Table) -> CodeTable | None:
    """The table as one of codes; one that refers to others, or has a key of its own and no such name, is not read."""
    if table.is_view or not 3 <= len(table.columns) <= MOST_COLUMNS or any(key.declared for key in table.foreign_keys):
        return None
    if len(table.row_key) == 1 and not _CALLED & set(words(table.name)):
        return None
    read = sample_rows(db, table, MOST_ROWS + 1)
    own_key = table.row_key if len(table.row_key) == 1 else ()
    return code_table(table.name, read, own_key) if read.ok and len(read.rows) <= MOST_ROWS else None


def code_table(name: str, read: Result, own: Collection[str] = ()) -> CodeTable | None:
    """The rows of a table as codes by group, if that is what they are.

    A group has several codes and each code of it one text, which is longer than the code. Codes are texts; whole
    numbers where no column has texts that are codes, since tables of codes have numbers for their order too. The
    table's ``own`` key has the numbers of its rows, and no codes.
    """
    cells = {column: [row[at] for row in read.rows] for at, column in enumerate(read.columns)}
    texts = {column: values for column, values in cells.items() if values and all(map(_is_code_text, values))}
    numbers = {
        column: values
        for column, values in cells.items()
        if values and column not in own and all(map(_is_number, values))
    }
    return _likeliest(name, texts, texts) or _likeliest(name, texts, numbers)


def _likeliest(name: str, texts: Cells, coded: Cells) -> CodeTable | None:
    """The table with a group and a text, and with the codes of one of the ``coded`` columns; None where none fits."""
    scored: list[tuple[float, CodeTable]] = []
    for group, code, text in product(texts, coded, texts):
        if len({group, code, text}) < 3:
            continue
        groups = _groups(texts[group], coded[code], texts[text])
        if groups is not None:
            length = sum(map(len, texts[text])) / len(texts[text])
            scored.append((length - len(groups), CodeTable(name, code, text, groups)))
    return max(scored, key=lambda pair: pair[0])[1] if scored else None


def _is_code_text(cell: Any) -> bool:
    return isinstance(cell, str) and bool(cell.strip())


def _is_number(cell: Any) -> bool:
    return type(cell) is int


def _groups(groups: Sequence[str], codes: Sequence[Code], texts: Sequence[str]) -> dict[str, dict[Code, str]] | None:
    """The texts by group and code; None where the three columns are something else."""
    pairs = Counter(zip(groups, codes, strict=True))
    sizes = Counter(groups)
    if len(sizes) < LEAST_GROUPS or max(pairs.values()) > 1 or len(groups) < LEAST_CODES * len(sizes):
        return None
    lengths = [len(str(code)) for code in codes]
    if max(lengths) > CODE_CHARS or sum(map(len, texts)) < 2 * sum(lengths):
        return None
    by_group: defaultdict[str, dict[Code, str]] = defaultdict(dict)
    for group, code, text in zip(groups, codes, texts, strict=True):
        by_group[group][code] = text
    if any(len(set(meanings.values())) < len(meanings) for meanings in by_group.values()):
        return None
    return dict(by_group)


def _columns(table: Table, sample: Result, tables: Sequence[CodeTable]) -> Iterator[tuple[str, Mapping[Code, str]]]:
    """The columns of a table that hold codes, each with what they mean."""
    groups = [named for codes in tables for named in codes.groups.items()]
    of_table: list[tuple[str, Mapping[Code, str]]] = []
    for at, column in enumerate(sample.columns):
        values = {row[at] for row in sample.rows if row[at] is not None}
        if not values or not (all(isinstance(value, str) for value in values) or all(map(_is_number, values))):
            continue
        holding = [(group, meanings) for group, meanings in groups if values <= meanings.keys()]
        meant = _meant(column, values, holding, table)
        if meant is not None:
            yield column, meant
        elif len(values) >= LEAST_CODES and _KINDS & set(words(column)):
            of_table += [(column, meanings) for group, meanings in holding if words(group) == words(table.name)]
    if len(of_table) == 1:  # the group is called like the table, and its codes are in one column
        yield of_table[0]


def _meant(
    column: str, values: Collection[Code], holding: Sequence[tuple[str, Mapping[Code, str]]], table: Table
) -> Mapping[Code, str] | None:
    """What a column's values mean, of the groups that have them all; None where no group is the likeliest.

    That a group is the only one to have them says nothing of numbers, which many columns have.
    """
    alone = len(holding) == 1 and all(isinstance(value, str) for value in values)
    likeness = [_likeness(group, column, table, alone=alone) for group, _ in holding]
    best = max(likeness, default=_UNLIKE)
    likeliest = [pair for pair, like in zip(holding, likeness, strict=True) if like == best]
    if best == _UNLIKE or len(likeliest) != 1:
        return None
    group, meanings = likeliest[0]
    return meanings if len(values) >= LEAST_CODES or words(group) == words(column) else None


def _likeness(group: str, column: str, table: Table, *, alone: bool) -> tuple[int, int]:
    """How many words of a group's name the column's name has, and how many the group has; more are likelier.

    ``_UNLIKE`` where a word is in no name of the table either. ``alone``: no other group has the column's codes, so
    that one word is enough which says what they are of.
    """
    wanted, column_words = words(group), words(column)
    shared = [word for word in wanted if _has(word, column_words)]
    around = {word for name in (table.name, *(sibling.name for sibling in table.columns)) for word in words(name)}
    if shared and all(_has(word, around) for word in wanted):
        return len(shared), len(wanted)
    return (1, 0) if alone and not set(shared) <= _KINDS else _UNLIKE


def _has(word: str, names: Collection[str]) -> bool:
    return word in names or any(
        abbreviates(*sorted((word, name), key=len))
        or (len(_consonants(word)) > 2 and _consonants(word) == _consonants(name))
        for name in names
    )


def _consonants(word: str) -> str:
    return "".join(letter for letter in word if letter not in "aeiou")
