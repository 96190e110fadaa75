"""What a repaired query lost of the query before it: conditions, joins, grouping, ordering, LIMIT, DISTINCT.

A repair may respell a value, and correct a column, a table or a join. A repair that drops or weakens a restriction
answers another question, however well it runs. The comparison is of parsed queries, SELECT by SELECT, and in doubt a
restriction counts as lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqljury.db import parsing
from sqljury.db.quiet import quiet
from sqljury.fix.terms import Side, Term, aggregates, side, terms
from sqljury.schema.text import remark
from sqljury.schema.translate import SOURCES
from sqljury.types import Schema

if TYPE_CHECKING:
    from sqlglot import exp

_SHOWN_CHARACTERS: Final = 100
_NEVER_FEWER: Final = frozenset(
    [
        "where",
        "having",
        "group",
        "order",
        "limit",
        "distinct",
        "and",
        "not",
        "intersect",
        "except",
        "join",
        "between",
        "like",
        "in",
        "exists",
    ]
)
_COMPARISONS: Final = frozenset(("=", "<", ">", "<=", ">=", "<>", "!="))
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\w+|[<>!=]=?|<>")


@quiet()
def losses(before: str, after: str, schema: Schema, lacking: Collection[str] = ()) -> tuple[str, ...]:
    """The restrictions of ``before`` that ``after`` has no longer, or only in a weaker form; empty if it keeps all.

    A text of ``before`` that is in ``lacking`` may be spelt another way in ``after``: those are the texts that their
    column does not have. A query in another dialect is read in that dialect; one that no dialect can read is compared
    word by word.
    """
    from sqlglot.errors import SqlglotError

    try:
        new = _parsed(after, (schema.dialect,))
        if new is None:
            return ("the repaired query cannot be read",)
        old = _parsed(before, (schema.dialect, *SOURCES))
        if old is None:
            return tuple(_lost_words(before, after))
        return tuple(_Comparison(schema, lacking).lost(old, new, exact=False))
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError):
        return ("the queries cannot be compared",)


def _parsed(sql: str, dialects: Sequence[str]) -> exp.Query | None:
    """The query as the first dialect reads it that can."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    for dialect in dict.fromkeys(dialects):
        try:
            tree = parsing.parse_one(sql, dialect)
        except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
            continue
        if isinstance(tree, exp.Query):
            return tree
    return None


