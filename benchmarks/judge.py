"""How well a model judges queries that differ: right against wrong answers to the same question, by form of the prompt.

    python benchmarks/judge.py --data ../shared/spider --limit 25 --seed 7 [--judge MODEL] [--selectors critic,first]

Candidates are sampled as in sampled.py. Of each question that has right and wrong groups, the largest right one stands
against the largest wrong ones, --pairs of them. A line for a pair as it goes: the chance given to the right query when
shown first and when shown second, for each form. Then for each form: decided rightly over both orders, in each order,
the mean chance of the first place (0.5 is without bias) and how much of the distribution the letters have.
With --selectors also how these judge the same queries: which of them choose a right one of such a question, among its
--groups largest groups; and from their comparisons of a right and a wrong group the same figures as for the forms.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp
from pathlib import Path
from statistics import mean

from sampled import Sampled, chosen, sampled

from sqljury.llm.base import ALTERNATIVES, Completion, LanguageModel, Message, Sampling, probabilities
from sqljury.llm.open import open_model
from sqljury.schema.render import render
from sqljury.sql.resolve import used
from sqljury.stages.generate.direct import system
from sqljury.stages.select import SELECTORS
from sqljury.stages.select.base import groups, shown
from sqljury.stages.select.consistency import choose_in
from sqljury.types import Candidate, Choice, Task

Form = Callable[[Task, Candidate, Candidate], list[Message]]
TASK = (
    "You compare two SQL queries, A and B, that were written for the same question. Their results differ. Look at what "
    "the question asks for: which columns, which rows, whether rows may repeat, how they are counted, grouped, ordered "
    "and limited. Answer with the letter of the query that answers the question, A or B, and nothing else."
)
SHORT = "Which query answers the question, A or B? Answer with the letter alone."


def _queries(first: Candidate, second: Candidate, *, results: bool) -> str:
    parts = []
    for letter, one in zip("AB", (first, second), strict=True):
        parts.append(f"Query {letter}:\n{one.sql}" + (f"\nResult of {letter}: {shown(one.result)}" if results else ""))
    return "\n\n".join(parts)


def union(task: Task, first: Candidate, second: Candidate) -> list[Message]:
    """The part of the schema that both use, in the user's turn."""
    schema = render(used(task.known, [first.sql, second.sql])).strip()
    queries = _queries(first, second, results=True)
    text = f"{schema}\n\nQuestion: {task.question.text}\n\n{queries}\n\nWhich one answers the question?"
    return [Message("system", TASK), Message("user", text)]


def shared(task: Task, first: Candidate, second: Candidate) -> list[Message]:
    """The generators' system message, whose state is kept; the question first."""
    queries = _queries(first, second, results=True)
    return [system(task), Message("user", f"Question: {task.question.text}\n\n{queries}\n\n{SHORT}")]


def bare(task: Task, first: Candidate, second: Candidate) -> list[Message]:
    """The same without results."""
    queries = _queries(first, second, results=False)
    return [system(task), Message("user", f"Question: {task.question.text}\n\n{queries}\n\n{SHORT}")]


def last(task: Task, first: Candidate, second: Candidate) -> list[Message]:
    """The same with results, the question after the queries."""
    queries = _queries(first, second, results=True)
    return [system(task), Message("user", f"{queries}\n\nQuestion: {task.question.text}\n\n{SHORT}")]


FORMS: dict[str, Form] = {form.__name__: form for form in (union, shared, bare, last)}


def mass(completion: Completion) -> float:
    """The share of the first token's distribution that the two letters have."""
    top = dict(completion.tokens[0].top) if completion.tokens else {}
    return sum(exp(logprob) for text, logprob in top.items() if text.strip() in ("A", "B"))


def first_wins(model: LanguageModel, conversation: Sequence[Message]) -> tuple[float, float, float]:
    """The chance of the query shown first, the letters' share, and the call's seconds."""
    reply = model.complete(conversation, Sampling(max_tokens=1, top_logprobs=ALTERNATIVES))
    (completion,) = reply.completions
    return probabilities(completion, "AB")[0], mass(completion), reply.cost.seconds


