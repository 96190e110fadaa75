"""Other selectors on the candidates of a finished run: nothing is written again, each makes a file of its choices.

``choices-<selector>[-groups<N>][-parts<N>_<M>][-first<K>][-linked][-<tests>][-<weights>][-<model>].jsonl`` in the run
holds a line a question, in the order they were chosen; the model is named where it is asked and not the run's own,
weights where they are not the package's, and of the tests what is not as usual. A line counts only for the candidates
it was made for, and is made again where the weights have changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, get_args

from sqljury.bench.notes import shown_notes
from sqljury.bench.run import UNANSWERED, UNATTENDED, Controls, kept
from sqljury.bench.stored import (
    Asked,
    cost_of,
    fixes_of,
    judged_comparisons,
    limits_of,
    linked_of,
    parts_of,
    question_of,
    recipe_of,
)
from sqljury.bench.versions import refuse_if_gone
from sqljury.context import State
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases, of_run, privacy_of
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.run_folder import Record, misshapen
from sqljury.llm.base import LanguageModel, NoModel
from sqljury.llm.open import by_names
from sqljury.pipeline import Pipeline, Stage, compiled
from sqljury.pipeline import run as run_stages
from sqljury.recipes import Recipe, RefinePart, SelectPart
from sqljury.recipes.parts import Judged, TestsPart
from sqljury.resources import locked_folder
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.stages.registry import WITHOUT, asking
from sqljury.stages.select import SELECTORS, TESTING
from sqljury.stages.select.light import read
from sqljury.types import Candidate, Choice, Comparison, Cost

_LINE: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("id", "of", "selector", "model", "sql"), str),
    **dict.fromkeys(("most", "first"), int),
    "parts": list,
    "groups": list,
    "comparisons": list,
    "cost": dict,
    "settings": dict,
}

SUITE: Final = TestsPart(kind="suite")
"""The tests of selectors that choose by tests, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Among:
    """Which candidates take part: all, or the ``first`` so many of all, or of some ``parts`` of the recipe.

    Parts are numbered from 1 and in order; 0 and none stand for all.
    """

    first: int = 0
    parts: tuple[int, ...] = ()

    def places(self, parts: Sequence[int]) -> list[int]:
        """The places of those that take part, given each candidate's part as it is stored, from 0."""
        taking = [index for index, part in enumerate(parts) if not self.parts or part + 1 in self.parts]
        return taking[: self.first or None]


ALL: Final = Among()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a selector chose for one question: the query, empty for none, and the group of each candidate.

    ``selector`` chose it with ``model``. ``scores`` are those of the groups that took part, by their numbers; none
    where the selector could not do without what could not be asked, and votes decided.
    """

    selector: str
    model: str
    sql: str
    groups: tuple[int | None, ...]
    scores: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    cost: Cost


def file_name(part: SelectPart, model: str, of_run: str, among: Among, tests: TestsPart | None = None) -> str:
    """Where the choices of a selector are kept; ``of_run`` is the name of the run's own model."""
    numbers = "_".join(map(str, among.parts))
    marks = [part.selector, f"groups{part.groups}" if part.groups else "", f"parts{numbers}" if numbers else ""]
    marks += [f"first{among.first}" if among.first else "", part.schema if part.schema != "used" else ""]
    if tests is not None:
        given, usual = asdict(tests), asdict(SUITE)
        marks += [f"{name}{_said(given[name])}" for name in given if given[name] != usual[name]]
    marks += [Path(part.weights).stem, model if model != of_run else ""]
    return "-".join(["choices", *(re.sub(r"[^\w.]+", "_", mark) for mark in marks if mark)]) + ".jsonl"


def _said(value: Any) -> str:
    """A setting of tests in a file's name; names of models, which may be paths, by their number and a hash."""
    if not isinstance(value, tuple):
        return str(value)
    return f"{len(value)}_{hashlib.sha256(json.dumps(value).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Maker:
    """Who made a line of choices: the selector with its settings, the model, and among which candidates it chose."""

    selector: str
    groups: int
    schema: Judged
    model: str
    among: Among


def makers(run: Path) -> dict[str, frozenset[Maker]]:
    """By name of stored choices who made them; raises ``DatasetError`` as ``stored``."""
    return {name_of(file): frozenset(map(_maker, _lines(file).values())) for file in _files(run)}


def _maker(line: Record) -> Maker:
    among = Among(line["first"], tuple(line["parts"]))
    return Maker(line["selector"], line["most"], line.get("schema", "used"), line["model"], among)


def _files(run: Path) -> list[Path]:
    return sorted(run.glob("choices-*.jsonl"))


def name_of(file: Path) -> str:
    """The name of stored choices: that of the file without ``choices-`` and its ending."""
    return file.name.removeprefix("choices-").removesuffix(".jsonl")


def everywhere(_db_id: str) -> bool:
    """Any database."""
    return True


