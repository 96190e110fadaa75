"""Pieces of HTML: what is not ``Html`` already is escaped wherever it is put, so no query can become markup.

Charts as SVG, drawn in shades that paper keeps apart: intervals, lines, bars in groups, a bar in a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple


class Html(str):
    """Text that is markup already; only this package makes it."""

    __slots__ = ()


def html(value: object) -> Html:
    """Any value as markup, characters that only a file with errors holds replaced."""
    if isinstance(value, Html):
        return value
    return Html(escape(str(value).encode("utf-8", "replace").decode("utf-8")))


def joined(parts: Iterable[object]) -> Html:
    """The parts one after another."""
    return Html("".join(html(part) for part in parts))


def element(tag: str, *content: object, **attributes: object) -> Html:
    """An element; underscores in the names of attributes become hyphens, one at the end goes (``class_``)."""
    listed = "".join(f' {name.rstrip("_").replace("_", "-")}="{html(value)}"' for name, value in attributes.items())
    return Html(f"<{tag}{listed}>{joined(content)}</{tag}>")


def table(titles: Sequence[object], rows: Iterable[Sequence[object]], words: int = 1) -> Html:
    """A table whose first ``words`` columns hold words and the others numbers; empty for no rows."""

    def row(tag: str, cells: Sequence[object]) -> Html:
        listed = (element(tag, cell, class_="word" if at < words else "number") for at, cell in enumerate(cells))
        return element("tr", *listed)

    body = [row("td", cells) for cells in rows]
    return element("table", element("thead", row("th", titles)), element("tbody", *body)) if body else Html("")


def section(title: str, *content: object) -> Html:
    """A part of the page with its heading, nothing where there is no content."""
    whole = joined(content)
    return element("section", element("h2", title), whole) if whole else Html("")


WIDTH: Final = 680
_SHADES: Final = ("#1f4e79", "#7fa8cc", "#8a8a8a", "#c9c9c9", "#3c7a3c", "#a9cfa0", "#b5651d", "#e3b98a")
_LABEL: Final = 170
_ROW: Final = 24


class Spot(NamedTuple):
    """A figure with its interval, in percent."""

    label: str
    value: float
    low: float
    high: float


class Line(NamedTuple):
    """A curve by its points (x, y), x rising, neither below 0."""

    label: str
    points: Sequence[tuple[float, float]]


def intervals(spots: Sequence[Spot]) -> Html:
    """A row a figure: the point, and a line from the low to the high end of its interval."""
    top = _ceiling([spot.high for spot in spots] + [spot.value for spot in spots])

    def x(value: float) -> float:
        return _LABEL + (WIDTH - _LABEL - 50) * value / top

    height = _ROW * len(spots) + 24
    parts = [_line(x(mark), 0, x(mark), height - 18, "#ddd") for mark in _marks(top)]
    parts += [_text(x(mark), height - 4, f"{mark:g}", "middle") for mark in _marks(top)]
    for number, spot in enumerate(spots):
        y = _ROW * number + _ROW / 2
        parts.append(_text(_LABEL - 10, y + 4, spot.label, "end"))
        parts.append(_line(x(spot.low), y, x(spot.high), y, "#555", 2))
        parts.append(element("circle", cx=_round(x(spot.value)), cy=_round(y), r=4.5, fill=_SHADES[0]))
        parts.append(_text(x(max(spot.high, spot.value)) + 8, y + 4, f"{spot.value:.1f}"))
    return _svg(height, "Figures with 95 % intervals", parts)


def groups(labels: Sequence[str], series: Sequence[tuple[str, Sequence[float | None]]], title: str) -> Html:
    """Bars side by side for each label, one a series; None leaves a gap."""
    top = _ceiling([value for _, values in series for value in values if value is not None])
    height, floor, left = 240, 190, 34
    step = (WIDTH - left) / max(1, len(labels))
    width = min(46.0, step * 0.85 / max(1, len(series)))
    parts: list[Html] = []
    for mark in _marks(top):
        y = floor - (floor - 20) * mark / top
        parts += [_line(left, y, WIDTH, y, "#ddd"), _text(left - 6, y + 4, f"{mark:g}", "end")]
    for place, label in enumerate(labels):
        middle = left + step * (place + 0.5)
        parts.append(_text(middle, floor + 16, label, "middle"))
        for number, (_, values) in enumerate(series):
            value = values[place]
            if value is not None:
                x, tall = middle + width * (number - len(series) / 2), (floor - 20) * value / top
                parts.append(_bar(x, floor - tall, width - 1.5, tall, _SHADES[number % len(_SHADES)]))
                parts += [_text(x + width / 2, floor - tall - 4, _figure(value, width), "middle")] if width > 16 else []
    return _svg(height, title, [*parts, *_legend([name for name, _ in series], height - 12)])


def lines(curves: Sequence[Line], title: str) -> Html:
    """Curves over one another, from 0 to their highest point."""
    height, floor, left = 260, 210, 60
    right = max(x for curve in curves for x, _ in curve.points) or 1.0
    top = max(y for curve in curves for _, y in curve.points) or 1.0
    parts: list[Html] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = floor - (floor - 20) * share
        parts += [_line(left, y, WIDTH, y, "#ddd"), _text(left - 6, y + 4, f"{top * share:.3g}", "end")]
        anchor = "end" if share == 1 else "middle"
        parts.append(_text(left + (WIDTH - left) * share, floor + 16, f"{right * share:.4g}", anchor))
    for number, curve in enumerate(curves):
        places = [(left + (WIDTH - left) * x / right, floor - (floor - 20) * y / top) for x, y in curve.points]
        path = " ".join(f"{_round(x)},{_round(y)}" for x, y in places)
        shade = _SHADES[(0, 6)[number % 2]]
        parts.append(element("polyline", points=path, fill="none", stroke=shade, stroke_width=2))
        parts += [element("circle", cx=_round(x), cy=_round(y), r=2, fill=shade) for x, y in places]
        parts += [_bar(left + 150 * number, height - 17, 10, 10, shade)]
        parts += [_text(left + 150 * number + 15, height - 8, curve.label)]
    return _svg(height, title, parts)


def small_bar(share: float, width: int = 60) -> Html:
    """A bar for a cell of a table, full at 1."""
    full = min(max(share, 0.0), 1.0) * width
    parts = (_bar(0, 1, width, 8, "#eee"), _bar(0, 1, full, 8, _SHADES[0]))
    return element("svg", *parts, width=width, height=10, viewBox=f"0 0 {width} 10", aria_hidden="true")


def _figure(value: float, width: float) -> str:
    return f"{value:.1f}" if width > 22 else f"{value:.0f}"


def _legend(names: Sequence[str], y: float) -> list[Html]:
    parts: list[Html] = []
    x = 34.0
    for number, name in enumerate(names if len(names) > 1 else ()):
        parts += [_bar(x, y - 9, 10, 10, _SHADES[number % len(_SHADES)]), _text(x + 15, y, name)]
        x += 34 + 6.4 * len(name)
    return parts


def _ceiling(values: Sequence[float]) -> float:
    """The top of the scale: 100 for most percentages, less where all are small, more where VES passes 100."""
    highest = max(values, default=0.0)
    return next((top for top in (5.0, 10.0, 20.0, 50.0, 100.0, 120.0, 150.0, 200.0) if highest <= top), highest)


def _marks(top: float) -> list[float]:
    return [top * part / 5 for part in range(6)]


def _svg(height: float, title: str, parts: Sequence[Html]) -> Html:
    inner = joined((element("title", title), *parts))
    return element("svg", inner, viewBox=f"0 0 {WIDTH} {height:g}", width=WIDTH, height=f"{height:g}", role="img")


def _bar(x: float, y: float, width: float, height: float, fill: str) -> Html:
    return element("rect", x=_round(x), y=_round(y), width=_round(width), height=_round(height), fill=fill)


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1) -> Html:
    ends = {"x1": _round(x1), "y1": _round(y1), "x2": _round(x2), "y2": _round(y2)}
    return element("line", **ends, stroke=stroke, stroke_width=width)


def _text(x: float, y: float, words: str, anchor: str = "start") -> Html:
    return element("text", words, x=_round(x), y=_round(y), text_anchor=anchor)


def _round(value: float) -> str:
    return f"{value:.1f}"
