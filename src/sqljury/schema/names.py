"""Names as SQL wants them: bare where that works, quoted where it does not."""

from __future__ import annotations

import re
from typing import Final

_BARE: Final = re.compile(r"[^\W\d]\w*")

# Words that SQLite's grammar, or the parser that guards it, does not take as a bare column or table name.
# SQLite takes many other keywords as names (key, plan, match); quoting those would only puzzle a model.
_WORDS: Final = """
    add all alter and any as autoincrement between case cast check collate commit constraint create cross cube
    current_date current_time current_timestamp default deferrable delete describe distinct drop else escape
    except exists false fetch for foreign from full glob grant group having if ilike in index inner insert
    intersect into is isnull join lateral left like limit lock natural not nothing notnull null offset on or
    order outer primary qualify raise references regexp returning revoke right rlike rollback rollup select
    set table then to transaction true uncache union unique update using values when where window with xor
"""
RESERVED: Final = frozenset(_WORDS.split())

_FOLDED: Final = re.compile(r"[a-z_][a-z0-9_]*")
_BARE_NAMES: Final = {"postgres": _FOLDED}
"""Where a bare name is folded to lower case, one with a capital must be quoted to be found."""

_DUCKDB: Final = """
    analyse analyze anti array asc asof asymmetric at authorization binary both by collation column concurrently desc
    do end force freeze initially install lambda leading map only overlaps pivot pivot_longer pivot_wider placing
    positional rowid semi show similar some summarize symmetric tablesample trailing unpack unpivot variadic verbose
"""
_MORE_WORDS: Final[dict[str, frozenset[str]]] = {"duckdb": frozenset(_DUCKDB.split())}
"""Further words, by dialect, that are no bare names there."""


def quote_name(name: str, dialect: str = "sqlite") -> str:
    """The name for use in a query of this dialect, quoted only where it must be."""
    words = RESERVED | _MORE_WORDS.get(dialect, frozenset())
    if _BARE_NAMES.get(dialect, _BARE).fullmatch(name) and name.lower() not in words:
        return name
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def quote_table(name: str, schema: str = "", dialect: str = "sqlite") -> str:
    """A ``Table``'s name for use in a query: ``schema`` and what follows its dot, each quoted where it must be."""
    if not schema:
        return quote_name(name, dialect)
    return f"{quote_name(schema, dialect)}.{quote_name(name.removeprefix(schema + '.'), dialect)}"
