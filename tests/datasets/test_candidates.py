from __future__ import annotations

import json
import re
from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from sqljury.datasets.candidates import MOST_BYTES, Pool, load
from sqljury.datasets.formats import read_predictions
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError
from sqljury.sql.parse import MAX_SQL_CHARS
from sqljury.types import Question

TABLES = {"pets": frozenset({"cat"}), "more": frozenset({"dog"})}


def examples(*databases: str) -> list[Example]:
    return [
        Example(str(number), Question(f"How many {number}?"), "", db_id, Path(db_id))
        for number, db_id in enumerate(databases)
    ]


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return [folder / name.replace("_", ".") for name in texts]


def queries(pool: Pool) -> list[list[str]]:
    return [[one.sql for one in example.candidates] for example in pool.examples]


def test_files_of_all_formats_are_paired_in_the_order_of_trust(tmp_path: Path) -> None:
    asked = examples("pets", "pets")
    files = written(
        tmp_path,
        A_txt="SELECT 1;\n\n",
        B_json=json.dumps({"0": "SELECT 2\t----- bird -----\tpets", "1": None}),
        A_jsonl='{"id": 1, "sql": "SELECT 4"}\n{"id": 0, "sql": "SELECT DISTINCT 3"}\n',
    )
    pool = load(files, asked)
    assert pool.systems == ("A", "B", "A-2")
    assert queries(pool) == [["SELECT 1", "SELECT 2", "SELECT DISTINCT 3"], ["", "", "SELECT 4"]]
    assert [one.part for one in pool.examples[0].candidates] == [0, 1, 2]
    assert [one.generator for one in pool.examples[0].candidates] == ["A", "B", "A-2"]
    assert pool.faults == ()
    assert pool.places[1][0].endswith("A.txt, line 2")


def test_probabilities_count_where_every_system_has_one(tmp_path: Path) -> None:
    lines = '{"id": 0, "sql": "A", "probability": 0.5}\n{"id": 1, "sql": "B", "probability": "high"}\n'
    other = '{"id": 0, "sql": "C", "logprob": -1}\n{"id": 1, "sql": "D", "logprob": -2}\n'
    pool = load(written(tmp_path, A_jsonl=lines, B_jsonl=other), examples("pets", "pets"))
    first, second = pool.examples
    assert [one.logprob for one in first.candidates] == [log(0.5), -1.0]
    assert [one.logprob for one in second.candidates] == [None, None]
    [fault] = pool.faults
    assert "A.jsonl, line 2" in fault
    assert "'high', not a number above 0" in fault


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "true", '"0.5"', "[1]", "0.5", "1e999"])
def test_what_is_not_a_log_probability(tmp_path: Path, value: str) -> None:
    [file] = written(tmp_path, A_jsonl='{"id": 0, "sql": "A", "logprob": ' + value + "}\n")
    [prediction] = read_predictions(file)
    assert prediction.logprob is None
    assert "not a natural logarithm" in prediction.fault


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "true", '"0.5"', "[1]", "0", "-1", "1.5", "1e999", "9" * 400]
)
def test_what_is_not_a_probability(tmp_path: Path, value: str) -> None:
    [file] = written(tmp_path, A_jsonl='{"id": 0, "sql": "A", "probability": ' + value + "}\n")
    [prediction] = read_predictions(file)
    assert prediction.logprob is None
    assert "not a number above 0" in prediction.fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1\n", "1 predictions for 2 questions: none is left for question '1'"),
        ("SELECT 1\nSELECT 2\nSELECT 3\n", "A.txt, line 3 is one too many"),
        ("SELECT 1\tmore\n", "from .*A.txt, line 1 on they are for other databases"),
        (
            "SELECT 1\tmore\nSELECT 2\tmore\n",
            "line 1: is for the database 'more', its question for 'pets', and so are 2",
        ),
    ],
)
def test_a_file_that_cannot_be_paired_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load(written(tmp_path, A_txt=text), examples("pets", "pets"))


