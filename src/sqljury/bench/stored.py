"""A finished run as analyses see it: every candidate at each stage of its repairs, every query with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, get_args

from sqljury import recipes
from sqljury.engines.databases import of_run
from sqljury.errors import DatasetError, InputError, RecipeError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.report import refuse_if_nothing_judged, stages
from sqljury.evaluation.run_folder import Record, is_figure, misshapen
from sqljury.evaluation.verdicts import Tried, Verdicts, verdicts
from sqljury.parallel.crew import Crew
from sqljury.recipes import Recipe
from sqljury.stages.select.consistency import choose, group
from sqljury.types import Candidate, Comparison, Cost, Fix, Limits, Question
from sqljury.types.candidate import FixedBy

WRITTEN, REPAIRED, FIXED = range(3)
"""A candidate's query as the model wrote it, with what needs no model repaired, and after the fixer."""

_CANDIDATE: Final[dict[str, type | tuple[type, ...]]] = {
    "generator": str,
    "part": int,
    "group": (int, type(None)),
}
_COMPARISON: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("first", "second"), int),
    **dict.fromkeys(("first_shown_first", "first_shown_second"), (int, float)),
}


@dataclass(frozen=True, slots=True)
class Stored:
    """One candidate; ``queries`` holds its text by these numbers (``WRITTEN`` ...), ``group`` is its number in the run.

    ``repairs`` are the text before each repair and who made it, in order. ``weight`` is its number of votes. An
    ``opinion`` only votes.
    """

    queries: tuple[str, str, str]
    generator: str
    part: int
    logprob: float | None
    group: int | None
    repairs: tuple[tuple[str, str], ...] = ()
    weight: float = 1.0
    opinion: bool = False

    def without(self, by: str) -> Stored:
        """The candidate as if the repairs by one of those who make them, and all after, had not been made."""
        sql = next((before for before, who in self.repairs if who == by), self.queries[FIXED])
        return replace(self, queries=(self.queries[WRITTEN], self.queries[REPAIRED], sql))


@dataclass(frozen=True)
class Asked:
    """One question of a run with all that became of it; ``comparisons`` are those of the run's own selector.

    ``before`` is the query that a refined run began with, None in other runs.
    """

    id: str
    db_id: str
    text: str
    evidence: str
    hardness: str
    gold: str
    sql: str
    candidates: tuple[Stored, ...]
    comparisons: tuple[Comparison, ...]
    steps: Mapping[str, Cost]
    cost: Cost
    verdicts: Verdicts
    before: str | None = None

    def cost_without(self, names: Collection[str]) -> Cost:
        """What the question took, but for the steps of these names: what asks no model stays in it."""
        dropped = sum((cost for step, cost in self.steps.items() if step in names), Cost())
        figures = {field.name: getattr(self.cost, field.name) - getattr(dropped, field.name) for field in fields(Cost)}
        return Cost(**{name: max(figure, 0) for name, figure in figures.items()})

    def tried(self, sql: str) -> Tried:
        """What came of one of the question's queries; an empty one fails."""
        return self.verdicts.tried(sql)

    def right(self, sql: str) -> bool:
        """Whether the query returns what gold returns."""
        return self.tried(sql).right

    def runs(self, sql: str) -> bool:
        """Whether the query can be run at all."""
        return self.tried(sql).error is None

    def candidate(self, one: Stored, stage: int = FIXED, group: int | None = None) -> Candidate:
        """The candidate for selectors; in the place of its result stands one that agrees with the same others."""
        sql = one.queries[stage]
        result = self.verdicts.stand_in(sql)
        candidate = Candidate(sql, one.generator, one.logprob, result, group, part=one.part, weight=one.weight)
        return replace(candidate, opinion=one.opinion)

    def voted(self, candidates: Iterable[Stored], stage: int = FIXED) -> str:
        """The query that votes choose among these, empty where none can be run."""
        grouped = group([self.candidate(candidate, stage) for candidate in candidates])
        chosen = choose(grouped)
        return "" if chosen is None else grouped[chosen].sql


