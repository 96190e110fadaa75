"""``sqljury bench``: a recipe over a benchmark, a line a question, continued where it stopped."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.interrupt import interruptible
from sqljury.cli.options import (
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    ExamplesOption,
    ModelOption,
    RecipeOption,
    allowance,
    pool_of,
)

app = typer.Typer(help="Run recipes over benchmarks.", no_args_is_help=True)


@app.callback()
def _bench() -> None:
    pass


@app.command("spider")
def spider(
    data: Annotated[Path, typer.Option(help="The folder with dev.json, tables.json and database/.")],
    out: Annotated[Path, typer.Option(help="The folder of this run; an unfinished run there is continued.")],
    split: Annotated[str, typer.Option(help="dev or train.")] = "dev",
    limit: Annotated[int | None, typer.Option(min=1, help="That many questions, drawn at random by --seed.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the questions and seeds every random choice.")] = 0,
    recipe: RecipeOption = "default",
    model: ModelOption = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one query may run.")] = 30.0,
    cache: CacheOption = False,
    shots: ExamplesOption = None,
    budget_seconds: BudgetSeconds = None,
    budget_tokens: BudgetTokens = None,
) -> None:
    """Answer Spider's questions and keep every candidate; then run `sqljury eval` on the folder."""
    from sqljury.bench import run
    from sqljury.bench.folder import Record
    from sqljury.datasets import spider as dataset
    from sqljury.llm.open import open_model
    from sqljury.pipeline import Pipeline
    from sqljury.types import Limits

    examples = dataset.load(data, split)
    if limit is not None:
        examples = dataset.sample(examples, limit, seed)
    opened = partial(open_model, cache=cache)
    pipeline = replace(
        Pipeline.from_recipe(recipe, opened(model), Limits(seconds=timeout), opened),
        allowance=allowance(budget_seconds, budget_tokens),
        pool=pool_of(shots),
    )
    name = {"name": "spider", "data": str(data.resolve()), "split": split, "limit": limit}

    def say(done: int, record: Record | None) -> None:
        if record is not None:
            outcome = record["error"] or " ".join(record["sql"].split())
            terminal.note(f"{done}/{len(examples)} {record['cost']['seconds']:.1f} s {outcome[:100]}")
        elif done:
            terminal.note(f"{out} has {done} of {len(examples)} answers; going on")

    with interruptible() as cancel:
        run.run(examples, pipeline, out, run.settings(pipeline, name, seed), say, cancel)
    terminal.note(f"{len(examples)} answers in {out}; now run: sqljury eval {out}")
