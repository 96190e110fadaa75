"""``sqljury bench``: a recipe over a benchmark, a line a question, continued where it stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import bench_run, bench_select, ladder, refining, repeats, terminal
from sqljury.cli.analyze import (
    Analysis,
    AnalyzeOption,
    JsonFile,
    Parts,
    Processes,
    StopLeast,
    StopShares,
    Wanted,
    print_analyses,
)
from sqljury.cli.answering import answer_all
from sqljury.cli.engines import EngineName, EngineOption, ServerOption, StripKeys, comparable
from sqljury.cli.groups import DrawOptions, grouped
from sqljury.cli.options import (
    AdapterOption,
    BatchOption,
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    ExamplesOption,
    ModelOption,
    RecipeOption,
    RunFolder,
    TimeoutOption,
    allowance,
    opening,
    pool_of,
)
from sqljury.cli.terminal import interruptible

app = typer.Typer(help="Run recipes on datasets, and analyse the runs.", no_args_is_help=True)


@app.callback()
def _bench() -> None:
    pass


app.command("run")(bench_run.run)
app.command("export")(bench_run.export)
app.command("refine")(refining.refine)
app.command("select")(bench_select.select)
app.command("ladder")(ladder.ladder)


@app.command("spider")
@grouped
def spider(
    data: Annotated[Path, typer.Option(help="Spider's folder, with train.json or dev.json and database/.")],
    out: RunFolder,
    draw: DrawOptions,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="N,N,...", help="Answer the same questions once for each of these seeds, and print the variance."
        ),
    ] = "",
    recipe: RecipeOption = "default",
    model: ModelOption = None,
    adapter: AdapterOption = None,
    timeout: TimeoutOption = 30.0,
    cache: CacheOption = False,
    shots: ExamplesOption = None,
    budget_seconds: BudgetSeconds = None,
    budget_tokens: BudgetTokens = None,
    batch: BatchOption = 1,
    analyze: AnalyzeOption = None,
    stop_share: StopShares = None,
    stop_least: StopLeast = None,
    part: Parts = None,
    json_file: JsonFile = None,
    processes: Processes = 1,
    engine: EngineOption = EngineName.SQLITE,
    strip_keys: StripKeys = False,
    server: ServerOption = "",
) -> None:
    """Answer Spider's questions and store all candidates, for `sqljury eval` and `sqljury bench analyze`."""
    from sqljury import recipes
    from sqljury.bench import run
    from sqljury.bench.versions import data_versions
    from sqljury.datasets import spider as dataset
    from sqljury.engines.databases import FOLDER, Databases, Engine, usual_server
    from sqljury.pipeline import Pipeline
    from sqljury.types import Limits

    analyses = Wanted(analyze or (), stop_share or (), stop_least, part or (), None if seeds else json_file, processes)
    folders = repeats.folders(out, draw.seed, seeds, bool(analyze) or engine is not EngineName.SQLITE)
    drawn = draw.drawn(dataset.load(data, draw.split))
    on = Engine(engine.value, strip_keys)
    name = {"name": "spider", "data": str(data.resolve()), "split": draw.split, **draw.settings(), **on.settings}
    name |= ({"drawn_by": draw.seed} if seeds else {}) | data_versions(drawn, {})
    chosen, limits = recipes.load(recipe), Limits(seconds=timeout)
    allowed, pool = allowance(budget_seconds, budget_tokens), pool_of(shots)
    wanted = {"dataset": name, "seed": draw.seed, **run.conditions(chosen, limits, allowed, pool)}
    with interruptible() as cancel, Databases(data, on, out / FOLDER, server or usual_server(on)) as databases:
        examples = comparable(drawn, databases, out, cancel)
        name["count"] = len(examples)  # without those that the engine cannot be asked
        asking = not (analyze or seeds) or model is not None or adapter is not None
        finished = not asking and all(
            run.is_finished(examples, folder, {**wanted, "seed": sampled}) for sampled, folder in folders.items()
        )
        if not finished:  # otherwise no model is needed
            opened = opening(model, adapter, cache=cache, together=batch)
            pipeline = Pipeline.from_recipe(recipe, None, limits, opened)
            pipeline = replace(pipeline, allowance=allowed, pool=pool, questions=batch)
            for sampled, folder in folders.items():
                settled = run.settings(pipeline, name, sampled) | {"cache": cache}
                answer_all(examples, pipeline, folder, settled, cancel)
    if analyze:
        print_analyses(out, data, analyses)
    elif seeds:
        repeats.print_repeats(list(folders.values()), data, json_file, processes)
    else:
        terminal.note(f"{len(examples)} answers in {out}; now run: sqljury eval {out}")


@app.command("analyze")
def analyze_run(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a run, finished or not.")],
    what: Annotated[list[Analysis], typer.Option(help="The analysis to print; repeatable.")],
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    stop_share: StopShares = None,
    stop_least: StopLeast = None,
    part: Parts = None,
    json_file: JsonFile = None,
    processes: Processes = 1,
) -> None:
    """Analyse the answers of a run, finished or not, without a model."""
    from sqljury.evaluation import run_folder as folder

    wanted = Wanted(what, stop_share or (), stop_least, part or (), json_file, processes)
    print_analyses(run_dir, data or folder.data_of(run_dir, there=False), wanted)
