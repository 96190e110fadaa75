from __future__ import annotations

import csv
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sqljury.datasets.formats import read_pairs
from sqljury.datasets.pairs import Gold, database_files
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import judge as evaluation
from sqljury.evaluation.judge import Evaluation, check, evaluate
from sqljury.evaluation.targets import Targets
from sqljury.metrics.case import Case, Options, Remembered, Score
from sqljury.metrics.registry import METRICS, named
from sqljury.metrics.ves import Effort
from sqljury.types import Limits, Result

SHARED = Path(__file__).resolve().parents[3] / "shared"
Judge = Callable[..., Evaluation]

ALL = tuple(METRICS)
FUZZ = int(os.environ.get("SQLJURY_FUZZ", "2500" if os.environ.get("CI") else "300"))
"""About how many different predictions the fuzz test judges, each by every metric."""
QUICK = Options(limits=Limits(seconds=0.3), effort=Effort(repeats=3, seconds=0.1))
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def test_every_metric_on_every_pair(judge: Judge) -> None:
    found = judge(
        ("SELECT kind FROM pet", "SELECT kind FROM pet"),
        ("SELECT kind FROM pet", "SELECT DISTINCT kind FROM pet"),
        ("SELECT kind , age FROM pet", "SELECT age , kind FROM pet"),
        ("SELECT kind FROM pet", "no query"),
        metrics=[name for name in ALL if not METRICS[name].timed],
    )
    assert {name: found.column(name) for name in found.judged[0].scores} == {
        "esm": [1, 1, 1, 0],
        "esm_values": [1, 1, 1, 0],
        "esm_plus": [1, 0, 1, 0],
        "esm_plus_strict": [1, 0, 1, 0],
        "ex": [1, 0, 1, 0],
        "exe": [1, 1, 1, 0],
        "exe_keep_distinct": [1, 0, 1, 0],
        "suite": [1, 1, 1, 0],
        "suite_keep_distinct": [1, 0, 1, 0],
        "ex_bird": [1, 1, 0, 0],
        "soft_f1": [1, 1, 1, 0],
    }
    assert [one.hardness for one in found.judged] == ["easy", "easy", "medium", "easy"]
    assert found.faults == []


def test_strict_mode_is_a_column_of_its_own(judge: Judge) -> None:
    either = "SELECT kind FROM pet WHERE age = 1 AND id = 2 OR id = 3"
    other = "SELECT kind FROM pet WHERE age = 1 OR id = 2 AND id = 3"
    found = judge((either, other), metrics=("esm_plus", "esm_plus_strict"))
    assert (found.column("esm_plus"), found.column("esm_plus_strict")) == ([1], [0])
    assert found.judged[0].scores["esm_plus_strict"] == Score(0.0, "differs in where", ("where",))


def test_values_count_in_esm_where_they_are_asked_for(judge: Judge) -> None:
    found = judge(
        ("SELECT kind FROM pet WHERE age = 1", "SELECT kind FROM pet WHERE age = 2"), metrics=("esm", "esm_values")
    )
    assert (found.column("esm"), found.column("esm_values")) == ([1], [0])


def test_exe_looks_at_the_whole_suite_and_ex_at_one_database(judge: Judge) -> None:
    lucky = ("SELECT id FROM pet WHERE age = 3", "SELECT id FROM pet WHERE id = 1")
    found = judge(lucky, metrics=("ex", "exe"))
    assert (found.column("ex"), found.column("exe")) == ([1], [0])
    score = found.judged[0].scores["exe"]
    assert score is not None
    assert score.reason == "other rows than gold (database 2 of 2)"


def test_values_are_plugged_on_request(judge: Judge) -> None:
    pair = ("SELECT id FROM pet WHERE age = 3", "SELECT id FROM pet WHERE age = 'terminal'")
    assert judge(pair, metrics=("exe",)).column("exe") == [0]
    assert judge(pair, metrics=("exe",), options=Options(plug_values=True)).column("exe") == [1]


def test_the_word_value_is_one_for_the_published_metrics_only(judge: Judge) -> None:
    pair = ("SELECT id FROM pet WHERE age = 1 AND id = 3", "SELECT id FROM pet WHERE age = value AND id = 3")
    found = judge(pair)
    assert {name: found.column(name) for name in ("ex", "exe", "esm")} == {"ex": [0], "exe": [1], "esm": [1]}


