"""Which columns get a remark on what their values mean, and what reading the rows for it costs.

    python benchmarks/meanings.py ../shared/spider/train.json
    python benchmarks/meanings.py shop.db postgresql://reader@127.0.0.1/shop

For a file of questions in Spider's form, all its databases. A line a remark: database, table, column, type, the remark
in every prompt, the one with `types`, and some values; at the end the counts, and the seconds that reading 3 and 50
rows of each table took.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from sqljury import connect
from sqljury.db.base import Database
from sqljury.schema.introspect import introspect
from sqljury.schema.meanings import meanings, odd, phrase
from sqljury.schema.samples import sample
from sqljury.stages.prepare import SEEN_ROWS

SHOWN_ROWS = 3


def remarks(db: Database) -> tuple[int, int, int, float, float]:
    """Print the remarks; the numbers of columns, of remarks, of those in every prompt, and both times."""
    schema = introspect(db)
    columns = found = always = 0
    start = time.perf_counter()
    sample(db, schema, SHOWN_ROWS)
    few = time.perf_counter() - start
    start = time.perf_counter()
    samples = sample(db, schema, SEEN_ROWS, least=SHOWN_ROWS)
    many = time.perf_counter() - start
    for table in schema.tables:
        columns += len(table.columns)
        rows = samples.get(table.name)
        if rows is None:
            continue
        known = meanings(table, rows)
        brief = odd(table, known, schema.dialect, replace(rows, rows=rows.rows[:SHOWN_ROWS]))
        found, always = found + len(known), always + len(brief)
        for column in table.columns:
            if column.name in known:
                index = rows.columns.index(column.name)
                words = brief.get(column.name, "-"), phrase(known[column.name], column)
                values = [row[index] for row in rows.rows[:SHOWN_ROWS]]
                print(db.name, table.name, column.name, column.type, *words, values, sep=" | ")
    return columns, found, always, few, many


def main() -> None:
    """Count over all databases that are named."""
    targets: list[str] = []
    for argument in sys.argv[1:]:
        if argument.endswith(".json"):
            names = sorted({str(entry["db_id"]) for entry in json.loads(Path(argument).read_text(encoding="utf-8"))})
            targets += [str(Path(argument).parent / "database" / name / f"{name}.sqlite") for name in names]
        else:
            targets.append(argument)
    totals = [0.0] * 5
    for target in targets:
        with connect(target) as db:
            totals = [total + part for total, part in zip(totals, remarks(db), strict=True)]
    columns, found, always, few, many = totals
    print(f"{columns:.0f} columns; remarks with `types` {found:.0f}, in every prompt {always:.0f}", end="; ")
    print(f"{few:.2f} s for {SHOWN_ROWS} rows of each table, {many:.2f} s for {SEEN_ROWS}")


if __name__ == "__main__":
    main()
