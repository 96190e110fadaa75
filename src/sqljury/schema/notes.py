"""Notes on a database: descriptions, meanings of codes, terms, formulas and joins that its schema does not state.

They come from a user's YAML file, from BIRD's ``database_description`` folder, and from the database's own comments;
of contradicting ones the first of these sources wins.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar

from sqljury.errors import NotesError
from sqljury.language.words import content_words, words
from sqljury.sql.text import remark
from sqljury.types import Column, ForeignKey, Schema, Table

NOTES: Final = 8
CHARS: Final = 1_500
NOTE_CHARS: Final = 240
_ENOUGH: Final = 0.5
"""The share of a term's words, weighted by rarity, that the question must contain."""


@dataclass(frozen=True, slots=True)
class Item:
    """A note on a column, or on a table where ``column`` is empty.

    ``values`` are pairs of a code and its meaning; an empty code stands for the values in general. ``where`` is the
    file and line, for messages; an ``optional`` item may name a table or column that the database does not have.
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
        """``table.column``, or the table's name."""
        return f"{self.table}.{self.column}" if self.column else self.table


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of columns, each given as (table, column): to join on, or not to join on where ``denied``."""

    pairs: tuple[tuple[tuple[str, str], tuple[str, str]], ...]
    where: str = ""
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes on one database; a later item overrides an earlier one on the same table or column.

    ``rules`` are instructions for every question, such as ``filter names with ILIKE``.
    ``unmatched`` has a message, after ``bind``, for each optional item whose table or column does not exist.
    """

    items: tuple[Item, ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()
    joins: tuple[Join, ...] = ()
    unmatched: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A hash of what the notes say, wherever their files are."""
        items = [replace(item, where="") for item in self.items]
        joins = [replace(join, where="") for join in self.joins]
        text = repr((items, joins, self.glossary, self.formulas, self.rules))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    def __add__(self, other: Notes) -> Notes:
        """The union; ``other`` overrides where they differ."""
        return Notes(
            self.items + other.items,
            _later(self.glossary + other.glossary),
            _later(self.formulas + other.formulas),
            self.joins + other.joins,
            self.unmatched + other.unmatched,
            tuple(dict.fromkeys(self.rules + other.rules)),
        )


NO_NOTES: Final = Notes()
EVIDENCE: Final = ("notes",)
"""The ``evidence`` of a foreign key that notes give or confirm."""


def bind(schema: Schema, notes: Notes) -> Notes:
    """The notes with names spelled as in the schema, one item for each table and column.

    Names match regardless of case, those of optional items also regardless of blanks and punctuation. Raises
    ``NotesError`` for an unknown name; an optional item with one is dropped and listed in ``unmatched``.
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
        replace(join, pairs=tuple((_end(schema, left, join), _end(schema, right, join)) for left, right in join.pairs))
        for join in notes.joins
    )
    return replace(notes, items=tuple(items.values()), joins=joins, unmatched=tuple(dict.fromkeys(unmatched)))


def merge(schema: Schema, notes: Notes) -> Schema:
    """The schema with descriptions as comments, and with the foreign keys that joins give, confirm or deny.

    A join becomes a certain key unless the schema has one on these columns; an inferred one it replaces. A denied join
    removes each key that has all its pairs of columns, a declared one too. Later joins override earlier ones. Raises
    ``NotesError`` as ``bind`` does, and for a join of more than two tables or of a column with itself.
    """
    notes = bind(schema, notes)
    comments = {(item.table, item.column): item.description for item in notes.items if item.description}
    keys = _Keys(schema)
    for join in notes.joins:
        name, key = _key(schema, join)
        if join.denied:
            keys.deny(name, key)
        else:
            keys.confirm(name, key)
    tables = tuple(
        replace(
            table,
            comment=comments.get((table.name, ""), table.comment),
            columns=tuple(
                replace(column, comment=comments.get((table.name, column.name), column.comment))
                for column in table.columns
            ),
            foreign_keys=keys.of(table.name),
        )
        for table in schema.tables
    )
    return replace(schema, tables=tables)


def relevant(notes: Notes, question: str, k: int = NOTES, chars: int = CHARS) -> list[str]:
    """At most ``k`` notes whose terms occur in the question, best first, of at most ``chars`` characters in all.

    Terms are the entries of the glossary and the formulas, synonyms, the names of columns with codes, and the codes
    and their meanings. Words match regardless of case, accents and English plurals. Each note is one printable line
    of at most ``NOTE_CHARS`` characters that cannot end a comment.
    """
    entries = list(_entries(notes))
    asked = set(words(question))
    rarity = _counted(notes, entries)
    scores = [_score(entry, asked, rarity) for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda number: (*(-part for part in scores[number]), number))
    lines: list[str] = []
    for number in ranked:
        if scores[number][0] < _ENOUGH:
            break
        line = remark(_line(entries[number], asked), NOTE_CHARS)
        if len(lines) < k and len(line) <= chars and line not in lines:
            lines.append(line)
            chars -= len(line) + 1
    return lines


