"""What a parsed SELECT is made of, as far as two of them are compared by it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def limited(query: exp.Expr) -> bool:
    """Whether it has LIMIT, OFFSET or ORDER BY of its own."""
    return any(query.args.get(clause) is not None for clause in ("limit", "offset", "order"))


def ctes(query: exp.Expr) -> list[exp.Expr]:
    """The queries of its WITH clause."""
    with_ = query.args.get("with_")
    return [] if with_ is None else [cte.this for cte in with_.expressions]


def cte_names(query: exp.Query) -> list[str]:
    """The names of all WITH queries, in their order."""
    from sqlglot import exp

    return [cte.alias.lower() for cte in query.find_all(exp.CTE)]


def reads(query: exp.Query, name: str) -> int:
    """How often a table or WITH query of that name is read."""
    from sqlglot import exp

    return sum(table.name.lower() == name for table in query.find_all(exp.Table))


def sources(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """What stands in FROM, and the kind of join it has: empty for an inner one, else such as LEFT, FULL, SEMI."""
    clause = select.args.get("from_")
    found = [] if clause is None else [(clause.this, "")]
    found += [(join.this, str(join.side or _kind(join))) for join in select.args.get("joins") or ()]
    found += [(lateral, "") for lateral in select.args.get("laterals") or ()]
    nested = [(join.this, str(join.side)) for node, _ in found for join in node.args.get("joins") or ()]
    return found + nested


def _kind(join: exp.Expr) -> str:
    kind = str(join.args.get("kind") or "").upper()
    return kind if kind in ("SEMI", "ANTI") else ""


def opaque(node: exp.Expr) -> bool:
    """Whether it is neither a plain table nor a subquery, such as LATERAL, a function, a sample, nested joins."""
    from sqlglot import exp

    if isinstance(node, exp.Subquery):
        return False
    plain = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    return not plain or any(node.args.get(part) for part in ("joins", "sample", "pivots", "laterals"))


def derived(sources: Sequence[tuple[exp.Expr, str]]) -> list[exp.Expr]:
    """The subqueries among sources."""
    from sqlglot import exp

    return [node for node, _ in sources if isinstance(node, exp.Subquery)]


def subqueries(select: exp.Select) -> list[exp.Expr]:
    """The outermost subqueries of its outputs."""
    from sqlglot import exp

    found = [query for one in select.expressions for query in one.find_all(exp.Subquery)]
    inner = {id(query) for one in found for query in one.this.find_all(exp.Subquery)}
    return [query for query in found if id(query) not in inner]


def distinct(select: exp.Select) -> str:
    """DISTINCT with the columns that it is ON, empty where there is none."""
    distinct = select.args.get("distinct")
    if not distinct:
        return ""
    on = distinct.args.get("on") if hasattr(distinct, "args") else None
    return "DISTINCT" if on is None else f"DISTINCT ON {on.sql().lower()}"


def keys(select: exp.Select) -> tuple[list[exp.Expr], tuple[str, ...]]:
    """The keys of GROUP BY, and which of ROLLUP, CUBE and GROUPING SETS it has."""
    group = select.args.get("group")
    if group is None:
        return [], ()
    kinds = tuple(kind for kind in ("cube", "rollup", "grouping_sets", "totals") if group.args.get(kind))
    return list(group.expressions), kinds


def count(query: exp.Expr, clause: str) -> str:
    """The number of LIMIT or OFFSET as text, with what FETCH says beside it."""
    node = query.args.get(clause)
    if node is None:
        return ""
    count = node.args.get("expression") or node.args.get("count")
    options = node.args.get("limit_options")
    ties = " WITH TIES" if options is not None and options.args.get("with_ties") else ""
    percent = " PERCENT" if options is not None and options.args.get("percent") else ""
    return ("" if count is None else str(count.sql())) + percent + ties


def ordinal(key: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The output that ``ORDER BY 2`` means."""
    from sqlglot import exp

    selects = getattr(query, "selects", ())
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(selects):
        chosen: exp.Expr = selects[int(key.name) - 1].unalias()
        return chosen
    return key


def resolved(node: exp.Expr, query: exp.Expr, names: Collection[str]) -> exp.Expr:
    """A copy with the aliases of outputs replaced by what they stand for, but for those that are among ``names``."""
    from sqlglot import exp

    outputs = {one.alias.lower(): one.this for one in getattr(query, "selects", ()) if isinstance(one, exp.Alias)}
    outputs = {alias: output for alias, output in outputs.items() if alias not in names}

    def replaced(one: exp.Expr) -> exp.Expr:
        known = isinstance(one, exp.Column) and not one.table and one.name.lower() in outputs
        return outputs[one.name.lower()].copy() if known else one

    return node.copy().transform(replaced, copy=False) if outputs else node
