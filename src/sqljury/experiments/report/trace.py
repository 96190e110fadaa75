"""A trace as one HTML page that needs nothing else: what happened when, and what each span says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from sqljury.evaluation import svg
from sqljury.experiments.report.page import document
from sqljury.traces import Span

BEGINS: Final = '<!doctype html>\n<meta name="generator" content="sqljury trace">'
"""The first lines of every such page, by which an earlier one is known."""


def html(spans: Sequence[Span]) -> str:
    """The page of the spans of one or several questions, each question with its own chart."""
    roots = [span for span in spans if not any(other.id == span.parent for other in spans)]
    parts = ["<header><h1>Trace</h1></header><main>"]
    for root in sorted(roots, key=lambda span: span.start):
        rows = list(_below(root, spans, 0))
        bars = [
            (span.name, (span.start - root.start) / 1e9, (span.end - root.start) / 1e9, depth) for span, depth in rows
        ]
        chart = svg.spans(bars, f"Time of {root.name}", "s")
        parts.append(f"<section><h2>{escape(root.name)}</h2><figure>{chart}</figure>{_table(rows)}</section>")
    return document("sqljury: trace", [*parts, "</main>"], begins=BEGINS)


def _below(span: Span, spans: Sequence[Span], depth: int) -> Iterator[tuple[Span, int]]:
    yield span, depth
    for child in sorted((child for child in spans if child.parent == span.id), key=lambda child: child.start):
        yield from _below(child, spans, depth + 1)


def _table(rows: Sequence[tuple[Span, int]]) -> str:
    """What each span says, behind its name and seconds."""
    parts = []
    for span, _ in rows:
        attributes = "".join(
            f"<dt>{escape(key)}</dt><dd>{escape(str(value))}</dd>" for key, value in span.attributes.items()
        )
        mark = ' <span class="wrong">failed</span>' if span.failed else ""
        seconds = f"{(span.end - span.start) / 1e9:.3f} s"
        parts.append(
            f"<details><summary>{escape(span.name)} · {seconds}{mark}</summary><dl>{attributes}</dl></details>"
        )
    return "".join(parts)
