"""Training, export and loading checked on the smallest model without a GPU: 32 questions learned by heart.

    python benchmarks/train_small.py ../shared/spider --out runs/train_small

Takes 32 questions of Spider's training split, each on a database of its own, trains SmolLM2-135M on them until it
knows the queries, writes the adapter in three precisions, and asks llama.cpp. Each figure goes to ``result.jsonl``
in --out as soon as it is known. A stopped training is continued.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqljury.train import card, examples, lora
from sqljury.train.compare import compare
from sqljury.train.export import export
from sqljury.train.settings import Settings

MODEL = "smollm2-135m"
COUNT = 32


def small_set(spider: Path, file: Path) -> None:
    """Write the first short question of each of the first small databases."""
    schemas = {one["db_id"]: one for one in json.loads((spider / "tables.json").read_text())}
    taken: dict[str, dict[str, Any]] = {}
    for entry in json.loads((spider / "train.json").read_text()):
        name, schema = entry["db_id"], schemas[entry["db_id"]]
        if name not in taken and len(schema["column_names_original"]) <= 16 and len(entry["query"]) <= 120:
            taken[name] = {
                "messages": [
                    {"role": "system", "content": f"Answer with one SQLite query.\n{tables(schema)}"},
                    {"role": "user", "content": entry["question"]},
                ],
                "answer": " ".join(entry["query"].split()),
                "meta": {"db_id": name},
            }
    file.write_text("".join(json.dumps(one) + "\n" for one in list(taken.values())[:COUNT]))


def tables(schema: dict[str, Any]) -> str:
    """A line a table: its name and columns."""
    names = schema["table_names_original"]
    columns = [[column for table, column in schema["column_names_original"] if table == at] for at in range(len(names))]
    return "\n".join(f"{name}({', '.join(own)})" for name, own in zip(names, columns, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spider", type=Path, help="the folder with train.json and tables.json")
    parser.add_argument("--out", type=Path, default=Path("runs/train_small"))
    parser.add_argument("--max-steps", type=int, default=48)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    data, run = options.out / "set.jsonl", options.out / "run"
    if not data.exists():
        small_set(options.spider, data)

    def note(**facts: Any) -> None:
        print(json.dumps(facts), flush=True)
        with (options.out / "result.jsonl").open("a") as stream:
            stream.write(json.dumps(facts) + "\n")

    started = time.perf_counter()
    settings = Settings(
        "generator",
        MODEL,
        lora_r=32,
        lora_alpha=128,
        batch_size=8,
        max_steps=options.max_steps,
        learning_rate=2e-4,
        held_out=0.0,
    )
    lora.train(data, run, settings, print)
    facts = json.loads((run / card.JSON).read_text())
    note(step="train", seconds=round(time.perf_counter() - started), **facts["counts"], **facts["results"])
    known = examples.read(data)
    for precision in ("f32", "f16", "q8_0"):
        file = export(run, options.out / f"{precision}.gguf", precision)
        note(step=f"exported as {precision}", bytes=file.stat().st_size)
        note(step=f"compared as {precision}", **asdict(compare(run, file, known, max_new_tokens=60)))
    note(step="compared without adapter", **asdict(compare(run, None, known, max_new_tokens=60)))


if __name__ == "__main__":
    main()
