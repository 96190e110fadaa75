"""Wrong values and data types: constants that the data or the question lacks, numbers and dates kept as text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown, told, within
from sqljury.language.words import NUMBER_WORDS, ORDINALS
from sqljury.patterns import regex
from sqljury.sql.meaning.base import YEARS
from sqljury.sql.meaning.units import is_small_unit
from sqljury.sql.parse import exp
from sqljury.sql.text import quote_name
from sqljury.types import Table

_NUMBER: Final = regex(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_SCALES: Final = frozenset({"hundred", "thousand", "million", "billion", "percent", "dozen", "half", "quarter"})
_NUMERALS: Final[dict[str, int]] = {
    **{word: number for number, word in enumerate(NUMBER_WORDS)},
    **ORDINALS,
    "no": 0,
    **dict.fromkeys(("a", "once"), 1),
    **dict.fromkeys(("twice", "both", "couple"), 2),
}
_QUOTED: Final = regex(r"""(?<!\w)["'“‘]([^"'“”‘’]{2,60})["'”’](?!\w)""")
_CONVERSIONS: Final = frozenset({7, 10, 12, 24, 30, 60, 100, 365, 365.25, 1000, 1024, 1440, 3600, 86400, 1_000_000})
_YEARS: Final = range(*YEARS)
_DAY: Final = regex(r"(?P<year>(?:19|20)\d\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?")
"""A day or a month that is kept as a number: 20240131, 202401."""
_CLOSE: Final = 0.85
_NUMBER_TEXT: Final = regex(r"\s*[-+]?(\d+\.?\d*|\.\d+)\s*")
_UNSORTED: Final = regex(
    r"\s*(\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|"
    r"(\d{1,2}\s+)?[A-Za-z]{3,9}\.?\s+(\d{1,2},?\s+)?\d{4}|\d{1,2}[ -][A-Za-z]{3}[ -]\d{2,4})\b.*"
)
"""Dates that begin with the day or the month: 18.2.1992, 2/18/92, 18 February 1992, May 5, 2008, 28-AUG-2011."""
_MOST: Final = 0.7
_COMPARISONS: Final = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_AGGREGATES: Final = (exp.Max, exp.Min, exp.Sum, exp.Avg)


def stored(subject: Subject) -> Iterator[Finding]:
    """A text is compared with a column that does not have it, or that also has it in another spelling."""
    for column, literal in compared(subject):
        owner = subject.owner(column)
        values = None if owner is None else subject.data.values(owner[1], column.name)
        if owner is None or not values:
            continue
        texts = [value for value in values if isinstance(value, str)]
        alike = [value for value in texts if value != literal.name and folded(value) == folded(literal.name)]
        where = shown(literal.parent or literal)
        if literal.name in values:
            twins = [value for value in alike if value.casefold().split() == literal.name.casefold().split()]
            if twins:
                also = ", ".join(shown(repr(value)) for value in twins[:3])
                yield Finding("wrong value", "second-spelling", 0.7, where, f"{column.name} also has {also}")
        elif alike and not finds(subject, owner[1], column.name, literal):
            like = shown(repr(alike[0]))
            evidence = f"{column.name} has no {literal.name!r}, but {like}: they differ by case, spaces or punctuation"
            yield Finding("wrong value", "spelling", 0.9, where, evidence)
        elif texts and not finds(subject, owner[1], column.name, literal):
            yield _missing(subject, column, literal, owner[1], texts)


def numbers(subject: Subject) -> Iterator[Finding]:
    """The query has a number that the question lacks, and lacks a number of the question."""
    if subject.tree is None or _SCALES & set(subject.words):
        return
    asked = {float(text.replace(",", "")) for text in _NUMBER.findall(subject.question)}
    spelled = {float(_NUMERALS[word]) for word in subject.words if word in _NUMERALS}
    literals = list(subject.tree.find_all(exp.Literal))
    written = {float(literal.this): literal for literal in literals if not literal.is_string}
    texts = " ".join(literal.name for literal in literals if literal.is_string)
    in_texts = {float(text.replace(",", "")) for text in re.findall(r"\d+(?:\.\d+)?", texts)}
    scales = _scales(subject.tree)
    readings = {reading for value in written for reading in _readings(value, scales)} | in_texts
    decimals = "decimal" in subject.words or "decimals" in subject.words
    unasked = [
        literal
        for value, literal in written.items()
        if value > 1 and not _converts(literal, decimals) and not _readings(value, scales) & (asked | spelled)
    ]
    years = {value for value in readings if value in _YEARS}
    span = (min(years), max(years)) if years and {min(years), max(years)} <= asked else (0.0, 0.0)
    unused = sorted(
        value
        for value in asked
        if value not in readings and f"{value:g}" not in texts and not span[0] < value < span[1]
    )
    if unasked and unused:
        evidence = f"the question has {unused[0]:g}, which the query lacks; the query has {unasked[0].this}"
        yield Finding("wrong value", "number", 0.8, shown(unasked[0].parent or unasked[0]), evidence)


def _scales(tree: exp.Expr) -> frozenset[int]:
    """By how much a number may differ from that of the question: by 100 where the query is about cents."""
    names = {column.name for column in tree.find_all(exp.Column)}
    factors = {float(literal.this) for literal in tree.find_all(exp.Literal) if _is_factor(literal)}
    return frozenset({1, 100, 1000} if factors & {100, 1000} or any(map(is_small_unit, names)) else {1})


def _readings(value: float, scales: frozenset[int]) -> set[float]:
    """What a question may say for a number of a query: it, its neighbours, it in another unit, the year of a date."""
    day = _DAY.fullmatch(f"{value:.0f}")
    return {value - 1, value + 1, *(value / scale for scale in scales)} | ({float(day["year"])} if day else set())


def _is_factor(literal: exp.Literal) -> bool:
    """Whether a number is multiplied with something or divides it."""
    return not literal.is_string and isinstance(literal.parent, exp.Mul | exp.Div)


def _converts(literal: exp.Literal, decimals: bool) -> bool:
    """Whether a number converts a unit, as in ``cents / 100.0``, or is the digits to round to, if none are asked."""
    if isinstance(literal.parent, exp.Round):
        return not decimals
    return _is_factor(literal) and float(literal.this) in _CONVERSIONS


def quoted(subject: Subject) -> Iterator[Finding]:
    """The query lacks a quoted text of the question, and has a text that the question lacks."""
    if subject.tree is None:
        return
    asked = [text.strip(" .,?!") for text in _QUOTED.findall(subject.question)]
    texts = [
        literal for literal in subject.tree.find_all(exp.Literal) if literal.is_string and literal.name.strip("% ")
    ]
    whole = folded(subject.question)
    alien = [literal for literal in texts if folded(literal.name.strip("%")) not in whole]
    query = folded(subject.sql)
    unused = [text for text in asked if folded(text) not in query]
    if alien and unused:
        evidence = f"the question has {unused[0]!r}, which the query lacks; the query has {alien[0].name!r}"
        yield Finding("wrong value", "quoted-text", 0.6, shown(alien[0].parent or alien[0]), evidence)


def other_table(subject: Subject) -> Iterator[Finding]:
    """A number that its column never has, while a column of the same name in another table of the query has it."""
    for select in subject.selects:
        for node in within(select, exp.EQ):
            owner = subject.owner(node.this) if isinstance(node.this, exp.Column) else None
            if owner is None or not isinstance(node.expression, exp.Literal) or node.expression.is_string:
                continue
            name, number = node.this.name, float(node.expression.this)
            if (
                not (values := subject.data.values(owner[1], name))
                or number in values
                or str(node.expression.this) in values
            ):
                continue
            for other in subject.sources(select).values():
                if other.name != owner[1].name and number in (subject.data.values(other, name) or ()):
                    evidence = f"{owner[1].name}.{name} never is {number:g}, {other.name}.{name} is"
                    yield Finding("wrong column", "other-table", 0.75, shown(node), evidence)


def compared(subject: Subject) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Columns, each with a text that the query compares it with."""
    for select in subject.selects:
        for node in within(select, exp.EQ, exp.NEQ, exp.In):
            sides = [node.this, *([node.expression] if isinstance(node, exp.Binary) else node.expressions)]
            columns = [side for side in sides if isinstance(side, exp.Column)]
            if len(columns) == 1:
                yield from ((columns[0], side) for side in sides if isinstance(side, exp.Literal) and side.is_string)


