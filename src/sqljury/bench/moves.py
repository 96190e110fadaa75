"""What `sqljury tune` tries: recipes that differ from one recipe in one respect, by step of the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, get_args

from sqljury.llm.adapters import NONE
from sqljury.recipes import FixPart, GeneratePart, LinkPart, Recipe, RefinePart, StopPart, TestsPart
from sqljury.stages.select import TESTING
from sqljury.types.schema import Form

MOST_SAMPLES: Final = 16
TEMPERATURES: Final = (0.4, 0.8, 1.1)
CONFIDENCES: Final = (0.8, 0.9)
PARTS: Final = (
    *((f"one more query from the schema as {form}", GeneratePart(form=form)) for form in ("mschema", "compact", "ddl")),
    ("one more query from the schema as listed", GeneratePart("listed")),
    ("one more query from the tables that those before it read", GeneratePart(tables="drafts")),
    ("two more queries after examples on this database", GeneratePart("made", 2, 0.5, 0.95)),
    ("two more queries after similar questions", GeneratePart("fewshot", 2, 0.5, 0.95)),
    ("one more query by divide and conquer", GeneratePart("divide-short", max_tokens=400)),
    ("one more query by an execution plan", GeneratePart("plan-short", max_tokens=400)),
)
"""Parts that a recipe may have more: other formats widen what candidates hold more than temperature does
(docs/recipes/chase.md); long reasoning is left to recipes that are written by hand."""
PROGRAMS: Final = TestsPart(kind="agents", data="program", codes=3, inspections=1, max_tokens=250)
"""The tests of the recipe tssql-small."""


class Move(NamedTuple):
    """A recipe, and how it differs from the one that it was made from."""

    change: str
    recipe: Recipe


Moves = Callable[[Recipe, Sequence[str]], Iterator[Move]]
"""Variants of a recipe, given the names of adapters that may write; ``NONE`` is the base model without one."""


def _forms(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    for form in get_args(Form):
        if form != recipe.schema.form:
            yield Move(f"the schema as {form}", replace(recipe, schema=replace(recipe.schema, form=form)))


def _generators(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    def shown(part: GeneratePart) -> tuple[str, str, str]:
        return part.generator, part.form or recipe.schema.form, part.tables

    known = {shown(part) for part in recipe.generate if not part.fallback}
    for change, part in PARTS:
        if shown(part) not in known:
            yield Move(change, replace(recipe, generate=(*recipe.generate, part)))
    writing = [number for number, part in enumerate(recipe.generate) if not part.fallback]
    for number in writing[1:]:
        kept = (*recipe.generate[:number], *recipe.generate[number + 1 :])
        yield Move(f"without part {recipe.steps([number])[0]}", replace(recipe, generate=kept))


def _linking(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    options = {
        "no linking": LinkPart(),
        "tables linked by words": LinkPart("retrieval"),
        "tables linked by the model": LinkPart("model", 0.9),
        "tables linked by the model where there are more than six": LinkPart("model", 0.9, whole=6),
    }
    for change, part in options.items():
        if part != recipe.link:
            yield Move(change, replace(recipe, link=part))


def _values(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    schema = recipe.schema
    options = {f"{count} values that the question may mean": replace(schema, values=count) for count in (0, 6, 12)}
    options["keywords by the model"] = replace(schema, values=schema.values or 6, keywords="model")
    options["values beside columns, nearest to the question"] = replace(schema, sample_rows=0, examples=3, nearest=True)
    options |= {f"{count} sample rows of each table": replace(schema, sample_rows=count) for count in (0, 3)}
    options["what values show beside types"] = replace(schema, types=True)
    for change, part in options.items():
        if part != schema:
            yield Move(change, replace(recipe, schema=part))


def _temperatures(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    for degree in TEMPERATURES:
        parts = tuple(replace(part, temperature=degree) if _sampled(part) else part for part in recipe.generate)
        if parts != recipe.generate:
            yield Move(f"samples at temperature {degree:g}", replace(recipe, generate=parts))


def _counts(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    for change, factor in (("half as many samples", 0.5), ("twice as many samples", 2.0)):
        parts = tuple(
            replace(part, samples=_scaled(part.samples, factor)) if _sampled(part) else part for part in recipe.generate
        )
        if parts != recipe.generate:
            yield Move(change, replace(recipe, generate=parts))
    if not any(map(_sampled, recipe.generate)):
        part = GeneratePart(samples=3, temperature=0.8, top_p=0.95)
        yield Move("three samples more", replace(recipe, generate=(*recipe.generate, part)))


def _scaled(samples: int, factor: float) -> int:
    """So many times the samples: at least one, and more than ``MOST_SAMPLES`` only where there were more before."""
    return min(max(MOST_SAMPLES, samples), max(1, int(samples * factor)))


def _sampled(part: GeneratePart) -> bool:
    return part.temperature > 0 and not part.fallback


def _adapters(recipe: Recipe, adapters: Sequence[str]) -> Iterator[Move]:
    for name in adapters:
        spec, writer = f"+{name}", "the base model" if name == NONE else f"the adapter {name}"
        sampled = [part for part in recipe.generate if _sampled(part)]
        changed = {"all queries": recipe.generate, "samples": sampled if len(sampled) < len(recipe.generate) else ()}
        for what, affected in changed.items():
            if not all(part.model == spec for part in affected):
                parts = tuple(replace(part, model=spec) if part in affected else part for part in recipe.generate)
                yield Move(f"{what} by {writer}", replace(recipe, generate=parts))
        if not any(part.model == spec for part in recipe.generate):
            more = (*recipe.generate, GeneratePart(model=spec))
            yield Move(f"one more query by {writer}", replace(recipe, generate=more))


def _repairs(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    fix: FixPart = recipe.fix
    options = {f"{count} repairs by the model": replace(fix, attempts=count) for count in (0, 1, 3)}
    options["no hints for repairs" if fix.hints else "hints for repairs"] = replace(fix, hints=not fix.hints)
    options["stored values stay" if fix.values else "stored values put right"] = replace(fix, values=not fix.values)
    options["meaning stays" if fix.meaning else "meaning put right"] = replace(fix, meaning=not fix.meaning)
    for change, part in options.items():
        if part != fix:
            yield Move(change, replace(recipe, fix=part))


def _choosing(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    options = {
        "chosen by votes": "consistency",
        "chosen by the light judge": "light",
        "chosen by the critic": "critic",
        "chosen by a tournament of the three largest groups": "tournament",
        "chosen by tests on small databases": "rerank",
        "chosen by tests and votes": "rerank-votes",
    }
    for change, selector in options.items():
        if selector != recipe.select.selector:
            groups = 3 if selector == "tournament" else recipe.select.groups
            select = replace(recipe.select, selector=selector, groups=groups, weights="")
            yield Move(change, replace(recipe, select=select, tests=_tests_for(selector, recipe)))


def _tests_for(selector: str, recipe: Recipe) -> TestsPart:
    """The recipe's tests, where the selector or its refinement needs them, or they are of agents; else none."""
    if selector in TESTING:
        return recipe.tests if recipe.tests.kind == "suite" else TestsPart(kind="suite")
    return recipe.tests if recipe.refine.rounds or recipe.tests.kind == "agents" else TestsPart()


