"""Requests that schemathesis makes of the OpenAPI document: every reply is one that the document has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "benchmarks" / "schemathesis.toml"
EXAMPLES = 3
"""Random requests of each operation, beside some 400 that cover what the document says of each parameter."""


@pytest.mark.skipif(find_spec("schemathesis") is None and not os.environ.get("CI"), reason="no schemathesis")
def test_every_reply_is_as_the_document_has_it(live: Callable[..., str], tmp_path: Path) -> None:
    run = ["run", f"{live()}/v1/openapi.json", "--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1"]
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), *run]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
