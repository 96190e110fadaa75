"""The program checks over a benchmark's gold queries, a line a question, so that an audit can be broken off.

The file's first line holds what was audited and how; every other line a question with its findings, in the order they
came. A question whose line is there is not audited again, unless it failed: its database may be there by then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final

from sqljury.audit import LIKELY, TYPES, Data, Finding, Subject, audit
from sqljury.audit.correction import asked_of, corrected, is_about
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import CancelledError, DatasetError, SqljuryError
from sqljury.evaluation.judge import GRACE_SECONDS
from sqljury.evaluation.run_folder import Record, append_line, appending, misshapen
from sqljury.parallel.crew import Crew
from sqljury.parallel.processes import Tell, map_processes
from sqljury.resources import locked_file, must_write, write_whole
from sqljury.schema.introspect import introspect
from sqljury.sql.parse import hush_parser
from sqljury.types import Limits, Schema

ROWS: Final = 100_000
"""The limits of one query; a check that exceeds them reports nothing."""

_LINE: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("id", "db_id", "question", "gold"), str),
    "error": (str, type(None)),
    "findings": list,
    "correction": str,
}
_FINDING: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("type", "check", "clause", "evidence"), str),
    "confidence": (int, float),
}


def settings(dataset: Mapping[str, Any], seconds: float) -> Record:
    """What shapes the findings: the questions they are of, the time for a query, and the version of the checks."""
    return {"audit": dict(dataset), "seconds": seconds, "sqljury": version("sqljury")}


def run(
    examples: Sequence[Example],
    file: Path,
    settled: Mapping[str, Any],
    *,
    processes: int | Crew = 1,
    on_line: Callable[[Record], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Record]:
    """The lines of all ``examples``, in their order; those that ``file`` lacks are audited and written to it.

    A question that failed, or has another text, gold query or database since, is audited again. Raises
    ``DatasetError`` for a file that holds something else or another audit, cannot be written, or is being written, and
    ``CancelledError`` once ``stopped`` says so.
    """
    seconds = float(settled["seconds"])
    with opened(file, settled) as (stream, known):
        waiting = waiting_of(examples, known)

        def keep(line: Record) -> None:
            append_line(stream, line)
            known[line["id"]] = line
            on_line(line)
            if stopped():
                raise CancelledError("stopped; the same command goes on with the audit")

        map_processes(
            _Auditor(seconds).begin,
            waiting,
            _lost,
            silence=seconds + GRACE_SECONDS,
            processes=processes,
            kind=lambda example: example.db_id,
            on_result=keep,
            files=[example.database for example in waiting],
        )
    return [known[example.id] for example in examples]


def waiting_of(examples: Sequence[Example], known: Mapping[str, Record]) -> list[Example]:
    """The examples without a line, and those whose line records a failure or another text, gold query or database."""
    return [
        example
        for example in examples
        if not (line := known.get(example.id)) or line["error"] or not is_about(line, example)
    ]


@contextmanager
def opened(file: Path, settled: Mapping[str, Any]) -> Iterator[tuple[IO[str], dict[str, Record]]]:
    """A stream for further lines, and the last line of each question that is there; the file is locked until the end.

    Raises ``DatasetError`` where none can be written, and what ``begun`` raises.
    """
    with locked_file(file), ExitStack() as stack:
        known = begun(file, settled)
        with must_write(file, DatasetError, "name another file with --out"):
            stream = stack.enter_context(appending(file))
        yield stream, known


def findings_of(line: Record, least: float = LIKELY) -> list[Finding]:
    """The findings of a line from this confidence on."""
    findings = (Finding(**{key: finding[key] for key in Finding._fields}) for finding in line["findings"])
    return [finding for finding in findings if finding.confidence >= least]


def counts(lines: Sequence[Record], least: float = LIKELY) -> dict[str, dict[str, int]]:
    """The number of findings with at least this confidence, by type in the order of the paper and by check."""
    by_type: dict[str, Counter[str]] = {kind: Counter() for kind in TYPES}
    for line in lines:
        for finding in findings_of(line, least):
            by_type[finding.type][finding.check] += 1
    return {kind: dict(checks.most_common()) for kind, checks in by_type.items() if checks}


@dataclass
class _Auditor:
    """The work of one process: the database of the last question stays open for the next."""

    seconds: float
    name: str = ""
    opened: tuple[Database, Schema, Data] | None = None

    def begin(self) -> Callable[[Example, Tell], Record]:
        """Called once in each process."""
        hush_parser()
        return self._audit

    def _audit(self, example: Example, tell: Tell) -> Record:
        try:
            _, schema, data = self._open(example)
            data.alive = lambda: tell(None)
            subject = Subject(example.question.text, example.gold_sql, schema, data)
            findings = audit(subject)
            return line_of(example, findings, None, corrected(subject, findings))
        except SqljuryError as error:
            return line_of(example, [], str(error))

    def _open(self, example: Example) -> tuple[Database, Schema, Data]:
        if self.opened is None or self.name != example.db_id:
            if self.opened is not None:
                self.opened[0].close()
                self.opened = None
            db = connect(example.database)
            self.opened, self.name = (
                (db, introspect(db), Data(db, Limits(seconds=self.seconds, rows=ROWS))),
                example.db_id,
            )
        return self.opened


def _lost(example: Example, why: str, _: object) -> Record:
    return line_of(example, [], f"limit: {why}")


def line_of(example: Example, found: Sequence[Finding], error: str | None, correction: str = "") -> Record:
    """What the file holds of one question; ``correction`` is the corrected gold query, empty if there is none."""
    return {
        "id": example.id,
        "db_id": example.db_id,
        "question": example.question.text,
        "gold": example.gold_sql,
        "error": error,
        "findings": [finding._asdict() for finding in found],
        "correction": correction,
    }


def begun(file: Path, settled: Mapping[str, Any]) -> dict[str, Record]:
    """The last line of each question that is there; a file that is not there, or is empty, is begun."""
    try:
        raw = file.read_bytes() if file.exists() else b""
        if not raw:
            write_whole(file, json.dumps(settled) + "\n")
            return {}
    except OSError as error:
        raise DatasetError(f"{file}: cannot be used ({error.strerror}); name another file with --out") from None
    first, *lines = raw[: raw.rfind(b"\n") + 1].splitlines() or [b""]
    head = _read(first)
    if misshapen(head, {"audit": dict, "seconds": (int, float), "sqljury": str}):
        raise DatasetError(f"{file}: is there and holds no audit; name a new file with --out, or remove this one")
    changed = sorted(key for key in {*head, *settled} if head.get(key) != json.loads(json.dumps(settled)).get(key))
    if changed:
        raise DatasetError(f"{file}: holds another audit ({', '.join(changed)} differ); name another file with --out")
    known: dict[str, Record] = {}
    for number, line in enumerate(lines, 2):
        record = _read(line)
        fault = _fault(record) or ("was audited before" if _repeats(record, known.get(record["id"])) else None)
        if fault:
            raise DatasetError(f"{file}, line {number}: {fault}; delete that line to go on")
        known[record["id"]] = record
    return known


def _repeats(record: Record, before: Record | None) -> bool:
    """Whether a line repeats an earlier one: the same question, which was audited without a failure."""
    return before is not None and not before["error"] and asked_of(record) == asked_of(before)


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _fault(record: Any) -> str | None:
    """What is wrong with a line, None when nothing is."""
    fault = misshapen(record, _LINE)
    if fault is None:
        fault = next(
            (f"a finding: {wrong}" for finding in record["findings"] if (wrong := misshapen(finding, _FINDING))), None
        )
    return fault
