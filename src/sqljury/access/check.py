"""Refuses queries that read hidden data, before they reach the database.

Every name of a query must resolve to something that may be read; an unresolved name is refused. If a name could mean
two things, both must be allowed.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqljury.access.resolve import Resolver, refuse
from sqljury.access.rows import subquery
from sqljury.access.scopes import Chain, Output, Rules, Scope, Source, broad, exact, joined, label_of, may_share_hidden
from sqljury.access.words import check_code, check_rest, check_types, check_words, edited, query_of, without_comments
from sqljury.db import readonly
from sqljury.errors import QueryRefusedError
from sqljury.sql.meter import ParsingStoppedError, poll
from sqljury.sql.parse import quiet
from sqljury.types import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlglot import exp

__all__ = ["Checker", "Rules"]

_CLAUSES: Final = ("where", "group", "having", "qualify", "windows", "distinct", "limit", "offset")
_SELECT: Final = frozenset({"expressions", "from_", "joins", "laterals", "order", "with_", *_CLAUSES})
_SET: Final = frozenset({"this", "expression", "distinct", "by_name", "with_", "order", "limit", "offset"})
_SUBQUERY: Final = frozenset({"this", "alias", "joins", "with_", "order", "limit", "offset"})
_TABLE: Final = frozenset({"this", "db", "alias", "joins"})
_JOIN: Final = frozenset({"this", "on", "using", "method", "side", "kind"})
_HALF: Final = frozenset({"SEMI", "ANTI"})

Named = dict[str, "tuple[Output, exp.TableAlias]"]
"""CTEs by their names, as keys of ``exact``."""


class Checker:
    """Checks queries against rules, and remembers the outcomes of the last ones."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._checked = functools.lru_cache(maxsize=256)(self._objection)

    def check(self, sql: str) -> str:
        """The query to run, without comments; raises ``QueryRefusedError`` if it reads hidden data.

        Comments are removed because engines differ on where they end, and what is run must be what was checked.
        """
        text, objection = self._checked(sql)
        if objection is not None:
            raise QueryRefusedError(objection)
        return text

    def view_passes(self, view: Table) -> bool:
        """Whether everything that the definition of a view reads may be read; False if that is not certain."""
        query = query_of(view.definition, self._rules.dialect)
        if not query or view.name in self._rules.catalog.runs:
            return False
        try:
            readonly.check(query, self._rules.dialect)  # its functions must be known to be read-only
        except QueryRefusedError:
            return False
        return self._objection(query, is_view=True)[1] is None

    @quiet()
    def _objection(self, sql: str, *, is_view: bool = False) -> tuple[str, str | None]:
        try:
            tokens, statement = readonly.parse(sql, self._rules.dialect)
            text = without_comments(sql, tokens)
            if text != sql:
                tokens, statement = readonly.parse(text, self._rules.dialect)
            check_words(tokens, text, self._rules.dialect)
            if not (is_view and self._rules.dialect == "postgres"):  # its catalogue says which code a view runs
                check_code(tokens, text, self._rules.catalog)
            walk = _Walk(self._rules)
            if edits := walk.run(statement, tokens):
                text = edited(text, edits)
                tokens, statement = readonly.parse(text, self._rules.dialect)
                walk = _Walk(self._rules)
                if walk.run(statement, tokens):
                    return "", "the query cannot be checked against the access rules; write each column with its table"
            text = edited(text, walk.filters)
        except ParsingStoppedError:
            raise  # there is no outcome to remember
        except QueryRefusedError as error:
            return "", str(error)
        except RecursionError:
            return "", "the query is nested too deeply; write one SELECT"
        except Exception:  # a flaw of the analysis must not let a query pass, nor end the program
            return "", "the query cannot be checked against the access rules; write a simpler SELECT"
        return text, None


