"""Do comments of a database help? Columns with cryptic names, with and without comments that say what they are.

    python benchmarks/comments.py --data ../shared/spider --limit 200 --out runs/comments.jsonl
    python benchmarks/comments.py --report runs/comments.jsonl

Each database of Spider's train split is copied three times: as it is, with every column called by the initials of its
words and its position (`stadium_name` -> `sn02`), and so with the name that it had as a comment. Tables keep their
names, types, keys and rows. A gold query runs on the copy with the names that it knows, the answer on its own copy, and
their results are compared. One line a question and kind goes to --out; the same command continues.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqljury import Session, connect
from sqljury.datasets.spider import Example, load, sample
from sqljury.errors import DatasetError, SqljuryError
from sqljury.evaluation.report import Share
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.schema.introspect import introspect
from sqljury.sql.text import remark
from sqljury.types import Schema, Table

KINDS: Final = ("named", "cryptic", "commented")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def cryptic(column: str, position: int) -> str:
    """The initials of a name's words and its position in the table."""
    initials = "".join(word[0] for word in _WORD.findall(column)).lower()
    return f"{initials or 'c'}{position:02}"


def copy_database(source: Path, schema: Schema, kind: str, target: Path) -> None:
    """Write the tables of ``schema`` to ``target``, with the rows of ``source``."""
    renamed = {
        table.name.lower(): {
            column.name.lower(): column.name if kind == "named" else cryptic(column.name, number)
            for number, column in enumerate(table.columns, 1)
        }
        for table in schema.tables
    }
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("ATTACH ? AS old", (f"file:{source.resolve()}?mode=ro",))
        for table in schema.tables:
            connection.execute(_definition(table, renamed, comments=kind == "commented"))
            columns = ", ".join(_quoted(column.name) for column in table.columns)
            connection.execute(f"INSERT INTO {_quoted(table.name)} SELECT {columns} FROM old.{_quoted(table.name)}")
        connection.commit()


def _definition(table: Table, renamed: Mapping[str, Mapping[str, str]], *, comments: bool) -> str:
    """A CREATE TABLE with one column or key on each line; a comment has the words of the column's name."""
    names = renamed[table.name.lower()]

    def listed(columns: tuple[str, ...], of: Mapping[str, str]) -> str:
        return ", ".join(_quoted(of[column.lower()]) for column in columns)

    lines = []
    for column in table.columns:
        text = remark(" ".join(_WORD.findall(column.name)).lower() or column.name) if comments else ""
        lines.append((f"{_quoted(names[column.name.lower()])} {column.type}", f" -- {text}" if text else ""))
    if table.primary_key:
        lines.append((f"PRIMARY KEY ({listed(table.primary_key, names)})", ""))
    for key in table.foreign_keys:
        target = f"{_quoted(key.ref_table)} ({listed(key.ref_columns, renamed[key.ref_table.lower()])})"
        lines.append((f"FOREIGN KEY ({listed(key.columns, names)}) REFERENCES {target}", ""))
    last = len(lines) - 1
    body = "\n".join(f"  {line}{',' * (number < last)}{text}" for number, (line, text) in enumerate(lines))
    return f"CREATE TABLE {_quoted(table.name)} (\n{body}\n)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def copies(example: Example, folder: Path) -> dict[str, Path] | None:
    """The three copies of the question's database, made once; None where it cannot be copied."""
    files = {kind: folder / f"{example.db_id}.{kind}.sqlite" for kind in KINDS}
    with connect(example.database) as db:
        schema = introspect(db)
    tables = tuple(table for table in schema.tables if not table.is_view)
    try:
        for kind, file in files.items():
            if not file.exists():
                copy_database(example.database, Schema(schema.name, schema.dialect, tables), kind, file)
    except (sqlite3.Error, KeyError):
        for file in files.values():
            file.unlink(missing_ok=True)
        return None
    return files


def answered(example: Example, files: Mapping[str, Path], kind: str, model: Any, recipe: str) -> dict[str, Any] | None:
    """The answer on one copy, judged by the result of gold on the named one; None where gold cannot be run there."""
    with connect(files["named"]) as named:
        try:
            gold = run_gold(named, example.gold_sql)
        except DatasetError:
            return None
    sql, right = "", False
    with Session(files[kind], recipe=recipe, model=model) as session:
        try:
            sql = session.ask(example.question.text).sql
            predicted = session.database.execute(EX.prepare(sql))
            right = judge(gold, predicted, EX.ordered(example.gold_sql)).correct
        except SqljuryError as error:
            sql = f"-- {error}"
    return {"id": example.id, "db_id": example.db_id, "kind": kind, "sql": sql, "right": right}


def report(out: Path) -> None:
    """Print accuracy by kind on the questions that have all three, and which questions comments won and lost."""
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    by_id: dict[str, dict[str, bool]] = {}
    for line in lines:
        by_id.setdefault(line["id"], {})[line["kind"]] = line["right"]
    whole = [kinds for kinds in by_id.values() if set(kinds) == set(KINDS)]
    for kind in KINDS:
        share = Share(sum(kinds[kind] for kinds in whole), len(whole))
        low, high = share.interval()
        print(f"{kind}: EX {share.percent:.1f} % ({low:.0f} - {high:.0f}) of {share.total}")
    won = sum(kinds["commented"] and not kinds["cryptic"] for kinds in whole)
    lost = sum(kinds["cryptic"] and not kinds["commented"] for kinds in whole)
    print(f"comments won {won} questions and lost {lost}")


def main() -> None:
    """Answer what is left to answer, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"))
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if arguments.report:
        report(arguments.report)
        return
    if arguments.out is None:
        parser.error("give --out FILE, or --report FILE")
    chosen = sorted(sample(load(arguments.data, "train"), arguments.limit, arguments.seed), key=lambda e: e.db_id)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if arguments.out.exists():
        done = {(line["id"], line["kind"]) for line in map(json.loads, arguments.out.read_text().splitlines())}
    with (
        TemporaryDirectory() as folder,
        closing(open_model(arguments.model, cache=False)) as model,
        arguments.out.open("a", encoding="utf-8") as stream,
    ):
        for example in chosen:
            files = copies(example, Path(folder))
            for kind in KINDS if files is not None else ():
                if (example.id, kind) in done:
                    continue
                line = answered(example, files, kind, model, arguments.recipe) if files is not None else None
                if line is not None:
                    stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                    stream.flush()


if __name__ == "__main__":
    main()
