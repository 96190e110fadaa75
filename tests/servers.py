"""Database servers of the test session's own: real ones, in a temporary folder, on a free port of loopback."""

from __future__ import annotations

import ctypes
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

ADMIN_PASSWORD: Final = "boss p@ss/w%rd"  # needs encoding in a URL
READER_PASSWORD: Final = "reader-secret-7"
_START_SECONDS: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1


class Server:
    """A running server; ``stop`` ends it and removes its files. ``restart`` starts it again on the same files."""

    def __init__(self, folder: Path, command: Sequence[str], ready: Callable[[int], bool]) -> None:
        self.folder = folder
        self.port = _free_port()
        self._command = [part.replace("PORT", str(self.port)) for part in command]
        self._ready = ready
        self.restart()

    def restart(self) -> None:
        """Start the server and wait until it answers."""
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=_die_with_parent,
                **unprivileged(),
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                log_text = (self.folder / "server.log").read_text(errors="replace")
                raise RuntimeError(f"{self._command[0]} did not start:\n{log_text[-4000:]}")
            time.sleep(0.05)

    def halt(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server, its files stay."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def stop(self) -> None:
        """End the server and remove its files."""
        self.halt(signal.SIGQUIT if "postgres" in self._command[0] else signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_postgres() -> Server:
    """PostgreSQL with the superuser ``boss``, who gives ``ADMIN_PASSWORD``, and no table yet."""
    programs = _postgres_programs()
    folder = _folder("sqljury-pg-")
    (folder / "password").write_text(ADMIN_PASSWORD)
    initdb = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "boss", "-A", "scram-sha-256"]
    initdb += ["--pwfile", str(folder / "password"), "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
    _run(initdb)
    # The server has no TLS; one role is told to use it all the same.
    hba = "hostnossl all tls_only 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\n"
    (folder / "data" / "pg_hba.conf").write_text(hba)
    settings = f"""
        listen_addresses=127.0.0.1 port=PORT unix_socket_directories={folder} fsync=off full_page_writes=off
        synchronous_commit=off max_connections=30 shared_buffers=32MB autovacuum=off
    """
    options = [part for setting in settings.split() for part in ("-c", setting)]
    return Server(folder, [str(programs / "postgres"), "-D", str(folder / "data"), *options], _postgres_answers)


def start_mariadb() -> Server:
    """MariaDB with the administrator ``boss``, who gives ``ADMIN_PASSWORD``, and no database yet."""
    daemon = _mariadb_program()
    folder = _folder("sqljury-maria-")
    (folder / "tmp").mkdir()
    _hand_over(folder / "tmp")
    data = f"--datadir={folder / 'data'}"
    quick = ["--innodb-log-file-size=8M", "--innodb-doublewrite=0", "--innodb-flush-method=nosync"]
    install = [_find("mariadb-install-db"), "--no-defaults", data, "--skip-test-db", "--skip-name-resolve"]
    install += ["--auth-root-authentication-method=normal", *quick]
    _run(install)
    first = folder / "first.sql"
    quoted = ADMIN_PASSWORD.replace("'", "''")
    first.write_text(
        f"CREATE USER IF NOT EXISTS boss@'%' IDENTIFIED BY '{quoted}';\n"
        "GRANT ALL ON *.* TO boss@'%' WITH GRANT OPTION;\n"
        "DROP USER IF EXISTS root@localhost;\n"
    )
    _hand_over(first)
    common = [daemon, "--no-defaults", data, f"--tmpdir={folder / 'tmp'}", *quick]
    common += ["--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0"]
    options = ["--bind-address=127.0.0.1", "--port=PORT", f"--socket={folder / 's.sock'}", "--skip-name-resolve"]
    options += [f"--pid-file={folder / 'pid'}", f"--init-file={first}", "--max-connections=30", "--skip-log-bin"]
    options += ["--secure-file-priv=", "--performance-schema=OFF", "--character-set-server=utf8mb4"]
    return Server(folder, [*common, *options], _mariadb_answers)


def running(start: Callable[[], Server], what: str) -> Server:
    """The started server; without its programs the test is skipped, in CI it fails."""
    try:
        return start()
    except FileNotFoundError as error:
        message = f"no {what} on this machine ({error}); on Debian and Ubuntu: apt install postgresql mariadb-server"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


def unprivileged() -> dict[str, Any]:
    """Arguments of ``subprocess.Popen`` that make root another user, for these servers refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    """Should the test session be killed, the server goes with it (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _hand_over(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, unprivileged()["user"], unprivileged()["group"])


def _folder(prefix: str) -> Path:
    """A folder for the server's user, on a short path: a socket's name may have 100 characters only."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp" if os.path.isdir("/tmp") else None))
    folder.chmod(0o755)
    _hand_over(folder)
    return folder


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", env={**os.environ, "LC_ALL": "C.UTF-8"}, **unprivileged()
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _postgres_programs() -> Path:
    """The folder of the newest PostgreSQL; Debian keeps it out of the path."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    return Path(found[-1] if found else _find("initdb")).parent


def _mariadb_program() -> str:
    return _find("mariadbd", "/usr/sbin/mariadbd")


def _find(*names: str) -> str:
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise FileNotFoundError(names[0])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _postgres_answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(host="127.0.0.1", port=port, user="nobody", password="x", dbname="postgres", connect_timeout=5)
    except psycopg.OperationalError as error:
        return "authentication failed" in str(error)
    return True


def _mariadb_answers(port: int) -> bool:
    import pymysql

    try:
        pymysql.connect(host="127.0.0.1", port=port, user="nobody", password="x", connect_timeout=5)
    except pymysql.err.OperationalError as error:
        return error.args[0] == 1045
    return True


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
