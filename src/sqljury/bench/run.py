"""Runs a recipe over a benchmark, a line a question, so that a run can be broken off and continued.

A run is a folder: ``run.json`` says what was run, ``answers.jsonl`` holds one JSON object a question, in the order
they were answered.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.errors import DatasetError, NoAnswerError
from sqljury.pipeline import Pipeline
from sqljury.types import Candidate, Cost

SETTINGS = "run.json"
ANSWERS = "answers.jsonl"

Record = dict[str, Any]


def settings(pipeline: Pipeline, dataset: Mapping[str, Any], seed: int) -> Record:
    """All that shapes a run's answers, and where it ran; ``dataset`` names the questions."""
    return {
        "dataset": dict(dataset),
        "model": pipeline.model.name,
        "recipe": asdict(pipeline.recipe),
        "limits": asdict(pipeline.limits),
        "seed": seed,
        "sqljury": version("sqljury"),
        "python": platform.python_version(),
    }


def run(
    examples: Iterable[Example],
    pipeline: Pipeline,
    folder: Path,
    described: Mapping[str, Any],
    on_answer: Callable[[Record], None] = lambda _: None,
) -> None:
    """Answer every example that ``folder`` has no answer to yet.

    ``described`` comes from ``settings``. Raises ``DatasetError`` for a folder that holds another run. A question
    whose candidates all fail is a record with an error, not the end of the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, described)
    done = {record["id"] for record in records(folder)}
    seed = int(described["seed"])
    with (folder / ANSWERS).open("a", encoding="utf-8") as stream:
        for example in examples:
            if example.id in done:
                continue
            record = answer(example, pipeline, seed)
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            stream.flush()
            on_answer(record)


def answer(example: Example, pipeline: Pipeline, seed: int) -> Record:
    """One question's record: the query, every candidate with its repairs, the cost."""
    record: Record = {
        "id": example.id,
        "db_id": example.db_id,
        "question": example.question.text,
        "gold": example.gold_sql,
    }
    with connect(example.database) as db:
        try:
            found = pipeline.answer(example.question, db, seed=seed)
        except NoAnswerError as error:
            return {**record, "sql": "", "error": str(error), **_evidence(error.candidates, error.cost or Cost())}
        evidence = _evidence(found.candidates, found.cost)
        return {**record, "sql": found.sql, "error": None, "confidence": found.confidence, **evidence}


def records(folder: Path) -> list[Record]:
    """The answers of a run; a last line that was cut off in writing is dropped, from the file too.

    Raises ``DatasetError`` for a line in the middle that is no JSON.
    """
    file = folder / ANSWERS
    if not file.is_file():
        return []
    raw = file.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) != len(raw):
        with file.open("r+b") as stream:
            stream.truncate(len(whole))
    found: list[Record] = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise DatasetError(f"{file}, line {number}: not a JSON object; delete that line to go on") from error
    return found


def described(folder: Path) -> Record:
    """The settings of a run; raises ``DatasetError`` where there is none."""
    try:
        loaded: Record = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{folder} is no run: it has no readable {SETTINGS}; give a folder of `sqljury bench`"
        ) from error
    return loaded


def _claim(folder: Path, wanted: Mapping[str, Any]) -> None:
    file = folder / SETTINGS
    text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    if file.exists():
        before, now = described(folder), json.loads(text)
        changed = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        if changed:
            raise DatasetError(
                f"{folder} holds a run with other settings ({', '.join(changed)} differ); "
                "give another folder with --out"
            )
    else:
        file.write_text(text, encoding="utf-8")


def _evidence(candidates: tuple[Candidate, ...], cost: Cost) -> Record:
    return {"candidates": [_candidate(candidate) for candidate in candidates], "cost": asdict(cost)}


def _candidate(candidate: Candidate) -> Record:
    return {
        "sql": candidate.sql,
        "generator": candidate.generator,
        "logprob": candidate.logprob,
        "group": candidate.group,
        "rows": len(candidate.result.rows),
        "error": candidate.result.error,
        "fixes": [asdict(fix) for fix in candidate.fixes],
    }
