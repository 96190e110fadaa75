from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from sqljury.errors import MissingExtraError
from sqljury.evaluation.charts import Interval, bars, intervals

FIGURES = (Interval("EX", 50.0, 40.0, 60.0), Interval("<VES>", 110.0, 90.0, 130.0))


def drawn(svg: str) -> tuple[list[str], list[str]]:
    """The texts of a chart and the descriptions of its marks; fails for what is not XML."""
    nodes = list(ET.fromstring(svg).iter())
    texts = [node.text or "" for node in nodes if node.tag.endswith("text")]
    return texts, [node.get("aria-label", "") for node in nodes]


def test_intervals_show_their_figures() -> None:
    texts, marks = drawn(intervals(FIGURES))
    assert {"EX", "<VES>", "50.0", "110.0", "150"} <= set(texts)  # the scale goes on past 100
    assert any("low: 90" in mark.lower() or "percent: 90" in mark for mark in marks)


def test_a_bar_for_each_figure_that_is_there() -> None:
    texts, marks = drawn(bars(["easy", "hard"], {"EX": [40.0, 20.0], "ESM": [None, 10.0]}))
    assert {"EX", "ESM", "easy", "hard", "40.0", "20.0", "10.0"} <= set(texts)
    assert sum("series: " in mark and "label: " in mark for mark in marks) >= 3


def test_nothing_to_draw_is_no_error() -> None:
    drawn(bars([], {}))
    drawn(intervals([]))


def test_text_of_a_file_cannot_become_markup() -> None:
    evil = "</text><script>alert(1)</script>"
    for svg in (
        intervals([Interval(evil, 1.0, 0.0, 2.0)]),
        bars([evil], {evil: [1.0], "b": [2.0]}),
    ):
        assert evil in drawn(svg)[0]
        assert "<script" not in svg


def test_charts_need_nothing_from_elsewhere() -> None:
    svg = bars(["easy"], {"EX": [40.0], "ESM": [10.0]})
    assert "url(" not in svg
    assert "href" not in svg


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        if name == "altair":
            raise ImportError(name, name=name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"altair is not installed; run: pip install 'sqljury\[report\]'"):
        intervals(FIGURES)
