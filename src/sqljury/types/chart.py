"""A chart for a result, proposed from the types of its columns, as a Vega-Lite specification."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, Final

from sqljury.types.serialize import json_cell

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
CATEGORIES: Final = 30
"""Bars that can be told apart and have readable names."""
SERIES: Final = 8
"""Lines in one chart: colours of more are too alike."""
EXACT: Final = 2**53
"""Numbers beyond are not drawn: JavaScript would round them."""

_TIMES: Final = (
    (re.compile(r"\d{4}"), "%Y"),
    (re.compile(r"\d{4}-\d\d"), "%Y-%m"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "%Y-%m-%d"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "%Y-%m-%d %H:%M"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "%Y-%m-%d %H:%M:%S"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"), "%Y-%m-%dT%H:%M:%S"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,6}"), "%Y-%m-%d %H:%M:%S.%f"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d"), "%Y-%m-%d %H:%M:%S%Z"),
)
"""Texts that are times, and how d3 reads them."""
_YEARS: Final = range(1800, 2101)
"""Years, where nothing but the number itself says that it is one."""
_YEAR: Final = re.compile(r"(?:^|[\W_])(?:year|yr)s?(?:$|[\W_])|Year|^%Y", re.IGNORECASE)
_ID: Final = re.compile(r"(?:^|[\W_])(?:id|key|code|zip|phone)$|[a-z]I[Dd]$", re.IGNORECASE)


def chart(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """A Vega-Lite specification that draws these rows, with the rows in it; None where no chart would help.

    Times and numbers become lines, one for each of a few categories; a category and a number become bars, the highest
    first; two numbers become points, one number alone a large text. A row is one mark: where several rows share a time
    or a category, nothing is drawn, and neither is it for more than ``CATEGORIES`` bars.

    Fields are called ``c0``, ``c1`` and so on by their column. ``usermeta["columns"]`` has the channel definition of
    every column that can be drawn, so that another one may be put on an axis.
    """
    if not rows:
        return None
    channels = [channel for index, name in enumerate(columns) if (channel := _channel(index, name, rows))]
    drawn = _number(channels, rows) or _drawn(channels, rows)
    if drawn is None:
        return None
    parse = {channel["field"]: f"utc:'{channel.pop('parse')}'" for channel in channels if "parse" in channel}
    values = [{f"c{index}": _cell(cell) for index, cell in enumerate(row)} for row in rows]
    return {
        "$schema": SCHEMA,
        "data": {"values": values, "format": {"parse": parse}} if parse else {"values": values},
        **drawn,
        "usermeta": {"columns": channels},
    }


def _number(channels: Sequence[dict[str, Any]], rows: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    if len(rows) > 1 or len(rows[0]) > 1 or not channels or channels[0]["type"] != "quantitative":
        return None
    mark = {"type": "text", "fontSize": 40, "fontWeight": "bold"}
    text = {**channels[0], "format": ",.12~g"}
    return {"mark": mark, "title": text["title"], "encoding": {"text": text}}


def _drawn(channels: Sequence[dict[str, Any]], rows: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Mark and encoding of a result with several rows."""
    times, names, numbers = (
        [channel for channel in channels if channel["type"] == kind] for kind in ("temporal", "nominal", "quantitative")
    )
    numbers = [channel for channel in numbers if not _ID.search(channel["title"])] or (
        numbers if len(numbers) < 2 else []
    )
    if len(rows) < 2 or not numbers:
        return None
    if times:
        series = next((channel for channel in names if len(_distinct(channel, rows)) <= SERIES), None)
        for colour in (None, series):
            if _distinguish(rows, *filter(None, (times[0], colour))):
                mark = {"type": "line", "point": len(rows) <= 100, "tooltip": True}
                encoding = {"x": times[0], "y": numbers[0], **({"color": colour} if colour else {})}
                return _spec(mark, encoding)
        return None
    if names:
        bars = next((channel for channel in names if _distinguish(rows, channel)), None)
        if bars is None or len(rows) > CATEGORIES:
            return None
        counted = all(str(cell).isdigit() for cell in _values(bars, rows))  # such as months, which have an order
        x = {**bars, "sort": "ascending" if counted else "-y"}
        return _spec({"type": "bar", "tooltip": True}, {"x": x, "y": numbers[0]})
    if len(numbers) < 2:
        return None
    return _spec({"type": "point", "tooltip": True}, {"x": numbers[0], "y": numbers[1]})


def _spec(mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    description = f"{mark['type']} chart of {encoding['y']['title']} by {encoding['x']['title']}"
    return {"description": description, "mark": mark, "encoding": encoding}


def _channel(index: int, name: str, rows: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """How a column is drawn: its field, type and title, and for times how they are read; None if it cannot be."""
    cells = [row[index] for row in rows if row[index] is not None]
    channel: dict[str, Any] = {"field": f"c{index}", "title": name}
    if not cells:
        return None
    if form := _time_form(name, cells):
        return {**channel, "type": "temporal", "scale": {"type": "utc"}, "parse": form}
    if all(isinstance(cell, int | float | decimal.Decimal) and not isinstance(cell, bool) for cell in cells):
        return {**channel, "type": "quantitative"} if all(map(_is_exact, cells)) else None
    if any(isinstance(cell, bytes) or len(str(cell)) > 80 for cell in cells):
        return None
    return {**channel, "type": "nominal"}


def _time_form(name: str, cells: Sequence[Any]) -> str | None:
    """How the cells write times, for d3's parser; None if they are not times."""
    if all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        return "%Y" if _YEAR.search(name) and all(1000 <= cell <= 2999 for cell in cells) else None
    if not all(isinstance(cell, str | datetime.date) for cell in cells):
        return None
    texts = [str(cell) for cell in cells]
    forms = (form for pattern, form in _TIMES if all(pattern.fullmatch(text) for text in texts))
    form = next(forms, None)
    return form if form != "%Y" or _YEAR.search(name) or all(int(text) in _YEARS for text in texts) else None


def _is_exact(number: Any) -> bool:
    """Whether JavaScript can hold this number; it has no decimals beyond a double's, which no chart shows either."""
    return (isinstance(number, int) or isfinite(number)) and abs(number) <= EXACT


def _distinguish(rows: Sequence[Sequence[Any]], *channels: dict[str, Any]) -> bool:
    """Whether no two rows have the same values on these channels."""
    return len(set(zip(*(list(_values(channel, rows)) for channel in channels), strict=True))) == len(rows)


def _distinct(channel: dict[str, Any], rows: Sequence[Sequence[Any]]) -> set[Any]:
    return set(_values(channel, rows))


def _values(channel: dict[str, Any], rows: Sequence[Sequence[Any]]) -> Iterator[Any]:
    index = int(channel["field"][1:])
    return (row[index] for row in rows)


def _cell(cell: Any) -> Any:
    return float(cell) if isinstance(cell, decimal.Decimal) else json_cell(cell)
