"""Database servers of the test session's own: real ones, in a temporary folder, on a free port of loopback."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import pytest

from sqljury.db import private_server
from sqljury.db.private_server import Server
from sqljury.errors import NoServerProgramError

ADMIN_PASSWORD: Final = "boss p@ss/w%rd"  # needs encoding in a URL
READER_PASSWORD: Final = "reader-secret-7"


def start_postgres() -> Server:
    """PostgreSQL with the superuser ``boss``, who gives ``ADMIN_PASSWORD``, and no table yet."""
    # The server has no TLS; one role is told to use it all the same.
    return private_server.start_postgres(ADMIN_PASSWORD, "hostnossl all tls_only 127.0.0.1/32 reject\n")


def start_mariadb() -> Server:
    """MariaDB with the administrator ``boss``, who gives ``ADMIN_PASSWORD``, and no database yet."""
    return private_server.start_mariadb(ADMIN_PASSWORD)


def running(start: Callable[[], Server], what: str) -> Server:
    """The started server; without its programs the test is skipped, in CI it fails."""
    try:
        return start()
    except NoServerProgramError as error:
        message = f"no {what} on this machine ({error}); on Debian and Ubuntu: apt install postgresql mariadb-server"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


def postgres_url(server: Server, database: str, user: str = "boss", password: str = ADMIN_PASSWORD) -> str:
    """The URL of a database on this server."""
    return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{server.port}/{database}"


def mysql_url(server: Server, database: str, user: str = "boss", password: str = ADMIN_PASSWORD) -> str:
    """The URL of a database on this server."""
    return f"mysql://{user}:{quote(password, safe='')}@127.0.0.1:{server.port}/{database}"


def in_postgres(server: Server, database: str, *scripts: str) -> list[tuple[Any, ...]]:
    """Run scripts as the superuser; the rows of the last statement, if it has any."""
    import psycopg

    with psycopg.connect(postgres_url(server, database), autocommit=True) as connection:
        for script in scripts:
            cursor = connection.execute(script.encode())
        while cursor.nextset():
            pass
        return cursor.fetchall() if cursor.description else []


def in_mariadb(server: Server, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements as the administrator; the rows of the last one."""
    import pymysql

    arguments = {"host": "127.0.0.1", "port": server.port, "user": "boss", "password": ADMIN_PASSWORD}
    connection = pymysql.connect(**arguments, autocommit=True, charset="utf8mb4")
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())
    finally:
        connection.close()