def test_a_file_that_cannot_be_paired_is_left_out_and_the_rest_is_used(tmp_path: Path) -> None:
    bad = written(tmp_path, A_txt="SELECT 1\n", B_txt="", C_txt="\0\0", D_jsonl='{"id": "0", "sql"\n', E_json="[1]")
    (tmp_path / "F.txt").write_bytes(b"SELECT 1\n\xff\xfe\n")
    [good] = written(tmp_path, G_txt="SELECT 1\nSELECT 2\n")
    pool = load([*bad, tmp_path / "F.txt", good], examples("pets", "pets"))
    assert pool.systems == ("G",)
    assert queries(pool) == [["SELECT 1"], ["SELECT 2"]]
    assert [one.part for one in pool.examples[0].candidates] == [0]
    assert len(pool.faults) == 6
    assert all(fault.startswith("a whole file is left out: ") for fault in pool.faults)
    assert "F.txt, line 2: is not UTF-8" in pool.faults[-1]
    with pytest.raises(DatasetError, match=r"G2.txt: cannot be read"):
        load([good, tmp_path / "G2.txt"], examples("pets", "pets"))


def test_queries_and_files_beyond_all_measure(tmp_path: Path) -> None:
    long = f"SELECT '{'a' * MAX_SQL_CHARS}'"
    pool = load(written(tmp_path, A_txt=f"SELECT 1\n{long}\n"), examples("pets", "pets"))
    assert queries(pool) == [["SELECT 1"], []]
    assert "A.txt, line 2: the query has" in pool.faults[0]
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # no such space is taken on disk
    with pytest.raises(DatasetError, match=r"huge.txt: has .* bytes, more than"):
        load([tmp_path / "huge.txt"], examples("pets"))


def test_a_single_line_of_another_database_and_unknown_ids_are_left_out(tmp_path: Path) -> None:
    asked = examples("pets", "pets", "more")
    [lines] = written(tmp_path, A_txt="SELECT 1\tpets\nSELECT 2\tmore\nSELECT 3\tmore\n")
    pool = load([lines], asked)
    assert queries(pool) == [["SELECT 1"], [], ["SELECT 3"]]
    assert "line 2: is for 'more', not 'pets'; left out" in pool.faults[0]
    [keyed] = written(tmp_path, B_jsonl='{"id": 0, "sql": "A"}\n{"id": "x", "sql": "B"}\n{"id": 2, "sql": "C"}\n')
    pool = load([keyed], asked)
    assert queries(pool) == [["A"], [], ["C"]]
    assert "line 2: there is no question with the id 'x'" in pool.faults[0]
    assert "has no prediction for the questions 1" in pool.faults[1]


def test_ids_that_are_not_these_questions(tmp_path: Path) -> None:
    [others] = written(tmp_path, B_jsonl='{"id": "x", "sql": "A"}\n{"id": "y", "sql": "B"}\n')
    with pytest.raises(DatasetError, match="no question with the id 'x', nor with those of 2 of 2"):
        load([others], examples("pets", "pets"))
    with pytest.raises(DatasetError, match="no questions"):
        load([others], [])


@pytest.mark.parametrize("ids", [(1, 2, 3), (1, 3)])
def test_ids_that_count_from_one_are_not_those_of_the_questions(tmp_path: Path, ids: tuple[int, ...]) -> None:
    lines = "".join(f'{{"id": {id_}, "sql": "SELECT {id_}"}}\n' for id_ in ids)
    files = written(tmp_path, A_jsonl=lines, B_json=json.dumps({str(id_): "SELECT 1" for id_ in ids}))
    for file in files:
        with pytest.raises(DatasetError, match="the ids run from 1 to 3, those of the questions from 0 to 2"):
            load([file], examples("pets", "pets", "pets"))
    named = [replace(example, id=str(number)) for number, example in enumerate(examples("a", "b", "c"), 1)]
    assert queries(load(files[:1], named))[0] == ["SELECT 1"]


