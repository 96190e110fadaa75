"""An evaluation as one HTML file that needs nothing else: no scripts, nothing from the network, readable on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqljury.evaluation.charts import Html, Spot, element, groups, html, intervals, joined, section, small_bar, table
from sqljury.evaluation.judge import RETURNS_NOTHING, Evaluation
from sqljury.types.serialize import one_line

LISTED: Final = 50
"""Queries in a list at most; JSON has them all."""

_STYLE: Final = """
body { font: 14px/1.45 system-ui, sans-serif; color: #111; max-width: 60em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #bbb; }
h3 { font-size: 1em; margin: 1.4em 0 .3em; } p { max-width: 46em; }
table { border-collapse: collapse; margin: .6em 0; } th { text-align: left; border-bottom: 1px solid #888; }
th, td { padding: .15em .9em .15em 0; vertical-align: top; } .number { text-align: right; white-space: nowrap; }
tbody tr { border-bottom: 1px solid #eee; page-break-inside: avoid; } thead { display: table-header-group; }
code { font: 12px/1.35 ui-monospace, monospace; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; } td svg { vertical-align: baseline; } svg text { font: 12px sans-serif; }
.problem { background: #fff3d6; border-left: 4px solid #b5651d; padding: .4em .8em; }
@page { margin: 15mm; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } h2, h3 { break-after: avoid; } }
"""


def page(evaluation: Evaluation, report: dict[str, Any], title: str, against: str = "") -> str:
    """The whole page; ``report`` is that of ``findings`` with ``provenance``, ``against`` names the other file."""
    body = [
        element("h1", title),
        _gold(report["gold"]),
        _scores(report),
        _comparison(report["against"], report["metrics"], against),
        _agreement(report.get("agreement")),
        _accumulated(report.get("accumulated_rules")),
        *(_slices(by, report) for by in ("clause", "joins", "database")),
        _provenance(report),
        _lists(evaluation, report),
    ]
    head = [
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
        element("title", title),
        element("style", Html(_STYLE)),
    ]
    whole = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _gold(faults: Sequence[dict[str, Any]]) -> Html:
    if not faults:
        return Html("")
    empty = [fault for fault in faults if fault["fault"] == RETURNS_NOTHING]
    failing = [fault for fault in faults if fault["fault"] != RETURNS_NOTHING]
    rows = [(fault["index"], fault["place"], fault["fault"]) for fault in failing[:LISTED]]
    places = ", ".join(str(fault["index"]) for fault in empty)
    return section(
        "Problems of gold",
        element("p", f"{len(failing)} gold queries cannot be judged by; they are left out.", class_="problem")
        if failing
        else "",
        table(("query", "place", "what is wrong"), rows, words=3) if failing else "",
        _cut(len(failing)),
        element("p", f"{len(empty)} gold queries return nothing, as many wrong ones do: {places}.") if empty else "",
    )


def _scores(report: dict[str, Any]) -> Html:
    metrics = report["metrics"].values()
    left = f", {report['left_out']} of them left out" if report["left_out"] else ""
    spots = [Spot(found["title"], found["percent"], found["low"], found["high"]) for found in metrics]
    levels = list(dict.fromkeys(level for found in metrics for level in found["hardness"]))
    rows = []
    for found in metrics:
        own = (found["hardness"].get(level) for level in levels)
        by_level = ["" if level is None else f"{level['percent']:.1f}" for level in own]
        interval = f"{found['low']:.1f} to {found['high']:.1f}"
        rows.append((found["title"], f"{found['percent']:.1f}", interval, found["judged"], *by_level))
        if "interactions" in found:
            whole = found["interactions"]
            rows.append(("  whole dialogues", f"{whole['percent']:.1f}", "", whole["interactions"]))
    series = [
        (found["title"], [found["hardness"].get(level, {}).get("percent") for level in levels]) for found in metrics
    ]
    chart = groups(levels, series, "Percent by hardness") if levels else ""
    return section(
        "Scores",
        element("p", f"{report['queries']} queries{left}; percent, with 95 % intervals from resampling databases."),
        intervals(spots),
        table(("metric", "%", "95 % interval", "of", *levels), rows),
        element("h3", "By hardness of gold") if levels else "",
        chart,
    )


def _comparison(found: dict[str, Any], metrics: dict[str, Any], against: str) -> Html:
    if not found:
        return Html("")
    rows = []
    for name, part in found.items():
        low, high = part["interval"]
        points = (f"{100 * part['difference']:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}")
        counts = (len(part["wins"]), len(part["losses"]), part["ties"])
        both = (f"{100 * part['second']:.1f}", f"{100 * part['first']:.1f}")
        rows.append((metrics[name]["title"], *both, *points, *counts, f"{part['p']:.3g}"))
    titles = ("metric", "%", "other file, %", "points", "95 % interval", "won", "lost", "same", "McNemar p")
    return section("Beside the other file", element("p", f"Compared with {against}."), table(titles, rows))


def _lists(evaluation: Evaluation, report: dict[str, Any]) -> Html:
    """What fills pages, after all that sums it up."""
    metrics, agreement = report["metrics"], report.get("agreement")
    lists = [
        joined((element("h3", f"{metrics[name]['title']}: {word}"), _queries(evaluation, part[kind])))
        for name, part in report["against"].items()
        for kind, word in (("wins", "won"), ("losses", "lost"))
        if part[kind]
    ]
    if agreement is not None:
        errors, truth = agreement["errors"], agreement["errors"][agreement["reference"]]["title"]
        lists += [_refused(found, errors[name]["title"], truth) for name, found in agreement["refused"].items()]
    return section("Queries one by one", *lists) if lists else Html("")


def _queries(evaluation: Evaluation, places: Sequence[int]) -> Html:
    rows = []
    for place in places[:LISTED]:
        pair = evaluation.judged[place].pair
        rows.append((place, pair.gold.db_id, _sql(pair.gold.sql, pair.prediction.sql)))
    return joined((table(("query", "database", "gold, then prediction"), rows, words=3), _cut(len(places))))


def _agreement(found: dict[str, Any] | None) -> Html:
    if found is None:
        return Html("")
    cells = ("both", "first_only", "second_only", "neither")
    confusion = [
        (pair["first"], pair["second"], *(pair[cell] for cell in cells), f"{pair['agreement']:.1f}", _kappa(pair))
        for pair in found["confusion"]
    ]
    truth = found["errors"][found["reference"]]["title"]
    errors = [
        (one["title"], f"{one['false_positives']:.1f}", f"{one['false_negatives']:.1f}")
        for name, one in found["errors"].items()
        if name != found["reference"]
    ]
    titles = ("first", "second", "both accept", "only first", "only second", "neither", "same, %", "kappa")
    return section(
        "Agreement of metrics",
        table(titles, confusion, words=2),
        element("h3", f"Errors against {truth}, in percent of all queries"),
        table(("metric", "false positives", "false negatives"), errors),
    )


def _kappa(pair: dict[str, Any]) -> str:
    return "" if pair["kappa"] is None else f"{pair['kappa']:.3f}"


def _refused(found: dict[str, Any], title: str, truth: str) -> Html:
    pairs = found["pairs"]
    clauses = ", ".join(f"{clause} {count}" for clause, count in found["clauses"].items())
    rows = [
        (pair["index"], pair["database"], pair["reason"], _sql(pair["gold"], pair["predicted"]))
        for pair in pairs[:LISTED]
    ]
    return joined(
        (
            element("h3", f"Accepted by {truth}, refused by {title}: {len(pairs)}"),
            element("p", clauses),
            table(("query", "database", "why", "gold, then prediction"), rows, words=4),
            _cut(len(pairs)),
        )
    )


def _accumulated(found: dict[str, Any] | None) -> Html:
    if found is None:
        return Html("")
    steps = found["steps"]
    title = "False negatives in percent as the rules of ESM+ are switched on"
    numbered = [step for step in steps if step["label"].isdigit()]
    chart = groups([step["label"] for step in numbered], [("", [step["percent"] for step in numbered])], title)
    rows = [(step["label"], step["rule"], step["missed"], f"{step['percent']:.2f}") for step in steps]
    return section(
        title,
        element("p", f"Of {found['queries']} queries, {found['accepted']} of them right by {found['title']}."),
        chart,
        table(("rules from 1 to", "the last rule", "missed", "%"), rows, words=2),
    )


def _slices(by: str, report: dict[str, Any]) -> Html:
    metrics, slices = report["metrics"], report["slices"]
    keys = list(dict.fromkeys(key for name in metrics for key in slices[name][by]))
    rows = []
    for key in keys:
        own = [slices[name][by].get(key) for name in metrics]
        queries = max(part["queries"] for part in own if part is not None)
        rows.append((key, queries, *(_share(part) for part in own)))
    titles = {"clause": "By clause of gold", "joins": "By joins in gold", "database": "By database"}
    return section(titles[by], table((by, "queries", *(found["title"] for found in metrics.values())), rows))


def _share(part: dict[str, Any] | None) -> Html:
    return html("") if part is None else joined((small_bar(part["mean"]), f" {100 * part['mean']:.1f}"))


def _provenance(report: dict[str, Any]) -> Html:
    sources = report["provenance"]
    files = [(file, element("code", digest)) for file, digest in sources["files"].items()]
    databases = [(name, element("code", digest)) for name, digest in sources["databases"].items()]
    versions = f"sqljury {sources['sqljury']}, Python {sources['python']}, SQLite {sources['sqlite']}"
    settings = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in report["settings"].items())
    return section(
        "What the figures rest on",
        element("p", f"{versions}. Judged in {report['seconds']} s. Settings: {settings}."),
        table(("file", "SHA-256"), files, words=2),
        table(("database", "SHA-256"), [*databases, ("all", element("code", sources["all_databases"]))], words=2),
    )


def _sql(*queries: str) -> Html:
    return joined(element("div", element("code", one_line(query) or "(none)")) for query in queries)


def _cut(total: int) -> Html:
    return element("p", f"The first {LISTED} of {total}; --output json has all.") if total > LISTED else Html("")
