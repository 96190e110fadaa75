"""An evaluation as one HTML file that needs nothing else: no scripts, nothing from the network, readable on paper."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

from sqljury.errors import MissingExtraError
from sqljury.evaluation.charts import Interval, bars, intervals
from sqljury.evaluation.findings import Findings
from sqljury.evaluation.judge import RETURNS_NOTHING, Evaluation
from sqljury.types.serialize import one_line

LISTED: Final = 50
"""Queries in a list at most; JSON has them all."""

_SLICES: Final = {"clause": "By clause of gold", "joins": "By joins in gold", "database": "By database"}


def page(evaluation: Evaluation, findings: Findings, title: str, against: str = "") -> str:
    """The whole page; ``findings`` have their provenance, ``against`` names the other file.

    Raises ``MissingExtraError`` without the extra ``report``.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingExtraError("jinja2", "report") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["one_line"] = one_line
    template = environment.from_string(resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    assert findings.provenance is not None
    sources = findings.provenance
    text = template.render(
        findings=findings,
        title=title,
        against=against,
        listed=LISTED,
        failing=[fault for fault in findings.gold if fault.fault != RETURNS_NOTHING],
        empty=[fault for fault in findings.gold if fault.fault == RETURNS_NOTHING],
        levels=_levels(findings),
        scores=list(_scores(findings)),
        compared=list(_compared(findings)),
        confusion=list(_confusion(findings)),
        errors=list(_errors(findings)),
        steps=list(_steps(findings)),
        slices=[(heading, by, list(_slices(findings, by))) for by, heading in _SLICES.items()],
        settings=_settings(findings),
        databases={**sources.databases, "all": sources.all_databases},
        won_and_lost=list(_won_and_lost(evaluation, findings)),
        refused=list(_refused(findings)),
        charts={name: Markup(svg) for name, svg in _charts(findings).items()},  # noqa: S704
    )
    # Files with errors hold characters that have no bytes in UTF-8.
    return f"{text}\n".encode("utf-8", "replace").decode("utf-8")


def _levels(findings: Findings) -> list[str]:
    return list(dict.fromkeys(level for metric in findings.metrics.values() for level in metric.hardness))


def _charts(findings: Findings) -> dict[str, str]:
    metrics, levels = findings.metrics.values(), _levels(findings)
    charts = {
        "intervals": intervals([Interval(metric.title, metric.percent, metric.low, metric.high) for metric in metrics])
    }
    if levels:
        by_level = {
            metric.title: [metric.hardness[level].percent if level in metric.hardness else None for level in levels]
            for metric in metrics
        }
        charts["hardness"] = bars(levels, by_level)
    if findings.accumulated_rules is not None:
        steps = [step for step in findings.accumulated_rules.steps if step.label.isdigit()]
        charts["rules"] = bars([step.label for step in steps], {"rules": [step.percent for step in steps]})
    return charts


def _scores(findings: Findings) -> Iterator[tuple[object, ...]]:
    levels = _levels(findings)
    for metric in findings.metrics.values():
        by_level = [f"{metric.hardness[level].percent:.1f}" if level in metric.hardness else "" for level in levels]
        interval = f"{metric.low:.1f} to {metric.high:.1f}"
        yield metric.title, f"{metric.percent:.1f}", interval, metric.judged, *by_level
        if metric.interactions is not None:
            yield "  whole dialogues", f"{metric.interactions.percent:.1f}", "", metric.interactions.interactions


def _compared(findings: Findings) -> Iterator[tuple[object, ...]]:
    for part in findings.against.values():
        result, (low, high) = part.comparison, part.comparison.interval
        points = (f"{100 * result.difference:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}")
        counts = (len(result.wins), len(result.losses), result.ties)
        yield part.title, f"{100 * result.second:.1f}", f"{100 * result.first:.1f}", *points, *counts, f"{result.p:.3g}"


def _confusion(findings: Findings) -> Iterator[tuple[object, ...]]:
    for pair in findings.agreement.confusion if findings.agreement else ():
        cells = (pair.both, pair.first_only, pair.second_only, pair.neither)
        kappa = "" if pair.kappa is None else f"{pair.kappa:.3f}"
        yield pair.first, pair.second, *cells, f"{pair.agreement:.1f}", kappa


def _errors(findings: Findings) -> Iterator[tuple[object, ...]]:
    if findings.agreement is not None:
        for name, errors in findings.agreement.errors.items():
            if name != findings.agreement.reference:
                yield errors.title, f"{errors.false_positives:.1f}", f"{errors.false_negatives:.1f}"


def _steps(findings: Findings) -> Iterator[tuple[object, ...]]:
    for step in findings.accumulated_rules.steps if findings.accumulated_rules else ():
        yield step.label, step.rule, step.missed, f"{step.percent:.2f}"


def _slices(findings: Findings, by: str) -> Iterator[tuple[object, ...]]:
    slices = [findings.slices[name][by] for name in findings.metrics]
    for key in dict.fromkeys(key for parts in slices for key in parts):
        queries = max(parts[key].queries for parts in slices if key in parts)
        yield key, queries, [parts.get(key) for parts in slices]


def _settings(findings: Findings) -> str:
    settings: Any = findings.settings
    names = ("plug_values", "seconds_a_query", "disabled_rules", "seed")
    return "; ".join(f"{name.replace('_', ' ')}: {getattr(settings, name)}" for name in names)


def _won_and_lost(evaluation: Evaluation, findings: Findings) -> Iterator[tuple[object, ...]]:
    for part in findings.against.values():
        for word, indices in (("won", part.comparison.wins), ("lost", part.comparison.losses)):
            if indices:
                yield f"{part.title}: {word}", [(index, evaluation.judged[index].pair) for index in indices]


def _refused(findings: Findings) -> Iterator[tuple[object, ...]]:
    if findings.agreement is not None:
        for name, part in findings.agreement.refused.items():
            yield findings.agreement.errors[name].title, part
