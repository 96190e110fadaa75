"""Two runtimes agree by their log-probabilities, and by answers that part at near ties alone."""

from __future__ import annotations

from sqljury.train.compare import (
    CLEAR_GAP,
    LOOSE_TOLERANCE,
    TOLERANCE,
    AnswerComparison,
    _agreement,
    spread,
)
from sqljury.train.examples import TrainingExample


def held(*differences: float, equal: bool = True, gap: float = 0.0) -> AnswerComparison:
    return AnswerComparison(equal, equal, list(differences), gap)


def test_differences_are_summed_up() -> None:
    found = _agreement(
        [held(*[0.0] * 19), held(0.4), held(equal=False, gap=0.1), AnswerComparison(False, False, None, 0.0)]
    )
    assert (found.prompts, found.equal, found.learned, found.diverged, found.unaligned, found.tokens) == (
        4,
        2,
        2,
        0,
        1,
        20,
    )
    assert (round(found.mean, 6), found.p95, found.largest) == (0.02, 0.0, 0.4)
    assert found.ok


def test_too_far_apart_and_nothing_compared_are_no_agreement() -> None:
    assert _agreement([held(TOLERANCE)]).ok
    assert not _agreement([held(TOLERANCE * 1.01)]).ok
    assert not _agreement([AnswerComparison(True, True, None, 0.0)]).ok


def test_one_answer_in_twenty_may_part_where_the_trained_model_was_sure() -> None:
    apart, tie = held(0.0, equal=False, gap=CLEAR_GAP * 1.01), held(0.0, equal=False, gap=CLEAR_GAP)
    assert _agreement([tie] * 8).ok
    assert _agreement([apart, *[held(0.0)] * 19]).ok
    assert not _agreement([apart, *[held(0.0)] * 18]).ok


def test_on_other_weights_than_those_trained_on_the_mean_alone_decides() -> None:
    assert _agreement([held(LOOSE_TOLERANCE, equal=False, gap=CLEAR_GAP * 9)] * 8, same_weights=False).ok
    assert not _agreement([held(LOOSE_TOLERANCE * 1.01)], same_weights=False).ok
    assert not _agreement([AnswerComparison(True, True, None, 0.0)], same_weights=False).ok


def test_examples_to_compare_are_spread_over_the_set_and_none_is_too_long() -> None:
    known = [TrainingExample((), str(number)) for number in range(10)]

    def answers(count: int, *too_long: int) -> str:
        return "".join(one.answer for one in spread(known, count, lambda one: int(one.answer) not in too_long))

    assert answers(3) == "036"
    assert answers(3, 0, 1, 6) == "237"
    assert answers(3, 3, 4, 5) == "06", "a part without any that fits"
    assert answers(20, 9) == "012345678"