def select(
    run: Path,
    data: Path,
    model: LanguageModel,
    part: SelectPart,
    controls: Controls = UNATTENDED,
    *,
    among: Among = ALL,
    tests: TestsPart = SUITE,
    within: Callable[[str], bool] = everywhere,
) -> Path:
    """Choose among the candidates of questions of ``run``, and return the file that holds the choices.

    Questions are those on databases ``within``. Only candidates of ``among`` take part; ``tests`` replace those of the
    run's recipe. Raises ``InputError`` for an unknown selector or part, for a selector that asks a model where there is
    none, and for notes that are not those of the run; ``DatasetError`` for no run or one in use, ``CancelledError``,
    and what the model raises.
    """
    if part.selector not in SELECTORS:
        raise InputError(f"there is no selector {part.selector!r}; known are {', '.join(sorted(SELECTORS))}")
    described = folder.described(run)
    testing = tests if _tests(part) else None
    before = recipe_of(run, described)
    among = replace(among, parts=_numbers(among.parts, before))
    recipe = replace(before, tests=testing or TestsPart(), refine=RefinePart(), select=part)
    models = by_names(set(recipe.judges), model, controls.opened)
    shared = privacy_of(described, data)
    pipeline = Pipeline(recipe, model, limits_of(run, described), models=models, stored=True, privacy=shared)
    made_by = {**_made_by(part, model, testing), **_others(pipeline), **asdict(among)}
    problem = asking(part)
    if not problem and part.selector == "light" and recipe.schema.keywords == "model":
        problem = "the light judge looks at values, for which the run's recipe asks a model"
    if problem and isinstance(model, NoModel):
        raise InputError(f"{problem}; {WITHOUT}")
    file = run / file_name(part, model.name if problem else described["model"], described["model"], among, testing)
    with locked_folder(run), of_run(described, data, run) as databases:
        records = [_cut(record, among) for record in folder.records(run) if within(record["db_id"])]
        notes = shown_notes(run, described, data, {record["db_id"] for record in records})
        known = _lines(file)
        waiting = [
            record for record in records if known.get(record["id"], {}).get("of") != _digest(_record(record), made_by)
        ]
        done = len(records) - len(waiting)
        controls.say(done, len(records), None)
        with folder.appending(file) as stream:
            for number, record in enumerate(waiting, done + 1):
                database_notes = notes.get(record["db_id"], NO_NOTES)
                line = _choice(record, database_notes, databases, pipeline, int(described["seed"]), controls.cancel)
                controls.check("choices")
                refuse_if_gone(line["error"], described["dataset"], record["db_id"], databases.lazy(record["db_id"]))
                line = {"id": record["id"], "of": _digest(_record(record), made_by), **line, **made_by}
                folder.append_line(stream, line)
                controls.say(number, len(records), line)
    return file


def stored(run: Path, questions: Sequence[Asked], parts: tuple[int, ...] = ()) -> dict[str, dict[str, Chosen]]:
    """By file, without ``choices-`` and its ending, the choices by question; those for other candidates are left out.

    With ``parts``, which then are all that ``questions`` have candidates of, only choices among just these. Raises
    ``DatasetError`` for a line that is no choice.
    """
    by_id = {question.id: question for question in questions}
    by_file = {}
    for file in _files(run):
        chosen = {}
        for id_, line in _lines(file).items():
            if id_ not in by_id or (parts and tuple(line["parts"]) != parts):
                continue
            question = by_id[id_]
            indexes = Among(line["first"], tuple(line["parts"])).places(
                [candidate.part for candidate in question.candidates]
            )
            cut = replace(question, candidates=tuple(question.candidates[index] for index in indexes))
            if line["of"] == _digest(_asked(cut), line):
                chosen[id_] = _chosen(line, cut, file, indexes, len(question.candidates))
        if chosen or not parts:
            by_file[name_of(file)] = chosen
    return by_file


def _numbers(parts: Sequence[int], recipe: Recipe) -> tuple[int, ...]:
    """The parts in order, each once; none where they are all. Raises ``InputError`` for one that is not there."""
    indexes = sorted(parts_of(recipe, [number - 1 for number in parts])) if parts else []
    return () if len(indexes) == len(recipe.generate) else tuple(index + 1 for index in indexes)


def _tests(part: SelectPart) -> bool:
    """Whether this selector has queries tested."""
    return part.selector in TESTING or (part.selector == "light" and read(part.weights).asks_tests)


def _stages(pipeline: Pipeline) -> list[Stage]:
    """The stages that choose.

    Keywords find values of the database, and only the light judge and the agents that write tests look at these here:
    for others the model need not be asked.
    """
    recipe = pipeline.recipe
    seen = recipe.select.selector == "light" or recipe.tests.kind == "agents"
    stages = compiled(recipe, stored=True, last="select")
    return [stage for stage in stages if seen or stage.name != "keywords"]


def _cut(record: Record, among: Among) -> Record:
    taking = among.places([candidate.get("part", 0) for candidate in record["candidates"]])
    return {**record, "candidates": [record["candidates"][index] for index in taking]}