@dataclass(frozen=True)
class StoredRun:
    """All questions of a run that can be judged, in the order of their answers; ``faults`` are the ones that cannot.

    A fault is a question's id with what is wrong with its gold query or database. ``left_out`` are parts of the recipe,
    by place, that are not looked at, see ``only``.
    """

    folder: Path
    described: Record
    recipe: Recipe
    questions: tuple[Asked, ...]
    faults: tuple[tuple[str, str], ...]
    left_out: frozenset[int] = frozenset()

    @cached_property
    def generators(self) -> tuple[str, ...]:
        """The names of the generators in the recipe's order."""
        kept = (part for index, part in enumerate(self.recipe.generate) if index not in self.left_out)
        return tuple(dict.fromkeys(part.generator for part in kept))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The parts that are looked at, as users number them, where some are left out; else none."""
        count = len(self.recipe.generate) if self.left_out else 0
        return tuple(index + 1 for index in range(count) if index not in self.left_out)

    def only(self, parts: Collection[int]) -> StoredRun:
        """The run as if its recipe had these parts alone, by place from 0, and chose by votes.

        What was repaired stays so. Raises ``InputError`` for a part that the recipe has not, and for none.
        """
        left_out = frozenset(range(len(self.recipe.generate))) - parts_of(self.recipe, parts)
        dropped = self.recipe.steps(left_out)
        questions = tuple(_with_parts(question, parts, dropped) for question in self.questions)
        return replace(self, questions=questions, left_out=left_out)


def load(run: Path, data: Path, processes: int | Crew = 1) -> StoredRun:
    """The run in a folder, its queries judged on the dataset in ``data``.

    Raises ``DatasetError`` for a folder that holds no run, none with answers, one without what analyses need, or one of
    whose questions none can be judged.
    """
    described = folder.described(run)
    records = folder.records(run)
    if not records:
        raise DatasetError(f"{run} has no answers yet; continue it with `sqljury bench`")
    recipe = recipe_of(run, described)
    for record in records:
        if fault := _fault(record, recipe):
            raise DatasetError(
                f"{run / folder.ANSWERS}: {record['id']!r}: {fault}; it cannot be analysed, run the benchmark again"
            )
    with of_run(described, data, run) as databases:
        judged = verdicts(records, run, databases, limits_of(run, described), processes)
    refuse_if_nothing_judged(run, judged)
    pairs = list(zip(records, judged, strict=True))
    return StoredRun(
        run,
        described,
        recipe,
        tuple(_question(record, verdict) for record, verdict in pairs if not verdict.fault),
        tuple((verdict.id, verdict.fault) for _, verdict in pairs if verdict.fault),
    )


def recipe_of(run: Path, described: Mapping[str, Any]) -> Recipe:
    """The recipe as the run has kept it; raises ``DatasetError`` where it is none."""
    kept = dict(described["recipe"])
    try:
        return recipes.build(kept.pop("name"), kept)
    except RecipeError as error:
        raise DatasetError(f"{run / folder.SETTINGS}: {error}") from None


def parts_of(recipe: Recipe, parts: Collection[int]) -> frozenset[int]:
    """These parts of a recipe, by place from 0; raises ``InputError`` for one that it has not, and for none."""
    count = len(recipe.generate)
    if not parts or not set(parts) <= set(range(count)):
        raise InputError(f"the recipe has the parts 1 to {count}; name at least one, and no others")
    return frozenset(parts)


def limits_of(run: Path, described: Mapping[str, Any]) -> Limits:
    """The limits of one query in the run; raises ``DatasetError`` where there are none."""
    kept = described.get("limits")
    kinds = {field.name: type(getattr(Limits(), field.name)) for field in fields(Limits)}
    if (
        not isinstance(kept, dict)
        or set(kept) != set(kinds)
        or not all(is_figure(kept[name]) and kind in (float, type(kept[name])) for name, kind in kinds.items())
    ):
        raise DatasetError(f"{run / folder.SETTINGS}: limits are none of a query; give a folder of `sqljury bench`")
    return Limits(**kept)


def question_of(record: Record) -> Question:
    """The question of a stored answer as the run asked it."""
    return Question(record["question"], record.get("evidence", ""), record["id"])


def linked_of(record: Record) -> tuple[str, ...]:
    """The tables that the run's linker picked for a question; none where the run has kept none."""
    linked = record.get("linked")
    return tuple(name for name in linked if isinstance(name, str)) if isinstance(linked, list) else ()


def judged_comparisons(choice: Any) -> tuple[Comparison, ...]:
    """The comparisons of a stored choice; raises ``DatasetError`` that says what is wrong with them."""
    listed = choice.get("comparisons", []) if isinstance(choice, dict) else []
    if not isinstance(listed, list):
        raise DatasetError("comparisons are no list")
    return tuple(_comparison(comparison) for comparison in listed)


def _comparison(value: Any) -> Comparison:
    if fault := misshapen(value, _COMPARISON):
        raise DatasetError(f"a comparison: {fault}")
    comparison = Comparison(*(value[name] for name in _COMPARISON))
    if not (0 <= comparison.first_shown_first <= 1 and 0 <= comparison.first_shown_second <= 1):
        raise DatasetError("a comparison holds no probability")
    return comparison


