"""The fault that an engine's message describes, in one form for all engines: a kind, and the name it is about.

Queries that lack the same column have the same fault, whatever the message's wording and the alias used.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Kind = Literal[
    "column", "table", "function", "ambiguous", "grouping", "aggregate", "types", "value", "rows", "syntax", "other"
]


class Fault(NamedTuple):
    """A kind and a name in lower case without its qualifier; for types what was compared, for ``other`` the message."""

    kind: Kind
    name: str


_NAME: Final = r"[\"'`]?(?P<name>[\w.$\" `-]+?)[\"'`]?"
_PATTERNS: Final[tuple[tuple[Kind, str], ...]] = (
    # GROUP BY: PostgreSQL and DuckDB, MySQL, MariaDB, and an aggregate beside a column without GROUP BY
    ("grouping", rf"column {_NAME} must appear in the GROUP BY clause"),
    ("grouping", r"nonaggregated column '(?P<name>[^']+)'"),
    ("grouping", r"'(?P<name>[^']+)' isn't in GROUP BY"),
    ("grouping", r"(?P<name>Mixing of GROUP columns)"),
    ("grouping", r"for SELECT DISTINCT, (?P<name>ORDER BY) expressions must appear in select list"),
    ("aggregate", r"aggregate functions are not allowed in (?P<name>\w+(?: BY)?)"),
    ("aggregate", r"(?P<name>\w+(?: BY)?) clause cannot contain aggregates"),
    ("aggregate", r"misuse of aggregate:? (?:function )?(?P<name>\w+)"),
    ("aggregate", r"(?P<name>aggregate function calls cannot be nested)"),
    ("aggregate", r"(?P<name>Invalid use of group function)"),
    ("ambiguous", rf"column reference {_NAME} is ambiguous"),
    ("ambiguous", r"ambiguous column name: (?P<name>\S+)"),
    ("ambiguous", rf"[Cc]olumn {_NAME} in .{{0,40}} is ambiguous"),
    ("ambiguous", rf"Ambiguous reference to column name {_NAME} \("),
    ("types", r"operator does not exist: (?P<name>[^(;]+)"),
    ("types", r"Cannot compare values of type (?P<name>.+?)(?: - |$)"),
    ("types", r"No function matches the given name and argument types '(?P<name>[^']+)'"),
    ("types", r"No operator matches the given name and argument types '(?P<name>[^']+)'"),
    ("types", r"(?P<name>[A-Z/]+ types .+? cannot be matched)"),
    ("types", r"argument of (?P<name>\w+ must be type \w+)"),
    ("value", r"invalid input syntax for (?:type )?(?P<name>[\w ]+)"),
    ("value", r"Could not convert string .+? to (?P<name>\w+)"),
    ("value", r"(?P<name>division by zero)"),
    ("rows", r"(?P<name>more than one row) returned by a subquery"),
    ("rows", r"(?P<name>Subquery returns more than 1 row)"),
    ("rows", r"(?P<name>More than one row) returned by a subquery"),
    ("function", r"no such function: (?P<name>\S+)"),
    ("function", r"[Ff]unction (?:with name )?[\"']?(?P<name>[\w.]+)[\"']?(?P<types>\([^)]*\))? (?:does not|is not)"),
    ("function", r"FUNCTION (?P<name>[\w.]+) does not exist"),
    ("table", r"no such table: (?P<name>\S+)"),
    ("table", rf"relation {_NAME} does not exist"),
    ("table", r"Table (?:with name |')(?P<name>[\w.$-]+)'? does(?:n't| not) exist"),
    ("table", rf"(?:missing|invalid reference to) FROM-clause entry for table {_NAME}(?: |$|\()"),
    ("table", rf"Referenced table {_NAME} not found"),
    ("table", r"Unknown table '(?P<name>[^']+)'"),
    ("column", r"no such column: (?P<name>.+)"),
    ("column", rf"column {_NAME} does not exist"),
    ("column", r"Unknown column '(?P<name>[^']+)'"),
    ("column", rf"Referenced column {_NAME} not found"),
    ("column", rf"does not have a column named {_NAME}(?:\s|$|[!.;])"),
    ("syntax", r"near [\"'](?P<name>.+?)[\"']?(?: at line|: syntax error)"),
    ("syntax", r"syntax error at or near [\"'](?P<name>[^\"']+)"),
)
_COMPILED: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
_READ: Final = 600
_QUALIFIED: Final = frozenset(("column", "table", "ambiguous", "grouping"))


def read_fault(message: str) -> Fault:
    """The fault that an engine's message describes; ``other`` with the message where no pattern matches."""
    message = message[:_READ]
    for kind, pattern in _COMPILED:
        if (match := pattern.search(message)) is not None:
            if kind == "function" and match.groupdict().get("types"):
                # PostgreSQL: the name may be known and the arguments of other types
                return Fault("function", f"{match['name']}{match['types']}".lower())
            name = match["name"].strip().lower()
            return Fault(kind, name.rpartition(".")[2].strip("\"'` ") if kind in _QUALIFIED else name)
    return Fault("other", message)
