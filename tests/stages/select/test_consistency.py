from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sqljury.context import Context
from sqljury.sql.compare import VOTES, same
from sqljury.stages.select.base import representatives
from sqljury.stages.select.consistency import agreed, chance, choose, choose_in, decided, first, group, votes
from sqljury.types import Candidate, QueryFailure, Question, Result, Schema, Task
from sqljury.types.candidate import equal_votes, of_systems, with_opinion


def candidate(*rows: tuple[object, ...], logprob: float | None = None, error: str | None = None) -> Candidate:
    return Candidate(
        "SELECT 1", "direct", logprob, Result(("a",), rows, error=QueryFailure("sql", error) if error else None)
    )


def test_the_largest_group_wins_and_its_likeliest_query_is_chosen() -> None:
    grouped = group(
        [
            candidate((1,), logprob=-0.1),
            candidate((2,), logprob=-5.0),
            candidate((2,), logprob=-3.0),
            candidate(error="no such column", logprob=-0.01),
        ]
    )
    assert [one.group for one in grouped] == [1, 0, 0, None]
    assert choose(grouped) == 2


def test_a_tie_goes_to_the_likelier_query() -> None:
    grouped = group([candidate((1,), logprob=-2.0), candidate((2,), logprob=-1.0)])
    assert choose(grouped) == 1


def test_without_probabilities_a_tie_goes_to_the_first() -> None:
    assert choose(group([candidate((1,)), candidate((2,))])) == 0


def test_failures_and_missing_queries_have_no_vote() -> None:
    grouped = group([candidate(error="x"), Candidate("", "direct", result=Result())])
    assert [one.group for one in grouped] == [None, None]
    assert choose(grouped) is None


def test_a_lead_is_decided_when_open_votes_cannot_change_it() -> None:
    one, two, broken = candidate((1,)), candidate((2,)), candidate(error="x")
    grouped = group([one, one, one, two, broken])
    assert decided(grouped, still_open=[4])
    assert not decided(group([one, one, two, broken]), still_open=[3])
    assert not decided(group([broken]), still_open=[])


def test_open_candidates_are_not_counted_as_settled() -> None:
    empty = candidate()
    grouped = group([empty, empty, empty])
    assert not decided(grouped, still_open=[1, 2])
    assert decided(grouped, still_open=[])


def test_within_the_group_the_commonest_order_wins_over_the_likeliest_query() -> None:
    grouped = group(
        [candidate((1,), (2,), logprob=-9.0), candidate((1,), (2,), logprob=-8.0), candidate((2,), (1,), logprob=-1.0)]
    )
    assert choose(grouped) == 1


def test_numbers_agree_in_nine_digits() -> None:
    assert same(Result(("a",), ((0.1 + 0.2,),)), Result(("a",), ((0.3,),)), VOTES)
    assert same(Result(("a",), ((2,),)), Result(("a",), ((2.0,),)), VOTES)
    assert not same(Result(("a",), ((float("inf"),),)), Result(("a",), ((1.0,),)), VOTES)
    assert not same(Result(("a",), ((0.3,),)), Result(("a",), ((0.31,),)), VOTES)
    assert same(Result(("a",), ((12345678901,),)), Result(("a",), ((12345678901.0,),)), VOTES)
    assert not same(Result(("a",), (("1",),)), Result(("a",), ((1,),)), VOTES)


def test_a_cut_result_is_not_the_whole_one() -> None:
    whole, cut = Result(("a",), ((1,),)), Result(("a",), ((1,),), truncated=True)
    assert not same(whole, cut, VOTES)


def test_results_without_rows_are_one_group() -> None:
    assert same(Result(("a",)), Result(("a", "b")), VOTES)


cells = st.none() | st.integers(-3, 3) | st.sampled_from(["a", "b", ""]) | st.floats(allow_nan=False, width=16)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6), st.randoms(), st.permutations(range(3)))
def test_order_of_rows_and_columns_does_not_matter(
    rows: list[tuple[object, ...]], random: object, order: list[int]
) -> None:
    mixed = [tuple(row[index] for index in order) for row in rows]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert same(Result((), tuple(rows)), Result((), tuple(mixed)), VOTES)


def test_candidates_agree_when_enough_of_enough_do() -> None:
    three_of_four = [candidate((1,)), candidate((1,)), candidate((2,)), candidate((1,))]
    assert agreed(three_of_four, 0.75, 4)
    assert not agreed(three_of_four, 0.76, 4)
    assert not agreed(three_of_four, 0.75, 5)
    assert not agreed(three_of_four, 0.0, 1)


def test_candidates_that_found_nothing_or_failed_have_not_agreed() -> None:
    assert not agreed([candidate(), candidate(), candidate()], 0.5, 2)
    assert not agreed([candidate(error="x"), candidate(error="x")], 0.5, 2)
    assert not agreed([candidate((1,)), candidate(error="x"), candidate(error="x")], 0.5, 2)


