"""Candidates: what the parts of a recipe write, run and repaired without the model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from sqljury.context import Context, State
from sqljury.errors import ContextLengthError
from sqljury.llm.base import Sampling, derive_seed
from sqljury.parallel.threads import map_threads
from sqljury.recipes import GeneratePart
from sqljury.sql.resolve import used
from sqljury.stages import pace
from sqljury.stages.conclude import closest, raise_if_order, raise_unusable, rated
from sqljury.stages.doubt import is_hopeless
from sqljury.stages.generate import GENERATORS
from sqljury.stages.generate.grammar import grammar
from sqljury.stages.prepare import Preparation
from sqljury.stages.repair import all_by_program, repair
from sqljury.stages.repair.hints import advise
from sqljury.stages.select.consistency import agreed, group, votes
from sqljury.types import Candidate, QueryFailure, Result, Task
from sqljury.types.candidate import with_opinion
from sqljury.types.schema import only_tables

ORDERS: Final = 1_000_000
"""Orders of tables and columns among which that of a single query is drawn."""


def write(state: State, context: Context) -> State:
    """The stage: candidates, part by part of the recipe until they agree or the budget is exhausted.

    No further part is asked about a question that will be refused for what its candidates name. Raises
    ``ContextLengthError`` where the prompt of the first part is too long for its model; later parts are left out then.
    Raises what ``raise_if_order`` and ``raise_unusable`` raise.
    """
    return _written(state, context, fallback=False)


def fall_back(state: State, context: Context) -> State:
    """The stage: the fallback parts of the recipe write where none of the candidates runs.

    They are told what the closest query failed with, as notes: asked the same again, a model samples the same again. If
    none of theirs runs either, these are repaired by the model too, in what is left of the time for repairs. They are
    not asked about a question that will be refused.
    """
    runs = any(candidate.result.ok for candidate in state.candidates)
    if runs or is_hopeless(state.candidates, state.task, context.least):
        return state
    advised, nearest = state.task, closest(state.candidates, state.task.known)
    if nearest is not None and context.recipe.fix.hints:
        advised = replace(advised, notes=(*advised.notes, *advise(nearest, advised, context).lines))
    more = replace(_written(replace(state, task=advised), context, fallback=True), task=state.task)
    if len(more.candidates) == len(state.candidates) or any(candidate.result.ok for candidate in more.candidates):
        return more
    return repair(more, context, state.candidates)


def run_again(state: State, context: Context) -> State:
    """The stage for candidates that were written before: they are run, and nothing is repaired."""
    ran = map_threads(
        lambda candidate, stop: _run(candidate, replace(context, cancel=stop)), state.candidates, context.cancel
    )
    return replace(state, candidates=tuple(ran))


def run_given(state: State, context: Context) -> State:
    """The stage for candidates of other systems: they are run, and repaired without the model as the recipe has it.

    A query whose names can be read in several ways stays one candidate, in the likeliest reading. Raises an error of
    ``conclude.UNUSABLE`` where no query ran for such a reason.
    """

    def execute(candidate: Candidate, stop: threading.Event) -> Candidate:
        return _execute(candidate, state.task, replace(context, cancel=stop))[0]

    # samples are often equal
    different = {(candidate.sql, candidate.fixes): candidate for candidate in state.candidates}
    context.emit("running the queries", 0, len(different))
    ran = dict(zip(different, map_threads(execute, list(different.values()), context.cancel), strict=True))
    candidates = []
    for candidate in state.candidates:
        done = ran[candidate.sql, candidate.fixes]
        candidates.append(replace(candidate, sql=done.sql, result=done.result, fixes=done.fixes))
    raise_unusable(candidates)
    return replace(state, candidates=tuple(candidates))


def add_opinion(state: State, context: Context) -> State:
    """The stage: where given candidates disagree, or none runs, the model's own queries vote beside them.

    It is not shown the others. See ``SelectPart.opinion`` and ``with_opinion``. Where the prompt is too long for the
    model, or the budget is spent, the others are left alone.
    """
    given = state.candidates
    different = {candidate.group for candidate in group(given)} - {None}
    if len(different) == 1 or context.exhausted():
        return state
    try:
        opinions = _more(replace(state, candidates=()), context, fallback=False)
    except ContextLengthError:
        return state
    if opinions and not any(candidate.result.ok for candidate in (*given, *opinions)):
        opinions = repair(replace(state, candidates=(*given, *opinions)), context, given).candidates[len(given) :]
    candidates = with_opinion(given, opinions, chosen=context.recipe.select.opinion == "candidate")
    raise_unusable(candidates)
    return replace(state, candidates=candidates)


def group_results(state: State, _context: Context) -> State:
    """The stage: candidates with the same result form a group."""
    return replace(state, candidates=group(state.candidates))


def _written(state: State, context: Context, *, fallback: bool) -> State:
    candidates = (*state.candidates, *_more(state, context, fallback=fallback))
    parts = context.recipe.generate
    raise_if_order(state.task.question, [candidate for candidate in candidates if not parts[candidate.part].given])
    raise_unusable(candidates)
    return replace(state, candidates=candidates)


def _more(state: State, context: Context, *, fallback: bool) -> tuple[Candidate, ...]:
    """What the parts of the recipe write beside the candidates of the state, which they may see."""
    numbered = enumerate(context.recipe.generate)
    parts = [(number, part) for number, part in numbered if part.fallback == fallback and not part.given]
    total, stop, budget = sum(part.samples for _, part in parts), context.recipe.stop, context.recipe.budget
    before, more = state.candidates, list[Candidate]()

    def execute(candidate: Candidate, stop: threading.Event) -> list[Candidate]:
        ran = _execute(candidate, state.task, replace(context, cancel=stop))
        context.emit("ran a query", len(more), total, ran)
        return ran

    for number, _ in parts:
        if (more or before) and (context.exhausted() or agreed(more, stop.share, stop.least)):
            break
        if stop.confidence and _is_sure(more, state.task, context):
            break
        if budget.agree and agreed(more, 1.0, budget.agree):
            break
        so_far = (*before, *more)
        if is_hopeless(so_far, state.task, context.least):
            break
        drafts = [query.sql for query in sorted(so_far, key=lambda query: not query.result.ok) if query.sql]
        asked = _of_tables(number, state.task, drafts, context.recipe.generate)
        if asked is None:
            continue
        waiting = {later: part for later, part in parts if later > number}
        part = pace.cut(number, {number: asked, **waiting}, so_far, context)
        if part is None:
            continue
        context.emit("writing queries", len(more), total)
        try:
            written = _ask(number, part, state.task, drafts, context)
        except ContextLengthError:
            if not so_far:
                raise
            continue
        context.emit("running the queries", len(more), total)
        more += chain.from_iterable(map_threads(execute, written, context.cancel))
    return tuple(more)


def _is_sure(candidates: Sequence[Candidate], task: Task, context: Context) -> bool:
    """Whether the answer that these would have by votes has rows, and the confidence from which nothing more is asked.

    A light judge's choice does not count: it is made once all are written.
    """
    grouped = group(candidates)
    choice = votes(grouped, task, context)
    if choice.index is None or not grouped[choice.index].result.rows:
        return False
    wanted = max(context.recipe.stop.confidence, context.least or 0.0)
    return rated(grouped, choice, task, context).probability >= wanted


def _ask(number: int, part: GeneratePart, task: Task, drafts: Sequence[str], context: Context) -> list[Candidate]:
    """What one part of the recipe writes after these drafts, not yet run."""
    context = context.of(part.model)
    [step] = context.recipe.steps([number])
    with context.step(step):
        if not part.reorder:
            return _completed(number, part, task, drafts, context)
        written: list[Candidate] = []
        for sample in range(part.samples):
            if written and context.exhausted():
                break
            seed = derive_seed(context.seed, "order", number, sample)
            reordered = replace(part, samples=1, order=1 + seed % ORDERS)
            written += _completed(number, reordered, task, drafts, context, sample)
    return written


def _completed(
    number: int, part: GeneratePart, task: Task, drafts: Sequence[str], context: Context, sample: int = 0
) -> list[Candidate]:
    """The queries of one call; ``sample`` is the number of the call where each asks for one."""
    shown = _shown(task, part, drafts, context)
    request = GENERATORS[part.generator](shown, part, drafts, context)
    sampling = Sampling(
        temperature=part.temperature,
        top_p=part.top_p,
        max_tokens=part.max_tokens,
        seed=derive_seed(context.seed, "generate", number, *([sample] if part.reorder else [])),
        stop=request.stop,
        grammar=grammar(shown.shown, reasons=request.reasons) if part.constrain else None,
    )
    reply = context.complete(request.messages, sampling, part.samples)
    return [
        Candidate(
            request.read(completion.text),
            part.generator,
            completion.logprob,
            part=number,
            tokens=len(completion.tokens) or None,
        )
        for completion in reply.completions
    ]


def _of_tables(number: int, task: Task, drafts: Sequence[str], parts: Sequence[GeneratePart]) -> GeneratePart | None:
    """The part of this number as it is asked after these drafts; None if it is not.

    Where the tables of the drafts are all tables, or none, it sees the whole schema like any other part. A greedy one
    that would then repeat the query of an earlier part is left out; a fallback is not, since it is told what failed.
    """
    part = parts[number]
    if not part.tables or 0 < len(_read(task, drafts)) < len(task.shown.tables):
        return part
    whole = replace(part, tables="")
    earlier = (replace(other, tables="", samples=part.samples, max_tokens=part.max_tokens) for other in parts[:number])
    repeats = not part.temperature and not part.fallback and whole in earlier
    return None if repeats else whole


def _shown(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Task:
    """The task as the part is shown it."""
    prepared = Preparation.of(context)
    if part.tables:
        task = prepared.narrowed(task, context.db, only_tables(task.shown, _read(task, drafts)))
    return prepared.reshown(task, context.db, part.form, part.order)


def _read(task: Task, drafts: Sequence[str]) -> set[str]:
    """The tables that the drafts read, of those shown."""
    return {table.name for table in used(task.shown, drafts).tables}


def _execute(candidate: Candidate, task: Task, context: Context) -> list[Candidate]:
    """The candidate run, and repaired if need be; where its names can be read in several ways, one for each."""
    return all_by_program(_run(candidate, context), task, context)


def _run(candidate: Candidate, context: Context) -> Candidate:
    if not candidate.sql:
        return replace(candidate, result=Result(error=QueryFailure("missing", "the model wrote no query")))
    return replace(candidate, result=context.execute(candidate.sql))
