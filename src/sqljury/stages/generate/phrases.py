"""Parts of a query in words: columns, conditions, aggregates; what has no words of its own stays SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

_AGGREGATES: Final = {
    "Sum": "the sum of",
    "Avg": "the average of",
    "Min": "the smallest",
    "Max": "the largest",
    "GroupConcat": "a list of",
}


@dataclass(frozen=True, slots=True)
class Words:
    """How one SELECT's parts are called.

    ``tables`` are the names to show by the names the query uses, lower case; ``qualify`` says whether a column needs
    its table's name. ``results`` are the numbers of the sentences that end with a sub-query's result, by the identity
    of its tree. ``aliases`` are the expressions that a name alone stands for, by that name in lower case.
    """

    dialect: str
    tables: Mapping[str, str] = field(default_factory=dict)
    qualify: bool = False
    results: Mapping[int, int] = field(default_factory=dict)
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)


def phrase(node: exp.Expr, words: Words) -> str:
    """The expression as a person would say it."""
    own = _own_words(node, words)
    return _sql(node, words) if own is None else own


def _own_words(node: exp.Expr, words: Words) -> str | None:
    """The words for kinds of nodes that have some, None for others."""
    from sqlglot import exp

    if isinstance(node, exp.Column):
        return column(node, words)
    if isinstance(node, exp.Not):
        return _predicate(node.this, words, negated=True)
    if isinstance(node, exp.AggFunc):
        return _aggregate(node, words)
    if isinstance(node, exp.Subquery | exp.Select | exp.SetOperation) and id(node.unnest()) in words.results:
        return f"the result of step {words.results[id(node.unnest())]}"
    return _predicate(node, words, negated=False)


def column(node: exp.Column, words: Words) -> str:
    """The column's name, with its table's where the SELECT has several."""
    name = str(node.this.sql(dialect=words.dialect))
    if not node.table:
        meant = words.aliases.get(node.name.lower())
        return name if meant is None else phrase(meant, replace(words, aliases={}))
    table = words.tables.get(node.table.lower())
    if table is not None and not words.qualify:
        return name
    return f"{table or node.args['table'].sql(dialect=words.dialect)}.{name}"


def _predicate(node: exp.Expr, words: Words, *, negated: bool) -> str | None:
    """Conditions that have words: whether something is among, is missing, is there."""
    from sqlglot import exp

    node, no = node.unnest(), " not" if negated else ""
    if isinstance(node, exp.Exists):
        number = words.results.get(id(node.this.unnest()))
        return None if number is None else f"step {number} finds {'nothing' if negated else 'a row'}"
    if isinstance(node, exp.In) and node.args.get("query"):
        return f"{phrase(node.this, words)} is{no} in {phrase(node.args['query'], words)}"
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return f"{phrase(node.this, words)} is{no} missing"
    if isinstance(node, exp.Like):
        no = " not" if negated != bool(node.args.get("negate")) else ""
        return f"{phrase(node.this, words)} is{no} like {phrase(node.expression, words)}"
    if isinstance(node, exp.In) and negated and node.expressions:
        return f"{phrase(node.this, words)} is not among {_listed(node.expressions, words)}"
    return None


def _aggregate(node: exp.AggFunc, words: Words) -> str | None:
    from sqlglot import exp

    told = _AGGREGATES.get(type(node).__name__)
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Distinct):
            return f"the number of different {_listed(node.this.expressions, words)}"
        plain = isinstance(node.this, exp.Star | exp.Literal)
        return "the number of rows" if plain else f"the number of {phrase(node.this, words)}"
    if told is None or (len(node.args) > 1 and any(node.args.get(name) for name in node.args if name != "this")):
        return None
    if isinstance(node.this, exp.Distinct):
        return f"{told} different {_listed(node.this.expressions, words)}"
    return f"{told} {phrase(node.this, words)}"


def _listed(nodes: list[exp.Expr], words: Words) -> str:
    return ", ".join(phrase(one, words) for one in nodes)


def _sql(node: exp.Expr, words: Words) -> str:
    """The node as SQL, with words for those parts of it that have some."""
    from sqlglot import exp

    copy = node.copy()
    replaced: set[int] = set()
    for old, new in list(zip(node.dfs(), copy.dfs(), strict=True)):
        if new is copy:
            continue
        if id(new.parent) in replaced:
            replaced.add(id(new))
            continue
        told = _own_words(old, words)
        if told is not None:
            new.replace(exp.Var(this=told))
            replaced.add(id(new))
    return str(copy.sql(dialect=words.dialect))


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that must all hold; one that always does, as parsers put for a join without one, is none."""
    from sqlglot import exp

    if node is None or (isinstance(node, exp.Boolean) and node.this):
        return []
    node = node.unnest()
    return [part for one in node.flatten() for part in conjuncts(one)] if isinstance(node, exp.And) else [node]
