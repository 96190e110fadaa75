"""``sqljury bench spider --seeds``: the same questions answered several times, and how far the figures vary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file
from sqljury.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

JSON_BEGINS: Final = '{\n  "sqljury_repeats": '
MOST: Final = 100
"""Seeds of one command; each takes as long as a whole run."""


def folders(out: Path, seed: int, seeds: str, elsewhere: bool) -> dict[int, Path]:
    """The folder of each run by its seed: ``out`` itself where no ``seeds`` are given, else one in it for each.

    Raises ``InputError`` for seeds that are none, fewer than two, or that ``elsewhere`` cannot be compared.
    """
    if not seeds:
        return {seed: out}
    if elsewhere:
        raise InputError("--seeds compares EX, ESM and ESM+ on SQLite; leave out --analyze and --engine")
    try:
        numbers = list(dict.fromkeys(int(number) for number in seeds.split(",")))
    except ValueError:
        raise InputError(f"--seeds {seeds!r} are not whole numbers; write them as 1,2,3") from None
    if not 2 <= len(numbers) <= MOST:
        raise InputError(f"--seeds needs 2 to {MOST} different numbers, such as 1,2,3; for one use --seed")
    return {number: out / f"seed{number}" for number in numbers}


def print_repeats(runs: Sequence[Path], data: Path, json_file: Path | None, processes: int) -> None:
    """Judge finished runs and print each metric's figures with mean and variance; write them to the JSON file."""
    from sqljury.experiments.repeats import repeats

    with ExitStack() as stack:
        inputs = (data, *(run / name for run in runs for name in ("run.json", "answers.jsonl")))
        file = stack.enter_context(table_file(json_file, JSON_BEGINS, inputs))
        stack.enter_context(interruptible())
        summary = repeats(runs, data, processes)
        if file is not None:
            file.write(json.dumps({"sqljury_repeats": 1, **summary}, indent=2) + "\n")
    terminal.show(*_table(summary))


def _table(summary: dict[str, Any]) -> Iterator[RenderableType]:
    from sqljury.cli.eval_tables import left_out

    yield f"{summary['questions']} questions, {len(summary['seeds'])} runs"
    yield from left_out(summary["faults"], summary["questions"])
    table = terminal.figures(
        "right, %", *(f"seed {seed}" for seed in summary["seeds"]), "mean", "variance", "deviation"
    )
    for metric in summary["metrics"]:
        figures = [*metric["percent"], metric["mean"]]
        table.add_row(metric["title"], *(f"{figure:.1f}" for figure in figures), *_spread(metric))
    yield from ("", table)


def _spread(metric: dict[str, Any]) -> tuple[str, str]:
    return f"{metric['variance']:.2f}", f"{metric['deviation']:.2f}"
