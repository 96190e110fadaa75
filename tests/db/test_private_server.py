"""Servers of the program's own: gone with it, whatever ends it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from servers import in_mariadb, running
from sqljury.db import private_server
from sqljury.db.private_server import ADMINISTRATOR, Server, start_mariadb, start_postgres
from sqljury.errors import NoServerProgramError

PROGRAM = """
import sys, time
from sqljury.db.private_server import start_postgres
server = start_postgres("secret")
print(server.port, server.folder, flush=True)
time.sleep(60)
"""


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_stopped_server_leaves_nothing() -> None:
    server: Server = running(lambda: start_postgres("a'b\\c"), "PostgreSQL")
    with server:
        assert answers(server.port)
        assert server.folder.stat().st_mode & 0o077 == 0
        assert (server.folder / "password").stat().st_mode & 0o077 == 0
    assert not answers(server.port)
    assert not server.folder.exists()


def test_nobody_gets_into_mariadb_without_the_password(mariadb_server: Server) -> None:
    import pymysql

    assert mariadb_server.folder.stat().st_mode & 0o077 == 0
    for user in ("root", ADMINISTRATOR, "mariadb.sys", "'"):
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(pymysql.err.OperationalError):
                pymysql.connect(host=host, port=mariadb_server.port, user=user, password="")
    users = in_mariadb(mariadb_server, "SELECT User, Host FROM mysql.global_priv WHERE User IN ('root', '')")
    assert not users


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_killed_program_takes_its_server_along_and_the_next_one_cleans_up(postgres_server: Server) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port, folder = process.stdout.readline().split()
    assert answers(int(port))
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while answers(int(port)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not answers(int(port))
    file = Path(folder) / "owner.lock"
    private_server._remove_abandoned(Path("/tmp"), Path(folder).name)
    assert file.exists()  # it is too young: a server may be about to start there
    os.utime(file, (0, 0))
    private_server._remove_abandoned(Path("/tmp"), Path(folder).name)
    assert not file.exists()
    os.utime(postgres_server.folder / "owner.lock", (0, 0))
    private_server._remove_abandoned(Path("/tmp"), postgres_server.folder.name)
    assert postgres_server.folder.exists()  # somebody holds it


def test_without_the_programs_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(private_server.glob, "glob", lambda _: [])
    for start, package in ((start_postgres, "postgresql"), (start_mariadb, "mariadb-server")):
        with pytest.raises(NoServerProgramError, match=f"apt install {package}"):
            start("x")
