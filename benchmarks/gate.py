"""Questions unlike Spider's, which an adapter must not be worse on: a dataset in Spider's form, and its figures.

    python benchmarks/gate.py build --data ../shared/spider --out runs/gate
    sqljury bench spider --data runs/gate --split dev --recipe fast --out runs/gate_fast [--engine postgresql]
    python benchmarks/gate.py report runs/gate_fast [OTHER_RUN ...]

The database of a question names its source. Those of ``gate/databases.tar.xz``, with the questions of
``gate/questions.jsonl``, were made for this project by people who had not seen its prompts and rules; most declare no
foreign key: ``fitness`` (12 tables, flags and times in several forms), ``library`` (four CSV files, as the product
reads a folder), ``freight`` and ``clinic`` (15 and 14 tables), ``utility`` (16, short names and codes), ``booking``
(15, an object mapper's names), ``warehouse`` (15, a star schema), ``helpdesk`` (15, a web framework's names), ``farm``
(16, Unix times, attributes as rows), ``personnel`` (16, histories), ``festival`` and ``insurer`` (16 each), ``builder``
(17, a web application's, grown over years), ``streaming`` (17, abbreviations and codes), ``lawfirm``, ``league``,
``museum``, ``hotel`` and ``recycling`` (18 each), ``carrental``, ``charity``, ``subscriptions`` and ``vetclinic`` (18
each, everyday questions, most of them on one or two tables), ``cinema``, ``powerco``, ``conference``, ``clinicgroup``,
``logistics`` and ``foundation`` (14 to 16 each), ``cityzoo``, ``propman`` and ``eschool`` (15 each), ``bakery``,
``citylibrary``, ``jobagency``, ``marina``, ``musicschool`` and ``permits`` (16 each; of these nine no answer has been
read; ``permits`` and ``jobagency`` declare foreign keys). ``shop`` is the example database with its questions, and
``words`` all others: questions of Spider's train split in other words (``gate/synonyms.tsv``). ``build`` fails where a
gold query finds nothing; ``--databases`` limits ``words``, for an adapter that was trained on the others. The shipped
writer learned from short queries of those in ``gate/trained.txt`` (2026-11-28), so that they are no measure of it:
``--without-databases benchmarks/gate/trained.txt`` leaves them out of a run.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury import connect
from sqljury.datasets.spider import Example, load
from sqljury.errors import DatasetError
from sqljury.evaluation.report import Share
from sqljury.metrics.execution import EX, judge, run_gold

ROOT: Final = Path(__file__).resolve().parents[1]
HERE: Final = Path(__file__).with_suffix("")
WORDS: Final = 100
LEAST: Final = 2
"""Words of a question that must change for it to count as said in other words."""

_QUOTED: Final = re.compile(r"""(\B'[^']*'\B|"[^"]*")""")


def main() -> None:
    """Build the dataset, or report runs on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    build_ = commands.add_parser("build")
    build_.add_argument("--data", type=Path, default=Path("../shared/spider"), help="Spider's folder")
    build_.add_argument("--out", type=Path, required=True)
    build_.add_argument("--databases", nargs="+", metavar="DB_ID", help="the databases that `words` may use")
    build_.add_argument("--seed", type=int, default=0)
    report_ = commands.add_parser("report")
    report_.add_argument("runs", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "report":
        report(options.runs)
    else:
        build(options.data, options.out, options.databases, options.seed)


def build(data: Path, out: Path, databases: Sequence[str] | None, seed: int) -> None:
    """Write ``dev.json`` and ``database/`` into ``out``."""
    folder = out / "database"
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(HERE / "databases.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (folder / "shop").mkdir(exist_ok=True)
    subprocess.run([sys.executable, str(ROOT / "examples/shop/build.py"), str(folder / "shop/shop.sqlite")], check=True)
    entries = written()
    for example, question in reworded(data, databases, seed):
        target = folder / example.db_id / f"{example.db_id}.sqlite"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(example.database, target)
        entries.append({"db_id": example.db_id, "question": question, "gold": example.gold_sql})
    verify(entries, folder)
    listed = [{"db_id": one["db_id"], "question": one["question"], "query": one["gold"]} for one in entries]
    (out / "dev.json").write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_tables(folder, out / "tables.json")
    print(f"{len(entries)} questions on {len({one['db_id'] for one in entries})} databases in {out}")


def written() -> list[dict[str, Any]]:
    """The questions that were made for their database, each with its gold query."""
    entries = [json.loads(line) for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    shop = (ROOT / "examples/shop/questions.jsonl").read_text(encoding="utf-8").splitlines()
    return entries + [{"db_id": "shop", "gold": line["sql"], **line} for line in map(json.loads, shop)]


def verify(entries: Iterable[dict[str, Any]], folder: Path) -> None:
    """Raise ``SystemExit`` with the questions whose gold query fails or finds nothing."""
    wrong = []
    for entry in entries:
        with connect(folder / entry["db_id"] / f"{entry['db_id']}.sqlite") as db:
            result = db.execute(entry["gold"])
        if result.error or not any(cell not in (None, 0) for row in result.rows for cell in row):
            wrong.append(f"{entry['db_id']}: {entry['question']}: {result.error or 'finds nothing'}")
    if wrong:
        raise SystemExit("\n".join(wrong))


def write_tables(folder: Path, file: Path) -> None:
    """Spider's ``tables.json`` has nothing that a run reads; its names are enough for the evaluation."""
    names = [{"db_id": path.name, "table_names_original": [], "column_names_original": []} for path in folder.iterdir()]
    file.write_text(json.dumps(names) + "\n", encoding="utf-8")


