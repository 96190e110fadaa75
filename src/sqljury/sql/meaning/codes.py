"""Texts that stand in the table that explains a column of codes, and not in the column itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, identifier, referred_table, tables_of
from sqljury.types import Column, Schema, Table

LIKELY: Final = 0.5
"""The least score of a key that leads to the explaining table."""
COLUMNS: Final = 4
"""Texts are looked up in so many columns of that table at most."""
MOST_SHOWN: Final = 40
"""A column with more codes is shown as it is."""
_SAYING: Final = frozenset(words("description descr desc dsc text txt meaning label lbl"))
"""Words of the column of a table of codes that says what they mean."""
_IN_WORDS: Final = re.compile(
    r"(?<!length )(?<!size )(?<!long )(?<!count )(?<!number )\bin (?:plain )?words\b|\bin plain (?:english|text)\b"
    r"|\bsp(?:elled|elt) out\b(?! (?:month|date|day|year|number))",
    re.IGNORECASE,
)
_LABELS: Final = re.compile(
    r"\b(?:labels?|names?|descriptions?|meanings?|wordings?) (?:of|for) (?:the |its |their |each |every )?(\w+)"
    r"|\b(\w+) (?:labels?|names?|descriptions?|meanings?|wordings?)\b",
    re.IGNORECASE,
)
"""What labels are wanted of, before or after the word."""
_AS_CODES: Final = re.compile(r"\b(?:codes?|numeric|numbers? and|keys?|ids?)\b", re.IGNORECASE)


def explained(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a column of codes by the text that explains the code: ``status = 'cancelled'`` where 'X' is stored.

    The column must lack the text. A table of codes for many columns must explain a code of it, or of one other column
    of the query's tables, by the text; or a key lead to a table of which one column, and no other, has it.
    """
    changed = _replaced(tree, asked)
    changed |= _of_another_column(tree, asked)
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if isinstance(other, exp.Literal) and (codes := _codes(column, [other], asked)) is not None:
            within = exp.In(this=column.copy(), query=codes.subquery())
            node.replace(exp.Not(this=within) if isinstance(node, exp.NEQ) else within)
            changed = True
    for node in list(tree.find_all(exp.In)):
        if node.expressions and (codes := _codes(node.this, node.expressions, asked)) is not None:
            node.set("expressions", None)
            node.set("query", codes.subquery())
            changed = True
    # Without these texts in the column, "<> 'cancelled'" leaves nothing out: right today perhaps, not tomorrow.
    return Change("the column has codes, which another table explains", may_equal=True) if changed else None


