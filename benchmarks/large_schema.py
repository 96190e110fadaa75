"""What is kept of a schema of 1,000 tables and 20,000 columns in 6,000 tokens: the tables a question needs, or not.

.venv/bin/python benchmarks/large_schema.py [--seed 0] [--questions 800] [--tokens 6000] [--spider ../shared/spider]

Makes the database (SQLite) in a temporary folder, reads its schema, asks generated questions. Retrieval was tuned on
half of them (even numbers); what is printed is the other half. With `--spider`, a folder with Spider's
`tables.json` and `train.json`, also questions that people wrote, on all of Spider's tables as one schema.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

from large_build import Asked, ask, make, write

from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import WeightsError
from sqljury.language.alike import pieces, question_words
from sqljury.llm import models
from sqljury.schema.index import Index
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.schema.retrieve import estimate_tokens, retrieve
from sqljury.types import Column, ForeignKey, Schema, Table
from sqljury.types.schema import only_tables

Retriever = Callable[[str], Schema]
HEAD = (
    f"{'retrieval':42s} {'tables':>7s} {'+columns':>8s} {'kept':>6s} {'tokens':>7s} {'most':>6s} {'ms':>6s} {'p95':>6s}"
)


def main() -> None:
    """Print one table for the generated questions, one for Spider's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=int, default=800)
    parser.add_argument("--tokens", type=int, default=6_000)
    parser.add_argument("--spider", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made, path = make(options.seed), Path(folder) / "large.db"
        write(made, path, options.seed)
        started = time.perf_counter()
        with SQLiteDatabase(path) as db:
            schema = introspect(db)
        columns = sum(len(table.columns) for table in schema.tables)
        print(f"{len(schema.tables)} tables, {columns} columns read in {time.perf_counter() - started:.2f} s")
    asked = ask(made, options.questions, options.seed)[1::2]
    print(f"\n{len(asked)} generated questions of the half that retrieval was not tuned on, {options.tokens} tokens")
    prompts = compare(schema, asked, options.tokens)
    check_estimate(prompts[:: max(len(prompts) // 20, 1)])
    if options.spider:
        spider = union(options.spider)
        for note, with_name in (("the question alone", False), ("with the database's name as evidence", True)):
            asked = questions_of(options.spider, spider, options.seed, with_name=with_name)
            print(f"\n{len(asked)} questions of Spider train on all {len(spider.tables)} of its tables, {note}")
            compare(spider, asked, options.tokens)


def compare(schema: Schema, asked: Sequence[Asked], tokens: int) -> list[str]:
    """Print a line for each way of retrieval; what the last one put into prompts."""
    print(HEAD)
    report("BM25 over tables, whole, no keys", bm25(schema, tokens), asked)
    for label, meanings in (("ours, words only", False), ("ours, words and embeddings", True)):
        started = time.perf_counter()
        index = Index.of(schema, meanings=meanings)
        label += f" (index {time.perf_counter() - started:.1f} s)"
        prompts = report(label, lambda text, index=index: retrieve(index, text, max_tokens=tokens), asked)
    return prompts


def report(label: str, retriever: Retriever, asked: Sequence[Asked]) -> list[str]:
    """Print the shares of questions with all tables (and all columns spoken of) kept, and what that took."""
    tables = columns = 0
    kept, seconds, prompts = [], [], []
    retriever(asked[0].text)
    for question in asked:
        started = time.perf_counter()
        found = retriever(question.text)
        seconds.append(time.perf_counter() - started)
        names = {table.name: {column.name for column in table.columns} for table in found.tables}
        whole = question.tables <= names.keys()
        tables += whole
        columns += whole and all(column in names[table] for table, column in question.columns)
        kept.append(len(names))
        prompts.append(render(found))
    sizes = [estimate_tokens(prompt) for prompt in prompts]
    p95 = sorted(seconds)[int(0.95 * len(seconds))]
    print(
        f"{label:42s} {tables / len(asked):7.1%} {columns / len(asked):8.1%} {mean(kept):6.1f} {mean(sizes):7.0f} "
        f"{max(sizes):6d} {1000 * mean(seconds):6.1f} {1000 * p95:6.1f}",
        flush=True,
    )
    return prompts


def bm25(schema: Schema, tokens: int, k1: float = 1.2, b: float = 0.75) -> Retriever:
    """The baseline: BM25 of the question's words over tables as bags of words, the best whole tables that fit."""
    bags = [
        Counter([*pieces(table.name), *(piece for column in table.columns for piece in pieces(column.name))])
        for table in schema.tables
    ]
    sizes = [estimate_tokens(render(Schema("", schema.dialect, (table,)))) for table in schema.tables]
    holders = Counter(piece for bag in bags for piece in bag)
    average = mean(bag.total() for bag in bags)

    def score(bag: Counter[str], words: Sequence[str]) -> float:
        length = k1 * (1 - b + b * bag.total() / average)
        rarity = {word: math.log(1 + (len(bags) - holders[word] + 0.5) / (holders[word] + 0.5)) for word in words}
        return sum(rarity[word] * bag[word] * (k1 + 1) / (bag[word] + length) for word in words)

    def search(text: str) -> Schema:
        words = question_words(text)
        scores = [score(bag, words) for bag in bags]
        used, names = 0, set()
        for number in sorted(range(len(bags)), key=lambda number: (-scores[number], number)):
            if used + sizes[number] > tokens:
                break
            used += sizes[number]
            names.add(schema.tables[number].name)
        return only_tables(schema, names)

    return search


def check_estimate(prompts: Sequence[str]) -> None:
    """Print how the estimated tokens compare with those of the embedded model's tokenizer, where it is there."""
    from sqljury.llm.engine import Engine, Options

    try:
        path = models.path("qwen2.5-coder-1.5b")
    except (KeyError, WeightsError):
        return
    if not path.is_file():
        return
    engine = Engine(Options(path, 1, 512, 1, Path(tempfile.mkdtemp(prefix="sqljury-states-"))))
    counted = [len(engine.post("/tokenize", {"content": prompt})["tokens"]) for prompt in prompts]
    engine.close()
    ratios = [estimate_tokens(prompt) / count for prompt, count in zip(prompts, counted, strict=True)]
    print(
        f"by the tokenizer of Qwen2.5-Coder {len(counted)} of these prompts have {mean(counted):.0f} tokens, at most "
        f"{max(counted)}; estimated / counted is {min(ratios):.2f} to {max(ratios):.2f}"
    )


def union(folder: Path) -> Schema:
    """All tables of Spider's databases, each named by its database and itself."""
    tables = []
    for entry in json.loads((folder / "tables.json").read_text(encoding="utf-8")):
        db, names, columns = entry["db_id"], entry["table_names_original"], entry["column_names_original"]
        for number, name in enumerate(names):
            own = [place for place, (table, _) in enumerate(columns) if table == number]
            keys = [
                ForeignKey((columns[one][1],), f"{db}.{names[columns[other][0]]}", (columns[other][1],), db)
                for one, other in entry["foreign_keys"]
                if one in own
            ]
            first = [columns[place][1] for place in entry["primary_keys"] if place in own]
            fields = tuple(Column(columns[place][1], entry["column_types"][place]) for place in own)
            tables.append(Table(f"{db}.{name}", fields, tuple(first), tuple(keys), schema=db))
    return Schema("spider", "sqlite", tuple(tables))


def questions_of(folder: Path, schema: Schema, seed: int, *, with_name: bool, count: int = 500) -> list[Asked]:
    """A sample of Spider's training questions with the tables that their gold queries name."""
    import sqlglot
    from sqlglot import exp

    known = {table.name.lower(): table.name for table in schema.tables}
    pairs = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    found: list[Asked] = []
    for pair in random.Random(f"{seed} spider").sample(pairs, len(pairs)):
        try:
            query = sqlglot.parse_one(pair["query"], dialect="sqlite")
        except sqlglot.ParseError:
            continue
        names = {f"{pair['db_id']}.{table.name}".lower() for table in query.find_all(exp.Table)}
        if names <= known.keys():
            text = f"{pair['question']}\n{pair['db_id']}" if with_name else pair["question"]
            found.append(Asked(text, frozenset(known[name] for name in names), frozenset()))
        if len(found) == count:
            break
    return found


if __name__ == "__main__":
    main()