def _choice(
    record: Record, notes: Notes, databases: Databases, pipeline: Pipeline, seed: int, cancel: threading.Event | None
) -> dict[str, Any]:
    """One question's line without what says where it belongs."""
    written = [
        Candidate(
            candidate["sql"],
            candidate.get("generator", ""),
            candidate["logprob"],
            fixes=fixes_of(candidate),
            part=candidate.get("part", 0),
            tokens=candidate.get("tokens"),
            weight=candidate.get("weight", 1.0),
            opinion=candidate.get("opinion", False),
        )
        for candidate in record["candidates"]
    ]
    try:
        with connect(databases.lazy(record["db_id"])) as db:
            context = pipeline.context(question_of(record), db, seed=seed, cancel=cancel, notes=notes)
            start = replace(State.of(question_of(record)), candidates=tuple(written), linked=linked_of(record))
            state = run_stages(_stages(pipeline), start, context)
    except UNANSWERED as error:
        nothing = Choice(None, pipeline.recipe.select.selector)
        return {
            "sql": "",
            "error": str(error),
            "groups": [None] * len(written),
            **kept(nothing),
            "cost": asdict(Cost()),
        }
    choice, grouped = state.choice or Choice(None, pipeline.recipe.select.selector), state.candidates
    sql = "" if choice.index is None else grouped[choice.index].sql
    cost = asdict(sum((spent for _, spent in context.budget.steps), Cost()))
    return {
        "sql": sql,
        "error": None,
        "groups": [candidate.group for candidate in grouped],
        **kept(choice),
        "cost": cost,
    }


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
        if isinstance(line, dict):
            # all candidates, no tests, where a line says nothing
            line = {"first": 0, "parts": [], "settings": {}, **line}
        fault = misshapen(line, _LINE)
        if fault is None and any(type(part) is not int for part in line["parts"]):
            fault = "parts are no numbers"
        if fault is None and line.get("schema", "used") not in get_args(Judged):
            fault = f"schema is none of {', '.join(get_args(Judged))}"
        if fault:
            raise DatasetError(f"{file}, line {number}: {fault}; delete that line to go on")
        yield line


def _chosen(line: Record, question: Asked, file: Path, indexes: Sequence[int], written: int) -> Chosen:
    """The choice of a line among the candidates at ``indexes``; of all that were ``written`` others are in no group."""
    queries = {candidate.queries[-1] for candidate in question.candidates}
    fault = ""
    if line["sql"] and line["sql"] not in queries:
        fault = "its query is none of the candidates"
    if len(line["groups"]) != len(question.candidates) or any(
        type(group) not in (int, type(None)) for group in line["groups"]
    ):
        fault = "its groups are not those of the candidates"
    try:
        if not fault:
            taking = dict(zip(indexes, line["groups"], strict=True))
            groups = tuple(taking.get(index) for index in range(written))
            scores, compared, cost = _scores(line), judged_comparisons(line), cost_of(line["cost"])
            return Chosen(line["selector"], line["model"], line["sql"], groups, scores, compared, cost)
    except DatasetError as error:
        fault = str(error)
    raise DatasetError(f"{file}: {question.id!r}: {fault}; delete that line to go on")


def _scores(line: Record) -> tuple[float, ...]:
    scores = [] if line.get("note") else line.get("scores", [])
    if not isinstance(scores, list) or not all(type(score) in (int, float) and isfinite(score) for score in scores):
        raise DatasetError("its scores are no numbers")
    return tuple(map(float, scores))


def _made_by(part: SelectPart, model: LanguageModel, tests: TestsPart | None) -> dict[str, Any]:
    """What a line says of its maker; the light judge's weights by their hash, and the settings of tests."""
    made_by: dict[str, Any] = {"selector": part.selector, "most": part.groups, "model": model.name}
    if part.selector == "light":
        made_by["weights"] = read(part.weights).digest
    if part.schema != "used":
        made_by["schema"] = part.schema
    return made_by if tests is None else {**made_by, "settings": asdict(tests)}


def _others(pipeline: Pipeline) -> dict[str, Any]:
    """What a line says of further models that tests name: what they are called today, adapters with their hashes."""
    others = sorted(model.name for model in pipeline.others())
    return {"others": others} if others else {}


def _digest(rests_on: Any, made_by: Mapping[str, Any]) -> str:
    maker = [
        made_by[key]
        for key in ("selector", "most", "model", "weights", "schema", "settings", "others")
        if made_by.get(key) not in (None, {})
    ]
    return hashlib.sha256(json.dumps([rests_on, *maker]).encode()).hexdigest()[:32]


def _record(record: Mapping[str, Any]) -> list[Any]:
    known = [record["evidence"]] if record.get("evidence") else []
    return [
        record["question"],
        *known,
        [[candidate["sql"], candidate["logprob"]] for candidate in record["candidates"]],
    ]


def _asked(question: Asked) -> list[Any]:
    known = [question.evidence] if question.evidence else []
    return [question.text, *known, [[candidate.queries[-1], candidate.logprob] for candidate in question.candidates]]
