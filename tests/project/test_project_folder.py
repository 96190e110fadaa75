"""The context folder: what its files may hold, what is said of faults, and where it is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sqljury
from sqljury import FakeModel, Session, recipes
from sqljury.access.rules import Access
from sqljury.errors import InputError, NotesError, ProjectError
from sqljury.project import Project, find, load
from sqljury.project.settings import expanded, has_password
from sqljury.project.starter import create, name_of

ONE = '[databases.shop]\nurl = "shop.db"\n'
TWO = f'default = "shop"\n{ONE}[databases.crm]\nurl = "crm.db"\nnotes = ["crm.yaml"]\n'


def project(folder: Path, settings: str = ONE, **files: str) -> Project:
    (folder / "sqljury.toml").write_text(settings)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return load(folder)


def test_everything_of_a_database(tmp_path: Path) -> None:
    settings = """
recipe = "fast"
[databases.shop]
url = "data/shop.db"
schemas = ["a", "b"]
recipe = "own.toml"
model = "openai:x"
[databases.shop.access]
deny = ["customer.ssn"]
mask = ["*.email"]
"""
    known = project(
        tmp_path,
        settings,
        notes_yaml="formulas: {revenue: SUM(total)}\nglossary: {vip: from the notes}\n",
        glossary_yaml="VIP: a customer with ten orders\nchurn: no order in a year\n",
        examples_jsonl='{"question": "How many?", "sql": "SELECT 1"}\n\n'
        '{"question": "Who?", "SQL": "SELECT 2", "db_id": "shop"}\n',
    ).database()
    assert (known.name, known.url, known.schemas) == ("shop", str(tmp_path / "data/shop.db"), ("a", "b"))
    assert (known.recipe, known.model) == (str(tmp_path / "own.toml"), "openai:x")
    assert known.access == Access(deny=("customer.ssn",), mask=("*.email",))
    assert known.notes.formulas == (("revenue", "SUM(total)"),)
    assert dict(known.notes.glossary) == {"vip": "from the notes", "churn": "no order in a year"}
    assert [(pair.question, pair.sql, pair.place.rpartition(", ")[2]) for pair in known.approved] == [
        ("How many?", "SELECT 1", "line 1"),
        ("Who?", "SELECT 2", "line 3"),
    ]
    pool = known.session()["examples"]
    assert [shot.sql for shot in pool.shots[:2]] == ["SELECT 1", "SELECT 2"]
    assert len(pool.shots) > 50  # beside those of the package
    assert known.session(examples=False)["examples"] is None


def test_files_may_be_missing(tmp_path: Path) -> None:
    known = project(tmp_path).database("shop")
    assert (known.recipe, known.model, known.approved) == ("default", "", ())
    assert known.session()["examples"] is None
    assert known.session()["access"] is None


def test_a_pair_belongs_to_one_database(tmp_path: Path) -> None:
    lines = '{"question": "a", "sql": "1"}\n{"question": "b", "sql": "2", "db_id": "crm"}\n'
    made = project(tmp_path, TWO, examples_jsonl=lines, crm_yaml="rules: [use UTC]")
    assert [pair.question for pair in made.database("shop").approved] == ["a"]
    assert [pair.question for pair in made.database("crm").approved] == ["b"]
    assert made.database("crm").notes.rules == ("use UTC",)
    assert made.database("shop").notes.rules == ()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "there is no [databases.NAME] table"),
        ("databases = 3", "databases must be a table"),
        ("[databases]", "[databases] is empty"),
        ("[databases.shop]", "databases.shop.url is missing"),
        ("[databases.shop]\nurl = 3", "databases.shop.url must be a text in quotes"),
        ("[databases.shop]\nurl = ' '", "databases.shop.url is empty"),
        (f"{ONE}schemas = 'a'", "databases.shop.schemas must be a list of texts"),
        (f"{ONE}tabels = ['a']", "unknown key databases.shop.tabels; known here are url, schemas"),
        (f"{ONE}[databases.shop.access]\nhide = ['a']", "unknown key databases.shop.access.hide; known here are allow"),
        (f"{ONE}[databases.shop.access]\ndeny = ['a.b.c.d']", "databases.shop.access."),
        (f"colour = 1\n{ONE}", "unknown key colour; known here are databases, default"),
        (f"default = 'crm'\n{ONE}", "default names no database; known are shop"),
        ("[databases.'a b']\nurl = 'x'", "databases.a b is not a name"),
        ("[databases.x]\nurl = 'postgresql://u:hunter2@h/d'", "has a password"),
        ("[databases.x]\nurl = 'postgresql://h/d?user=u&password=hunter2'", "has a password"),
        ("[databases.x\nurl = 'x'", "is not TOML"),
    ],
)
def test_faults_of_the_settings(tmp_path: Path, settings: str, words: str) -> None:
    with pytest.raises(ProjectError) as caught:
        project(tmp_path, settings)
    assert str(tmp_path / "sqljury.toml") in str(caught.value)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value).replace("\\n", "")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"notes_yaml": "tabels: {}"}, "line 1"),
        ({"glossary_yaml": "a: b\nc: [d]"}, "line 2"),
        ({"examples_jsonl": '{"question": "a", "sql": "1"}\n{"question": 3}'}, "line 2"),
        ({"examples_jsonl": '{"question": "a", "sql": "1", "db_id": "crm"}'}, "there is no database 'crm'"),
        ({"examples_jsonl": "{]"}, "line 1"),
    ],
)
def test_faults_of_the_other_files_name_the_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    made = project(tmp_path, **files)
    with pytest.raises(InputError) as caught:
        made.database()
    assert next(iter(files)).replace("_", ".") in str(caught.value)
    assert words in str(caught.value)


def test_a_database_has_to_be_named_where_there_are_several(tmp_path: Path) -> None:
    made = project(tmp_path, TWO.replace('default = "shop"\n', ""))
    with pytest.raises(ProjectError, match="has 2 databases and no default"):
        made.database()
    with pytest.raises(ProjectError, match="known are shop, crm"):
        made.database("sho")


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = project(tmp_path, "[databases.x]\nurl = 'postgresql://u:${X_PASSWORD}@${X_HOST}/d'")
    monkeypatch.delenv("X_PASSWORD", raising=False)
    monkeypatch.setenv("X_HOST", "h:5432")
    with pytest.raises(ProjectError, match=r"databases\.x\.url: the environment variable X_PASSWORD is not set"):
        made.database()
    monkeypatch.setenv("X_PASSWORD", "p@ss/word")
    known = made.database()
    assert known.url == "postgresql://u:p%40ss%2Fword@h:5432/d"
    assert "p%40ss" not in repr(known)
    monkeypatch.setenv("WHOLE", "mysql://u:p@h/d")
    assert expanded("${WHOLE}", "") == "mysql://u:p@h/d"
    assert not has_password("postgresql://u:${X}@h/d")


def test_it_is_found_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find(inner) is None
    project(tmp_path)
    found = find(inner)
    assert found is not None
    assert found.folder == tmp_path
    monkeypatch.chdir(inner)
    assert find() == found


@pytest.mark.skipif(os.name == "nt", reason="owners as POSIX has them")
def test_the_file_of_another_user_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path)
    if os.getuid() == 0:
        os.chown(tmp_path / "sqljury.toml", 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(ProjectError, match="belongs to another user"):
        find(tmp_path)
    assert load(tmp_path).names == ("shop",)  # who names it trusts it


def test_a_session_of_the_folder_uses_its_notes_and_rules(shop: Path, tmp_path: Path) -> None:
    settings = f'[databases.shop]\nurl = "{shop}"\n[databases.shop.access]\ndeny = ["employee"]\n'
    project(tmp_path, settings, glossary_yaml="regular: a customer with three orders\n")
    model = FakeModel("SELECT count(*) FROM customer")
    with Session.from_project(project=tmp_path, model=model, recipe="fast", cache=False) as session:
        answer = session.ask("How many regular customers are there?")
    assert answer.rows[0][0] > 0
    assert "regular: a customer with three orders" in model.calls[0].prompt
    assert "CREATE TABLE employee" not in model.calls[0].prompt
    with pytest.raises(ProjectError, match=r"sqljury\.toml: no such file"):
        Session.from_project(project=tmp_path / "none")


def test_no_folder_for_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError, match=r"no sqljury\.toml"):
        sqljury.Session.from_project()


def test_a_new_folder_is_valid_and_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "glossary.yaml").write_text("mine: stays\n")
    urls = {"shop": str(tmp_path / "shop.db"), "crm": "postgresql://u:hunter2@h/crm"}
    written, variables = create(tmp_path, urls)
    assert sorted(file.name for file in written) == ["examples.jsonl", "notes.yaml", "sqljury.toml"]
    assert variables == ["CRM_PASSWORD"]
    assert "hunter2" not in (tmp_path / "sqljury.toml").read_text()
    made = load(tmp_path)
    assert (made.names, made.default) == (("shop", "crm"), "shop")
    assert made.settings.databases["shop"].url == "shop.db"
    assert made.settings.databases["crm"].url == "postgresql://u:${CRM_PASSWORD}@h/crm"
    assert made.database().notes.glossary == (("mine", "stays"),)
    with pytest.raises(ProjectError, match="is there already"):
        create(tmp_path, {})


def test_any_name_of_a_file_stands_in_the_new_folder(tmp_path: Path) -> None:
    for number, name in enumerate(('\U0001f4e6 \x7f\x1b"\\.db', "données.db")):
        folder = tmp_path / str(number)
        create(folder, {"shop": str(folder / name)})
        assert load(folder).settings.databases["shop"].url == name
    with pytest.raises(ProjectError, match="not UTF-8 text"):
        create(tmp_path, {"shop": str(tmp_path / "\udcff.db")})
    assert not (tmp_path / "sqljury.toml").exists()


def test_a_database_beside_the_new_folder_is_found_from_it(tmp_path: Path) -> None:
    create(tmp_path / "know", {"shop": str(tmp_path / "shop.db")})
    made = load(tmp_path / "know")
    assert made.settings.databases["shop"].url == "../shop.db"
    assert os.path.samefile(os.path.dirname(made.database().url), tmp_path)


def test_what_the_new_files_show_as_an_example_is_valid(tmp_path: Path) -> None:
    create(tmp_path, {})
    shown = (tmp_path / "sqljury.toml").read_text().split("\n\n")[1]
    (tmp_path / "sqljury.toml").write_text(shown.replace("# ", ""))
    notes = (tmp_path / "notes.yaml").read_text().splitlines()[2:]
    (tmp_path / "notes.yaml").write_text("\n".join(line.removeprefix("# ") for line in notes))
    known = load(tmp_path).database()
    assert known.access.deny == ("customer.ssn",)
    assert known.recipe in recipes.names()
    assert [item.name for item in known.notes.items] == ["orders", "orders.status"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("a/My Shop.db", "My_Shop"),
        ("postgresql://u:p@h:1/sales?x=1", "sales"),
        ("2024.csv", "db_2024"),
        ("folder/", "folder"),
    ],
)
def test_names_proposed_for_databases(url: str, name: str) -> None:
    assert name_of(url) == name


def test_notes_on_what_the_database_does_not_have(shop: Path, tmp_path: Path) -> None:
    project(tmp_path, f'[databases.shop]\nurl = "{shop}"\n', notes_yaml="tables: {custmer: x}\n")
    with (
        Session.from_project(project=tmp_path, model=FakeModel("SELECT 1")) as session,
        pytest.raises(NotesError, match=r"notes\.yaml: line 1.*custmer"),
    ):
        session.ask("How many?")
