"""The files of the container: what they say holds together, and their database is one that sqljury may only read."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_docs_commands import refused

import servers
from sqljury import FakeModel, Session
from sqljury.project import load

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "examples" / "compose"
INSTRUCTIONS = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK"}
INSTRUCTIONS |= {"ENTRYPOINT", "CMD"}


def instructions() -> list[tuple[str, str]]:
    """Name and arguments of each instruction of the Dockerfile."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in lines.splitlines() if line.strip()]  # type: ignore[misc]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def test_the_dockerfile() -> None:
    listed = instructions()
    names = [name for name, _ in listed]
    assert set(names) <= INSTRUCTIONS
    images = [given for name, given in listed if name == "FROM"]
    assert all(re.match(r"python:\$\{PYTHON\}-slim-\w+", image) for image in images)  # pinned, and small
    last = listed[max(at for at, name in enumerate(names) if name == "FROM") :]
    users = [given for name, given in last if name == "USER"]
    assert users == ["10001"]
    after = [name for name, _ in last[[name for name, _ in last].index("USER") :]]
    assert {"ENTRYPOINT", "CMD", "HEALTHCHECK"} <= set(after)
    assert ("ENTRYPOINT", '["sqljury"]') in last
    assert not [
        given for name, given in listed if name in ("ARG", "ENV") and re.search("key|password|token", given, re.I)
    ]
    assert not [
        given for name, given in listed if name == "COPY" and re.match(r"\.\s|/", given)
    ]  # never the whole folder
    sources = [one for name, given in listed if name == "COPY" and "--from" not in given for one in given.split()[:-1]]
    assert sources
    assert all((ROOT / source).exists() for source in sources)
    context = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert context[0] == "*"
    assert {line[1:] for line in context if line.startswith("!")} == {source.removeprefix("./") for source in sources}


def test_a_linter_finds_nothing(tmp_path: Path) -> None:
    """hadolint comes as a program within a wheel, for Linux on x86-64 alone."""
    program = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("no hadolint")
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN sudo true\n")
    for file, finds in ((ROOT / "Dockerfile", False), (tmp_path / "Dockerfile", True)):
        done = subprocess.run([program, "--no-color", str(file)], capture_output=True, text=True, check=False)
        assert bool(done.stdout) is finds, done.stdout
        assert bool(done.returncode) is finds, done.stderr


def test_the_compose_file_is_one_by_its_schema(tmp_path: Path) -> None:
    """The schema of the Compose specification comes with check-jsonschema."""
    pytest.importorskip("check_jsonschema")
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(text.replace("read_only:", "readonly:"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    for file, code in ((ROOT / "compose.yaml", 0), (tmp_path / "wrong.yaml", 1)):
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout


def test_extras_and_python_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    arguments = dict(given.partition("=")[::2] for name, given in instructions() if name == "ARG" and "=" in given)
    assert set(arguments["EXTRAS"].split(",")) <= set(project["optional-dependencies"])
    assert {"serve", "mcp", "postgres"} <= set(arguments["EXTRAS"].split(","))
    assert f"Python :: {arguments['PYTHON']}" in " ".join(project["classifiers"])


def test_the_compose_file() -> None:
    services = compose()["services"]
    assert set(services) == {"database", "sqljury"}
    server = services["sqljury"]
    assert refused(shlex.split(server["command"])) == ""
    assert "--tokens" in server["command"]
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert re.fullmatch(r"postgres:\d+-alpine", services["database"]["image"])
    for service in services.values():
        for name, value in service["environment"].items():
            assert "PASSWORD" not in name or value.startswith(f"${{{name}:?"), f"{name} has a value of its own"
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source in compose()["volumes"] or (ROOT / source).is_dir(), volume


def test_the_sample_is_asked_as_its_reader(postgres_server: servers.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's image runs these files once; here they run on a server of the session's own."""
    if shutil.which("psql") is None:
        pytest.skip("no psql")
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE compose")
    environment = {
        **os.environ,
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgres_server.port),
        "PGPASSWORD": servers.ADMIN_PASSWORD,
        "POSTGRES_USER": "boss",
        "POSTGRES_DB": "compose",
        "READER_PASSWORD": "it's a reader",
    }
    try:
        script = (COMPOSE / "1_shop.sql").read_text(encoding="utf-8")
        servers.in_postgres(postgres_server, "compose", script)
        done = subprocess.run(
            ["sh", str(COMPOSE / "2_reader.sh")], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("READER_PASSWORD", environment["READER_PASSWORD"])
        known = load(COMPOSE / "folder").database("shop").session()
        assert known["privacy"] == "schema"
        assert known["database"].endswith("@database/shop")
        known["database"] = known["database"].replace("@database/shop", f"@127.0.0.1:{postgres_server.port}/compose")
        sql = "SELECT sum(total_cents) / 100 FROM orders WHERE status <> 'cancelled'"
        with Session(**{**known, "model": FakeModel(sql), "recipe": "fast"}) as session:
            assert session.ask("How much is ordered, in pounds?").rows == (
                (218.3,),
            )  # whole pounds and pence, though the query divides integers
            column = session.describe().schema.tables[1].columns[-1]
            assert "pounds" in column.comment
        import psycopg

        with psycopg.connect(known["database"]) as connection, pytest.raises(psycopg.Error, match="read-only"):
            connection.execute("DELETE FROM orders")
        url = f"{known['database']}?options=-c%20default_transaction_read_only%3Doff"
        with psycopg.connect(url) as connection, pytest.raises(psycopg.Error, match="permission denied"):
            connection.execute("DELETE FROM orders")
    finally:
        servers.in_postgres(
            postgres_server, "postgres", "DROP DATABASE compose WITH (FORCE)", "DROP ROLE IF EXISTS shop_reader"
        )
