"""The card of a training says what its log says."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sqljury.train import card

LOG = [
    {"step": 1, "loss": 2.0},
    {"step": 2, "eval_loss": 1.5, "eval_right_answers": 0.25},
    {"step": 4, "loss": 0.5},
    {"step": 4, "eval_loss": 0.75, "eval_right_answers": 0.5},
]


@pytest.mark.train  # the card names the versions of its libraries
def test_the_last_figures_are_the_results(tmp_path: Path) -> None:
    card.write(tmp_path, {"part": "critic", "base_model": "a|b"}, {"examples": 1200}, "CPU", LOG)
    assert json.loads((tmp_path / card.JSON).read_text())["results"] == {
        "loss": 0.5,
        "eval_loss": 0.75,
        "eval_right_answers": 0.5,
        "kept_step": 4,
    }
    text = (tmp_path / card.MARKDOWN).read_text()
    assert "| held-out answers right | 0.5 |" in text
    assert "| base_model | a/b |" in text
    assert "| examples | 1,200 |" in text


def test_the_picture_has_a_point_for_every_loss(tmp_path: Path) -> None:
    nodes = list(ElementTree.fromstring(card.curves(LOG)).iter())
    assert sum(node.tag.endswith("circle") for node in nodes) == 4
    assert sum(node.tag.endswith("polyline") for node in nodes) == 2
    assert "held-out loss" in [node.text for node in nodes]


def test_nothing_logged_is_no_picture() -> None:
    assert card.curves([]) == ""
