"""Access rules: which tables and columns are visible, and whose values may be sampled and indexed.

Patterns are ``table``, ``table.column`` or ``schema.table.column``, with ``*`` for any characters.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from sqljury.access.catalog import Catalog, Kin
from sqljury.access.check import Checker, Rules
from sqljury.access.rows import divided, rules_of
from sqljury.access.scopes import broad
from sqljury.access.words import implicit_macro, names_in, query_of, secrets, tells
from sqljury.db.sqlite_walls import MayRead
from sqljury.errors import InputError
from sqljury.types import Column, Schema, Table
from sqljury.types.schema import subset

_DEFAULTS: Final = {"sqlite": "main", "duckdb": "main", "postgres": "public"}
_QUOTATION: Final = re.compile(r"""(?<!\w)'[^']*'(?!\w)|"[^"]*"|`[^`]*`|[“„«‘][^”“»’]*[”“»’]|\d[\d.,:-]*""")


@dataclass(frozen=True, slots=True)
class Access:
    """Patterns of visible (``allow``, everything if empty), hidden (``deny``) and masked (``mask``) columns, and rows.

    A pattern is ``table``, ``table.column`` or ``schema.table.column``, with ``*`` for any characters, in any case.
    ``deny`` overrides ``allow``. A table of which ``allow`` names columns has only those. Masked columns may be
    queried, but their values are neither sampled nor indexed. ``rows`` are texts such as ``customer: status = 1``:
    queries see only the rows of a table that meet all its conditions. Raises ``InputError`` for an invalid pattern.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for rule in fields(self):
            given = getattr(self, rule.name)
            if isinstance(given, str) or not all(isinstance(text, str) for text in given):
                raise InputError(f"{rule.name}: {given!r} is not a list of patterns; write them as a list of texts")
            object.__setattr__(self, rule.name, tuple(given))
            for text in given:
                parse(divided(text)[0] if rule.name == "rows" else text)

    def __bool__(self) -> bool:
        return bool(self.allow or self.deny or self.mask or self.rows)

    @property
    def hides(self) -> bool:
        """Whether there is something that a query must not read."""
        return bool(self.allow or self.deny or self.rows)

    def __add__(self, other: Access) -> Access:
        """The union of both sets of rules."""
        return Access(*(getattr(self, rule.name) + getattr(other, rule.name) for rule in fields(self)))


def load(path: str | os.PathLike[str]) -> Access:
    """The rules in a TOML file with the lists ``allow``, ``deny``, ``mask`` and ``rows``; raises ``InputError``."""
    name = os.fspath(path)
    try:
        rules = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: the access rules cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8 text; save the access rules as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: is not TOML ({error}); write lines such as deny = ['customer.ssn']") from None
    known = [rule.name for rule in fields(Access)]
    for key, given in rules.items():
        if key not in known:
            raise InputError(f"{name}: unknown key {key!r}; known are {', '.join(known)}")
        if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
            raise InputError(f"{name}: {key} is not a list of texts; write {key} = ['table.column']")
    try:
        return Access(**{key: tuple(given) for key, given in rules.items()})
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The rules applied to one schema: the ``shown`` part, and what checks of queries need.

    ``masked`` holds table and column as spelled in the schema, ``hidden`` those that may not be read, ``trusted`` the
    views that are allowed by name, and ``inner`` the views and CTEs that these read, all three in lower case.
    """

    full: Schema
    shown: Schema
    rules: Rules
    masked: frozenset[tuple[str, str]]
    hidden: frozenset[tuple[str, str]]
    trusted: frozenset[str]
    inner: frozenset[str] = frozenset()

    def may_read(self, table: str, column: str, view: str) -> bool:
        """Whether SQLite may read this column, on behalf of ``view`` if given: the second wall after the check.

        Tables that are not in the schema store the data of virtual tables.
        """
        return self._may_read(table, column, view, self.trusted)

    def wall(self, sql: str) -> MayRead:
        """``may_read`` for one query: SQLite tells the innermost view or CTE that reads, not the one around it.

        A trusted name that the query gives to a CTE of its own, or an inner view that it names itself, is not trusted.
        """
        trusted = self.trusted | self.inner
        if trusted:
            names = names_in(sql, self.full.dialect)
            trusted = trusted - names[0] - (names[1] & self.inner) if names else frozenset()
        return lambda table, column, view: self._may_read(table, column, view, trusted)

    def _may_read(self, table: str, column: str, view: str, trusted: Collection[str]) -> bool:
        return (table.lower(), column.lower()) not in self.hidden or view.lower() in trusted


