"""The options of ``sqljury bench`` that put a benchmark's databases on another engine, and how gold fared there."""

from __future__ import annotations

import threading
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.engines.checked import Checked
    from sqljury.engines.databases import Databases


class EngineName(StrEnum):
    """The engines that a benchmark can be asked on."""

    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"


EngineOption = Annotated[
    EngineName, typer.Option(help="The engine to copy the databases to; gold queries are translated and checked.")
]
StripKeys = Annotated[
    bool, typer.Option("--strip-keys", help="Copy databases without primary, unique and foreign keys.")
]
ServerOption = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="A server to copy databases to, as a user who may create some; its password is better in PGPASSWORD, "
        "~/.pgpass or MYSQL_PWD than in the URL, which the list of processes shows [default: $SQLJURY_BENCH_SERVER, "
        "else one that is started].",
        show_default=False,
    ),
]


def comparable(examples: list[Example], databases: Databases, folder: Path, cancel: threading.Event) -> list[Example]:
    """The examples that can be asked on the engine; notes how many are left out, and why."""
    from sqljury.engines.checked import OUTCOMES, counts, prepared, read
    from sqljury.errors import CancelledError

    def stop() -> None:
        if cancel.is_set():
            raise CancelledError("stopped; the same command continues the check of gold")

    def say(done: int, total: int, latest: Checked | None) -> None:
        if latest is not None and (not latest.kept or done == total or done % 25 == 0):
            outcome = "" if latest.kept else f" {latest.id} is left out: {OUTCOMES[latest.outcome]}; {latest.reason}"
            terminal.note(f"gold {done}/{total}{outcome[:200]}")

    kept = prepared(examples, databases, folder, say, stop)
    asked = {example.id for example in examples}
    outcomes = counts(check for check in read(folder) if check.id in asked and not check.kept)
    if outcomes:
        reasons = ", ".join(f"{outcomes[name]} {meaning}" for name, meaning in OUTCOMES.items() if outcomes[name])
        terminal.note(
            f"{len(examples) - len(kept)} of {len(examples)} questions are left out on {databases.engine.name}, since "
            f"their gold query cannot be used ({reasons}); {folder / 'gold.jsonl'} lists them"
        )
    return kept
