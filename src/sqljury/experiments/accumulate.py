"""False negatives of ESM+ as its rules are switched on one after the other (ESM+ paper, section 5.4, Figure 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sqljury.datasets.pairs import Pair
from sqljury.evaluation.agree import reference
from sqljury.evaluation.findings import AccumulatedRules, RuleStep
from sqljury.evaluation.judge import GRACE_SECONDS, Evaluation
from sqljury.evaluation.targets import Targets
from sqljury.metrics import agreement
from sqljury.metrics.case import Options
from sqljury.metrics.esm_plus import NUMBERS, esm_plus
from sqljury.metrics.esm_plus.rules import MEANINGS
from sqljury.parallel.crew import Crew
from sqljury.parallel.processes import Tell, map_processes
from sqljury.sql.parse import hush_parser

STEPS: Final = range(len(NUMBERS) + 1)
"""How many rules are on: none, then 1, 1-2 and so on in the order of Table 1."""


def accumulate(evaluation: Evaluation, targets: Targets, processes: int | Crew = 1) -> AccumulatedRules:
    """False negatives against the evaluation's ``reference``, in percent of all its queries.

    Rules that the evaluation has switched off stay off. ESM, where the evaluation has it, stands before the steps.
    Raises ``InputError`` as ``reference`` does.
    """
    labels = reference(evaluation.titles)
    known = evaluation.column(labels)
    accepted = [
        judged.pair for judged, label in zip(evaluation.judged, known, strict=True) if label is not None and label >= 1
    ]
    total = max(1, sum(label is not None for label in known))
    judge = _Judge(targets, evaluation.options)
    silence = evaluation.options.limits.seconds + GRACE_SECONDS
    verdicts = map_processes(
        judge.begin,
        accepted,
        judge.lost,
        silence=silence,
        processes=processes,
        kind=lambda pair: pair.gold.db_id,
        files=targets.files,
    )
    missed = [sum(not matches[step] for matches in verdicts) for step in STEPS]
    steps = [
        RuleStep(str(step), MEANINGS.get(step, "no rule"), count, _percent(count, total))
        for step, count in zip(STEPS, missed, strict=True)
    ]
    title = evaluation.titles[labels]
    return AccumulatedRules(labels, title, total, len(accepted), [*_of_esm(evaluation, labels), *steps])


def _of_esm(evaluation: Evaluation, labels: str) -> list[RuleStep]:
    """The false negatives of ESM itself."""
    steps = []
    for name, title in evaluation.titles.items():
        if name in ("esm", "esm_values"):
            cells = agreement.confusion(evaluation.column(name), evaluation.column(labels))
            missed = len(cells.second_only)
            percent = _percent(missed, max(1, sum(map(len, cells))))
            steps.append(RuleStep(title, "", missed, percent))
    return steps


def _percent(count: int, total: int) -> float:
    return round(100 * count / total, 4)


@dataclass(frozen=True)
class _Judge:
    """The work of one process: whether a pair matches after each step."""

    targets: Targets
    options: Options

    def begin(self) -> Callable[[Pair, Tell], list[bool]]:
        """Called once in each process."""
        hush_parser()
        return self._judge

    def lost(self, _: Pair, __: str, ___: object) -> list[bool]:
        """A pair that takes too long matches at no step."""
        return [False for _ in STEPS]

    def _judge(self, pair: Pair, _: Tell) -> list[bool]:
        facts = self.targets.target(pair.gold.db_id).facts
        options = self.options.esm_plus
        return [
            esm_plus(
                pair.gold.sql,
                pair.prediction.sql,
                facts,
                replace(options, disabled=options.disabled | {number for number in NUMBERS if number > step}),
            ).matches
            for step in STEPS
        ]
