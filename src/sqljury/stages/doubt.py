"""When an answer is better not given: the schema has nothing for what is asked, or the answer is not sure enough."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from sqljury.language.alike import likeness, pieces
from sqljury.language.things import GENERAL, ROLES, SAME, things
from sqljury.sql.features import Anatomy, anatomy
from sqljury.stages.select.base import representative, rival
from sqljury.stages.select.features import ALIKE
from sqljury.types import Abstention, Candidate, Choice, Reading, Task
from sqljury.types.answer import in_words

MISSPELT: Final = 0.82
"""The share of letters in common from which on a word is a name of the schema, misspelt."""
MISSPELT_GENERAL: Final = 0.9
"""The same for a general word: a theme is not them, and a country no count."""
SURELY: Final = 2.0
"""From this weight of missing words on a question is not answered, if they are most of what it names."""
MOST: Final = 2 / 3
"""More than this share of what a question names must be missing: sales and margins by region may be computed."""
DOUBTFUL: Final = 0.75
"""Below this confidence one missing word is enough where a confidence is asked for: of 600 questions of train, that
refuses one right answer."""
_WHICH: Final = "Which of its tables or columns is meant, if any?"
_PIECES: Final = 5_000
"""Words of names that those of the question are compared with; of a larger schema the first ones."""


def abstention(task: Task, confidence: float, least: float | None, words: Sequence[str], ask: str) -> Abstention | None:
    """Why the chosen candidate is not to be given as the answer; None if it may. ``words`` are those of ``missing``.

    ``ask`` is the question that would settle an answer that is not sure enough. With ``least`` 0 every answer is given;
    None is for no bound on the confidence, where a question is refused only if most of what it names is missing.
    """
    if least is not None and least <= 0:
        return None
    if refused(words, task) or (words and least is not None and confidence < max(least, DOUBTFUL)):
        return Abstention("unanswerable", f"{_lacking(words)}, so it cannot answer this question.", _WHICH)
    if least is not None and confidence < least:
        reason = f"The answer is {in_words(confidence)} ({confidence:.0%}), less sure than asked for ({least:.0%})."
        return Abstention("unsure", reason, ask)
    return None


def between(readings: Sequence[Reading]) -> str:
    """The question which of two readings is meant, in the words on which they part; empty where there are none."""
    if len(readings) < 2:
        return ""
    first, second = readings[:2]
    return f"Does '{first.words}' mean {first.meaning}, or {second.meaning}?"


def settling(candidates: Sequence[Candidate], choice: Choice, task: Task) -> str:
    """The question on which the chosen query and the best other one part; empty where there is no other."""
    other = rival(candidates, choice)
    if choice.index is None or other is None:
        return ""
    queries = (candidates[choice.index].sql, candidates[representative(candidates, other)].sql)
    return _parting(*(anatomy(sql, task.known) for sql in queries))


def _parting(first: Anatomy, second: Anatomy) -> str:
    if set(first.tables) != set(second.tables):
        return f"Is it about {_listed(first.tables)}, or about {_listed(second.tables)}?"
    if first.items != second.items:
        return f"Is {_listed(sorted(first.items))} to be shown, or {_listed(sorted(second.items))}?"
    if first.restrictions != second.restrictions:
        one, other = first.restrictions - second.restrictions, second.restrictions - first.restrictions
        return (
            f"Is it meant that {_listed(sorted(one)) or 'all rows count'}, or {_listed(sorted(other)) or 'all rows'}?"
        )
    if ("distinct" in first.elements) != ("distinct" in second.elements):
        return "Is each value to be shown or counted once, or as often as it occurs?"
    return "Which of the two queries is meant? See them with --explain."


def _listed(names: Collection[str]) -> str:
    return " and ".join(list(names)[:3])


def remark(words: Sequence[str]) -> tuple[str, ...]:
    """A line about the words of ``missing``, for an answer that is given all the same."""
    return (f"{_lacking(words)}: see whether the query means what you do",) if words else ()


def _lacking(words: Sequence[str]) -> str:
    return f"The database has nothing called {' and '.join(repr(word) for word in words[:3])}"


def missing(task: Task) -> list[str]:
    """Things that the question names and the database seems to lack; empty where that may be a matter of words."""
    words = unnamed(task)
    return words if weight(words) >= 1 else []


def refused(words: Sequence[str], task: Task) -> bool:
    """Whether so much of what the question names is missing that no answer can be right."""
    return weight(words) >= SURELY and len(words) > MOST * len(things(task.question.text))


def weight(words: Sequence[str]) -> float:
    """How much it says that the database lacks these words.

    One for a kind of people or bodies counts half: schemas often have only a key of them, or another word.
    """
    return sum(0.5 if word in ROLES else 1.0 for word in words)


def unnamed(task: Task) -> list[str]:
    """Things that the question names and neither the schema nor a note on it does, nor a value that was found."""
    names = dict.fromkeys(
        piece
        for table in task.known.tables
        for name in (table.name, *(column.name for column in table.columns))
        for piece in pieces(name)
    )
    listed = list(names)[:_PIECES]
    said = " ".join((*task.notes, task.question.evidence)).casefold()
    return [word for word in things(task.question.text) if word not in said and not _known(word, listed)]


def _known(word: str, names: Sequence[str]) -> bool:
    """Whether a name has the word, one like it, or one with hardly another letter."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extractOne

    if any(likeness(one, name) >= ALIKE for one in (word, *SAME.get(word, ())) for name in names):
        return True
    lists = ((names, MISSPELT), (GENERAL, MISSPELT_GENERAL))
    return any(extractOne(word, own, scorer=Indel.normalized_similarity, score_cutoff=least) for own, least in lists)
