"""How often a model says what the gold query returns on a small database (Li & Xie 2024, Tables 1 to 3).

    python benchmarks/expect.py --data ../shared/spider --limit 200 --seed 11 --out runs/expect.jsonl
    python benchmarks/expect.py --data ../shared/spider --limit 200 --seed 11 --out runs/expect_large.jsonl --no-numbers

Questions are drawn as `sqljury bench spider` draws them. Each gets one database of random selection with --rows rows a
table, of the tables and columns that gold uses: of --draws draws the first on which gold returns something that is no
matter of luck (ties, the order rows are stored in), else the first with a single answer, else the first that runs.
--draws 1 takes what comes, as the paper does. What is taken depends on --rows, --numbers and --draw alone.

A line of JSON for each question as it goes; the same command goes on where it stopped. Then the shares of right
results, by ORDER BY and GROUP BY anywhere in gold, with Wilson's intervals of 95 %: exact, where the order of rows
counts if gold has an order of its own, numbers to two decimals; and relaxed, columns of one among those of the other.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from sqljury.context import Context
from sqljury.datasets import spider
from sqljury.db.connect import connect
from sqljury.evaluation.report import Share
from sqljury.llm.base import LanguageModel, derive_seed
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX
from sqljury.recipes.parts import Draw, Shown, TestsPart
from sqljury.schema.introspect import introspect
from sqljury.sql.compare import EXPECTED, RELAXED, same
from sqljury.stages.generate.examples import finds
from sqljury.testing.draw import fuzzed_origin, random_case, read_origin
from sqljury.testing.expect import conversation, with_expected
from sqljury.testing.trial import Trial
from sqljury.types import Limits, Result, TestCase

SPLITS: dict[str, Callable[[str], bool]] = {
    "all": lambda _: True,
    "ORDER BY": lambda sql: has(sql, "order"),
    "no ORDER BY": lambda sql: not has(sql, "order"),
    "GROUP BY": lambda sql: has(sql, "group"),
    "no GROUP BY": lambda sql: not has(sql, "group"),
    "both": lambda sql: has(sql, "order") and has(sql, "group"),
    "neither": lambda sql: not has(sql, "order") and not has(sql, "group"),
}


def main() -> None:
    """Ask for every question that has no line yet, then print the shares."""
    options = parsed()
    part = TestsPart(
        kind="suite",
        rows=options.rows,
        numbers=options.numbers,
        draw=options.draw,
        form=options.form,
        shots=options.shots,
        samples=options.samples,
        temperature=options.temperature,
    )
    settings = {
        "split": options.split,
        "seed": options.seed,
        "draws": options.draws,
        "example_seed": options.example_seed,
        "model": options.model,
        **{key: getattr(part, key) for key in ("rows", "numbers", "draw", "form", "shots", "samples", "temperature")},
    }
    examples = spider.sample(spider.load(options.data, options.split), options.limit, options.seed)
    wanted = {example.id for example in examples}
    lines = before(options.out, settings)
    known = {line["id"] for line in lines}
    model = open_model(options.model) if wanted - known else None
    with options.out.open("a", encoding="utf-8") as stream:
        for example in examples:
            if example.id in known or model is None:
                continue
            line = {**asked(example, part, model, options), "settings": settings}
            stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
            stream.flush()
            lines.append(line)
            print(said(line, len(lines), options.verbose), flush=True)
    report([line for line in lines if line["id"] in wanted])


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--out", type=Path, required=True, help="file of JSON lines, gone on with if it is there")
    parser.add_argument("--split", choices=tuple(spider.SPLITS), default="dev")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--rows", type=int, default=5, help="the paper's maximum table size")
    parser.add_argument("--draws", type=int, default=20, help="databases of which the first telling one is taken")
    parser.add_argument("--draw", choices=get_args(Draw), default="selection", help="rows of the database, or made up")
    parser.add_argument("--form", choices=get_args(Shown), default="csv")
    parser.add_argument("--shots", type=int, default=7)
    parser.add_argument("--example-seed", type=int, default=0, help="chooses the examples shown")
    parser.add_argument("--numbers", action=argparse.BooleanOptionalAction, default=True, help="the number constraint")
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--temperature", type=float, help="0 for one sample, else 0.7")
    parser.add_argument("--model", help="as `sqljury ask --model`")
    parser.add_argument("--verbose", action="store_true", help="print what was asked and what came back")
    options = parser.parse_args()
    if options.temperature is None:
        options.temperature = 0.0 if options.samples == 1 else 0.7
    return options


def before(file: Path, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines that a run with these settings wrote."""
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if any(line["settings"] != settings for line in lines):
        raise SystemExit(f"{file}: holds another run; name another file with --out")
    return lines