def test_timed_metrics_are_zero_for_wrong_predictions(judge: Judge) -> None:
    query = "SELECT count(*) FROM pet"
    found = judge((query, query), (query, "SELECT 4"), metrics=("ves", "r-ves"), options=QUICK)
    for name in ("ves", "r_ves"):
        right, wrong = found.column(name)
        assert right is not None
        assert 0.3 < right < 3
        assert wrong == 0


def test_gold_that_fails_is_no_ones_mistake_and_named(judge: Judge) -> None:
    found = judge(("SELECT breed FROM pet", "SELECT kind FROM pet"), ("SELECT id FROM pet WHERE 0", "SELECT 1 WHERE 0"))
    assert found.column("ex") == [None, 1]
    assert found.column("esm") == [0, 0]
    assert "breed" in found.faults[0].fault
    assert found.faults[1].fault == "the gold query returns nothing"


def test_gold_that_never_ends_is_a_fault(judge: Judge) -> None:
    found = judge((ENDLESS, "SELECT 1"), ("SELECT 1", "SELECT 1"), metrics=("ex",), options=QUICK)
    assert found.column("ex") == [None, 1]
    assert "limit" in found.faults[0].fault


def test_a_prediction_that_never_ends_is_one_wrong_answer(judge: Judge) -> None:
    start = time.monotonic()
    found = judge(("SELECT 1", ENDLESS), ("SELECT 1", "SELECT 1"), metrics=("ex", "esm", "exe"), options=QUICK)
    assert found.column("ex") == found.column("exe") == [0, 1]
    assert time.monotonic() - start < 5


class _Stuck:
    """Stands for an engine that hangs or crashes inside one step, where no limit of its own is looked at."""

    def __init__(self, database: Any) -> None:
        self.database = database

    def execute(self, sql: str, limits: Limits) -> Result:
        if "hang" in sql:
            time.sleep(600)
        if "crash" in sql:
            os.kill(os.getpid(), signal.SIGKILL)
        result: Result = self.database.execute(sql, limits)
        return result


def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is patched here reaches processes that are forked, which is done where no other thread runs."""
    monkeypatch.setattr("sqljury.parallel.processes.threading.active_count", lambda: 1)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are forked, so they see the change."""
    monkeypatch.setattr("sqljury.evaluation.targets.Remembered", lambda db, tell: Remembered(_Stuck(db), tell))
    monkeypatch.setattr(evaluation, "GRACE_SECONDS", 2.0)
    forked(monkeypatch)


def test_what_nothing_else_stops_is_killed(judge: Judge, stuck: None) -> None:
    found = judge(
        ("SELECT kind FROM pet", "SELECT kind FROM pet -- hang"),
        ("SELECT kind FROM pet", "SELECT kind FROM pet -- crash"),
        ("SELECT kind FROM pet WHERE kind = 'hang'", "SELECT kind FROM pet"),
        ("SELECT kind FROM pet", "SELECT kind FROM pet"),
        options=QUICK,
        processes=2,
    )
    assert found.column("esm")[3] == 1
    assert found.column("ex") == [0, 0, None, 1]
    reasons = [one.scores["exe"] for one in found.judged]
    assert reasons[0] is not None
    assert "was killed" in reasons[0].reason
    assert reasons[1] is not None
    assert "SIGKILL" in reasons[1].reason
    assert found.judged[2].fault.startswith("the gold query did not end")
    assert [one.hardness for one in found.judged] == ["easy"] * 4


def test_what_the_text_alone_decides_outlasts_the_killing(judge: Judge, stuck: None) -> None:
    found = judge(("SELECT kind FROM pet WHERE kind = 'a'", "SELECT kind FROM pet WHERE kind = 'hang'"), options=QUICK)
    assert (found.column("esm"), found.column("ex")) == ([1], [0])


def test_a_metric_that_fails_on_a_prediction_is_a_wrong_answer(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: Case) -> Any:
        raise RecursionError("too deep")

    forked(monkeypatch)
    monkeypatch.setitem(METRICS, "esm", METRICS["esm"].__class__("esm", "ESM", broken))
    found = judge(("SELECT 1", "SELECT 1"), metrics=("esm", "ex"))
    score = found.judged[0].scores["esm"]
    assert (score.value, score.reason) == (0.0, "ESM failed on this pair: RecursionError: too deep")
    assert found.column("ex") == [1]


