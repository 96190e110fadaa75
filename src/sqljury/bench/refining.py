"""The answers of a finished run, refined: a run of its own, to be judged and analysed like any other.

TS-SQL on the output of any generator, beside the plain self-corrections (Table 5), without one of its agents (Table 4),
on a sample of the user's rows (Figure 4), with another voting (Figure 5), with what became of right and wrong queries
(section 4.4.3) and what it cost (Table 6). The types of errors before and after are in ``experiments.mistakes``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from sqljury.bench.notes import shown_notes
from sqljury.bench.run import UNANSWERED, UNATTENDED, Controls, made_of, settings
from sqljury.bench.stored import cost_of, limits_of, question_of, recipe_of
from sqljury.bench.versions import refuse_if_gone
from sqljury.budget import Budget
from sqljury.context import Context, State
from sqljury.datasets.spider import sample
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases, of_run, privacy_of
from sqljury.errors import DatasetError, RecipeError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.report import Share, refuse_if_nothing_judged
from sqljury.evaluation.run_folder import Record
from sqljury.evaluation.verdicts import Verdicts, verdicts
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import by_names
from sqljury.metrics.hardness import levels_of
from sqljury.parallel.threads import map_threads
from sqljury.pipeline import Pipeline, compiled
from sqljury.pipeline import run as run_stages
from sqljury.recipes import Recipe
from sqljury.recipes.parts import TestsPart, Voting
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.stages.refine import Refined, by_errors, by_looking, by_result, by_tests, passes
from sqljury.testing import run_tests
from sqljury.types import Candidate, Cost, Fix, Task

By = Literal["tests", "prompt", "errors", "result"]
Without = Literal["", "data", "inspection", "code"]
Start = Literal["answer", "repaired", "written"]

STEPS: Final = ("tests", "refine")
"""What a refined question takes beside what its answer took before."""

KEPT: Final = ("better", "last")
"""The queries between which ``refine.keep`` chooses, both of which are judged."""

PREPARING: Final = ("keywords", "prepare", "link")
"""The stages before a query is refined that was written before."""


@dataclass(frozen=True, slots=True)
class Way:
    """How answers are refined.

    ``by`` tests, or the model's own look at the query (``prompt``), at its ``errors`` or at its ``result``.
    ``without`` names the agent that is left out, ``voting`` is how programs vote instead of as the recipe has it.
    Without the data agent the rows are a ``share`` of each table's, a few of each for 0.
    ``start`` is the answer, or it as it was before the model repaired it, or as it was written: where the model has
    seen to errors already, ``errors`` finds nothing to do. ``limit`` questions are drawn by the run's seed.
    They are drawn of the answers that the run has then, so with more answers the same draw is refused.
    """

    by: By = "tests"
    without: Without = ""
    start: Start = "answer"
    voting: Voting | None = None
    limit: int | None = None
    share: float = 0.0


def changed(part: TestsPart, way: Way) -> TestsPart:
    """The tests with the way's voting, and without the agent that it leaves out (sections 4.3.1 and 4.3.2).

    Without data the rows are the user's own (a share of them as in Figure 4), without inspection programs are taken as
    they come, and without code the model says at once what is expected. Raises ``RecipeError`` where there are no
    programs that could vote.
    """
    if way.without == "code":
        part = replace(part, by="model", models=(), voting="majority", chooser="")
    elif way.without == "data":
        part = replace(part, data="real", share=way.share)
    elif way.without == "inspection":
        part = replace(part, inspections=0)
    if way.voting is None:
        return part
    if part.kind != "agents" or part.by != "code":
        raise RecipeError('programs vote in tests of kind = "agents", by = "code"; name a recipe that has such')
    return replace(part, voting=way.voting, chooser=part.chooser if way.voting == "selection" else "")


def refine(
    run: Path,
    out: Path,
    data: Path,
    model: LanguageModel,
    recipe: Recipe,
    way: Way,
    controls: Controls = UNATTENDED,
    batch: int = 1,
) -> None:
    """Refine the answers of ``run`` in ``out``, which becomes a run: the same recipe with this one's tests.

    ``model`` also links and judges, whatever the run's recipe names. ``batch`` answers are refined at a time. Questions
    that ``out`` has are left out. Raises ``DatabaseError`` where ``refuse_if_gone`` does, ``DatasetError`` for a folder
    that holds no run, another one or is in use, ``CancelledError``, what the model raises, and ``InputError`` for notes
    that are not those that the run showed.
    """
    described = folder.described(run)
    before, seed = recipe_of(run, described), int(described["seed"])
    combined = _combined(before, recipe, way)
    models = {combined.select.judge: model, **by_names(combined.tests.named, model, controls.opened)}
    shared = privacy_of(described, data)
    pipeline = Pipeline(
        combined, model, limits_of(run, described), models=models, stored=True, privacy=shared, questions=batch
    )
    everything = folder.records(run)
    answers = sample(everything, way.limit, seed)
    if not answers:
        raise DatasetError(f"{run} has no answers yet; continue it with `sqljury bench`")
    refined = {"of": described["model"], "recipe": before.name, **asdict(way)}
    if others := described.get("others"):
        refined["others"] = others
    dataset = described["dataset"]
    if way.limit is not None:  # of more answers others would be drawn, into the same folder
        refined["answers"] = len(everything)
        dataset = {**dataset, "count": len(answers)}
        answers = _numbered(answers)
    settled = {**settings(pipeline, dataset, seed), "refined": refined}
    notes = shown_notes(run, described, data, {record["db_id"] for record in answers})
    with folder.claimed(out, settled) as (stream, known), of_run(described, data, out) as databases:
        done = {record["id"] for record in known}
        controls.say(len(done), len(answers), None)
        one_by_one = threading.Lock()

        def refined_one(record: Record, stop: threading.Event) -> None:
            if stop.is_set():
                return
            database_notes = notes.get(record["db_id"], NO_NOTES)
            line = _line(record, database_notes, pipeline, way, databases, seed, controls.cancel)
            refuse_if_gone(line["fault"], dataset, record["db_id"], databases.lazy(record["db_id"]))
            with one_by_one:  # an error of another question does not stop this one
                controls.check("refinement")
                folder.append_line(stream, line)
                done.add(record["id"])
                controls.say(len(done), len(answers), line)

        waiting = [record for record in answers if record["id"] not in done]
        map_threads(refined_one, waiting, controls.cancel, batch)


def _numbered(drawn: Sequence[Record]) -> list[Record]:
    """The records with their places among these; as they are where a run has no places."""
    if any("number" not in record for record in drawn):
        return list(drawn)
    positions = {number: position for position, number in enumerate(sorted(record["number"] for record in drawn))}
    return [{**record, "number": positions[record["number"]]} for record in drawn]


def _combined(before: Recipe, recipe: Recipe, way: Way) -> Recipe:
    """The run's recipe with the tests and the refinement of the other."""
    return replace(
        before,
        name=f"{before.name}+{recipe.name}",
        link=replace(before.link, model=""),
        tests=changed(recipe.tests, way),
        refine=recipe.refine,
    )


