"""Grammars that let a model write only SQL that parses and names what exists (PICARD's aim, by llama.cpp's GBNF).

A context-free grammar cannot express that a column belongs to a table in FROM, except where the column follows its
table's name.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from sqljury.stages.generate.gbnf import dialects, grammar_text, keywords
from sqljury.stages.generate.gbnf.vocabulary import name_rules
from sqljury.types import Schema

_MODES: Final = "pd"
_GRADES: Final = "sa"

_ROOT: Final = 'statement w ";"?'
_REASONED: Final = {
    "root": f'line{{0,60}} "```sql\\n" {_ROOT} w "```"',
    "line": 'piece{0,300} "`"{0,2} "\\n"',
    "piece": '[^`\\n] | "`" [^`\\n] | "``" [^`\\n]',
}
"""Up to 60 lines of text without a fence, then the one fence with the query."""


def grammar(schema: Schema, *, reasons: bool = False) -> str:
    """The GBNF of queries on ``schema``; with ``reasons`` text comes first and the query in a fenced block.

    Tables, and columns after a table's name, are those of the schema. A column alone or after an alias may be of any
    table, and the alias need not be defined in FROM. Subqueries in FROM get names from a short list; WITH is not
    allowed. Names that would end a reply (with a fence, or a line that ends in a semicolon) cannot be written.
    """
    rules = {"root": _ROOT} | name_rules(schema) | _rules(schema.dialect) | (_REASONED if reasons else {})
    return grammar_text(rules)


def _rules(dialect: str) -> dict[str, str]:
    """The rules of ``sql.txt`` for a dialect, in all modes and grades."""
    slots = dialects.slots(dialect)
    text = (files("sqljury.stages.generate.gbnf") / "sql.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    lines += [f"{name} ::= {slots[name]}" for name in ("string", "open", "operator", "type")]
    filled = re.sub(r"<(\w+)>", lambda slot: slots[slot[1]], "\n".join(lines))
    written = dict(line.split(" ::= ", 1) for line in keywords(filled).splitlines())
    for kind, least, most in set(dialects.functions(dialect).values()):
        if kind in dialects.PLAIN:
            written[f"{kind}{least}-{most}@"] = dialects.arguments(kind, least, most)
    rules: dict[str, str] = {}
    for mode in _MODES:
        for grade in _GRADES:
            copy = written | {"fn@": dialects.calls(dialect, grade)}
            rules |= {_named(name, mode, grade): _named(body, mode, grade) for name, body in copy.items()}
    return rules


def _named(text: str, mode: str, grade: str) -> str:
    """The text with the names of a mode and grade: expr% is exprp, expr@ is exprps."""
    return re.sub(r"(?<=[\w])@", mode + grade, re.sub(r"(?<=[a-z])%", mode, text))