def of_parts(*parts: tuple[int, int]) -> tuple[Candidate, ...]:
    """A candidate for each value and part, with the weights of systems that have one vote each."""
    return equal_votes(replace(candidate((value,)), part=part) for value, part in parts)


def test_many_samples_of_a_system_do_not_outvote_single_queries() -> None:
    samples = [(1, 2)] * 5 + [(3, 2)] * 3
    grouped = group(of_parts((2, 0), (2, 1), *samples))
    assert [one.group for one in grouped] == [0, 0, *[1] * 5, *[2] * 3]
    choice = votes(grouped, None, None)  # type: ignore[arg-type]
    assert (choice.index, choice.scores) == (0, (2.0, 0.625, 0.375))
    single = group(of_parts((2, 1), *samples))
    assert choose(single) == 0, "an undecided system against a sure one"
    assert choose(group([replace(one, weight=1.0) for one in single])) == 1


def test_shares_of_a_vote_add_up_to_ties_that_trust_breaks() -> None:
    for count in range(1, 65):
        assert choose(group(of_parts((1, 0), *[(2, 1)] * count))) == 0
        assert choose(group(of_parts(*[(2, 0)] * count, (1, 1)))) == 0


def test_systems_with_equally_many_queries_have_a_vote_for_each() -> None:
    assert {one.weight for one in of_parts((1, 0), (2, 0), (3, 1), (3, 1))} == {1.0}
    assert [one.weight for one in of_parts((1, 0), (2, 0), (3, 1), (3, 1), (3, 1), (3, 1))] == [
        1,
        1,
        0.5,
        0.5,
        0.5,
        0.5,
    ]
    assert of_parts() == ()


def test_open_and_agreeing_votes_count_by_their_weights() -> None:
    one, two = candidate((1,)), replace(candidate((2,)), weight=0.25)
    assert decided(group([one, two, two]), still_open=[1, 2])
    assert agreed([one, two, two], 0.6, 2)
    assert not agreed([replace(one, weight=1.0), replace(two, weight=1.0), replace(two, weight=1.0)], 0.7, 2)


def test_candidates_of_one_name_are_of_one_system_and_texts_each_of_their_own() -> None:
    given = ["SELECT 1", Candidate("SELECT 2", "A", -1.0), "SELECT 3", Candidate("SELECT 4", "A", weight=9.0)]
    candidates, systems = of_systems(given)
    assert ([one.part for one in candidates], systems) == ([0, 1, 2, 1], ["given", "A", "given"])
    assert {(one.logprob, one.weight) for one in candidates} == {(None, 1.0)}


def test_opinions_vote_and_are_not_chosen() -> None:
    task, context = Task(Question(""), Schema("", "sqlite", ()), ""), Context(None, None)  # type: ignore[arg-type]
    systems = [replace(candidate((value,)), part=part) for part, value in enumerate((1, 2, 2))]
    own = [candidate((1,)), candidate((3,))]
    pooled = with_opinion(systems, own[:1], chosen=False)
    assert [one.weight for one in pooled] == [1, 1, 1, 1]
    assert choose(group(pooled)) == 0  # two votes each: the most trusted system's
    three = group(with_opinion(systems[:2], [candidate((3,))] * 2, chosen=False))
    assert [one.group for one in three] == [0, 1, 2, 2]
    assert list(representatives(three)) == [0, 1]
    assert list(representatives(group(with_opinion([], own, chosen=False)))) == [0, 1]  # nothing else runs
    chosen = group(with_opinion([candidate(error="x")], own[:1], chosen=False))
    assert choose(chosen) == first(chosen, task, context).index == chance(chosen, task, context).index == 1
    assert first(three, task, context).index == 0
    assert chance(three, task, context).index in (0, 1)


def test_an_opinion_that_shares_a_group_does_not_stand_for_it() -> None:
    rising, falling = candidate((1,), (2,)), candidate((2,), (1,))
    own = replace(falling, opinion=True)
    assert choose_in(group([rising, own, own]), 0) == 0
    assert choose_in(group([rising, own, falling]), 0) == 2  # its vote counts for the order of rows


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 9))
def test_a_model_votes_as_one_more_system(sizes: list[int], own: int) -> None:
    parts = [part for part, size in enumerate(sizes) for _ in range(size)]
    systems = equal_votes(replace(candidate((1,)), part=part) for part in parts)
    model = [replace(candidate((2,), logprob=-1.0), part=len(sizes))] * own
    pooled = with_opinion(systems, model, chosen=True)
    expected = equal_votes([*systems, *model])
    assert [round(one.weight, 9) for one in pooled] == [round(one.weight, 9) for one in expected]
    assert all(one.logprob is None and not one.opinion for one in pooled[len(parts) :])
    unweighed = with_opinion([replace(one, weight=1.0) for one in systems], model, chosen=True)
    assert max(one.weight for one in unweighed) <= 1
    votes = {part: sum(one.weight for one in unweighed if one.part == part) for part in range(len(sizes) + 1)}
    assert abs(votes.pop(len(sizes)) - min(votes.values())) < 1e-6
