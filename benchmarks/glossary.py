"""Whether instructions are followed: 40 questions, each with a glossary of which one or two lines matter.

    python benchmarks/glossary.py --out runs/glossary.jsonl [--style evidence before notes none] [--limit 40]
    python benchmarks/glossary.py --report runs/glossary.jsonl
    python benchmarks/glossary.py --verify

The questions of `glossary.jsonl` are on databases of Spider's train split (`--data`) and on the example database, which
is built in a temporary folder. Each is asked in every style: `evidence` gives the lines as `ask(evidence=)` does,
`before` puts them below the question as one text, as earlier versions did, `notes` gives them as a notes file, and
`none` leaves them out. Right means the result that gold returns, which needs the instruction: `--verify` runs each gold
query beside `without`, a query for the same question without it, and neither needs a model. A line a question goes to
--out as it is answered; the same command continues.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqljury import Pipeline, Question, connect
from sqljury.db.base import Database
from sqljury.errors import NoAnswerError
from sqljury.evaluation.report import Share
from sqljury.language.instructions import instructions
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.schema.notes import NO_NOTES, Notes

ROOT = Path(__file__).resolve().parents[1]
PAIRS = Path(__file__).with_suffix(".jsonl")
STYLES = ("evidence", "before", "notes", "none")


def main() -> None:
    """Ask what is left to ask, report, or verify the pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"), help="Spider's folder")
    parser.add_argument("--style", nargs="+", choices=STYLES, default=STYLES)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--only", nargs="+", metavar="ID", help="the ids of the questions to ask")
    options = parser.parse_args()
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()][: options.limit]
    pairs = [pair for pair in pairs if not options.only or pair["id"] in options.only]
    with databases(options.data) as folder:
        if options.verify:
            sys.exit(verify(pairs, folder))
        if options.out:
            ask(pairs, folder, options.out, options.style, options.recipe)
    if file := options.report or options.out:
        report(file)


@contextmanager
def databases(data: Path) -> Iterator[dict[str, Path]]:
    """The files of the databases by name: the example database is built, the others are Spider's."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Path(folder) / "shop.db"
        subprocess.run([sys.executable, str(ROOT / "examples/shop/build.py"), str(shop)], check=True)
        files = {path.stem: path for path in (data / "database").glob("*/*.sqlite")}
        yield {**files, "shop": shop}


def verify(pairs: list[dict[str, Any]], files: dict[str, Path]) -> int:
    """Print the pairs whose gold query finds nothing or does not differ from the one without the instruction."""
    wrong = 0
    for pair in pairs:
        with connect(files[pair["db_id"]]) as db:
            gold = run_gold(db, pair["gold"])
            same = judge(gold, db.execute(pair["without"]), EX.ordered(pair["gold"])).correct
            found = any(cell not in (None, 0) for row in db.execute(pair["gold"]).rows for cell in row)
        if same or not found:
            wrong += 1
            print(pair["id"], "gold finds nothing" if not found else "gold returns what the other query returns")
    print(f"{len(pairs)} pairs on {len({pair['db_id'] for pair in pairs})} databases, {wrong} of them wrong")
    return int(wrong > 0)


def ask(pairs: list[dict[str, Any]], files: dict[str, Path], out: Path, styles: list[str], recipe: str) -> None:
    """Append a line for each question and style that ``out`` does not have."""
    known = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    done = {(line["id"], line["style"]) for line in map(json.loads, known)}
    out.parent.mkdir(parents=True, exist_ok=True)
    pipeline = Pipeline.from_recipe(recipe, opened=partial(open_model, cache=False))
    with closing(pipeline.model), out.open("a", encoding="utf-8") as stream:  # type: ignore[type-var]
        for number, pair in enumerate(pairs, 1):
            for style in styles:
                if (pair["id"], style) in done:
                    continue
                with connect(files[pair["db_id"]]) as db:
                    line = answered(pair, style, pipeline, db)
                print(
                    f"{number}/{len(pairs)} {style}: {'right' if line['right'] else 'wrong'} {line['sql']}", flush=True
                )
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                stream.flush()


def answered(pair: dict[str, Any], style: str, pipeline: Pipeline, db: Database) -> dict[str, Any]:
    """One question in one style, with its verdict."""
    question, notes = put(pair, style)
    began = time.perf_counter()
    try:
        answer = pipeline.answer(question, db, notes=notes)
        sql, remarks, candidates = answer.sql, answer.remarks, answer.candidates
    except NoAnswerError as error:
        sql, remarks, candidates = "", (str(error),), error.candidates
    seconds = time.perf_counter() - began
    gold = run_gold(db, pair["gold"])
    right = bool(sql) and judge(gold, db.execute(sql), EX.ordered(pair["gold"])).correct
    fixes = [(fix.by, fix.before) for one in candidates for fix in one.fixes]
    told = {
        "id": pair["id"],
        "db_id": pair["db_id"],
        "kind": pair["kind"],
        "style": style,
        "question": pair["question"],
    }
    return {**told, "sql": sql, "right": right, "seconds": seconds, "remarks": list(remarks), "fixes": fixes}


def put(pair: dict[str, Any], style: str) -> tuple[Question, Notes]:
    """The question and the notes that give a pair's instructions in this style."""
    text, lines = pair["question"], pair["instructions"]
    question = Question(text, id=pair["id"])
    if style == "evidence":
        return replace(question, evidence="\n".join(lines)), NO_NOTES
    if style == "before":
        return replace(question, text=f"{text}\nKeep in mind: {'; '.join(lines)}"), NO_NOTES
    if style == "notes":
        given = instructions("\n".join(lines))
        rules = tuple(one.text for one in given if not one.term)
        return question, Notes(glossary=tuple((one.term, one.meaning) for one in given if one.term), rules=rules)
    return question, NO_NOTES


def report(file: Path) -> None:
    """Print the share of right answers by style, and by kind of instruction."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    kinds = sorted({line["kind"] for line in lines})
    for style in STYLES:
        mine = [line for line in lines if line["style"] == style]
        if not mine:
            continue
        right = sum(line["right"] for line in mine)
        low, high = Share(right, len(mine)).interval()
        by_kind = ", ".join(
            f"{kind} {sum(line['right'] for line in mine if line['kind'] == kind)}/"
            f"{sum(line['kind'] == kind for line in mine)}"
            for kind in kinds
        )
        seconds = sum(line["seconds"] for line in mine) / len(mine)
        warned = sum(bool(line["remarks"]) for line in mine if not line["right"])
        print(f"{style:9s} {right} of {len(mine)} right, {right / len(mine):.0%} ({low:.0f} - {high:.0f}); {by_kind};")
        print(f"{'':9s} {seconds:.1f} s a question; {warned} of the {len(mine) - right} wrong ones come with a remark")


if __name__ == "__main__":
    main()
