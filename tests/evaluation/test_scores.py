from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sqljury.datasets.reading import Document
from sqljury.evaluation.agree import with_labels
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.scores import findings, provenance, slices, tsv

Judge = Callable[..., Evaluation]

QUERIES = (
    ("SELECT kind FROM pet", "SELECT kind FROM pet"),
    ("SELECT kind FROM pet WHERE age > 1", "SELECT kind FROM pet"),
    ("SELECT breed FROM pet", "SELECT kind FROM pet"),
    ("SELECT price , sale.id FROM item JOIN sale ON item.id = sale.item_id", "SELECT price FROM item", "shop"),
)


def test_totals_in_percent_and_faults_first(judge: Judge) -> None:
    found = to_json(findings(judge(*QUERIES, metrics=("ex", "esm", "soft_f1"))))
    assert list(found)[:3] == ["queries", "seconds", "gold"]
    assert [fault["index"] for fault in found["gold"]] == [2]
    assert found["gold"][0]["place"] == "gold.txt, line 3"
    ex = found["metrics"]["ex"]
    assert (ex["judged"], ex["percent"]) == (3, 33.3333)
    assert ex["low"] <= ex["percent"] <= ex["high"]
    assert ex["hardness"] == {"easy": {"queries": 2, "percent": 50.0}, "medium": {"queries": 1, "percent": 0.0}}
    assert found["partial"]["select"]["all"]["recall"] == 0.667
    assert "interactions" not in ex
    json.dumps(found)


def test_a_dialogue_is_right_when_every_turn_is(judge: Judge) -> None:
    right, wrong = ("SELECT id FROM pet", "SELECT id FROM pet", "pets"), ("SELECT id FROM pet", "SELECT 1", "pets")
    turns = [(*right, 0), (*right, 0), (*right, 1), (*wrong, 1), *[(*right, 2)] * 6]
    found = to_json(findings(judge(*turns, metrics=("ex",))))["metrics"]["ex"]["interactions"]
    assert (found["interactions"], found["percent"]) == (3, 66.6667)
    assert {turn: part["queries"] for turn, part in found["turns"].items()} == {
        "1": 3,
        "2": 3,
        "3": 1,
        "4": 1,
        "> 4": 2,
    }
    assert found["turns"]["2"]["percent"] == 66.6667


def test_a_line_a_query(judge: Judge) -> None:
    assert tsv(judge(*QUERIES, metrics=("exe", "esm", "soft_f1"))).splitlines() == [
        "index\thardness\texe\tesm\tsoft_f1\tid",
        "0\teasy\t1\t1\t1.0000\t0",
        "1\teasy\t0\t0\t1.0000\t1",
        "2\t\t\t0\t\t2",
        "3\tmedium\t0\t0\t0.3333\t3",
    ]


def test_an_id_stays_in_its_cell(judge: Judge) -> None:
    found = judge(QUERIES[0], metrics=("esm",))
    one = found.judged[0]
    odd = replace(one, pair=one.pair._replace(gold=replace(one.pair.gold, id="a\tb\n\x1b[31m\u2028c")))
    assert tsv(replace(found, judged=(odd,))).split("\n")[1] == "0\teasy\t1\ta b [31m c"


def test_a_hash_is_of_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "gold.txt"
    file.write_bytes(b"before")
    document = Document.of(file)
    file.write_bytes(b"after")
    assert provenance([document], {}).files == {str(file): hashlib.sha256(b"before").hexdigest()}


def test_slices_by_all_that_may_explain_a_score(judge: Judge) -> None:
    found = slices(judge(*QUERIES, metrics=("ex",)), "ex")
    assert found["joins"] == {"0": (2, 0.5), "1": (1, 0.0)}
    assert found["database"] == {"pets": (2, 0.5), "shop": (1, 0.0)}
    assert found["clause"] == {"JOIN": (1, 0.0), "WHERE": (1, 0.0)}
    assert list(found["hardness"]) == ["easy", "medium"]


def test_what_an_evaluation_rests_on(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    one.write_bytes(b"ab")
    other.write_bytes(b"c")
    found = to_json(provenance([one], {"pets": (one, other), "shop": (other,)}))
    assert found["files"] == {str(one): hashlib.sha256(b"ab").hexdigest()}
    assert found["databases"]["pets"] != found["databases"]["shop"]
    other.write_bytes(b"d")
    assert provenance([], {"pets": (one, other)}).databases["pets"] != found["databases"]["pets"]
    assert set(found) == {"files", "databases", "all_databases", "sqljury", "python", "sqlite"}
    assert found["all_databases"] != provenance([], {"pets": (one, other)}).all_databases


def test_judgements_by_hand_are_not_compared_with_another_file(judge: Judge) -> None:
    evaluation = judge(*QUERIES, metrics=("ex",))
    found = findings(with_labels(evaluation, [1.0, 0.0, None, 0.0]), evaluation)
    assert list(found.against) == ["ex"]
