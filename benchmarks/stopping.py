"""When to stop writing candidates: right answers and queries a question by rule, replayed on a stored run, no model.

    python benchmarks/stopping.py runs/train_light --data ../shared/spider
    python benchmarks/stopping.py runs/gate_pool [--confidence 0.8 0.85 0.9] [--most 4 6 8]
    python benchmarks/stopping.py runs/look_pool --data runs/gate --parts 1 2 --parts 1 4 --parts 1 2 3 4

A run is replayed part by part, with all parts of its recipe or only ``--parts`` (from 1; several times to compare). A
rule stops after a part once the confidence in the votes so far is high enough, once at least ``--agree`` queries agree,
and after ``--most`` queries. The light judge chooses among the queries that were written. What later queries would have
changed in the repairs of earlier ones is not replayed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sqljury.stages import confidence, doubt
from sqljury.stages.select.base import representatives
from sqljury.stages.select.consistency import agreed, choose, group
from sqljury.stages.select.features import NONE, described, features
from sqljury.stages.select.light import better, read
from sqljury.train.replay import Replayed, replay_all
from sqljury.types import Candidate, Choice

NEVER = 2.0
"""A confidence that no answer has."""


@dataclass(frozen=True)
class Written:
    """What is known after so many queries of a question."""

    queries: int
    sure: float
    agree: bool
    right: bool
    one_right: bool


def main() -> None:
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--parts", type=int, nargs="+", action="append", help="the parts of the recipe to replay")
    parser.add_argument("--confidence", type=float, nargs="+", default=[0.8, 0.85, 0.9, 0.93])
    parser.add_argument("--most", type=int, nargs="+", default=[4, 6, 8])
    parser.add_argument("--agree", type=int, default=4, help="queries that end the writing if all agree")
    asked = parser.parse_args()
    stored = list(replay_all([asked.run], asked.data, ()))
    for parts in asked.parts or [[]]:
        report([replayed(question, parts, asked) for question in stored], parts, asked)


def report(questions: Sequence[Sequence[Written]], parts: Sequence[int], asked: argparse.Namespace) -> None:
    """Print both tables for the questions that have candidates of these parts."""
    questions = [question for question in questions if question]
    named = f", parts {' '.join(map(str, parts))}" if parts else ""
    print(f"{len(questions)} questions of {asked.run}{named}\n")
    print("| stops at confidence | most queries | right, % | one right, % | queries |\n|---|---:|---:|---:|---:|")
    for sure in (*asked.confidence, NEVER):
        for most in asked.most:
            ends = [ended(question, sure, most) for question in questions]
            right, one_right = (
                fmean(known) for known in zip(*((end.right, end.one_right) for end in ends), strict=True)
            )
            queries = fmean(end.queries for end in ends)
            said = "never" if sure == NEVER else f"{sure}"
            print(f"| {said} | {most} | {100 * right:.1f} | {100 * one_right:.1f} | {queries:.2f} |")
    print("\n| confidence in the first query | questions, % | it is right, % | the choice among all, % |")
    print("|---|---:|---:|---:|")
    for sure in asked.confidence:
        stopped = [question for question in questions if question[0].sure >= sure]
        if stopped:
            one, all_ = (100 * sum(question[at].right for question in stopped) / len(stopped) for at in (0, -1))
            print(f"| {sure} | {100 * len(stopped) / len(questions):.1f} | {one:.1f} | {all_:.1f} |")
    print()


def replayed(question: Replayed, parts: Sequence[int], asked: argparse.Namespace) -> list[Written]:
    """What is known after each part, and after each number of queries that ends a rule."""
    had = [one for one in question.candidates if not parts or one.part + 1 in parts]
    ends = {place for place in range(1, len(had)) if had[place].part != had[place - 1].part}
    counts = sorted({*ends, *(most for most in asked.most if most < len(had)), len(had)} - {0})
    return [after(had[:count], question, asked.agree) for count in counts]


def after(candidates: Sequence[Candidate], question: Replayed, agree: int) -> Written:
    """What is known of the first candidates."""
    grouped = group(candidates)
    index = choose(grouped)
    if index is None:
        return Written(len(candidates), 0.0, False, False, False)
    known = described(grouped, question.task)
    figures = confidence.figures(
        grouped, Choice(index, "consistency"), question.task, doubt.missing(question.task, grouped[index]), known
    )
    sure = confidence.read().probability(figures) if grouped[index].result.rows else 0.0
    weights, best = read(), representatives(grouped)
    judged = features(grouped, question.task, NONE, weights.sketch, known)
    fitted = weights.fitted(logprobs=all(one.logprob is not None for one in candidates))
    chosen = list(best.values())[better([fitted.score(judged[group_]) for group_ in best], fitted.margin)]
    right = [one.sql in question.right for one in grouped]
    return Written(len(candidates), sure, agreed(candidates, 1.0, agree), right[chosen], any(right))


def ended(question: Sequence[Written], sure: float, most: int) -> Written:
    """Where a rule stops."""
    for step in question:
        if step.sure >= sure or step.agree or step.queries >= most:
            return step
    return question[-1]


if __name__ == "__main__":
    main()
