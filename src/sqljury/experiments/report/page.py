"""A report as one HTML file that needs nothing else: figures as tables and SVG, every question behind filters.

What comes from databases and models reaches the page in two ways only: escaped in the tables, and as JSON that the
page's script puts into text nodes. A content security policy allows that script and that style sheet, by their hashes,
and nothing else: no requests, no other scripts, no forms.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, Final

from sqljury.evaluation import svg
from sqljury.evaluation.risk import reliability_chart, risk_chart
from sqljury.evaluation.verdicts import DEVIATIONS
from sqljury.experiments.report.figures import COST_HEAD, SPREAD_HEAD, cost_rows, method_name, spread_rows

BEGINS: Final = '<!doctype html>\n<meta name="generator" content="sqljury report">'
"""The first lines of every report, by which an earlier one is known."""

_SLICES: Final = {"hardness": "Hardness", "joins": "Joins in gold", "clause": "Clauses of gold"}
_HISTOGRAMS: Final = {
    "seconds": ("Seconds a question", "seconds"),
    "computed_tokens": ("Tokens computed a question", "tokens"),
    "usd": ("US dollars a question", "US dollars"),
}
_CURVES: Final = {"upper_in_order": "at least one right", "votes_in_order": "votes", "lower_in_order": "all right"}


def html(found: Mapping[str, Any]) -> str:
    """The page for what ``report`` found."""
    script = _asset("page.js")
    parts = [
        '<a class="skip" href="#questions">Skip to the questions</a>',
        *_head(found),
        "<main>",
        *_comparison(found),
        *_section("accuracy", "Accuracy", found, _accuracy),
        *_section("choosing", "Choosing", found, _choosing),
        *_section("generators", "Who solves what", found, _generators),
        *_section("risk", "Confidence", found, _risk),
        *_section("cost", "Cost and time", found, _cost),
        _QUESTIONS,
        "</main>",
        f'<script type="application/json" id="data">{embedded(_data(found))}</script>',
        f"<script>{script}</script>",
    ]
    return document(f"sqljury: {', '.join(run['label'] for run in found['runs'])}", parts, script)


def document(title: str, parts: Iterable[str], script: str = "", begins: str = BEGINS) -> str:
    """A whole page of these parts, which may hold the ``script`` and no other."""
    style = _asset("page.css")
    allowed = f"script-src '{_digest(script)}'; " if script else ""
    policy = f"default-src 'none'; {allowed}style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'"
    head = [
        begins,
        f'<html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title><style>{style}</style>',
    ]
    return "\n".join([*head, *parts, "</html>\n"])


def embedded(value: Any) -> str:
    """JSON that can stand in a page's script element: in ASCII, without ``<``, ``>`` and ``&``."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "runs": [run["label"] for run in report["runs"]],
        "changed": [{"won": comparison["won"], "lost": comparison["lost"]} for comparison in report["compared"]],
        "deviations": DEVIATIONS,
        "questions": report["questions"],
    }


def _head(report: Mapping[str, Any]) -> Iterator[str]:
    first = report["runs"][0]
    dataset = " ".join(str(first["dataset"].get(key, "")) for key in ("name", "split"))
    links = {"accuracy": "Accuracy", "choosing": "Choosing", "generators": "Generators", "risk": "Confidence"}
    links |= {"cost": "Cost", "questions": "Questions"}
    links = ({"comparison": "Comparison"} if report["compared"] else {}) | links
    yield f'<header><h1>{escape(dataset.strip() or "report")}</h1><nav aria-label="Sections">'
    yield "".join(f'<a href="#{name}">{label}</a>' for name, label in links.items())
    yield '</nav></header><div class="cards">'
    yield from map(_card, report["runs"])
    yield "</div>"


