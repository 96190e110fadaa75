"""Answering questions for a benchmark from the command line: a line on the terminal for each answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqljury.cli import terminal
from sqljury.cli.options import cluster_of
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.evaluation.run_folder import Record
    from sqljury.llm.ledger import Ledger
    from sqljury.pipeline import Pipeline


def answer_all(
    examples: Sequence[Example],
    pipeline: Pipeline,
    out: Path,
    settled: Record,
    cancel: threading.Event,
    ledger: Ledger | None = None,
) -> None:
    """Answer the questions that have no answer in the folder yet, ``pipeline.questions`` of them at once.

    ``ledger`` counts the calls of several at once; those of one at a time are counted by its model. Raises what
    ``bench.run.run`` raises, and for several what ``bench.workers.run_here`` raises.
    """
    from sqljury.bench import run, workers

    on_answer, together = _said(examples, out), pipeline.questions
    if together == 1:
        run.run(examples, pipeline, out, settled, on_answer, cancel)
    else:
        workers.run_here(examples, pipeline, out, settled, together, on_answer, cancel, ledger)


def answer_on(
    cluster: str,
    count: int | None,
    batch: int,
    examples: Sequence[Example],
    make: Callable[[], Pipeline],
    out: Path,
    settled: Record,
    ledger: Ledger | None,
) -> None:
    """The same by workers of a cluster, one in progress for all; raises what ``bench.workers.run`` raises."""
    from sqljury.bench import workers
    from sqljury.parallel.cluster import Needs

    names = (settled["model"], *settled.get("others", ()))
    needs = Needs(gpus=1.0 if any(name.startswith("vllm:") for name in names) else 0.0)
    with cluster_of(cluster, count, batch, needs) as crew:
        terminal.note(f"{batch} questions at once in each")
        workers.run(examples, make, out, settled, crew, _said(examples, out), ledger)


def _said(examples: Sequence[Example], out: Path) -> Callable[[int, Record | None], None]:
    def say(done: int, record: Record | None) -> None:
        if record is not None:
            outcome = record["error"] or written.one_line(record["sql"])
            terminal.note(f"{done}/{len(examples)} {record['cost']['seconds']:.1f} s {outcome[:100]}")
        elif done:
            terminal.note(f"{out} has {done} of {len(examples)} answers; continuing")

    return say
