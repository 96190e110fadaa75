"""Gold queries checked by tests, after the program checks: TS-SQL's research question 0, a line a question.

The file is as ``bench.audit`` has it, with what was found of each query beside its findings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.audit import Finding
from sqljury.audit.finding import difference
from sqljury.audit.run import line_of, opened, waiting_of
from sqljury.bench.run import UNANSWERED
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import CancelledError
from sqljury.evaluation.run_folder import Record, append_line
from sqljury.parallel.threads import map_threads

CONFIDENCE: Final = 0.5
"""The confidence of every finding: it has not been measured how often tests are right."""

STOPPED: Final = "stopped; the same command goes on with the audit"

Check = Callable[[Example, Database, threading.Event], Record]
"""What is found of one gold query, as ``check.Checked.to_dict`` has it, until the event stops it; for any thread."""


def run(
    examples: Sequence[Example],
    file: Path,
    settled: Mapping[str, Any],
    check: Check,
    *,
    on_line: Callable[[Record], None] = lambda _: None,
    cancel: threading.Event | None = None,
    threads: int = 1,
) -> list[Record]:
    """The lines of all ``examples``, in their order; those that ``file`` lacks are checked and written to it.

    ``threads`` questions are checked at a time, each on a connection of its own; lines are written, and ``on_line`` is
    told, one after another as they come. Raises ``DatasetError`` for a file that holds something else,
    ``CancelledError`` once ``cancel`` is set, and what the model raises; what was being checked then is not written.
    """
    cancel = cancel or threading.Event()
    one_by_one = threading.Lock()
    with opened(file, settled) as (stream, known):

        def keep(line: Record) -> None:
            with one_by_one:
                if cancel.is_set():  # a question that was stopped half way has no finding
                    raise CancelledError(STOPPED)
                append_line(stream, line)
                known[line["id"]] = line
                on_line(line)

        def checked(example: Example, stop: threading.Event) -> None:
            if stop.is_set():
                raise CancelledError(STOPPED)
            keep(_line(example, check, cancel))  # an error of another question does not stop this one

        map_threads(checked, waiting_of(examples, known), cancel, threads)
    return [known[example.id] for example in examples]


def _line(example: Example, check: Check, cancel: threading.Event) -> Record:
    try:
        with connect(example.database) as db:
            checked = check(example, db, cancel)
    except UNANSWERED as error:
        return {**line_of(example, [], str(error)), "checked": None}
    better = checked["correction"]["sql"] if checked["verdict"] == "wrong" and checked["correction"] else ""
    return {**line_of(example, _findings(example.gold_sql, checked), None, better), "checked": checked}


def _findings(gold: str, checked: Record) -> list[Finding]:
    if checked["verdict"] != "wrong":
        return []
    better = checked["correction"]["sql"] if checked["correction"] else ""
    kind = difference(gold, better) if better else "semantic logic"
    return [Finding(kind, "test", CONFIDENCE, better, checked["why"])]
