"""Estimated tokens of Spider's schemas in a prompt: keys declared, the same keys taken for likely ones, no keys.

python benchmarks/likely_keys.py ../shared/spider [--split train|dev]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.sql.text import tokens
from sqljury.types import Schema, Table
from sqljury.types.schema import Form


def likely(table: Table) -> Table:
    """The table with each of its keys taken for an inferred one."""
    keys = tuple(replace(key, declared=False, score=0.9) for key in table.foreign_keys)
    candidates = (table.primary_key,) if table.primary_key else ()
    return replace(table, primary_key=(), candidate_keys=candidates, foreign_keys=keys)


def without(table: Table) -> Table:
    """The table without keys."""
    return replace(table, primary_key=(), foreign_keys=())


def main() -> None:
    """Print a line for each form of a schema."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spider", type=Path)
    parser.add_argument("--split", default="train", choices=["train", "dev"])
    options = parser.parse_args()
    questions = json.loads((options.spider / f"{options.split}.json").read_text(encoding="utf-8"))
    databases = sorted({question["db_id"] for question in questions})
    total: Counter[tuple[Form, str]] = Counter()
    for name in databases:
        with connect(options.spider / "database" / name / f"{name}.sqlite") as db:
            declared = introspect(db)
        for kind, change in (("likely", likely), ("none", without)):
            schema = Schema(name, declared.dialect, tuple(map(change, declared.tables)))
            for form in get_args(Form):
                total[form, kind] += tokens(render(schema, form=form))
        for form in get_args(Form):
            total[form, "declared"] += tokens(render(declared, form=form))
    print(f"{len(databases)} schemas of {options.split}, estimated tokens")
    for form in get_args(Form):
        base = total[form, "declared"]
        kinds = ", ".join(
            f"{kind} {total[form, kind]:,} ({total[form, kind] / base - 1:+.1%})" for kind in ("likely", "none")
        )
        print(f"{form}: declared {base:,}, {kinds}")


if __name__ == "__main__":
    main()
