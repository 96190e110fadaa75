"""Trees of examples: what they share is there once, and every example can be read back."""

from __future__ import annotations

import random

import pytest

from sqljury.train import tree
from sqljury.train.examples import Encoded


def example(prompt: list[int], answer: list[int]) -> Encoded:
    return Encoded([*prompt, *answer], [0] * len(prompt) + [1] * len(answer))


def drawn(databases: int, questions: int, candidates: int, seed: int = 3) -> list[Encoded]:
    """Examples that share a schema with others, and some of them a question too."""
    draw = random.Random(seed)

    def text(length: int) -> list[int]:
        return [draw.randrange(2, 50) for _ in range(length)]

    examples = []
    system = text(20)
    for _ in range(databases):
        schema = system + text(draw.randrange(30, 60))
        for _ in range(questions):
            question = [*schema, 1, *text(draw.randrange(3, 40))]
            examples += [example(question, [*text(draw.randrange(1, 20)), 0]) for _ in range(candidates)]
    draw.shuffle(examples)
    return examples


def read_back(sequence: tree.TreeSequence) -> list[tuple[tuple[int, ...], ...]]:
    """(tokens seen before, label) of all predictions of each example, by nodes and positions alone."""
    node_of = [node for node in sequence.nodes for _ in range(node.end - node.start)]
    examples = []
    for answer in sequence.answers:
        predictions = []
        for index in answer:
            row = sequence.rows[index]
            seen = [
                other
                for other in range(row + 1)
                if node_of[other] == node_of[row] or node_of[other].end <= row < node_of[other].last
            ]
            assert [sequence.positions[other] for other in seen] == list(range(len(seen)))
            predictions.append((*(sequence.ids[other] for other in seen), sequence.labels[index]))
        examples.append(tuple(predictions))
    return examples


def predictions(example: Encoded) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(example.ids[: end + 1]) for end in range(1, len(example.ids)) if example.mask[end])


@pytest.mark.parametrize(("max_length", "max_examples"), [(130, 100), (300, 100), (10_000, 5), (10_000, 100)])
def test_every_example_is_predicted_from_its_own_tokens(max_length: int, max_examples: int) -> None:
    examples = drawn(3, 4, 3)
    sequences = tree.Forest(examples, max_examples, 0).sequences(max_length)
    assert all(len(one) <= max_length and len(one.answers) <= max_examples for one in sequences)
    known = sorted(prediction for one in sequences for prediction in read_back(one))
    assert known == sorted(predictions(one) for one in examples)
    for one in sequences:
        assert sum(one.weights) == sum(len(answer) for answer in one.answers)
        assert [node.start for node in one.nodes[1:]] == [node.end for node in one.nodes[:-1]]


def test_what_is_shared_is_there_once_and_repeated_where_a_sequence_begins() -> None:
    examples = drawn(1, 6, 2)
    tokens = sum(len(one.ids) for one in examples)
    [whole] = tree.Forest(examples, 100, 0).sequences(10_000)
    assert len(whole) < tokens / 3
    halves = tree.Forest(examples, 6, 0).sequences(10_000)
    assert tree.Forest(examples, 6, 0).rows(10_000) == tree.rows(halves)
    assert [len(one.answers) for one in halves] == [6, 6]
    assert len(whole) < tree.rows(halves) < tokens / 2


def test_cuts_fall_between_databases_and_are_even() -> None:
    lengths, shared = [110] * 8, [0, 100, 100, 100, 0, 100, 100, 100]
    assert tree.cut(lengths, shared, 10_000, 5) == [(0, 4), (4, 8)]
    assert tree.cut([110] * 6, [0, *[100] * 5], 10_000, 4) == [(0, 3), (3, 6)]
    assert tree.cut(lengths, [0] * 8, 10_000, 100) == [(0, 8)]
    assert tree.cut(lengths, shared, 120, 100) == [(0, 2), (2, 4), (4, 6), (6, 8)]
    with pytest.raises(ValueError, match="110 tokens"):
        tree.cut(lengths, shared, 100, 4)


def test_equal_prompts_share_predictions_and_equal_examples_count_twice() -> None:
    prompt = list(range(30))
    twice = example(prompt, [40, 41])
    [one] = tree.Forest([twice, twice, example(prompt, [40, 42])], 10, 0).sequences(100)
    assert sorted(zip(one.labels, one.weights, strict=True)) == [(40, 3.0), (41, 2.0), (42, 1.0)] or (
        len(one) > 34  # answers of less than MIN_SHARED tokens may lie side by side
        and sum(one.weights) == 6
    )
    longer = example([*prompt, 40, 41], [43])
    assert sum(sum(one.weights) for one in tree.Forest([twice, longer], 10, 0).sequences(100)) == 3


def test_the_seed_decides_the_order() -> None:
    examples = drawn(3, 8, 1)

    def order(seed: int) -> list[int]:
        return tree.depth_first(examples, seed).indexes

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(len(examples)))
    trees = tree.Forest(examples, 2, 0).sequences(10_000)
    steps = tree.batches(trees, 6, 1)
    assert steps == tree.batches(trees, 6, 1) != tree.batches(trees, 6, 2)
    assert sorted(index for step in steps for index in step) == list(range(len(trees)))
    assert {sum(len(trees[index].answers) for index in step) for step in steps} == {6}