def pairs(one: Sampled, most: int) -> list[tuple[Candidate, Candidate]]:
    """The largest right group against the largest wrong ones."""
    best = [one.candidates[choose_in(one.candidates, group) or 0] for group in groups(one.candidates)]
    right = [candidate for candidate in best if one.right(candidate.sql)]
    wrong = [candidate for candidate in best if candidate not in right]
    return [(right[0], other) for other in wrong[:most]] if right else []


def decided(one: Sampled, choice: Choice) -> list[tuple[float, float]]:
    """The chances of the right query in comparisons of a right and a wrong group: shown first, and second."""
    found = []
    for pair in choice.comparisons:
        first, second = (one.right(one.candidates[choose_in(one.candidates, group) or 0].sql)
                         for group in (pair.first, pair.second))  # fmt: skip
        if first != second:
            shown_first, shown_second = pair.first_shown_first, pair.first_shown_second
            found.append((shown_first, shown_second) if first else (1 - shown_second, 1 - shown_first))
    return found


def main() -> None:
    """Print the pairs and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=25, help="questions sampled")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=2, help="pairs of one question at most")
    parser.add_argument("--judge", help="another model than the one that wrote the queries")
    parser.add_argument("--forms", default=",".join(FORMS), help="forms of the prompt, with commas; empty for none")
    parser.add_argument("--selectors", default="", help="selectors, with commas")
    parser.add_argument("--groups", type=int, default=4)
    options = parser.parse_args()
    model = open_model(None)
    judge = open_model(options.judge) if options.judge else model
    forms = {name: FORMS[name] for name in filter(None, options.forms.split(","))}
    selected: dict[str, list[bool]] = {name: [] for name in filter(None, options.selectors.split(","))}
    compared_by: dict[str, list[tuple[float, float]]] = {name: [] for name in selected}
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in forms}
    for entry in chosen(options.data, options.limit, options.seed):
        with sampled(options.data, entry, model, options.samples, options.seed) as one:
            compared = pairs(one, options.pairs)
            for right, wrong in compared:
                for name, form in forms.items():
                    before, letters, seconds = first_wins(judge, form(one.task, right, wrong))
                    after, more, again = first_wins(judge, form(one.task, wrong, right))
                    found[name].append((before, 1 - after, (letters + more) / 2, (seconds + again) / 2))
                said = " ".join(f"{name} {rows[-1][0]:.2f} {rows[-1][1]:.2f}" for name, rows in found.items())
                print(entry["db_id"], said, flush=True)
            for name, rights in selected.items() if compared else ():
                choice = SELECTORS[name](options.groups)(one.candidates, one.task, replace(one.context, model=judge))
                rights.append(choice.index is not None and one.right(one.candidates[choice.index].sql))
                compared_by[name] += decided(one, choice)
                scores = " ".join(f"{score:.2f}" for score in choice.scores)
                print(entry["db_id"], name, "right" if rights[-1] else "wrong", scores, flush=True)
    report(found)
    for name, rights in selected.items():
        print(f"{name}: right on {sum(rights)} of {len(rights)} questions that have right and wrong groups")
        if compared_by[name]:
            print(f"{name}: {preferences(compared_by[name])}")


def report(found: dict[str, list[tuple[float, float, float, float]]]) -> None:
    """A line for each form of the prompt."""
    for name, rows in found.items():
        letters, seconds = (mean(row[at] for row in rows) for at in (2, 3))
        said = preferences([(first, second) for first, second, *_ in rows])
        print(f"{name}: {said}; letters {letters:.2f}; {seconds:.1f} s a call")


def preferences(rows: Sequence[tuple[float, float]]) -> str:
    """Of the chances given to the right query, when shown first and when second: how often it is preferred."""
    both = mean((first + second) / 2 > 0.5 for first, second in rows)
    orders = [mean(row[at] > 0.5 for row in rows) for at in (0, 1)]
    place = mean((first + 1 - second) / 2 for first, second in rows)
    return (
        f"{len(rows)} pairs; right over both orders {both:.0%}, shown first {orders[0]:.0%}, second {orders[1]:.0%}; "
        f"chance of the first place {place:.2f}"
    )


if __name__ == "__main__":
    main()
