"""What repairs and rules do to right queries: each gold query is answered as if the model had written it.

    python benchmarks/gold_kept.py runs/everyday [--recipe fast] [--out lost.jsonl]

The folder has ``questions.jsonl`` (``question``, ``db_id``, ``sql``) and ``database/NAME/NAME.sqlite``, as
``benchmarks/everyday.tar.xz``. Printed are the questions, those whose query is changed, and those whose answer is lost:
another result, a refusal or an error; a line of each goes to --out. No model is asked.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from sqljury import Session, connect
from sqljury.db.base import Database
from sqljury.errors import SqljuryError
from sqljury.llm.fake import FakeModel


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    asked: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in (options.data / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        asked[record["db_id"]].append(record)
    changed, lost = 0, list[dict[str, Any]]()
    for name, questions in asked.items():
        with connect(options.data / "database" / name / f"{name}.sqlite") as db:
            for question in questions:
                found = answered(db, question, options.recipe)
                changed += found.get("sql") != question["sql"]
                if found["lost"]:
                    lost.append({**question, **found})
    if options.out:
        options.out.write_text("".join(json.dumps(line) + "\n" for line in lost), encoding="utf-8")
    print(f"{sum(map(len, asked.values()))} questions, {changed} queries changed, {len(lost)} answers lost")


def answered(db: Database, question: dict[str, str], recipe: str) -> dict[str, Any]:
    """The query of the answer, and whether its result is another than that of gold; or the error."""
    with Session(db, recipe=recipe, model=FakeModel([question["sql"]])) as session:
        try:
            answer = session.ask(question["question"])
        except SqljuryError as error:
            return {"error": str(error), "lost": True}
        gold = db.execute(question["sql"])
        return {"sql": answer.sql, "lost": sorted(map(repr, gold.rows)) != sorted(map(repr, answer.rows))}


if __name__ == "__main__":
    main()
