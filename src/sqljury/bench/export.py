"""Prediction files of a run's answers, in the forms that the official programs of Spider and BIRD read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from sqljury.db import readonly
from sqljury.engines.databases import Engine
from sqljury.errors import DatasetError, InputError, QueryRefusedError
from sqljury.evaluation.run_folder import Record, described, records
from sqljury.types import serialize as written

Format = Literal["spider", "bird"]

NOTHING: Final = "SELECT NULL"
"""Stands in a prediction file for a question without any query: an empty line would end a dialogue there.

Also for one whose queries all fail and none of which is a read: the program that evaluates the file may run it with the
right to write.
"""


def export(folder: Path, format: str) -> str:
    """The predictions of a finished run, in the order of its questions.

    Raises ``DatasetError`` for a run that is not finished, since such files are read by position, and ``InputError``
    for an unknown format.
    """
    if format not in get_args(Format):
        raise InputError(f"there is no format {format!r} of predictions; give one of {', '.join(get_args(Format))}")
    settings, answers = described(folder), records(folder)
    asked = settings["dataset"].get("count")
    if type(asked) is not int:
        raise DatasetError(
            f"{folder} does not say how many questions it asks, since an older version made it, or from a run by one; "
            "begin it anew, a prediction file needs them all"
        )
    if not answers or len(answers) != asked:
        todo = "begin it anew with --force-new" if answers and len(answers) > asked else "finish it"
        raise DatasetError(
            f"{folder} has {len(answers)} of {asked} answers; {todo} first, such files are read by position"
        )
    if any("number" not in record for record in answers):
        raise DatasetError(
            f"{folder} does not say which of its questions comes first, since an older version made it; begin it anew, "
            "such files are read by position"
        )
    ordered = sorted(answers, key=lambda record: int(record["number"]))
    if [record["number"] for record in ordered] != list(range(asked)):
        raise DatasetError(f"{folder} answers other questions than it asks by its settings; begin it anew")
    if format == "bird" and _drawn(settings, asked):
        raise DatasetError(
            f"{folder} asks some of its dataset's questions, and BIRD's form names positions in the dataset; give "
            "--format spider, or run all questions"
        )
    dialect = Engine.of(settings["dataset"]).dialect
    return bird(ordered, dialect) if format == "bird" else spider(ordered, dialect)


def _drawn(settings: Record, asked: int) -> bool:
    """Whether a run asks fewer questions than its dataset has, as far as its settings say."""
    dataset, refined = settings["dataset"], settings.get("refined") or {}
    limits = [limit for limit in (dataset.get("limit"), refined.get("limit")) if limit is not None]
    chosen = "predictions" not in dataset and any(dataset.get(name) for name in ("databases", "without"))
    return chosen or bool(Engine.of(dataset).copies) or any(limit <= asked for limit in limits)


def spider(found: Sequence[Record], dialect: str = "sqlite") -> str:
    """Spider's and CoSQL's form: a query on each line, and an empty line between dialogues.

    Where no candidate could be run, the first that was written and is a read in the ``dialect``; see ``NOTHING``. A
    query of several lines is put on one, with the same result.
    """
    lines, dialogue = [], found[0].get("interaction") if found else None
    for record in found:
        if record.get("interaction") != dialogue:
            dialogue = record.get("interaction")
            lines.append("\n")
        lines.append(f"{written.same_line(_query(record, dialect)) or NOTHING}\n")
    return "".join(lines)


def bird(found: Sequence[Record], dialect: str = "sqlite") -> str:
    """BIRD's form: a JSON object from positions to queries with their databases; see ``spider``."""
    entries = {
        str(number): f"{_query(record, dialect)}\t----- bird -----\t{record['db_id']}"
        for number, record in enumerate(found)
    }
    return json.dumps(entries, indent=4, ensure_ascii=False) + "\n"


def _query(record: Record, dialect: str) -> str:
    """The chosen query; else the first that was written and only reads."""
    chosen = str(record["sql"]).strip()
    return chosen or next(
        (sql for candidate in record["candidates"] if _is_read(sql := candidate["sql"].strip(), dialect)), NOTHING
    )


def _is_read(sql: str, dialect: str) -> bool:
    try:
        readonly.check(sql, dialect)
    except QueryRefusedError:
        return False
    return True
