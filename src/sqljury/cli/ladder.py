"""``sqljury bench ladder``: MSc-SQL step by step on the same questions, from one query to the best choice of eight."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sqljury.cli import terminal
from sqljury.cli.analyze import Processes
from sqljury.cli.answering import answer_all
from sqljury.cli.options import (
    AdapterOption,
    BatchOption,
    CacheOption,
    DrawSeed,
    ModelOption,
    QuestionsOption,
    RecipeOption,
    SplitOption,
    TimeoutOption,
    opening,
)
from sqljury.cli.terminal import interruptible, table_file
from sqljury.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sqljury.evaluation.run_folder import Record

JSON_BEGINS: Final = '{\n  "sqljury_ladder": '
MOST: Final = 64


def ladder(
    data: Annotated[Path, typer.Option(help="Spider's folder, with train.json or dev.json and database/.")],
    out: Annotated[Path, typer.Option(help="The folder of both runs; unfinished ones there are continued.")],
    split: SplitOption = "dev",
    limit: QuestionsOption = None,
    seed: DrawSeed = 0,
    recipe: RecipeOption = "mscsql",
    samples: Annotated[str, typer.Option(metavar="N,N,...", help="Numbers of queries to choose among.")] = "1,2,3,8",
    schema: Annotated[
        bool, typer.Option("--linked-schema", help="Show judges the linked schema with values and descriptions.")
    ] = False,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that judges; by default the one that writes.")
    ] = None,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    timeout: TimeoutOption = 30.0,
    cache: CacheOption = False,
    batch: BatchOption = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="A JSON file to which the ladder is written too.")
    ] = None,
    processes: Processes = 1,
) -> None:
    """Measure MSc-SQL step by step: one query, linked tables, more queries, and each way to choose among them."""
    from sqljury import recipes
    from sqljury.bench import run, rungs, stored
    from sqljury.bench.run import Controls
    from sqljury.bench.versions import data_versions
    from sqljury.datasets import spider as dataset
    from sqljury.experiments import ladder as figures
    from sqljury.llm.open import by_names
    from sqljury.pipeline import Pipeline
    from sqljury.recipes import SelectPart
    from sqljury.types import Limits

    counts = _counts(samples)
    both = rungs.recipes_of(recipes.load(recipe), max(counts))
    examples = dataset.sample(dataset.load(data, split), limit, seed)
    name = {"name": "spider", "data": str(data.resolve()), "split": split, "limit": limit, "count": len(examples)}
    name |= data_versions(examples, {})
    with ExitStack() as stack:
        file = stack.enter_context(
            table_file(json_file, JSON_BEGINS, (data, *(out / folder for folder in both._fields)))
        )  # before the long work
        cancel = stack.enter_context(interruptible())
        opened = opening(model, adapter, cache=cache, together=batch)
        writer = opened()
        for folder, run_recipe in both._asdict().items():
            others = by_names(run_recipe.models, writer, opened)
            pipeline = Pipeline(run_recipe, writer, Limits(seconds=timeout), models=others, questions=batch)
            settled = run.settings(pipeline, name, seed) | {"cache": cache}
            answer_all(examples, pipeline, out / folder, settled, cancel)

        def say(done: int, total: int, line: Record | None) -> None:
            if line is not None and (done == total or not done % 20):
                terminal.note(f"{line['selector']} among {line['first']}: {done}/{total}")

        selecting = SelectPart(schema="linked" if schema else "used")
        judging = opened(judge) if judge else writer
        made = rungs.choose(out / "link", data, judging, selecting, counts, Controls(say, cancel, opened))
        loaded = [stored.load(out / folder, data, processes) for folder in both._fields]
        summary = figures.ladder(loaded[0], loaded[1], counts, made, seed)
        if file is not None:
            file.write(json.dumps({"sqljury_ladder": 1, **summary}, indent=2) + "\n")
    terminal.show(*_table(summary))


def _counts(samples: str) -> list[int]:
    try:
        counts = sorted({int(number) for number in samples.split(",")})
    except ValueError:
        raise InputError(f"--samples {samples!r} are not whole numbers; write them as 1,2,3,8") from None
    if counts[0] < 1 or counts[-1] > MOST:
        raise InputError(f"--samples are from 1 to {MOST}, not {samples!r}")
    return counts


def _table(summary: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"{summary['questions']} questions, {summary['several']} of them with more than one result"
    heads = ("queries", "right, %", "95 % interval", "of", "against + link", "95 % interval", "won", "lost", "p")
    table = terminal.figures("step", *heads)
    for rung in summary["rungs"]:
        low, high = rung["interval"]
        table.add_row(
            rung["rung"],
            str(rung["samples"]),
            f"{rung['percent']:.1f}",
            f"{rung['low']:.1f} - {rung['high']:.1f}",
            str(rung["total"]),
            f"{rung['difference']:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            str(rung["won"]),
            str(rung["lost"]),
            f"{rung['p']:.3g}",
        )
    yield from ("", table)
