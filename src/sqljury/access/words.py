"""Checks the words of a query, since a parser drops some of them or reads them differently from the engine.

Refused are types, functions and operators that the database's owner created, which may read or reveal hidden data.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sqljury.access.catalog import Catalog
from sqljury.access.resolve import refuse, refuse_column
from sqljury.access.scopes import Rules, broad
from sqljury.db import readonly
from sqljury.errors import QueryRefusedError
from sqljury.sql.parse import tokenize
from sqljury.types import Schema

if TYPE_CHECKING:
    from sqlglot import exp


_KIND_WORDS: Final = """
    ARRAY BIGINT BIT BOOLEAN BPCHAR CHAR DATE DATEMULTIRANGE DATERANGE DECIMAL DOUBLE FLOAT INET INT INT4MULTIRANGE
    INT4RANGE INT8MULTIRANGE INT8RANGE INTERVAL JSON JSONB MONEY NAME NCHAR NULL NUMMULTIRANGE NUMRANGE NVARCHAR POINT
    SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ TIMESTAMPTZ TIMETZ TSMULTIRANGE TSRANGE TSTZMULTIRANGE TSTZRANGE UUID
    VARBINARY VARCHAR XML
"""
_KINDS: Final = frozenset(_KIND_WORDS.split())
"""The parser's names for PostgreSQL's types; a type with another name is one of the owner's."""

_BUILT_IN_WORDS: Final = """
    xid xid8 lseg path box polygon line circle macaddr macaddr8 cidr varbit pg_lsn tsvector tsquery jsonpath
    txid_snapshot pg_snapshot
"""
_BUILT_IN: Final = frozenset(_BUILT_IN_WORDS.split())
"""Types of PostgreSQL that the parser reads as user-defined."""


def check_types(statement: exp.Expr, rules: Rules) -> None:
    """Refuse a type that is neither built in nor the enumeration of a shown column.

    An enumeration may list a hidden column's values, a row's type has its columns, and a domain may run code.
    """
    from sqlglot import exp

    if rules.dialect not in ("duckdb", "postgres"):
        return
    in_postgres = rules.dialect == "postgres"
    for node in statement.find_all(exp.DataType):
        kind, type_ = node.args.get("kind"), node.this
        name = str(kind.name if isinstance(kind, exp.Identifier) else kind or node.sql(rules.dialect))
        if type_ == exp.DataType.Type.USERDEFINED:
            known = in_postgres and broad(name) in rules.enums | _BUILT_IN
        else:
            known = not in_postgres or getattr(type_, "name", "") in _KINDS
        if not known or broad(name) in rules.catalog.types:
            refuse_type(name)


def refuse_type(name: str) -> NoReturn:
    """Refuse a type in the same words whether it exists or not."""
    refuse(f"the type {name[:60]} is not allowed under access rules; use a built-in type")


_GRAMMAR_WORDS: Final = """
    all at by exclude first following groups if last local name nulls only others over preceding range respect ignore
    rows signed ties time timestamp unsigned uescape window within without zone separator binary charset character
    utf8 utf8mb4 utf8mb3 latin1 ascii unicode tz asc desc columns path passing wrapper quotes keep omit empty error
    century centuries day days day_hour day_microsecond day_minute day_second decade decades dow doy epoch hour hours
    hour_microsecond hour_minute hour_second isodow isoyear julian microsecond microseconds millennium millennia
    millisecond milliseconds minute minutes minute_microsecond minute_second month months quarter quarters second
    seconds second_microsecond timezone timezone_hour timezone_minute week weeks weekday year years year_month yearweek
    symmetric asymmetric current unbounded sounds leading trailing both normalized nfc nfd nfkc nfkd returning
"""
_GRAMMAR: Final = frozenset(_GRAMMAR_WORDS.split())
"""Words that the parser reads as names and that have a meaning in places without names."""


def without_comments(sql: str, tokens: Sequence[Any]) -> str:
    """The text with everything but its tokens replaced by blanks."""
    parts, end = [], 0
    for token in tokens:
        parts += [_blank(sql[end : token.start]), sql[token.start : token.end + 1]]
        end = token.end + 1
    return "".join([*parts, _blank(sql[end:])])


def _blank(text: str) -> str:
    return "".join(c if c.isspace() else " " for c in text)


