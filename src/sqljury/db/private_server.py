"""Temporary servers for tests and benchmarks: PostgreSQL and MariaDB in a temporary folder, on a free loopback port.

A server ends with the program that started it (on Linux also if that is killed), and ``stop`` removes its files. The
files of a program that was killed are removed by the next one that starts a server: nobody holds their lock any more.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
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
from typing import IO, Any, Final

from sqljury.errors import DatabaseError, NoServerProgramError
from sqljury.resources import Closing

ADMINISTRATOR: Final = "boss"
"""The user with all rights on a server of this module."""

_NOBODY: Final[dict[str, Any]] = {"host": "127.0.0.1", "user": "nobody", "password": "x", "connect_timeout": 5}
"""A login that a server refuses once it is ready."""

_START_SECONDS: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1
_LOG_CHARS: Final = 4000


class Server(Closing):
    """A running server; ``stop`` ends it and removes its files. ``restart`` starts it again on the same files."""

    def __init__(self, folder: Path, command: Sequence[str], ready: Callable[[int], bool]) -> None:
        self.folder = folder
        self.port = _free_port()
        self._command = [part.replace("PORT", str(self.port)) for part in command]
        self._ready = ready
        self.lock: IO[str] | None = None
        self.restart()

    def restart(self) -> None:
        """Start the server and wait until it answers; raises ``DatabaseError`` with its log where it does not."""
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                self._command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for this program, which then stops the server
                preexec_fn=_die_with_parent,
                **unprivileged(),
            )
        deadline = time.monotonic() + _START_SECONDS
        try:
            while not self._ready(self.port):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    log_text = (self.folder / "server.log").read_text(errors="replace")
                    raise DatabaseError(f"{self._command[0]} did not start:\n{log_text[-_LOG_CHARS:]}")
                time.sleep(0.05)
        except BaseException:
            self.halt(signal.SIGKILL)
            raise

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
        if self.lock is not None:
            self.lock.close()

    def close(self) -> None:
        """The same as ``stop``."""
        self.stop()


def start_postgres(password: str, rules: str = "") -> Server:
    """PostgreSQL with the superuser ``ADMINISTRATOR`` and no table yet; ``rules`` come first in ``pg_hba.conf``.

    Raises ``NoServerProgramError`` where PostgreSQL is not installed, ``DatabaseError`` where it does not start.
    """
    programs = _postgres_programs()
    return _in_folder("sqljury-pg-", lambda folder: _postgres(folder, programs, password, rules))


def _postgres(folder: Path, programs: Path, password: str, rules: str) -> Server:
    _write_secret(folder / "password", password)
    initdb = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", ADMINISTRATOR, "-A", "scram-sha-256"]
    initdb += ["--pwfile", str(folder / "password"), "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
    _run(initdb)
    (folder / "data" / "pg_hba.conf").write_text(f"{rules}host all all 127.0.0.1/32 scram-sha-256\n")
    settings = f"""
        listen_addresses=127.0.0.1 port=PORT unix_socket_directories={folder} fsync=off full_page_writes=off
        synchronous_commit=off max_connections=30 shared_buffers=32MB autovacuum=off
    """
    options = [part for setting in settings.split() for part in ("-c", setting)]
    return Server(folder, [str(programs / "postgres"), "-D", str(folder / "data"), *options], _postgres_answers)


def start_mariadb(password: str, *options: str) -> Server:
    """MariaDB with the administrator ``ADMINISTRATOR`` and no database yet; ``options`` are further ones of the server.

    Raises ``NoServerProgramError`` where MariaDB is not installed, ``DatabaseError`` where it does not start.
    """
    daemon, install = (
        _find("mariadb-server", "mariadbd", "/usr/sbin/mariadbd"),
        _find("mariadb-server", "mariadb-install-db"),
    )
    return _in_folder("sqljury-maria-", lambda folder: _mariadb(folder, (daemon, install), password, options))


def _mariadb(folder: Path, programs: tuple[str, str], password: str, more: Sequence[str]) -> Server:
    daemon, installer = programs
    (folder / "tmp").mkdir()
    _hand_over(folder / "tmp")
    data = f"--datadir={folder / 'data'}"
    quick = ["--innodb-log-file-size=8M", "--innodb-doublewrite=0", "--innodb-flush-method=nosync"]
    install = [installer, "--no-defaults", data, "--skip-test-db", "--skip-name-resolve"]
    install += ["--auth-root-authentication-method=normal", *quick]
    _run(install)
    first = folder / "first.sql"
    quoted = password.replace("\\", "\\\\").replace("'", "''")
    # The installation makes users without passwords, root of this host's name and of loopback among them.
    _write_secret(
        first,
        "DELETE FROM mysql.global_priv WHERE User IN ('root', '');\n"  # noqa: S608 - no content
        "FLUSH PRIVILEGES;\n"
        f"CREATE USER IF NOT EXISTS {ADMINISTRATOR}@'%' IDENTIFIED BY '{quoted}';\n"
        f"GRANT ALL ON *.* TO {ADMINISTRATOR}@'%' WITH GRANT OPTION;\n",
    )
    common = [daemon, "--no-defaults", data, f"--tmpdir={folder / 'tmp'}", *quick]
    common += ["--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0"]
    options = ["--bind-address=127.0.0.1", "--port=PORT", f"--socket={folder / 's.sock'}", "--skip-name-resolve"]
    options += [f"--pid-file={folder / 'pid'}", f"--init-file={first}", "--max-connections=30", "--skip-log-bin"]
    options += ["--secure-file-priv=", "--performance-schema=OFF", "--character-set-server=utf8mb4"]
    return Server(folder, [*common, *options, *more], _mariadb_answers)


def unprivileged() -> dict[str, Any]:
    """Arguments of ``subprocess.Popen`` that make root another user, for these servers refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    """Should the program be killed, the server goes with it (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _hand_over(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, unprivileged()["user"], unprivileged()["group"])


def _write_secret(path: Path, text: str) -> None:
    """A new file that its owner alone can read, from the start."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
    _hand_over(path)


