"""Figures from stored runs: what their candidates hold, and what choosing makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sqljury.bench.stored import FIXED, Asked, StoredRun, sources
from sqljury.errors import InputError
from sqljury.evaluation.report import Share, share_of
from sqljury.experiments.ablation import ablation
from sqljury.experiments.bounds import bounds, overlap, row
from sqljury.experiments.mistakes import mistakes
from sqljury.experiments.papers.inputs import Inputs, share, stored_runs
from sqljury.experiments.papers.registry import Figure, Grid, Row
from sqljury.metrics.hardness import levels_of

SELECTORS: Final = {
    "first that runs": "first that runs",
    "random, expected": "random",
    "consistency (votes)": "self-consistency",
    "oracle (best choice)": "upper bound",
    "adversary (worst choice)": "worst choice",
}
"""The rows of ``ablation`` that choose, with their names in tables; stored choices keep theirs."""

Runs = Sequence[tuple[str, StoredRun]]
"""Runs with their labels."""

_FIRST: Final = re.compile(r"-first(\d+)")


def chosen(inputs: Inputs) -> Grid:
    """One query drawn at random, votes and the best choice of each run (CHASE-SQL, Table 1)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {"Single query": {}, "Self-consistency": {}, "Upper bound": {}}
    for label, run in runs:
        everything = row(sources(run)["all"][0], run.questions)
        rows["Single query"][label] = share(everything["ex"]["fixed"])
        voted = share_of(question.right(question.voted(question.candidates)) for question in run.questions)
        rows["Self-consistency"][label] = _figure(voted)
        rows["Upper bound"][label] = share(everything["upper"])
    columns = _columns(rows)
    heads = ("EX",) if len(columns) == 1 else columns
    return Grid(heads, _table(rows, columns), _described(runs))


def selectors(inputs: Inputs) -> Grid:
    """Every way to choose among all candidates of a run, and those of each part of its recipe.

    MSc-SQL, Table 5, and CHASE-SQL, Table 6. A part counts where ``bench select --part`` chose among it, or without a
    model.
    """
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        for name, part in _parts(run):
            column = name if len(inputs.runs) == 1 else f"{label}: {name}"
            rows.setdefault("lower bound (all right)", {})[column] = _all_right(part)
            for method in ablation(part, ())["methods"]:
                if method["section"] == "selectors" and method["total"]:
                    way = _covered(SELECTORS.get(method["label"], method["label"]), method, part)
                    if not (way.startswith("the run's answer") and part.left_out):
                        rows.setdefault(way, {})[column] = share(method)
    columns = _columns(rows)
    return Grid(columns, _table(rows, columns), _described(runs))


def judges(inputs: Inputs) -> Grid:
    """How often judges of pairs prefer the right query (CHASE-SQL, Table 5)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, Row] = {}
    notes = []
    for label, run in runs:
        for judge, figures in ablation(run, ())["judges"].items():
            name = judge.replace("stored: ", "")
            rows[name if len(inputs.runs) == 1 else f"{label}: {name}"] = (share(figures["ex"]),)
            notes.append(
                f"{name}: {figures['decided']} pairs of which one is right, {figures['flips']['percent']:g} % "
                "of all pairs turn with the order"
            )
    if not rows:
        raise InputError(
            "none of the runs has compared pairs; choose with `sqljury bench select RUN_DIR --selector "
            "light`, or critic or tournament, first"
        )
    return Grid(("Binary Acc. (%)",), rows, (*_described(runs), *notes))


def without_parts(inputs: Inputs) -> Grid:
    """Votes without a generator or a repair, and other ways to choose (CHASE-SQL, Table 7)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        for method in ablation(run, ())["methods"]:
            if method["section"] == "selectors" and method["label"] in SELECTORS:
                name = SELECTORS[method["label"]]
            elif method["section"] in ("votes without", "selectors") and method["total"]:
                name = _covered(f"{method['section']} {method['label']}".removeprefix("selectors "), method, run)
            else:
                continue
            rows.setdefault(name, {})[label] = share(method)
    columns = _columns(rows)
    return Grid(("EX",) if len(columns) == 1 else columns, _table(rows, columns), _described(runs))


def generators(inputs: Inputs) -> Grid:
    """One candidate of each part of a recipe: as written, repaired by program, with the fixer (CHASE-SQL, Table 4)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, Row] = {}
    for label, run in runs:
        for source in bounds(run)["rows"]:
            if source["kind"] != "generators":
                name = source["source"] if len(inputs.runs) == 1 else f"{label}: {source['source']}"
                rows[name] = tuple(share(source["ex"][key]) for key in ("written", "repaired", "fixed"))
    return Grid(("as written", "repaired without the model", "with the fixer"), rows, _described(runs))


def samples(inputs: Inputs) -> Grid:
    """By the number of first candidates: one right, votes, and what stored selectors made of them.

    MSc-SQL, Tables 2 and 3 and Figure 3; CHASE-SQL, Figure 2.
    """
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        prefix = "" if len(inputs.runs) == 1 else f"{label}: "
        curve = bounds(run)["curves"]["all"]
        for step in curve:
            cells = rows.setdefault(str(step["candidates"]), {})
            for key, name in (("upper", "one right"), ("lower", "all right"), ("votes", "votes")):
                cells[prefix + name] = share(step[f"{key}_in_order"])
        for method in ablation(run, ())["methods"]:
            if method["label"].startswith("stored: ") and method["total"]:
                name = method["label"].removeprefix("stored: ")
                first = _FIRST.search(name)
                count = first[1] if first else str(len(curve))
                rows.setdefault(count, {})[prefix + _covered(_FIRST.sub("", name), method, run)] = share(method)
    columns = _columns(rows)
    return Grid(columns, _table(dict(sorted(rows.items(), key=lambda item: int(item[0]))), columns), _described(runs))


def by_hardness(inputs: Inputs) -> Grid:
    """EX of each run's answers by hardness (MSc-SQL, Table 4)."""
    runs = list(stored_runs(inputs))
    levels: dict[str, Callable[[Asked], bool]] = {
        level: lambda question, level=level: question.hardness == level  # type: ignore[misc]
        for level in levels_of(question.hardness for _, run in runs for question in run.questions)
    }
    levels["all"] = lambda _: True
    rows = {label: _right_shares(run, levels) for label, run in runs}
    return Grid(tuple(levels), rows, _described(runs))