def compiled(schema: Schema, access: Access, default: str = "", catalog: Catalog | None = None) -> Compiled:
    """The rules applied to a schema, with nothing in the shown part that reveals the rest.

    A view that reads hidden data is hidden, unless a pattern of ``allow`` names it. ``default`` is the name of the
    default schema. Raises ``InputError`` for a pattern without a match, since a misspelled rule would protect nothing,
    and for a database of which no query could be checked.
    """
    catalog = catalog or Catalog()
    if catalog.implicit and access.hides:
        raise InputError(implicit_macro(catalog))
    places = _Places(default or _DEFAULTS.get(schema.dialect, schema.name), _kin(schema, catalog), catalog)
    _check_names(schema)
    _check_meanings(schema, access, places)
    kept = {table.name: _shown_columns(table, access, places) for table in schema.tables}
    conditions, read = rules_of(schema.tables, _row_rules(schema, access, places), _names(places.kin), schema.dialect)
    named: set[str] = set()
    if access.hides:
        named = {table.name for table in schema.tables if _is_named(table, access, places.default)}
        _hide_views(schema, kept, named, places, conditions)
    rules = Rules(schema, kept, places.default, catalog, conditions)
    masked = _masked(schema, access, places)
    shown = _without_values(_clean(schema, subset(schema, kept), rules), masked)
    if not shown.tables:
        raise InputError("the access rules leave no table to ask about; allow more, or deny fewer")
    trusted = frozenset(table.name.lower() for table in schema.tables if table.is_view and table.name in named)
    inner = _inner(schema, trusted) if schema.dialect == "sqlite" else frozenset()
    return Compiled(schema, shown, rules, masked, _hidden(schema, kept) - read, trusted, inner)


@dataclass(frozen=True, slots=True)
class _Places:
    """The name of the default schema, the tables that share rows with each table, and the catalogue."""

    default: str
    kin: Mapping[str, tuple[Kin, ...]]
    catalog: Catalog


def _kin(schema: Schema, catalog: Catalog) -> dict[str, tuple[Kin, ...]]:
    """For each table its partitions and child tables, and the tables of which it is one."""
    kin = {name: list(parts) for name, parts in catalog.parts.items()}
    for table in schema.tables:
        above = [name for name, parts in catalog.parts.items() if any(part.name == table.name for part in parts)]
        kin.setdefault(table.name, []).extend(
            Kin(parent.name, parent.schema) for parent in schema.tables if parent.name in above
        )
    return {name: tuple(tables) for name, tables in kin.items()}


def _row_rules(schema: Schema, access: Access, places: _Places) -> list[tuple[str, list[str]]]:
    """The conditions of ``access.rows`` with the names of their tables; raises ``InputError`` for one without any."""
    made = []
    for text in access.rows:
        pattern, condition = divided(text)
        readings = [reading for reading in parse(pattern).readings if reading.column is None]
        names = [table.name for table in schema.tables if any(r.has_table(table, places.default) for r in readings)]
        if not names:
            raise InputError(f"rows: {pattern!r} matches no table; check the spelling")
        made.append((condition, names))
    return made


def _names(kin: Mapping[str, Collection[Kin]]) -> dict[str, set[str]]:
    return {name: {table.name for table in others} for name, others in kin.items()}


def _hidden(schema: Schema, kept: Mapping[str, Collection[str]]) -> frozenset[tuple[str, str]]:
    """Tables and columns that may not be read, in lower case; the column "" stands for the rows of a hidden table."""
    pairs = [(table.name, name) for table in schema.tables for name in ("", *(c.name for c in table.columns))]
    shown = {(name, column) for name, columns in kept.items() for column in columns}
    return frozenset(
        (table.lower(), column.lower())
        for table, column in pairs
        if (table, column) not in shown and (column or not kept.get(table))
    )


def _check_names(schema: Schema) -> None:
    """Raise ``InputError`` if two tables have one name: rules are kept by name, and one's would hold for the other."""
    seen = set()
    for table in schema.tables:
        if table.name in seen:
            raise InputError(
                f"the database has two tables {table.name[:80]!r}, one of a schema and one with a dot in its name, "
                "which access rules cannot tell apart; rename one, or ask about one schema only"
            )
        seen.add(table.name)


