"""Texts that a condition compares with another column, another value, or another case than the question means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.words import positions, words
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, is_padded

MOST_VALUES: Final = 25
"""A column with more different values holds texts or names, in which a text may be missing for once."""
COLUMNS: Final = 8
"""A text is looked for in so many other columns at most."""
_TOKEN: Final = re.compile(r"[a-z0-9]+")
_NOT: Final = frozenset(
    (
        *("no", "not", "never", "nor", "neither", "non", "without", "minus", "but", "other", "instead", "rather"),
        *("except", "excepting", "excluding", "exclude", "excludes", "excluded", "apart", "aside", "besides"),
        *("leaving", "leave", "left", "omit", "omitting", "ignore", "ignoring", "ignored", "skip"),
        *("yet", "still", "before", "until", "less", "former", "formerly", "stop", "stopped", "fail", "failed"),
        *("due", "should", "supposed", "expected", "almost", "nearly"),
    )
)
_NEAR: Final = 8
"""Words on either side of a value among which a negation may concern it."""
_LONG: Final = 6
"""Letters of a value of one word, below which it may be a word of the question by chance."""
_ILIKE: Final = frozenset({"postgres", "duckdb"})
_SHORT: Final = 2
"""Letters of a code that may be another one in another case: 'm' and 'M', 'mW' and 'MW'."""
_WILD: Final = re.compile(r"[%_\\]")


def misplaced(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare the column that has a text: ``status = 'scheduled'`` for ``hearing_type = 'scheduled'``.

    Both columns hold a few different texts, the one that is compared lacks this text, and of the others of its table
    one alone has it. Conditions of a join stay: an outer one would lose its rows. So does one where the question names
    the column that is compared ("billing country"), and where the query compares the other one already.
    """
    changed = False
    compares = {(known.table.name, known.column.name) for known in _compared_columns(tree, asked)}
    for node, column, other in compared(tree, exp.EQ):
        known = held(column, asked.schema)
        if known is None or not isinstance(other, exp.Literal) or not other.is_string or node.find_ancestor(exp.Join):
            continue
        if not holds_kinds(known, asked) or asked.data.spellings(known.table, known.column.name, other.name) != ():
            continue
        others = [field for field in known.table.columns if field is not known.column]
        kinds = [field for field in others if holds_kinds(Held(known.table, field), asked)][:COLUMNS]
        spelt = [(field.name, asked.data.spellings(known.table, field.name, other.name)) for field in kinds]
        matches = [(name, texts) for name, texts in spelt if texts]
        if len(matches) == 1 and all(texts is not None for _, texts in spelt):
            name, texts = matches[0]
            if (known.table.name, name) in compares or _is_named(known, name, asked):
                continue
            column.set("this", identifier(name, asked.dialect))
            if texts and other.name not in texts:
                other.replace(exp.Literal.string(texts[0]))
            changed = True
    return Change("another column of the table has the text") if changed else None


def _compared_columns(tree: exp.Query, asked: Asked) -> list[Held]:
    columns = (column for column in tree.find_all(exp.Column) if column.find_ancestor(exp.Predicate))
    return [known for column in columns if (known := held(column, asked.schema)) is not None]


def _is_named(known: Held, other: str, asked: Asked) -> bool:
    """Whether the question has a word of a column's name that neither the other column nor the table has."""
    return mentions(asked.question.text, {*words(known.column.name)} - {*words(other), *words(known.table.name)})


def holds_kinds(known: Held, asked: Asked) -> bool:
    """Whether a column holds texts, of which there are few."""
    if not known.is_text:
        return False
    values = set(asked.data.values(known.table, known.column.name))
    return 0 < len(values) <= MOST_VALUES and all(isinstance(value, str) for value in values)


