from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from sqljury.errors import InputError
from sqljury.evaluation.agree import agree, reference, with_labels
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation

Judge = Callable[..., Evaluation]

QUERIES = (
    ("SELECT kind FROM pet", "SELECT kind FROM pet"),
    ("SELECT kind FROM pet WHERE id = 2", "SELECT kind FROM pet WHERE kind = 'cat'"),
    ("SELECT kind FROM pet WHERE id = 1", "SELECT kind FROM pet WHERE id = 2"),
    ("SELECT count(*) FROM pet", "SELECT sum(1) FROM pet"),
    ("SELECT breed FROM pet", "SELECT kind FROM pet"),
)
METRICS = ("exe", "esm", "esm_values", "esm_plus", "soft_f1")


def test_confusion_of_every_two_metrics(judge: Judge) -> None:
    found = to_json(agree(judge(*QUERIES, metrics=METRICS)))
    pairs = {(pair["first"], pair["second"]): pair for pair in found["confusion"]}
    assert len(pairs) == 6
    both = pairs["EXE", "ESM"]
    assert (both["both"], both["first_only"], both["second_only"], both["neither"]) == (1, 2, 1, 0)
    assert both["agreement"] == 25.0
    json.dumps(found)


def test_errors_against_execution_in_percent_of_what_it_can_judge(judge: Judge) -> None:
    found = to_json(agree(judge(*QUERIES, metrics=METRICS)))
    assert found["reference"] == "exe"
    assert found["errors"]["esm"] == {"false_positives": 25.0, "false_negatives": 50.0, "title": "ESM"}
    assert found["errors"]["esm_values"]["false_positives"] == 0.0
    assert found["errors"]["esm_plus"]["false_negatives"] == 50.0
    assert found["errors"]["exe"]["false_negatives"] == 0.0


def test_what_execution_accepts_and_esm_plus_refuses(judge: Judge) -> None:
    refused = to_json(agree(judge(*QUERIES, metrics=METRICS)))["refused"]
    assert list(refused) == ["esm_plus"]
    assert [(pair["index"], pair["reason"]) for pair in refused["esm_plus"]["pairs"]] == [
        (1, "differs in where"),
        (3, refused["esm_plus"]["pairs"][1]["reason"]),
    ]
    assert refused["esm_plus"]["pairs"][0]["predicted"] == QUERIES[1][1]
    assert refused["esm_plus"]["clauses"]["where"] == 1
    assert sum(refused["esm_plus"]["clauses"].values()) == 2


def test_distinct_counts_where_it_can(judge: Judge) -> None:
    assert reference(("exe", "exe_keep_distinct", "esm_plus")) == "exe_keep_distinct"
    assert agree(judge(*QUERIES, metrics=("exe", "exe_keep_distinct"))).reference == "exe_keep_distinct"
    with pytest.raises(InputError, match="nothing to agree with; add one of exe_keep_distinct, exe, ex, "):
        agree(judge(*QUERIES, metrics=("esm", "esm_plus")))


def test_judgements_by_hand_come_before_execution(judge: Judge) -> None:
    found = judge(*QUERIES, metrics=METRICS)
    labelled = with_labels(found, [1, 0, 0, 1, None])
    report = to_json(agree(labelled))
    assert report["reference"] == "right"
    assert report["errors"]["exe"] == {"false_positives": 25.0, "false_negatives": 0.0, "title": "EXE"}
    assert report["errors"]["esm_plus"]["false_negatives"] == 25.0
    assert labelled.column("right") == [1, 0, 0, 1, None]
