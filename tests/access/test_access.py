from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from access_shop import CANARY, SQLITE_ACCESS, TABLES, build, leaks
from plain_duckdb import PlainDuckDB, schema_of

from sqljury.access.check import Checker
from sqljury.access.guard import Guarded, guard, skip
from sqljury.access.rules import Access, compiled, load
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import InputError, QueryRefusedError
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.schema.samples import MASKED, sample
from sqljury.types import Column, ForeignKey, Limits, Schema, Table

STAFF = Table(
    "staff",
    (Column("id"), Column("name", comment="not the salary"), Column("salary"), Column("grade", values=("A", "B"))),
    ("id",),
    unique_keys=(("name", "salary"),),
    comment="who works here, and for which salary",
)
PAY = Table("hr.pay", (Column("staff"), Column("salary")), schema="hr")
BADGE = Table(
    "badge",
    (Column("staff"), Column("code")),
    foreign_keys=(ForeignKey(("staff",), "staff", ("id",)), ForeignKey(("code",), "hr.pay", ("staff",), "hr")),
)
SCHEMA = Schema("firm", "postgres", (STAFF, PAY, BADGE))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SQLiteDatabase]:
    with SQLiteDatabase(build(tmp_path / "shop.db")) as database:
        yield database


def visible(schema: Schema, access: Access) -> Schema:
    return compiled(schema, access).shown


def names(schema: Schema) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in schema.tables}


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (Access(deny=("staff.salary",)), {"staff": "id name grade", "hr.pay": "staff salary", "badge": "staff code"}),
        (Access(deny=("*.salary",)), {"staff": "id name grade", "hr.pay": "staff", "badge": "staff code"}),
        (Access(deny=("HR.*",)), {"staff": "id name salary grade", "badge": "staff code"}),
        (Access(deny=("pay",)), {"staff": "id name salary grade", "badge": "staff code"}),
        (Access(deny=("hr.pay.s*",)), {"staff": "id name salary grade", "badge": "staff code"}),
        (Access(deny=("public.staff.*a*",)), {"staff": "id", "hr.pay": "staff salary", "badge": "staff code"}),
        (Access(allow=("staff",)), {"staff": "id name salary grade"}),
        (Access(allow=("*",)), {"staff": "id name salary grade", "badge": "staff code"}),
        (Access(allow=("staff", "hr.pay.salary")), {"staff": "id name salary grade", "hr.pay": "salary"}),
        (Access(allow=("staff", "staff.id", "STAFF.Name")), {"staff": "id name"}),
        (Access(allow=("*.staff",)), {"badge": "staff"}),
        (Access(allow=("staff",), deny=("staff.name", "*.grade")), {"staff": "id salary"}),
        (
            Access(mask=("staff.name",)),
            {"staff": "id name salary grade", "hr.pay": "staff salary", "badge": "staff code"},
        ),
    ],
)
def test_what_patterns_leave(access: Access, expected: dict[str, str]) -> None:
    if access.allow == ("*.staff",):
        with pytest.raises(InputError, match="write all three parts"):
            visible(SCHEMA, access)
        return
    assert names(visible(SCHEMA, access)) == {name: columns.split() for name, columns in expected.items()}


def test_nothing_that_is_left_tells_of_the_rest() -> None:
    staff, badge = visible(SCHEMA, Access(deny=("*.salary", "pay"))).tables
    assert "salary" not in repr((staff, badge))
    assert (staff.unique_keys, staff.comment, staff.columns[1].comment) == ((), "", "")
    assert staff.columns[2].values == ("A", "B")
    assert badge.foreign_keys == (ForeignKey(("staff",), "staff", ("id",)),)


@pytest.mark.parametrize(
    ("access", "words"),
    [
        (Access(deny=("stuff",)), "deny: 'stuff' matches no table or column"),
        (Access(allow=("staff", "staff.nam")), "allow: 'staff.nam' matches no"),
        (Access(mask=("other.staff.name",)), "mask: 'other.staff.name' matches no"),
        (Access(deny=("*",)), "leave no table"),
    ],
)
def test_a_rule_that_means_nothing_is_an_error(access: Access, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("*", r"\*")):
        visible(SCHEMA, access)


@pytest.mark.parametrize("text", ["", " ", ".", "a.", ".a", "a..b", "a.b.c.d", 'a"b', '"a', 'a."b"c'])
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(InputError, match="is not a pattern"):
        Access(deny=(text,))


