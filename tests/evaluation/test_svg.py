"""Charts that need no library, and the figures of confidence that they show."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from sqljury.evaluation import svg
from sqljury.evaluation.risk import reliability_chart, risk, risk_chart


def test_risk_and_coverage_by_hand() -> None:
    found = risk([(0.9, True), (0.9, False), (0.5, True), (None, False)])
    assert found is not None
    assert found["points"] == [(50.0, 50.0, 0.9), (75.0, 33.3333, 0.5)]
    # in expectation 1/2, 1/2, 1/3 and 2/4 are wrong among the first one, two, three and four
    assert found["area"] == pytest.approx(100 * (1 / 2 + 1 / 2 + 1 / 3 + 1 / 2) / 4, abs=0.01)
    assert found["area_best"] == pytest.approx(100 * (0 + 0 + 1 / 3 + 1 / 2) / 4, abs=0.01)
    assert (found["area_random"], found["without"]) == (50.0, 1)
    assert found["calibration"] == [
        {"answers": 1, "confidence": 50.0, "right": 100.0},
        {"answers": 2, "confidence": 90.0, "right": 50.0},
    ]
    assert found["error"] == pytest.approx((1 * 50 + 2 * 40) / 3, abs=0.01)
    assert risk([(None, True)]) is None


def test_charts_are_whole_and_escaped() -> None:
    figure = {"percent": 50.0, "low": 20.0, "high": 80.0}
    charts = [
        svg.shares([("<x>&", figure)], "a <title>"),
        svg.counts([("<x>", 3)], "t"),
        svg.counts([], "none"),
        svg.histogram([0.0, 1.0, 2.0, 100.0], "t", "s"),
        svg.histogram([], "t", "s"),
        svg.histogram([0.0], "t", "s"),
        svg.histogram([-5.0, 1.0], "t", "s"),
        svg.curves({"<a>": [(0.0, 1.0), (100.0, 2.0)], "b": []}, "t", ("x", "y")),
    ]
    for chart in charts:
        assert ET.fromstring(chart).tag == "svg"
    assert svg.nice(0.03) == 0.05
    assert svg.nice(70) == 100


def test_a_picture_has_its_own_colours_and_needs_nothing() -> None:
    found = risk([(0.95, True), (0.95, True), (0.4, False), (0.2, True)])
    assert found is not None
    for chart in (risk_chart({"<all>": found, "first": found}), reliability_chart({"<all>": found})):
        picture = svg.file(chart)
        root = ET.fromstring(picture)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        lines = [node for node in root.iter() if node.tag.endswith("polyline")]
        texts = [node.text for node in root.iter() if node.tag.endswith("text")]
        assert "<all>" in texts
        assert all(node.get("class") in ("line c0", "line c1", "line c2") for node in lines)
        assert picture.count("http") == 1