def _tests(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    if recipe.select.selector in TESTING:
        return
    if recipe.refine.rounds:
        yield Move("no tests by programs", replace(recipe, tests=TestsPart(), refine=RefinePart()))
    else:
        refine = RefinePart(rounds=1, sure=0.6)
        yield Move("an answer that programs refute is rewritten", replace(recipe, tests=PROGRAMS, refine=refine))


def _stops(recipe: Recipe, _: Sequence[str]) -> Iterator[Move]:
    stop, total = recipe.stop, sum(part.samples for part in recipe.generate if not part.fallback)
    options = {"never ends early": StopPart()}
    for count in (2, 3, 4, 5):
        if count < total:
            options[f"ends once {count} agree, all so far"] = replace(stop, share=1.0, least=count)
    for sure in CONFIDENCES:
        if total > 1:
            options[f"ends once an answer has {sure:.0%}"] = replace(stop, confidence=sure)
    options["is not ended by confidence"] = replace(stop, confidence=0.0)
    for change, part in options.items():
        if part != stop:
            yield Move(change, replace(recipe, stop=part))


STEPS: Final[dict[str, Moves]] = {
    "forms": _forms,
    "generators": _generators,
    "counts": _counts,
    "linking": _linking,
    "values": _values,
    "temperatures": _temperatures,
    "adapters": _adapters,
    "repairs": _repairs,
    "choosing": _choosing,
    "tests": _tests,
    "stops": _stops,
}
"""By name the steps of the search, in order: what is written first, then how it is chosen."""