def finds(subject: Subject, table: Table, column: str, literal: exp.Literal) -> bool:
    """Whether the engine itself finds the text in the column: a collation or an affinity may make values equal."""
    query = exp.select("1").from_(exp.to_table(quote_name(table.name), dialect="sqlite"))
    return bool(subject.data.rows(query.where(exp.EQ(this=exp.column(column, quoted=True), expression=literal.copy()))))


def _missing(subject: Subject, column: exp.Column, literal: exp.Literal, table: Table, texts: list[str]) -> Finding:
    where = shown(literal.parent or literal)
    for select in subject.selects:
        for other in subject.sources(select).values():
            for candidate in other.columns:
                same = other.name == table.name and candidate.name.lower() == column.name.lower()
                if not same and literal.name in (subject.data.values(other, candidate.name) or ()):
                    evidence = (
                        f"{table.name}.{column.name} has no {literal.name!r}, but {other.name}.{candidate.name} has"
                    )
                    return Finding("wrong value", "other-column", 0.8, where, evidence)
    near = difflib.get_close_matches(literal.name.lower(), [text.lower() for text in texts[:2000]], 1, _CLOSE)
    if near:
        evidence = f"{table.name}.{column.name} has no {literal.name!r}; the nearest is {near[0]!r}"
        return Finding("wrong value", "near-value", 0.6, where, evidence)
    asked = folded(literal.name) in folded(subject.question)
    evidence = f"{table.name}.{column.name} has no {literal.name!r}" + ("" if asked else ", nor has the question")
    return Finding("wrong value", "absent", 0.35 if asked else 0.55, where, evidence)