def _line(
    record: Record,
    notes: Notes,
    pipeline: Pipeline,
    way: Way,
    databases: Databases,
    seed: int,
    cancel: threading.Event | None,
) -> Record:
    """One question's record: ``before`` is the query that was refined, ``fault`` why it could not be."""
    keys = ("id", "db_id", "question", "gold", "evidence", "source_gold", "hardness", "number", "interaction")
    kept = {**{key: record[key] for key in keys if key in record}, "error": None}
    original = next(
        (
            candidate
            for candidate in record["candidates"]
            if candidate["sql"] and record["sql"] in ("", candidate["sql"])
        ),
        None,
    )
    if original is None:  # prose alone; where queries were written that all failed, the first is refined
        return {**kept, "sql": "", "fault": None, **made_of((), cost_of(record["cost"]), ()), **_NOTHING}
    start, name = _start(original, way.start), record["db_id"]
    fault, refined, budget = None, Refined(start), Budget()
    try:
        with connect(databases.lazy(name)) as db:
            context = pipeline.context(question_of(record), db, seed=seed, cancel=cancel, notes=notes)
            budget = context.budget
            stages = [stage for stage in compiled(pipeline.recipe) if stage.name in PREPARING]
            state = run_stages(stages, State.of(question_of(record)), context)
            start = replace(start, result=db.execute(start.sql, pipeline.limits, cancel))
            refined = _refined(start, state.task, context, way)
    except UNANSWERED as error:
        fault = str(error)
    spent = budget.total()
    steps = {step: cost_of(cost) for step, cost in record.get("steps", {}).items()}
    refining = dict(budget.steps)
    for step, cost in refining.items():  # a step of both, such as linking, was paid twice
        steps[step] = steps.get(step, Cost()) + cost
    kept_as = {"better": refined.better or refined.candidate, "last": refined.last or refined.candidate}
    made = {candidate.sql: candidate for candidate in (start, refined.candidate, *kept_as.values())}
    tested = refined.tests[0].queries[0] if refined.tests else start.sql
    passed, decided = passes(tested, refined.tests, pipeline.recipe.refine.sure)
    return {
        **kept,
        "sql": refined.candidate.sql,
        "before": start.sql,
        **{name: candidate.sql for name, candidate in kept_as.items()},
        "fault": fault,
        **made_of(tuple(made.values()), cost_of(record["cost"]) + spent, steps.items()),
        "refining": {step: asdict(cost) for step, cost in refining.items()},
        "rounds": refined.rounds,
        "tested": tested,
        "passed": passed,
        "counted": decided,
        "tests": [test.to_dict() for test in refined.tests],
    }