def test_a_bad_line_with_an_id_leaves_the_others(tmp_path: Path) -> None:
    lines = [f'{{"question_id": {number}, "sql": "SELECT {number}"}}' for number in range(5)]
    lines[2] = '{"id": 2, "sql": '
    lines.insert(5, '{"id": 4, "sql": "SELECT 9"}')
    lines.insert(1, lines[0])
    pool = load(written(tmp_path, A_jsonl="\n".join([*lines, '{"sql": "SELECT 1"}', "[]"])), examples(*["pets"] * 5))
    assert queries(pool) == [["SELECT 0", "SELECT 0"], ["SELECT 1"], [], ["SELECT 3"], ["SELECT 4", "SELECT 9"]]
    for told, line in zip(pool.faults, (None, 4, 8, 9), strict=True):
        assert f"A.jsonl, line {line}: " in told or line is None
    assert "has no prediction for the questions 2" in pool.faults[0]


def test_a_list_of_predictions_is_named_as_what_it_is(tmp_path: Path) -> None:
    files = written(tmp_path, A_json='["SELECT 1"]')
    with pytest.raises(DatasetError, match=r"A.json: begins as a JSON list, .* \(BIRD\), or a line"):
        load(files, examples("pets"))
    with pytest.raises(DatasetError, match="there is no format 'dev' of predictions; give one of lines, blocks, bird"):
        load(files, examples("pets"), "dev")


def test_names_of_tables_are_read_as_sqlite_reads_them(tmp_path: Path) -> None:
    named = (
        'SELECT 1 FROM "order details" AS o JOIN [order details] ON 1',
        "SELECT 1 FROM main.cat JOIN main.`order details`",
        'SELECT 1 FROM cat WHERE name = "gift from China" -- from nowhere',
        "SELECT extract(year FROM born), trim(both FROM name) FROM cat JOIN json_each(cat.tags) /* join none */",
        'WITH "my cats"(a) AS NOT MATERIALIZED (SELECT 1 FROM cat) SELECT a IS NOT DISTINCT FROM b FROM "my cats"',
        "SELECT name FROM sqlite_master",
    )
    [file] = written(tmp_path, A_txt="\n".join(named))
    tables = {"pets": frozenset({"order details", "cat"})}
    assert load([file], examples(*["pets"] * len(named)), tables=tables).faults == ()


def test_names_that_a_system_invents_are_named_and_left_to_repairs(tmp_path: Path) -> None:
    asked = examples("pets", "pets", "pets", "more")
    [file] = written(tmp_path, A_txt="SELECT 1 FROM cats\n" * 3 + "SELECT 1 FROM dog\n")
    pool = load([file], asked, tables=TABLES)
    assert [fault.rpartition(" ")[2] for fault in pool.faults] == ["'cats'"] * 3
    [other] = written(tmp_path, B_txt="SELECT 1 FROM planet\n" * 4)
    with pytest.raises(DatasetError, match=r"B.txt: 4 of 4 predictions name"):
        load([other], asked, tables=TABLES)


def test_queries_for_other_databases_are_noticed(tmp_path: Path) -> None:
    asked = examples("pets", "more", "more")
    good = "SELECT 'from bird' FROM cat AS a JOIN `cat` b\nWITH d AS (SELECT 1 FROM dog) SELECT * FROM d\nSELECT 1\n"
    one = "SELECT 1 FROM cat\nSELECT 1 FROM cat\nSELECT 1 FROM Dog\n"
    pool = load(written(tmp_path, A_txt=good, B_txt=one), asked, tables=TABLES)
    [found] = pool.faults
    assert "B.txt, line 2: the database 'more' has no table 'cat'" in found
    shifted = "SELECT 1 FROM dog\nSELECT 1 FROM cat\nSELECT 1 FROM cat\n"
    message = r".*C.txt: 3 of 3 predictions name tables .*C.txt, line 1: .*in their order"
    with pytest.raises(DatasetError, match=message):
        load(written(tmp_path, C_txt=shifted), asked, tables=TABLES)
    assert load([tmp_path / "C.txt"], asked).faults == ()
    pool = load(written(tmp_path, C_txt=shifted, B_txt=one), asked, tables=TABLES)
    assert pool.systems == ("B",)
    assert [file.file.name for file in pool.documents] == ["B.txt"]
    assert [[(each.part, each.generator) for each in example.candidates] for example in pool.examples] == [
        [(0, "B")]
    ] * 3
    assert re.search(f"a whole file is left out: {message}", pool.faults[0])
    columns = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n\n"
    assert load(written(tmp_path, D_txt=3 * columns), asked, tables=TABLES).faults == ()


