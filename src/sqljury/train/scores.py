"""Scores of a judge for the light judge to learn from: those of choices that were stored with the runs.

Several stored choices may be named, such as those of two judges, each of which was trained on the databases that the
other one judged. Together they cover the questions of the runs, each question once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sqljury.bench import choices
from sqljury.bench.choices import ALL, Chosen, Maker
from sqljury.bench.stored import Asked
from sqljury.errors import InputError
from sqljury.stages.select.base import representatives
from sqljury.stages.select.scorers import SCORERS, Scorer, group_scores
from sqljury.types import Candidate


@dataclass(frozen=True)
class StoredScores:
    """The kind of the scores, and by run the models that gave them, by the name of the stored choices."""

    scorer: Scorer
    models: Mapping[Path, Mapping[str, tuple[str, ...]]]

    def about(self) -> dict[str, Any]:
        """For the card of what is learned from them."""
        by_run = [{name: list(models) for name, models in named.items()} for named in self.models.values()]
        return {**asdict(self.scorer), "choices": by_run}

    def chosen(self, run: Path, questions: Sequence[Asked]) -> dict[str, Chosen]:
        """By question of a run the choice with its scores; raises ``InputError`` for a question with two of them."""
        known, scored = choices.stored(run, questions), dict[str, tuple[str, Chosen]]()
        for name in self.models[run]:
            for question, choice in known.get(name, {}).items():
                if question in scored:
                    raise InputError(
                        f"{run}: {question!r} has scores in the choices {scored[question][0]!r} and {name!r}; name one "
                        "of them, or have each judge choose on databases of its own (`sqljury bench select "
                        "--databases`)"
                    )
                scored[question] = name, choice
        return {question: choice for question, (_, choice) in scored.items()}


def stored_scores(runs: Sequence[Path], names: Sequence[str]) -> StoredScores | None:
    """The scores of the choices of these names in the runs, in which ``*`` stands for any text; None without names.

    Each run has choices of at least one of the names. Raises ``InputError`` where a run has none or a name is nowhere,
    for choices without scores or among some of the candidates only, and for scores of several kinds.
    """
    if not names:
        return None
    makers = {run: choices.makers(run) for run in runs}
    for name in names:
        if not any(fnmatchcase(stored, name) for known in makers.values() for stored in known):
            raise InputError(f"{_runs(runs)} no choices {name!r}; {_advice(runs[0], makers[runs[0]])}")
    scorers: dict[Scorer, str] = {}
    models: dict[Path, dict[str, tuple[str, ...]]] = {}
    for run, known in makers.items():
        chosen = {stored: known[stored] for stored in known if any(fnmatchcase(stored, name) for name in names)}
        if not chosen:
            raise InputError(f"{run} has no choices {' or '.join(map(repr, names))}; {_advice(run, known)}")
        models[run] = {name: tuple(sorted({maker.model for maker in made_by})) for name, made_by in chosen.items()}
        for name, made_by in chosen.items():
            for maker in made_by:
                scorers.setdefault(_scorer(maker, f"{run}: the choices {name!r}"), f"{name!r} of {run}")
    if len(scorers) > 1:
        [(first, where), (second, elsewhere), *_] = scorers.items()
        raise InputError(
            f"the choices {where} are {_said(first)}, {elsewhere} {_said(second)}; name choices of one kind"
        )
    if not scorers:
        raise InputError(f"the choices {', '.join(names)} are empty; run the same `sqljury bench select` again")
    [scorer] = scorers
    return StoredScores(scorer, models)


def scores_of(candidates: Sequence[Candidate], chosen: Chosen | None, question: str) -> dict[str, float]:
    """By representative's query the score of its group; empty for a single group, and where votes had to decide.

    Raises ``InputError`` where there are several groups and no choice.
    """
    indexes = representatives(candidates).values()
    if len(indexes) < 2:
        return {}
    if chosen is None:
        raise InputError(
            f"{question} has no scores in the choices that are named; run the same `sqljury bench select` again, or "
            "name the choices that have it too"
        )
    scores = group_scores(chosen.selector, chosen.scores, chosen.comparisons)
    numbers = {candidates[index].sql: chosen.groups[index] for index in indexes}
    return {sql: scores[number] for sql, number in numbers.items() if number is not None and number in scores}


def _scorer(maker: Maker, label: str) -> Scorer:
    if maker.selector not in SCORERS:
        raise InputError(f"{label} were made by {maker.selector}, which has no scores to learn from; {_known()}")
    if maker.among != ALL:
        raise InputError(
            f"{label} are among some of the candidates; make them without --part and --first, by `sqljury bench select`"
        )
    return Scorer(maker.selector, maker.groups, maker.schema)


def _runs(runs: Sequence[Path]) -> str:
    return f"{runs[0]} has" if len(runs) == 1 else "the runs have"


def _advice(run: Path, known: Mapping[str, Any]) -> str:
    available = f"{run} has {', '.join(sorted(known))}" if known else f"{run} has none"
    return f"{available}; make them with `sqljury bench select {run} --selector tournament`"


def _known() -> str:
    return f"name choices of {', '.join(SCORERS)}"


def _said(scorer: Scorer) -> str:
    groups = f" among {scorer.groups} groups" if scorer.groups else ""
    return f"of {scorer.selector}{groups}, shown the {scorer.schema} schema"
