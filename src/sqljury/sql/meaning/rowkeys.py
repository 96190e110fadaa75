"""Keys of one row of a table that are compared where the question names another row of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from sqljury.language.words import STOP_WORDS, words
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held, is_explained, keys_of
from sqljury.sql.meaning.codes import explaining, only_text
from sqljury.sql.meaning.letters import is_other_form
from sqljury.sql.meaning.named import title_of
from sqljury.sql.meaning.texts import is_negated, stems
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.types import Table

MOST_ROWS: Final = 200
"""Of a table with as many rows the names are not read."""
_LETTERS: Final = 4
"""Letters of a name, below which it may be a word of the question by chance."""
_TOKEN: Final = re.compile(r"\w+")
_PLACE: Final = re.compile(r"\b(?:from|in|at|near) (?:the )?$", re.IGNORECASE)
_CAPITAL: Final = re.compile(r"[A-Z]")
_SENTENCE: Final = re.compile(r"(?:^|[.?!:]\s)\W*\w")
"""Up to the first letter of a sentence, which has a capital anyway."""


def key_of_named_row(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the key of the row that the question names: ``region_code = 'SC'`` for ``= 'MV'``, of Middle Vale.

    A key leads from the column to a table of few rows that have names, or a table of codes explains it. The question
    has no word of the row that the query compares with, nor its key, and says the name of exactly one other row, as a
    name: in capitals, beside a word for the table, in lower case after "from" or "in", or where the names and
    the constants of the query explain all other words. Of a key that the table lacks, another form of a
    name is enough: "refuelled" for Refuelling. The query compares the column once, by = or IN with one value, and has
    neither that name nor that key elsewhere.
    """
    for column, constant in _constants(tree):
        known = held(column, asked.schema)
        named_row = (
            _named(known, column, constant, tree, asked) if known is not None and _is_alone(column, tree) else None
        )
        if named_row is not None:
            name, key = named_row
            constant.replace(exp.Literal(this=key, is_string=constant.is_string))
            return Change(f"the question says {name}, and the query had the key of another row")
    return None


def _constants(tree: exp.Query) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """The columns that must be equal to one constant."""
    pairs = [(node, column, constant) for node, column, constant in compared(tree, exp.EQ)]
    pairs += [(node, node.this, node.expressions[0]) for node in tree.find_all(exp.In) if len(node.expressions) == 1]
    for node, column, constant in pairs:
        must_hold = node.find_ancestor(exp.Not, exp.Or, exp.Case) is None
        if must_hold and isinstance(column, exp.Column) and isinstance(constant, exp.Literal):
            yield column, constant


def _is_alone(column: exp.Column, tree: exp.Query) -> bool:
    """Whether no other condition compares a column of that name with anything but a column."""
    others = [other for other in tree.find_all(exp.Column) if other is not column and other.name == column.name]
    return not any(isinstance(other.parent, exp.Predicate) and not _equates_columns(other.parent) for other in others)


def _equates_columns(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Column) and isinstance(node.args.get("expression"), exp.Column)


def _named(
    known: Held, column: exp.Column, constant: exp.Literal, tree: exp.Query, asked: Asked
) -> tuple[str, str] | None:
    """The name that the question says, and the key of its row; None unless the constant is the key of another one."""
    if re.search(rf"(?<!\w){re.escape(constant.name)}(?!\w)", asked.question.whole):
        return None
    if codes := asked.data.codes(known.table, known.column.name):
        texts = {str(code): text for code, text in codes.items()}
        row_words, question = _tokens(texts.get(constant.name, "")), _tokens(asked.question.whole)
        is_said = constant.name in question or not _are_apart(row_words, question)
        return None if is_said else _other_row(texts, None, column, constant, tree, asked)
    for table, key in _led_to(known, asked):
        name = title_of(table)
        title = name or only_text(table, key)
        if title is None or title.lower() == key.lower() or _has_condition(table, title, tree, asked):
            continue
        names = _names(table, key, title, asked)
        if not names or (constant.name in names and _speaks_of(constant.name, table, key, asked)):
            continue
        named_row = _other_row(names, table if name else None, column, constant, tree, asked)
        if named_row is not None:
            return named_row
    return None