def _in_folder(prefix: str, start: Callable[[Path], Server]) -> Server:
    """A server in a folder of its user, on a short path: a socket's name may have 100 characters only."""
    root = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())  # noqa: S108
    _remove_abandoned(root, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
    try:
        _hand_over(folder)  # for its user alone, as it was made
        lock = _lock(folder)
        server = start(folder)
        server.lock = lock
        return server
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _lock(folder: Path) -> IO[str] | None:
    """The folder's lock, which the system releases when the program ends; None where another program has it."""
    stream = (folder / "owner.lock").open("a")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return None
    return stream


def _remove_abandoned(root: Path, prefix: str) -> None:
    """Remove the folders of programs that were killed; one may have been made just now, and not be locked yet."""
    for folder in root.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            file = folder / "owner.lock"
            if time.time() - file.stat().st_mtime > _START_SECONDS and (lock := _lock(folder)) is not None:
                with lock:
                    shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        check=False,
        **unprivileged(),
    )
    if done.returncode:
        raise DatabaseError(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _postgres_programs() -> Path:
    """The folder of the newest PostgreSQL; Debian keeps it out of the path."""
    paths = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    return Path(paths[-1] if paths else _find("postgresql", "initdb")).parent


def _find(package: str, *names: str) -> str:
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise NoServerProgramError(
        f"the program {names[0]} was not found; install the package {package} (Debian, Ubuntu: apt install {package}), "
        "or give the URL of a server that runs"
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _postgres_answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(**_NOBODY, port=port, dbname="postgres")
    except psycopg.OperationalError as error:
        return "authentication failed" in str(error)
    return True


def _mariadb_answers(port: int) -> bool:
    import pymysql

    try:
        pymysql.connect(**_NOBODY, port=port)
    except pymysql.err.OperationalError as error:
        return bool(error.args[0] == 1045)
    return True
