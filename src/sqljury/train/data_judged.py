"""Sets made of a run's candidates with their verdicts: for the critic and for the judge of pairs.

CHASE-SQL, section 3.5: candidates of training questions are grouped by result, and a right group is set against a
wrong one, the order shuffled. Where nothing is right, gold helps: it is shown to the model as a hint, and what the
model then writes takes part if it is right; without a model, gold itself does. MSc-SQL, section 4.1: the critic learns
the next token, which names the right one of several.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from sqljury import prompts
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.db.connect import connect
from sqljury.errors import ContextLengthError, DatasetError
from sqljury.llm.base import LETTERS, LanguageModel, Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.metrics.execution import EX, LIMITS, judge, run_gold
from sqljury.prompts import unmarked
from sqljury.recipes.parts import SchemaPart
from sqljury.stages.generate.direct import question, system
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.base import groups
from sqljury.stages.select.critic import conversation as of_critic
from sqljury.stages.select.critic import failed, fitting
from sqljury.stages.select.tournament import conversation as of_pair
from sqljury.train.data import GOLD, Item
from sqljury.train.replay import Replayed
from sqljury.types import Candidate

MOST_PAIRS: Final = 6
"""Of one question at most, drawn by the seed, so that hard questions do not crowd out the others."""
HINTED: Final = 4
"""Queries that the model writes with gold as a hint: of those that are right, the first that is no copy counts."""
_HINTED: Final = Sampling(temperature=0.8, top_p=0.95, max_tokens=300, stop=STOP)


@dataclass(frozen=True)
class Sides:
    """One question's queries, one a group: those that are right, and those that are not.

    ``hint`` says where the right one comes from when no candidate was: a ``model`` that saw gold, ``gold`` itself, of
    which a model's copy counts as gold too, or empty.
    """

    one: Replayed
    right: tuple[Candidate, ...]
    wrong: tuple[Candidate, ...]
    hint: str = ""

    def meta(self, kind: str) -> dict[str, Any]:
        """What an item says of where it comes from."""
        question = {"id": self.one.id, "db_id": self.one.named, "question": self.one.task.question.text}
        return {"kind": kind, **question, "hint": self.hint}


def sides(
    questions: Iterable[Replayed], part: SchemaPart, seed: int, model: LanguageModel | None = None
) -> Iterator[Sides]:
    """The questions that have both a right and a wrong query, with gold's help where nothing is right.

    ``part`` is how schemas are shown to ``model``. Raises what the model raises.
    """
    for one in questions:
        numbers = groups(one.candidates)
        found = Sides(
            one,
            tuple(one.speaker(number) for number in numbers if number in one.right),
            tuple(one.speaker(number) for number in numbers if number not in one.right),
        )
        if found.wrong and not found.right:
            found = _helped(found, part, seed, model)
        if found.wrong and found.right:
            yield found


def _helped(found: Sides, part: SchemaPart, seed: int, model: LanguageModel | None) -> Sides:
    """With a right query that gold or the model gives, if there is one that can be shown.

    Verdicts rest on whole results (``LIMITS``). What a judge is shown is read as far as the candidates' results were
    (``DEFAULT_LIMITS``): one that is longer than theirs can be would tell which query is right.
    """
    one = found.one
    with connect(one.database) as db:
        if model is None:
            shown = db.execute(EX.prepare(one.gold), DEFAULT_LIMITS)
            return replace(found, right=(Candidate(one.gold, "gold", result=shown),), hint=GOLD) if shown.ok else found
        try:
            gold, own = run_gold(db, one.gold), None
        except DatasetError:  # it ran when the run was judged; a busy machine may be too slow for it now
            return found
        for sql in _hinted(one, part, seed, model, db):
            result = db.execute(EX.prepare(sql), LIMITS)
            if not judge(gold, result, EX.ordered(one.gold)).correct:
                continue
            if (shown := db.execute(sql, DEFAULT_LIMITS)).ok:
                own = Candidate(sql, "hinted", result=shown)
                if _bare(sql) != _bare(one.gold):
                    break
        if own is None:
            return found
        return replace(found, right=(own,), hint=GOLD if _bare(own.sql) == _bare(one.gold) else "model")


def _hinted(one: Replayed, part: SchemaPart, seed: int, model: LanguageModel, db: Database) -> list[str]:
    """What the model writes, ``HINTED`` times, when it is shown gold; nothing for a schema that is too long for it."""
    task = Preparation(part).task(one.task.question, db)
    asked = prompts.render("train/hint", question=question(task), gold=unmarked(one.gold))
    own = replace(_HINTED, seed=derive_seed(seed, "hint", one.id))
    try:
        reply = model.complete([system(task), Message("user", asked)], own, HINTED)
    except ContextLengthError:
        return []
    return [sql for completion in reply.completions if (sql := extract_sql(completion.text))]


def _bare(sql: str) -> str:
    """A query without what does not matter in it, so that a copy is known for one."""
    return "".join(sql.casefold().replace('"', "'").split()).rstrip(";")


def pairwise(questions: Iterable[Sides], seed: int, most: int = MOST_PAIRS) -> Iterator[Item]:
    """Each right query with each wrong one, ``most`` pairs of a question; the answer is the letter of the right one."""
    for found in questions:
        drawn = _draw(seed, "pairs", found)
        pairs = [(right, wrong) for right in found.right for wrong in found.wrong]
        for right, wrong in drawn.sample(pairs, min(most, len(pairs))):
            place = drawn.randrange(2)
            shown = (right, wrong) if place == 0 else (wrong, right)
            messages = of_pair(*shown, found.one.task)
            yield Item(tuple(messages), LETTERS[place], found.meta("pairwise"))


def critic(questions: Iterable[Sides], seed: int, most: int = len(LETTERS)) -> Iterator[Item]:
    """One right query among up to ``most`` queries, shuffled; the answer is its letter.

    A question with several right groups has an item for each, for the critic is to choose one. What failed is shown
    behind them, as at inference.
    """
    for found in questions:
        broken = failed(found.one.candidates)
        for number, right in enumerate(found.right):
            drawn = _draw(seed, f"critic {number}", found)
            listed = [right, *found.wrong, *broken][:most]
            shown = listed[: max(2, fitting(listed))]
            ran = min(len(shown), 1 + len(found.wrong))
            order = [*drawn.sample(range(ran), ran), *range(ran, len(shown))]
            messages = of_critic([shown[place] for place in order], found.one.task)
            yield Item(tuple(messages), LETTERS[order.index(0)], found.meta("critic"))


def _draw(seed: int, purpose: str, found: Sides) -> random.Random:
    return random.Random(derive_seed(seed, purpose, found.one.id))  # noqa: S311
