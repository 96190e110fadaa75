"""Notes on a database: read from YAML and BIRD's folders, bound to a schema, retrieved for a question."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.errors import NotesError
from sqljury.language.words import content_words, words
from sqljury.schema.notes import EVIDENCE, NOTE_CHARS, Item, Notes, bind, merge, relevant
from sqljury.schema.notes_files import load, parse_yaml
from sqljury.schema.sqlite import read_comments
from sqljury.types import Column, ForeignKey, Schema, Table

SCHEMA = Schema(
    "shop",
    "sqlite",
    (
        Table("customer", (Column("id", comment="kept"), Column("Full Name"), Column("town")), ("id",)),
        Table("orders", (Column("id"), Column("cust"), Column("cust_town"), Column("state", comment="old")), ("id",)),
        Table("s.stock", (Column("id"), Column("order_id")), schema="s"),
    ),
)

WHOLE = """\
tables:
  customer: who buys
  ORDERS:
    description: what they buy
    synonyms: [purchase, sale]
    columns:
      state:
        description: how far it is
        values: {no: Norway, 01: sent out, X: cancelled, "~": unknown}
        synonyms: progress
  s.stock:
    columns: {order_id: null}
glossary:
  regular customer: ten orders or more
formulas:
  share: 100.0 * SUM(state = 'X') / COUNT(*)
joins:
  - orders.cust = customer.id
  - orders.cust = customer.id AND orders.cust_town = customer.town
  - orders.cust = customer."Full Name"
  - s.stock.order_id = orders.id
