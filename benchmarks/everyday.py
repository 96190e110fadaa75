"""Draws questions of the everyday databases as a dataset that ``sqljury bench run --data`` reads.

    tar -xJf benchmarks/everyday.tar.xz -C runs
    python benchmarks/everyday.py runs/everyday --limit 10 --seed 5 --out runs/everyday_data

Of each database --limit questions are drawn, none that a folder of --without (repeatable) has. The folder has
``dev.json``, a ``tables.json`` of names alone, and a link to the databases.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path


def main() -> None:
    """Write the folder and print what is in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--without", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    drawn_before = {
        (one["db_id"], one["question"])
        for folder in options.without
        for one in json.loads((folder / "dev.json").read_text(encoding="utf-8"))
    }
    asked: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in (options.data / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if (record["db_id"], record["question"]) not in drawn_before:
            asked[record["db_id"]].append(record)
    drawing = random.Random(options.seed)
    drawn = [one for name in sorted(asked) for one in drawing.sample(asked[name], options.limit)]
    questions = [{"db_id": one["db_id"], "question": one["question"], "query": one["sql"]} for one in drawn]
    tables = [{"db_id": name, "table_names_original": [], "column_names_original": []} for name in sorted(asked)]
    options.out.mkdir(parents=True, exist_ok=True)
    for file, content in (("dev.json", questions), ("tables.json", tables)):
        (options.out / file).write_text(json.dumps(content, indent=1), encoding="utf-8")
    link = options.out / "database"
    if not link.exists():
        link.symlink_to((options.data / "database").resolve())
    print(f"{len(questions)} questions on {len(tables)} databases in {options.out}")


if __name__ == "__main__":
    main()
