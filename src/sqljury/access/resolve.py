"""Resolves the names within an expression, and refuses those that may not be read or cannot be resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NoReturn

from sqljury.access.scopes import (
    Chain,
    Reading,
    Rules,
    Scope,
    Source,
    broad,
    exact,
    field_names,
    is_row_taken,
    is_text_place,
    row_name,
)
from sqljury.errors import QueryRefusedError
from sqljury.sql.text import quote_name

if TYPE_CHECKING:
    from sqlglot import exp

Ask = Callable[["exp.Expr", Chain], None]
"""Checks a subquery within the scopes it stands in."""

_WHOLE: Final = frozenset({"columns", "unpack"})
_BY_NAME: Final = re.compile(
    r"(query|table|schema|database|cursor)(_\w+)?_to_(xml|json)\w*|dblink\w*|ts_stat|pg_get_\w+|pg_read_\w+|lo_\w+"
    r"|query|query_table|json_execute_serialized_sql|duckdb_\w+|pragma_\w+|col_description|obj_description"
)
"""Functions that take a query or a table's name as text."""


class Resolver:
    """Checks the expressions of one query; ``seen`` has the ids of the nodes of all allowed names.

    ``edits`` are changes (start, end, new text) of the query after which no name can mean a hidden column.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._dialect = rules.dialect
        # PostgreSQL reads r.f as f(r) where the row r has no column f, and the owner may have a function f.
        self._strict = rules.dialect == "postgres"
        self.seen: set[int] = set()
        self.edits: set[tuple[int, int, str]] = set()

    def expressions(self, nodes: Iterable[exp.Expr | None], chain: Chain, ask: Ask) -> None:
        """Check these expressions in the scopes of ``chain``; raises ``QueryRefusedError``."""
        for node in nodes:
            if node is not None and not isinstance(node, bool | str):
                self._node(node, chain, ask)

    def shared(self, name: exp.Expr, sources: Sequence[Source]) -> None:
        """Check a name in USING: the last source and one before it must have it, and none may hide it."""
        from sqlglot import exp

        if not isinstance(name, exp.Identifier):
            refuse("USING takes names of columns; write JOIN ... ON")
        readings = [source.read(name, self._dialect) for source in sources]
        hides = any(reading is Reading.HIDDEN for reading in readings)
        if hides or len(readings) < 2 or not readings[-1] or not any(readings[:-1]):
            refuse_column(name.name)
        self.seen.add(id(name))

    def _node(self, node: exp.Expr, chain: Chain, ask: Ask) -> None:
        """Check one node, then its parts."""
        from sqlglot import exp

        if isinstance(node, exp.Query | exp.Values):
            ask(node, chain)
        elif isinstance(node, exp.Column):
            self._column(node, chain, ask)
        elif isinstance(node, exp.Identifier):
            self._bare(node, chain)
        elif isinstance(node, exp.Lambda | exp.Comprehension):
            self._bound(node, chain, ask)
        elif isinstance(node, exp.Dot):
            self._dot(node, chain, ask)
        elif isinstance(node, exp.Cast):
            self._cast(node, chain, ask)
        else:
            self._check_kind(node, chain)
            self.expressions(self._parts(node), chain, ask)

    def _check_kind(self, node: exp.Expr, chain: Chain) -> None:
        """Refuse nodes that read columns without naming them, or by names within a text."""
        from sqlglot import exp

        if isinstance(node, exp.Star):
            self._star(chain[:1] if chain and chain[0].sources else chain)
        elif isinstance(node, exp.Columns | exp.PositionalColumn | exp.Match):
            self._star(chain)
        elif isinstance(node, exp.Pivot | exp.Table | exp.Describe | exp.Command | exp.ObjectIdentifier):
            refuse(f"{str(node.key).upper()} is not allowed under access rules; write one SELECT")
        elif isinstance(node, exp.In) and node.args.get("field") is not None and self._dialect == "sqlite":
            refuse("IN takes a list or a subquery in parentheses under access rules")
        elif isinstance(node, exp.Func):
            name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
            if name in _WHOLE:
                self._star(chain)
            if _BY_NAME.fullmatch(name):
                refuse(f"{name} is not allowed under access rules")

    def _parts(self, node: exp.Expr) -> list[exp.Expr]:
        """The parts of a node to check, without labels, which do not name columns."""
        from sqlglot import exp

        counted: exp.Expr | None = node.this if isinstance(node, exp.Count) else None
        if isinstance(counted, exp.Star) and not any(counted.args.values()):
            return [part for part in node.iter_expressions() if part is not counted]
        skipped: tuple[object, ...] = ()
        if isinstance(node, exp.Alias | exp.Aliases):
            skipped = (node.args.get("alias"), *(node.expressions if isinstance(node, exp.Aliases) else ()))
        elif isinstance(node, exp.PropertyEQ | exp.Kwarg):
            skipped = (node.this,) if isinstance(node.this, exp.Identifier | exp.Var) else ()
        elif isinstance(node, exp.Window):
            skipped = tuple(part for part in node.iter_expressions() if isinstance(part, exp.Identifier))
        elif isinstance(node, exp.Collate):
            skipped = (node.expression,) if isinstance(node.expression, exp.Identifier | exp.Column) else ()
        ids = {id(part) for part in skipped}
        labels = (name for part in skipped if isinstance(part, exp.Expr) for name in part.find_all(exp.Identifier))
        self.seen |= {id(name) for name in labels}
        return [part for part in node.iter_expressions() if id(part) not in ids]

    def _cast(self, node: exp.Cast, chain: Chain, ask: Ask) -> None:
        from sqlglot import exp

        parts = [part for part in node.iter_expressions() if part is not node.args.get("to")]
        self.expressions(parts, chain, ask)
        for part in node.args["to"].walk():
            if isinstance(part, exp.Column | exp.Query | exp.Table | exp.ObjectIdentifier):
                refuse(f"a cast to {node.args['to'].sql(self._dialect)[:60]} is not allowed under access rules")

    def _bound(self, node: exp.Lambda | exp.Comprehension, chain: Chain, ask: Ask) -> None:
        """Check a lambda or comprehension, whose parameters are additional names."""
        from sqlglot import exp

        if isinstance(node, exp.Comprehension):
            self.expressions([node.args.get("iterator")], chain, ask)
            parameters, body = [node.expression], [node.this, node.args.get("condition")]
        else:
            parameters, body = node.expressions, [node.this]
        for name in parameters:
            self._check_parameter(name, chain)
        scope = Scope(aliases=frozenset(broad(name.name) for name in parameters), shields=False)
        self.expressions(body, (scope, *chain), ask)

    def _check_parameter(self, name: exp.Expr, chain: Chain) -> None:
        """Refuse a parameter that could be a column: to most engines ``f(a -> 'b')`` takes ``b`` out of ``a``."""
        from sqlglot import exp

        if not isinstance(name, exp.Identifier):
            refuse("a parameter must be a plain name under access rules")
        partial = any(source.partial for scope in chain for source in scope.sources)
        if not self._is_value(name, chain) and partial and (self._dialect != "duckdb" or len(name.name) > 1):
            refuse_column(name.name)  # whether a column of that name is hidden or not; a single letter is allowed
        self._is_row(name, chain)
        self.seen.add(id(name))

    def _dot(self, node: exp.Dot, chain: Chain, ask: Ask) -> None:
        """Check the value of a field, or a function called that way."""
        from sqlglot import exp

        if self._strict:
            self._field(node, chain, ask)
            return
        self._node(node.this, chain, ask)
        field = node.expression
        if isinstance(field, exp.Identifier):
            self.seen.add(id(field))  # of a value that may be read whole
        else:
            self._node(field, chain, ask)

    def _column(self, node: exp.Column, chain: Chain, ask: Ask) -> None:
        from sqlglot import exp

        owners = [part for key in ("catalog", "db", "table") if (part := node.args.get(key)) is not None]
        names = [*owners, node.this]
        star = isinstance(node.this, exp.Star)
        written = ".".join(part.name for part in names)
        if not all(isinstance(part, exp.Identifier) for part in (owners if star else names)):
            refuse("a column's name must be written as a name, not as a text")
        if star:
            if (
                self._strict
                and not isinstance(node.parent, exp.Select)
                and not is_row_taken(node, self._rules.catalog.row_code)
            ):
                refuse_row(owners[-1].name)
            self._star_of(owners, chain)
            self.expressions(node.this.iter_expressions(), chain, ask)  # of EXCLUDE and REPLACE
        elif not owners:
            self._bare(node.this, chain)
        else:
            pairs = [names[-2:]] if self._strict else pairwise(names)
            known = [self._qualified(owner, name, chain, written) for owner, name in pairs]
            if not any(known) and not self._has_fields(owners[0], chain):
                refuse_column(written)
        self.seen |= {id(part) for part in names}

    def _star_of(self, owners: list[exp.Identifier], chain: Chain) -> None:
        """Check ``t.*``, or ``*`` of a value with fields."""
        names = {broad(owner.name) for owner in owners}
        sources = [source for scope in chain for source in scope.sources if names & source.answers]
        if any(source.partial for source in sources):
            _refuse_star()
        if all(source.later for source in sources) and not self._has_fields(owners[0], chain):
            refuse_column(".".join(owner.name for owner in owners))

    def _star(self, chain: Chain) -> None:
        if any(source.partial for scope in chain for source in scope.sources):
            _refuse_star()

    def _bare(self, name: exp.Identifier, chain: Chain) -> None:
        """Check an unqualified name; to SQLite an unknown name in double quotes is a text."""
        self.seen.add(id(name))
        if self._is_text(name, chain):
            text = name.name.replace("'", "''")
            self.edits.add((name.meta["start"], name.meta["end"] + 1, f"'{text}'"))
        elif not self._is_value(name, chain):
            if not self._is_row(name, chain):
                refuse_column(name.name)
            if self._strict and not is_row_taken(name, self._rules.catalog.row_code):
                refuse_row(name.name)

    def _is_text(self, name: exp.Identifier, chain: Chain) -> bool:
        """Whether this name in double quotes is rewritten as a text for SQLite, also if a hidden column has the name.

        It is so in places of texts; elsewhere it is refused like any unknown name.
        """
        if self._dialect != "sqlite" or not name.quoted:
            return False
        sources = [source for scope in chain for source in scope.sources]
        if any(source.partial for source in sources) and not is_text_place(name):
            return False
        readings = {source.read(name, self._dialect) for source in sources} - {None, Reading.HIDDEN}
        named = any(broad(name.name) in scope.aliases for scope in chain)
        return not readings and not named and not any(broad(name.name) in source.answers for source in sources)

    def _has_fields(self, owner: exp.Identifier, chain: Chain) -> bool:
        """Whether the name before a dot may be a column with fields rather than a table."""
        return self._dialect == "duckdb" and self._is_value(owner, chain)

    def _field(self, node: exp.Dot, chain: Chain, ask: Ask) -> None:
        """Check ``(value).field`` in PostgreSQL: a column of a table's row, or a field in the catalogue."""
        from sqlglot import exp

        field, row = node.expression, row_name(node.this)
        if row is not None and self._certain(row, chain):
            row = None  # a column, which may have fields
        if isinstance(field, exp.Star) and row is not None and isinstance(node.parent, exp.Select):
            self._star_of([row], chain)
            self.seen.add(id(row))
            return
        if not isinstance(field, exp.Identifier):
            refuse("fields and functions of a row are not allowed under access rules; name its columns")
        self.seen.add(id(field))
        if row is not None:
            if not self._qualified(row, field, chain, field.name):
                refuse_column(field.name)
            self.seen.add(id(row))
            return
        if exact(field, self._dialect) not in field_names(node.this, chain, self._dialect):
            refuse_column(field.name)
        self._node(node.this, chain, ask)

    def _certain(self, name: exp.Identifier, chain: Chain) -> bool:
        """Whether an unqualified name is surely that of a column."""
        return any(source.read(name, self._dialect) is Reading.SURE for scope in chain for source in scope.sources)

    def _is_value(self, name: exp.Identifier, chain: Chain) -> bool:
        """Whether the name means a column or an alias that may be read; refuses one that may not."""
        _check_length(name, self._dialect)
        is_value = False
        for scope in chain:
            readings = {source.read(name, self._dialect) for source in scope.sources}
            if _is_guess(name, scope, self._dialect):
                self._qualify(name, scope)
                return True
            if Reading.HIDDEN in readings:
                refuse_column(name.name)
            if Reading.SURE in readings and scope.shields:
                return True
            is_value = is_value or bool(readings - {None}) or broad(name.name) in scope.aliases
        if is_value:
            self._is_row(name, chain)  # it may be that as well
        return is_value

    def _qualify(self, name: exp.Identifier, scope: Scope) -> None:
        """Qualify the name of a column that the query defined, if a table beside it may hide a column of that name.

        Refusing it only if one is hidden would reveal that; if the source is not certain, it is always refused.
        """
        sources = [source for source in scope.sources if source.read(name, self._dialect) is not None]
        sources = [source for source in sources if source.read(name, self._dialect) is not Reading.HIDDEN]
        later = any(source.later and source.partial for source in scope.sources)
        alone = len(sources) == 1 and sources[0].read(name, self._dialect) is Reading.SURE
        if not alone or not sources[0].alias or later or broad(name.name) in scope.aliases:
            refuse_column(name.name)
        start = name.meta["start"]
        self.edits.add((start, start, f"{quote_name(sources[0].alias, self._dialect)}."))

    def _is_row(self, name: exp.Identifier, chain: Chain) -> bool:
        """Whether the name means whole rows of a source; refuses rows with hidden columns."""
        rows = [source for scope in chain for source in scope.sources if broad(name.name) in source.answers]
        if any(source.partial for source in rows):
            refuse_row(name.name)
        return any(not source.later for source in rows)

    def _qualified(self, owner: exp.Identifier, name: exp.Identifier, chain: Chain, written: str) -> bool:
        """Whether ``owner.name`` is a column that may be read; refuses one that may not, called ``written``."""
        _check_length(name, self._dialect)
        is_column = False
        key, folded = exact(owner, self._dialect, table=True), broad(owner.name)
        for scope in chain:
            answering = [source for source in scope.sources if folded in source.answers]
            readings = [(s.alias == key, s.read(name, self._dialect)) for s in answering]
            if any(reading is Reading.HIDDEN for _, reading in readings):
                refuse_column(written)
            if any(s.partial and s.lacks(name) for s in answering):
                refuse_column(written)  # as if it were hidden
            certain = [reading == (True, Reading.SURE) for reading in readings]
            if self._strict and not all(c or s.later for s, c in zip(answering, certain, strict=True)):
                refuse_column(written)
            if (True, Reading.SURE) in readings and scope.shields:
                return True
            is_column = is_column or any(reading is not None for _, reading in readings)
        return is_column


