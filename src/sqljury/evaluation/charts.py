"""Charts as SVG by Altair: text that opens without a network and without scripts, in shades that print apart.

Vega escapes all text. Nothing here is clipped or filled by reference, so the SVG has no links, not even inner ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqljury.errors import MissingExtraError

WIDTH: Final = 520
_SHADES: Final = ["#1f4e79", "#7fa8cc", "#8a8a8a", "#c9c9c9", "#3c7a3c", "#a9cfa0", "#b5651d", "#e3b98a"]
_CONFIG: Final[dict[str, Any]] = {
    "font": "sans-serif",
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 300},
    "legend": {"labelFontSize": 12, "title": None, "orient": "bottom", "columns": 4, "labelLimit": 300},
    "text": {"fontSize": 11},
    "range": {"category": _SHADES},
    "view": {"stroke": None},
}


class Interval(NamedTuple):
    """A figure with the ends of its interval, in percent."""

    label: str
    value: float
    low: float
    high: float


def intervals(figures: Sequence[Interval]) -> str:
    """A row a figure: a point, and a line over its interval."""
    alt = _altair()
    rows = [{**figure._asdict(), "shown": f"{figure.value:.1f}"} for figure in figures]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("label:N", sort=None, title=None))
    x = alt.X("low:Q", title="percent", scale=alt.Scale(domain=[0, _ceiling([figure.high for figure in figures])]))
    line = base.mark_rule(strokeWidth=2, color="#555").encode(x=x, x2="high:Q")
    point = base.mark_circle(size=70, opacity=1, color=_SHADES[0]).encode(x="value:Q")
    text = base.mark_text(align="left", dx=8).encode(x="high:Q", text="shown:N")
    return _svg(alt.layer(line, point, text).properties(height=alt.Step(24)))


def bars(labels: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> str:
    """Bars side by side for each label, one a series, in percent; None leaves a gap."""
    alt = _altair()
    rows = [
        {"label": label, "series": name, "percent": value, "shown": f"{value:.1f}"}
        for name, values in series.items()
        for label, value in zip(labels, values, strict=True)
        if value is not None
    ]
    scale = alt.Scale(
        domain=[0, _ceiling([value for values in series.values() for value in values if value is not None])]
    )
    names = list(series)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("label:N", sort=list(labels), title=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("series:N", sort=names),
        y=alt.Y("percent:Q", title="percent", scale=scale),
    )
    legend = alt.Legend() if len(names) > 1 else None
    bar = base.mark_bar().encode(color=alt.Color("series:N", sort=names, legend=legend))
    text = base.mark_text(dy=-6, fontSize=9).encode(text="shown:N") if len(rows) <= 24 else None
    return _svg((bar if text is None else alt.layer(bar, text)).properties(height=190))


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(error.name or "altair", "report") from None
    return altair


def _svg(chart: Any) -> str:
    import vl_convert

    specification = chart.properties(width=WIDTH, config=_CONFIG).to_json()
    return str(vl_convert.vegalite_to_svg(specification))


def _ceiling(values: Sequence[float]) -> float:
    """The top of the scale: 100 for most percentages, less where all are small, more where VES passes 100."""
    highest = max(values, default=0.0)
    return next((top for top in (5.0, 10.0, 20.0, 50.0, 100.0, 120.0, 150.0, 200.0) if highest <= top), highest)