"""


def noted(columns: tuple[str, ...], table: str, refs: tuple[str, ...]) -> ForeignKey:
    return ForeignKey(columns, table, refs, declared=False, evidence=EVIDENCE)


def column(schema: Schema, table: str, name: str) -> Column:
    (found,) = (c for t in schema.tables if t.name == table for c in t.columns if c.name == name)
    return found


class TestYaml:
    def test_a_whole_file(self) -> None:
        notes = bind(SCHEMA, parse_yaml(WHOLE))
        orders, state = notes.items[1:3]
        assert (orders.table, orders.description, orders.synonyms) == ("orders", "what they buy", ("purchase", "sale"))
        assert state.values == (("no", "Norway"), ("01", "sent out"), ("X", "cancelled"), ("~", "unknown"))
        assert state.synonyms == ("progress",)
        assert notes.glossary == (("regular customer", "ten orders or more"),)
        assert notes.formulas == (("share", "100.0 * SUM(state = 'X') / COUNT(*)"),)

    def test_descriptions_become_comments_and_joins_keys(self) -> None:
        schema = merge(SCHEMA, parse_yaml(WHOLE))
        assert [table.comment for table in schema.tables] == ["who buys", "what they buy", ""]
        assert column(schema, "orders", "state").comment == "how far it is"
        assert column(schema, "customer", "id").comment == "kept"
        assert schema.tables[1].foreign_keys == (
            noted(("cust",), "customer", ("id",)),
            noted(("cust", "cust_town"), "customer", ("id", "town")),
            noted(("cust",), "customer", ("Full Name",)),
        )
        assert schema.tables[2].foreign_keys == (noted(("order_id",), "orders", ("id",)),)
        assert merge(schema, parse_yaml(WHOLE)) == schema  # nothing is added twice

    def test_a_key_that_is_known_the_other_way_round_is_not_added(self) -> None:
        schema = merge(SCHEMA, parse_yaml("joins: [orders.cust = customer.id]"))
        assert merge(schema, parse_yaml("joins: [customer.id = orders.cust]")) == schema

    def test_joins_confirm_and_deny_inferred_keys(self) -> None:
        declared = ForeignKey(("cust",), "customer", ("id",))
        town = ForeignKey(("cust_town",), "customer", ("town",), declared=False, score=0.6, evidence=("names",))
        guess = ForeignKey(("order_id",), "orders", ("id",), declared=False, score=0.9)
        both = ForeignKey(("order_id", "id"), "orders", ("id", "cust"), declared=False, score=0.7)
        customer, orders, stock = SCHEMA.tables
        known = replace(
            SCHEMA,
            tables=(
                customer,
                replace(orders, foreign_keys=(declared, town)),
                replace(stock, foreign_keys=(both, guess)),
            ),
        )

        def keys(text: str, schema: Schema = known) -> tuple[tuple[ForeignKey, ...], ...]:
            return tuple(table.foreign_keys for table in merge(schema, parse_yaml(text)).tables)

        # A confirmed key keeps the direction of the inferred one, and stands before those that stay inferred.
        confirmed = noted(("order_id",), "orders", ("id",))
        assert keys("joins: [orders.id = s.stock.order_id]") == ((), (declared, town), (confirmed, both))
        assert keys("joins: [customer.id = orders.cust]") == keys("")
        # What a denied join takes away: inferred keys, those of more columns too, and declared ones.
        assert keys("not_joins: [orders.id = s.stock.order_id]") == ((), (declared, town), ())
        assert keys("not_joins: [s.stock.order_id = orders.id AND s.stock.id = orders.cust]")[2] == (guess,)
        assert keys("not_joins: [ORDERS.cust = customer.id, orders.cust = customer.town]")[1] == (town,)
        # Of two files the later one counts.
        first, second = (
            parse_yaml("joins: [orders.cust_town = customer.town]"),
            parse_yaml("not_joins: [customer.town = orders.cust_town]"),
        )
        assert merge(known, first + second).tables[1].foreign_keys == (declared,)
        assert merge(known, second + first).tables[1].foreign_keys[1:] == (
            noted(("cust_town",), "customer", ("town",)),
        )

    @pytest.mark.parametrize("text", ["", "# nothing\n", "tables:\n", "tables: {orders: }\nglossary:\njoins: []\n"])
    def test_nothing_is_fine(self, text: str) -> None:
        assert merge(SCHEMA, parse_yaml(text)) == SCHEMA

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("tables:\n  orders: x\n  order: x\n", r"line 3: there is no table called 'order'; did you mean 'orders'"),
            ("tables:\n  orders:\n    columns:\n      sate: x\n", r"line 4: .*column of orders.*'sate'.*'state'"),
            ("joins:\n- orders.cust = client.id", r"line 2: there is no table called 'client'"),
            ("joins:\n- orders.cust = customer.no", r"line 2: there is no column of customer called 'no'"),
            ("joins:\n- orders.cust -> customer.id", r"line 2: .* is not a join; write it as"),
            ("joins:\n- orders.id = orders.id", r"line 2: joins a column with itself"),
            ("joins:\n- orders.id = customer.id and s.stock.id = customer.id", r"line 2: a join has one table on"),
            ("not_joins:\n- orders.cust = customer.no", r"line 2: there is no column of customer called 'no'"),
            ("not_joins:\n- orders.cust", r"line 2: 'orders.cust' is not a join; write it as"),
            (
                "joins: [orders.cust = customer.id]\nnot_joins:\n- Customer.id = orders.cust\n",
                r"line 3: the same join is listed under joins; remove one of the two",
            ),
            ("tables:\n  orders:\n    colums: {}\n", r"line 3: orders has no field 'colums'; known are"),
            ("notes: x\n", r"line 1: the file has no field 'notes'; known are tables, glossary"),
            ("- a\n- b\n", r"line 1: the file must be names with a colon"),
            ("glossary:\n  a: [1, 2]\n", r"line 2: glossary: a must be text"),
            ("glossary:\n  a: 1\n  b: 2\n  a: 3\n", r"line 4: has the key 'a' a second time"),
            ("glossary: {[a]: b}\n", r"line 1: has a key that is not text"),
            ("glossary:\n  a: 'open\n", r"not valid YAML"),
            ("a: 1\n---\nb: 2\n", r"line 2: begins a second document"),
            ("glossary: {a: \x07}\n", r"not valid YAML: it has characters"),
        ],
    )
    def test_mistakes_are_named_with_their_line(self, text: str, message: str) -> None:
        with pytest.raises(NotesError, match=message) as caught:
            merge(SCHEMA, parse_yaml(text))
        assert str(caught.value).startswith("notes notes.yaml: ")
        assert "\n" not in str(caught.value)


class TestHostileYaml:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "alias or anchor"),
            ("glossary: !!python/object/apply:os.system ['touch /tmp/x']\n", r"tag \(!\)"),
            ("glossary: {a: !!int '3'}\n", r"tag \(!\)"),
            ("[" * 100_000, "nested deeper than"),
            ("\n".join(" " * depth + "a:" for depth in range(5_000)), "nested deeper than"),
        ],
    )
    def test_refused_at_once(self, text: str, message: str) -> None:
        start = time.perf_counter()
        with pytest.raises(NotesError, match=message):
            parse_yaml(text)
        assert time.perf_counter() - start < 15

    def test_files(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.yaml"
        path.write_bytes(b"glossary: {a: " + b"x" * 3_000_000 + b"}")
        with pytest.raises(NotesError, match="larger than 2 MiB"):
            load(path)
        path.write_bytes("glossary: {a: größe}".encode("latin-1"))
        with pytest.raises(NotesError, match="not UTF-8"):
            load(path)
        with pytest.raises(NotesError, match="cannot be read"):
            load(tmp_path / "none.yaml")
        path.write_bytes("\ufeffglossary: {a: größe}".encode())
        assert load(path).glossary == (("a", "größe"),)

    @settings(max_examples=200, deadline=None)
    @given(st.text(alphabet="a: -[]{}\"'\n#&*!|>?,%@~", max_size=60))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            parse_yaml(text)
        except NotesError as error:
            assert "\n" not in str(error)  # noqa: PT017 - most texts raise nothing


class TestBird:
    HEADER = "original_column_name,column_name,column_description,data_format,value_description\n"

    def folder(self, tmp_path: Path, **files: bytes | str) -> Path:
        folder = tmp_path / "database_description"
        folder.mkdir()
        for name, content in files.items():
            (folder / f"{name}.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def test_a_file_as_it_should_be(self, tmp_path: Path) -> None:
        orders = self.HEADER + (
            'state,progress,how far,text,"commonsense evidence:\nX: cancelled\n01 = sent out\nothers are rare"\n'
            "cust,,the customer who ordered,integer,\n"
        )
        notes = bind(SCHEMA, load(self.folder(tmp_path, orders=orders)))
        state, customer = notes.items
        assert (state.name, state.description, state.synonyms) == ("orders.state", "progress: how far", ("progress",))
        assert state.values == (("X", "cancelled"), ("01", "sent out"), ("", "others are rare"))
        assert (customer.description, customer.synonyms, customer.values) == ("the customer who ordered", (), ())
        assert notes.unmatched == ()

    def test_names_that_differ_by_case_blanks_and_marks(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, Customer="Original_Column_Name , column_description\n full_name ,the name\n")
        (item,) = bind(SCHEMA, load(folder)).items
        assert (item.name, item.description) == ("customer.Full Name", "the name")

    def test_what_is_not_matched_is_noted(self, tmp_path: Path) -> None:
        folder = self.folder(
            tmp_path,
            gone=self.HEADER + "a,b,c,d,e\n",
            orders=self.HEADER + "nothing_like_it,,x,,\nstate,,fine,,\n\n,,,,\n",
            town=b"what is this\n",
            customer=b"",
        )
        notes = bind(SCHEMA, load(folder))
        assert [item.description for item in notes.items] == ["fine"]
        assert len(notes.unmatched) == 4
        for line, word in zip(notes.unmatched, ("customer.csv", "town.csv", "gone.csv", "orders.csv"), strict=True):
            assert word in line
            assert "\n" not in line

    @pytest.mark.parametrize(
        "content",
        [
            (HEADER + "state,größe,Größe,,\n").encode("cp1252"),
            (HEADER + "state,größe,Größe,,\n").encode("utf-16"),
            ("\ufeff" + HEADER + "state,größe,Größe,,\n").encode(),
            (HEADER.replace("\n", "\r\n") + "state,größe,Größe,,\r\n").encode(),
            b"\0" + (HEADER + "state,größe,Größe,,\n").encode(),
        ],
    )
    def test_encodings(self, content: bytes, tmp_path: Path) -> None:
        (item,) = bind(SCHEMA, load(self.folder(tmp_path, orders=content))).items
        assert item.description in ("Größe", "größe: Größe")

    def test_a_stray_quote_does_not_swallow_the_file(self, tmp_path: Path) -> None:
        rows = 'state,,"how far,,\n' + "".join(f"c{number},,x,,\n" for number in range(5)) + "cust,,buyer,,\n"
        notes = bind(SCHEMA, load(self.folder(tmp_path, orders=self.HEADER + rows)))
        assert {item.name: item.description for item in notes.items} == {
            "orders.state": "how far",
            "orders.cust": "buyer",
        }

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        with pytest.raises(NotesError, match="has no CSV file"):
            load(tmp_path)

    def test_the_users_file_is_right_whatever_comes_first(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, orders=self.HEADER + "state,progress,from bird,,X: gone\ncust,,buyer,,\n")
        mine = tmp_path / "mine.yaml"
        mine.write_text("tables: {Orders: {columns: {STATE: {description: mine, values: {X: cancelled}}}}}")
        for paths in ((folder, mine), (mine, folder)):
            notes = load(*paths)
            schema = merge(SCHEMA, notes)
            assert column(schema, "orders", "state").comment == "mine"
            assert column(schema, "orders", "cust").comment == "buyer"
            (state,) = (item for item in bind(SCHEMA, notes).items if item.column == "state")
            assert (state.values, state.synonyms) == ((("X", "cancelled"),), ("progress",))

    @settings(max_examples=100, deadline=None)
    @given(st.binary(max_size=200) | st.text(alphabet='a,"\n\r\0: ', max_size=80).map(str.encode))
    def test_any_bytes_are_survived(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        folder = tmp_path_factory.mktemp("bird")
        (folder / "orders.csv").write_bytes(self.HEADER.encode() + content)
        notes = bind(SCHEMA, load(os.fspath(folder)))
        assert all(item.table == "orders" for item in notes.items)


class TestRelevant:
    NOTES = parse_yaml(
        """