def folded(text: str) -> str:
    """The text without case, spaces and punctuation; a text with nothing else is unchanged."""
    return "".join(c for c in text.casefold() if c.isalnum()) or text


def numbers_as_text(subject: Subject) -> Iterator[Finding]:
    """Numbers stored as text are sorted or summed up as text, and as numbers they give another result."""
    for column, node in ordered_columns(subject):
        texts = texts_of(subject, column)
        numeric = mostly_numbers(texts)
        if not numeric:
            continue
        assert subject.tree is not None
        changed = subject.differs(as_numbers(subject.tree, column), ordered=isinstance(node, exp.Ordered))
        if changed is None:
            continue
        written, meant = told(*changed)
        non_number = next((text for text in texts if not _NUMBER_TEXT.fullmatch(text)), None)
        why = f"and {non_number!r}" if non_number is not None else "whose order as text is another"
        evidence = (
            f"{column.name} holds numbers as text, such as {numeric[0]!r}, {why}; "
            f"as written {written}; compared as numbers {meant}"
        )
        yield Finding("data type", "number-as-text", 0.9, shown(node), evidence)
        return


def mostly_numbers(texts: list[str]) -> list[str]:
    """The texts that are numbers; none if too few are."""
    numeric = [text for text in texts if _NUMBER_TEXT.fullmatch(text)]
    return numeric if len(numeric) >= _MOST * len(texts) else []


def sum_of_text(subject: Subject) -> Iterator[Finding]:
    """SUM or AVG of a column with texts that are not numbers: of each text only its first digits count."""
    for column, node in ordered_columns(subject):
        texts = texts_of(subject, column)
        others = [text for text in texts if not _NUMBER_TEXT.fullmatch(text)]
        if isinstance(node, exp.Sum | exp.Avg) and len(others) > (1 - _MOST) * len(texts):
            evidence = f"{column.name} holds {others[0]!r}, which is no number"
            yield Finding("data type", "sum-of-text", 0.8, shown(node), evidence)
            return


def dates_as_text(subject: Subject) -> Iterator[Finding]:
    """The query sorts dates whose text does not sort by time."""
    for column, node in ordered_columns(subject):
        texts = texts_of(subject, column)
        dates = [text for text in texts if _UNSORTED.fullmatch(text)]
        if len(texts) > 1 and len(dates) > _MOST * len(texts):
            evidence = f"{column.name} holds dates such as {dates[0]!r} as text, which does not sort by time"
            yield Finding("data type", "date-as-text", 0.8, shown(node), evidence)
            return


def ordered_columns(subject: Subject) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """Columns that are sorted, compared by size or summed up, each with the part of the query that does it."""
    for select in subject.selects:
        for node in within(select, exp.Ordered, *_COMPARISONS, *_AGGREGATES):
            for part in (node.this, node.args.get("expression")):
                if isinstance(part, exp.Column):
                    yield part, node


def texts_of(subject: Subject, column: exp.Column) -> list[str]:
    """The texts of the column; none if another part of the query reads it as numbers."""
    owner = subject.owner(column)
    values = None if owner is None else subject.data.values(owner[1], column.name)
    return [value for value in values or () if isinstance(value, str) and value.strip()]


def as_numbers(tree: exp.Expr, column: exp.Column) -> exp.Expr:
    """The query with this column as a number wherever it is sorted; a text that is not a number counts as NULL."""
    whole = tree.copy()
    for node in list(whole.find_all(exp.Ordered, exp.EQ, *_COMPARISONS, *_AGGREGATES)):
        if isinstance(node, exp.EQ) and not isinstance(node.expression, exp.Subquery):
            continue
        for key in ("this", "expression"):
            part = node.args.get(key)
            if isinstance(part, exp.Column) and part.name.lower() == column.name.lower():
                number = exp.cast(part.copy(), "REAL")
                test = exp.Glob(this=part.copy(), expression=exp.Literal.string("*[0-9]*"))
                node.set(key, exp.Case(ifs=[exp.If(this=test, true=number)]))
                if isinstance(node, exp.Ordered):
                    node.set("nulls_first", False)
    return whole