_NOTHING: Final[Record] = {
    **dict.fromkeys(("before", *KEPT, "tested"), ""),
    **dict.fromkeys(("rounds", "passed", "counted"), 0),
    "tests": [],
}


def _start(original: Record, start: Start) -> Candidate:
    """The candidate that is refined, with the repairs that it had by then."""
    fixes = [Fix(fix["before"], fix.get("reason", ""), fix["by"]) for fix in original["fixes"]]
    asked = (index for index, fix in enumerate(fixes) if fix.by in ("model", "tests"))
    kept = {"answer": len(fixes), "repaired": next(asked, len(fixes)), "written": 0}[start]
    sql = fixes[kept].before if kept < len(fixes) else original["sql"]
    may_have = {
        "tokens": original.get("tokens"),
        "weight": original.get("weight", 1.0),
        "opinion": original.get("opinion", False),
    }
    return Candidate(
        sql, original["generator"], original["logprob"], fixes=tuple(fixes[:kept]), part=original["part"], **may_have
    )


def _refined(start: Candidate, task: Task, context: Context, way: Way) -> Refined:
    """The query refined in this way; before tests it is made to run, for a test begins with a query that does."""
    part = context.recipe.refine
    with context.step("refine"):
        if way.by == "prompt":
            return by_looking(start, task, context)
        if way.by == "result":
            return by_result(start, task, context)
        refined = Refined(start)
        if way.by == "errors" or not start.result.ok:
            refined = by_errors(start, task, context, part.rounds)
        if way.by == "errors" or not refined.candidate.result.ok or not context.recipe.tests.kind:
            return refined
        tests = run_tests([refined.candidate.sql], task, context)
        again = by_tests(refined.candidate, tests, task, context, part)
    return replace(again, rounds=refined.rounds + again.rounds)


