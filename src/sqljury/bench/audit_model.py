"""Gold queries checked by tests, after the program checks: TS-SQL's research question 0, a line a question.

The file is as ``bench.audit`` has it, with what was found of each query beside its findings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.audit import Finding
from sqljury.audit.difference import difference
from sqljury.bench.audit import begun, line_of, opened
from sqljury.bench.folder import Record
from sqljury.bench.run import UNANSWERED
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import CancelledError

CONFIDENCE: Final = 0.5
"""Of every finding: how often tests are right has been measured for no model, so none is surer than another."""

Check = Callable[[Example, Database], Record]
"""What is found of one gold query, as ``check.Checked.to_dict`` has it."""


def run(
    examples: Sequence[Example],
    file: Path,
    settled: Mapping[str, Any],
    check: Check,
    *,
    on_line: Callable[[Record], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Record]:
    """The lines of all ``examples``, in their order; those that ``file`` lacks are checked and written to it.

    Raises ``DatasetError`` for a file that holds something else, ``CancelledError`` once ``stopped`` says so, and what
    the model raises.
    """
    known = begun(file, settled)
    with opened(file) as stream:
        for example in examples:
            if example.id in known:
                continue
            line = _line(example, check)
            if stopped():
                raise CancelledError("stopped; the same command goes on with the audit")
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            stream.flush()
            known[example.id] = line
            on_line(line)
    return [known[example.id] for example in examples]


def _line(example: Example, check: Check) -> Record:
    try:
        with connect(example.database) as db:
            found = check(example, db)
    except UNANSWERED as error:
        return {**line_of(example, [], str(error)), "checked": None}
    return {**line_of(example, _findings(example.gold_sql, found), None), "checked": found}


def _findings(gold: str, found: Record) -> list[Finding]:
    if found["verdict"] != "wrong":
        return []
    better = found["correction"]["sql"] if found["correction"] else ""
    kind = difference(gold, better) if better else "semantic logic"
    return [Finding(kind, "test", CONFIDENCE, better, found["why"])]