def test_more_processes_say_the_same(judge: Judge) -> None:
    queries = [("SELECT id FROM pet", f"SELECT {column} FROM pet") for column in ("id", "age", "kind")] * 20
    queries += [("SELECT id FROM item", "SELECT item_id FROM sale", "shop")] * 20
    one, three = judge(*queries), judge(*queries, processes=3)
    assert [judged.scores for judged in one.judged] == [judged.scores for judged in three.judged]


def test_gold_by_itself_is_perfect_or_named(files: Mapping[str, Sequence[Path]]) -> None:
    golds = [
        Gold("0", "SELECT kind FROM pet", "pets"),
        Gold("1", "SELECT breed FROM pet", "pets"),
        Gold("2", "SELECT CASE WHEN 1 THEN 2 END FROM pet", "pets"),
    ]
    found = check(golds, Targets(files), named(("ex", "exe", "esm", "ves")))
    assert [one.pair.gold.id for one in found.imperfect] == ["1", "2"]
    assert [metric.name for metric in found.metrics] == ["ex", "exe", "esm"]


def test_foreign_keys_come_from_tables_json_where_it_is_given(judge: Judge, tmp_path: Path) -> None:
    pair = (
        "SELECT T1.id FROM item AS T1 JOIN sale AS T2 ON T1.id = T2.item_id",
        "SELECT T2.item_id FROM item AS T1 JOIN sale AS T2 ON T1.id = T2.item_id",
        "shop",
    )
    assert judge(pair, metrics=("esm",)).column("esm") == [1]
    tables = tmp_path / "tables.json"
    tables.write_text(
        '[{"db_id": "shop", "table_names_original": ["item", "sale"], "foreign_keys": [],'
        ' "column_names_original": [[-1, "*"], [0, "id"], [0, "price"], [1, "id"], [1, "item_id"]]}]'
    )
    assert judge(pair, metrics=("esm",), tables=tables).column("esm") == [0]
    tables.write_text("{}")
    assert judge(pair, metrics=("esm",), tables=tables).column("esm") == [1]
    tables.write_text("[1]")
    with pytest.raises(DatasetError, match=r"is not a tables\.json"):
        judge(pair, tables=tables)


def test_names_of_metrics() -> None:
    assert [metric.name for metric in named(["R-VES", "exe", "EXE", "esm+"])] == ["r_ves", "exe", "esm_plus"]
    assert [metric.name for metric in named(["esm+strict", "ESM+-strict"])] == ["esm_plus_strict"]
    with pytest.raises(InputError, match="no metric 'bleu'; give some of esm, esm_values, esm_plus, esm_plus_strict"):
        named(["bleu"])


def test_a_remembered_result_is_not_run_again() -> None:
    class Counting:
        runs = 0

        def execute(self, sql: str, limits: Limits) -> Result:
            self.runs += 1
            return Result(("a",), ((1,),) * 50, seconds=2.0)

    counting = Counting()
    database = Remembered(counting, max_cells=150)
    for sql in ("a", "b", "a", "b"):
        database.execute(sql)
    assert counting.runs == 2
    database.execute("c")  # only two fit
    database.execute("b")
    assert counting.runs == 3
    database.spent, database.patience = 0.0, 3.0
    assert [database.execute(sql).ok for sql in ("d", "e", "f", "e")] == [True, True, False, True]
    assert counting.runs == 5
    assert database.again("e").ok
    assert counting.runs == 6