@pytest.mark.parametrize("deny", ['public."a.b"', '"a.b"', "a.b.code", "staff"])
def test_two_tables_of_one_name_cannot_be_told_apart(deny: str) -> None:
    tables = (STAFF, Table("a.b", (Column("code"),)), Table("a.b", (Column("code"),), schema="a"))
    for rule in ("deny", "mask"):
        with pytest.raises(InputError, match=r"two tables 'a\.b'.* rename one"):
            visible(Schema("firm", "postgres", tables), Access(**{rule: (deny,)}))


def test_one_text_is_no_list() -> None:
    with pytest.raises(InputError, match="is not a list"):
        Access(deny="staff")  # type: ignore[arg-type]


def test_quoted_parts_are_taken_as_they_are() -> None:
    odd = Schema("odd", "sqlite", (Table("a.b", (Column("c*"), Column("cd"), Column('e"f'))),))
    assert names(visible(odd, Access(deny=('"a.b"."c*"',)))) == {"a.b": ["cd", 'e"f']}
    assert names(visible(odd, Access(deny=('"a.b"."e""f"',)))) == {"a.b": ["c*", "cd"]}


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("allow = ['staff']\ndeny = ['staff.salary']\nmask = ['staff.name']\n", encoding="utf-8")
    assert load(path) == Access(("staff",), ("staff.salary",), ("staff.name",))
    assert load(path) + Access(deny=("x",)) == Access(("staff",), ("staff.salary", "x"), ("staff.name",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("denied = ['x']", "unknown key 'denied'; known are allow, deny, mask"),
        ("deny = 'x'", "deny is not a list of texts"),
        ("deny = [1]", "deny is not a list of texts"),
        ("deny = ['a.b.c.d']", "is not a pattern"),
        ("deny = [", "is not TOML"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as error:
        load(path)
    assert str(error.value).startswith(str(path))
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none.toml")
    path.write_bytes(b"deny = ['\xff']")
    with pytest.raises(InputError, match="is not UTF-8"):
        load(path)


def test_views_that_read_what_is_denied_are_not_seen(db: SQLiteDatabase) -> None:
    schema = introspect(db)
    views = ("open_view", "leaky", "renamed", "nested", "counted_secret", "allowed_view")
    shown = names(visible(schema, Access(deny=("customer.ssn",))))
    assert [view for view in views if view in shown] == ["open_view", "counted_secret"]
    shown = names(visible(schema, Access(deny=("secret",))))
    assert [view for view in views if view not in shown] == ["counted_secret"]
    named = visible(schema, Access(allow=("*", "leaky", "nested"), deny=("customer.ssn",)))
    assert [view for view in views if view in names(named)] == ["open_view", "leaky", "nested", "counted_secret"]
    definitions = {table.name: table.definition for table in named.tables}
    assert definitions["leaky"] == ""
    assert definitions["nested"]
    assert definitions["open_view"].startswith("CREATE VIEW")


VIEWS = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, email TEXT);
CREATE VIEW inmost AS SELECT id, email FROM customer;
CREATE VIEW Inner AS SELECT id, email FROM inmost;
CREATE VIEW v_view AS SELECT count(email) AS n FROM "inner" WHERE id IN (SELECT id FROM inmost);
CREATE VIEW v_cte AS WITH x AS (SELECT email FROM customer), "Y z" (e) AS (SELECT email FROM x)
    SELECT count(e) AS n FROM "Y z";
CREATE VIEW v_steps AS WITH RECURSIVE r (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM r, customer WHERE email > '' AND i < 2) SELECT count(*) AS n FROM r;
CREATE VIEW v_from AS SELECT count(e) AS n FROM (SELECT email AS e FROM (SELECT * FROM customer) AS a) AS b;
INSERT INTO customer VALUES (1, 'Ann', 'CANARY-1'), (2, 'Bo', 'CANARY-2');
"""


@pytest.fixture
def views(tmp_path: Path) -> Iterator[Guarded]:
    path = tmp_path / "views.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(VIEWS)
    with SQLiteDatabase(path) as database:
        names = ("v_view", "v_cte", "v_steps", "v_from")
        guarded = guard(database, introspect(database), Access(allow=("customer.id", "customer.name", *names)))
        assert isinstance(guarded, Guarded)
        yield guarded


@pytest.mark.parametrize("view", ["v_view", "V_CTE", "v_steps", "v_from"])
def test_a_view_that_is_allowed_by_name_reads_through_other_views_and_its_ctes(views: Guarded, view: str) -> None:
    expected = ((3,),) if view == "v_steps" else ((2,),)
    for sql in (
        f"SELECT n FROM {view}",
        f"WITH a AS (SELECT n FROM {view}) SELECT n FROM a WHERE EXISTS (SELECT 1 FROM customer)",
    ):
        result = views.execute(sql)
        assert (result.error, result.rows) == (None, expected)


def test_what_an_allowed_view_reads_is_trusted_for_that_view_only(
    views: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither wall takes a CTE of the query for one of the view's, nor the hidden view for one that is shown."""
    attacks = [
        *("SELECT email FROM customer", "SELECT email FROM inmost", "SELECT email FROM inner", "SELECT 1 FROM inmost"),
        *("WITH x AS (SELECT email FROM customer) SELECT email FROM x", "SELECT x.email FROM customer AS x"),
        *("WITH inmost AS (SELECT email FROM customer) SELECT * FROM inmost", "SELECT n FROM v_cte, inmost"),
        *("WITH v_cte AS (SELECT email AS n FROM customer) SELECT n FROM v_cte", 'SELECT email FROM v_view, "INNER"'),
        'WITH "y Z" AS (SELECT email FROM customer) SELECT e.email FROM "Y z" AS e',
        "SELECT (WITH X AS (SELECT email FROM customer) SELECT max(email) FROM x) FROM v_cte",
    ]
    for sql in attacks:
        result = views.execute(sql)
        assert result.error_kind == "refused", sql
        assert not leaks(result)
    monkeypatch.setattr(Checker, "check", lambda _self, sql: sql)  # and SQLite refuses them without the first wall
    for sql in attacks:
        result = views.execute(sql)
        assert result.error_kind in ("refused", "sql"), sql
        assert not leaks(result)


def test_a_view_that_cannot_be_read_is_not_seen() -> None:
    for definition in (
        "",
        "CREATE VIEW v AS SELEC",
        "CREATE VIEW v",
        "SELECT f(id FROM staff",
        "SELECT xyz FROM staff",
    ):
        view = Table("v", (Column("a"),), kind="view", definition=definition)
        schema = Schema("firm", "postgres", (STAFF, BADGE, view))
        assert "v" not in names(visible(schema, Access(deny=("badge",))))
        assert "v" in names(visible(schema, Access(mask=("badge",))))


def test_samples_and_prompts_hold_nothing_denied_or_masked(db: SQLiteDatabase) -> None:
    access = Access(SQLITE_ACCESS.allow, SQLITE_ACCESS.deny, ("customer.name", "orders", "pet.*", "account.owner"))
    guarded = guard(db, introspect(db), access)
    schema = introspect(guarded)
    samples = sample(guarded, schema, 3, views=True)
    assert all(result.ok for result in samples.values())
    assert samples["customer"].columns == ("id", "name", "city")
    assert samples["customer"].rows[0] == (1, MASKED, "Riga")
    assert samples["orders"].rows == ((MASKED,) * 4,) * 3
    assert samples["open_view"].rows[0] == (MASKED, MASKED)  # it reads a masked column
    text = render(schema, samples)
    assert not leaks(text)
    for word in ("Ann", "Rex", "ssn TEXT", "Credit", "secret"):
        assert word not in text
    assert guarded.execute("SELECT name FROM customer WHERE id = 1").rows == (("Ann",),)


def test_masked_values_are_not_even_read() -> None:
    with PlainDuckDB(TABLES) as plain:
        guarded = guard(plain, schema_of(plain), Access(mask=("customer.ssn", "secret")))
        assert isinstance(guarded, Guarded)
        plain.received.clear()
        samples = sample(guarded, guarded.schema, 2)
        assert samples["secret"].rows == ((MASKED,), (MASKED,))
        assert len(samples["customer"].rows) == 2
        assert not any("ssn" in sql or "val" in sql for sql in plain.received if "FROM pet" not in sql)
        assert CANARY in str(guarded.execute("SELECT ssn FROM customer").rows)


def test_what_the_value_index_must_skip(db: SQLiteDatabase) -> None:
    guarded = guard(db, introspect(db), Access(deny=("customer.ssn", "secret"), mask=("customer.city",)))
    left_out = skip(guarded)
    assert [left_out("customer", name) for name in ("name", "city", "ssn", "xyz")] == [False, True, True, True]
    assert left_out("secret", "val")
    assert left_out("open_view", "name")  # beside it stands the city
    assert not skip(db)("secret", "val")


def test_it_is_a_database_like_the_other(db: SQLiteDatabase) -> None:
    schema = introspect(db)
    guarded = guard(db, schema, SQLITE_ACCESS)
    assert (guarded.name, guarded.dialect, guarded.schemas, guarded.url) == (db.name, db.dialect, db.schemas, db.url)
    assert guard(db, schema, Access()) is db
    with pytest.raises(QueryRefusedError, match="closed by access rules"):
        guarded.catalog("SELECT name FROM sqlite_master")
    cut = guarded.execute("SELECT name FROM customer", Limits(rows=1))
    assert (cut.rows, cut.truncated) == ((("Ann",),), True)
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    assert str(guarded.execute(slow, Limits(seconds=0.2)).error or "").startswith("limit: ")
    with guarded:
        pass
    assert str(guarded.execute("SELECT name FROM customer").error or "").startswith("database: ")


def test_only_masks_refuse_nothing(db: SQLiteDatabase) -> None:
    guarded = guard(db, introspect(db), Access(mask=("customer.ssn",)))
    assert guarded.execute("SELECT * FROM customer").rows == db.execute("SELECT * FROM customer").rows
    assert guarded.execute("SELECT count(*) FROM sqlite_master").ok


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
def test_names_that_engines_tell_apart(dialect: str) -> None:
    tables = (Table("staff", (Column("id"), Column("salary"))), Table("Staff", (Column("x"),)), PAY)
    schema = Schema("firm", dialect, tables if dialect in ("mysql", "postgres") else tables[::2])
    checker = Checker(compiled(schema, Access(deny=("*.salary",))).rules)
    mark = "`" if dialect == "mysql" else '"'
    default = {"sqlite": "main", "duckdb": "main", "postgres": "public", "mysql": "firm"}[dialect]
    for sql in ("SELECT id FROM staff", f"SELECT s.id FROM {default}.staff s", "SELECT staff FROM hr.pay", "SELECT 1"):
        assert checker.check(sql) == sql
    attacks = [
        *("SELECT salary FROM staff", "SELECT SALARY FROM staff", f"SELECT {mark}salary{mark} FROM staff"),
        *("SELECT salary FROM hr.pay", "SELECT id FROM other.staff", "SELECT staff FROM pay", "SELECT * FROM staff"),
        *("SELECT a.id FROM nowhere.staff a", "SELECT 1 FROM staff s WHERE upper(salary -> '$') = 'x'"),
        *("SELECT (SELECT salary FROM (SELECT 1 + 1) t) FROM staff", "SELECT salary(staff) FROM staff"),
        *("SELECT salàry FROM staff", "SELECT (staff).salary FROM staff", "SELECT staff.*, 1 FROM staff"),
    ]
    for sql in attacks:
        with pytest.raises(QueryRefusedError):
            checker.check(sql)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", 'SELECT U&"\\0073alary" FROM staff, (SELECT 1 AS u, 2 AS "\\0073alary") x'),
        ("postgres", "SELECT row_to_json(staff) FROM staff"),
        ("postgres", "SELECT staff.*::text FROM staff"),
        ("postgres", "SELECT staff.row_to_json FROM staff"),
        ("postgres", "SELECT date_part(salary, id) FROM staff"),
        ("postgres", "SELECT j.salary FROM (staff JOIN badge ON true) AS j"),
        ("postgres", "SELECT b FROM staff AS x(a, b, c)"),
        ("postgres", "SELECT 1 FROM ONLY staff"),
        ("postgres", "SELECT ctid FROM staff"),
        ("postgres", "SELECT 1 FROM pg_class"),
        ("postgres", "WITH pg_authid AS (SELECT * FROM pg_authid) SELECT * FROM pg_authid"),
        ("postgres", 'WITH "Badge" AS (SELECT 1 AS salary) SELECT (SELECT salary FROM badge) FROM staff'),
        ("postgres", "SELECT query_to_xml('SELECT salary FROM staff', true, true, '')"),
        ("postgres", "SELECT 'staff'::regclass"),
        ("postgres", "SELECT * FROM ROWS FROM (generate_series(1, 2)) AS x"),
        ("postgres", f"SELECT {'x' * 64} FROM (SELECT 1 AS {'x' * 64}) t"),
        ("postgres", "SELECT x.v FROM staff, LATERAL (SELECT salary AS v) x"),
        ("postgres", "TABLE staff"),
        ("mysql", "SELECT 1 /*! , salary */ FROM staff, salary"),
        ("mysql", "SELECT /*+ x */ id FROM staff"),
        ("mysql", "SELECT 5--3 FROM staff"),
        ("mysql", "SELECT DEFAULT(salary) FROM staff"),
        ("mysql", "SELECT VALUES(salary) FROM staff"),
        ("mysql", "SELECT (SELECT C.salary FROM (SELECT 1 AS salary) c) FROM staff C"),
        ("mysql", "SELECT id FROM staff PARTITION (p0)"),
        ("mysql", "SELECT datediff(id, salary) FROM staff"),
        ("mysql", "SELECT date(id, salary) FROM staff"),
        ("mysql", "SELECT MATCH (salary) AGAINST ('x') FROM staff"),
        ("mysql", "SELECT convert(salary USING utf8) FROM staff"),
        ("mysql", "TABLE staff"),
    ],
)
def test_tricks_of_the_servers_dialects(dialect: str, sql: str) -> None:
    schema = Schema("firm", dialect, (STAFF, BADGE))
    checker = Checker(compiled(schema, Access(deny=("*.salary",))).rules)
    with pytest.raises(QueryRefusedError):
        checker.check(sql)