def summary(out: Path, data: Path, processes: int = 1) -> dict[str, Any]:
    """What refinement came to, ready for JSON.

    ``questions`` are those that can be judged, ``faults`` the others, by id and reason. ``corrected`` queries were
    wrong and are right, ``misled`` ones were right and are wrong; ``changed`` counts all that are others than before.
    ``kept`` has the same for each of ``KEPT``, whichever of them the recipe returns (``keep``); nothing without tests.
    ``verdicts`` sets what tests said of the query before against what it is. ``cost`` is means a question, of ``tests``
    and ``refine``; ``tokens`` are those read and written, ``computed`` those that were not in a cache. Raises what
    ``verdicts`` raises, and ``DatasetError`` where no question can be judged.
    """
    described = folder.described(out)
    records = folder.records(out)
    with of_run(described, data, out) as databases:
        judged = verdicts(records, out, databases, limits_of(out, described), processes)
    refuse_if_nothing_judged(out, judged)
    pairs = [(record, verdict) for record, verdict in zip(records, judged, strict=True) if not verdict.fault]
    both = [(_right(verdict, record["before"]), _right(verdict, record["sql"])) for record, verdict in pairs]
    levels = {
        level: [both[at] for at, (_, verdict) in enumerate(pairs) if verdict.hardness == level]
        for level in levels_of(verdict.hardness for _, verdict in pairs)
    }
    return {
        "questions": len(pairs),
        "faults": [[verdict.id, verdict.fault] for verdict in judged if verdict.fault],
        "not_refined": sum(bool(record["fault"]) for record, _ in pairs),
        **_outcome(pairs, "sql"),
        "keep": recipe_of(out, described).refine.keep,
        "kept": {name: _outcome(pairs, name) for name in KEPT} if described["refined"]["by"] == "tests" else {},
        "asked": sum(record["rounds"] > 0 for record, _ in pairs),
        "verdicts": _verdicts(pairs),
        "hardness": {level: _before_after(outcomes) for level, outcomes in levels.items()},
        "cost": {step: _mean([record for record, _ in pairs], step) for step in STEPS},
    }


def _outcome(pairs: Sequence[tuple[Record, Verdicts]], key: str) -> dict[str, Any]:
    """What became of the queries before, if this one of each record is returned."""
    both = [(_right(verdict, record["before"]), _right(verdict, record[key])) for record, verdict in pairs]
    return {
        **_before_after(both),
        "corrected": sum(after and not before for before, after in both),
        "misled": sum(before and not after for before, after in both),
        "changed": sum(record[key] != record["before"] for record, _ in pairs),
    }


def _right(judged: Verdicts, sql: str) -> bool:
    return bool(sql) and judged.queries[sql].right


def _before_after(both: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    before, after = sum(right for right, _ in both), sum(right for _, right in both)
    return {"before": Share(before, len(both)).figures(), "after": Share(after, len(both)).figures()}


def _verdicts(pairs: Sequence[tuple[Record, Verdicts]]) -> dict[str, dict[str, int]]:
    """By what the tested query is, how often its tests passed it, failed it, or said nothing."""
    counts = {name: dict.fromkeys(("passed", "failed", "silent"), 0) for name in ("right", "wrong")}
    for record, judged in pairs:
        outcome = "silent" if not record["counted"] else "passed" if record["passed"] == record["counted"] else "failed"
        counts["right" if _right(judged, record["tested"]) else "wrong"][outcome] += 1
    return counts


def _mean(records: Sequence[Record], step: str) -> dict[str, float]:
    steps = [record["refining" if "refining" in record else "steps"] for record in records]
    costs = [cost_of(by_step[step]) for by_step in steps if step in by_step]
    total, count = sum(costs, Cost()), max(len(records), 1)
    return {
        "calls": round(total.calls / count, 2),
        "tokens": round((total.prompt_tokens + total.completion_tokens) / count, 1),
        "computed": round(total.computed_tokens / count, 1),
        "seconds": round(total.seconds / count, 2),
    }
