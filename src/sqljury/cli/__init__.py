"""The command line: one file per command; errors end in one line and a documented exit code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sqljury.cli import ask, bench, evaluate, models, suite
from sqljury.errors import SqljuryError

app = typer.Typer(
    name="sqljury",
    help="Ask a database in plain language; get SQL that has been tried, and the evidence for it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("ask")(ask.ask)
app.command("eval")(evaluate.evaluate)
app.add_typer(bench.app, name="bench")
app.add_typer(models.app, name="models")
app.add_typer(suite.app, name="suite")

INTERRUPTED = 130
BROKEN_PIPE = 141


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"sqljury {version('sqljury')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which this is.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit: 0 when it worked, else the error's own code (see ``sqljury.errors``)."""
    try:
        app()
    except SqljuryError as error:
        print(f"sqljury: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("sqljury: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has gone, and there is no one left to tell
        sys.exit(BROKEN_PIPE)