class _Comparison:
    """Compares two queries on one schema."""

    def __init__(self, schema: Schema, lacking: Collection[str]) -> None:
        self._dialect = schema.dialect
        self._names = {column.name.lower() for table in schema.tables for column in table.columns}
        self._lacking = {text.casefold() for text in lacking}

    def lost(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        """What ``after`` lost; with ``exact`` it must not have gained either, as within NOT IN a gain is a loss."""
        from sqlglot import exp

        before, after = before.unnest(), after.unnest()
        yield from self._queries("the WITH query", _ctes(before), _ctes(after), exact=True)
        if isinstance(before, exp.SetOperation) or isinstance(after, exp.SetOperation):
            yield from self._set_operation(before, after, exact=exact)
        elif isinstance(before, exp.Select) and isinstance(after, exp.Select):
            yield from self._conditions(before, after, exact=exact)
            yield from self._joins(before, after)
            yield from self._outputs(before, after)
        elif type(before) is not type(after):
            yield f"the {before.key.upper()}"
            return
        yield from self._rows(before, after, exact=exact)

    def _set_operation(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        same = type(before) is type(after) and bool(before.args.get("distinct")) == bool(after.args.get("distinct"))
        if not same:
            yield self._shown("the", before) if before.key == "select" else f"the {before.key.upper()}"
            return
        yield from self.lost(before.args["this"], after.args["this"], exact=exact)
        yield from self.lost(before.args["expression"], after.args["expression"], exact=exact or before.key == "except")

    def _conditions(self, before: exp.Select, after: exp.Select, *, exact: bool) -> Iterator[str]:
        """Conditions of WHERE, HAVING and ON; one may move between them, for an inner join it means the same."""
        old, new = self._terms(before), self._terms(after)
        texts = [term.text for term in old]
        new.sort(key=lambda term: term.text not in texts)  # a condition that stands as it was is its own counterpart
        for term in sorted(old, key=lambda one: not any(one.text == other.text for other in new)):
            kept = next((other for other in new if self._keeps(term, other, exact=exact)), None)
            if kept is None:
                yield self._shown("the condition", term.text)
            else:
                new.remove(kept)
        if exact and new:
            yield self._shown("the meaning without the condition", new[0].text)
        old_links, new_links = (_links(select, self._names) for select in (before, after))
        loose = _loose(after, new_links) > _loose(before, old_links)
        if loose or len(new_links) < len(old_links):
            yield "a condition that joins tables"

    def _terms(self, select: exp.Select) -> list[Term]:
        clauses = [select.args.get("where"), select.args.get("having"), select.args.get("qualify")]
        conditions = [clause.this for clause in clauses if clause is not None]
        conditions += [join.args["on"] for join in select.args.get("joins") or () if join.args.get("on") is not None]
        found = [term for one in conditions for term in terms(_resolved(one, select), self._names, self._dialect)]
        return list({term.text: term for term in found if not term.joins}.values())

    def _keeps(self, old: Term, new: Term, *, exact: bool) -> bool:
        if old.op != new.op or len(old.sides) != len(new.sides) or len(old.parts) != len(new.parts):
            return False
        inner = exact or old.op not in ("in", "exists")
        sides = zip(old.sides, new.sides, strict=True)
        if not all(self._same_side(one, other, exact=inner, spelling=old.op != "like") for one, other in sides):
            return False
        rest = list(new.parts)
        for part in old.parts:
            match = next((other for other in rest if self._same_part(part, other)), None)
            if match is None:
                return False
            rest.remove(match)
        return True

    def _same_part(self, old: Sequence[Term], new: Sequence[Term]) -> bool:
        """Whether two alternatives of an OR are the same conditions."""
        pairs = list(zip(old, new, strict=False))
        return len(old) == len(new) and all(self._keeps(one, other, exact=True) for one, other in pairs)

    def _same_side(self, old: Side, new: Side, *, exact: bool, spelling: bool) -> bool:
        if old == new:
            return True
        if old.calls != new.calls or len(old.queries) != len(new.queries):
            return False
        if old.unknown and not old.columns and not old.literals:  # a misspelt column, or a text without quotes
            named = bool(new.columns) and not new.literals
            return named or (not new.columns and list(map(_letters, new.literals)) == list(map(_letters, old.unknown)))
        if len(old.literals) != len(new.literals) or len(old.columns) + len(old.unknown) > len(new.columns):
            return False
        if bool(new.columns) != bool(old.columns or old.unknown):
            return False
        pairs = zip(old.literals, new.literals, strict=True)
        if not all(self._same_text(one, other, spelling=spelling) for one, other in pairs):
            return False
        queries = zip(old.queries, new.queries, strict=True)
        return not any(loss for one, other in queries for loss in self.lost(one, other, exact=exact))

    def _same_text(self, old: str, new: str, *, spelling: bool) -> bool:
        if old.casefold() == new.casefold() or (spelling and _letters(old) == _letters(new) != ""):
            return True
        return spelling and old.casefold() in self._lacking and respelt(old, new)

    def _joins(self, before: exp.Select, after: exp.Select) -> Iterator[str]:
        old, new = _sources(before), _sources(after)
        if len(new) < len(old):
            yield "a join"
        elif sum(inner for _, inner in new) < sum(inner for _, inner in old):
            yield "an inner join"
        yield from self._queries("the subquery in FROM", _derived(old), _derived(new), exact=True)

    def _outputs(self, before: exp.Select, after: exp.Select) -> Iterator[str]:
        from sqlglot import exp

        if before.args.get("distinct") and not after.args.get("distinct"):
            yield "DISTINCT"
        if _keys(before) > _keys(after):
            yield "GROUP BY"
        missing = aggregates(before.expressions) - aggregates(after.expressions)
        for name in sorted(missing):
            yield f"{name.upper()} of the output"
        old, new = ([q for e in one.expressions for q in e.find_all(exp.Subquery)] for one in (before, after))
        yield from self._queries("the subquery of the output", old, new, exact=True)

    def _rows(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        """ORDER BY, LIMIT and OFFSET."""
        old, new = self._ordering(before), self._ordering(after)
        for place, (ordered, descending) in enumerate(old):
            kept = place < len(new) and new[place][1] == descending
            if not kept or not self._same_side(ordered, new[place][0], exact=True, spelling=True):
                yield "ORDER BY"
                break
        for clause in ("limit", "offset"):
            number, other = _number(before, clause), _number(after, clause)
            if number != other and (number or (exact and other) or (clause == "offset" and other)):
                yield f"{clause.upper()} {number}".rstrip()

    def _ordering(self, query: exp.Expr) -> list[tuple[Side, bool]]:
        order = query.args.get("order")
        found = []
        for item in order.expressions if order is not None else ():
            key = _ordinal(item.this, query)
            found.append((side(_resolved(key, query), self._names, self._dialect), bool(item.args.get("desc"))))
        return found

    def _queries(self, what: str, old: Sequence[Any], new: Sequence[Any], *, exact: bool) -> Iterator[str]:
        if len(new) < len(old):
            yield what
            return
        for one, other in zip(old, new, strict=False):
            yield from self.lost(one, other, exact=exact)

    def _shown(self, what: str, node: exp.Expr | str) -> str:
        written = node if isinstance(node, str) else node.sql(dialect=self._dialect)
        return f"{what} {remark(written, _SHOWN_CHARACTERS)}"


def _ctes(query: exp.Expr) -> list[exp.Expr]:
    with_ = query.args.get("with_")
    return [] if with_ is None else [cte.this for cte in with_.expressions]


def _sources(select: exp.Select) -> list[tuple[exp.Expr, bool]]:
    """What stands in FROM, and whether a row needs a partner there: not behind LEFT JOIN and its like."""
    clause = select.args.get("from_")
    first = [] if clause is None else [(clause.this, True)]
    return first + [(join.this, not join.side) for join in select.args.get("joins") or ()]


def _derived(sources: Sequence[tuple[exp.Expr, bool]]) -> list[exp.Expr]:
    from sqlglot import exp

    return [node for node, _ in sources if isinstance(node, exp.Subquery)]


def _keys(select: exp.Select) -> int:
    group = select.args.get("group")
    if group is None:
        return 0
    return len(group.expressions) + sum(bool(group.args.get(kind)) for kind in ("cube", "rollup", "grouping_sets"))


def _links(select: exp.Select, names: Collection[str]) -> list[frozenset[str]]:
    """The tables that each condition of two columns ties, a name of its own for a column without table."""
    from sqlglot import exp

    joins = select.args.get("joins") or ()
    conditions = [join.args["on"] for join in joins if join.args.get("on") is not None]
    if select.args.get("where") is not None:
        conditions.append(select.args["where"].this)
    found = {}
    for condition in conditions:
        for node in condition.find_all(exp.EQ):
            ours = node.find_ancestor(exp.Select) is select
            pair = [one for one in (node.this, node.expression) if isinstance(one, exp.Column)]
            known = all(one.table or one.name.lower() in names for one in pair)
            if ours and len(pair) == 2 and known and pair[0].sql().lower() != pair[1].sql().lower():
                found[node.sql().lower()] = frozenset(one.table.lower() or f"?{one.name.lower()}" for one in pair)
    using = [name for join in joins for name in join.args.get("using") or ()]
    natural = [join for join in joins if join.method == "NATURAL"]
    return [*found.values(), *(frozenset(("?using", f"?{place}")) for place, _ in enumerate([*using, *natural]))]


def _loose(select: exp.Select, links: Sequence[frozenset[str]]) -> int:
    """How many tables of FROM no condition ties to the first, as far as the columns say their tables."""
    groups = [{node.alias_or_name.lower()} for node, _ in _sources(select)]
    free = 0
    for link in links:
        if any(name.startswith("?") for name in link):
            free += 1
            continue
        touched = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link] + [set().union(*touched)]
    return max(0, len(groups) - 1 - free)


def _number(query: exp.Expr, clause: str) -> str:
    node = query.args.get(clause)
    if node is None:
        return ""
    count = node.args.get("expression") or node.args.get("count")
    return "" if count is None else str(count.sql())


def _ordinal(key: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The output that ``ORDER BY 2`` means."""
    from sqlglot import exp

    selects = getattr(query, "selects", ())
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(selects):
        chosen: exp.Expr = selects[int(key.name) - 1].unalias()
        return chosen
    return key


def _resolved(node: exp.Expr, query: exp.Expr) -> exp.Expr:
    """A copy with the aliases of outputs, which HAVING and ORDER BY may name, replaced by what they stand for."""
    from sqlglot import exp

    outputs = {one.alias.lower(): one.this for one in getattr(query, "selects", ()) if isinstance(one, exp.Alias)}

    def replaced(one: exp.Expr) -> exp.Expr:
        known = isinstance(one, exp.Column) and not one.table and one.name.lower() in outputs
        return outputs[one.name.lower()].copy() if known else one

    return node.copy().transform(replaced, copy=False) if outputs else node


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def respelt(old: str, new: str) -> bool:
    """Whether one text may be another spelling of the other: a typo, an abbreviation, initials; numbers are the same.

    Only for a text that its column does not have: ``male`` and ``female`` are alike too.
    """
    from rapidfuzz import fuzz

    if sorted(map(int, re.findall(r"\d{1,18}", old))) != sorted(map(int, re.findall(r"\d{1,18}", new))):
        return False
    ours, theirs = _letters(old), _letters(new)
    if not ours or not theirs:
        return False
    short = ours.startswith(theirs) or theirs.startswith(ours)
    abbreviated = _initials(old).startswith(theirs) or _initials(new).startswith(ours)
    return short or abbreviated or fuzz.ratio(ours, theirs) >= 60


def _initials(text: str) -> str:
    return "".join(word[0] for word in re.findall(r"\w+", text.casefold()) if word not in ("of", "the", "and"))


def _lost_words(before: str, after: str) -> Iterator[str]:
    """For a query that no dialect can read: its keywords, comparisons, numbers and texts that are there no longer."""
    old, new = (Counter(_TOKEN.findall(text.lower())) for text in (before, after))
    for word, count in old.items():
        if (word in _NEVER_FEWER or word[:1] in "'0123456789") and new[word] < count:
            yield word.upper() if word.isalpha() else word
    compared = sum(old[sign] for sign in _COMPARISONS) - sum(new[sign] for sign in _COMPARISONS)
    if compared > 0 or new["or"] > old["or"]:
        yield "a comparison"
