"""``sqljury train gain``: what an adapter gained, by two runs on the same held-out questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.options import SeedOption

if TYPE_CHECKING:
    from sqljury.metrics.agreement import Comparison


def gain(
    before: Annotated[
        Path, typer.Argument(metavar="BASE_RUN", help="A folder of `sqljury bench` without the adapter.")
    ],
    after: Annotated[
        Path, typer.Argument(metavar="ADAPTER_RUN", help="A run of the same questions and recipe with the adapter.")
    ],
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the runs.")] = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare two runs on the same questions: first candidate, votes, answer and bound, with intervals."""
    print_gains(before, after, data, seed, processes, as_json=as_json)


def print_gains(
    before: Path, after: Path, data: Path | None = None, seed: int = 0, processes: int = 1, *, as_json: bool = False
) -> dict[str, Comparison]:
    """Print what the second run gained on the first, and return it by measure."""
    from sqljury.bench import stored
    from sqljury.evaluation import run_folder
    from sqljury.experiments.gain import gains

    runs = [stored.load(folder, data or run_folder.data_of(folder), processes) for folder in (before, after)]
    comparisons = gains(runs[0], runs[1], seed)
    questions = len(comparisons["votes"].wins) + len(comparisons["votes"].losses) + comparisons["votes"].ties
    if as_json:
        measures = {name: {**comparison._asdict(), "wins": len(comparison.wins), "losses": len(comparison.losses)}
                    for name, comparison in comparisons.items()}  # fmt: skip
        print(terminal.to_json({"questions": questions, "measures": measures}))
        return comparisons
    table = terminal.figures("right, %", "before", "after", "gain", "95 % interval", "better", "worse", "p")
    for name, comparison in comparisons.items():
        low, high = comparison.interval
        table.add_row(
            name,
            f"{100 * comparison.first:.1f}",
            f"{100 * comparison.second:.1f}",
            f"{100 * comparison.difference:+.1f}",
            f"{100 * low:+.1f} to {100 * high:+.1f}",
            str(len(comparison.wins)),
            str(len(comparison.losses)),
            f"{comparison.p:.3f}",
        )
    models = " against ".join(str(run.described["model"]) for run in runs[::-1])
    terminal.show(terminal.clean(f"{questions} questions in both runs, {models}"), "", table)
    missing = [len(run.questions) - questions for run in runs]
    if any(missing):
        terminal.note(f"{missing[0]} questions of {before} and {missing[1]} of {after} are not in the other run")
    return comparisons
