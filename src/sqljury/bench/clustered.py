"""A run whose questions are answered by actors on a cluster; this program alone writes it, as answers come.

Each actor holds a pipeline with its model. An actor that dies costs the question it had, which another one gets.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqljury.bench.calls import Journal
from sqljury.bench.run import KeptOpen, answer, writing
from sqljury.datasets.spider import Example
from sqljury.errors import SqljuryError
from sqljury.evaluation.run_folder import Record
from sqljury.parallel.cluster import Cluster, map_cluster
from sqljury.pipeline import Pipeline

Numbered = tuple[int, Example]
Answered = tuple[Record | None, str]
"""A record, None where none could be made, and the lines of its calls."""

_NAMED: Final = 5


def run(
    cluster: Cluster,
    examples: Iterable[Example],
    build: Callable[[], Pipeline],
    folder: Path,
    settled: Mapping[str, Any],
    on_answer: Callable[[int, Record | None], None] = lambda *_: None,
    cancel: threading.Event | None = None,
) -> None:
    """Answer every example that ``folder`` has no answer to yet, as ``bench.run.run`` does.

    ``build`` makes the pipeline in each actor and must be picklable. Raises what ``bench.run.run`` and
    ``map_cluster`` raise, and ``SqljuryError`` for questions whose actors kept dying; these are not recorded.
    """
    failed: list[str] = []
    with writing(examples, folder, settled, on_answer) as (waiting, calls, write):

        def keep(answered: Answered) -> None:
            record, lines = answered
            if record is None:
                failed.append(lines)
                return
            calls.write(lines)
            calls.flush()
            write(record)

        start = partial(_Answering, build, int(settled["seed"]))
        map_cluster(start, waiting, _lost, cluster, kind=lambda item: item[1].db_id, on_result=keep, cancel=cancel)
    if failed:
        named = "; ".join(failed[:_NAMED])
        raise SqljuryError(f"{len(failed)} questions have no answer: {named}. The same command asks them again")


def _lost(item: Numbered, why: str) -> Answered:
    return None, f"{item[1].id}: {why}"


class _Answering:
    """Answers questions in an actor; the latest database stays open."""

    def __init__(self, build: Callable[[], Pipeline], seed: int) -> None:
        self._pipeline, self._seed, self._databases = build(), seed, KeptOpen()

    def __call__(self, item: Numbered) -> Answered:
        number, example = item
        lines = io.StringIO()
        journal = Journal(lines)
        recorded = journal.recorded(self._pipeline)
        record = answer(example, recorded, self._seed, None, journal, self._databases.open)
        return {**record, "number": number}, lines.getvalue()