def _is_guess(name: exp.Identifier, scope: Scope, dialect: str) -> bool:
    """Whether the query itself defined a column of this name beside a table that may hide one of that name.

    Refusing it only if one is hidden would reveal that.
    """
    if not any(source.partial for source in scope.sources):
        return False
    readings = [(source.made, source.read(name, dialect)) for source in scope.sources]
    given = [made for made, reading in readings if reading not in (None, Reading.HIDDEN)]
    return bool(given) and all(given)


def refuse(why: str) -> NoReturn:
    """Raise ``QueryRefusedError``."""
    raise QueryRefusedError(why)


def refuse_row(name: str) -> NoReturn:
    """Refuse a table's name used as a value."""
    refuse(f"{name[:60]} as a whole may not be read; name its columns")


def refuse_column(name: str) -> NoReturn:
    """Refuse a name with the same message whether it is hidden or does not exist."""
    refuse(f"there is no column {name[:120]} that may be read here; use the columns of the schema, each with its table")


def _refuse_star() -> NoReturn:
    refuse("* is not allowed here, not all columns may be read; name those of the schema")


def _check_length(name: exp.Identifier, dialect: str) -> None:
    # PostgreSQL truncates longer names, so that they mean another one.
    if dialect == "postgres" and len(name.name.encode()) > 63:
        refuse(f"the name {name.name[:60]}… is longer than PostgreSQL's names")
