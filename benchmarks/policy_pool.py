"""Candidates from a training by results: the queries of `sqljury train policy`, as files that `sqljury choose` reads.

    python benchmarks/policy_pool.py runs/policy/answers.jsonl set.jsonl --db-dir runs/business/database \\
        --db-dir ../shared/spider/database --out runs/policy_data
    sqljury choose --pred runs/policy_data/writer.jsonl --questions runs/policy_data/questions.jsonl \\
        --db-dir runs/policy_data/database --recipe benchmarks/recipes/repaired.toml --votes queries --model none \\
        --timeout 5 --out runs/policy_data/chosen.txt --run runs/policy_pool

``answers.jsonl`` is what the training wrote, ``set.jsonl`` the set that it was on. Each question is taken once, with
the queries of its first step. They have no log-probabilities, as those of other systems: the light judge's weights for
such candidates were learned from the run (docs/training.md). ``--out`` holds links to the databases.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def main() -> None:
    """Write the questions, their queries, and links to the databases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("answers", type=Path)
    parser.add_argument("set", type=Path)
    parser.add_argument("--db-dir", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    known = {one["meta"]["id"]: one for one in lines_of(options.set)}
    drawn: dict[str, list[str]] = {}
    for answer in lines_of(options.answers):
        if len(answer["queries"]) > 1:  # held-out questions are answered once
            drawn.setdefault(answer["id"], answer["queries"])
    databases = options.out / "database"
    databases.mkdir(parents=True, exist_ok=True)
    for name in sorted({known[id_]["meta"]["db_id"] for id_ in drawn}):
        folder = next((folder / name for folder in options.db_dir if (folder / name).is_dir()), None)
        if folder is None:
            raise SystemExit(f"the database {name!r} is in none of the folders of --db-dir")
        if not (databases / name).exists():
            (databases / name).symlink_to(folder.resolve())
    ids = sorted(drawn, key=lambda id_: known[id_]["meta"]["db_id"])
    questions = [
        {
            "id": id_,
            "db_id": known[id_]["meta"]["db_id"],
            "question": known[id_]["meta"]["question"],
            "sql": known[id_]["answer"],
        }
        for id_ in ids
    ]
    queries = [{"id": id_, "sql": sql} for id_ in ids for sql in drawn[id_] if sql.strip()]
    for name, lines in (("questions", questions), ("writer", queries)):
        (options.out / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