def in_words(tree: exp.Query, asked: Asked) -> Change | None:
    """Show what codes mean where the question wants them in words, or their labels, and the query shows codes.

    The meanings stand in the query, as a CASE: unlike a join this can neither repeat nor lose rows, nor break groups.
    A code without a meaning is shown as it is. Not with DISTINCT, beside which other engines sort by outputs alone.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return None
    text, changed = asked.question.text, False
    labelled = [match[1] or match[2] for match in _LABELS.finditer(text)]
    for term in tree.expressions:
        shown = term.unalias()
        known = held(shown, asked.schema)
        if known is None or not (_IN_WORDS.search(text) or _is_labelled(known, labelled, tree, text)):
            continue
        meanings = asked.data.codes(known.table, known.column.name)
        if 0 < len(meanings) <= MOST_SHOWN:
            case = exp.Case(this=shown.copy())
            for code, meaning in meanings.items():
                case = case.when(constant(code), exp.Literal.string(meaning), copy=False)
            labels = case.else_(shown.copy(), copy=False)
            name = identifier(known.column.name, asked.dialect)
            _qualify_keys(tree, known, asked)
            shown.replace(labels if term is not shown else exp.Alias(this=labels, alias=name))
            changed = True
    return Change("the question wants codes in words") if changed else None


def _is_labelled(known: Held, labelled: Sequence[str], tree: exp.Select, question: str) -> bool:
    """Whether the question wants labels of what a column is called, and neither it nor the query has its codes too."""
    if _AS_CODES.search(question) or not mentions(" ".join(labelled), words(known.column.name)[-1:]):
        return False
    shown = [node for item in tree.selects for node in item.find_all(exp.Column) if node.name == known.column.name]
    return len(shown) == 1 and not tree.find(exp.Case)


def _qualify_keys(tree: exp.Select, known: Held, asked: Asked) -> None:
    """Name the table of a column by which the query sorts or groups: its name is now that of the words, too."""
    tables = tables_of(tree, asked.schema)
    aliases = list(map(_called, from_items(tree)))
    of = [alias for alias in aliases if tables.get(alias.name.lower()) is known.table]
    for clause in ("order", "group"):
        for node in tree.args[clause].find_all(exp.Column) if tree.args.get(clause) and len(of) == 1 else ():
            if not node.table and node.name.lower() == known.column.name.lower():
                node.set("table", of[0].copy())


def _replaced(tree: exp.Query, asked: Asked) -> bool:
    """Put codes in the place of the texts by which a table of codes explains them."""
    compared_with = [
        *((column, [other]) for _, column, other in compared(tree, exp.EQ, exp.NEQ)),
        *((node.this, node.expressions) for node in tree.find_all(exp.In)),
    ]
    changed = False
    for column, texts in compared_with:
        known = held(column, asked.schema)
        meanings = asked.data.codes(known.table, known.column.name) if known is not None else {}
        by_text = _by_text(meanings)
        for text in texts if meanings else ():
            if isinstance(text, exp.Literal) and text.is_string and text.name not in meanings:
                code = by_text.get(text.name.casefold())
                if code is not None:
                    text.replace(constant(code))
                    changed = True
    return changed


def _of_another_column(tree: exp.Query, asked: Asked) -> bool:
    """Compare the column whose codes have a text among their meanings, where the query compares another one's codes.

    Only in WHERE: an outer join would lose its rows.
    """
    changed = False
    for node, column, other in compared(tree, exp.EQ):
        known, select = held(column, asked.schema), node.find_ancestor(exp.Select)
        if known is None or select is None or not isinstance(other, exp.Literal) or not other.is_string:
            continue
        if node.find_ancestor(exp.Where) is None or not asked.data.codes(known.table, known.column.name):
            continue
        tables = tables_of(select, asked.schema)
        matches = [
            (alias, coded.name, code)
            for alias, table in tables.items()
            for coded in table.columns
            if (code := _by_text(asked.data.codes(table, coded.name)).get(other.name.casefold())) is not None
        ]
        if len(matches) == 1 and asked.data.spellings(known.table, known.column.name, other.name) == ():
            alias, name, code = matches[0]
            item = next(item for item in from_items(select) if item.alias_or_name.lower() == alias)
            of = _called(item).copy() if column.table else None
            column.replace(exp.column(identifier(name, asked.dialect), table=of))
            other.replace(constant(code))
            changed = True
    return changed


def _called(item: exp.Expr) -> exp.Identifier:
    """The name by which columns of a table in FROM are qualified."""
    called: exp.Identifier = item.args["alias"].this if item.alias else item.this
    return called


def _by_text(meanings: Mapping[str | int, str]) -> dict[str, str | int]:
    """By text in lower case the code that it explains."""
    return {text.casefold(): code for code, text in meanings.items()}


def constant(code: str | int) -> exp.Expr:
    """A code as a constant of a query."""
    return exp.Literal.string(code) if isinstance(code, str) else exp.Literal.number(code)


def _codes(column: exp.Expr, texts: list[exp.Expr], asked: Asked) -> exp.Select | None:
    """The query for the codes of the texts; None where the column has one of them, or no table explains all."""
    known = held(column, asked.schema)
    if known is None or not all(isinstance(text, exp.Literal) and text.is_string for text in texts):
        return None
    names = [text.name for text in texts]
    tables = list(explaining(known, asked.schema))
    if not tables or not all(any(letter.isalpha() for letter in name) or not _is_number(name) for name in names):
        return None
    if any(asked.data.spellings(known.table, known.column.name, name) != () for name in names):
        return None
    explanations = []
    for table, key in tables:
        for text in _texts(table, key):
            spelt = [
                asked.data.spellings(table, text.name, name) or _begun(name, asked.data.values(table, text.name))
                for name in names
            ]
            known_ones = [spellings for spellings in spelt if spellings is not None]
            if len(known_ones) < len(spelt):
                return None
            if all(known_ones):
                explanations.append(
                    (table, key, text, [spelling for spellings in known_ones for spelling in spellings])
                )
    return _select(*explanations[0], asked.schema.dialect) if len(explanations) == 1 else None


def _begun(text: str, values: Sequence[object]) -> tuple[str, ...] | None:
    """The one value that begins with a text and goes on to explain it: 'Cancelled by the customer' for 'cancelled'."""
    begun = re.compile(rf"{re.escape(text)}(?:\s+by\b|\s*[,:;(]|\s+[-–])", re.IGNORECASE)
    matches = tuple(value for value in values if isinstance(value, str) and begun.match(value))
    return matches if len(matches) == 1 else ()


def _is_number(text: str) -> bool:
    """Whether a text may be the number of a key, or part of a code, and not a name: '12', but not '2021-0023'."""
    return text.replace(".", "", 1).strip("+-").isdigit()


def explaining(known: Held, schema: Schema) -> Iterator[tuple[Table, str]]:
    """The tables that keys of the column lead to, with the column that has its codes."""
    for key in known.table.foreign_keys:
        if len(key.columns) == 1 and key.columns[0].lower() == known.column.name.lower() and key.score >= LIKELY:
            table = referred_table(schema, key)
            if table is not None and table is not known.table:
                yield table, key.ref_columns[0]


def _texts(table: Table, key: str) -> list[Column]:
    columns = [column for column in table.columns if column.name.lower() != key.lower()]
    return [column for column in columns if Held(table, column).is_text][:COLUMNS]


def only_text(table: Table, key: str) -> str | None:
    """The column that says what the rows of a table of two columns are: ``descr`` of ``unit_state``."""
    texts = _texts(table, key) if len(table.columns) == 2 else []
    return texts[0].name if texts and not _SAYING.isdisjoint(words(texts[0].name)) else None


def _select(table: Table, key: str, text: Column, spellings: list[str], dialect: str) -> exp.Select:
    texts = [exp.Literal.string(spelling) for spelling in dict.fromkeys(spellings)]
    name, code = (exp.column(identifier(column, dialect)) for column in (text.name, key))
    condition = exp.EQ(this=name, expression=texts[0]) if len(texts) == 1 else exp.In(this=name, expressions=texts)
    return exp.select(code).from_(table_node(table, dialect)).where(condition)
