"""``sqljury scale``: how many models and processors a load needs, by the service times of runs."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file

if TYPE_CHECKING:
    from sqljury.experiments.scaling import Outcome, Service


def scale(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="The runs whose questions and times are drawn from.")
    ],
    rates: Annotated[
        str, typer.Option("--rates", metavar="LIST", help="Rates in questions a second, separated by commas.")
    ] = "10,100,1000,10000",
    slots: Annotated[
        int,
        typer.Option(min=1, help="The number of questions that a machine works on at once: the --batch of the runs."),
    ] = 1,
    hour: Annotated[float, typer.Option(min=0, help="The price of a machine's hour in US dollars.")] = 0.0,
    repeated: Annotated[
        float, typer.Option(min=0, max=0.99, help="The share of questions whose replies are in the cache.")
    ] = 0.0,
    slower: Annotated[
        float, typer.Option(min=1.01, help="The factor by which answers may be slower than without a queue.")
    ] = 1.2,
    workers: Annotated[
        str,
        typer.Option(metavar="LIST", help="The numbers of workers for which the time of the runs is simulated too."),
    ] = "1,2,4,8",
    out: Annotated[Path | None, typer.Option(help="Write the table and a chart of saturation as an HTML page.")] = None,
) -> None:
    """Simulate a load: how many models, processors and dollars a rate of questions needs."""
    from sqljury.experiments import scaling

    wanted = _numbers(rates, "--rates")
    counts = [int(number) for number in _numbers(workers, "--workers", whole=True)]
    services = [service for run in runs for service in scaling.measured(run)]
    with table_file(out, scaling.BEGINS, runs) as file, interruptible():
        rows, curves = [list(_HEAD)], {}
        for rate in wanted:
            load = scaling.Load(rate, repeated)
            size = scaling.sized(services, load, slower)
            rows.append(_row(rate, size, slots, hour))
            if rate <= _DRAWN and (points := scaling.saturation(services, size, load)):
                curves[f"{rate:g}/s"] = points
        _print(rows, services, counts, slots)
        if file is not None:
            file.write(scaling.page(", ".join(run.resolve().name for run in runs), services, rows, curves))


_HEAD = (
    "a second",
    "machines",
    "models busy",
    "processors",
    "median, s",
    "95 %, s",
    "99 %, s",
    "USD/hour",
    "USD/1,000",
)
_DRAWN = 1000
"""Larger systems have the same curve as this one, and take minutes to simulate at ten loads."""


def _row(rate: float, size: Outcome, slots: int, hour: float) -> list[str]:
    machines = ceil(size.models / slots)
    dollars = machines * hour
    seconds = (f"{latency:.2f}" for latency in (size.p50, size.p95, size.p99))
    money = (f"{dollars:,.2f}", f"{1000 * dollars / (3600 * rate):,.4f}") if hour else ("-", "-")
    return [f"{rate:,g}", f"{machines:,}", f"{size.busy:.0%}", f"{size.processors:,}", *seconds, *money]


def _print(rows: list[list[str]], services: list[Service], counts: list[int], slots: int) -> None:
    from sqljury.experiments.scaling import run_seconds

    head, *body = rows
    table = terminal.figures("sizes", *head)
    for row in body:
        table.add_row(*row)
    whole = terminal.figures("these questions as one run", "seconds", "a second", "times one worker")
    alone = run_seconds(services, 1, slots=slots)
    for count in counts:
        seconds = run_seconds(services, count, slots=slots)
        cells = (f"{seconds:,.0f}", f"{len(services) / seconds:.2f}", f"{alone / seconds:.2f}")
        whole.add_row(f"{count} worker{'' if count == 1 else 's'}", *cells)
    terminal.show(table, "", whole)


def _numbers(text: str, option: str, *, whole: bool = False) -> list[float]:
    from sqljury.errors import InputError

    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number <= 100_000 and (number.is_integer() or not whole) for number in numbers):
        kind = "whole numbers" if whole else "numbers"
        raise InputError(f"{option} {text!r}: give {kind} above 0 and up to 100000, with commas between them")
    return numbers