def _other_row(
    names: Mapping[str, str],
    table: Table | None,
    column: exp.Column,
    constant: exp.Literal,
    tree: exp.Query,
    asked: Asked,
) -> tuple[str, str] | None:
    """The name that the question says and its key, where the query has neither; a ``table`` of named rows, or codes."""
    key = _said(names, table, column, tree, asked, is_wrong=constant.name not in names)
    if key is None and constant.name not in names:
        key = _said_in_another_form(names, asked)
    if key is None or key == constant.name or _is_elsewhere(key, names[key], tree):
        return None
    return names[key], key


def _are_apart(row_words: Collection[str], question: Collection[str]) -> bool:
    """Whether the question has no word like one of a row that says anything."""
    telling = {*row_words} - STOP_WORDS
    return telling.isdisjoint(question) and stems(telling).isdisjoint(stems(question))


def _led_to(known: Held, asked: Asked) -> Iterator[tuple[Table, str]]:
    """The tables whose rows a column names, with their key: those that keys lead to, and its own if it is the key."""
    yield from explaining(known, asked.schema)
    if known.table.row_key == (known.column.name,):
        yield known.table, known.column.name


def _names(table: Table, key: str, title: str, asked: Asked) -> dict[str, str]:
    """The names of the rows by their keys as texts; none of a table with many rows, or if one may not be read."""
    column = next((field for field in table.columns if field.name.lower() == title.lower()), None)
    if column is None or not Held(table, column).is_text:
        return {}
    if not asked.data.values(table, key) or not asked.data.values(table, title):
        return {}
    shown = (exp.column(identifier(name, asked.dialect)) for name in (key, title))
    select = exp.select(*shown).from_(table_node(table, asked.dialect)).limit(MOST_ROWS)
    rows = asked.data.rows(select.sql(dialect=asked.dialect)) or ()
    if len(rows) >= MOST_ROWS:
        return {}
    return {str(value): name for value, name in rows if isinstance(value, str | int) and isinstance(name, str)}


def _speaks_of(key: str, table: Table, column: str, asked: Asked) -> bool:
    """Whether the question says the key, or a word like one of any text of its row: a city for an airport."""
    question = asked.question.whole.casefold()
    if re.search(rf"(?<!\w){re.escape(key.casefold())}(?!\w)", question):
        return True
    texts = [
        field.name for field in table.columns if Held(table, field).is_text and asked.data.values(table, field.name)
    ]
    if not texts:
        return True
    names = [exp.column(identifier(name, asked.dialect)) for name in texts]
    of_numbers = all(isinstance(value, int) for value in asked.data.values(table, column))
    constant = exp.Literal.number(key) if of_numbers else exp.Literal.string(key)
    condition = exp.EQ(this=exp.column(identifier(column, asked.dialect)), expression=constant)
    select = exp.select(*names).from_(table_node(table, asked.dialect)).where(condition).limit(1)
    rows = asked.data.rows(select.sql(dialect=asked.dialect))
    if not rows:
        return True
    return not _are_apart(_tokens(" ".join(str(text) for text in rows[0] if text is not None)), _tokens(question))


def _said(
    names: Mapping[str, str], table: Table | None, column: exp.Column, tree: exp.Query, asked: Asked, *, is_wrong: bool
) -> str | None:
    """The key of the one row whose name the question says; None where it says several or none, or negates it.

    "New York" does not say York. Where the key of the query ``is_wrong``, words that nothing explains may be there.
    """
    question = asked.question.text
    mentioned = {key: mention for key, name in names.items() if (mention := _place(name, question)) is not None}
    mentioned = {key: mention for key, mention in mentioned.items() if not _is_of_column(mention, tree)}
    whole = [
        key for key, mention in mentioned.items() if not any(_is_within(mention, other) for other in mentioned.values())
    ]
    if len(whole) != 1:
        return None
    mention = mentioned[whole[0]]
    before, after = question[: mention.start()], question[mention.end() :]
    if is_negated(_tokens(before), _tokens(after)):
        return None
    is_name = table is not None and _is_name(mention, table)
    as_value = _is_value(mention[0], column, tree, asked)
    as_value = as_value and (is_wrong or is_explained(f"{before} {after}", tree, asked))
    return whole[0] if is_name or as_value else None


