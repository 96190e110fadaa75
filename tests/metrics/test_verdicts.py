"""Every query of Spider dev against what the published programs answer for three models."""

from __future__ import annotations

import csv
import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.metrics.esm import ForeignKeys, differing_clauses
from sqljury.metrics.execution import EX, EXE, EXE_KEEP_DISTINCT, Rules, suite_match
from sqljury.metrics.hardness import hardness
from sqljury.metrics.partial import partial_match
from sqljury.metrics.spider import Names, parse, parse_or_empty

SHARED = Path(__file__).resolve().parents[3] / "shared"
MODELS = ("DAIL", "DIN", "C3")

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared")]


@functools.cache
def verdicts(model: str) -> list[dict[str, str]]:
    with (SHARED / "verdicts/spider_dev" / f"{model}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@functools.cache
def lines(name: str) -> list[list[str]]:
    text = (SHARED / "predictions/spider_dev" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


@functools.cache
def database(db_id: str) -> Database:
    return connect(SHARED / "spider/database" / db_id / f"{db_id}.sqlite")


@functools.cache
def tables_json() -> dict[str, dict[str, Any]]:
    entries = json.loads((SHARED / "spider/tables.json").read_text(encoding="utf-8"))
    return {entry["db_id"]: entry for entry in entries}


@functools.cache
def names() -> dict[str, Names]:
    return {db: Names.of_entry(entry) for db, entry in tables_json().items()}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("rules", "column"),
    [(EXE, "exe"), (EXE_KEEP_DISTINCT, "exe_keep_distinct"), (EX, "exe_keep_distinct")],
    ids=["EXE", "EXE with DISTINCT", "EX"],
)
def test_execution_accuracy(model: str, rules: Rules, column: str) -> None:
    pairs = zip(lines("gold"), lines(model), strict=True)
    ours = [str(int(suite_match([database(db)], gold, line[0], rules).correct)) for (gold, db), line in pairs]
    assert ours == [verdict[column] for verdict in verdicts(model)]


def test_hardness() -> None:
    ours = [hardness(parse(gold, names()[db])) for gold, db in lines("gold")]
    assert ours == [verdict["hardness"] for verdict in verdicts("DAIL")]


@pytest.mark.parametrize("model", MODELS)
def test_exact_set_match(model: str) -> None:
    keys = {db: ForeignKeys.of_entry(entry) for db, entry in tables_json().items()}
    ours = [
        str(
            int(not differing_clauses(parse(gold, names()[db]), parse_or_empty(line[0].strip(), names()[db]), keys[db]))
        )
        for (gold, db), line in zip(lines("gold"), lines(model), strict=True)
    ]
    assert ours == [verdict["esm"] for verdict in verdicts(model)]


@pytest.mark.parametrize("model", MODELS)
def test_partial_match_is_exact_match_in_parts(model: str) -> None:
    """The published program calls a pair exact when every part is right and the tables are."""
    keys = {db: ForeignKeys.of_entry(entry) for db, entry in tables_json().items()}
    for (gold, db), line, verdict in zip(lines("gold"), lines(model), verdicts(model), strict=True):
        pair = parse(gold, names()[db]), parse_or_empty(line[0].strip(), names()[db])
        parts = all(part.right for part in partial_match(*pair, keys[db]).values())
        assert (parts and Counter(pair[0].tables) == Counter(pair[1].tables)) == (verdict["esm"] == "1")


def test_every_gold_query_of_train_can_be_read() -> None:
    entries = json.loads((SHARED / "spider/train.json").read_text(encoding="utf-8"))
    for entry in entries:
        assert parse(entry["query"], names()[entry["db_id"]]).tables
