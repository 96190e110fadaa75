from __future__ import annotations

import datetime
import gzip
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from duckdb_shop import contents

from sqljury.db.connect import connect
from sqljury.db.files import FilesDatabase, ending, is_data
from sqljury.db.files_names import Names
from sqljury.errors import DatabaseError, DatabaseNotFoundError, NotADatabaseError
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.schema.samples import sample

duckdb = pytest.importorskip("duckdb")


def rows(path: Path, table: str = "") -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Columns and rows of the only table that a file gives, or of the one named."""
    with connect(path) as db:
        names = [entry.name for entry in introspect(db).tables]
        result = db.execute(f'SELECT * FROM "{table or names[0]}"')
        assert result.ok, result.error
        return result.columns, result.rows


@pytest.mark.parametrize(
    ("content", "columns", "expected"),
    [
        ("id,name\n1,Ann\n2,Bo\n", ("id", "name"), ((1, "Ann"), (2, "Bo"))),
        ("id;name\n1;Ann\n2;Bo\n", ("id", "name"), ((1, "Ann"), (2, "Bo"))),
        ("id\tname\n1\tAnn\n2\tBo\n", ("id", "name"), ((1, "Ann"), (2, "Bo"))),
        ("id|name\n1|Ann\n2|Bo\n", ("id", "name"), ((1, "Ann"), (2, "Bo"))),
        ("id,name\r\n1,Ann\r\n", ("id", "name"), ((1, "Ann"),)),
        ('a,b\n1,"x, ""y""\nz"\n2,w\n', ("a", "b"), ((1, 'x, "y"\nz'), (2, "w"))),
        ("1,Ann,2.5\n2,Bo,3.5\n", ("column0", "column1", "column2"), ((1, "Ann", 2.5), (2, "Bo", 3.5))),
        (
            "Zed,Leeds,1987-03-02,z@zed.example\nAnn,York,1990-01-05,a@zed.example\nBo,Hull,1991-11-12,b@zed.example\n",
            ("column0", "column1", "column2", "column3"),
            (
                ("Zed", "Leeds", "1987-03-02", "z@zed.example"),
                ("Ann", "York", "1990-01-05", "a@zed.example"),
                ("Bo", "Hull", "1991-11-12", "b@zed.example"),
            ),
        ),
        ("\ufeffid,name\n1,Zürich\n", ("id", "name"), ((1, "Zürich"),)),
        ("name\nAnn\nBo\n", ("name",), (("Ann",), ("Bo",))),
        ("n\n1\n2\n", ("n",), ((1,), (2,))),
        ("a,b\n", ("a", "b"), ()),
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", ("a", "b", "c"), ((1, 2, 3), (4, 5, None), (6, 7, 8))),
        (
            "a,b,c\n1,2,3\n4,5\n6,7,8,9\n",
            ("a", "b", "c", "column3"),
            ((1, 2, 3, None), (4, 5, None, None), (6, 7, 8, 9)),
        ),
        ("# a title\na,b\n1,2\n3,4\n", ("a", "b"), ((1, 2), (3, 4))),
        ("a;b\n1,5;x\n2,25;y\n", ("a", "b"), ((1.5, "x"), (2.25, "y"))),
        ("a;b\n1.234,56;x\n7,5;y\n", ("a", "b"), ((1234.56, "x"), (7.5, "y"))),
        ("d\n31/01/2024\n01/02/2024\n", ("d",), (("2024-01-31",), ("2024-02-01",))),
        ("d;t\n31.01.2024;2024-01-31 10:00:00\n", ("d", "t"), (("2024-01-31", "2024-01-31 10:00:00"),)),
        ("n\n123456789012345678901\n2\n", ("n",), ((123456789012345678901,), (2,))),
        ("zip\n00123\n10115\n", ("zip",), (("00123",), ("10115",))),
        ("ok\ntrue\nfalse\n", ("ok",), ((True,), (False,))),
        ("a,b\n,x\n3,\n", ("a", "b"), ((None, "x"), (3, None))),
        ("a,a\n1,2\n", ("a", "a_1"), ((1, 2),)),
        ("größe,名前\n1,猫\n", ("größe", "名前"), ((1, "猫"),)),
        ("sep=;\na;b\n1;2\n", ("a", "b"), ((1, 2),)),
        ("\ufeffsep=\t\r\na\tb\r\n1\t2\r\n", ("a", "b"), ((1, 2),)),
        ('a,b\n1,"1,234.50"\n2,"12,000"\n3,5\n', ("a", "b"), ((1, 1234.5), (2, 12000.0), (3, 5.0))),
        ('a,b\n1,"001,002"\n2,"103"\n', ("a", "b"), ((1, "001,002"), (2, "103"))),
        ("a;b\n1;1,234.50\n2;12,000.00\n", ("a", "b"), ((1, 1234.5), (2, 12000.0))),
        ('a,b\n1,"1,23"\n2,"1,234"\n', ("a", "b"), ((1, "1,23"), (2, "1,234"))),
        ("a;b\n10.0.0.1;1.234,5\n10.0.0.2;2,5\n", ("a", "b"), (("10.0.0.1", "1.234,5"), ("10.0.0.2", "2,5"))),
        ("a;b\n1,5;1.5\n2,5;2.5\n", ("a", "b"), (("1,5", 1.5), ("2,5", 2.5))),
        ("region,2022,2023\nN,1.5,2\nS,4,\n", ("region", "2022", "2023"), (("N", 1.5, 2), ("S", 4.0, None))),
        ("region,2022,2023\nN,1,2\nS,4,5\n", ("region", "2022", "2023"), (("N", 1, 2), ("S", 4, 5))),
        ("Ann,1990,1991\nBo,1985,1986\n", ("column0", "column1", "column2"), (("Ann", 1990, 1991), ("Bo", 1985, 1986))),
        ("a;t\n1;31.12.2023 14:30\n", ("a", "t"), ((1, "2023-12-31 14:30:00"),)),
        ("a;t\n1,5;31.12.2023 14:30:05\n", ("a", "t"), ((1.5, "2023-12-31 14:30:05"),)),
        ("t\n2024-01-02T10:00:00Z\n", ("t",), (("2024-01-02 10:00:00+00",),)),
        ("a\n" + "1\n" * 30000 + "x\n", ("a",), (*((("1",),) * 10000),)),
    ],
)
def test_csv(tmp_path: Path, content: str, columns: tuple[str, ...], expected: tuple[Any, ...]) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode())
    before = contents(tmp_path)
    assert rows(path) == (columns, expected)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "city;sum\nZürich €;1\nKöln;2\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text.encode(encoding)))
    for name in ("a.csv", "b.csv.gz"):
        assert rows(tmp_path / name) == (("city", "sum"), (("Zürich €", 1), ("Köln", 2)))
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv.gz"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("j.json", '[{"a": 1, "b": {"c": [1]}}, {"a": 2}]'), ("j.jsonl", '{"a": 1, "b": {"c": [1]}}\n{"a": 2}\n')],
)
def test_json(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert rows(tmp_path / name) == (("a", "b"), ((1, '{"c":[1]}'), (2, None)))
    (tmp_path / "n.ndjson").write_text(content if name == "j.jsonl" else '{"a": 1}\n')
    assert rows(tmp_path / "n.ndjson")[0][0] == "a"


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    duckdb.sql(f"COPY (SELECT range AS i, DATE '2024-01-01' AS d FROM range(3)) TO '{path}'")
    assert rows(path) == (("i", "d"), tuple((i, "2024-01-01") for i in range(3)))


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def test_workbook(tmp_path: Path) -> None:
    day = datetime.datetime(2024, 1, 31)
    lines = [
        [],
        ["id", "when", "moment", "price", "ok", "text", "at"],
        [1, day, day, 2, True, 'x "q"\ny', datetime.time(10, 30)],
        [None] * 7,
        [2, day, day.replace(hour=9), 2.5, False, "", None],
        [3, None, None, "#N/A", None, "007", None],
    ]
    path = workbook(tmp_path / "Umsätze 2024.xlsx", {"only": lines, "blank": []})
    assert rows(path, "Umsätze_2024") == (
        ("id", "when", "moment", "price", "ok", "text", "at"),
        (
            (1, "2024-01-31", "2024-01-31 00:00:00", 2.0, True, 'x "q"\ny', "10:30:00"),
            (2, "2024-01-31", "2024-01-31 09:00:00", 2.5, False, None, None),
            (3, None, None, None, None, "007", None),
        ),
    )


def test_durations_of_a_workbook(tmp_path: Path) -> None:
    hours = datetime.timedelta(hours=1)
    worked = [30.25 * hours, 7 * hours, 0.5 * hours, None, 1e6 * hours]
    path = workbook(tmp_path / "h.xlsx", {"s": [["who", "worked"], *(["x", duration] for duration in worked)]})
    shown = ("30:15:00", "07:00:00", "00:30:00", None, "1000000:00:00")
    assert rows(path) == (("who", "worked"), tuple(("x", cell) for cell in shown))


def test_a_title_above_and_years_across(tmp_path: Path) -> None:
    sheets = {
        "title": [["Report of 2024"], [], ["in EUR"], ["who", "much"], ["Ann", 1], [None, 2]],
        "years": [["Region", 2022, 2023, None], ["N", 1, 2, "x"]],
        "one": [["names"], ["Ann"], ["Bo"]],
        "remarks": [["names"], ["Ann"], ["Bo", "new"], ["Cem"]],
        "no header": [["Ann", 1990, 1991], ["Bo", 1980, 1982]],
    }
    path = workbook(tmp_path / "b.xlsx", sheets)
    assert rows(path, "b_title") == (("who", "much"), (("Ann", 1), (None, 2)))
    assert rows(path, "b_years") == (("Region", "2022", "2023", "column3"), (("N", 1, 2, "x"),))
    assert rows(path, "b_one") == (("names",), (("Ann",), ("Bo",)))
    assert rows(path, "b_remarks") == (("names", "column1"), (("Ann", None), ("Bo", "new"), ("Cem", None)))
    assert rows(path, "b_no_header") == (("column0", "column1", "column2"), (("Ann", 1990, 1991), ("Bo", 1980, 1982)))


def test_every_sheet_is_a_table(tmp_path: Path) -> None:
    sheets = {"Q1 Q2": [["a", "a"], [1, 2]], "no header": [[1, "x"], [2, "y"]]}
    path = workbook(tmp_path / "b.xlsx", sheets)
    with connect(path) as db:
        assert {table.name for table in introspect(db).tables} == {"b_Q1_Q2", "b_no_header"}
        assert db.execute("SELECT a, a_2 FROM b_Q1_Q2").rows == ((1, 2),)
        assert db.execute("SELECT column0, column1 FROM b_no_header").rows == ((1, "x"), (2, "y"))


def test_a_folder_a_pattern_and_a_table_for_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sales_1.csv", "sales_2.csv", "Sales 1.CSV", "other.tsv", "notes.txt", ".hidden.csv"):
        (tmp_path / name).write_text("a\n1\n")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "more.csv").write_text("a\n1\n")
    with connect(tmp_path) as db:
        assert isinstance(db, FilesDatabase)
        assert (db.name, db.dialect, db.url) == (tmp_path.name, "duckdb", str(tmp_path))
        assert sorted(table.name for table in introspect(db).tables) == ["Sales_1", "other", "sales_1_2", "sales_2"]
    with connect(tmp_path / "sales_*.csv") as db:
        assert db.execute("SELECT a FROM sales_1 UNION ALL SELECT a FROM sales_2").rows == ((1,), (1,))
    with connect(tmp_path / "**" / "more.csv") as db:
        assert db.name == "more"
    monkeypatch.chdir(tmp_path)
    with connect("sales_1.csv") as db:
        assert (db.name, db.url) == ("sales_1", str(tmp_path / "sales_1.csv"))


def test_what_excel_notes_of_an_open_workbook_is_left_out(tmp_path: Path) -> None:
    workbook(tmp_path / "book.xlsx", {"s": [["a"], [1]]})
    (tmp_path / "~$book.xlsx").write_bytes(b"\x05Alice" + b" " * 159)
    assert rows(tmp_path) == rows(tmp_path / "*.xlsx") == (("a",), ((1,),))


def test_they_are_tables_to_the_model(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with connect(tmp_path / "x.csv") as db:
        schema = introspect(db)
        text = render(schema, sample(db, schema))
        assert "CREATE TABLE x" in text
        assert "read_csv" not in text
        assert str(tmp_path) not in text
        assert "\n1\n" in text


@pytest.mark.parametrize(
    "name", ["a[1].csv", "it's.csv", 'q"uote.csv', "star*.csv", "a b,c;d.csv", "größe ✓.csv", "%41.csv"]
)
def test_names_that_mean_something_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    assert rows(tmp_path / name) == (("a",), ((1,),))


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "xlsx"])
def test_a_name_like_a_pattern_is_not_taken_for_one(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "year=2024" / "x[0-9]*"
    folder.mkdir(parents=True)
    for name, value in (("[p]?", 1), ("p1", 2), ("[p]a", 3)):
        path = folder / f"{name}.{ending}"
        if ending == "xlsx":
            workbook(path, {"s": [["a"], [value]]})
        elif ending == "csv":
            path.write_text(f"a\n{value}\n")
        else:
            target = str(path).replace("'", "''")
            duckdb.sql(f"COPY (SELECT {value} AS a) TO '{target}' (FORMAT {ending})")
    # Neither may DuckDB read the neighbours, nor make a column of the folder's name.
    assert rows(folder / f"[p]?.{ending}") == (("a",), ((1,),))
    with connect(folder) as db:
        names = [entry.name for entry in introspect(db).tables]
        found = {row for name in names for row in db.execute(f"SELECT * FROM {name}").rows}
        assert found == {(1,), (2,), (3,)}


def test_temporary_folders_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.csv").write_bytes("a\nü\n".encode("cp1252"))
    workbook(tmp_path / "book.xlsx", {"s": [["a"], [1]]})
    (tmp_path / "tmp[p]*").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp[p]*"))
    assert rows(tmp_path / "old.csv") == (("a",), (("ü",),))
    assert rows(tmp_path / "book.xlsx") == (("a",), ((1,),))


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "s.csv").write_text("secret\n1\n")
    data = tmp_path / "data"
    (data / "inside").mkdir(parents=True)
    (data / "inside" / "s.csv").write_text("a\n1\n")
    (data / "in.csv").symlink_to("inside/s.csv")
    assert rows(data) == (("a",), ((1,),))
    assert rows(data / "*.csv") == (("a",), ((1,),))
    (data / "out.csv").symlink_to(tmp_path / "private" / "s.csv")
    (data / "folder").symlink_to(tmp_path / "private")
    for target in (data, data / "*.csv", data / "fo*" / "*.csv", data / "**" / "s.csv"):
        with pytest.raises(DatabaseError, match="is a link to a file outside"):
            connect(target)
    monkeypatch.chdir(data)
    with pytest.raises(DatabaseError, match=r"^out.csv: is a link to a file outside \.;"):
        connect("o*.csv")
    # What is named itself is meant, and so is a folder that is a link.
    assert rows(data / "out.csv") == (("secret",), ((1,),))
    assert rows(data / "folder") == (("secret",), ((1,),))


def test_a_title_is_no_sql(tmp_path: Path) -> None:
    (tmp_path / "victim.csv").write_text("a\n1\n")
    title = f"x': 'INT'}}); COPY (SELECT 2 AS a) TO '{tmp_path / 'victim.csv'}'; --"
    (tmp_path / "bad's.csv").write_text(f'"{title}",it\'s\n1,2\n')
    before = contents(tmp_path)
    with connect(tmp_path) as db:
        assert db.execute("SELECT * FROM bad_s").columns == (title, "it's")
        assert db.execute("SELECT * FROM victim").rows == ((1,),)
    assert contents(tmp_path) == before


def test_names_of_tables() -> None:
    names = Names()
    stems = ["sales", "Sales", "2024 sales", "größe–x", "名前", "...", "a.b-c", "e\u0301"]
    found = [names.table(stem) for stem in stems]
    assert found == ["sales", "Sales_2", "t_2024_sales", "größe_x", "名前", "data", "a_b_c", "é"]


def test_what_changed_in_the_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    with connect(path) as db:
        path.write_text("a\n1\n2\n")
        assert db.execute("SELECT count(*) FROM x").rows == ((2,),)
        path.write_text("b\n3\n")
        with pytest.raises(DatabaseError, match=r"x\.csv: its columns have changed since it was opened; connect again"):
            db.execute("SELECT a FROM x")
        path.write_text("a\n4\n")
        assert db.execute("SELECT a FROM x").rows == ((4,),)
        path.unlink()
        with pytest.raises(DatabaseNotFoundError, match=r"x\.csv: is no longer there; put it back"):
            db.execute("SELECT count(*) FROM x")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv", b"", "is an empty file"),
        ("x.csv", b"\n\n", "is an empty file"),
        ("x.csv", b"a\x00b,c\n", "zero bytes"),
        ("x.csv", random.Random(1).randbytes(2000), "no separator makes columns of it"),
        ("x.csv.gz", b"not gzip", "cannot be read as csv"),
        ("x.parquet", b"PAR1xxxxPAR1", "cannot be read as parquet"),
        ("x.parquet", b"", "is an empty file"),
        ("x.json", b'{"a":', "cannot be read as json"),
        ("x.xlsx", b"no workbook", "is not a workbook"),
        ("x.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 100, "has a password"),
        ("x.pdf", b"%PDF", "no reader for this kind of file"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(NotADatabaseError) as caught:
        connect(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert words in text
    assert "\n" not in text


def test_nothing_to_read(tmp_path: Path) -> None:
    for target, words in (
        (tmp_path / "no*.csv", "no file matches"),
        (tmp_path / "no.csv", "no such file"),
    ):
        with pytest.raises(DatabaseNotFoundError, match=words):
            connect(target)
    with pytest.raises(NotADatabaseError, match="is a folder without any file of data"):
        connect(tmp_path)
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(NotADatabaseError, match="matches nothing that can be read"):
        connect(tmp_path / "*.pdf")
    with pytest.raises(DatabaseError, match="have no schemas"):
        connect(tmp_path, ["main"])


def test_one_bad_file_among_good_ones_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.parquet").write_text("broken")
    with pytest.raises(NotADatabaseError, match=r"b\.parquet: cannot be read as parquet .*; mend it, or give a"):
        connect(tmp_path)
    (tmp_path / "b.parquet").write_text("")
    with pytest.raises(NotADatabaseError, match=r"b\.parquet: is an empty file; .*; mend it, or give a pattern"):
        connect(tmp_path)
    with pytest.raises(NotADatabaseError, match=r"nothing to ask about$"):
        connect(tmp_path / "b.parquet")


def test_closing_deletes_what_was_built(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a\nü\n".encode("utf-16"))
    db = connect(tmp_path)
    assert isinstance(db, FilesDatabase)
    folder = Path(db.path).parent
    assert folder.exists()
    db.close()
    assert not folder.exists()
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "xlsx"])
def test_copies_have_one_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr("sqljury.db.files.TEMP_BYTES", 3 * 1024**2)
    for number in range(4):
        path = tmp_path / f"x{number}.{ending}"
        if ending == "xlsx":  # what does not repeat itself, as DuckDB would store little of it
            lines = [[random.Random(f"{number} {n}").randbytes(15_000).hex()] for n in range(50)]
            workbook(path, {"s": [["a"], *lines]})
        else:
            text = "a\nü\n".encode("cp1252") + b"0123456789" * 6 * 25_000
            path.write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
    connect(tmp_path / f"x0.{ending}").close()
    with pytest.raises(NotADatabaseError, match=rf"x[12]\.{ending}: .* more than 3 MiB in all; give fewer files"):
        connect(tmp_path)


def test_what_is_data(tmp_path: Path) -> None:
    assert ending("/x/A.CSV.GZ") == ".csv.gz"
    assert ending("x.db") == ""
    assert is_data(str(tmp_path))
    assert is_data("gone.csv")
    assert is_data("data/*.x")
    assert not is_data("gone.db")
    assert not is_data("a\x00b.csv")
