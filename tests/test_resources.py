"""A folder that a program writes is locked against other writers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sqljury.errors import DatasetError
from sqljury.resources import locked_folder


def test_two_programs_cannot_write_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from sqljury.resources import locked_folder\n"
        f"with locked_folder(Path({str(tmp_path / 'run')!r})):\n"
        "    print('mine', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(DatasetError, match="another program is writing"), locked_folder(tmp_path / "run"):
            pass
        holder.kill()  # a lock ends with its holder, however that ends
        holder.wait()
        with locked_folder(tmp_path / "run"):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_a_folder_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(DatasetError, match="another folder"), locked_folder(Path("/dev/null/run")):
        pass