def fixes_of(candidate: Record) -> tuple[Fix, ...]:
    """The repairs of a stored candidate, of those who make any."""
    known = get_args(FixedBy)
    return tuple(
        Fix(fix["before"], str(fix.get("reason", "")), fix["by"]) for fix in candidate["fixes"] if fix["by"] in known
    )


def cost_of(value: Any) -> Cost:
    """A stored cost; raises ``DatasetError`` where it is none."""
    names = [field.name for field in fields(Cost)]
    if not isinstance(value, dict) or not all(is_figure(value.get(name)) for name in names):
        raise DatasetError("a cost is of the wrong kind")
    return Cost(**{name: value[name] for name in names})


def _fault(record: Record, recipe: Recipe) -> str | None:
    """Why a record cannot be analysed, None where it can."""
    for candidate in record["candidates"]:
        if fault := misshapen(candidate, _CANDIDATE):
            return f"a candidate: {fault}"
        parts = recipe.generate[candidate["part"] :][:1] if candidate["part"] >= 0 else ()
        if [part.generator for part in parts] != [candidate["generator"]]:
            return f"a candidate: part {candidate['part']} of the recipe is not by {candidate['generator']!r}"
    if record.get("before") and record["before"] not in [candidate["sql"] for candidate in record["candidates"]]:
        return "the query before refinement is none of its candidates"
    try:
        _steps(record)
        cost_of(record["cost"])
        judged_comparisons(record.get("choice"))
    except DatasetError as error:
        return str(error)
    return None


def _steps(record: Record) -> dict[str, Cost]:
    steps = record.get("steps", {})
    if not isinstance(steps, dict):
        raise DatasetError("steps are of the wrong kind")
    return {step: cost_of(cost) for step, cost in steps.items()}


def _question(record: Record, verdict: Verdicts) -> Asked:
    candidates = tuple(
        Stored(
            stages(candidate),
            candidate["generator"],
            candidate["part"],
            candidate["logprob"],
            candidate["group"],
            tuple((fix["before"], fix["by"]) for fix in candidate["fixes"]),
            candidate.get("weight", 1.0),
            candidate.get("opinion", False),
        )
        for candidate in record["candidates"]
    )
    return Asked(
        id=record["id"],
        db_id=record["db_id"],
        text=record["question"],
        evidence=record.get("evidence", ""),
        hardness=verdict.hardness,
        gold=record["gold"],
        sql=record["sql"],
        candidates=candidates,
        comparisons=judged_comparisons(record.get("choice")),
        steps=_steps(record),
        cost=cost_of(record["cost"]),
        verdicts=verdict,
        before=record.get("before"),
    )


def _with_parts(question: Asked, parts: Collection[int], dropped: Collection[str]) -> Asked:
    """The question with the candidates and the costs of some parts alone; ``dropped`` names the others' steps."""
    kept = tuple(candidate for candidate in question.candidates if candidate.part in parts)
    return replace(
        question,
        sql=question.voted(kept),
        candidates=kept,
        comparisons=(),
        steps={step: cost for step, cost in question.steps.items() if step not in dropped},
        cost=question.cost_without(dropped),
    )


Keep = Callable[[Stored], bool]


@dataclass(frozen=True, slots=True)
class Source:
    """Some of the candidates: all, those of a generator, or those of one part of the recipe."""

    label: str
    keep: Keep

    def of(self, question: Asked) -> list[Stored] | None:
        """The question's candidates of this source; None where others were written and this source was not asked.

        A question that ended before anything was written has none of any source: that is a failure, not a pardon.
        """
        kept = [candidate for candidate in question.candidates if self.keep(candidate)]
        return None if question.candidates and not kept else kept


def sources(run: StoredRun) -> dict[str, Sequence[Source]]:
    """By kind: ``all`` together, the ``generators`` by name, and the ``parts`` of the recipe in order."""
    parts = []
    for number, part in enumerate(run.recipe.generate):
        if number in run.left_out:
            continue
        how = "greedy" if part.temperature == 0 else f"{part.samples} at T {part.temperature:g}"
        label = f"{run.recipe.steps([number])[0]}, {how}"
        parts.append(Source(label, lambda candidate, number=number: candidate.part == number))  # type: ignore[misc]
    named = [Source(name, lambda candidate, name=name: candidate.generator == name) for name in run.generators]  # type: ignore[misc]
    return {"all": [Source("all", lambda _: True)], "generators": named, "parts": parts}