SEVERAL = {name: frozenset({f"{name}_a", f"{name}_b"}) for name in "pqrs"}


def of_several(columns: str = "*") -> tuple[list[Example], list[str]]:
    """Three questions on each of four databases, and a query for each."""
    asked = examples(*[name for name in "pqrs" for _ in range(3)])
    return asked, [f"SELECT {columns} FROM {one.db_id}_{'ab'[number % 2]}" for number, one in enumerate(asked)]


def test_a_file_shifted_by_a_line_is_left_out_though_it_has_as_many(tmp_path: Path) -> None:
    asked, right = of_several()
    lost, doubled = [*right[1:], "SELECT 1"], ["SELECT 1", *right[:-1]]
    middle = [right[0], right[0], *right[1:10], right[11]]  # a line twice, and one lost below
    texts = {f"{name}_txt": "\n".join(lines) for name, lines in (("A", lost), ("B", doubled), ("C", middle))}
    bird = {
        str(number): f"{sql}\t----- bird -----\t{one.db_id}"
        for number, (sql, one) in enumerate(zip(doubled[1:], asked, strict=False), 1)
    }
    files = written(tmp_path, **texts, D_json=json.dumps(bird), E_txt="\n".join(right))
    pool = load(files, asked, tables=SEVERAL)
    assert pool.systems == ("E",)
    assert [re.sub(r"^.*/", "", fault.partition(": a query")[0]) for fault in pool.faults] == [
        "A.txt, line 3: is for the database 'q', that of the question 1 later, not for 'p', and so are 2 more",
        "B.txt, line 4: is for the database 'p', that of the question 1 earlier, not for 'q', and so are 2 more",
        "C.txt, line 4: is for the database 'p', that of the question 1 earlier, not for 'q', and so are 2 more",
        "D.json, key '3': is for the database 'p', that of the question 1 earlier, not for 'q', and so are 2 more",
    ]
    assert "a query before them is missing; give a file in the order" in pool.faults[0]
    assert "a query before them is too many" in pool.faults[1]


def test_names_that_only_a_shift_would_explain_now_and_then_are_mistakes(tmp_path: Path) -> None:
    asked, right = of_several()
    for number, name in ((2, "q_a"), (3, "p_a"), (5, "r_b"), (10, "p_a")):
        right[number] = f"SELECT * FROM {name}"
    pool = load(written(tmp_path, A_txt="\n".join(right)), asked, tables=SEVERAL)
    assert pool.systems == ("A",)
    assert [fault.partition(": ")[0].rpartition(" ")[2] for fault in pool.faults] == ["3", "4", "6", "11"]


def test_the_line_from_which_a_file_of_another_length_differs_is_named(tmp_path: Path) -> None:
    asked, right = of_several()
    [short, long, _] = written(
        tmp_path,
        A_txt="\n".join(right[:4] + right[5:]),
        B_txt="\n".join([*right[:4], right[3], *right[4:]]),
        C_txt="\n".join(right),
    )
    for file, message in (
        (short, r"A.txt: 11 predictions for 12 questions: .*; from .*A.txt, line 6 on they are for other databases"),
        (long, r"B.txt: 13 predictions for 12 questions: .*; from .*B.txt, line 7 on they are for other databases"),
    ):
        with pytest.raises(DatasetError, match=message):
            load([file], asked, tables=SEVERAL)


def test_a_file_without_any_query_is_left_out(tmp_path: Path) -> None:
    null = "".join(f'{{"id": {number}, "sql": null}}\n' for number in range(2))
    files = written(tmp_path, A_txt="\n \n", B_txt=";\n;\n", C_jsonl=null, D_txt="SELECT 1\n\n")
    pool = load(files, examples("pets", "pets"))
    assert pool.systems == ("D",)
    assert [re.search(r"/(..?)\.\w+: holds no query", fault)[1] for fault in pool.faults] == ["A", "B", "C"]  # type: ignore[index]
