"""How an answer came about: the steps of its query in plain words, and what it did to rows, counted on the database.

The counts are read-only queries through the same access rules and limits as any other; no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from sqljury.context import Context
from sqljury.language.alike import letters, respelt
from sqljury.language.ambiguity import quoted
from sqljury.language.wants import wants
from sqljury.language.words import STOP_WORDS, words
from sqljury.sql import text
from sqljury.sql.parse import errors, exp, quiet, read_query
from sqljury.sql.provenance import Probe, probes, steps, unprobed
from sqljury.sql.translate import as_strings
from sqljury.types import Candidate, Effect, Explanation, Schema, Step, Task

SECONDS: Final = 2.0
"""All counts together may take this long, and no longer than the question's allowance has left."""
PROBE_SECONDS: Final = 1.0
MOST: Final = 12
"""Counts at most."""
_REASON: Final = 200
_WORD: Final = re.compile(r"\w+")
_SHORTEST: Final = 5
"""Letters of a text that may be a misspelling of another."""


@quiet()
def explained(candidate: Candidate, task: Task, context: Context) -> Explanation:
    """The steps of the chosen query and their effects; never raises because of a query.

    Effects that would be warnings are counted first. Counting ends with the time for it, at a count that takes too
    long, and where the question's allowance is spent; a recipe's budget is for calls of the model.
    """
    schema = task.known
    tree = read_query(candidate.sql, schema.dialect)
    if tree is None or not candidate.result.ok:
        return Explanation(uncounted="the query could not be read")
    if schema.dialect == "sqlite":
        as_strings(tree, schema)
    values = (*_respelt(candidate, task.question.whole, schema), *_alike(candidate, schema))
    alike = tuple({effect.text.partition(", where ")[0]: effect for effect in values}.values())
    try:
        all_steps = (*steps(tree, schema), *_rewrites(candidate))
        planned, unknown = probes(tree, schema, wants(task.question.whole)), unprobed(tree, schema)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return Explanation(effects=alike, uncounted="the query could not be read")  # a parser's own bug on odd text too
    counted, why = _counted(planned, context)
    return Explanation(all_steps, (*alike, *counted), "; ".join(filter(None, (why, unknown))))


def _counted(planned: list[Probe], context: Context) -> tuple[list[Effect], str]:
    """The effects that were observed, and why others were not looked for."""
    effects: dict[str, Effect] = {}
    failure, seconds_left = "", SECONDS
    for done, probe in enumerate(planned):
        if done >= MOST:
            return list(effects.values()), "there were too many to count"
        seconds_left = min(seconds_left, context.budget.left_allowed)
        if seconds_left <= 0:
            return list(effects.values()), "the time for it was spent"
        result = context.execute(probe.sql, min(PROBE_SECONDS, seconds_left))
        seconds_left -= result.seconds
        if result.error_kind in ("limit", "cancelled"):
            return (
                list(effects.values()),
                "counting took too long" if result.error_kind == "limit" else "it was stopped",
            )
        if result.error is not None:
            failure = failure or f"a count failed: {text.remark(str(result.error), _REASON).rstrip('.')}"
            continue
        effect = probe.read(result.rows)
        if effect is not None:
            effects.setdefault(effect.text, effect)
    return list(effects.values()), failure


def _rewrites(candidate: Candidate) -> Iterator[Step]:
    """Repairs that changed what the query means."""
    for fix in candidate.fixes:
        if fix.by in ("meaning", "instructions"):
            yield Step("rewrite", f"The query was rewritten: {text.plain(fix.reason, _REASON)}.")


def _alike(candidate: Candidate, schema: Schema) -> Iterator[Effect]:
    """Values that the model wrote and a repair replaced by stored ones."""
    for fix, (before, after) in zip(candidate.fixes, pairwise(candidate.forms), strict=True):
        if fix.by not in ("values", "model"):
            continue
        old, new = _texts(before, schema.dialect), _texts(after, schema.dialect)
        gone, come = [value for value in old if value not in new], [value for value in new if value not in old]
        if len(gone) != len(come) or (fix.by == "model" and len(gone) != 1):
            continue
        for value, stored in zip(gone, come, strict=True):
            yield _replaced(value, stored, new[stored])


def _replaced(value: str, stored: str, column: str) -> Effect:
    what = (
        f"the query looks for {text.literal(stored)} in {column}" if column else f"it looks for {text.literal(stored)}"
    )
    same = value.casefold() == stored.casefold()
    return Effect("alike", f"{what}, where {text.literal(value)} was written and not found", warns=not same)


def _respelt(candidate: Candidate, question: str, schema: Schema) -> Iterator[Effect]:
    """Values of the query that the question spells otherwise: the model was shown the stored ones."""
    asked = _WORD.findall(question)
    for value, column in _texts(candidate.sql, schema.dialect).items():
        size = len(_WORD.findall(value))
        if not column or not size or len(value) < _SHORTEST or quoted(question, value):
            continue
        starts = [(at, more) for more in (0, 1, -1) for at in range(len(asked) - size - more + 1) if size + more > 0]
        runs = [" ".join(asked[at : at + size + more]) for at, more in starts]
        if any(letters(run) == letters(value) or words(run) == words(value) for run in runs):
            continue
        if (run := next((run for run in runs if _misspells(run, value)), None)) is not None:
            what = f"the query looks for {text.literal(value)} in {column}"
            yield Effect("alike", f"{what}, where the question says {text.literal(run)}", warns=True)


def _misspells(run: str, value: str) -> bool:
    """Whether words of a question are probably another spelling of a value."""
    telling = not STOP_WORDS.issuperset(run.casefold().split())
    return telling and len(run) >= _SHORTEST and run[0].lower() == value[0].lower() and respelt(run, value)


def _texts(sql: str, dialect: str) -> dict[str, str]:
    """The texts that a query compares for equality, with the name of the column that each is compared with."""
    tree = read_query(sql, dialect)
    texts: dict[str, str] = {}
    for literal in tree.find_all(exp.Literal) if tree is not None else ():
        if literal.is_string and isinstance(literal.parent, exp.EQ | exp.NEQ | exp.In):
            columns = [part for part in literal.parent.iter_expressions() if isinstance(part, exp.Column)]
            texts[literal.name] = text.printable(columns[0].name) if columns else ""
    return texts
