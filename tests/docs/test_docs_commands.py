"""Every command in the documentation is one that the program takes, and those of the tutorial print what it shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sqljury.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAST = {ROOT / "docs" / "log.md"}
"""What was run once, by the program of its day."""
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")} - PAST)
COMMAND = re.compile(r"^(?:    |\t)?\$? ?(?:[A-Z_]+=\S+ )*(sqljury .*)$")
ENDS = {"|", ">", ">>", "&&", ";", "||", "&"}
PLACEHOLDER = re.compile(r"\.\.\.|…|[\[\]{}]|\bDIR\b|\bFILE\b")
LEAST = 100
"""Commands that the pages have at the least: a pattern that finds none would pass every page."""


def commands(page: Path) -> Iterator[list[str]]:
    """The arguments of each command of a page, in blocks and in indented lines; not those with places to fill in."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    fenced = False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            continue
        match = COMMAND.match(line)
        if match is None or not (fenced or line.startswith("    ")):
            continue
        text = match[1]
        while text.endswith("\\"):
            text = text[:-1] + " " + next(lines).strip()
        try:
            words = shlex.split(text, comments=True)[1:]
        except ValueError:  # a text over several lines
            continue
        cut = next((at for at, word in enumerate(words) if word in ENDS), len(words))
        words = [word for word in words[:cut] if not re.fullmatch(r"\d?>\S*|<\S*", word)]
        if words and not PLACEHOLDER.search(" ".join(words)):
            yield words


def refused(words: list[str]) -> str:
    """Why the program does not take these arguments; nothing is run. Empty where it does."""
    command: Any = get_command(app)
    path = ["sqljury"]
    while getattr(command, "commands", None):
        if not words or words[0].startswith("-"):
            return ""  # --version, --help
        name, *words = words
        if name not in command.commands:
            return f"{' '.join(path)} has no command {name}"
        command = command.commands[name]
        path.append(name)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help"}
    given = [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]
    wrong = [option for option in given if option not in known]
    return f"{' '.join(path)} has no {', '.join(wrong)}" if wrong else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_those_of_the_program(page: Path) -> None:
    assert [why for words in commands(page) if (why := refused(words))] == []


def test_the_pages_have_commands() -> None:
    assert sum(len(list(commands(page))) for page in PAGES) >= LEAST
    assert refused(["ask", "x", "--fast"]) == "sqljury ask has no --fast"
    assert refused(["fly"]) == "sqljury has no command fly"


def test_the_tutorial(tmp_path: Path) -> None:
    """Its console blocks are run one after another in an empty folder with the example database."""
    environment = {**os.environ, "SQLJURY_CACHE": str(tmp_path / "cache"), "COLUMNS": "100", "TERM": "dumb"}
    folder = tmp_path / "work"
    folder.mkdir()
    build = [sys.executable, str(ROOT / "examples" / "shop" / "build.py"), str(folder / "shop.db")]
    subprocess.run(build, check=True, capture_output=True)
    program = tmp_path / "bin" / "sqljury"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sqljury "$@"\n')
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 3
    shell = shutil.which("sh") or "sh"
    for block in blocks:
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = piece.partition("\n")
            done = subprocess.run(
                [shell, "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            assert [line.rstrip() for line in done.stdout.splitlines()] == [
                line.rstrip() for line in shown.splitlines()
            ], command
