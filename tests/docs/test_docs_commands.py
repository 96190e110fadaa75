"""Every command in the documentation is run as it stands there, or is one of a few kinds that cannot be run here.

A page's commands run one after another in a folder of ``docs_world``, in a shell, by the real program; models say what
``docs_world`` has them say. Blocks that begin with a comment such as ``# rules.toml`` are that file.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docs_program
import docs_world
import pytest
from docs_commands import PAGES, ROOT, Command, Shell, commands, files
from typer.main import get_command

from forked import Programs
from sqljury.cli import app

NOT_RUN = {
    r"^docker |^make |\bpip install ": "builds and installs: an image (no Docker here), an environment, this very test",
    r"^sqljury models (?:pull|path)": "1.1 GB of weights from the network; tests/llm does it with a small file",
    r"^sqljury train (?:writer|generator|pairwise|critic|policy|export) ": "hours; tests/train trains a tiny one",
    r"runs/business/(?:second|third|fourth)\.jsonl|^cat b2": "minutes; the page does the same with questions.jsonl",
    r"gate\.py build|gate/trained\.txt|\bpolicy_pool|writer_set\.py": "minutes, and databases of Spider train",
    r"^sqljury ask .* --recipe own\.toml$": "the adapter that only a training makes",
    r"^sqljury calibrate runs/own|^sqljury train data selector|^sqljury tune --data spider": "more questions",
    r"^sqljury tune --data questions|tuned/recipe\.toml": "a hundred trials; tests/bench/test_tune.py makes a few",
    r" --cluster ": "a cluster of Ray; tests/parallel starts one",
    r"^[^#]*postgresql://": "somebody's server; tests/db asks one of its own",
    r"pg100": "a server of PostgreSQL, which not every machine has; tests/bench does",
    r"audit_model\.py|esm_trials\.py|^sqljury eval runs/dev_light --data": "Spider's own databases and gold",
    r"^sqljury reproduce esm\+/table2": "verdicts of other programs on Spider, in ../shared",
    r" \[|\bFILE\b|\bSELECT \.\.\.": "a form with places to fill in",
}
"""What is not run, by pattern, and what it would need."""
ENDS = {r"^sqljury check ": {0, 10, 11}, r"--min-confidence 0\.8": {0, 9}}
"""Exit codes that say something of the answer; every other command ends with 0."""
COMPARED = {"docs/tutorial.md"}
"""Pages whose commands print what the page shows; elsewhere output is that of other databases, or shortened."""
LEAST = 200
"""Commands that the pages have at the least: a pattern that finds none would pass every page."""
IDS = {page: str(page.relative_to(ROOT)) for page in PAGES}


def not_run(command: Command) -> str:
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, command.text)), "")


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        running = Programs(Path(folder, "bin"), Path(folder, "socket"), docs_program.__file__, ("sqljury", "python"))
        yield running
        running.close()


@pytest.fixture(scope="module")
def world(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that each page gets a copy of."""
    folder = tmp_path_factory.mktemp("world")
    docs_world.build(folder)
    for split in docs_world.COPIES:
        command = Command(0, docs_world.RUN.format(split))
        done = Shell(folder / "work", programs.folder, folder / "cache").run(command)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("page", PAGES, ids=IDS.values())
def test_commands_run(page: Path, programs: Programs, world: Path, tmp_path: Path) -> None:
    listed = list(commands(page))
    folder = tmp_path / "copy"
    shutil.copytree(world, folder, symlinks=True)
    work = folder / "work"
    docs_world.add_runs(work, but=_made(listed))
    for name, text in files(page).items():
        (work / name).write_text(text)
    shell = Shell(work, programs.folder, folder / "cache")
    try:
        for command in listed:
            if not not_run(command):
                _runs(command, shell, IDS[page])
    finally:
        shell.close()


def _made(listed: list[Command]) -> set[str]:
    """The runs that a page makes before it uses them."""
    made, used = set(), set()
    for command in listed:
        made |= set(re.findall(r"--out runs/(\S+)", command.text)) - used
        used |= set(re.findall(r"\bruns/(\S+)", command.text))
    return made


def _runs(command: Command, shell: Shell, page: str) -> None:
    done = shell.run(command)
    ends = next((codes for pattern, codes in ENDS.items() if re.search(pattern, command.text)), {0})
    assert done.returncode in ends, f"{page}, line {command.line}: {command.text}\n{done.stderr}"
    assert "Traceback" not in done.stderr, f"{page}, line {command.line}: {command.text}\n{done.stderr}"
    assert "about:blank" not in done.stdout, done.stdout  # what the server calls a problem
    if page in COMPARED and command.shown:
        shown = [line.rstrip() for line in command.shown]
        assert [line.rstrip() for line in done.stdout.splitlines()] == [line for line in shown if line or shown[-1]]


def test_what_is_not_run() -> None:
    """Every kind is still there, and few commands are of one; the rest runs, whatever it is."""
    listed = [command for page in PAGES for command in commands(page)]
    left = [command for command in listed if not_run(command)]
    assert len(listed) >= LEAST
    assert len(left) < len(listed) / 3
    unused = [pattern for pattern in NOT_RUN if not any(re.search(pattern, command.text) for command in left)]
    assert unused == []


@pytest.mark.parametrize("page", PAGES, ids=IDS.values())
def test_commands_that_are_not_run_are_those_of_the_program(page: Path) -> None:
    left = [command.text for command in commands(page) if not_run(command)]
    assert [why for text in left if text.startswith("sqljury ") and (why := refused(text.split()[1:]))] == []


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
    given = [match[1] for word in words if (match := re.match(r"\[?(--[a-z][a-z-]*)", word))]
    wrong = [option for option in given if option not in {*known, "--help"}]
    return f"{' '.join(path)} has no {', '.join(wrong)}" if wrong else ""


def test_what_the_program_refuses() -> None:
    assert refused(["ask", "x", "--fast"]) == "sqljury ask has no --fast"
    assert refused(["fly"]) == "sqljury has no command fly"
