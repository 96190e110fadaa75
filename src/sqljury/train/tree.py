"""Prefix trees: what training examples begin with in common is computed once.

Examples on one database share the system prompt and the schema, often some hundred tokens, candidates of one question
also the question. A sequence holds several examples as a tree: each node is a run of tokens that the same examples
share, and its rows attend to the rows of its ancestors and, causally, to their own. Positions continue from the parent,
so every row computes what it would in a sequence of its example alone, and so do loss and gradients.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from sqljury.train.examples import Encoded

MIN_SHARED: Final = 16
"""Tokens below which a common beginning is repeated instead: a node costs calls of the attention kernel, and children
of one node are shuffled, which mixes questions that begin alike into different sequences."""
SEQUENCE_ROWS: Final = 32
"""Rows in whose time a sequence begins: all weights are read from memory, forward and backward."""
BALANCE: Final = 0.001
"""Tokens that a sequence of the full length costs above two of half of it: of equal cuts, the most even is taken."""


class Node(NamedTuple):
    """Rows ``start`` to ``end`` of a sequence; its descendants are the rows from ``end`` to ``last``."""

    start: int
    end: int
    last: int


@dataclass(frozen=True, slots=True)
class TreeSequence:
    """Examples as one sequence: a row has a token, its position, and the node it belongs to, in depth-first order.

    Row ``rows[i]`` predicts token ``labels[i]``; ``weights[i]`` is the summed weight of the examples that learn it
    there. ``answers`` lists for each example the indexes into ``rows`` of its answer.
    """

    ids: list[int]
    positions: list[int]
    nodes: list[Node]
    rows: list[int]
    labels: list[int]
    weights: list[float]
    answers: list[list[int]]

    def __len__(self) -> int:
        return len(self.ids)


class Order(NamedTuple):
    """Indexes of examples in depth-first order of their tree, and the tokens each shares with the one before it."""

    indexes: list[int]
    shared: list[int]


class Forest:
    """Examples in depth-first order of their prefix tree, to be cut into sequences.

    Of examples that may lie side by side, ``seed`` decides the order.
    """

    def __init__(self, examples: Sequence[Encoded], max_examples: int, seed: int) -> None:
        self._examples = examples
        self._order = depth_first(examples, seed)
        self._lengths = [len(examples[index].ids) for index in self._order.indexes]
        self._max_examples = max_examples

    def sequences(self, max_length: int) -> list[TreeSequence]:
        """The sequences of at most ``max_length`` rows, and the examples of the forest, with the fewest rows in all.

        Raises ``ValueError`` for an example of more than ``max_length`` tokens.
        """
        return [
            _sequence(
                [self._examples[index] for index in self._order.indexes[start:end]],
                [0, *self._order.shared[start + 1 : end]],
            )
            for start, end in self._cuts(max_length)
        ]

    def rows(self, max_length: int) -> int:
        """The rows of all sequences of at most ``max_length`` rows."""
        first = sum(self._order.shared[start] for start, _ in self._cuts(max_length))
        return sum(self._lengths) - sum(self._order.shared) + first

    def _cuts(self, max_length: int) -> list[tuple[int, int]]:
        return cut(self._lengths, self._order.shared, max_length, self._max_examples)


def depth_first(examples: Sequence[Encoded], seed: int) -> Order:
    """The order of a depth-first walk through the tree of all examples, the children of each node shuffled."""
    ordered = sorted(range(len(examples)), key=lambda index: examples[index].ids)
    common = [0, *(_common(examples[index].ids, examples[following].ids) for index, following in pairwise(ordered))]
    draw = random.Random(seed)  # noqa: S311  # an order, not a secret
    order = Order([], [])
    # Examples from ``start`` to ``end`` of the sorted ones, the depth of their parent's end, tokens shared with the
    # example before them.
    pending = [(0, len(ordered), 0, 0)] if ordered else []
    while pending:
        start, end, depth, shared = pending.pop()
        if end - start == 1:
            order.indexes.append(ordered[start])
            order.shared.append(shared)
            continue
        branch = min(common[start + 1 : end])
        depth = branch if branch - depth >= MIN_SHARED else depth
        children = _children(common, start, end, depth)
        draw.shuffle(children)
        sharing = [shared, *[depth] * (len(children) - 1)]
        pending += reversed([(*child, depth, tokens) for child, tokens in zip(children, sharing, strict=True)])
    return order


def _children(common: Sequence[int], start: int, end: int, depth: int) -> list[tuple[int, int]]:
    """The children of a node that ends at ``depth``: single examples, and groups that share ``MIN_SHARED`` more."""
    children = []
    pending = [(start, end)]
    while pending:
        first, last = pending.pop()
        branch = min(common[first + 1 : last], default=0)
        if last - first == 1 or branch - depth >= MIN_SHARED:
            children.append((first, last))
        else:
            borders = [first, *(index for index in range(first + 1, last) if common[index] == branch), last]
            pending += pairwise(borders)
    return children


def cut(lengths: Sequence[int], shared: Sequence[int], max_length: int, max_examples: int) -> list[tuple[int, int]]:
    """The cut of examples in depth-first order into runs of the fewest tokens in all, as (start, end) of each run.

    The first example of a run repeats the prefix that it shared with the one before; so cuts fall where little is
    shared, between databases. Raises ``ValueError`` for an example of more than ``max_length`` tokens.
    """
    if max(lengths, default=0) > max_length:
        raise ValueError(f"an example has {max(lengths)} tokens, more than {max_length}")
    least = [0.0]  # tokens of the first examples, cut as well as possible
    starts = [0]
    for end in range(1, len(lengths) + 1):
        options = []
        rows = 0
        for start in range(end - 1, max(-1, end - max_examples - 1), -1):
            rows += lengths[start] - (shared[start + 1] if start + 1 < end else 0)
            if rows > max_length:
                break
            options.append((least[start] + SEQUENCE_ROWS + rows + BALANCE * rows * rows / max_length, start))
        cost, start = min(options)
        least.append(cost)
        starts.append(start)
    runs = []
    end = len(lengths)
    while end:
        runs.append((starts[end], end))
        end = starts[end]
    return runs[::-1]


def _sequence(examples: Sequence[Encoded], shared: Sequence[int]) -> TreeSequence:
    """One tree of ``examples``, each of which shares ``shared`` tokens with the one before it."""
    tree = TreeSequence([], [], [], [], [], [], [])
    borders = set()
    path: list[int] = []  # the row of each token of the current example
    predictions: dict[tuple[int, int], int] = {}
    for example, tokens in zip(examples, shared, strict=True):
        del path[tokens:]
        if path:
            borders.add(path[-1] + 1)
        borders.add(len(tree))
        path += range(len(tree), len(tree) + len(example.ids) - tokens)
        tree.ids.extend(example.ids[tokens:])
        tree.positions.extend(range(tokens, len(example.ids)))
        answer = []
        for depth in range(1, len(path)):
            if example.mask[depth]:
                prediction = (path[depth - 1], example.ids[depth])
                answer.append(predictions.setdefault(prediction, len(predictions)))
        tree.answers.append(answer)
    tree.rows.extend(row for row, _ in predictions)
    tree.labels.extend(label for _, label in predictions)
    tree.weights.extend([0.0] * len(predictions))
    for example, answer in zip(examples, tree.answers, strict=True):
        for index in answer:
            tree.weights[index] += example.weight
    tree.nodes.extend(_nodes(sorted({*borders, len(tree)}), tree.positions))
    return tree


def _nodes(borders: Sequence[int], positions: Sequence[int]) -> list[Node]:
    """The nodes between ``borders``: a node's descendants end where a row is not deeper than its first."""
    nodes: list[Node] = []
    ancestors: list[tuple[int, int]] = []  # (index, position) of nodes whose last descendant is not known
    for start, end in pairwise(borders):
        while ancestors and ancestors[-1][1] >= positions[start]:
            index, _ = ancestors.pop()
            nodes[index] = nodes[index]._replace(last=start)
        ancestors.append((len(nodes), positions[start]))
        nodes.append(Node(start, end, borders[-1]))
    return nodes


def batches(trees: Sequence[TreeSequence], size: int, seed: int) -> list[list[int]]:
    """Indexes of ``trees`` in the order of ``seed``, by steps of about ``size`` examples."""
    order = list(range(len(trees)))
    random.Random(seed).shuffle(order)  # noqa: S311  # an order, not a secret
    steps: list[list[int]] = []
    examples = size
    for index in order:
        count = len(trees[index].answers)
        if examples + count / 2 >= size:
            steps.append([])
            examples = 0
        steps[-1].append(index)
        examples += count
    return steps


def rows(trees: Iterable[TreeSequence]) -> int:
    """The rows of all ``trees``: the tokens that a pass over them computes."""
    return sum(map(len, trees))


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of tokens that both begin with."""
    return next(
        (index for index, (left, right) in enumerate(zip(first, second, strict=False)) if left != right),
        min(len(first), len(second)),
    )
