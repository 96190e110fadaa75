"""When to stop writing candidates: right answers and queries a question by rule, replayed on a stored run, no model.

    python benchmarks/stopping.py runs/train_light --data ../shared/spider
    python benchmarks/stopping.py runs/gate_pool [--confidence 0.8 0.85 0.9] [--most 4 6 8]

A run of three parts is replayed: one query, three more, and the rest where these four disagree (`light`, and `default`
as it was). A rule stops after the first query, or after four, once the confidence in their votes is high enough; after
four that agree; and after ``--most`` queries. The light judge chooses among the queries that were written. What later
queries would have changed in the repairs of earlier ones is not replayed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqljury.stages import confidence, doubt
from sqljury.stages.select.base import representatives
from sqljury.stages.select.consistency import agreed, choose, group
from sqljury.stages.select.features import NONE, described, features
from sqljury.stages.select.light import better, read
from sqljury.train.replay import Replayed, replay_all
from sqljury.types import Candidate, Choice

NEVER = 2.0
"""A confidence that no answer has."""
FIRST = 4
"""Queries of the first two parts."""


@dataclass(frozen=True)
class Written:
    """What is known after so many queries of a question."""

    queries: int
    sure: float
    agree: bool
    right: bool


def main() -> None:
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--confidence", type=float, nargs="+", default=[0.8, 0.85, 0.9, 0.93])
    parser.add_argument("--most", type=int, nargs="+", default=[4, 6, 8])
    asked = parser.parse_args()
    counts = [1, FIRST, *(most for most in asked.most if most > FIRST)]
    questions = [replayed(question, counts) for question in replay_all([asked.run], asked.data, ())]
    questions = [question for question in questions if question]
    print(f"{len(questions)} questions of {asked.run}\n\n| stops at confidence | most queries | right, % | queries |")
    print("|---|---:|---:|---:|")
    for sure in (*asked.confidence, NEVER):
        for most in asked.most:
            ends = [ended(question, sure, most) for question in questions]
            right, queries = sum(end.right for end in ends), sum(end.queries for end in ends)
            said = "never" if sure == NEVER else f"{sure}"
            print(f"| {said} | {most} | {100 * right / len(ends):.1f} | {queries / len(ends):.2f} |")
    print("\n| confidence in the first query | questions, % | it is right, % | the choice among all, % |")
    print("|---|---:|---:|---:|")
    for sure in asked.confidence:
        stopped = [question for question in questions if question[0].sure >= sure]
        if stopped:
            one, all_ = (100 * sum(question[at].right for question in stopped) / len(stopped) for at in (0, -1))
            print(f"| {sure} | {100 * len(stopped) / len(questions):.1f} | {one:.1f} | {all_:.1f} |")


def replayed(question: Replayed, counts: Sequence[int]) -> list[Written]:
    """What is known after each number of queries; shorter where the run had fewer."""
    had = list(question.candidates)
    return [after(had[:count], question) for count in counts if count <= len(had)]


def after(candidates: Sequence[Candidate], question: Replayed) -> Written:
    """What is known of the first candidates."""
    grouped = group(candidates)
    index = choose(grouped)
    if index is None:
        return Written(len(candidates), 0.0, False, False)
    known = described(grouped, question.task)
    figures = confidence.figures(
        grouped, Choice(index, "consistency"), question.task, doubt.missing(question.task, grouped[index]), known
    )
    sure = confidence.read().probability(figures) if grouped[index].result.rows else 0.0
    weights, best = read(), representatives(grouped)
    judged = features(grouped, question.task, NONE, weights.sketch, known)
    chosen = list(best.values())[better([weights.score(judged[group_]) for group_ in best], weights.margin)]
    return Written(len(candidates), sure, agreed(candidates, 1.0, FIRST), grouped[chosen].sql in question.right)


def ended(question: Sequence[Written], sure: float, most: int) -> Written:
    """Where a rule stops."""
    for step in question:
        if step.sure >= sure or step.agree or step.queries >= most:
            return step
    return question[-1]


if __name__ == "__main__":
    main()