def _is_of_column(mention: re.Match[str], tree: exp.Query) -> bool:
    """Whether words of the question are a part of the name of a column that the query has: "planned date"."""
    phrase = words(mention[0])
    previous, following = map(words, _neighbours(mention))
    around = {(*phrase, *following), (*previous, *phrase)} - {phrase}
    return any(names in around for names in (words(node.name) for node in tree.find_all(exp.Column)))


def _is_value(name: str, column: exp.Column, tree: exp.Query, asked: Asked) -> bool:
    """Whether a name in lower case cannot be one of a table, of a key or of another column of the same table.

    "The sale amount that was refunded" says the column ``sale_no`` and not the kind Sale.
    """
    sources = {
        known.table.name: known.table for node in tree.find_all(exp.Column) if (known := held(node, asked.schema))
    }
    known = held(column, asked.schema)
    names = [table.name for table in asked.schema.tables]
    names += [key for table in sources.values() for key in keys_of(table)]
    names += [field.name for field in known.table.columns] if known is not None else []
    called = {word for label in names for word in words(label)}
    return called.isdisjoint(words(name))


def _said_in_another_form(names: Mapping[str, str], asked: Asked) -> str | None:
    """The key of the one row whose name, of one word, the question says in another form, without a negation."""
    question = _tokens(asked.question.text)
    matches = [
        (key, index)
        for key, name in names.items()
        for index, token in enumerate(question)
        if name.isalpha() and token[:_LETTERS] == name.casefold()[:_LETTERS] and is_other_form(name.casefold(), token)
    ]
    if len(matches) != 1 or is_negated(question[: matches[0][1]], question[matches[0][1] + 1 :]):
        return None
    return matches[0][0]


def _place(name: str, question: str) -> re.Match[str] | None:
    """Where the question says all words of a name in a row."""
    tokens = _TOKEN.findall(name)
    if sum(map(str.isalpha, name)) < _LETTERS:
        return None
    return re.search(r"(?<!\w)" + r"\W{1,3}".join(map(re.escape, tokens)) + r"(?!\w)", question, re.IGNORECASE)


def _is_within(mention: re.Match[str], other: re.Match[str]) -> bool:
    return other.start() <= mention.start() and mention.end() <= other.end() and mention.span() != other.span()


def _is_name(mention: re.Match[str], table: Table) -> bool:
    """Whether words of the question are the name of a row: "delivered" is none in "orders delivered in May".

    It stands beside the last word of the table's name, or has capitals and is no part of a longer name; in a question
    without capitals it follows "from" or "in".
    """
    question = mention.string
    previous, following = _neighbours(mention)
    if words(table.name)[-1:] in (words(previous), words(following)):
        return True
    if not _CAPITAL.search(_SENTENCE.sub("", question)):
        return _PLACE.search(question[: mention.start()]) is not None
    starts = [match.end() - 1 for match in _SENTENCE.finditer(question)]
    tokens = list(_TOKEN.finditer(mention[0]))
    inner = [token for token in tokens if mention.start() + token.start() not in starts]
    if not inner or not all(token[0][0].isupper() or token[0].isdigit() for token in tokens):
        return False
    begins = mention.start() - len(previous) - 1 in starts
    return not following[:1].isupper() and (begins or not previous[:1].isupper())


def _neighbours(mention: re.Match[str]) -> tuple[str, str]:
    """The words just before and after, with nothing but a space between; empty where there is none."""
    before = re.search(r"(\w+) $", mention.string[: mention.start()])
    after = re.match(r" (\w+)", mention.string[mention.end() :])
    return before[1] if before is not None else "", after[1] if after is not None else ""


def _has_condition(table: Table, title: str, tree: exp.Query, asked: Asked) -> bool:
    """Whether a condition of the query is about the names of the table."""
    for column in tree.find_all(exp.Column):
        if column.name.lower() == title.lower() and column.find_ancestor(exp.Where, exp.Having, exp.Join) is not None:
            known = held(column, asked.schema)
            if known is None or known.table is table:
                return True
    return False


def _is_elsewhere(key: str, name: str, tree: exp.Query) -> bool:
    """Whether the query has this key or this name, in a longer text too."""
    texts = [literal.name.casefold() for literal in tree.find_all(exp.Literal)]
    return any(key.casefold() == text or name.casefold() in text for text in texts)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())
