"""Other selectors on the candidates of a finished run: nothing is written again, each makes a file of its choices.

``choices-<selector>[-groups<N>][-first<K>][-<weights>][-<model>].jsonl`` in the run's folder holds a line a question,
in the order they were chosen; the model is named where it is not the run's own, weights where they are not the
package's. A line counts only for the candidates it was made for, and is made again where the weights have changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqljury.bench import folder
from sqljury.bench.folder import Record, misshapen
from sqljury.bench.run import UNANSWERED
from sqljury.bench.stored import Asked, cost_of, fixes_of, judged_comparisons, limits_of, recipe_of
from sqljury.db.connect import connect
from sqljury.errors import CancelledError, DatasetError, InputError
from sqljury.llm.base import LanguageModel
from sqljury.pipeline import Pipeline
from sqljury.recipes import SelectPart
from sqljury.schema.part import LinkPart
from sqljury.select import SELECTORS
from sqljury.select.light import read
from sqljury.types import Candidate, Choice, Comparison, Cost, Question

_LINE: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("id", "of", "selector", "model", "sql"), str),
    **dict.fromkeys(("most", "first"), int),
    "groups": list,
    "comparisons": list,
    "cost": dict,
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a selector chose for one question: the query, empty for none, and the group of each candidate."""

    sql: str
    groups: tuple[int | None, ...]
    comparisons: tuple[Comparison, ...]
    cost: Cost


def file_name(part: SelectPart, model: str, of_run: str, first: int = 0) -> str:
    """Where the choices of a selector are kept; ``of_run`` is the name of the run's own model."""
    among = [f"groups{part.groups}" if part.groups else "", f"first{first}" if first else ""]
    marks = [part.selector, *among, Path(part.weights).stem, model if model != of_run else ""]
    return "-".join(["choices", *(re.sub(r"[^\w.]+", "_", mark) for mark in marks if mark)]) + ".jsonl"


def select(
    run: Path,
    data: Path,
    model: LanguageModel,
    part: SelectPart,
    on_choice: Callable[[int, int, Record | None], None] = lambda *_: None,
    cancel: threading.Event | None = None,
    *,
    first: int = 0,
) -> Path:
    """Choose among the candidates of every question of ``run``, and return the file that holds the choices.

    With ``first`` only so many candidates of each question take part, those that were written first, as if the run
    had no more (MSc-SQL, Tables 2 and 3). Questions that the file has a choice for are left out. ``on_choice`` is told
    how many choices there are, of how many, and the newest. Raises ``InputError`` for an unknown selector,
    ``DatasetError`` for a folder that holds no run or is in use, ``CancelledError`` once ``cancel`` is set, and what
    the model raises.
    """
    if part.selector not in SELECTORS:
        raise InputError(f"there is no selector {part.selector!r}; known are {', '.join(sorted(SELECTORS))}")
    described = folder.described(run)
    recipe = replace(recipe_of(run, described), select=part, link=LinkPart())
    pipeline = Pipeline(recipe, model, limits_of(run, described))
    made_by = {**_made_by(part, model), "first": first}
    file = run / file_name(part, model.name, described["model"], first)
    with folder.held(run):
        records = [_cut(one, first) for one in folder.records(run)]
        known = _lines(file)
        waiting = [one for one in records if known.get(one["id"], {}).get("of") != _digest(_record(one), made_by)]
        done = len(records) - len(waiting)
        on_choice(done, len(records), None)
        with folder.appending(file) as stream:
            for record in waiting:
                line = _choice(record, data, pipeline, int(described["seed"]), cancel)
                if cancel is not None and cancel.is_set():
                    raise CancelledError("stopped; the same command goes on with the choices")
                line = {"id": record["id"], "of": _digest(_record(record), made_by), **line, **made_by}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                stream.flush()
                done += 1
                on_choice(done, len(records), line)
    return file