def mentioned(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the value that the question says: ``status = 'checked_out'`` for ``status = 'checked_in'``.

    The column holds a few different texts, the query compares it with one of them alone, of whose words the question
    has none, and the question says exactly one of the others, without a negation beside it. The two have a word in
    common, or the other one contains the text of the query: 'returned' may well be what "shipped back" means.
    """
    question = _TOKEN.findall(asked.question.whole.lower())
    changed = False
    for node, column, other in compared(tree, exp.EQ):
        known = held(column, asked.schema)
        if known is None or not isinstance(other, exp.Literal) or not other.is_string:
            continue
        if not holds_kinds(known, asked) or _is_used_again(tree, column, node) or node.find_ancestor(exp.Not, exp.Case):
            continue
        value = _said_instead(other.name, known, asked, question)
        if value is not None:
            other.replace(exp.Literal.string(value))
            changed = True
    return Change("the question says another value of the column") if changed else None


def _said_instead(text: str, known: Held, asked: Asked, question: list[str]) -> str | None:
    """The one other value of the column that the question says; None where it says words of ``text`` itself."""
    values = asked.data.values(known.table, known.column.name)
    if text not in values or _place(text, question) is not None:
        return None
    others = [value for value in values if value != text and _is_said(value, question)]
    if len(others) != 1 or not _are_twins(text, others[0]):
        return None
    differing = {*_TOKEN.findall(text.lower())} - {*_TOKEN.findall(others[0].lower())}
    return None if stems(differing) & stems(question) else others[0]


def _are_twins(text: str, value: str) -> bool:
    """Whether two values are forms of one word, which are mistaken for each other: in and out, active and inactive."""
    lowered, other = text.lower(), value.lower()
    return lowered in other or not {*_TOKEN.findall(lowered)}.isdisjoint(_TOKEN.findall(other))


def stems(tokens: Iterable[str]) -> set[str]:
    """The first four letters of each word that has as many."""
    return {token[:4] for token in tokens if len(token) > 3}


def _is_said(value: str, question: Sequence[str]) -> bool:
    """Whether the question says all words of a value in a row, without a negation near them."""
    tokens = _TOKEN.findall(value.lower())
    start = _place(value, question)
    if start is None or len("".join(tokens)) < _LONG or not any(map(str.isalpha, tokens)):
        return False
    return not is_negated(question[:start], question[start + len(tokens) :])


def is_negated(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a negation stands near a value, among the words before or after it."""
    return not _NOT.isdisjoint([*before[-_NEAR:], *after[:_NEAR]])


def _place(value: str, question: Sequence[str]) -> int | None:
    """Where the question says the words of a value in a row."""
    tokens = _TOKEN.findall(value.lower())
    return next(positions(tokens, question), None) if tokens else None


def _is_used_again(tree: exp.Query, column: exp.Column, node: exp.Expr) -> bool:
    """Whether the query compares or shows a column of that name elsewhere."""
    return any(
        other is not column and other.name.lower() == column.name.lower() and other.parent is not node
        for other in tree.find_all(exp.Column)
    )


def ignored_case(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare without regard to case where the column has the text in another case, alone or beside its own.

    Instructions on case are handled by ``stages.instructions``.
    """
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if _applies(column, other, asked):
            changed = True
            node.replace(_comparison(node, column, other.name, asked))
    for node in list(tree.find_all(exp.In)):
        texts = node.expressions
        if texts and all(_applies(node.this, text, asked) for text in texts):
            changed = True
            node.set("this", exp.Lower(this=node.this.copy()))
            node.set("expressions", [exp.Literal.string(text.name.lower()) for text in texts])
    return Change("the column has the text in another case") if changed else None


def _applies(column: exp.Expr, other: exp.Expr, asked: Asked) -> bool:
    known = held(column, asked.schema)
    if known is None or not known.is_text or not isinstance(other, exp.Literal) or not other.is_string:
        return False
    if not any(letter.isalpha() for letter in other.name):
        return False
    spellings = asked.data.spellings(known.table, known.column.name, other.name)
    if spellings and other.name in spellings and len(other.name) <= _SHORT:
        return False
    return bool(spellings) and spellings != (other.name,)


def _comparison(node: exp.Expr, column: exp.Column, text: str, asked: Asked) -> exp.Expr:
    known = held(column, asked.schema)
    padded = known is not None and is_padded(known.column.type, asked.dialect)
    if asked.dialect in _ILIKE and not padded and not _WILD.search(text):  # ILIKE counts the blanks, LOWER drops them
        like = exp.ILike(this=column.copy(), expression=exp.Literal.string(text))
        return exp.Not(this=like) if isinstance(node, exp.NEQ) else like
    lowered = exp.Literal.string(text.lower())
    return type(node)(this=exp.Lower(this=column.copy()), expression=lowered)
