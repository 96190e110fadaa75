"""Runs a command with ``POSTGRES`` and ``MARIADB`` in it replaced by the URLs of servers started for it.

    python benchmarks/with_servers.py python benchmarks/cancel.py POSTGRES MARIADB

The servers are those of the tests (``tests/servers.py``): private, on loopback, with an empty database ``bench``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import servers


def main() -> int:
    """The command's exit code."""
    postgres, mariadb = servers.start_postgres(), servers.start_mariadb()
    try:
        servers.in_postgres(postgres, "postgres", "CREATE DATABASE bench")
        servers.in_mariadb(mariadb, "CREATE DATABASE bench")
        urls = {
            "POSTGRES": servers.postgres_url(postgres, "bench"),
            "MARIADB": servers.mysql_url(mariadb, "bench"),
        }
        return subprocess.run([urls.get(word, word) for word in sys.argv[1:]], check=False).returncode
    finally:
        postgres.stop()
        mariadb.stop()


if __name__ == "__main__":
    sys.exit(main())