def stored(run: Path, questions: Sequence[Asked]) -> dict[str, dict[str, Chosen]]:
    """By file, without ``choices-`` and its ending, the choices by question; those for other candidates are left out.

    Raises ``DatasetError`` for a line that is no choice.
    """
    by_id = {one.id: one for one in questions}
    found = {}
    for file in sorted(run.glob("choices-*.jsonl")):
        own = {}
        for id_, line in _lines(file).items():
            if id_ not in by_id:
                continue
            question = by_id[id_]
            cut = replace(question, candidates=question.candidates[: line["first"] or None])
            if line["of"] == _digest(_asked(cut), line):
                own[id_] = _chosen(line, cut, file, len(question.candidates))
        found[file.stem.removeprefix("choices-")] = own
    return found


def _cut(record: Record, first: int) -> Record:
    return {**record, "candidates": record["candidates"][: first or None]}


def _choice(
    record: Record, data: Path, pipeline: Pipeline, seed: int, cancel: threading.Event | None
) -> dict[str, Any]:
    """One question's line without what says where it belongs."""
    written = [
        Candidate(one["sql"], one.get("generator", ""), one["logprob"], fixes=fixes_of(one), part=one.get("part", 0))
        for one in record["candidates"]
    ]
    question, name = Question(record["question"], id=record["id"]), record["db_id"]
    try:
        with connect(data / "database" / name / f"{name}.sqlite") as db:
            grouped, choice = pipeline.choose(question, written, db, seed=seed, cancel=cancel)
    except UNANSWERED as error:
        nothing = Choice(None, pipeline.recipe.select.selector)
        return {"sql": "", "error": str(error), "groups": [None] * len(written), **asdict(nothing)}
    sql = "" if choice.index is None else grouped[choice.index].sql
    return {"sql": sql, "error": None, "groups": [one.group for one in grouped], **asdict(choice)}


def _lines(file: Path) -> dict[str, Record]:
    """The last line of each question; raises ``DatasetError`` that names the line for one that is no choice."""
    return {line["id"]: line for line in _read(file)}


def _read(file: Path) -> Iterator[Record]:
    try:
        raw = file.read_bytes() if file.is_file() else b""
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from None
    for number, text in enumerate(raw[: raw.rfind(b"\n") + 1].splitlines(), 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        line = {"first": 0, **line} if isinstance(line, dict) else line  # all candidates where a line says nothing
        if fault := misshapen(line, _LINE):
            raise DatasetError(f"{file}, line {number}: {fault}; delete that line to go on")
        yield line


def _chosen(line: Record, question: Asked, file: Path, written: int) -> Chosen:
    """The choice of a line; of the ``written`` candidates, those that took no part are in no group."""
    queries = {one.queries[-1] for one in question.candidates}
    fault = ""
    if line["sql"] and line["sql"] not in queries:
        fault = "its query is none of the candidates"
    if len(line["groups"]) != len(question.candidates) or any(
        type(one) not in (int, type(None)) for one in line["groups"]
    ):
        fault = "its groups are not those of the candidates"
    try:
        if not fault:
            groups = (*line["groups"], *[None] * (written - len(line["groups"])))
            return Chosen(line["sql"], groups, judged_comparisons(line), cost_of(line["cost"]))
    except DatasetError as error:
        fault = str(error)
    raise DatasetError(f"{file}: {question.id!r}: {fault}; delete that line to go on")


def _made_by(part: SelectPart, model: LanguageModel) -> dict[str, Any]:
    """What a line says of its maker; the light judge's weights by their hash."""
    made_by = {"selector": part.selector, "most": part.groups, "model": model.name}
    return {**made_by, "weights": read(part.weights).digest} if part.selector == "light" else made_by


def _digest(rests_on: Any, made_by: Mapping[str, Any]) -> str:
    maker = [made_by[key] for key in ("selector", "most", "model", "weights") if key in made_by]
    return hashlib.sha256(json.dumps([rests_on, *maker]).encode()).hexdigest()[:32]


def _record(record: Mapping[str, Any]) -> list[Any]:
    return [record["question"], [[one["sql"], one["logprob"]] for one in record["candidates"]]]


def _asked(question: Asked) -> list[Any]:
    return [question.text, [[one.queries[-1], one.logprob] for one in question.candidates]]