class _Walk:
    """One walk through one query."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._dialect = rules.dialect
        self._names = Resolver(rules)
        self._hidden: set[str] = set()
        self.filters: set[tuple[int, int, str]] = set()
        """The edits that leave out rows, once names are resolved."""

    def run(self, statement: exp.Expr, tokens: Sequence[Any]) -> set[tuple[int, int, str]]:
        """The necessary edits; raises ``QueryRefusedError`` unless everything that is read may be read."""
        from sqlglot import exp

        if not isinstance(statement, exp.Query | exp.Values):
            refuse(f"only SELECT is allowed, this is {str(statement.key).upper()}; write one SELECT")
        check_types(statement, self._rules)
        self.query(statement, {}, ())
        check_rest(statement, tokens, self._hidden, self._names.seen)
        return self._names.edits

    def query(self, node: exp.Expr, named: Named, outer: Chain) -> Output:
        """Check a whole query within the ``outer`` scopes."""
        from sqlglot import exp

        poll()
        if isinstance(node, exp.Select):
            return self._select(node, named, outer)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, named, outer)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query | exp.Values):
            _only(node, _SUBQUERY - {"joins"})
            return self._nested(node, named, outer)
        if not isinstance(node, exp.Values):
            refuse(f"{str(node.key).upper()} is not allowed under access rules; write one SELECT")
        _only(node, {"expressions", "alias"})
        self._names.expressions(node.expressions, outer, self._ask(named))
        if self._dialect != "postgres":
            return Output(opaque=True)
        names = frozenset(f"column{number + 1}" for number in range(len(node.expressions[0].expressions)))
        return Output(names, names)

    def _nested(self, node: exp.Subquery, named: Named, outer: Chain) -> Output:
        """A query in parentheses."""
        named = self._with(node, named, outer)
        return self._tail(node, self.query(node.this, named, outer), named, outer)

    def _select(self, node: exp.Select, named: Named, outer: Chain) -> Output:
        _only(node, _SELECT)
        named = self._with(node, named, outer)
        scope = Scope(aliases=frozenset(broad(item.alias) for item in node.expressions if item.alias))
        joins = [*(node.args.get("joins") or ()), *(node.args.get("laterals") or ())]
        if (start := node.args.get("from_")) is not None:
            self._source(start.this, scope, named, outer)
        self._joins(joins, scope, named, outer)
        chain = (scope, *outer)
        self._joined_columns(chain, named)
        ask = self._ask(named)
        self._names.expressions(node.expressions, chain, ask)
        for clause in _CLAUSES:
            parts = node.args.get(clause)
            self._names.expressions(parts if isinstance(parts, list) else [parts], chain, ask)
        self._order(node.args.get("order"), _aliases(node, self._dialect), chain, named)
        return self._output(node, scope)

    def _output(self, node: exp.Select, scope: Scope) -> Output:
        from sqlglot import exp

        sure, names, opaque = set(), set(), False
        for item in node.expressions:
            if (starred := _starred(item, scope, self._dialect)) is not None:
                sure |= {key for source in starred for key in source.sure}
                names |= {broad(key) for source in starred for key in source.sure}
                opaque = opaque or any(source.opaque or not source.sure for source in starred)
                continue
            if self._dialect == "postgres" and (label := label_of(item)):
                sure.add(label)
                names.add(broad(label))
                continue
            if isinstance(item, exp.Alias) and isinstance(item.args.get("alias"), exp.Identifier):
                name = item.args["alias"]
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier) and not item.this.quoted:
                name = item.this
            else:  # among them SQLite's "text", whose column keeps the quotes in its name
                opaque = True
                continue
            sure.add(exact(name, self._dialect))
            names.add(broad(name.name))
        return Output(frozenset(sure), frozenset(names), opaque, tuple(scope.sources))

    def _set_operation(self, node: exp.SetOperation, named: Named, outer: Chain) -> Output:
        _only(node, _SET)
        named = self._with(node, named, outer)
        left = self.query(node.this, named, outer)
        right = self.query(node.expression, named, outer)
        both = Output(left.sure, left.names | right.names, True, left.sources + right.sources)
        output = replace(both, sure=frozenset()) if node.args.get("by_name") else both
        return self._tail(node, output, named, outer)

    def _tail(self, node: exp.Expr, output: Output, named: Named, outer: Chain) -> Output:
        """ORDER BY and LIMIT after a set operation or parentheses, which may name columns of any branch."""
        scope = Scope(list(output.sources), output.names, shields=False)
        clauses = [node.args.get(clause) for clause in ("limit", "offset")]
        self._names.expressions(clauses, (scope, *outer), self._ask(named))
        self._order(node.args.get("order"), output.sure, (scope, *outer), named)
        return output

    def _order(self, order: exp.Expr | None, labels: Collection[str], chain: Chain, named: Named) -> None:
        """ORDER BY, in which every engine looks up an unqualified name among the result's columns first."""
        from sqlglot import exp

        if order is None:
            return
        unlabelled = []
        for item in order.expressions:
            name = item.this.this if isinstance(item.this, exp.Column) and len(item.this.parts) == 1 else None
            if isinstance(name, exp.Identifier) and exact(name, self._dialect) in labels:
                self._names.seen.add(id(name))
            else:
                unlabelled.append(item)
        _only(order, {"expressions"})
        self._names.expressions(unlabelled, chain, self._ask(named))

    def _with(self, node: exp.Expr, named: Named, outer: Chain) -> Named:
        """The CTEs that are visible within ``node``."""
        from sqlglot import exp

        clause = node.args.get("with_")
        if clause is None:
            return named
        _only(clause, {"expressions", "recursive"})
        named = dict(named)
        for cte in clause.expressions:
            _only(cte, {"this", "alias", "materialized"})
            alias = cte.args["alias"]
            key = exact(alias.this, self._dialect, table=True)
            if clause.args.get("recursive") and isinstance(cte.this, exp.Union):
                output = self._recursive(cte.this, key, alias, named, outer)
            else:  # within it, its name is that of a table
                output = self.query(cte.this, {k: v for k, v in named.items() if k != key}, outer)
            named[key] = replace(output, sources=()), alias
        return named

    def _recursive(self, union: exp.Union, key: str, alias: exp.TableAlias, named: Named, outer: Chain) -> Output:
        """A recursive UNION; only its second part refers to itself, and in the first its name is that of a table."""
        _only(union, _SET - {"with_"})
        visible = {k: v for k, v in named.items() if k != key}
        first = self.query(union.this, visible, outer)
        itself = replace(first, sources=(), opaque=True)
        second = self.query(union.expression, {**visible, key: (itself, alias)}, outer)
        return self._tail(union, replace(first, opaque=True, sources=first.sources + second.sources), visible, outer)

    def _source(self, node: exp.Expr, scope: Scope, named: Named, outer: Chain) -> None:
        """Add an item of a FROM clause to the scope."""
        from sqlglot import exp

        if isinstance(node, exp.Table):
            _only(node, _TABLE)
            scope.sources.append(self._table(node, named))
            self._joins(node.args.get("joins") or (), scope, named, outer)
        elif isinstance(node, exp.Subquery):
            self._subquery(node, scope, named, outer)
        elif isinstance(node, exp.Lateral):
            _only(node, {"this", "alias"})
            if not isinstance(node.this, exp.Subquery) or not isinstance(node.this.this, exp.Query):
                refuse("functions in FROM are not allowed under access rules; name a table")
            output = self.query(node.this, named, (scope.open(), *outer))
            scope.sources.append(self._rules.derived(output, node.args.get("alias")))
        elif isinstance(node, exp.Unnest):
            _only(node, {"expressions", "alias", "offset"})
            self._names.expressions(node.expressions, (scope.open(), *outer), self._ask(named))
            scope.sources.append(self._rules.derived(Output(opaque=True), node.args.get("alias")))
        elif isinstance(node, exp.Values):
            output = self.query(node, named, (scope.open(), *outer))
            scope.sources.append(self._rules.derived(output, node.args.get("alias")))
        else:
            refuse(f"{str(node.key).upper()} is not allowed in FROM under access rules; name a table")

    def _table(self, node: exp.Table, named: Named) -> Source:
        from sqlglot import exp

        name, alias = node.this, node.args.get("alias")
        if not isinstance(name, exp.Identifier):
            refuse("functions in FROM are not allowed under access rules; name a table")
        key = exact(name, self._dialect, table=True)
        if node.args.get("db") is None and key in named:
            output, cte = named[key]
            if alias is not None and alias.this is not None:
                cte = exp.TableAlias(this=alias.this.copy(), columns=[c.copy() for c in alias.columns or cte.columns])
            return self._rules.derived(output, cte)
        alike = node.args.get("db") is None and broad(name.name) in {broad(cte.name) for _, cte in named.values()}
        table = self._rules.find(node)
        if table is None:
            refuse(f"there is no table {_written(node)} that may be read; use the tables of the schema")
        source = self._rules.source(table, alias, loose=alike)
        if source.partial and alias is not None and alias.columns:
            refuse(f"columns of {_written(node)} cannot be renamed by its alias; use the names of the schema")
        self._hidden |= source.hidden
        if conditions := self._rules.conditions.get(table.name):
            shown = [column.name for column in table.columns if column.name in self._rules.shown[table.name]]
            self.filters.add(subquery(node, shown, conditions, self._dialect))
        return source

    def _subquery(self, node: exp.Subquery, scope: Scope, named: Named, outer: Chain) -> None:
        from sqlglot import exp

        _only(node, _SUBQUERY)
        alias = node.args.get("alias")
        if isinstance(node.this, exp.Query | exp.Values) and not isinstance(node.this, exp.Table):
            output = self._nested(node, named, (scope.open(), *outer))
            scope.sources.append(self._rules.derived(output, alias))
        elif isinstance(node.this, exp.Table):
            before = len(scope.sources)
            self._source(node.this, scope, named, outer)
            inner = scope.sources[before:]
            inside = len(inner) > 1 and (before or alias is not None)
            if self._dialect == "sqlite" and inside and any(source.partial for source in inner):
                refuse("joined tables in parentheses are read whole; write the joins without parentheses")
            if alias is not None:
                if alias.columns:
                    refuse("an alias of joined tables cannot rename columns; use the names of the schema")
                scope.sources[before:] = [replace(source, sure=frozenset()) for source in inner]
                scope.sources.append(joined(inner, exact(alias.this, self._dialect, table=True), broad(alias.name)))
        else:
            refuse(f"{str(node.this.key).upper()} is not allowed in FROM under access rules; name a table")
        self._joins(node.args.get("joins") or (), scope, named, outer)

    def _joins(self, joins: Iterable[exp.Expr], scope: Scope, named: Named, outer: Chain) -> None:
        """Add joined items; their ON clauses are checked when all sources are known."""
        from sqlglot import exp

        for join in joins:
            if not isinstance(join, exp.Join):
                self._source(join, scope, named, outer)
                continue
            _only(join, _JOIN)
            before = len(scope.sources)
            self._source(join.this, scope, named, outer)
            scope.joins.append((join, len(scope.sources)))
            if str(join.kind).upper() in _HALF:  # its columns are not visible after its ON clause
                scope.sources[before:] = [replace(source, sure=frozenset()) for source in scope.sources[before:]]

    def _joined_columns(self, chain: Chain, named: Named) -> None:
        """Check ON, USING and NATURAL of a SELECT's joins.

        An ON clause may read the sources before it. Names are not looked up in later sources, but some engines do so,
        and therefore these must not hide a column of that name. Each clause is checked once: two walks would double
        with each level of subqueries.
        """
        from sqlglot import exp

        scope = chain[0].open()
        for join, known in chain[0].joins:
            if "NATURAL" in str(join.method).upper() and may_share_hidden(scope.sources):
                refuse("NATURAL JOIN may compare columns that cannot be read; write JOIN ... ON")
            for name in join.args.get("using") or ():
                if not isinstance(name, exp.Identifier | exp.Column):
                    refuse("USING takes names of columns; write JOIN ... ON")
                self._names.shared(name if isinstance(name, exp.Identifier) else name.this, scope.sources[:known])
            self._names.expressions([join.args.get("on")], (scope.until(known), *chain[1:]), self._ask(named))

    def _ask(self, named: Named) -> Any:
        """The function that checks a subquery within an expression."""
        return lambda node, chain: self.query(node, named, chain)


