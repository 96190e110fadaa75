"""What people know about a database and it does not say itself: descriptions, codes, terms, formulas, joins.

From a YAML file of the user's, from BIRD's ``database_description`` folder, and from the comments that the database
keeps; where they differ, the first of these is right.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from sqljury.errors import NotesError
from sqljury.sql.text import remark
from sqljury.types import Column, ForeignKey, Schema, Table


@dataclass(frozen=True, slots=True)
class Item:
    """What is known of a column, or of a table where ``column`` is empty.

    ``values`` are pairs of a code and its meaning; the code is empty for a meaning of values in general. ``where``
    is the place it was read from, for messages; an ``optional`` one may name what the database does not have.
    """

    table: str
    column: str = ""
    description: str = ""
    synonyms: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    where: str = ""
    optional: bool = False

    @property
    def name(self) -> str:
        """``table.column``, or the table alone."""
        return f"{self.table}.{self.column}" if self.column else self.table


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of columns that belong together, each a table's name and a column's."""

    pairs: tuple[tuple[tuple[str, str], tuple[str, str]], ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Notes:
    """Everything known about one database; of two items on one thing the later one is right.

    ``unmatched`` says, after ``bind``, which optional items name what the database does not have.
    """

    items: tuple[Item, ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()
    joins: tuple[Join, ...] = ()
    unmatched: tuple[str, ...] = ()

    def __add__(self, other: Notes) -> Notes:
        """Both together; where they differ, ``other`` is right."""
        return Notes(
            self.items + other.items,
            _later(self.glossary + other.glossary),
            _later(self.formulas + other.formulas),
            self.joins + other.joins,
            self.unmatched + other.unmatched,
        )


NO_NOTES: Final = Notes()


def load(*paths: str | os.PathLike[str]) -> Notes:
    """The notes of YAML files, and of folders as BIRD has them; YAML is right where they differ, then the later path.

    Raises ``NotesError`` for what cannot be read.
    """
    from sqljury.schema import bird_notes, yaml_notes

    folders = [path for path in paths if os.path.isdir(path)]
    found = Notes()
    for path in folders:
        found += bird_notes.read(path)
    for path in paths:
        if path not in folders:
            found += yaml_notes.read(path)
    return found


def bind(schema: Schema, notes: Notes) -> Notes:
    """The notes with their names spelled as in the schema, one item for each table and column.

    Case is no matter, and in optional items neither are blanks and marks. Raises ``NotesError`` for another name
    that the schema does not have; optional items are then left out, and ``unmatched`` says which.
    """
    items: dict[tuple[str, str], Item] = {}
    unmatched = list(notes.unmatched)
    for item in notes.items:
        try:
            bound = _bound(schema, item)
        except NotesError as error:
            if not item.optional:
                raise
            unmatched.append(str(error))
            continue
        key = bound.table, bound.column
        items[key] = _over(items[key], bound) if key in items else bound
    joins = tuple(
        replace(join, pairs=tuple((_end(schema, one, join), _end(schema, other, join)) for one, other in join.pairs))
        for join in notes.joins
    )
    return replace(notes, items=tuple(items.values()), joins=joins, unmatched=tuple(dict.fromkeys(unmatched)))


def visible(schema: Schema, notes: Notes) -> Notes:
    """Bound notes without the items and joins on what ``schema``, part of the one they were bound to, does not have.

    Glossary and formulas are text and stay, whatever they name.
    """
    names = {(table.name, "") for table in schema.tables}
    names |= {(table.name, column.name) for table in schema.tables for column in table.columns}
    return replace(
        notes,
        items=tuple(item for item in notes.items if (item.table, item.column) in names),
        joins=tuple(join for join in notes.joins if all(end in names for pair in join.pairs for end in pair)),
    )


def merge(schema: Schema, notes: Notes) -> Schema:
    """The schema with the descriptions as comments, and joins as foreign keys where it has none such.

    Raises ``NotesError`` as ``bind`` does, and for a join that is none: of more than two tables, or of one column
    with itself.
    """
    notes = bind(schema, notes)
    said = {(item.table, item.column): item.description for item in notes.items if item.description}
    keys = [_key(schema, join) for join in notes.joins]
    known = {(name, key) for table in schema.tables for name, key in _both_ways(table)}
    new = [(name, key) for name, key in dict.fromkeys(keys) if (name, key) not in known]
    tables = tuple(
        replace(
            table,
            comment=said.get((table.name, ""), table.comment),
            columns=tuple(_commented(column, said.get((table.name, column.name))) for column in table.columns),
            foreign_keys=(*table.foreign_keys, *(key for name, key in new if name == table.name)),
        )
        for table in schema.tables
    )
    return replace(schema, tables=tables)


def _later(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs, of several with one name the last."""
    kept: dict[str, tuple[str, str]] = {}
    for name, text in pairs:
        kept[name.casefold()] = name, text
    return tuple(kept.values())


def _over(below: Item, above: Item) -> Item:
    return replace(
        above,
        description=above.description or below.description,
        synonyms=tuple(dict.fromkeys(below.synonyms + above.synonyms)),
        values=tuple(dict(below.values + above.values).items()) if below.values else above.values,
    )


def _commented(column: Column, comment: str | None) -> Column:
    return column if comment is None else replace(column, comment=comment)


def _bound(schema: Schema, item: Item) -> Item:
    table = _named(item.table, schema.tables, item.where, "table", item.optional)
    if not item.column:
        return replace(item, table=table.name)
    column = _named(item.column, table.columns, item.where, f"column of {remark(table.name)}", item.optional)
    return replace(item, table=table.name, column=column.name)


def _end(schema: Schema, end: tuple[str, str], join: Join) -> tuple[str, str]:
    item = _bound(schema, Item(*end, where=join.where))
    return item.table, item.column


N = TypeVar("N", Table, Column)


def _named(name: str, among: Sequence[N], where: str, what: str, loose: bool) -> N:
    """The one of that name; its case matters only where two differ by nothing else."""
    ways: Iterable[Callable[[str], str]] = (str, _folded, _bare) if loose else (str, _folded)
    for way in ways:
        found = [one for one in among if way(one.name) == way(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotesError(f"{where}: {name!r} may be any of {len(found)} names; write it as the database does")
    known = [one.name for one in among]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, known[:8]))}"
    raise NotesError(f"{where}: there is no {what} called {name[:80]!r}; {hint}")


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _bare(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _key(schema: Schema, join: Join) -> tuple[str, ForeignKey]:
    """The foreign key that the join says, and the table that holds it: the one on the left."""
    left, right = ({pair[side][0] for pair in join.pairs} for side in (0, 1))
    if len(left) != 1 or len(right) != 1:
        raise NotesError(f"{join.where}: a join has one table on the left and one on the right; write one for each")
    if any(one == other for one, other in join.pairs):
        raise NotesError(f"{join.where}: joins a column with itself; name the two columns that belong together")
    (name,), (other,) = left, right
    target = next(table for table in schema.tables if table.name == other)
    columns, ref_columns = (tuple(pair[side][1] for pair in join.pairs) for side in (0, 1))
    return name, ForeignKey(columns, other, ref_columns, target.schema)


def _both_ways(table: Table) -> Iterable[tuple[str, ForeignKey]]:
    for key in table.foreign_keys:
        yield table.name, key
        yield key.ref_table, ForeignKey(key.ref_columns, table.name, key.columns, table.schema)
