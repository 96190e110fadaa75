"""``sqljury bench``: a recipe over a benchmark, a line a question, continued where it stopped."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sqljury.cli import bench_run, ladder, refining, repeats, terminal
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
from sqljury.cli.options import (
    AdapterOption,
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    DatabasesOption,
    DrawSeed,
    ExamplesOption,
    ModelOption,
    QuestionsOption,
    RecipeOption,
    RunFolder,
    SplitOption,
    Tests,
    TimeoutOption,
    WeightsOption,
    WithoutDatabases,
    allowance,
    opening,
    pool_of,
)
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written


class Shown(StrEnum):
    """The forms in which a model sees a small database."""

    CSV = "csv"
    SQLITE = "sqlite"


class JudgedSchema(StrEnum):
    """What a judge sees of the schema."""

    USED = "used"
    LINKED = "linked"


class Kept(StrEnum):
    """Which small databases a suite keeps."""

    PAIRS = "pairs"
    CLASSES = "classes"
    ALL = "all"


class Draw(StrEnum):
    """Where the rows of small databases come from."""

    SELECTION = "selection"
    FUZZING = "fuzzing"


app = typer.Typer(help="Run recipes on datasets, and analyse the runs.", no_args_is_help=True)


@app.callback()
def _bench() -> None:
    pass


app.command("run")(bench_run.run)
app.command("export")(bench_run.export)
app.command("refine")(refining.refine)
app.command("ladder")(ladder.ladder)


@app.command("spider")
def spider(
    data: Annotated[Path, typer.Option(help="Spider's folder, with train.json or dev.json and database/.")],
    out: RunFolder,
    split: SplitOption = "dev",
    among: DatabasesOption = "",
    left_out: WithoutDatabases = "",
    limit: QuestionsOption = None,
    seed: DrawSeed = 0,
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
    from sqljury.datasets import subset
    from sqljury.engines.databases import FOLDER, Databases, Engine, usual_server
    from sqljury.pipeline import Pipeline
    from sqljury.types import Limits

    analyses = Wanted(analyze or (), stop_share or (), stop_least, part or (), None if seeds else json_file, processes)
    folders = repeats.folders(out, seed, seeds, bool(analyze) or engine is not EngineName.SQLITE)
    drawn = dataset.sample(subset.of_databases(dataset.load(data, split), among, left_out), limit, seed)
    on = Engine(engine.value, strip_keys)
    name = {"name": "spider", "data": str(data.resolve()), "split": split, "limit": limit, **on.settings}
    name |= {key: text for key, text in (("databases", among), ("without", left_out)) if text}
    name |= ({"drawn_by": seed} if seeds else {}) | data_versions(drawn, {})
    chosen, limits = recipes.load(recipe), Limits(seconds=timeout)
    allowed, pool = allowance(budget_seconds, budget_tokens), pool_of(shots)
    wanted = {"dataset": name, "seed": seed, **run.conditions(chosen, limits, allowed, pool)}
    with interruptible() as cancel, Databases(data, on, out / FOLDER, server or usual_server(on)) as databases:
        examples = comparable(drawn, databases, out, cancel)
        asking = not (analyze or seeds) or model is not None or adapter is not None
        finished = not asking and all(
            run.is_finished(examples, folder, {**wanted, "seed": sampled}) for sampled, folder in folders.items()
        )
        if not finished:  # otherwise no model is needed
            opened = opening(model, adapter, cache=cache)
            pipeline = Pipeline.from_recipe(recipe, opened(), limits, opened)
            pipeline = replace(pipeline, allowance=allowed, pool=pool)
            for sampled, folder in folders.items():
                settled = run.settings(pipeline, name, sampled) | {"cache": cache}
                answer_all(examples, pipeline, folder, settled, cancel)
    if analyze:
        print_analyses(out, data, analyses)
    elif seeds:
        repeats.print_repeats(list(folders.values()), data, json_file, processes)
    else:
        terminal.note(f"{len(examples)} answers in {out}; now run: sqljury eval {out}")


@app.command("select")
def select(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a finished run.")],
    selector: Annotated[
        str, typer.Option(help="The selector: consistency, critic, first, random, ranker, rerank, tournament, ...")
    ],
    groups: Annotated[
        int, typer.Option(min=0, max=256, help="The number of largest groups to choose among; 0 for all.")
    ] = 0,
    weights: WeightsOption = "",
    part: Annotated[
        list[int] | None,
        typer.Option(min=1, help="The number of a recipe part whose candidates take part; repeatable."),
    ] = None,
    first: Annotated[int, typer.Option(min=0, help="The number of first candidates that take part; 0 for all.")] = 0,
    schema: Annotated[
        JudgedSchema, typer.Option(help="What a judge sees: what the queries use, or the linked schema with values.")
    ] = JudgedSchema.USED,
    databases: DatabasesOption = "",
    left_out: WithoutDatabases = "",
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    cache: CacheOption = False,
    tests: Annotated[Tests, typer.Option(help="The kind of tests, for selectors that use tests.")] = Tests.SUITE,
    form: Annotated[
        Shown | None, typer.Option(help="The form in which tests show small databases to the model.")
    ] = None,
    shots: Annotated[int | None, typer.Option(min=0, max=100, help="The number of few-shot examples of tests.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, max=64, help="The number of replies that state an expected result.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=5, help="The temperature of these replies.")] = None,
    cases: Annotated[int | None, typer.Option(min=1, max=100, help="The largest number of small databases.")] = None,
    keep: Annotated[
        Kept | None,
        typer.Option(
            help="Which small databases are kept: those on which a new pair of queries differs, those with new "
            "classes, or all up to --cases."
        ),
    ] = None,
    draw: Annotated[
        Draw | None,
        typer.Option(help="The rows of small databases: a random selection from the database, or made-up rows."),
    ] = None,
    reduce: Annotated[
        bool | None,
        typer.Option(
            "--reduce/--as-drawn", help="Whether databases drawn at random lose the rows that no difference needs."
        ),
    ] = None,
    coder: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A model that writes programs for tests; repeatable.")
    ] = None,
    voting: Annotated[refining.Voting | None, typer.Option(help="How the programs' results are combined.")] = None,
) -> None:
    """Choose among a run's stored candidates with another selector; `bench analyze --what ablation` shows it."""
    from sqljury.bench import choices
    from sqljury.bench.run import Controls
    from sqljury.datasets import subset
    from sqljury.errors import InputError
    from sqljury.evaluation import run_folder as folder
    from sqljury.recipes import SelectPart
    from sqljury.stages.registry import check_weights

    check_weights(weights, selector)
    if (keep or draw or reduce is not None) and tests is not Tests.SUITE:
        raise InputError(
            "--keep, --draw and --as-drawn are for the databases of a suite; leave them out, or leave out --tests "
            "agents"
        )
    if (coder or voting) and tests is not Tests.AGENTS:
        raise InputError("--coder and --voting are for programs; add --tests agents, or leave them out")
    where = data or folder.data_of(run_dir)
    within = subset.subset(databases, left_out)  # before the run is read: a share may not exist
    if databases or left_out:
        within = subset.checked({record["db_id"] for record in folder.records(run_dir)}, databases, left_out)

    def say(done: int, total: int, line: folder.Record | None) -> None:
        if line is not None:
            terminal.note(f"{done}/{total} {line['error'] or written.one_line(line['sql'])[:100]}")
        elif done:
            terminal.note(f"{run_dir} has {done} of {total} choices; continuing")

    with interruptible() as cancel:
        selecting = SelectPart(selector, groups, schema=schema.value, weights=weights)
        among = choices.Among(first, tuple(part or ()))
        given: dict[str, Any] = {"form": form and form.value, "shots": shots, "cases": cases}
        given |= {"samples": samples, "temperature": temperature}
        given |= {"keep": keep and keep.value, "draw": draw and draw.value, "reduce": reduce}
        given |= {"voting": voting and voting.value, "models": tuple(dict.fromkeys(coder)) if coder else None}
        changed = {name: value for name, value in given.items() if value is not None}
        testing = replace(choices.SUITE, kind=tests.value, **changed)
        opened = opening(model, adapter, cache=cache)
        controls = Controls(say, cancel, opened)
        file = choices.select(run_dir, where, opened(), selecting, controls, among=among, tests=testing, within=within)
    terminal.note(f"choices {choices.name_of(file)!r} in {file}; the analysis `ablation` shows them")


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