def _starred(item: exp.Expr, scope: Scope, dialect: str) -> list[Source] | None:
    """The sources whose columns this item of a SELECT stands for, None if it is not a plain star."""
    from sqlglot import exp

    if isinstance(item, exp.Star):
        return None if any(item.args.values()) else scope.sources
    if not isinstance(item, exp.Column) or not isinstance(item.this, exp.Star) or any(item.this.args.values()):
        return None
    owner = item.args.get("table")
    if not isinstance(owner, exp.Identifier):
        return None
    return [source for source in scope.sources if source.alias == exact(owner, dialect, table=True)] or None


def _aliases(node: exp.Select, dialect: str) -> frozenset[str]:
    """The aliases of this SELECT's columns, as keys of ``exact``."""
    from sqlglot import exp

    names = [item.args.get("alias") for item in node.expressions if isinstance(item, exp.Alias)]
    return frozenset(exact(name, dialect) for name in names if isinstance(name, exp.Identifier))


def _only(node: exp.Expr, allowed: Iterable[str]) -> None:
    """Refuse clauses other than those allowed."""
    for key, value in node.args.items():
        if value and key not in allowed:
            refuse(f"{key.strip('_').upper()} is not allowed under access rules; write a simpler SELECT")


def _written(table: exp.Table) -> str:
    return ".".join(part.name[:60] for part in table.parts)
