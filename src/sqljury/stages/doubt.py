"""When an answer is better not given: the schema has nothing for what is asked, or the answer is not sure enough."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from sqljury.language.alike import likeness, pieces, question_words
from sqljury.language.things import GENERAL, ROLES, SAME, is_english, mentioned, things
from sqljury.sql.features import Anatomy, anatomy
from sqljury.sql.parse import exp, quiet, read_query
from sqljury.stages.select.base import representative, rival
from sqljury.stages.select.features import ALIKE
from sqljury.types import Abstention, Candidate, Choice, Reading, Schema, Task
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
INVENTED: Final = 0.5
"""The share of candidates that must name what the question asks for and the schema lacks, for the question to be
refused. Of 600 questions of train that can be answered none has it, and the first candidate of none does (docs/log.md).
"""
_WHICH: Final = "Which of its tables or columns is meant, if any?"
_WORD: Final = re.compile(r"\w+")
_PIECES: Final = 5_000
"""Words of names that those of the question are compared with; of a larger schema the first ones."""


def abstention(
    task: Task, confidence: float, least: float | None, words: Sequence[str], ask: str, invented: Sequence[str] = ()
) -> Abstention | None:
    """Why the chosen candidate is not to be given as the answer; None if it may.

    ``words`` are those of ``missing``, ``invented`` those of ``invented``. ``ask`` is the question that would settle an
    answer that is not sure enough. With ``least`` 0 every answer is given; None is for no bound on the confidence,
    where a question is refused only for what is ``invented``, or if most of what it names is missing.
    """
    if least is not None and least <= 0:
        return None
    if invented or refused(words, task) or (words and least is not None and confidence < max(least, DOUBTFUL)):
        lacked = list(dict.fromkeys((*invented, *words)))
        return Abstention("unanswerable", f"{lacking(lacked)}, so it cannot answer this question.", _WHICH)
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


def is_hopeless(candidates: Sequence[Candidate], task: Task, least: float | None) -> bool:
    """Whether the question will be refused for what its candidates ``invented``, so that repairs are in vain."""
    return (least is None or least > 0) and bool(invented(candidates, task))


@quiet()
def invented(candidates: Sequence[Candidate], task: Task) -> list[str]:
    """Words of the question for which the candidates, as written, name tables or columns that the schema lacks.

    A model that is shown a schema without a salary, and asked for salaries, writes ``salary`` all the same; where it
    can be computed it writes how. Empty unless at least ``INVENTED`` of the candidates do so, and for a question that
    is not in English.
    """
    if not is_english(task.question.text):
        return []
    names, asked, said = _names(task.known), question_words(task.question.text), _said(task)
    listed, folded = _pieces_of(names), {name.casefold() for name in names}
    values = mentioned(task.question.text)  # without quotes they look like names

    @cache
    def lacks(word: str) -> bool:
        named = not word.isdigit() and any(likeness(one, word) >= ALIKE for one in asked)
        return named and word not in values and word not in said and not _known(word, listed)

    @cache
    def lacking_in(sql: str) -> list[str]:
        if not any(lacks(word) for name in set(_WORD.findall(sql)) for word in pieces(name)):
            return []  # most queries need not be parsed
        unknown = [name for name in _named(sql, task.known) if name.casefold() not in folded]
        return [word for name in unknown for word in pieces(name) if lacks(word)]

    found = [lacking_in(one.fixes[0].before if one.fixes else one.sql) for one in candidates]
    enough = found and sum(map(bool, found)) >= INVENTED * len(found)
    return list(dict.fromkeys(word for own in found for word in own)) if enough else []


def _named(sql: str, schema: Schema) -> list[str]:
    """Tables and columns that a query names, without what it calls so itself."""
    query, tree = anatomy(sql, schema), read_query(sql, schema.dialect)
    if tree is None:
        return []
    listed = [column.name for one in tree.find_all(exp.TableAlias) for column in one.args.get("columns") or ()]
    own = {name.casefold() for name in (*(one.alias for one in tree.find_all(exp.Alias)), *listed)}
    return [name for name in (*query.tables, *query.columns) if name.casefold() not in own]


def remark(words: Sequence[str]) -> tuple[str, ...]:
    """A line about the words of ``missing``, for an answer that is given all the same."""
    return (f"{lacking(words)}: see whether the query means what you do",) if words else ()


def lacking(words: Sequence[str]) -> str:
    """The beginning of a sentence that names words of ``missing``."""
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
    listed, said = _pieces_of(_names(task.known)), _said(task)
    return [word for word in things(task.question.text) if word not in said and not _known(word, listed)]


def _names(schema: Schema) -> list[str]:
    """The names of all tables and columns."""
    return [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]


def _pieces_of(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(piece for name in names for piece in pieces(name)))[:_PIECES]


def _said(task: Task) -> str:
    """What notes and evidence say."""
    return " ".join((*task.notes, task.question.evidence)).casefold()


def _known(word: str, names: Sequence[str]) -> bool:
    """Whether a name has the word, one like it, or one with hardly another letter."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extractOne

    if any(likeness(one, name) >= ALIKE for one in (word, *SAME.get(word, ())) for name in names):
        return True
    lists = ((names, MISSPELT), (GENERAL, MISSPELT_GENERAL))
    return any(extractOne(word, own, scorer=Indel.normalized_similarity, score_cutoff=least) for own, least in lists)
