"""``sqljury bench run`` and ``export``: any dataset by any recipe, and the answers as a file of predictions."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.answering import answer_all, answer_on
from sqljury.cli.groups import DrawOptions, LimitOptions, grouped
from sqljury.cli.options import (
    AdapterOption,
    AnyDataset,
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    ClusterOption,
    DatabaseFolder,
    Dataset,
    DatasetOption,
    ExamplesOption,
    ModelOption,
    PriceOption,
    PricesOption,
    RecipeOption,
    RunFolder,
    TimeoutOption,
    allowance,
    opening,
    pool_of,
    prices_of,
)
from sqljury.cli.terminal import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqljury.bench.costs import RunCost
    from sqljury.datasets.benchmarks import Benchmark
    from sqljury.llm.base import LanguageModel
    from sqljury.llm.ledger import Ledger, Price
    from sqljury.llm.prices import Prices
    from sqljury.schema.notes import Notes


class Predictions(StrEnum):
    """The forms of prediction files."""

    SPIDER = "spider"
    BIRD = "bird"


@grouped
def run(
    data: AnyDataset,
    out: RunFolder,
    draw: DrawOptions,
    spending: LimitOptions,
    dataset: DatasetOption = None,
    db_dir: DatabaseFolder = None,
    recipe: RecipeOption = "default",
    model: ModelOption = None,
    adapter: AdapterOption = None,
    timeout: TimeoutOption = 30.0,
    cache: CacheOption = False,
    shots: ExamplesOption = None,
    descriptions: Annotated[
        bool, typer.Option(help="Show the model BIRD's descriptions of columns, where the dataset has them.")
    ] = True,
    budget_seconds: BudgetSeconds = None,
    budget_tokens: BudgetTokens = None,
    prices: PricesOption = None,
    batch: Annotated[
        int,
        typer.Option(
            min=1,
            max=1024,
            help="The number of questions in flight at once in each worker; for services, vLLM and the embedded model.",
        ),
    ] = 1,
    cluster: ClusterOption = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="The number of workers on --cluster; by default one per node, or one per GPU for vLLM.",
        ),
    ] = None,
    force_new: Annotated[
        bool,
        typer.Option(
            "--force-new",
            help="Begin a new run; the files of the old run in --out are moved to before-1 (before-2, ...) there.",
        ),
    ] = False,
) -> None:
    """Answer a dataset's questions by a recipe; the same command continues a run that was stopped or killed."""
    from sqljury.bench import run as bench
    from sqljury.bench.notes import by_url, notes_of
    from sqljury.bench.versions import data_versions
    from sqljury.errors import InputError
    from sqljury.evaluation.run_folder import put_aside
    from sqljury.pipeline import Pipeline
    from sqljury.types import Limits

    if workers is not None and cluster is None:
        raise InputError("--workers is for --cluster; leave it out, or name a cluster")
    benchmark, of_project = benchmark_at(data, dataset, draw.split, db_dir)
    drawn = draw.drawn(benchmark.examples)
    settings = benchmark.settings | draw.settings() | {"count": len(drawn)}
    priced, counter = prices_of(prices, spending.price), spending.ledger()
    notes = notes_of(drawn, of_project, benchmark if descriptions else None)
    settings |= ({"descriptions": descriptions} if benchmark.descriptions else {}) | data_versions(drawn, notes)
    limits, budget, pool = Limits(seconds=timeout), allowance(budget_seconds, budget_tokens), pool_of(shots)
    noted = by_url(drawn, notes)

    def pipeline_of(opened: Callable[..., LanguageModel]) -> Pipeline:
        made = Pipeline.from_recipe(recipe, None, limits, opened)
        return replace(made, allowance=budget, pool=pool, notes=noted, questions=batch, privacy=benchmark.privacy)

    opened_by = partial(opening, model, adapter, cache=cache, price=priced and priced.among(batch), together=batch)
    pipeline = pipeline_of(opened_by(ledger=counter))
    if force_new and (aside := put_aside(out)):
        terminal.note(f"the run that was in {out} is now in {aside}")
    _count_before(counter, out, priced)
    settled = bench.settings(pipeline, settings, draw.seed) | {"cache": cache}
    with interruptible(bench.STOPPED) as cancel:
        in_worker = partial(pipeline_of, opened_by())  # questions in flight are finished: no ledger refuses a call
        if cluster is None:
            answer_all(drawn, pipeline if batch == 1 else in_worker(), out, settled, cancel, counter)
        else:
            answer_on(cluster, workers, batch, drawn, in_worker, out, settled, counter)
    terminal.note(
        f"{len(drawn)} answers in {out}; now run: sqljury eval {out}, or sqljury report {out} --out FILE.html"
    )


