"""Two runtimes agree by their log-probabilities, and by answers that part at near ties alone."""

from __future__ import annotations

from sqljury.train.compare import SURE, TOLERANCE, Held, _agreement


def held(*differences: float, equal: bool = True, gap: float = 0.0) -> Held:
    return Held(equal, equal, list(differences), gap)


def test_differences_are_summed_up() -> None:
    found = _agreement([held(*[0.0] * 19), held(0.4), held(equal=False, gap=0.1), Held(False, False, None, 0.0)])
    assert (found.prompts, found.equal, found.learnt, found.apart, found.unread, found.tokens) == (4, 2, 2, 0, 1, 20)
    assert (round(found.mean, 6), found.high, found.most) == (0.02, 0.0, 0.4)
    assert found.ok


def test_too_far_apart_and_nothing_compared_are_no_agreement() -> None:
    assert _agreement([held(TOLERANCE)]).ok
    assert not _agreement([held(TOLERANCE * 1.01)]).ok
    assert not _agreement([Held(True, True, None, 0.0)]).ok


def test_one_answer_in_twenty_may_part_where_the_trained_model_was_sure() -> None:
    apart, tie = held(0.0, equal=False, gap=SURE * 1.01), held(0.0, equal=False, gap=SURE)
    assert _agreement([tie] * 8).ok
    assert _agreement([apart, *[held(0.0)] * 19]).ok
    assert not _agreement([apart, *[held(0.0)] * 18]).ok