def check_words(tokens: Sequence[Any], text: str, dialect: str) -> None:
    """Refuse words that the parser and the engine read differently."""
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.token_type.name == "HINT":
            refuse("hints are not allowed under access rules")
        close = following is not None and following.start == token.end + 1
        if dialect in ("duckdb", "postgres") and close and token.text.lower() == "u" and text[following.start] == "&":
            refuse('U&"..." is not allowed under access rules; write the name plainly')
        if dialect == "mysql" and close and token.text == following.text == "-":
            refuse("-- without a blank after it is not allowed under access rules")


_WORD_OPERATORS: Final[dict[str, tuple[str, ...]]] = {
    "in": ("=", "<>"),
    "like": ("~~", "!~~"),
    "ilike": ("~~*", "!~~*"),
    "similar": ("~", "!~"),
    "between": (">=", "<=", "<", ">"),
    "distinct": ("=",),
    "case": ("=",),
    "nullif": ("=",),
    "using": ("=",),
    "natural": ("=",),
}
"""The operators that PostgreSQL looks up by name for its keywords, with NOT before them too."""

_PIECE: Final = re.compile(r"[\w$]+|[-+*/<>=~!@#%^&|`?]+")
_SPECIAL: Final = frozenset("~!@#%^&|`?")


def check_code(tokens: Sequence[Any], text: str, catalog: Catalog) -> None:
    """Refuse the owner's functions, macros and operators, also if a built-in one has the same name.

    What they read is not known. Names after ``::`` are types; one of the owner's may be named like a built-in type.
    """
    if catalog.implicit:
        refuse(implicit_macro(catalog))
    before = ""
    for at, token in enumerate(tokens):
        name = token.text.lower()
        called = name in catalog.code and tokens[at + 1 : at + 2] and tokens[at + 1].token_type.name == "L_PAREN"
        if called and _arguments(tokens[at + 2 :]).intersection(catalog.code[name]):
            refuse(f"{token.text[:60]} is not allowed under access rules: a function of that name was made")
        if before == "::" and name in catalog.types:
            refuse_type(token.text)
        before = token.text
    for written, operators in _operators(tokens, text) if catalog.operators else ():
        for operator in sorted(catalog.operators.intersection(operators)):
            refuse(f"{written[:60]} is not allowed under access rules: an operator {operator[:60]} was made")


def implicit_macro(catalog: Catalog) -> str:
    """Why a database with such macros cannot be used, and what to do."""
    name = min(catalog.implicit)[:60]
    return (
        f"{name} is a macro of the database with the name of a function or operator of DuckDB itself, so that any query"
        " may run it; this is not allowed under access rules: drop the macro or give it another name"
    )


