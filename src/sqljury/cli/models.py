"""``sqljury models``: the weights of local models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal
from sqljury.llm import adapters, models

app = typer.Typer(help="List, fetch and locate the weights of local models.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The name of a model in `sqljury models list`.")]


@app.command("list")
def list_models() -> None:
    """List the catalogue, which weights are on this machine, and the named adapters."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("name", "size", "here", "license", "description"):
        table.add_column(title, justify="right" if title == "size" else "left", overflow="fold")
    for entry in models.CATALOGUE.values():
        here = "yes" if models.find(entry.name) else "no"
        table.add_row(entry.name, f"{entry.size / 1e6:,.0f} MB", here, entry.license, entry.summary)
    terminal.show(table)
    if names := adapters.known():
        terminal.show("", f"Adapters for --adapter NAME: {terminal.clean(', '.join(names))}")


@app.command("path")
def path(name: Name = models.DEFAULT) -> None:
    """Print the path of the weights; fails if they are missing or damaged."""
    print(models.resolve(name))


@app.command("pull")
def pull(
    name: Name = models.DEFAULT,
    source: Annotated[
        Path | None, typer.Option("--from", help="A local copy of the file, instead of a download.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch the weights again if they are already here.")] = False,
) -> None:
    """Fetch weights and check their SHA-256; an interrupted download is continued."""
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


@app.command("merge")
def merge(
    base: Annotated[str, typer.Argument(metavar="BASE", help="A local model or a .gguf file.")],
    adapter: Annotated[str, typer.Argument(metavar="ADAPTER", help="An adapter's name or its .gguf file.")],
    out: Annotated[Path, typer.Option(help="The .gguf file to write.")],
) -> None:
    """Write weights with an adapter merged in, quantised as they were; needs the extra `train`."""
    from sqljury.train.merge import merge as merged

    print(merged(base, adapter, out, terminal.note))