def asked(
    example: spider.Example, part: TestsPart, model: LanguageModel, options: argparse.Namespace
) -> dict[str, Any]:
    """One question's line."""
    gold = EX.prepare(example.gold_sql)
    line: dict[str, Any] = {"id": example.id, "db_id": example.db_id, "question": example.question.text, "gold": gold}
    with connect(example.database) as db:
        case, actual, luck = drawn(db, gold, f"{options.seed}|{example.id}", part, options.draws)
        context = Context(db, model, Limits(), derive_seed(options.seed, example.id))
        found = with_expected(case, example.question, part, context, examples=options.example_seed)
        cost = context.budget.total()
    ordered = EX.ordered(gold)
    said = found.expected
    return {
        **line,
        "rows": case.size,
        "luck": luck,
        "actual": actual.rows,
        "expected": None if said is None else said.rows,
        "confidence": found.confidence,
        "exact": said is not None and actual.ok and same(said, actual, EXPECTED, ordered=ordered),
        "relaxed": said is not None and actual.ok and same(said, actual, RELAXED, ordered=ordered),
        "prompt": conversation(case, example.question, part, examples=options.example_seed)[1].content,
        "cost": asdict(cost),
    }


def drawn(db: Any, gold: str, seed: str, part: TestsPart, draws: int) -> tuple[TestCase, Result, bool]:
    """The database, what gold returns there, and whether that is a matter of luck."""
    origin_of = fuzzed_origin if part.draw == "fuzzing" else read_origin
    origin = origin_of(db, introspect(db), [gold], seed=seed)
    best: tuple[int, TestCase, Result] | None = None
    with Trial(origin.shape, [gold]) as trial:
        for number in range(draws):
            case = random_case(origin, f"{seed}|{number}", part.rows, numbers=part.numbers)
            trial.load(case.tables)
            (result,) = trial.results
            settled = result.ok and trial.settled(0)
            worth = 3 if settled and finds(result) else 2 if settled else 1 if result.ok else 0
            if best is None or worth > best[0]:
                best = worth, case, result
            if worth == 3:
                break
    assert best is not None
    return best[1], best[2], best[0] < 2


def has(sql: str, word: str) -> bool:
    """Whether GROUP BY or ORDER BY stands in a query."""
    return re.search(rf"\b{word}\s+by\b", sql, re.IGNORECASE) is not None


def said(line: dict[str, Any], number: int, verbose: bool) -> str:
    """What to print of one question."""
    verdict = "right" if line["exact"] else "relaxed" if line["relaxed"] else "wrong"
    head = f"{number} {line['id']} {line['db_id']} {verdict} {line['cost']['seconds']:.1f} s"
    if not verbose:
        return head
    return f"{head}\n{line['prompt']}\n  gold     {line['actual']}\n  expected {line['expected']}\n  {line['gold']}"


def report(lines: Iterable[dict[str, Any]]) -> None:
    """The shares."""
    listed = list(lines)
    print(f"{'':14}{'exact':>32}{'relaxed':>32}")
    for name, belongs in SPLITS.items():
        own = [line for line in listed if belongs(line["gold"])]
        print(f"{name:14}" + "".join(f"{share(own, key):>32}" for key in ("exact", "relaxed")))
    empty = sum(not line["actual"] for line in listed)
    luck, unread = sum(line["luck"] for line in listed), sum(line["expected"] is None for line in listed)
    print(f"gold returns nothing: {empty}; a matter of luck: {luck}; replies that could not be read: {unread}")
    for least in (1.0, 0.8, 0.6):
        sure = [line for line in listed if line["expected"] is not None and line["confidence"] >= least]
        print(f"confidence >= {least}: {share(sure, 'exact')}")
    seconds = sorted(line["cost"]["seconds"] for line in listed)
    if seconds:
        characters = sorted(len(line["prompt"]) for line in listed)
        print(f"characters of a question with its database: median {characters[len(characters) // 2]}")
        print(f"seconds a question: median {seconds[len(seconds) // 2]:.1f}, all {sum(seconds):.0f}")


def share(lines: list[dict[str, Any]], key: str) -> str:
    """Percent with its interval, and of how many."""
    one = Share(sum(line[key] for line in lines), len(lines))
    low, high = one.interval()
    return f"{one.percent:.1f} % [{low:.1f}, {high:.1f}] of {one.total}"


if __name__ == "__main__":
    main()
