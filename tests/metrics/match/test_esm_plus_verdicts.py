"""ESM+ against what the published program answers for three models on Spider dev."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.metrics.esm_plus import NUMBERS, STRICT, Facts, Options, esm_plus
from sqljury.schema.introspect import introspect

SHARED = Path(__file__).resolve().parents[4] / "shared"
MODELS = ("DAIL", "DIN", "C3")

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared")]


@functools.cache
def verdicts(model: str) -> list[dict[str, str]]:
    with (SHARED / "verdicts/spider_dev" / f"{model}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@functools.cache
def lines(name: str) -> list[list[str]]:
    text = (SHARED / "predictions/spider_dev" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.strip().split("\t") for line in text.splitlines()]


@functools.cache
def facts(db_id: str) -> Facts:
    return Facts.of_schema(introspect(connect(SHARED / "spider/database" / db_id / f"{db_id}.sqlite")))


def judge(model: str, options: Options) -> list[bool]:
    pairs = zip(lines("gold"), lines(model), strict=True)
    return [esm_plus(gold, line[0], facts(db), options).matches for (gold, db), line in pairs]


@pytest.mark.parametrize("model", MODELS)
def test_every_verdict_is_the_published_one(model: str) -> None:
    ours = judge(model, Options())
    theirs = [verdict["esm_plus"] == "1" for verdict in verdicts(model)]
    differ = [index for index, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
    assert len(differ) <= 0.002 * len(theirs), differ
    assert abs(sum(ours) - sum(theirs)) <= 0.001 * len(theirs)
    assert differ == []


def test_every_gold_query_matches_itself() -> None:
    for options in (Options(), Options(disabled=NUMBERS - {14}), STRICT):
        assert all(judge("gold", options))


@pytest.mark.parametrize("model", MODELS)
def test_strict_mode_matches_nothing_that_execution_refuses_but_ties(model: str) -> None:
    """Where rows tie under ORDER BY ... LIMIT, equivalent queries may return different ones."""
    pairs = zip(lines("gold"), judge(model, STRICT), verdicts(model), strict=True)
    refused = [gold for (gold, _), match, verdict in pairs if match and verdict["exe_keep_distinct"] == "0"]
    assert all("LIMIT 1" in gold.upper() for gold in refused)


def test_no_prediction_matches_more_with_fewer_rules_alone() -> None:
    """Figure 7: rules only add matches, up to those that make others possible."""
    none, every = judge("C3", Options(disabled=NUMBERS)), judge("C3", Options())
    assert sum(none) < sum(every)
    assert sum(a and not b for a, b in zip(none, every, strict=True)) == 0
