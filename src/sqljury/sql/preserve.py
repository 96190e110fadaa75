"""What a repaired query lost of the query before it: conditions, joins, grouping, ordering, LIMIT, DISTINCT.

A repair may respell a value, and correct a column, a table or a join. A repair that drops or weakens a restriction
answers another question, however well it runs. The comparison is of parsed queries, SELECT by SELECT, and in doubt a
restriction counts as lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqljury.language.alike import digits, is_number, letters, respelt
from sqljury.sql.names.imagined import leave_out
from sqljury.sql.parse import errors, exp, quiet, read_query, write
from sqljury.sql.resolve import brought_in, column_names, find_table, has_column
from sqljury.sql.terms import (
    Side,
    Term,
    aggregates,
    cte_names,
    ctes,
    derived,
    distinct_on,
    group_keys,
    joined_sources,
    limited,
    opaque,
    ordinal,
    reads,
    resolved,
    row_count,
    side,
    subqueries,
    terms,
)
from sqljury.sql.text import remark
from sqljury.sql.translate import SOURCES
from sqljury.types import Schema

_SHOWN_CHARACTERS: Final = 100
_PATTERNS: Final = frozenset(("like", "ilike", "glob", "similarto", "escape", "match", "rlike", "operator"))
_NEVER_FEWER: Final = frozenset(
    (
        *("where", "having", "group", "order", "limit", "distinct", "and", "not", "intersect", "except", "join"),
        *("between", "like", "in", "exists", "is", "null", "max", "min", "count", "sum", "avg", "on", "using", "desc"),
    )
)
_NEVER_MORE: Final = frozenset(("or", "union", "all", "left", "right", "full", "outer"))
_SIGNS: Final = {"<>": "!=", "==": "="}
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\w+|<>|[<>!=]=?")


@quiet()
def losses(before: str, after: str, schema: Schema, lacking: Collection[str] = ()) -> tuple[str, ...]:
    """The restrictions of ``before`` that ``after`` has no longer, or only in a weaker form; empty if it keeps all.

    A join to a table that is a column is none. A text of ``before`` that is in ``lacking`` may be spelt another way in
    ``after``: those are the texts that their column does not have. A query in another dialect is read in that dialect;
    one that no dialect can read is compared word by word.
    """
    try:
        new = read_query(after, schema.dialect)
        if new is None:
            return ("the repaired query cannot be read",)
        readings = (read_query(before, dialect) for dialect in dict.fromkeys((schema.dialect, *SOURCES)))
        old = next((reading for reading in readings if reading is not None), None)
        if old is None:
            return tuple(_lost_words(before, write(new, schema.dialect, comments=False)))
        leave_out(old, schema)
        comparison = _Comparison(schema, lacking)
        return tuple(dict.fromkeys((*comparison.lost(old, new, exact=False), *comparison.unread(old, new))))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError):
        return ("the queries cannot be compared",)


@dataclass(frozen=True, slots=True)
class _Select:
    """The conditions of one SELECT: of WHERE and inner joins, of HAVING, of outer joins; and what ties its tables.

    A tie is the tables of two columns that a condition equates, by alias; ``?`` stands for one that is not certain.
    """

    where: list[Term]
    having: list[Term]
    outer: list[Term]
    ties: list[tuple[str, str]]
    aliases: list[str]

    @property
    def loose(self) -> int:
        """How many tables of FROM no condition ties to the first."""
        groups = [{alias} for alias in self.aliases]
        free = 0
        for tie in map(set, self.ties):
            if "?" in tie:
                free += 1
                continue
            touched = [group for group in groups if group & tie]
            groups = [group for group in groups if not group & tie] + [set().union(*touched)]
        return max(0, len(groups) - 1 - free)

    @property
    def joining(self) -> int:
        """How many conditions tie two tables of FROM."""
        return sum(left != right or left == "?" for left, right in self.ties if {left, right} <= {*self.aliases, "?"})

    @property
    def correlated(self) -> int:
        """How many conditions tie a table of FROM to one of a query around."""
        return sum(not {left, right} <= {*self.aliases, "?"} for left, right in self.ties)


class _Comparison:
    """Compares two queries on one schema."""

    def __init__(self, schema: Schema, lacking: Collection[str]) -> None:
        self._schema, self._dialect = schema, schema.dialect
        self._names = column_names(schema)
        self._lacking = {text.casefold() for text in lacking}

    def lost(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        """What ``after`` lost; with ``exact`` it must not have gained either, as within NOT IN a gain is a loss."""
        while isinstance(before, exp.Subquery) or isinstance(after, exp.Subquery):
            if limited(before) or limited(after):
                yield from self._rows(before, after, exact=exact)
            before = before.this if isinstance(before, exp.Subquery) else before
            after = after.this if isinstance(after, exp.Subquery) else after
        yield from self._queries("the WITH query", ctes(before), ctes(after))
        if isinstance(before, exp.SetOperation) or isinstance(after, exp.SetOperation):
            yield from self._set_operation(before, after, exact=exact)
        elif isinstance(before, exp.Select) and isinstance(after, exp.Select):
            yield from self._conditions(before, after, exact=exact)
            yield from self._joins(before, after, exact=exact)
            yield from self._outputs(before, after, exact=exact)
        elif before != after:
            yield f"the {before.key.upper()}"
            return
        yield from self._rows(before, after, exact=exact)

    def unread(self, before: exp.Query, after: exp.Query) -> Iterator[str]:
        """WITH queries that are read less often than before: what they restrict is lost with them."""
        for old, new in zip(cte_names(before), cte_names(after), strict=False):
            if reads(after, new) < reads(before, old):
                yield f"the WITH query {remark(old, _SHOWN_CHARACTERS)}"

    def _set_operation(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        same = type(before) is type(after) and bool(before.args.get("distinct")) == bool(after.args.get("distinct"))
        if not same:
            yield self._shown("the", before) if before.key == "select" else f"the {before.key.upper()}"
            return
        old, new = ((query.args["this"], query.args["expression"]) for query in (before, after))
        if before.key == "except" and old == new[::-1] and old[0] != old[1]:
            yield "the order of EXCEPT"
        yield from self.lost(old[0], new[0], exact=exact)
        yield from self.lost(old[1], new[1], exact=exact or before.key == "except")

    def _conditions(self, before: exp.Select, after: exp.Select, *, exact: bool) -> Iterator[str]:
        """Conditions of WHERE, HAVING and ON; one of an inner join and one of WHERE mean the same."""
        old, new = self._read(before), self._read(after)
        exact = exact or bool(old.having)  # a count below a limit is met by more groups when more rows are left out
        having = list(new.having)
        yield from self._missing(old.having, having, exact=exact, also=new.where)
        yield from self._missing(old.where, new.where, exact=exact)
        if exact and having:
            yield self._shown("the meaning without the condition", having[0].text)
        yield from self._missing(old.outer, new.outer, exact=True)
        nested = before.parent is not None  # elsewhere a table that FROM lacks is a mistake, and ties to nothing
        fewer = new.joining < old.joining or len(new.ties) < len(old.ties)
        fewer = fewer or (nested and new.correlated < old.correlated)
        same = 0 <= len(new.ties) - len(old.ties) <= brought_in(before, after, self._schema)
        if fewer or new.loose > old.loose or (exact and not old.having and not same):
            yield "a condition that joins tables"

    def _missing(
        self, old: Sequence[Term], new: list[Term], *, exact: bool, also: list[Term] | None = None
    ) -> Iterator[str]:
        """Terms without a counterpart, one for each; a term that stands as it was is its own counterpart."""
        left = [term for term in old if not _taken(term, new)]
        for term in left:
            kept = next((other for other in new if self._keeps(term, other, exact=exact)), None)
            if kept is not None:
                new.remove(kept)
            elif also is None or not _taken(term, also):
                yield self._shown("the condition", term.text)
        if exact and new and also is None:
            yield self._shown("the meaning without the condition", new[0].text)

    def _read(self, select: exp.Select) -> _Select:
        where: list[Term] = []
        having: list[Term] = []
        outer: list[Term] = []
        joins = [join for join in select.args.get("joins") or () if join.args.get("on") is not None]
        for pool, nodes in (
            (where, [select.args.get("where"), *(join.args["on"] for join in joins if not join.side)]),
            (having, [select.args.get("having"), select.args.get("qualify")]),
            (outer, [join.args["on"] for join in joins if join.side]),
        ):
            for node in filter(None, nodes):
                condition = node.this if node.key in ("where", "having", "qualify") else node
                plain_condition = resolved(condition, select, self._names) if pool is having else condition
                pool += terms(plain_condition, self._names, self._dialect)
        tying = [term for term in (*where, *outer) if term.pair]
        pairs = {frozenset(column.sql().lower() for column in term.pair): term.pair for term in tying}
        ties = [(self._owner(left, select), self._owner(right, select)) for left, right in pairs.values()]
        ties = [tie for tie, columns in zip(ties, pairs, strict=True) if len(columns) == 2]
        for join in select.args.get("joins") or ():
            ties += [("?", "?")] * (len(join.args.get("using") or ()) + (join.method == "NATURAL"))
        aliases = [node.alias_or_name.lower() for node, _ in joined_sources(select)]
        return _Select(_others(where), _others(having), _others(outer), ties, aliases)

    def _owner(self, column: exp.Column, select: exp.Select) -> str:
        """The alias of the table that a column is of, ``?`` where that is not certain."""
        if column.table:
            return str(column.table).lower()
        owners = []
        for node, _ in joined_sources(select):
            table = find_table(self._schema, node) if isinstance(node, exp.Table) else None
            if table is None or has_column(table, column.name):
                owners.append(node.alias_or_name.lower())
        return owners[0] if len(owners) == 1 else "?"

    def _keeps(self, old: Term, new: Term, *, exact: bool) -> bool:
        if old.op != new.op or len(old.sides) != len(new.sides) or len(old.parts) != len(new.parts):
            return False
        inner = exact or old.op not in ("in", "exists")
        calls = {call for operand in (*old.sides, *new.sides) for call in operand.calls}
        spelling = not (calls | {old.op.removeprefix("not ")}) & _PATTERNS and "regexp" not in f"{old.op} {calls}"
        sides = zip(old.sides, new.sides, strict=True)
        if not all(self._same_side(ours, theirs, exact=inner, spelling=spelling) for ours, theirs in sides):
            return False
        if old.sides != new.sides and _turned(old, new):
            return False
        unmatched = list(new.parts)
        for part in sorted(old.parts, key=lambda alternative: alternative not in unmatched):
            match = next(
                (candidate for candidate in unmatched if part == candidate or self._same_part(part, candidate)), None
            )
            if match is None:
                return False
            unmatched.remove(match)
        return True

    def _same_part(self, old: Sequence[Term], new: Sequence[Term]) -> bool:
        """Whether two alternatives of an OR are the same conditions."""
        pairs = list(zip(old, new, strict=False))
        return len(old) == len(new) and all(self._keeps(left, right, exact=True) for left, right in pairs)

    def _same_side(self, old: Side, new: Side, *, exact: bool, spelling: bool) -> bool:
        if old == new:
            return True
        if old.calls != new.calls or len(old.queries) != len(new.queries):
            return False
        if old.unknown and not old.columns and not old.literals:  # a misspelt column, or a text without quotes
            named = bool(new.columns) and not new.literals
            return named or (not new.columns and list(map(letters, new.literals)) == list(map(letters, old.unknown)))
        if len(old.literals) != len(new.literals) or len(old.columns) + len(old.unknown) > len(new.columns):
            return False
        if bool(new.columns) != bool(old.columns or old.unknown):
            return False
        pairs = zip(old.literals, new.literals, strict=True)
        if not all(self._same_text(left, right, spelling=spelling) for left, right in pairs):
            return False
        queries = zip(old.queries, new.queries, strict=True)
        return not any(loss for left, right in queries for loss in self.lost(left, right, exact=exact))

    def _same_text(self, old: str, new: str, *, spelling: bool) -> bool:
        if old.casefold() == new.casefold():
            return True
        if not spelling or is_number(old) or is_number(new) or digits(old) != digits(new):
            return False
        return letters(old) == letters(new) != "" or (old.casefold() in self._lacking and respelt(old, new))

    def _joins(self, before: exp.Select, after: exp.Select, *, exact: bool) -> Iterator[str]:
        old, new = joined_sources(before), joined_sources(after)
        if len(new) < len(old):
            yield "a join"
        elif sum(kind == "" for _, kind in new) < sum(kind == "" for _, kind in old):
            yield "an inner join"
        kinds, others = (Counter(kind for _, kind in sources if kind) for sources in (old, new))
        gained = len(new) - len(old)
        brought = gained > 0 and gained == brought_in(before, after, self._schema)
        if (brought and kinds["LEFT"]) or (gained > 0 and not _joined_as(old) - _joined_as(new)):
            kinds["LEFT"] = max(kinds["LEFT"], others["LEFT"])  # only another one keeps all rows
        if others - kinds or any(kind in ("SEMI", "ANTI") for kind in kinds - others):
            yield "the kind of a join"
        if exact and ((gained and not brought) or kinds != others):
            yield "the meaning without a join"
        closed = [Counter(node.sql() for node, _ in sources if opaque(node)) for sources in (old, new)]
        if closed[0] != closed[1]:
            yield "what stands in FROM"
        yield from self._queries("the subquery in FROM", derived(old), derived(new))

    def _counted_rows(self, before: exp.Select, after: exp.Select) -> list[exp.Expr]:
        """The outputs of ``after``; its count of the keys of what was ``before``'s only table is a count of rows."""
        old, new = joined_sources(before), joined_sources(after)
        only = old[0][0] if len(old) == 1 < len(new) else None
        table = find_table(self._schema, only) if isinstance(only, exp.Table) else None
        if table is None or len(table.row_key) != 1:
            return after.expressions
        outputs = [output.copy() for output in after.expressions]
        for count in (call for output in outputs for call in output.find_all(exp.Count)):
            distinct = count.this.expressions if isinstance(count.this, exp.Distinct) else []
            if [key.name.lower() for key in distinct] == [table.row_key[0].lower()]:
                count.set("this", exp.Star())
        return outputs

    def _outputs(self, before: exp.Select, after: exp.Select, *, exact: bool) -> Iterator[str]:
        old_distinct, new_distinct = (distinct_on(select) for select in (before, after))
        if (old_distinct and old_distinct != new_distinct) or (exact and old_distinct != new_distinct):
            yield "DISTINCT"
        outputs = [before.expressions, self._counted_rows(before, after)]
        computed = [aggregates(expressions, self._names, self._dialect) for expressions in outputs]
        for name in sorted(computed[0] - computed[1]):
            yield f"{name} of the output"
        yield from self._grouping(before, after, exact=exact, aggregated=bool(computed[0]))
        if before.parent is not None and computed[1] and not computed[0] and not group_keys(after)[0]:
            yield "the rows"  # an aggregate without groups makes one of them, and EXISTS is true then
        if exact:
            pairs = zip(before.expressions, after.expressions, strict=False)
            sides = [[self._side(output.unalias()) for output in pair] for pair in pairs]
            if len(before.expressions) > len(after.expressions) or not all(
                self._same_side(left, right, exact=True, spelling=False) for left, right in sides
            ):
                yield "an output"
        yield from self._queries("the subquery of the output", subqueries(before), subqueries(after))

    def _grouping(self, before: exp.Select, after: exp.Select, *, exact: bool, aggregated: bool) -> Iterator[str]:
        """The keys of GROUP BY; ``aggregated`` says that the outputs of ``before`` had aggregates."""
        (old, old_kinds), (new, new_kinds) = group_keys(before), group_keys(after)
        outputs = {output.unalias().sql().lower() for output in after.expressions} | {
            str(number) for number in range(1, len(after.expressions) + 1)
        }
        constant = any(not key.is_int and _constant(self._side(key)) for key in new)
        calls = [Counter(call for key in keys for call in self._side(key).calls) for keys in (old, new)]
        gained = [key for key in new[len(old) :] if key.sql().lower() not in outputs]
        if (
            len({key.sql().lower() for key in new}) < len(old)
            or constant
            or old_kinds != new_kinds
            or calls[0] - calls[1]
            or (exact and len(new) != len(old))
        ):
            yield "GROUP BY"
        elif new and not old and aggregated and gained:
            yield "the rows"

    def _side(self, node: exp.Expr) -> Side:
        return side(node, self._names, self._dialect)

    def _rows(self, before: exp.Expr, after: exp.Expr, *, exact: bool) -> Iterator[str]:
        """ORDER BY, LIMIT and OFFSET."""
        old, new = self._ordering(before), self._ordering(after)
        for rank, (ordered, descending) in enumerate(old):
            kept = rank < len(new) and new[rank][1] == descending
            if not kept or not self._same_side(ordered, new[rank][0], exact=True, spelling=True):
                yield "ORDER BY"
                break
        for clause in ("limit", "offset"):
            number, new_number = row_count(before, clause), row_count(after, clause)
            if number != new_number and (number or (exact and new_number) or (clause == "offset" and new_number)):
                yield f"{clause.upper()} {number}".rstrip()

    def _ordering(self, query: exp.Expr) -> list[tuple[Side, bool]]:
        order = query.args.get("order")
        keys = []
        for item in order.expressions if order is not None else ():
            key = resolved(ordinal(item.this, query), query, ())
            keys.append((self._side(key), bool(item.args.get("desc"))))
        return keys

    def _queries(self, what: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[str]:
        if len(new) < len(old):
            yield what
            return
        for before, after in zip(old, new, strict=False):
            yield from self.lost(before, after, exact=True)

    def _shown(self, what: str, node: exp.Expr | str) -> str:
        written = node if isinstance(node, str) else node.sql(dialect=self._dialect)
        return f"{what} {remark(written, _SHOWN_CHARACTERS)}"


def _joined_as(sources: Iterable[tuple[exp.Expr, str]]) -> Counter[tuple[str, str]]:
    """What stands in FROM by its name, with the kind of its join."""
    return Counter((node.name.lower(), kind) for node, kind in sources)


def _others(pool: Sequence[Term]) -> list[Term]:
    """Conditions that are no joins, each once."""
    return list({term.text: term for term in pool if not term.pair}.values())


def _taken(term: Term, pool: list[Term]) -> bool:
    """Whether the pool has the very condition, which is taken out of it then."""
    same = next((other for other in pool if other.text == term.text and other.op == term.op), None)
    if same is not None:
        pool.remove(same)
    return same is not None


def _turned(old: Term, new: Term) -> bool:
    """Whether a comparison of columns became one of a column with itself, or was turned round."""
    if len(new.sides) != 2 or not new.sides[1].columns:
        return False
    return bool(new.sides[0].columns & new.sides[1].columns) or old.sides == new.sides[::-1]


def _constant(key: Side) -> bool:
    return not (key.columns or key.unknown or key.queries)


def _lost_words(before: str, after: str) -> Iterator[str]:
    """For a query that no dialect can read: its keywords, comparisons, numbers and texts that are there no longer."""
    old, new = (
        Counter(_SIGNS.get(word, word) for word in _TOKEN.findall(text.lower().replace('"', "'")))
        for text in (before, after)
    )
    for word, count in old.items():
        counted = word in _NEVER_FEWER or word[:1] in "'0123456789<>=!"
        if counted and new[word] < count:
            yield word.upper() if word.isalpha() else word
    for word in sorted(_NEVER_MORE):
        if new[word] > old[word] or (word in ("union",) and new[word] != old[word]):
            yield f"the meaning without {word.upper()}"