def by_database(inputs: Inputs) -> Grid:
    """By database: some candidate is right, and the answer is (CHASE-SQL, Figures 4 and 6)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        prefix = "" if len(inputs.runs) == 1 else f"{label}: "
        for db_id in sorted({question.db_id for question in run.questions}):
            of = [question for question in run.questions if question.db_id == db_id]
            cells = rows.setdefault(db_id, {})
            cells[f"{prefix}questions"] = Figure(len(of))
            cells[f"{prefix}a right candidate"] = _figure(share_of(map(_some_right, of)))
            cells[f"{prefix}right answer"] = _figure(share_of(question.right(question.sql) for question in of))
    columns = _columns(rows)
    return Grid(columns, _table(rows, columns), _described(runs))


def solved_by(inputs: Inputs) -> Grid:
    """Questions by the generators that solve them and no other does (CHASE-SQL, Figure 3)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        counts = overlap(run)
        for region in counts["regions"]:
            rows.setdefault(" + ".join(region["generators"]), {})[label] = Figure(region["questions"])
        rows.setdefault("none", {})[label] = Figure(counts["none"])
    columns = _columns(rows)
    heads = ("questions",) if len(columns) == 1 else columns
    return Grid(heads, _table(rows, columns), _described(runs))


def outcomes(inputs: Inputs) -> Grid:
    """Right answers, right candidates that were not chosen, and no right candidate (CHASE-SQL, Figure 5)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, Row] = {}
    for label, run in runs:
        right = [question.right(question.sql) for question in run.questions]
        some_right = list(map(_some_right, run.questions))
        both = list(zip(right, some_right, strict=True))
        shares = (right, [some and not answer for answer, some in both], [not any(pair) for pair in both])
        rows[label] = tuple(_figure(share_of(column)) for column in shares)
    return Grid(("right", "right candidate not chosen", "no right candidate"), rows, _described(runs))


def error_kinds(inputs: Inputs) -> Grid:
    """The wrong answers by what their text has otherwise than gold's, in percent (CHASE-SQL, Figure 12)."""
    runs = list(stored_runs(inputs))
    rows: dict[str, dict[str, Figure]] = {}
    for label, run in runs:
        wrong_answers = mistakes(run)
        for kind in wrong_answers["queries"]:
            rows.setdefault(kind["label"], {})[label] = _figure(Share(len(kind["ids"]), wrong_answers["wrong"]))
    columns = _columns(rows)
    heads = ("% of wrong answers",) if len(columns) == 1 else columns
    return Grid(heads, _table(rows, columns), _described(runs))


def _parts(run: StoredRun) -> Iterator[tuple[str, StoredRun]]:
    """The run, then each part of its recipe alone, on the questions that it was asked for."""
    yield "all", run
    for index, part in enumerate(run.recipe.generate):
        if len(run.recipe.generate) > 1:
            name = f"{part.generator} {index + 1}, T = {part.temperature:g}"
            alone = run.only({index})
            asked = tuple(question for question in alone.questions if question.candidates)
            yield name, replace(alone, questions=asked)


def _covered(label: str, method: Mapping[str, Any], run: StoredRun) -> str:
    """The label of a way to choose, with the number of its questions where choosing was broken off."""
    total = method["total"]
    part = "" if total == len(run.questions) else f" ({total} of {len(run.questions)} questions)"
    return label.removeprefix("stored: ") + part


def _described(runs: Runs) -> tuple[str, ...]:
    notes = []
    for label, run in runs:
        about = run.described["dataset"]
        name = " ".join(str(about[key]) for key in ("name", "split") if about.get(key))
        notes.append(
            f"{label}: {len(run.questions)} questions of {name or 'its dataset'}, seed {run.described['seed']}"
        )
    return tuple(notes)


def _all_right(run: StoredRun) -> Figure:
    """The share of questions with candidates that are all right."""
    counts = [
        [question.right(candidate.queries[FIXED]) for candidate in question.candidates] for question in run.questions
    ]
    return _figure(share_of(bool(right) and all(right) for right in counts))


def _some_right(question: Asked) -> bool:
    return any(map(question.right, _queries(question)))


def _queries(question: Asked) -> list[str]:
    """The candidates' queries after all repairs."""
    return [candidate.queries[FIXED] for candidate in question.candidates]


def _right_shares(run: StoredRun, levels: Mapping[str, Callable[[Asked], bool]]) -> Row:
    listed = [[question.right(question.sql) for question in run.questions if of(question)] for of in levels.values()]
    return tuple(_figure(share_of(right)) if right else None for right in listed)


def _figure(of: Share) -> Figure:
    return share(of.figures())


def _columns(rows: Mapping[str, Mapping[str, Figure]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for cells in rows.values() for column in cells))


def _table(rows: Mapping[str, Mapping[str, Figure]], columns: Sequence[str]) -> dict[str, Row]:
    return {label: tuple(cells.get(column) for column in columns) for label, cells in rows.items()}