def _card(run: Mapping[str, Any]) -> str:
    share, seconds = run["accuracy"], run["cost"]["spread"]["seconds"]
    dollars = f" · {run['cost']['spent']['usd']:,.2f} US dollars" if run["cost"]["priced"] else ""
    settings = "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(_said(value))}</dd>" for key, value in _settings(run).items()
    )
    faults = "".join(f"<li>{escape(id_)}: {escape(why)}</li>" for id_, why in run["faults"][:20])
    left_out = (
        f"<details><summary>{len(run['faults'])} questions cannot be judged</summary><ul>{faults}</ul></details>"
        if faults
        else ""
    )
    at_once = f", {run['in_flight']} in flight at once" if run["in_flight"] > 1 else ""
    median = f"median {seconds['p50']:.1f} s a question, 90 % within {seconds['p90']:.1f} s{at_once}{dollars}"
    interval = f"{share['low']:.1f} to {share['high']:.1f} with 95 % confidence"
    return (
        f'<section class="card"><h2>{escape(run["label"])}</h2>'
        f'<p class="figure">{share["percent"]:.1f}<small> % right</small></p>'
        f'<p class="dim">{interval}, {share["right"]:g} of {share["total"]} questions</p>'
        f'<p>{escape(run["recipe"])} · {escape(run["model"])}</p><p class="dim">{median}</p>{left_out}'
        f"<details><summary>Settings</summary><dl>{settings}</dl></details></section>"
    )


def _settings(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "folder": run["folder"],
        **{f"dataset {key}": value for key, value in run["dataset"].items()},
        **run["settings"],
    }


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _section(name: str, title: str, report: Mapping[str, Any], block: Any) -> Iterator[str]:
    """A section with a block for each run, side by side where there is room."""
    yield f'<section id="{name}"><h2>{title}</h2><div class="runs">'
    for run in report["runs"]:
        heading = f"<h3>{escape(run['label'])}</h3>" if len(report["runs"]) > 1 else ""
        yield f'<div class="run">{heading}{"".join(block(run))}</div>'
    yield "</div></section>"