def _later(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs without those that a later pair of the same name overrides."""
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
    """The table or column of that name; case matters only between names that differ in nothing else."""
    spellings: Iterable[Callable[[str], str]] = (str, _folded, _bare) if loose else (str, _folded)
    for spelling in spellings:
        matches = [item for item in among if spelling(item.name) == spelling(name)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise NotesError(f"{where}: {name!r} may be any of {len(matches)} names; write it as the database does")
    known = [item.name for item in among]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, known[:8]))}"
    raise NotesError(f"{where}: there is no {what} called {name[:80]!r}; {hint}")


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _bare(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _key(schema: Schema, join: Join) -> tuple[str, ForeignKey]:
    """The join as a foreign key, and the name of the table that holds it: the left one."""
    left, right = ({pair[side][0] for pair in join.pairs} for side in (0, 1))
    if len(left) != 1 or len(right) != 1:
        raise NotesError(f"{join.where}: a join has one table on each side; write a join for each pair of tables")
    if any(first == second for first, second in join.pairs):
        raise NotesError(f"{join.where}: joins a column with itself; name two different columns")
    (name,), (ref_table,) = left, right
    target = next(table for table in schema.tables if table.name == ref_table)
    columns, ref_columns = (tuple(pair[side][1] for pair in join.pairs) for side in (0, 1))
    return name, ForeignKey(columns, ref_table, ref_columns, target.schema, declared=False, evidence=EVIDENCE)


class _Keys:
    """The foreign keys of a schema by the tables that hold them, while joins change them."""

    def __init__(self, schema: Schema) -> None:
        self._keys = {table.name: list(table.foreign_keys) for table in schema.tables}
        self._between: dict[frozenset[str], list[tuple[str, ForeignKey]]] = defaultdict(list)
        for table in schema.tables:
            for key in table.foreign_keys:
                self._between[frozenset((table.name, key.ref_table))].append((table.name, key))

    def of(self, name: str) -> tuple[ForeignKey, ...]:
        """Of one table: the declared keys, then those of joins, then inferred ones."""
        return tuple(sorted(self._keys[name], key=lambda key: (not key.declared, not key.certain)))

    def confirm(self, name: str, key: ForeignKey) -> None:
        """Add the key of a table; in place of an inferred key it takes that one's direction, which values support."""
        same = [pair for pair in self._beside(name, key) if _ties(*pair) == _ties(name, key)]
        if any(existing.certain for _, existing in same):
            return
        if same:
            self._remove(same)
            name, key = same[0][0], replace(same[0][1], score=1.0, evidence=EVIDENCE)
        self._keys[name].append(key)
        self._beside(name, key).append((name, key))

    def deny(self, name: str, key: ForeignKey) -> None:
        """Remove all keys between the two tables that have the pairs of columns of this one."""
        self._remove([pair for pair in self._beside(name, key) if _ties(name, key) <= _ties(*pair)])

    def _beside(self, name: str, key: ForeignKey) -> list[tuple[str, ForeignKey]]:
        return self._between[frozenset((name, key.ref_table))]

    def _remove(self, pairs: Iterable[tuple[str, ForeignKey]]) -> None:
        for name, key in pairs:
            self._keys[name].remove(key)
            self._beside(name, key).remove((name, key))


def _ties(name: str, key: ForeignKey) -> frozenset[frozenset[tuple[str, str]]]:
    """The pairs of columns that a key of this table makes equal, in either direction."""
    pairs = zip(key.columns, key.ref_columns, strict=True)
    return frozenset(frozenset(((name, column), (key.ref_table, ref_column))) for column, ref_column in pairs)


class _Entry(NamedTuple):
    """A note with its terms; ``values`` are appended to the line, in an order that depends on the question."""

    line: str
    terms: tuple[tuple[str, ...], ...]
    values: tuple[tuple[str, str], ...] = ()


def _entries(notes: Notes) -> Iterator[_Entry]:
    for term, meaning in notes.glossary:
        yield _Entry(f"{term}: {meaning}", _terms(term))
    for name, formula in notes.formulas:
        yield _Entry(f"{name} = {formula}", _terms(name))
    for item in notes.items:
        names = (item.column or item.table, *item.synonyms)
        if item.values:
            yield _Entry(f"{item.name}: ", _terms(*names, *_value_terms(item)), item.values)
        if item.synonyms:
            yield _Entry(f"{item.name} is also called {', '.join(item.synonyms)}", _terms(*item.synonyms))


def _value_terms(item: Item) -> Iterator[str]:
    for code, meaning in item.values:
        yield meaning
        if any(c.isalpha() for c in code):
            yield code


def _terms(*texts: str) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(term for text in texts if (term := content_words(text))))


def _counted(notes: Notes, entries: list[_Entry]) -> Counter[str]:
    """For each word the number of terms and names that contain it: a common word tells little."""
    counted = Counter(word for entry in entries for word in {word for term in entry.terms for word in term})
    counted.update(word for item in notes.items for word in set(words(item.name)))
    return counted


def _score(entry: _Entry, asked: set[str], rarity: Counter[str]) -> tuple[float, int]:
    """The largest weighted share of a term's words that the question has, and the number of those words."""
    best = 0.0, 0
    for term in entry.terms:
        distinct = set(term)
        met = distinct & asked
        share = sum(1 / rarity[word] for word in met) / sum(1 / rarity[word] for word in distinct)
        best = max(best, (share, len(met)))
    return best


def _line(entry: _Entry, asked: set[str]) -> str:
    """The note's text; codes that the question mentions come first, since a long list is cut."""
    if not entry.values:
        return entry.line
    values = sorted(entry.values, key=lambda value: asked.isdisjoint(content_words(value[1]) + words(value[0])))
    return entry.line + "; ".join(f"{code} = {meaning}" if code else meaning for code, meaning in values)