def _check_meanings(schema: Schema, access: Access, places: _Places) -> None:
    """Raise ``InputError`` for a pattern without a match, and for an ambiguous pattern of ``allow``."""
    for rule in (rule for rule in fields(access) if rule.name != "rows"):
        for text in getattr(access, rule.name):
            readings = parse(text).readings
            used = [reading for reading in readings if any(_meant(reading, table, places) for table in schema.tables)]
            if rule.name == "allow":
                used = [r for r in used if any(_meant(r, table, replace(places, kin={})) for table in schema.tables)]
            if not used:
                raise InputError(f"{rule.name}: {text!r} matches no table or column; check the spelling")
            if len(used) > 1 and rule.name == "allow":
                raise InputError(f"allow: {text!r} may be a table's column or a schema's table; write all three parts")


def _meant(reading: Reading, table: Table, places: _Places) -> bool:
    tables: tuple[Table | Kin, ...] = (table, *places.kin.get(table.name, ()))
    return any(reading.has(relation, column.name, places.default) for relation in tables for column in table.columns)


def _shown_columns(table: Table, access: Access, places: _Places) -> list[str]:
    names, default = [column.name for column in table.columns], places.default
    if access.allow:
        readings = [reading for text in access.allow for reading in parse(text).readings]
        readings = [reading for reading in readings if _allows(reading, table, default)]
        narrow = [reading for reading in readings if reading.column is not None]
        names = [name for name in names if any(r.has(table, name, default) for r in narrow or readings)]
    names = [name for name in names if not _matches(table, name, access.deny, places)]
    computed = {column.name for column in table.columns if column.generated}
    hidden = {column.name for column in table.columns} - computed - set(names)
    if not table.is_view and table.name in places.catalog.runs and (access.allow or access.deny):
        hidden |= computed  # by code that may read anything
    # The sources of a generated column are not known here, so that it is hidden if any column is.
    return [name for name in names if not hidden or name not in computed]


def _allows(reading: Reading, table: Table, default: str) -> bool:
    # A pattern without a schema means the default schema only: to allow too little is safe.
    return reading.has_table(table, default) and (reading.schema is not None or not table.schema)


def _matches(table: Table, column: str, texts: Iterable[str], places: _Places) -> bool:
    """Whether a pattern means this column, in this table or in one that shares its rows."""
    tables: tuple[Table | Kin, ...] = (table, *places.kin.get(table.name, ()))
    readings = [reading for text in texts for reading in parse(text).readings]
    return any(reading.has(relation, column, places.default) for relation in tables for reading in readings)


def _is_named(table: Table, access: Access, default: str) -> bool:
    """Whether a pattern without wildcards allows this table or view."""
    exact = (parse(text) for text in access.allow)
    return any(_allows(r, table, default) for pattern in exact if pattern.is_exact for r in pattern.readings)


def _hide_views(
    schema: Schema, kept: dict[str, list[str]], named: set[str], places: _Places, conditions: Collection[str]
) -> None:
    """Remove views that read hidden data; since views may read views, they are admitted one after another.

    A view on a table with ``conditions`` reads rows that may be hidden.
    """
    waiting = {t.name: t for t in schema.tables if t.is_view and t.name not in named and kept[t.name]}
    columns = {name: kept.pop(name) for name in waiting}
    while True:
        whole = {name: columns for name, columns in kept.items() if name not in conditions}
        checker = Checker(Rules(schema, whole, places.default, places.catalog))
        passed = [name for name, view in waiting.items() if checker.view_passes(view)]
        if not passed:
            return
        for name in passed:
            kept[name] = columns[name]
            del waiting[name]


def _inner(schema: Schema, trusted: Collection[str]) -> frozenset[str]:
    """What trusted views read, at any depth: other views and their own CTEs, in lower case."""
    views = {table.name.lower(): table for table in schema.tables if table.is_view}
    waiting, inner = list(trusted), set(trusted)
    while waiting:
        names = names_in(query_of(views[waiting.pop()].definition, schema.dialect), schema.dialect)
        ctes, tables = names or (frozenset(), frozenset())
        waiting += (tables & views.keys()) - inner
        inner |= ctes | (tables & views.keys())
    return frozenset(inner.difference(trusted))


def _masked(schema: Schema, access: Access, places: _Places) -> frozenset[tuple[str, str]]:
    """The masked columns, and all columns of views that may show a masked one."""
    every = {(table.name, column.name) for table in schema.tables for column in table.columns}
    masked = {
        (table.name, column.name)
        for table in schema.tables
        for column in table.columns
        if _matches(table, column.name, access.mask, places)
    }
    tables = {name for name, _ in masked}
    masked |= {(t.name, c.name) for t in schema.tables if t.name in tables for c in t.columns if c.generated}
    views = [table for table in schema.tables if table.is_view]
    while masked:
        open_columns: dict[str, list[str]] = {}
        for name, column in every - masked:
            open_columns.setdefault(name, []).append(column)
        checker = Checker(Rules(schema, open_columns, places.default, places.catalog))
        more = {pair for view in views if not checker.view_passes(view) for pair in every if pair[0] == view.name}
        if more <= masked:
            break
        masked |= more
    return frozenset(masked)