def _comparison(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["compared"]:
        return
    first, *others = report["runs"]
    rows = []
    for run, comparison in zip(others, report["compared"], strict=True):
        points = f"{comparison['difference']:+.2f}", f"{comparison['low']:+.2f} to {comparison['high']:+.2f}"
        counts = f"{len(comparison['won'])}", f"{len(comparison['lost'])}", f"{comparison['p']:.3g}"
        rows.append(
            (
                run["label"],
                comparison["questions"],
                f"{comparison['first']:.1f}",
                f"{comparison['second']:.1f}",
                *points,
                *counts,
            )
        )
    head = ("run", "questions", "first, %", "this, %", "points", "95 % interval", "won", "lost", "p")
    yield f'<section id="comparison"><h2>Against {escape(first["label"])}</h2>{table(head, rows)}'
    yield (
        '<p class="dim">Intervals draw whole databases; p is McNemar\'s exact one. The filter “Answer” of the '
        "questions below lists those that were won and lost.</p></section>"
    )


def _accuracy(run: Mapping[str, Any]) -> Iterator[str]:
    yield _figure("By step", svg.shares([(step["label"], step) for step in run["steps"]], "Accuracy by step"))
    for by, title in _SLICES.items():
        if rows := run["slices"][by]:
            shares = [(f"{row['name']} ({row['total']})", row) for row in rows]
            yield _figure(title, svg.shares(shares, f"Accuracy by {title.lower()}"))
    ordered = sorted(run["slices"]["database"], key=lambda row: (row["right"] - row["total"], row["name"]))
    rows = [
        (row["name"], row["total"], f"{row['total'] - row['right']:g}", f"{row['percent']:.1f}", _interval(row))
        for row in ordered
    ]
    head = ("database", "questions", "wrong", "%", "95 % interval")
    yield f"<details><summary>Databases ({len(rows)}), most wrong answers first</summary>{table(head, rows)}</details>"
    wrong = [(kind["label"], kind["questions"], kind["had_right"]) for kind in run["wrong"]]
    if wrong:
        yield f"<h4>Wrong answers</h4>{table(('what they return', 'questions', 'a candidate was right'), wrong)}"


def _choosing(run: Mapping[str, Any]) -> Iterator[str]:
    rows = []
    for method in run["selectors"]["methods"]:
        matches = "" if method["em"] is None else f"{method['em']['percent']:.1f}"
        bound = "" if method["of_bound"] is None else f"{method['of_bound']:.1f}"
        low, high = method["interval"]
        rows.append(
            (
                method_name(method),
                f"{method['percent']:.1f}",
                _interval(method),
                matches,
                bound,
                f"{method['difference']:+.1f}",
                f"{low:+.1f} to {high:+.1f}",
                method["won"],
                method["lost"],
                f"{method['p']:.3g}",
            )
        )
    head = ("way to choose", "EX, %", "95 % interval", "EM, %", "% of bound", "points over votes", "interval", "won")
    yield table((*head, "lost", "p"), rows)
    bounds = run["bounds"]
    lines = {
        label: [(float(point["candidates"]), point[key]["percent"]) for point in bounds]
        for key, label in _CURVES.items()
    }
    ends = (float(len(bounds)), 100.0)
    yield _figure(
        "The first k candidates", svg.curves(lines, "Bounds by number of candidates", ("candidates", "%"), ends, True)
    )


def _generators(run: Mapping[str, Any]) -> Iterator[str]:
    overlap = run["overlap"]
    head = ("source", "asked", "solves", "%", "95 % interval", "it alone", "candidates")
    rows = [
        (
            source["label"],
            source["total"],
            f"{source['right']:g}",
            f"{source['percent']:.1f}",
            _interval(source),
            source["alone"],
            count,
        )
        for source in overlap["sources"]
        for count in [source["candidates"]]
    ]
    yield table(head, rows)
    names = [source["label"] for source in overlap["sources"]]
    regions = [(_solvers(region["solved_by"], names), region["questions"]) for region in overlap["regions"][:16]]
    yield _figure("Questions that exactly these solve", svg.counts(regions, "Questions by who solves them"))
    if len(names) > 1:
        key = " · ".join(f"{chr(65 + at)}: {name}" for at, name in enumerate(names))
        yield f'<p class="dim">{escape(key)}</p>'
        pairs = [tuple(pair.values()) for pair in overlap["pairs"]]
        every = table(("first", "second", "both", "only first", "only second"), pairs)
        yield f"<details><summary>Every two</summary>{every}</details>"


def _solvers(solved_by: Sequence[str], names: Sequence[str]) -> str:
    if not solved_by:
        return "none"
    if len(names) == 1:
        return names[0]
    return " + ".join(chr(65 + names.index(name)) for name in solved_by)


def _risk(run: Mapping[str, Any]) -> Iterator[str]:
    risk = run["risk"]
    if risk is None:
        yield '<p class="dim">The answers of this run have no confidence.</p>'
        return
    yield _figure("Risk and coverage", risk_chart({"by confidence": risk}))
    yield _figure("Calibration", reliability_chart({"answers": risk}))
    without = f"; questions without an answer or a confidence: {risk['without']}" if risk["without"] else ""
    yield (
        f'<p class="dim">Mean share wrong over all coverages: {risk["area"]:.1f} %; in random order '
        f"{risk['area_random']:.1f} %, in the best {risk['area_best']:.1f} %{without}.</p>"
    )
    yield f'<p class="dim">Expected calibration error: {risk["error"]:.1f} points.</p>'


def _cost(run: Mapping[str, Any]) -> Iterator[str]:
    for figure, (title, unit) in _HISTOGRAMS.items():
        if figure in run["distributions"]:
            yield _figure(title, svg.histogram(run["distributions"][figure], title, unit))
    yield table(("", *COST_HEAD), cost_rows(run["cost"]))
    yield table(SPREAD_HEAD, spread_rows(run["cost"]))
    if missing := run["cost"]["missing"]:
        yield (
            f'<p class="dim">{missing:,} calls of answered questions are not in calls.jsonl; steps, models and '
            "dollars are without them.</p>"
        )


_QUESTIONS: Final = """<section id="questions"><h2>Questions</h2>
<noscript><p>The list of questions needs JavaScript; all figures above do not.</p></noscript>
<form id="filters" autocomplete="off"></form><p id="shown" class="dim" role="status"></p>
<div id="list"></div><button id="more" type="button" hidden>Show more</button></section>"""


def _interval(figures: Mapping[str, Any]) -> str:
    return f"{figures['low']:.1f} – {figures['high']:.1f}"


def _figure(title: str, chart: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{chart}</figure>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose first column is a heading; it scrolls by itself where the page is narrow."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    body = "".join(f'<tr><th scope="row">{escape(str(first))}</th>{_cells(cells)}</tr>' for first, *cells in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cells(cells: Iterable[object]) -> str:
    return "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
