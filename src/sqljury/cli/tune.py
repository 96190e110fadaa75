"""``sqljury tune``: the best recipe for a person's own questions, found by trying."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.bench_run import benchmark_at
from sqljury.cli.groups import DrawOptions, LimitOptions, grouped
from sqljury.cli.options import (
    AdapterOption,
    AnyDataset,
    DatabaseFolder,
    DatasetOption,
    ExamplesOption,
    ModelOption,
    SplitOption,
    TimeoutOption,
    opening,
    pool_of,
    price_of,
)
from sqljury.cli.terminal import interruptible

if TYPE_CHECKING:
    from sqljury.bench.tune import Tuned


@dataclass(frozen=True, kw_only=True)
class TrainingDrawOptions(DrawOptions):
    """Which questions are used, by default of the split to train on."""

    split: SplitOption = "train"


@grouped
def tune(
    data: AnyDataset,
    out: Annotated[Path, typer.Option(help="The folder of this search; an unfinished one there is continued.")],
    draw: TrainingDrawOptions,
    spending: LimitOptions,
    dataset: DatasetOption = None,
    db_dir: DatabaseFolder = None,
    recipe: Annotated[str, typer.Option(help="The recipe to begin with, by name or as a .toml file.")] = "default",
    seconds: Annotated[float, typer.Option(min=0.1, help="The limit on a recipe's mean seconds per question.")] = 30.0,
    what: Annotated[
        list[str] | None,
        typer.Option(
            help="A step to search: forms, generators, counts, linking, values, temperatures, adapters, repairs, "
            "choosing, tests or stops; repeatable, all by default."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=20, help="The largest number of passes through all steps.")] = 2,
    trials: Annotated[int, typer.Option(min=1, max=10_000, help="The largest number of variants to try.")] = 80,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    timeout: TimeoutOption = 30.0,
    shots: ExamplesOption = None,
) -> None:
    """Search for the best recipe on questions with gold queries; the same command continues a stopped search."""
    from sqljury.bench.moves import STEPS
    from sqljury.bench.notes import by_url, notes_of
    from sqljury.bench.tune import RECIPE, TABLE, TUNED, Search
    from sqljury.bench.tune import tune as search
    from sqljury.llm import adapters
    from sqljury.pipeline import Pipeline
    from sqljury.types import Limits

    benchmark, of_project = benchmark_at(data, dataset, draw.split, db_dir)
    drawn = draw.drawn(benchmark.examples)
    opened = opening(model, adapter, cache=False, ledger=spending.ledger(), price=price_of(spending.price))
    pipeline = Pipeline.from_recipe(recipe, None, Limits(seconds=timeout), opened)
    notes = by_url(drawn, notes_of(drawn, of_project, benchmark))
    pipeline = replace(pipeline, pool=pool_of(shots), notes=notes, privacy=benchmark.privacy)
    local = getattr(pipeline.model, "on_cpu", False)  # services take no adapters
    wanted = Search(seconds, rounds, trials, tuple(what or STEPS), tuple(adapters.known()) if local else ())
    with interruptible() as cancel:
        best = search(
            drawn,
            pipeline,
            out,
            benchmark.settings,
            wanted,
            seed=draw.seed,
            say=terminal.note,
            cancel=cancel,
            opened=opened,
        )
    _print(best)
    terminal.note(f"recipe: {out / RECIPE}; all trials: {out / TABLE}; the tuned recipe, used or not: {out / TUNED}")


def _print(tuned: Tuned) -> None:
    table = terminal.plain_table("")
    for head in ("step", "change", "questions", "right", "s a question", "outcome"):
        table.add_column(head, justify="left" if head in ("step", "change", "outcome") else "right")
    for row in tuned.rows:
        trial = row.trial
        cells = (row.step, row.change, str(trial.asked), trial.percent, f"{trial.seconds:.1f}", row.outcome)
        table.add_row(*map(terminal.clean, cells))
    terminal.show(table, "")
    print(terminal.clean(f"{tuned.verdict[0].upper()}{tuned.verdict[1:]}."))