def _without_values(shown: Schema, masked: Collection[tuple[str, str]]) -> Schema:
    """The schema without masked values in enumerations, in quotations within comments, and in definitions of views."""

    def without(table: Table) -> Table:
        hidden = {column for name, column in masked if name == table.name}
        if not hidden:
            return table
        columns = tuple(_without_value(c) if c.name in hidden else c for c in table.columns)
        return replace(table, columns=columns, comment=_unquoted(table.comment), definition="")

    return replace(shown, tables=tuple(map(without, shown.tables)))


def _without_value(column: Column) -> Column:
    return replace(column, values=(), comment=_unquoted(column.comment))


def _unquoted(comment: str) -> str:
    """The comment with … for each quotation and number, which may be a masked value."""
    return _QUOTATION.sub("…", comment)


def _clean(full: Schema, shown: Schema, rules: Rules) -> Schema:
    """The shown tables without definitions and comments that name hidden tables or columns."""
    if full == shown:
        return shown
    secret = secrets(full, shown)
    checker = Checker(rules)
    columns = {table.name: {column.name for column in table.columns} for table in full.tables}
    hidden = {table.name: columns[table.name] - {column.name for column in table.columns} for table in shown.tables}
    cleaned = (_clean_table(table, secret, hidden[table.name], checker) for table in shown.tables)
    return replace(shown, tables=tuple(cleaned))


def _clean_table(table: Table, secret: frozenset[str], hidden: Collection[str], checker: Checker) -> Table:
    secret |= {broad(name) for name in hidden}

    def cleaned(comment: str) -> str:
        return "" if tells(comment, secret) else comment

    columns: tuple[Column, ...] = tuple(replace(column, comment=cleaned(column.comment)) for column in table.columns)
    definition = table.definition if checker.view_passes(table) else ""
    divided = "" if hidden else table.partition_by
    return replace(table, columns=columns, comment=cleaned(table.comment), definition=definition, partition_by=divided)


_PARTS: Final = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s][^".]*))\s*(\.|$)')
_FORMS: Final = "table, table.column, schema.table or schema.table.column"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a pattern; a part that is None matches everything."""

    schema: re.Pattern[str] | None
    table: re.Pattern[str]
    column: re.Pattern[str] | None

    def has_table(self, table: Table | Kin, default: str) -> bool:
        """Whether the pattern means the table or some of its columns; ``default`` is the default schema's name."""
        bare = table.name.removeprefix(table.schema + ".") if table.schema else table.name
        return self._has_schema(table.schema, default) and self.table.fullmatch(bare) is not None

    def has(self, table: Table | Kin, column: str, default: str) -> bool:
        """Whether the pattern means this column."""
        return self.has_table(table, default) and (self.column is None or self.column.fullmatch(column) is not None)

    def _has_schema(self, schema: str, default: str) -> bool:
        return self.schema is None or self.schema.fullmatch(schema or default) is not None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern with its readings: two parts may be table and column or schema and table."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def is_exact(self) -> bool:
        """Whether it has no wildcard."""
        return "*" not in self.text


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Pattern:
    """The pattern in a text; raises ``InputError``. Parts that contain dots or stars must be in double quotes."""
    parts: list[re.Pattern[str]] = []
    position = 0
    while (match := _PARTS.match(text, position)) is not None:
        quoted, plain, dot = match.groups()
        parts.append(_part(quoted.replace('""', '"'), wild=False) if quoted else _part(plain.strip(), wild=True))
        position = match.end()
        if not dot:
            break
    if not parts or position != len(text) or text.rstrip().endswith(".") or len(parts) > 3:
        raise InputError(f"{text!r} is not a pattern of tables or columns; write {_FORMS}, with * for any characters")
    if len(parts) == 1:
        return Pattern(text, (Reading(None, parts[0], None),))
    if len(parts) == 2:
        return Pattern(text, (Reading(None, parts[0], parts[1]), Reading(parts[0], parts[1], None)))
    return Pattern(text, (Reading(parts[0], parts[1], parts[2]),))


def _part(text: str, *, wild: bool) -> re.Pattern[str]:
    letters = (".*" if c == "*" and wild else re.escape(c) for c in text)
    return re.compile("".join(letters), re.IGNORECASE | re.DOTALL)
