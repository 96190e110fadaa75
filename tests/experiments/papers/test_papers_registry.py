from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from sqljury import recipes
from sqljury.cli import app
from sqljury.errors import InputError
from sqljury.experiments.papers.page import page
from sqljury.experiments.papers.registry import PLACEHOLDERS, Paper, entries, find, papers
from sqljury.experiments.papers.reproduce import METHODS

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "papers.md"
COUNTS = {"rerank": (4, 5), "tssql": (9, 22), "mscsql": (5, 3), "esm+": (4, 8), "chase": (8, 23)}
"""Tables and figures of each paper."""


def test_the_page_is_what_the_registry_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: sqljury reproduce --page --out docs/papers.md"


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_no_table_and_no_figure_is_missing(paper: Paper) -> None:
    """Numbers in ``place``: "Table 4", "Figures 2 to 5", "Figures 21 and 22"."""
    numbers: dict[str, set[int]] = {"Table": set(), "Figure": set()}
    for entry in paper.entries:
        places = re.findall(r"(Table|Figure)s? (\d+)(?: (to|and) (\d+))?", entry.place)
        for kind, first, joined, last in places:
            numbers[kind] |= (
                set(range(int(first), int(last or first) + 1)) if joined != "and" else {int(first), int(last)}
            )
    tables, figures = COUNTS[paper.name]
    assert numbers == {"Table": set(range(1, tables + 1)), "Figure": set(range(1, figures + 1))}


def test_entries_hold_together() -> None:
    assert {entry.method for entry in entries() if entry.method} == set(METHODS)
    assert len({entry.id for entry in entries()}) == sum(1 for _ in entries())
    for entry in entries():
        assert entry.method or entry.why or entry.status == "illustration", entry.id
        assert set(entry.needs) | set(entry.also) <= set(PLACEHOLDERS), entry.id
        for grid in (entry.printed, *(kept.grid for kept in entry.kept)):
            for label, cells in grid.rows.items():
                assert len(cells) == len(grid.columns), f"{entry.id}, {label}"
        for kept in entry.kept:
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept.date), entry.id


def test_commands_make_all_that_they_read() -> None:
    """The first makes a run of the dataset; ``runs/fast`` and recipes are there wherever the package is."""
    for entry in entries():
        made: set[str] = set()
        for command in entry.makes:
            words = shlex.split(command)
            read = {word for word in words if word == "RUN_DIR" or word.startswith("runs/")}
            written = {words[words.index("--out") + 1]} if "--out" in words else set()
            assert read - written <= made, f"{entry.id}: {command}"
            made |= written
            if "--recipe" in words:
                recipe = words[words.index("--recipe") + 1]
                assert recipe in recipes.names() or recipe == "FILE.toml", f"{entry.id}: {recipe}"
    assert find("chase/table1").makes_run
    assert not find("tssql/table6").makes_run  # it is made from another run


def test_an_unknown_table_names_those_of_its_paper() -> None:
    assert find("esm+/table2").place.startswith("Table 2")
    with pytest.raises(InputError, match=r"known are esm\+/table1, esm\+/table2"):
        find("esm+/table9")
    with pytest.raises(InputError, match="rerank, tssql, mscsql, esm"):
        find("other/table1")


def test_commands_and_links_of_the_page_are_there() -> None:
    whole = {command for entry in entries() for command in (entry.command, *entry.makes) if command}
    whole |= {line.split("#")[0] for line in PAGE.read_text().splitlines() if line.startswith("    sqljury ")}
    named = set(re.findall(r"`((?:sqljury|python) [^`]+)`", PAGE.read_text()))  # some leave required options out
    for command in sorted(whole | named):
        words = shlex.split(command)
        if words[0] == "sqljury":
            parses(words[1:], whole=command in whole)
        else:
            text = (ROOT / words[1]).read_text()
            assert all(f'"--{option}"' in text for option in options(words) if not option.startswith("no-")), command
    for target in re.findall(r"\]\(([^)#]*)", PAGE.read_text()):
        assert not target or (PAGE.parent / target).is_file(), target
    for file in re.findall(r"`((?:benchmarks|src|tests)/[\w./]+)`?", PAGE.read_text()):
        assert (ROOT / file).exists(), file


def parses(words: list[str], *, whole: bool) -> None:
    """Fails for a command or an option that there is not; nothing is run."""
    command, parent, name = get_command(app), None, "sqljury"
    while isinstance(command, typer.core.TyperGroup):
        if not words:
            return
        context = command.make_context(name, list(words[:1]), parent=parent)
        name, found, _ = command.resolve_command(context, list(words[:1]))
        assert found is not None, words
        command, parent, words = found, context, words[1:]
    fault = ""
    try:
        command.make_context(name, ["1" if word == "N" else word for word in words], parent=parent)
    except typer.TyperException as error:
        fault = f"{type(error).__name__}: {error}"
    assert not fault or (not whole and fault.startswith("MissingParameter")), f"{words}: {fault}"


def options(words: list[str]) -> list[str]:
    return [word.removeprefix("--") for word in words if word.startswith("--")]
