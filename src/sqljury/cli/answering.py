"""Answering questions for a benchmark from the command line: a line on the terminal for each answer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqljury.cli import terminal
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.evaluation.run_folder import Record
    from sqljury.pipeline import Pipeline


def answer_all(
    examples: Sequence[Example], pipeline: Pipeline, out: Path, settled: Record, cancel: threading.Event
) -> None:
    """Answer what the folder has no answer to; raises what ``bench.run.run`` raises."""
    from sqljury.bench import run

    def say(done: int, record: Record | None) -> None:
        if record is not None:
            outcome = record["error"] or written.one_line(record["sql"])
            terminal.note(f"{done}/{len(examples)} {record['cost']['seconds']:.1f} s {outcome[:100]}")
        elif done:
            terminal.note(f"{out} has {done} of {len(examples)} answers; going on")

    run.run(examples, pipeline, out, settled, say, cancel)