def test_a_subquery_in_a_join_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqljury.access.check import _Walk

    walked = []
    query = _Walk.query
    monkeypatch.setattr(_Walk, "query", lambda self, node, *rest: walked.append(node) or query(self, node, *rest))
    checker = Checker(compiled(Schema("firm", "postgres", (STAFF, BADGE)), Access(deny=("*.salary",))).rules)
    depth = 14
    sql = "SELECT 1 FROM staff a JOIN badge b ON a.id IN (" * depth + "SELECT {}" + ")" * depth
    assert checker.check(sql.format("a.id"))
    assert len(walked) == 2 * depth + 1  # each with its parentheses
    with pytest.raises(QueryRefusedError, match=r"no column a\.salary"):
        checker.check(sql.format("a.salary"))


@pytest.mark.parametrize(
    ("sql", "passes"),
    [
        ("SELECT 1 FROM badge b JOIN staff a ON a.id = b.staff JOIN badge c ON c.staff = a.id", True),
        ("SELECT 1 FROM badge b JOIN (staff a JOIN badge c ON a.id = c.staff) ON a.id = b.staff", True),
        ("SELECT 1 FROM badge b JOIN badge c ON a.id = b.staff JOIN staff a ON true", False),
        ("SELECT 1 FROM badge b JOIN badge c ON name = 'x' JOIN staff a ON true", False),
        ("SELECT 1 FROM badge b JOIN badge c ON (SELECT a.id) = 1 JOIN staff a ON true", False),
        ("SELECT 1 FROM badge b JOIN badge c ON (SELECT a.*) IS NULL JOIN badge a ON true", False),
        ("SELECT 1 FROM badge b JOIN badge c ON a IS NULL JOIN badge a ON true", False),
        ("SELECT 1 FROM (SELECT 1 AS salary) b JOIN badge c ON salary = 1 JOIN badge a ON true", True),
        ("SELECT 1 FROM (SELECT 1 AS salary) b JOIN badge c ON salary = 1 JOIN staff a ON true", False),
        ("SELECT 1 FROM (SELECT 1 AS salary) b JOIN badge c ON (SELECT salary) = 1 JOIN staff a ON true", False),
    ],
)
def test_what_an_on_clause_may_read(sql: str, passes: bool) -> None:
    checker = Checker(compiled(Schema("firm", "postgres", (STAFF, BADGE)), Access(deny=("*.salary",))).rules)
    if passes:
        assert checker.check(sql) == sql
        return
    with pytest.raises(QueryRefusedError):
        checker.check(sql)


def test_a_comment_is_not_sent() -> None:
    with PlainDuckDB(TABLES) as plain:
        guarded = guard(plain, schema_of(plain), Access(deny=("secret",)))
        guarded.execute("SELECT /* , val */ name -- secret\nFROM customer")
        assert plain.received[-1].split() == ["SELECT", "name", "FROM", "customer"]


class Telling(PlainDuckDB):
    """A server whose hints name what there is."""

    def execute(self, sql: str, *_: object, **__: object) -> object:  # type: ignore[override]
        from sqljury.db.base import failure
        from sqljury.types import Result

        hint = 'column "nam" does not exist HINT: Perhaps you meant "customer"."Credit Card" or secret.val'
        return Result(error=failure("sql", hint))


def test_hints_of_the_engine_do_not_tell_hidden_names() -> None:
    with Telling(TABLES) as plain:
        guarded = guard(plain, schema_of(plain), Access(deny=("secret", 'customer."credit card"')))
        error = str(guarded.execute("SELECT name FROM customer").error)
        assert "the reason cannot be shown" in error
        assert "secret" not in error
        assert "Credit" not in error
