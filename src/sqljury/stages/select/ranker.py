"""The ranker agent: one call that sees all queries and writes their ranking (CHASE-SQL, section 4.5, Table 7).

The baseline of the tournament, which it loses to by 7.5 points in the paper: many queries at once are hard to compare,
and one order of them favours some position.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqljury.context import Context
from sqljury.llm.base import LETTERS, Message, Sampling, derive_seed
from sqljury.prompts import Text
from sqljury.recipes.parts import Judged
from sqljury.stages.select.base import SPENT, Selector, TooLongError, UnjudgedError, representatives
from sqljury.stages.select.critic import fitting, lettered
from sqljury.types import Candidate, Choice, Task

_TOKENS: Final = 16
_TOKENS_A_QUERY: Final = 6
_LIST: Final = Text("ranking", "schema")
_LETTER: Final = re.compile(r'"([A-Za-z])"|\b([A-Z])\b')


def ranker(most: int = 0) -> Selector:
    """The selector; only the ``most`` largest groups take part, all for 0, and of these as many as one prompt holds.

    Each group is shown by one query, in an order drawn by the question's seed, so that the size of a group does not
    show. A group's score is the number of groups that it is ranked before; those that the reply leaves out come last,
    the largest first. A single group costs no call. Raises ``UnjudgedError`` for a reply without a ranking.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "ranker")
        groups = list(best)
        ranking = _ranking([candidates[best[group]] for group in groups], task, context) if len(groups) > 1 else [0]
        ranked = [groups[index] for index in ranking]
        ranked += [group for group in groups if group not in ranked]
        scores = tuple(float(len(ranked) - 1 - ranked.index(group)) for group in groups)
        return Choice(best[ranked[0]], "ranker", scores)

    return select


def _ranking(queries: Sequence[Candidate], task: Task, context: Context) -> list[int]:
    """The queries that the reply names, by index, the best first; one less is shown until the context holds them."""
    for count in range(max(2, fitting(queries, task)), 1, -1):
        order = random.Random(derive_seed(context.seed, "ranker")).sample(range(count), count)  # noqa: S311
        messages = conversation([queries[index] for index in order], task, context.recipe.select.schema)
        sampling = Sampling(
            max_tokens=_TOKENS + _TOKENS_A_QUERY * count,
            seed=derive_seed(context.seed, "ranker", messages[-1].content),
            json_schema=reply_schema(count),
        )
        reply = context.ask(messages, sampling)
        if reply is not None:
            if named := read(reply.completions[0].text, count):
                return [order[index] for index in named]
            raise UnjudgedError("the ranker's reply names no query")
        if context.exhausted():
            raise UnjudgedError(SPENT)
    raise TooLongError("the queries are too long for the judge's context")


def conversation(candidates: Sequence[Candidate], task: Task, schema: Judged = "used") -> list[Message]:
    """What the ranker is asked about these queries; see ``lettered``."""
    return lettered("ranker", candidates, task, schema)


def reply_schema(count: int) -> Mapping[str, Any]:
    """JSON Schema of a ranking of so many queries."""
    letters = {
        "type": "array",
        "items": {"type": "string", "enum": [Text(letter, "schema") for letter in LETTERS[:count]]},
    }
    ranking = {**letters, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": {_LIST: ranking},
        "required": [_LIST],
        "additionalProperties": False,
    }


def read(reply: str, count: int) -> list[int]:
    """The places of the letters in a reply, each once, in their order; the strings of its JSON where it is some."""
    try:
        parsed = json.loads(reply)
        named = [str(item) for item in parsed["ranking"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        named = [quoted or bare for quoted, bare in _LETTER.findall(reply)]
    indices = [LETTERS.find(letter.strip().upper()) for letter in named if len(letter.strip()) == 1]
    return list(dict.fromkeys(index for index in indices if 0 <= index < count))
