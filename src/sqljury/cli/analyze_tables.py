"""What the terminal shows of the analyses of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.text import Text

from sqljury.cli import terminal
from sqljury.cli.eval_tables import left_out

if TYPE_CHECKING:
    from sqljury.bench.stored import StoredRun

SHOWN_IDS: Final = 4
_KEYS: Final = {"written": "as written", "repaired": "no model", "fixed": "fixer"}


def heading(run: StoredRun) -> Iterator[RenderableType]:
    """What was run, and the questions that are left out."""
    dataset = run.described["dataset"]
    yield terminal.clean(
        f"{dataset.get('name', 'dataset')} {dataset.get('split', '')}, {len(run.questions)} questions, "
        f"recipe {run.described['recipe']['name']}, model {run.described['model']}, seed {run.described['seed']}"
    )
    if run.left_out:
        numbers = [str(index + 1) for index in range(len(run.recipe.generate)) if index not in run.left_out]
        yield f"the parts {', '.join(numbers)} of the recipe alone, answers by votes"
    yield from left_out(run.faults, len(run.questions))


def _bounds(figures: dict[str, Any]) -> Iterator[RenderableType]:
    runs = [f"{'runs, %' if not at else ''}\n{title}" for at, title in enumerate(_KEYS.values())]
    right = [f"{'right, %' if not at else ''}\n{title}" for at, title in enumerate(_KEYS.values())]
    table = terminal.figures(
        "\none candidate",
        "\nquestions",
        "\ncandidates",
        *runs,
        *right,
        "\n95 % interval",
        "at least one\nright",
        "\nall",
    )
    for row in figures["rows"]:
        if row["kind"] == "generators" and sum(source["kind"] == "generators" for source in figures["rows"]) < 2:
            continue
        ex = row["ex"]["fixed"]
        table.add_row(
            _words(row["source"]),
            str(row["questions"]),
            str(row["candidates"]),
            *(_percent(row["runs"][key]) for key in _KEYS),
            *(_percent(row["ex"][key]) for key in _KEYS),
            f"{ex['low']:.1f} - {ex['high']:.1f}",
            _percent(row["upper"]),
            _percent(row["lower"]),
        )
    yield from ("", table, "")
    several = {
        label: curve for label, curve in figures["curves"].items() if label == "all" or len(figures["curves"]) > 2
    }
    yield from _curves("of k candidates", several)
    yield from _curves("upper bound by hardness", figures["hardness"], ("upper",))


def _curves(title: str, curves: dict[str, Any], keys: tuple[str, ...] = ("upper", "lower")) -> Iterator[RenderableType]:
    """A row for each number of candidates; in the recipe's order for all together only."""
    names = {"upper": "upper", "lower": "lower", "upper_in_order": "in order: upper", "lower_in_order": "lower"}
    names["votes_in_order"] = "votes"
    shown = {label: tuple(names) if label == "all" else keys for label in curves}
    heads = [
        f"{terminal.clean(label) if not at else ''}\n{names[key]}"
        for label, columns in shown.items()
        for at, key in enumerate(columns)
    ]
    table = terminal.figures(f"{title}\nk", *heads)
    for k in range(max((len(curve) for curve in curves.values()), default=0)):
        cells = [
            f"{curves[label][k][key]['percent']:.1f}" if k < len(curves[label]) else ""
            for label, columns in shown.items()
            for key in columns
        ]
        table.add_row(str(k + 1), *cells)
    yield from (table, "")


def _overlap(figures: dict[str, Any]) -> Iterator[RenderableType]:
    levels = list(figures["generators"][0]["unique_by_hardness"]) if figures["generators"] else []
    heads = [f"{'only by this' if not at else ''}\n{level}" for at, level in enumerate(("all", *levels))]
    table = terminal.figures("\ngenerator", "\nasked", "\ncandidates", "\nsolved", *heads)
    for row in figures["generators"]:
        counts = (row["asked"], row["candidates"], row["solved"], row["unique"], *row["unique_by_hardness"].values())
        table.add_row(_words(row["generator"]), *map(str, counts))
    yield from ("", table, "")
    table = terminal.figures("solved by exactly", "questions")
    for region in figures["regions"]:
        if region["questions"]:
            table.add_row(_words(" + ".join(region["generators"])), str(region["questions"]))
    table.add_row("none of them", str(figures["none"]))
    table.add_row("(all questions)", str(figures["questions"]))
    yield from (table, "")
    if figures["pairs"]:
        table = terminal.figures("first / second", "both", "only first", "only second", "neither")
        for pair in figures["pairs"]:
            counts = (pair["both"], pair["first_only"], pair["second_only"], pair["neither"])
            table.add_row(_words(f"{pair['first']} / {pair['second']}"), *map(str, counts))
        yield from (table, "")


