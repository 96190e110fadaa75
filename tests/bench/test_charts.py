from __future__ import annotations

import xml.etree.ElementTree as ET

from sqljury.evaluation.charts import WIDTH, Spot, groups, intervals, small_bar

SPOTS = (Spot("EX", 50.0, 40.0, 60.0), Spot("<VES>", 110.0, 90.0, 130.0))


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def test_points_and_their_intervals_stay_on_the_scale() -> None:
    found = drawn(intervals(SPOTS))
    points = [float(circle.get("cx", "0")) for circle in found.findall("circle")]
    assert points == sorted(points)
    assert points[-1] < WIDTH
    lines = [line for line in found.findall("line") if line.get("stroke-width") == "2"]
    for line, point in zip(lines, points, strict=True):
        assert float(line.get("x1", "0")) < point < float(line.get("x2", "0"))
    assert "<VES>" in [text.text for text in found.findall("text")]


def test_a_bar_for_each_figure_that_is_there() -> None:
    found = drawn(groups(["easy", "hard"], [("EX", [40.0, 20.0]), ("ESM", [None, 10.0])], "By hardness"))
    bars = [bar for bar in found.findall("rect") if float(bar.get("height", "0")) != 10.0]
    heights = [float(bar.get("height", "0")) for bar in bars]
    assert heights[0] == 2 * heights[1] == 4 * heights[2]
    assert {"EX", "ESM", "easy", "hard", "40.0"} <= {text.text for text in found.findall("text")}


def test_nothing_to_draw_is_no_error() -> None:
    assert drawn(groups([], [], "none")).find("title") is not None
    assert drawn(intervals([])).findall("circle") == []


def test_a_bar_in_a_table_is_full_at_one() -> None:
    widths = [float(drawn(small_bar(share))[1].get("width", "")) for share in (0, 0.5, 1, 1.2)]
    assert widths == [0, 30, 60, 60]
