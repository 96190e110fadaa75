"""The servers that tests start."""

from __future__ import annotations

import os

import pytest

import servers
from sqljury.errors import NoServerProgramError


def missing() -> servers.Server:
    raise NoServerProgramError("initdb")


def test_without_the_programs_tests_skip_but_fail_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install"):
        servers.running(missing, "PostgreSQL")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install"):
        servers.running(missing, "PostgreSQL")


def test_a_stopped_server_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    server = servers.running(servers.start_postgres, "PostgreSQL")
    folder = server.folder
    assert servers.in_postgres(server, "postgres", "SELECT 1") == [(1,)]
    server.stop()
    assert server.process.poll() is not None
    assert not os.path.exists(folder)
