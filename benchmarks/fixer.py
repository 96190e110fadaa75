"""What hints are worth to the fixer: broken queries repaired with and without them, in one run.

    python benchmarks/fixer.py --data ../shared/spider --sampled 10 --damaged 30 --seed 7

Broken are queries that the model itself wrote (of --sampled questions, 8 each, see sampled.py) and gold queries of
Spider's train split that were damaged: a column by a name that nobody gave it, a table likewise, a text changed, a
table dropped from FROM. What the schema alone repairs is left out. A line for a query as it goes: how it broke, and
for each way whether it was repaired (it runs and finds rows), whether it is right then, and the calls it took.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import sqlglot
from sampled import LIMITS, Sampled, chosen, sampled
from sqlglot import exp

from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.stages.repair import ask_again, by_program, needs_fixing
from sqljury.types import Candidate, Cost

ADDED = ("full", "main", "total", "info", "code")


def damaged(sql: str, chance: random.Random) -> str:
    """The query with one thing wrong that a model may get wrong; as it is where nothing applies."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    kind = chance.choice(("column", "table", "text", "from"))
    if kind == "column" and (columns := [c for c in tree.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]):
        name = chance.choice(columns).name
        for column in columns:
            if column.name == name:
                column.set("this", exp.to_identifier(f"{chance.choice(ADDED)}_{name.split('_')[-1]}"))
    elif kind == "table":
        table = chance.choice(list(tree.find_all(exp.Table)))
        table.set("this", exp.to_identifier(f"{table.name}_{chance.choice(ADDED)}"))
    elif kind == "text" and (texts := [one for one in tree.find_all(exp.Literal) if one.is_string]):
        text = chance.choice(texts)
        text.replace(exp.Literal.string(f"{text.name[: max(1, len(text.name) // 2)]} {chance.choice(ADDED)}"))
    elif kind == "from" and (joins := tree.args.get("joins")):
        joins.remove(chance.choice(joins))
    return tree.sql(dialect="sqlite")


def broken(one: Sampled, *, own: bool, chance: random.Random) -> Iterator[Candidate]:
    """Different queries that need the model: its own, at most two a question, or gold damaged."""
    if own:
        listed = {candidate.sql: candidate for candidate in one.candidates if needs_fixing(candidate)}
        yield from list(listed.values())[:2]
        return
    for _ in range(8):
        sql = damaged(one.entry["query"], chance)
        candidate = Candidate(sql, "damaged", result=one.context.db.execute(sql, LIMITS))
        candidate = by_program(candidate, one.task, one.context)
        if needs_fixing(candidate):
            yield candidate
            return


def repaired(candidate: Candidate, one: Sampled, *, hinted: bool) -> tuple[bool, bool, int, int]:
    """Whether it finds rows now, whether it is right, and the calls and tokens read for it."""
    before = one.context.budget.total()
    fixed = ask_again(candidate, one.task, one.context, attempts=3, tried={candidate.sql}, hinted=hinted)
    after = one.context.budget.total()
    cost = Cost(*(getattr(after, name) - getattr(before, name) for name in Cost.__slots__))
    read = cost.prompt_tokens - cost.cached_tokens
    return bool(fixed.result.rows), one.right(fixed.sql), cost.calls, read


def main() -> None:
    """Print the queries and the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--sampled", type=int, default=10, help="questions whose sampled queries are looked at")
    parser.add_argument("--damaged", type=int, default=30, help="questions whose gold query is damaged")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    model = open_model(None)
    found: dict[str, list[tuple[tuple[bool, bool, int, int], ...]]] = {"own": [], "damaged": []}
    entries = chosen(options.data, options.sampled + options.damaged, options.seed)
    for number, entry in enumerate(entries):
        own = number < options.sampled
        for line, outcomes in measured(entry, options, model, own=own):
            found["own" if own else "damaged"].append(outcomes)
            print(line, flush=True)
    for kind, outcomes_of in found.items():
        for way, name in enumerate(("without hints", "with hints")):
            rows = [outcomes[way] for outcomes in outcomes_of]
            totals = [sum(column) for column in zip(*rows, strict=True)] or [0] * 4
            print(
                f"{kind}, {name}: of {len(rows)} repaired {totals[0]}, right {totals[1]}; "
                f"{totals[2]} calls, {totals[3]} tokens read"
            )


def measured(
    entry: dict[str, str], options: argparse.Namespace, model: LanguageModel, *, own: bool
) -> Iterator[tuple[str, tuple[tuple[bool, bool, int, int], ...]]]:
    """A line and the outcomes without and with hints for each broken query of a question."""
    chance = random.Random(f"{options.seed} {entry['question']}")
    with ExitStack() as stack:
        samples = 8 if own else 0
        one = stack.enter_context(sampled(options.data, entry, model, samples, options.seed))
        for candidate in broken(one, own=own, chance=chance):
            outcomes = tuple(repaired(candidate, one, hinted=hinted) for hinted in (False, True))
            marks = " | ".join(f"{'+' if rows else '-'}{'r' if right else 'w'}{n}" for rows, right, n, _ in outcomes)
            why = str(candidate.result.error or "no rows")
            yield f"{entry['db_id']} {marks} {why[:60]} {' '.join(candidate.sql.split())[:100]}", outcomes


if __name__ == "__main__":
    main()
