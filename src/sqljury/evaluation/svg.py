"""Charts as SVG written by hand: they take their colours from the page's classes, for light and dark, and no script.

Every chart scales with its column: it has a ``viewBox`` and no size of its own. Texts are escaped here. ``file`` makes
a picture of one, with colours of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any, Final

WIDTH: Final = 400
_LEFT: Final = 42
_BOTTOM: Final = 34
_BINS: Final = 24
_LABEL: Final = 176
_STYLE: Final = """
text { font: 11.5px sans-serif; fill: #1b2330; } .dim { fill: #566174; } .grid { stroke: #d9dee6; }
.line { fill: none; stroke-width: 2; } .track { fill: #e9edf2; } .bar { fill: #2457a6; }
.whisker { stroke: #1b2330; stroke-width: 2; } .median { stroke: #c2620a; stroke-width: 2; stroke-dasharray: 4 3; }
.c0 { stroke: #2457a6; } .c1 { stroke: #c2620a; } .c2 { stroke: #1c7a4c; }
.c3 { stroke: #8b3fa0; } .c4 { stroke: #9a7400; } .c5 { stroke: #5b6b7f; }
.dot.c0 { fill: #2457a6; } .dot.c1 { fill: #c2620a; } .dot.c2 { fill: #1c7a4c; }
.dot.c3 { fill: #8b3fa0; } .dot.c4 { fill: #9a7400; } .dot.c5 { fill: #5b6b7f; }
"""
"""The colours of the report's page on white."""


def _svg(height: float, title: str, parts: Iterable[str]) -> str:
    text = escape(title)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{text}"><title>{text}</title>'
        f"{''.join(parts)}</svg>"
    )


def file(chart: str) -> str:
    """A chart as a file of its own: on white, with its styles, twice as wide as it is drawn."""
    head, _, body = chart.partition(">")
    named = head.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" ', 1)
    return f'{named}><style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{body}\n'


def _text(x: float, y: float, text: str, anchor: str = "start", style: str = "t") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line class="{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def shares(rows: Sequence[tuple[str, Mapping[str, Any]]], title: str) -> str:
    """A row for each share: its bar from 0 to 100 percent, and the interval over it."""
    room, step = WIDTH - _LABEL - 44, 24
    parts = []
    for number, (label, share) in enumerate(rows):
        y = 6 + step * number
        x = [_LABEL + room * share[key] / 100 for key in ("percent", "low", "high")]
        parts.append(_text(_LABEL - 8, y + 14, _short(label, 28), "end"))
        parts.append(f'<rect class="track" x="{_LABEL}" y="{y + 3}" width="{room}" height="14" rx="2"/>')
        parts.append(f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{x[0] - _LABEL:.1f}" height="14" rx="2"/>')
        parts.append(_line(x[1], y + 10, x[2], y + 10, "whisker"))
        parts.append(_text(WIDTH - 36, y + 14, f"{share['percent']:.1f}"))
    return _svg(12 + step * max(1, len(rows)), title, parts)


def counts(rows: Sequence[tuple[str, float]], title: str) -> str:
    """A row for each count, its bar as long as its share of the largest."""
    room, step, most = WIDTH - _LABEL - 44, 24, max((count for _, count in rows), default=0) or 1
    parts = []
    for number, (label, count) in enumerate(rows):
        y = 6 + step * number
        parts.append(_text(_LABEL - 8, y + 14, _short(label, 28), "end"))
        parts.append(
            f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{room * count / most:.1f}" height="14" rx="2"/>'
        )
        parts.append(_text(_LABEL + room * count / most + 6, y + 14, f"{count:,g}"))
    return _svg(12 + step * max(1, len(rows)), title, parts)


def histogram(values: Sequence[float], title: str, unit: str) -> str:
    """How many questions have how much; the last bin holds all that is beyond the 99th percentile."""
    height, ordered = 180, sorted(values)
    if not ordered:
        return _svg(40, title, [_text(8, 24, "no values")])
    top = nice(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] or ordered[-1] or 1.0)
    bins = [0] * _BINS
    for value in ordered:
        bins[min(_BINS - 1, max(0, int(_BINS * value / top)))] += 1
    most, room = max(bins) + max(bins) % 2, WIDTH - _LEFT - 10
    parts, base = _y_axis(most, height, "questions"), height - _BOTTOM
    for index, count in enumerate(bins):
        x, tall = _LEFT + room * index / _BINS, (base - 10) * count / most
        parts.append(
            f'<rect class="bar" x="{x + 1:.1f}" y="{base - tall:.1f}" width="{room / _BINS - 2:.1f}" '
            f'height="{tall:.1f}"><title>{count}</title></rect>'
        )
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        mark = f"{top * share:,g}" + ("+" if share == 1 and ordered[-1] > top else "")
        parts.append(_text(_LEFT + room * share, base + 14, mark, "middle" if share < 1 else "end"))
    median = ordered[len(ordered) // 2]
    if median <= top:
        x = _LEFT + room * median / top
        parts.append(_line(x, 10, x, base, "median"))
    parts.append(_text(_LEFT + room / 2, height - 4, unit, "middle", "t dim"))
    return _svg(height, title, parts)


def spans(rows: Sequence[tuple[str, float, float, int]], title: str, unit: str) -> str:
    """A row for each label: its bar from a beginning to an end, indented by how deep it lies in others."""
    room, step = WIDTH - _LABEL - 14, 20
    end = max((end for _, _, end, _ in rows), default=0.0) or 1.0
    parts, base = [], 10 + step * max(1, len(rows))
    for share in (0.0, 0.5, 1.0):
        x = _LABEL + room * share
        parts.append(_line(x, 4, x, base, "grid"))
        parts.append(_text(x, base + 14, f"{end * share:.3g} {unit}", "middle" if share < 1 else "end"))
    for number, (label, begin, stop, depth) in enumerate(rows):
        y, x = 6 + step * number, _LABEL + room * begin / end
        parts.append(_text(4 + 10 * depth, y + 13, _short(label, 28 - 2 * depth)))
        wide = max(1.0, room * (stop - begin) / end)
        parts.append(
            f'<rect class="dot c{depth % 6}" x="{x:.1f}" y="{y + 3}" width="{wide:.1f}" height="13" rx="2">'
            f"<title>{escape(label)}: {stop - begin:.3f} {unit}</title></rect>"
        )
    return _svg(base + 20, title, parts)


def curves(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    title: str,
    axes: tuple[str, str],
    most: tuple[float, float] = (100.0, 0.0),
    dots: bool = False,
) -> str:
    """Lines through points, a colour for each; ``most`` are the ends of the axes, 0 for what the points need."""
    height = 230
    points = [point for line in lines.values() for point in line]
    end_x = most[0] or max((x for x, _ in points), default=1.0)
    end_y = most[1] or nice(max((y for _, y in points), default=1.0) or 1.0)
    room, base = WIDTH - _LEFT - 14, height - _BOTTOM - 18
    parts, legend = _y_axis(end_y, base + _BOTTOM, axes[1]), float(_LEFT)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_text(_LEFT + room * share, base + 14, f"{end_x * share:g}", "middle" if share < 1 else "end"))
    for number, (label, line) in enumerate(lines.items()):
        style = f"c{number % 6}"
        at = [(_LEFT + room * x / end_x, base - (base - 10) * min(y / end_y, 1.0)) for x, y in line]
        parts.append(f'<polyline class="line {style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}"/>')
        if dots:
            parts += [f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in at]
        parts.append(f'<rect class="dot {style}" x="{legend:.1f}" y="{height - 12}" width="10" height="4"/>')
        parts.append(_text(legend + 14, height - 6, label))
        legend += 30 + 6.2 * len(label)
    parts.append(_text(_LEFT + room / 2, base + 28, axes[0], "middle", "t dim"))
    return _svg(height, title, parts)


def _y_axis(most: float, height: float, unit: str) -> list[str]:
    base = height - _BOTTOM
    parts = [_text(4, 9, unit, "start", "t dim")]
    for share in (0.0, 0.5, 1.0):
        y = base - (base - 10) * share
        parts.append(_line(_LEFT, y, WIDTH - 10, y, "grid"))
        if share:
            parts.append(_text(_LEFT - 6, y + (4 if share < 1 else 12), f"{most * share:,g}", "end"))
    return parts


def nice(value: float) -> float:
    """The next number of 1, 2, 2.5 or 5 times a power of ten, for the end of an axis."""
    power = 10 ** floor(log10(value)) if value > 0 else 1.0
    return float(next((step * power for step in (1, 2, 2.5, 5, 10) if value <= step * power), ceil(value)))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