def test_databases_are_closed_when_many_are_open(
    files: Mapping[str, Sequence[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqljury.evaluation.targets.MAX_OPEN", 2)
    targets = Targets(files)
    first = targets.target("pets")
    assert targets.target("pets") is first
    targets.target("shop")
    assert targets.target("pets") is not first
    targets.close()


TEXT = """
    SELECT FROM WHERE ( ) , * count pet kind age = 1 'a' AND OR GROUP BY HAVING ORDER LIMIT JOIN ON AS T1 T1.id . value
    UNION INTERSECT EXCEPT IN NOT LIKE BETWEEN DISTINCT -- ; " ` NULL IS CASE WHEN
"""
WORDS = st.sampled_from(TEXT.split())


GOLD = "SELECT kind FROM pet WHERE age > 1 AND kind = 'dog'"
MUTANTS = st.tuples(
    st.permutations(range(len(GOLD.split()))), st.integers(0, 3), st.lists(st.tuples(st.integers(0, 11), WORDS))
).map(lambda drawn: mutant(*drawn))


def mutant(order: list[int], swaps: int, inserted: list[tuple[int, str]]) -> str:
    """Gold with a few words put in another's place and some put in."""
    words = GOLD.split()
    for one, other in zip(order[:swaps], order[-swaps:], strict=False):
        words[one] = words[other]
    for place, word in inserted[:4]:
        words.insert(place, word)
    return " ".join(words)


PREDICTIONS = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=25).map(" ".join), MUTANTS)


def drawn_predictions() -> list[str]:
    """Some ``FUZZ`` predictions, each once: judged in one call, since every call starts processes and opens files."""
    drawn: dict[str, None] = {}

    @settings(
        max_examples=FUZZ // 30,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(PREDICTIONS, min_size=20, max_size=40, unique=True))
    def draw(predictions: list[str]) -> None:
        drawn.update(dict.fromkeys(predictions))

    draw()
    return list(drawn)


def test_no_prediction_makes_a_metric_crash(judge: Judge) -> None:
    predictions = drawn_predictions()
    assert len(predictions) > FUZZ / 3, len(predictions)
    options = Options(plug_values=True, limits=Limits(seconds=5), effort=Effort(repeats=1, seconds=0.01))
    found = judge(*((GOLD, text) for text in predictions), metrics=ALL, options=options)
    assert [one.fault for one in found.judged if one.fault] == []
    reasons = {
        (text, score.reason)
        for text, one in zip(predictions, found.judged, strict=True)
        for score in one.scores.values()
        if score is not None and re.search("failed on this pair|process died", score.reason)
    }
    assert reasons == set()


@pytest.mark.shared
@pytest.mark.parametrize("model", ["DAIL", "DIN", "C3"])
def test_spider_dev_as_the_published_programs_judge_it(model: str) -> None:
    folder = SHARED / "predictions/spider_dev"
    pairs = read_pairs(folder / "gold.txt", folder / f"{model}.txt")
    files = database_files(SHARED / "spider/database", [pair.gold for pair in pairs])
    names = ("exe", "exe_keep_distinct", "esm")
    found = evaluate(pairs, Targets(files, SHARED / "spider/tables.json"), named(names), processes=2)
    with (SHARED / f"verdicts/spider_dev/{model}.tsv").open(encoding="utf-8", newline="") as file:
        verdicts = list(csv.DictReader(file, delimiter="\t"))
    for name in names:
        assert found.column(name) == [float(verdict[name]) for verdict in verdicts]
    assert [one.hardness for one in found.judged] == [verdict["hardness"] for verdict in verdicts]
    assert len(found.faults) == 93


@pytest.mark.shared
def test_spider_dev_gold_is_perfect() -> None:
    pairs = read_pairs(SHARED / "predictions/spider_dev/gold.txt", SHARED / "predictions/spider_dev/gold.txt")
    files = database_files(SHARED / "spider/database", [pair.gold for pair in pairs])
    names = [name for name in ALL if not (METRICS[name].timed or name.startswith("suite"))]
    assert check([pair.gold for pair in pairs], Targets(files), named(names), processes=2).imperfect == []


def test_it_works_beside_other_threads(judge: Judge) -> None:
    """Then processes are not forked, so all that they need has to travel."""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        found = judge(("SELECT id FROM pet", "SELECT id FROM pet"), ("SELECT id FROM pet", "SELECT 1"))
    finally:
        stop.set()
        thread.join()
    assert found.column("exe") == [1, 0]


def test_what_is_right_by_luck_fails_on_the_suite(judge: Judge, suite: Path) -> None:
    gold = "SELECT id FROM item WHERE price > 3"
    found = judge((gold, "SELECT id FROM item WHERE id = 2", "shop"), (gold, gold, "shop"), metrics=("ex", "suite"))
    assert (found.column("ex"), found.column("suite")) == ([1, 1], [0, 1])
    score = found.judged[0].scores["suite"]
    assert score is not None
    assert score.reason.startswith("right by luck: ")
    assert Path(score.reason.rsplit(" in ", 1)[1]).parent == suite / "shop"


def test_the_metric_suite_needs_one(files: Mapping[str, Sequence[Path]], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="suite needs databases; make them with `sqljury suite build`"):
        evaluate([], Targets(files), named(["suite"]))
    with pytest.raises(DatasetError, match="has no databases for 'pets'"):
        Targets(files, suite=tmp_path)