def reworded(data: Path, databases: Sequence[str] | None, seed: int) -> Iterable[tuple[Example, str]]:
    """Questions of Spider's train split in other words, at most ``WORDS``, at most three of a database."""
    pairs = [line.split("\t") for line in (HERE / "synonyms.tsv").read_text(encoding="utf-8").splitlines()]
    other = dict(pairs)
    pattern = re.compile(rf"\b({'|'.join(sorted(map(re.escape, other), key=len, reverse=True))})\b", re.IGNORECASE)
    examples = [one for one in load(data, "train") if not databases or one.db_id in databases]
    random.Random(seed).shuffle(examples)
    taken: dict[str, int] = {}
    for example in examples:
        changed: list[str] = []

        def put(match: re.Match[str], changed: list[str] = changed) -> str:
            changed.append(match[0])
            word = other[match[0].lower()]
            return word.capitalize() if match[0][0].isupper() else word

        parts = _QUOTED.split(example.question.text)  # what is quoted is a value, and stays
        question = "".join(part if number % 2 else pattern.sub(put, part) for number, part in enumerate(parts))
        most = 3 if not databases else WORDS // len(databases) + 1
        if len(changed) < LEAST or taken.get(example.db_id, 0) >= most or not _found(example):
            continue
        taken[example.db_id] = taken.get(example.db_id, 0) + 1
        yield example, question
        if sum(taken.values()) == WORDS:
            return


def _found(example: Example) -> bool:
    with connect(example.database) as db:
        try:
            return any(cell not in (None, 0) for row in run_gold(db, example.gold_sql).rows for cell in row)
        except DatasetError:
            return False


def report(runs: Sequence[Path]) -> None:
    """Print EX by source for each run, and for every later run what changed against the first."""
    first: dict[str, bool] = {}
    sources = dict.fromkeys(entry["db_id"] for entry in written())
    for run in runs:
        right = verdicts(run)
        for source in (*sources, "words", "all"):
            mine = [key for key in right if source in ("all", source_of(key, sources))]
            if not mine:
                continue
            share = Share(sum(right[key] for key in mine), len(mine))
            low, high = share.interval()
            line = f"{run.name:24s} {source:8s} {share.right}/{share.total} = {share.percent:.1f} %"
            line += f" ({low:.0f} - {high:.0f})"
            shared = [key for key in mine if key in first]
            if shared:
                better = sum(right[key] and not first[key] for key in shared)
                worse = sum(first[key] and not right[key] for key in shared)
                line += f"; against {runs[0].name}: {better} better, {worse} worse"
            print(line)
        first = first or right


def source_of(key: str, sources: Container[str]) -> str:
    """The source of a question, by its database."""
    db_id = key.partition("\t")[0]
    return db_id if db_id in sources else "words"


def verdicts(run: Path) -> dict[str, bool]:
    """Whether each answer of a run is right, by database and question."""
    settings = json.loads((run / "run.json").read_text(encoding="utf-8"))
    folder = Path(settings["dataset"]["data"]) / "database"
    right = {}
    for line in (run / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        key = f"{answer['db_id']}\t{answer['question']}"
        with connect(folder / answer["db_id"] / f"{answer['db_id']}.sqlite") as db:
            gold = run_gold(db, answer["gold"])
            predicted = db.execute(EX.prepare(answer["sql"])) if answer["sql"] else None
        right[key] = predicted is not None and judge(gold, predicted, EX.ordered(answer["gold"])).correct
    return right


if __name__ == "__main__":
    main()
