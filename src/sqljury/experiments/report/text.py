"""A report as Markdown: the figures as tables, and for two runs the questions that changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sqljury.experiments.report.figures import COST_HEAD, SPREAD_HEAD, cost_rows, method_name, spread_rows
from sqljury.experiments.report.questions import visible

BEGINS: Final = "<!-- sqljury report -->\n"
"""The first line of every report, by which an earlier one is known."""

_LISTED: Final = 100
_POINTS: Final = 21
_SLICES: Final = {"hardness": "hardness", "joins": "joins in gold", "clause": "clause of gold", "database": "database"}


def markdown(found: Mapping[str, Any]) -> str:
    """The text for what ``report`` found."""
    parts = [BEGINS + "# Report on runs", *_table(("run", "right, %", "95 % interval", "questions"), _summary(found))]
    texts = {question["id"]: question["text"] for question in found["questions"]}
    for run, comparison in zip(found["runs"][1:], found["compared"], strict=True):
        parts += _changed(found["runs"][0]["label"], run["label"], comparison, texts)
    for run in found["runs"]:
        parts += _run(run)
    return "\n".join(parts) + "\n"


def _summary(report: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    for run in report["runs"]:
        yield run["label"], *_share(run["accuracy"])


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"## {_cell(run['label'])}", "")
    yield f"Recipe {_cell(run['recipe'])}, model {_cell(run['model'])}, folder {_cell(run['folder'])}."
    if run["faults"]:
        yield f"{len(run['faults'])} questions cannot be judged and are left out."
    yield from _table(
        ("step", "right, %", "95 % interval", "of"), ((step["label"], *_share(step)) for step in run["steps"])
    )
    for by, title in _SLICES.items():
        rows = ((row["name"], *_share(row)) for row in run["slices"][by])
        yield from _table((title, "right, %", "95 % interval", "of"), rows)
    wrong = ((kind["label"], kind["questions"], kind["had_right"]) for kind in run["wrong"])
    yield from _table(("wrong answers", "questions", "a candidate was right"), wrong)
    methods = (
        (method_name(method), *_share(method), f"{method['difference']:+.1f}") for method in run["selectors"]["methods"]
    )
    yield from _table(("way to choose", "right, %", "95 % interval", "of", "points over votes"), methods)
    regions = ((" + ".join(region["solved_by"]) or "none", region["questions"]) for region in run["overlap"]["regions"])
    yield from _table(("solved by exactly", "questions"), regions)
    if run["risk"] is not None:
        points = ((f"{x:.1f}", f"{y:.1f}", f"{sure:.3f}") for x, y, sure in _some(run["risk"]["points"]))
        yield from _table(("answered, %", "wrong, %", "least confidence"), points)
        yield f"Mean share wrong over all coverages {run['risk']['area']:.1f} %, in random order "
        yield f"{run['risk']['area_random']:.1f} %; expected calibration error {run['risk']['error']:.1f} points."
    yield from _table(("cost", *COST_HEAD), cost_rows(run["cost"]))
    yield from _table(SPREAD_HEAD, spread_rows(run["cost"]))


def _changed(first: str, second: str, compared: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"## {_cell(second)} against {_cell(first)}", "")
    yield f"{compared['second']:.1f} against {compared['first']:.1f} % on {compared['questions']} questions:"
    yield f"{compared['difference']:+.2f} points, 95 % interval {compared['low']:+.2f} to {compared['high']:+.2f};"
    yield f"{len(compared['won'])} won, {len(compared['lost'])} lost,"
    yield f"McNemar p = {compared['p']:.3g}."
    for name in ("won", "lost"):
        yield from _table((name, "question"), ((id_, texts[id_]) for id_ in compared[name][:_LISTED]))
        if len(compared[name]) > _LISTED:
            yield f"and {len(compared[name]) - _LISTED} more; JSON has all."


def _some(points: Sequence[Any]) -> Sequence[Any]:
    """A curve's points, or so many of them, at even distances, that a reader sees its course; JSON has all."""
    if len(points) <= _POINTS:
        return points
    return [points[round(index * (len(points) - 1) / (_POINTS - 1))] for index in range(_POINTS)]


def _share(figures: Mapping[str, Any]) -> tuple[str, str, int]:
    return f"{figures['percent']:.1f}", f"{figures['low']:.1f} - {figures['high']:.1f}", figures["total"]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    listed = list(rows)
    if listed:
        yield ""
        yield f"| {' | '.join(head)} |"
        yield f"|---|{'---:|' * (len(head) - 1)}"
        yield from (f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in listed)
        yield ""


def _cell(text: str) -> str:
    """Text that neither ends its cell nor is read as markup."""
    shown = visible(text)
    for mark in "\\`*_[]<>|":
        shown = shown.replace(mark, f"\\{mark}")
    return shown
