"""``sqljury models``: the local weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal
from sqljury.llm import adapters, models

app = typer.Typer(help="The local models: which there are, where they lie, and how to get them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name of the catalogue; see `sqljury models list`.")]


@app.command("list")
def list_models() -> None:
    """List the catalogue, what of it is on this machine, and the adapters that have a name."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("name", "size", "here", "license", "what it is"):
        table.add_column(title, justify="right" if title == "size" else "left", overflow="fold")
    for entry in models.CATALOGUE.values():
        here = "yes" if models.find(entry.name) else "no"
        table.add_row(entry.name, f"{entry.size / 1e6:,.0f} MB", here, entry.license, entry.summary)
    terminal.show(table)
    if names := adapters.known():
        terminal.show("", f"Adapters, for --adapter NAME: {terminal.clean(', '.join(names))}")


@app.command("path")
def path(name: Name = models.DEFAULT) -> None:
    """Print where the weights lie; fails when they are missing or damaged."""
    print(models.resolve(name))


@app.command("pull")
def pull(
    name: Name = models.DEFAULT,
    source: Annotated[Path | None, typer.Option("--from", help="A copy of the file, on this machine.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch again what is already here.")] = False,
) -> None:
    """Fetch weights and check their hash; a broken-off download goes on where it stopped."""
    import sys

    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    silent = not sys.stderr.isatty()
    with Progress(*columns, console=terminal.console(stderr=True), transient=True, disable=silent) as bar:
        task = bar.add_task(terminal.clean(f"looking for {name}"), total=None)
        target = models.pull(
            name,
            source=source,
            force=force,
            progress=lambda what, done, total: bar.update(
                task, description=terminal.clean(what), completed=done, total=total
            ),
        )
    print(target)
