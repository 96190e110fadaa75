"""Two runtimes agree by their log-probabilities."""

from __future__ import annotations

from sqljury.train.compare import TOLERANCE, _agreement


def test_differences_are_summed_up() -> None:
    found = _agreement(4, 3, 2, 1, [0.0] * 19 + [0.4])
    assert (found.prompts, found.equal, found.learnt, found.unread, found.tokens) == (4, 3, 2, 1, 20)
    assert (round(found.mean, 6), found.high, found.most) == (0.02, 0.0, 0.4)
    assert found.ok


def test_too_far_apart_and_nothing_compared_are_no_agreement() -> None:
    assert _agreement(1, 1, 1, 0, [TOLERANCE]).ok
    assert not _agreement(1, 1, 1, 0, [TOLERANCE * 1.01]).ok
    assert not _agreement(1, 1, 1, 1, []).ok