def _ablation(figures: dict[str, Any]) -> Iterator[RenderableType]:
    heads = (
        "right, %",
        "95 % interval",
        "of",
        "EM, %",
        "% of bound",
        "against votes",
        "95 % interval",
        "won",
        "lost",
        "p",
    )
    table = terminal.figures("method", *heads)
    section = ""
    for method in figures["methods"]:
        if method["section"] != section:
            section = method["section"]
            table.add_row(Text(section, style="bold"))
        low, high = method["interval"]
        table.add_row(
            _words(f"  {method['label']}"),
            _percent(method),
            f"{method['low']:.1f} - {method['high']:.1f}",
            str(method["total"]),
            "" if method["em"] is None else _percent(method["em"]),
            "" if method["of_bound"] is None else f"{method['of_bound']:.1f}",
            f"{method['difference']:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            str(method["won"]),
            str(method["lost"]),
            f"{method['p']:.3g}",
        )
    yield from ("", table, "")
    yield from _stops([method for method in figures["methods"] if "candidates" in method])
    yield from _judges(figures["judges"])
    yield from _costs(figures)


def _stops(methods: list[dict[str, Any]]) -> Iterator[RenderableType]:
    table = terminal.figures("stopping early, a question", "right, %", "candidates", "tokens", "seconds")
    for method in methods:
        counts = (f"{method['candidates']:.1f}", f"{method['tokens']:,.0f}", f"{method['seconds']:.1f}")
        table.add_row(_words(method["label"]), _percent(method), *counts)
    if methods:
        yield from (table, "")


def _judges(judges: dict[str, Any]) -> Iterator[RenderableType]:
    heads = ("pairs", "one right", "prefers it, %", "95 % interval", "shown first", "second", "turns, %", "first place")
    table = terminal.figures("judge of pairs", *heads)
    for label, judge in judges.items():
        ex = judge["ex"]
        table.add_row(
            _words(label),
            str(judge["pairs"]),
            str(judge["decided"]),
            _percent(ex),
            f"{ex['low']:.1f} - {ex['high']:.1f}",
            _percent(judge["shown_first"]),
            _percent(judge["shown_second"]),
            _percent(judge["flips"]),
            f"{judge['first_place']:.3f}",
        )
    if judges:
        yield from (table, "")


def _costs(figures: dict[str, Any]) -> Iterator[RenderableType]:
    table = terminal.figures("a question", "calls", "read", "of it known", "written", "seconds")
    choosing = {f"stored: {label}": cost for label, cost in figures["choosing"].items()}
    for label, cost in {**figures["steps"], **choosing}.items():
        counts = (f"{cost['read']:,.0f}", f"{cost['cached']:,.0f}", f"{cost['written']:,.1f}", f"{cost['seconds']:.2f}")
        table.add_row(_words(label), f"{cost['calls']:.2f}", *counts)
    yield from (table, "")


def _errors(figures: dict[str, Any]) -> Iterator[RenderableType]:
    titles = {"candidates": "the candidates", "results": "what it returns", "queries": "beside gold's text"}
    table = terminal.figures(f"{figures['wrong']} of {figures['questions']} answers wrong", "answers", "%", "such as")
    for view, title in titles.items():
        table.add_row(Text(title, style="bold"))
        for kind in figures[view]:
            count = len(kind["ids"])
            cells = (str(count), f"{100 * count / figures['wrong']:.1f}", _words(", ".join(kind["ids"][:SHOWN_IDS])))
            table.add_row(_words(f"  {kind['label']}"), *cells)
    yield from ("", table, "")
    table = terminal.figures("of questions", "wrong", "of", "%")
    for label, share in {**figures["hardness"], **figures["databases"]}.items():
        if share["right"]:
            table.add_row(_words(label), str(share["right"]), str(share["total"]), _percent(share))
    if figures["wrong"]:
        yield from (table, "")
    if figures["refined"]:
        table = terminal.figures("error types, refined", "before", "after", "corrected", "misled")
        for row in figures["refined"]:
            counts = (row["before"], row["after"], len(row["corrected"]), len(row["misled"]))
            table.add_row(_words(row["label"]), *map(str, counts))
        yield from (table, "")


def _words(text: str) -> Text:
    """Content, which is no markup and steers nothing."""
    return Text(terminal.clean(text))


def _percent(share: dict[str, Any]) -> str:
    return f"{share['percent']:.1f}" if share["total"] else "-"


TABLES: Final[dict[str, Callable[[dict[str, Any]], Iterator[RenderableType]]]] = {
    "bounds": _bounds,
    "overlap": _overlap,
    "ablation": _ablation,
    "errors": _errors,
}
"""By the name of an analysis, what is shown of its figures."""