def _count_before(counter: Ledger | None, out: Path, price: Price | Prices | None) -> None:
    """Let limits hold for the whole run, with what was spent before it was continued, at the price of today."""
    from sqljury.bench.costs import costs
    from sqljury.evaluation.run_folder import SETTINGS

    if counter is not None and (out / SETTINGS).is_file():
        counter.add(costs(out, price).spent)


def benchmark_at(
    data: Path, dataset: Dataset | None, split: str, db_dir: Path | None
) -> tuple[Benchmark, Mapping[str, Notes]]:
    """The dataset of ``--data``, and the notes of a context folder by the name of the database."""
    from sqljury.datasets import benchmarks
    from sqljury.project.folder import SETTINGS, load

    if dataset is Dataset.PROJECT or (dataset is None and (data / SETTINGS).is_file()):
        return load(data).benchmark()
    return benchmarks.load(data, dataset and dataset.value, split, db_dir), {}  # type: ignore[arg-type]


def export(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="The file of predictions to write.")],
    form: Annotated[
        Predictions, typer.Option("--format", help="The form: Spider's (and CoSQL's) lines, or BIRD's JSON.")
    ] = Predictions.SPIDER,
) -> None:
    """Write the answers of a run as a file of predictions for the official programs and leaderboards."""
    from sqljury.bench.export import export as predictions
    from sqljury.errors import InputError
    from sqljury.resources import must_write, write_whole

    text = predictions(run_dir, form.value)
    if out.resolve().parent == run_dir.resolve():
        raise InputError(f"{out}: lies in the folder of the run; name another --out")
    with must_write(out, InputError, "name another --out"):
        write_whole(out, text)
    terminal.note(f"the predictions of {run_dir} are in {out}")


def cost(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a run, finished or not.")],
    price: PriceOption = None,
    prices: PricesOption = None,
    output: Annotated[
        str, typer.Option(metavar="table|json", help="The form of the output; JSON has every question.")
    ] = "table",
) -> None:
    """Show what a run has cost: calls, tokens, seconds and money, by step and by model."""
    from sqljury.bench.costs import costs
    from sqljury.errors import InputError

    if output not in ("table", "json"):
        raise InputError(f"--output {output!r} is unknown; give table or json")
    run_cost = costs(run_dir, prices_of(prices, price))
    if output == "json":
        print(terminal.to_json({"run": str(run_dir), **run_cost.to_json()}))
    else:
        _print(run_dir, run_cost)


def _print(run_dir: Path, run_cost: RunCost) -> None:
    from rich.text import Text

    answered = len(run_cost.questions)
    table = terminal.figures(f"{answered} answers", "calls", "prompt", "cached", "written", "seconds", "USD")
    rows = {"answered questions": run_cost.answers, "broken off": run_cost.broken_off, "all": run_cost.spent}
    rows |= {f"  step {name or '(none)'}": spent for name, spent in run_cost.steps.items()}
    rows |= {f"  model {name}": spent for name, spent in run_cost.models.items()}
    for name, spent in rows.items():
        figures = (spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens)
        dollars = f"{spent.usd:,.4f}" if run_cost.priced else "-"
        table.add_row(
            Text(terminal.clean(name)), *(f"{figure:,}" for figure in figures), f"{spent.seconds:,.1f}", dollars
        )
    spread = terminal.figures("a question", "mean", "median", "90 %", "99 %", "most")
    for title, figure, digits in (
        ("seconds", "seconds", 2),
        ("computed tokens", "computed_tokens", 0),
        ("USD", "usd", 6),
    ):
        if figure != "usd" or run_cost.priced:
            per_question = run_cost.spread(figure)
            cells = (
                per_question.mean,
                per_question.p50,
                per_question.p90,
                per_question.p99,
                per_question.most,
            )
            spread.add_row(title, *(f"{cell:,.{digits}f}" for cell in cells))
    terminal.show(terminal.clean(str(run_dir)), "", table, "", spread)
    if run_cost.missing:
        terminal.note(
            f"{run_cost.missing} calls of answered questions are not in {run_dir / 'calls.jsonl'}; the figures "
            "of steps, models and dollars do not include them"
        )
    if run_cost.priced and run_cost.unpriced:
        terminal.note(
            f"{run_cost.unpriced} of {run_cost.spent.calls} calls have no price and count 0 dollars; give --price or "
            "--prices to count them"
        )
