"""Training sets of a run's candidates with their verdicts: for the critic and the pairwise judge.

CHASE-SQL, section 3.5: candidates of training questions are grouped by result, and a correct group is set against a
wrong one, in random order. Where no candidate is correct, the gold query helps: it is shown to the model as a hint, and
what the model then writes takes part if it is correct; without a model, the gold query itself does. MSc-SQL, section
4.1: the critic learns the next token, which names the correct candidate of several.
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
from sqljury.stages.select.critic import OPTIONS, conversation_alone, failed, fitting
from sqljury.stages.select.critic import conversation as critic_conversation
from sqljury.stages.select.tournament import conversation as pair_conversation
from sqljury.train.data import GOLD, question_meta
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed
from sqljury.types import Candidate

MAX_PAIRS: Final = 6
"""Pairs of one question, drawn by the seed, so that hard questions do not crowd out the others."""
HINTED_SAMPLES: Final = 4
"""Queries that the model writes with gold as a hint; the first correct one that is not a copy takes part."""
_HINTED: Final = Sampling(temperature=0.8, top_p=0.95, max_tokens=300, stop=STOP)


@dataclass(frozen=True)
class JudgedQuestion:
    """A question with the representatives of its correct and of its wrong groups.

    ``hint`` names the source of the queries where they are not candidates alone: ``model`` for a correct one by a model
    that saw the gold query, ``gold`` for the gold query or a copy of it, ``mistake`` for the gold query and mistakes in
    it; else it is empty.
    """

    replayed: Replayed
    correct: tuple[Candidate, ...]
    wrong: tuple[Candidate, ...]
    hint: str = ""

    def meta(self, kind: str) -> dict[str, Any]:
        """The ``meta`` of an example of this question."""
        source = self.replayed
        question = question_meta(source.id, source.db_id, source.task.question.text)
        return {"kind": kind, **question, "hint": self.hint}


def judged_questions(
    questions: Iterable[Replayed], part: SchemaPart, seed: int, model: LanguageModel | None = None
) -> Iterator[JudgedQuestion]:
    """The questions that have both a correct and a wrong query, with gold's help where no candidate is correct.

    ``part`` is how schemas are shown to ``model``. Raises what the model raises.
    """
    for replayed in questions:
        numbers = groups(replayed.candidates)
        judged = JudgedQuestion(
            replayed,
            tuple(replayed.representative(number) for number in numbers if number in replayed.correct),
            tuple(replayed.representative(number) for number in numbers if number not in replayed.correct),
        )
        if judged.wrong and not judged.correct:
            judged = _with_gold(judged, part, seed, model)
        if judged.wrong and judged.correct:
            yield judged


def _with_gold(judged: JudgedQuestion, part: SchemaPart, seed: int, model: LanguageModel | None) -> JudgedQuestion:
    """``judged`` with a correct query from the gold query or the model, if there is one that can be shown.

    Verdicts rest on whole results (``LIMITS``). The result that a judge is shown is read under the candidates' limits
    (``DEFAULT_LIMITS``): a longer one than theirs can be would tell which query is correct.
    """
    source = judged.replayed
    with connect(source.database) as db:
        if model is None:
            result = db.execute(EX.prepare(source.gold), DEFAULT_LIMITS)
            if not result.ok:
                return judged
            return replace(judged, correct=(Candidate(source.gold, "gold", result=result),), hint=GOLD)
        try:
            gold_result = run_gold(db, source.gold)
        except DatasetError:  # it ran when the run was judged; a busy machine may be too slow for it now
            return judged
        written: Candidate | None = None
        for sql in _hinted_queries(source, part, seed, model, db):
            result = db.execute(EX.prepare(sql), LIMITS)
            if not judge(gold_result, result, EX.ordered(source.gold)).correct:
                continue
            if (shown := db.execute(sql, DEFAULT_LIMITS)).ok:
                written = Candidate(sql, "hinted", result=shown)
                if not _is_copy(sql, source.gold):
                    break
        if written is None:
            return judged
        return replace(judged, correct=(written,), hint=GOLD if _is_copy(written.sql, source.gold) else "model")


def _hinted_queries(source: Replayed, part: SchemaPart, seed: int, model: LanguageModel, db: Database) -> list[str]:
    """What the model writes when it is shown the gold query; nothing for a schema that is too long for it."""
    task = Preparation(part).task(source.question, db, source.notes)
    asked = prompts.render("train/hint", question=question(task), gold=unmarked(source.gold))
    sampling = replace(_HINTED, seed=derive_seed(seed, "hint", source.id))
    try:
        reply = model.complete([system(task), Message("user", asked)], sampling, HINTED_SAMPLES)
    except ContextLengthError:
        return []
    return [sql for completion in reply.completions if (sql := extract_sql(completion.text))]


def _is_copy(sql: str, gold: str) -> bool:
    """Whether two queries differ at most in case, blanks, quotes and a final semicolon."""
    bare, bare_gold = ("".join(text.casefold().replace('"', "'").split()).rstrip(";") for text in (sql, gold))
    return bare == bare_gold


def pairwise_examples(
    questions: Iterable[JudgedQuestion], seed: int, max_pairs: int = MAX_PAIRS, *, both_orders: bool = False
) -> Iterator[TrainingExample]:
    """Up to ``max_pairs`` pairs of a correct and a wrong query for each question; the answer is the correct letter.

    A pair is shown in an order that is drawn, or in both: then no position can be preferred for being right more often.
    """
    for judged in questions:
        rng = _random(seed, "pairs", judged)
        pairs = [(correct, wrong) for correct in judged.correct for wrong in judged.wrong]
        for correct, wrong in rng.sample(pairs, min(max_pairs, len(pairs))):
            first = rng.randrange(2)
            for index in (first, 1 - first) if both_orders else (first,):
                shown = (correct, wrong) if index == 0 else (wrong, correct)
                messages = pair_conversation(*shown, judged.replayed.task, judged.replayed.judged)
                yield TrainingExample(tuple(messages), LETTERS[index], judged.meta("pairwise"))


def critic_examples(
    questions: Iterable[JudgedQuestion], seed: int, max_queries: int = len(LETTERS), *, both_orders: bool = False
) -> Iterator[TrainingExample]:
    """One correct query among up to ``max_queries``, shuffled; the answer is its letter.

    A question with several correct groups gives an example for each, since the critic chooses one query. Queries that
    failed are shown behind the others, as at inference. With ``both_orders`` the queries that ran are shown in the
    reverse order too.
    """
    for judged in questions:
        source = judged.replayed
        broken = failed(source.candidates)
        for number, correct in enumerate(judged.correct):
            rng = _random(seed, f"critic {number}", judged)
            listed = [correct, *judged.wrong, *broken][:max_queries]
            shown = listed[: max(2, fitting(listed, source.task))]
            running = min(len(shown), 1 + len(judged.wrong))
            drawn = rng.sample(range(running), running)
            for order in (drawn, drawn[::-1]) if both_orders else (drawn,):
                whole = [*order, *range(running, len(shown))]
                messages = critic_conversation([shown[index] for index in whole], source.task, source.judged)
                yield TrainingExample(tuple(messages), LETTERS[order.index(0)], judged.meta("critic"))


def independent_examples(questions: Iterable[JudgedQuestion], seed: int) -> Iterator[TrainingExample]:
    """One query at a time, correct or not (MSc-SQL, section 4.1 and Table 5), as many wrong ones as correct ones.

    Of a question's queries as many are drawn of either kind as there are of the rarer: of all, most would be wrong, and
    a critic that always says so would be right most often.
    """
    for judged in questions:
        rng = _random(seed, "independent", judged)
        size = min(len(judged.correct), len(judged.wrong))
        for answer, queries in zip(OPTIONS, (judged.correct, judged.wrong), strict=True):
            for query in rng.sample(queries, size):
                messages = conversation_alone(query, judged.replayed.task, judged.replayed.judged)
                meta = {**judged.meta("critic"), "independent": True}
                yield TrainingExample(tuple(messages), answer.capitalize(), meta)


def _random(seed: int, purpose: str, judged: JudgedQuestion) -> random.Random:
    return random.Random(derive_seed(seed, purpose, judged.replayed.id))  # noqa: S311
