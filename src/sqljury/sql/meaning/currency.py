"""The currency that a question names, where the query takes amounts in all currencies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.money import CURRENCIES
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, sources_of

_MADE: Final = "charged|paid|billed|invoiced|priced|sold|booked|settled|denominated|donated|bought"
_CONVERTED: Final = regex(r"\bconver|\bequivalent|\b(?:all|any|every|across) (?:\w+ )?currenc", re.IGNORECASE)
_RATES: Final = frozenset(("rate", "fx", "exchange", "factor"))
"""Words of columns with which amounts are converted."""
_CODE: Final = regex(r"[A-Z]{3}")


def named_currency(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the condition on the currency for "orders paid in euros" and "euro invoices", if nothing of the query has it.

    One table of the query has a column of codes of currencies, among them the one that the question names. "The total
    in euros" may want the others converted, as a query with a rate or an amount in that currency does.
    """
    question, tables = asked.question.text, [words(table.name) for table in tree.find_all(exp.Table)]
    currencies = [code for code, name in CURRENCIES.items() if _is_said(name, code, tables, question)]
    select = tree if isinstance(tree, exp.Select) else None
    if not currencies or select is None or _CONVERTED.search(question):
        return None
    read = {word for node in tree.find_all(exp.Column) for word in words(node.name)}
    if read & _RATES or read & {code.lower() for code in currencies}:
        return None
    if any(literal.name.upper() in CURRENCIES for literal in tree.find_all(exp.Literal)):
        return None
    sources = sources_of(select, asked.schema)
    columns = []
    for alias, table in sources.tables.items() if sources is not None else ():
        for column in table.columns:
            values = asked.data.values(table, column.name) if Held(table, column).is_text else ()
            codes = {value for value in values if isinstance(value, str)}
            if len(codes) > 1 and codes & {*currencies} and all(map(_CODE.fullmatch, codes)):
                columns.append((alias, column.name, codes & {*currencies}))
    if len(columns) != 1 or len(columns[0][2]) != 1 or any(join.side for join in select.args.get("joins") or ()):
        return None
    [(alias, name, named)] = columns
    if any(known.column.name == name for node in tree.find_all(exp.Column) if (known := held(node, asked.schema))):
        return None
    is_alone = sources is not None and len(sources.tables) == 1
    qualifier = None if is_alone else identifier(alias, asked.dialect)
    code = exp.column(identifier(name, asked.dialect), table=qualifier)
    select.where(exp.EQ(this=code, expression=exp.Literal.string(named.pop())), copy=False)
    return Change("the question names a currency, and the query took all")


def _is_said(name: str, code: str, tables: Sequence[Sequence[str]], question: str) -> bool:
    """Whether the question says that something is in a currency, which may be one of several of that name.

    "Euro invoices" are rows of one of the ``tables`` of the query, which are words of names; "Dollar Stores" and "CAD
    licences" are none.
    """
    if re.search(rf"\b(?:{_MADE}) in (?:{name}|{code})\b", question, re.IGNORECASE):
        return True
    nouns = re.findall(rf"(?<![\w-])(?:{name.replace('s?', '')}) ([a-z]+)", question)
    return any(mentions(noun, table) for noun in nouns for table in tables)