def _operators(tokens: Sequence[Any], text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What stands for operators of PostgreSQL in a query without comments, with their names.

    They are read off the text by the server's rules, because the parser divides ``+@`` into two. A keyword counts
    whatever the parser makes of it: too much is refused rather than too little.
    """
    kept, end = [], 0
    for token in tokens:
        if "STRING" in (kind := token.token_type.name) or kind == "IDENTIFIER":
            kept.append(text[end : token.start])
            end = token.end + 1
    plain = " ".join([*kept, text[end:]])
    for piece, following in pairwise([*_PIECE.findall(plain), ""]):
        word, after = piece.lower(), following.lower()
        if not (word[0].isalnum() or word[0] in "_$"):
            yield from ((name, ("<>",) if name == "!=" else (name,)) for name in _divided(piece))
        elif (word != "case" or after != "when") and (word != "distinct" or after == "from"):
            # CASE WHEN compares nothing, and neither does SELECT DISTINCT
            yield piece, _WORD_OPERATORS.get(word, ())


def _divided(run: str) -> Iterator[str]:
    """The operators in adjacent characters: one ends in + or - only if it has a character that SQL's own lack."""
    while run:
        end = len(run)
        while end > 1 and run[end - 1] in "+-" and _SPECIAL.isdisjoint(run[: end - 1]):
            end -= 1
        yield run[:end]
        run = run[end:]


def _arguments(tokens: Sequence[Any]) -> set[int]:
    """The possible numbers of arguments up to the closing parenthesis; any number with VARIADIC."""
    depth, commas, words = 0, 0, 0
    for token in tokens:
        kind = token.token_type.name
        depth += (kind in ("L_PAREN", "L_BRACKET", "L_BRACE")) - (kind in ("R_PAREN", "R_BRACKET", "R_BRACE"))
        if depth < 0 or (not depth and kind == "ORDER_BY"):
            break
        if not depth and token.text.upper() == "VARIADIC":
            return set(range(1000))
        words += 1
        commas += not depth and kind == "COMMA"
    # count(*) has none, and f(a) may be f() with a parenthesis that is another's
    return {commas + 1} if words else {0}


def edited(sql: str, edits: Collection[tuple[int, int, str]]) -> str:
    """The query with these edits: start, end and new text."""
    for start, end, text in sorted(edits, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql


def check_rest(statement: exp.Expr, tokens: Sequence[Any], hidden: Collection[str], seen: Collection[int]) -> None:
    """Refuse a name that is neither checked nor a label; ``seen`` has the ids of checked nodes.

    The parser drops some words, and reads others as units or parameters that an engine reads as columns.
    """
    if not hidden:
        return
    used = {_start(node) for node in statement.walk() if id(node) in seen or _is_label(node)}
    kinds = _name_kinds()
    before = ""
    for token, following in zip_longest(tokens, tokens[1:]):
        # A name called like a function takes whole rows, which are refused; AS and :: precede a label or a type.
        called = following is not None and following.token_type.name == "L_PAREN"
        accounted = token.start in used or called or before in ("AS", "::", "COLLATE")
        kind, name = token.token_type.name, broad(token.text)
        unknown = kind in ("VAR", "IDENTIFIER") and name not in _GRAMMAR  # refused whether hidden or not
        if not accounted and (unknown or (kind in kinds and name in hidden)):
            refuse_column(token.text)
        before = token.text.upper()


def _start(node: exp.Expr) -> int:
    """The position of a name in the text, -1 for another node."""
    start = node.meta.get("start")
    return start if isinstance(start, int) else -1


def _is_label(node: exp.Expr) -> bool:
    """Whether this is an alias that is defined here, or a table's name."""
    from sqlglot import exp

    return isinstance(node, exp.Identifier) and isinstance(node.parent, exp.TableAlias | exp.Alias | exp.Table)


@functools.cache
def _name_kinds() -> frozenset[str]:
    """Kinds of words that may be names, without reserved words and frequent keywords."""
    from sqlglot.parser import Parser

    kinds = {kind.name for kind in (*Parser.ID_VAR_TOKENS, *Parser.TYPE_TOKENS)} | {"VAR", "IDENTIFIER"}
    return frozenset(kinds - {"ASC", "DESC", "END", "ALL", "LEFT", "RIGHT", "FULL", "NATURAL", "CASE"})


def query_of(definition: str, dialect: str) -> str:
    """The query in the statement that created a view, or the text itself if only the query is stored."""
    from sqlglot.errors import SqlglotError

    try:
        tokens = tokenize(definition, dialect)
    except (SqlglotError, RecursionError):
        return ""
    if not tokens or tokens[0].text.upper() != "CREATE":
        return definition
    ends = [token.end for token in tokens if token.text.upper() == "AS"]
    return definition[ends[0] + 1 :] if ends else ""


@functools.lru_cache(maxsize=256)
def names_in(sql: str, dialect: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The names of the CTEs that a query defines, and of what it reads in FROM, in lower case; None if unreadable."""
    from sqlglot import exp

    try:
        _, tree = readonly.parse(sql, dialect)
    except QueryRefusedError:
        return None
    ctes = frozenset(cte.alias.lower() for cte in tree.find_all(exp.CTE))
    return ctes, frozenset(table.name.lower() for table in tree.find_all(exp.Table))


_WORD: Final = re.compile(r"[\w$]+")


def secrets(full: Schema, shown: Schema) -> frozenset[str]:
    """The keys (of ``broad``) of names of tables and columns that are not shown anywhere."""
    return frozenset(_all_names(full) - _all_names(shown))


def _all_names(schema: Schema) -> set[str]:
    names = {broad(column.name) for table in schema.tables for column in table.columns}
    for table in schema.tables:
        names |= {broad(table.name), broad(table.name.removeprefix(table.schema + "."))}
    return names


def tells(text: str, secret: frozenset[str]) -> bool:
    """Whether a text contains one of these names as a word, or as part of it if the name is not a word."""
    if not text or not secret:
        return False
    folded = broad(text)
    return not secret.isdisjoint(_WORD.findall(folded)) or any(
        name in folded for name in secret if not _WORD.fullmatch(name)
    )