tables:
  orders:
    synonyms: [purchase]
    columns:
      state: {values: {X: cancelled, S: sent out, R: returned, Ü: überfällig}}
      town: {synonyms: [city, Stadt]}
glossary: {regular customer: ten orders, late parcel: after the day promised, 大口顧客: 十件以上}
formulas: {share of women: "AVG(sex = 'f')"}
"""
    )

    @pytest.mark.parametrize(
        ("question", "notes"),
        [
            ("How many REGULAR CUSTOMERS are there?", ["regular customer: ten orders"]),
            ("Which parcels were late?", ["late parcel: after the day promised"]),
            ("How many purchases?", ["orders is also called purchase"]),
            ("Which cities?", ["orders.town is also called city, Stadt"]),
            ("How many were Uberfallig?", ["orders.state: Ü = überfällig; X = cancelled; S = sent out; R = returned"]),
            ("Each state?", ["orders.state: X = cancelled; S = sent out; R = returned; Ü = überfällig"]),
            ("The share of women?", ["share of women = AVG(sex = 'f')"]),
            ("大口顧客は何人?", ["大口顧客: 十件以上"]),
            ("Which suppliers are new?", []),
            ("", []),
        ],
    )
    def test_what_a_question_calls_for(self, question: str, notes: list[str]) -> None:
        assert relevant(self.NOTES, question) == notes

    def test_the_best_come_first_within_the_limits(self) -> None:
        question = "Regular customers whose parcels were late and cancelled, by city?"
        found = relevant(self.NOTES, question)
        assert len(found) == 4
        assert found[:2] == ["regular customer: ten orders", "late parcel: after the day promised"]
        assert relevant(self.NOTES, question, k=2) == found[:2]
        assert relevant(self.NOTES, question, chars=len(found[0])) == found[:1]
        assert relevant(self.NOTES, question, k=0) == relevant(self.NOTES, question, chars=0) == []

    @settings(max_examples=150, deadline=None)
    @given(st.text(alphabet=st.sampled_from("*/-'\"\n\r\x00\x1b \u2028\u202eab"), max_size=400))
    def test_notes_stay_on_their_line(self, text: str) -> None:
        item = Item("t", "word", synonyms=("word", text), values=((text, text), ("a", text)))
        notes = Notes((item,), (("word", text),), (("word " + text, text),))
        for line in relevant(notes, "word a b ab"):
            assert line.isprintable()
            assert len(line) <= NOTE_CHARS
            assert "*/" not in line
            assert "/*" not in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SQLOrderLines", "sql order line"),
        ("free_meal_count (K-12)", "free meal count k 12"),
        ("Cities, boxes, buses & glasses", "city box buse glass"),
        ("Größe ÉTÉ", "grosse ete"),
        ("顧客", "顧 客"),
        ("status analysis bus", "status analysis bus"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


def test_words_that_only_ask_count_when_there_are_no_others() -> None:
    assert content_words("What is the share of each?") == ("share",)
    assert content_words("who") == ("who",)


class TestCommentsInSql:
    def test_of_whom_a_comment_speaks(self) -> None:
        found = read_comments(
            """CREATE TABLE t ( -- the people
  -- their number
  id INTEGER PRIMARY KEY,
  name TEXT, -- what they are called
             -- in full
  /* age in
   * years */
  age INT DEFAULT (1), [b "x] TEXT /* inline */, c INT, /* c's */
  D INT CHECK (d IN (1, 2 /* both */)), -- delivered
  e TEXT DEFAULT '-- no', /* of f */ f INT, "-- g" INT,
  -----
  PRIMARY KEY (id), -- made by hand
  CONSTRAINT x CHECK (id > 0)
  -- the end
)"""
        )
        assert found.table == "the people made by hand the end"
        assert found.columns == {
            "id": "their number",
            "name": "what they are called in full",
            "age": "age in years",
            'b "x': "inline",
            "c": "c's",
            "d": "both delivered",
            "f": "of f",
        }

    @pytest.mark.parametrize("text", ["", "CREATE TABLE t (a /* open", "-- only", "CREATE TABLE t AS SELECT 1 -- x"])
    def test_other_texts(self, text: str) -> None:
        assert set(read_comments(text).columns) <= {"a"}

    @settings(max_examples=200, deadline=None)
    @given(st.text(alphabet="ab (),'\"`[]-*/\n", max_size=60))
    def test_any_text_is_survived(self, text: str) -> None:
        found = read_comments("CREATE TABLE t (" + text + ")")
        assert "" not in found.columns

    def test_long_texts_take_no_time(self) -> None:
        start = time.perf_counter()
        for mark in "'\"`[(":
            read_comments("CREATE TABLE t (a /* b */, " * 20_000 + mark * 200_001 + "-- x\n" * 20_000)
        assert time.perf_counter() - start < 10
