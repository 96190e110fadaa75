"""When an answer is better not given: the schema has nothing for what is asked, or the answer is not sure enough."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from sqljury.language.alike import likeness, pieces, question_words
from sqljury.language.things import GENERAL, ROLES, SAME, has_english, is_english, mentioned, things
from sqljury.sql.conditions import outer_conjuncts
from sqljury.sql.features import anatomy
from sqljury.sql.parse import errors, exp, quiet, read_query
from sqljury.sql.provenance.phrases import Phrases, listed
from sqljury.sql.resolve import find_table, owner
from sqljury.sql.terms import meant, row_count
from sqljury.sql.text import remark as shortened
from sqljury.stages.repair.hints import NotHeld
from sqljury.stages.select.base import representative, rival
from sqljury.stages.select.features import ALIKE
from sqljury.types import Abstention, Candidate, Choice, Explanation, Reading, Schema, Step, Task
from sqljury.types.answer import in_words

MISSPELT: Final = 0.82
"""The share of letters in common from which on a word is a name of the schema, misspelt."""
MISSPELT_GENERAL: Final = 0.9
"""The same for a general word, which must share the first and the last letter too: a theme is not them, a county not a
count, a weight not eight and a server not serve."""
SURELY: Final = 2.0
"""From this weight of missing words on a question is not answered, if they are most of what it names."""
MOST: Final = 2 / 3
"""More than this share of what a question names must be missing: sales and margins by region may be computed."""
UNFOUNDED: Final = 0.5
"""The most confidence of an answer to a question of which the database knows no thing: so it is for 67 of 160 questions
of train that it cannot answer, and for 6 of 5,784 that it can; the calibration was fitted on such as these.
"""
NOT_HELD: Final = 0.1
"""The most confidence of an answer whose query compares with a text that the column lacks and that is no word of the
question, or with one of a column of few texts. Of 18 such answers on databases of businesses one was right; a name that
the question says, and that nobody has, is another matter.
"""
INVENTED: Final = 0.2
"""The share of candidates that must name what the question asks for and the schema lacks, for the question to be
refused. Of 1,130 questions that can be answered, on train and on databases of businesses, none has it (docs/log.md).
"""
_WHICH: Final = "Which of its tables or columns is meant, if any?"
_EITHER: Final = "Which of the two queries is meant?"
_TELLING: Final = ("filter", "group", "show", "order", "limit")
"""Kinds of steps that tell what a query means; which tables it reads and joins says less."""
_TOLD: Final = 3
_LISTED: Final = 3
_CHARS: Final = 160
_WORD: Final = re.compile(r"\w+")
_DATED: Final = re.compile(r"date|time", re.IGNORECASE)
"""Types of dates."""
_PIECES: Final = 5_000
"""Words of names that those of the question are compared with; of a larger schema the first ones."""


def abstention(
    task: Task, confidence: float, least: float | None, words: Sequence[str], ask: str, invented: Sequence[str] = ()
) -> Abstention | None:
    """Why the chosen candidate is not to be given as the answer; None if it may.

    ``words`` are those of ``missing``, ``invented`` those of ``invented``. ``ask`` is the question that would settle an
    answer that is not sure enough. With ``least`` 0 every answer is given; None is for no bound on the confidence.
    """
    if least is not None and least <= 0:
        return None
    if invented or refused(words, task):
        lacked = list(dict.fromkeys((*invented, *words)))
        return Abstention("unanswerable", f"{lacking(lacked)}, so it cannot answer this question.", _WHICH)
    if least is not None and confidence < least:
        reason = f"The answer is {in_words(confidence)} ({confidence:.0%}), less sure than asked for ({least:.0%})."
        lacks = f" {lacking(words)}." if words else ""
        return Abstention("unsure", reason + lacks, ask or (_WHICH if words else ""))
    return None


def bounded(confidence: float, task: Task, words: Sequence[str], invented: Sequence[str] = ()) -> float:
    """The confidence, at most ``UNFOUNDED`` where all things of the question are missing, or it cannot be answered."""
    unfounded = bool(invented) or refused(words, task) or (bool(words) and _is_all(words, task))
    return min(confidence, UNFOUNDED) if unfounded else confidence


def bounded_by_texts(confidence: float, texts: Sequence[NotHeld]) -> float:
    """The confidence, at most ``NOT_HELD`` where the query looks for a text that cannot be what is meant."""
    return min(confidence, NOT_HELD) if any(text.few or not text.said for text in texts) else confidence


def between(readings: Sequence[Reading]) -> str:
    """The question which of two readings is meant, in the words on which they part; empty where there are none."""
    if len(readings) < 2:
        return ""
    first, second = readings[:2]
    return f"Does '{first.words}' mean {first.meaning}, or {second.meaning}?"


def settling(candidates: Sequence[Candidate], choice: Choice, task: Task) -> str:
    """The question on which the chosen query and the best other one part; empty where there is no other."""
    rival_group = rival(candidates, choice)
    if choice.index is None or rival_group is None:
        return ""
    first, second = candidates[choice.index].sql, candidates[representative(candidates, rival_group)].sql
    return _parting(first, second, task.known) or _EITHER


def confirming(explanation: Explanation | None) -> str:
    """The question whether the chosen query means what was asked, by its last steps; empty where it has none.

    Of a set operation these are how it combines its parts, and the last steps of each part.
    """
    steps = explanation.steps if explanation is not None else ()
    outer = [step for step in steps if step.depth == 0]
    if any(step.kind == "combine" for step in outer):
        texts = list(_combined(steps))
    else:
        texts = [_clause(step) for step in outer if step.kind in _TELLING][-_TOLD:]
    return f"Is this what is meant: {'; '.join([*texts[:1], *map(_continued, texts[1:])])}?" if texts else ""


def _combined(steps: Sequence[Step]) -> Iterator[str]:
    """What combines the parts of a set operation, each part by its last steps, and what orders and cuts the result."""
    starts = [index for index, step in enumerate(steps) if step.depth == 0]
    for start, end in zip(starts, [*starts[1:], len(steps)], strict=True):
        text, part = _clause(steps[start]), [step for step in steps[start + 1 : end] if step.depth == 1]
        if text.endswith(":") and steps[start].kind == "combine":
            clauses = [_clause(step) for step in part if step.kind in (*_TELLING, "combine")]
            last = [clause for clause in clauses if not clause.endswith(":")][-_TOLD:]
            yield f"{text} {', '.join(map(_continued, last))}"
        elif steps[start].kind in (*_TELLING, "combine"):
            yield text


def _clause(step: Step) -> str:
    return step.text.strip().rstrip(".")


def _continued(text: str) -> str:
    return text[:1].lower() + text[1:]


@quiet()
def _parting(left: str, right: str, schema: Schema) -> str:
    """The question on which two queries part, in plain words; empty where they part on none of what is compared."""
    trees = [read_query(sql, schema.dialect) for sql in (left, right)]
    try:
        first, second = (_Told(tree, schema) for tree in trees if tree is not None)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return ""  # a query that cannot be read, or a parser's own bug on odd text
    if set(first.tables) != set(second.tables):
        return f"Is it about {_some(first.tables)}, or about {_some(second.tables)}?"
    if set(first.items) != set(second.items):
        return f"Is {_some(first.items)} to be shown, or {_some(second.items)}?"
    if set(first.conditions) != set(second.conditions):
        on_left = [condition for condition in first.conditions if condition not in second.conditions]
        on_right = [condition for condition in second.conditions if condition not in first.conditions]
        return f"Is it meant that {_some(on_left) or 'all rows count'}, or that {_some(on_right) or 'all rows count'}?"
    if first.distinct != second.distinct:
        return "Is each value to be shown or counted once, or as often as it occurs?"
    return ""


class _Told:
    """What a query reads, shows and keeps, in plain words, each once."""

    def __init__(self, tree: exp.Query, schema: Schema) -> None:
        self._phrases = Phrases(schema)
        for column in tree.find_all(exp.Column):  # spelled as the schema does, so that spelling is no difference
            _, table = owner(column, schema) or ("", None)
            spelled = table.columns if table is not None else ()
            name = next(
                (declared.name for declared in spelled if declared.name.lower() == column.name.lower()), column.name
            )
            if not isinstance(column.this, exp.Star):
                column.set("this", exp.to_identifier(name))
        read = (find_table(schema, node) for node in tree.find_all(exp.Table))
        self.tables = list(dict.fromkeys(table.name for table in read if table is not None))
        self.items = list(dict.fromkeys(self._phrases.value(item) for item in tree.selects))
        self.conditions = list(dict.fromkeys(self._kept(tree)))
        self.distinct = tree.find(exp.Distinct) is not None

    def _kept(self, tree: exp.Query) -> Iterator[str]:
        """Each condition of WHERE and HAVING on its own, and the order that a LIMIT cuts."""
        for clause in tree.find_all(exp.Where, exp.Having):
            yield from map(self._phrases.condition, outer_conjuncts(clause))
        for query in tree.find_all(exp.Query):
            order, limit = query.args.get("order"), row_count(query, "limit")
            if order is not None and limit:
                keys = [self._key(key, query) for key in order.expressions]
                rows = "row counts" if limit == "1" else f"{limit} rows count"
                yield f"only the first {rows}, by {listed(keys)}"

    def _key(self, key: exp.Expr, query: exp.Query) -> str:
        return f"the {'highest' if key.args.get('desc') else 'lowest'} {self._phrases.value(meant(key.this, query))}"


def _some(texts: Sequence[str]) -> str:
    return listed([shortened(text, _CHARS) for text in texts[:_LISTED]])


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
    names, asked, stated = _names(task.known), question_words(task.question.text), _said(task)
    values = mentioned(task.question.text)  # without quotes they look like names

    @cache
    def listed() -> list[str]:
        return _pieces_of(names)

    @cache
    def lacks(word: str) -> bool:
        named = not word.isdigit() and any(likeness(term, word) >= ALIKE for term in asked)
        return named and word not in values and word not in stated and not _known(word, listed())

    @cache
    def lacking_in(sql: str) -> list[str]:
        if not any(lacks(word) for name in set(_WORD.findall(sql)) for word in pieces(name)):
            return []  # most queries need not be parsed
        folded = {name.casefold() for name in names}
        unknown = [name for name in _named(sql, task.known) if name.casefold() not in folded]
        return [word for name in unknown for word in pieces(name) if lacks(word)]

    lacked = [lacking_in(candidate.forms[0]) for candidate in candidates]
    enough = lacked and sum(map(bool, lacked)) >= INVENTED * len(lacked)
    return list(dict.fromkeys(word for words in lacked for word in words)) if enough else []


def _named(sql: str, schema: Schema) -> list[str]:
    """Tables and columns that a query names, without what it calls so itself."""
    query, tree = anatomy(sql, schema), read_query(sql, schema.dialect)
    if tree is None:
        return []
    listed = [column.name for alias in tree.find_all(exp.TableAlias) for column in alias.args.get("columns") or ()]
    aliases = {name.casefold() for name in (*(alias.alias for alias in tree.find_all(exp.Alias)), *listed)}
    return [name for name in (*query.tables, *query.columns) if name.casefold() not in aliases]


def remark(words: Sequence[str]) -> tuple[str, ...]:
    """A line about the words of ``missing``, for an answer that is given all the same."""
    return (f"{lacking(words)}: check what the query uses in its place",) if words else ()


def lacking(words: Sequence[str]) -> str:
    """The beginning of a sentence that names words of ``missing``."""
    return f"The database has nothing called {' and '.join(repr(word) for word in words[:3])}"


def missing(task: Task, chosen: Candidate | None = None) -> list[str]:
    """Things that the question names and the database seems to lack; empty where that may be a matter of words.

    What the ``chosen`` query looks for and finds, or computes as a rank, is not missing.
    """
    query_words = _found(chosen, task.known) if chosen is not None else ()
    words = [
        word for word in unnamed(task) if not any(likeness(word, query_word) >= ALIKE for query_word in query_words)
    ]
    return words if words and (weight(words) >= 1 or _is_all(words, task)) else []


def _is_all(words: Sequence[str], task: Task) -> bool:
    """Whether these are all things that the question names."""
    return len(words) >= len(things(task.question.text))


def refused(words: Sequence[str], task: Task) -> bool:
    """Whether so much of what the question names is missing that no answer can be right."""
    return weight(words) >= SURELY and len(words) > MOST * len(things(task.question.text))


def weight(words: Sequence[str]) -> float:
    """How much it says that the database lacks these words.

    One for a kind of people or bodies counts half: schemas often have only a key of them, or another word.
    """
    return sum(0.5 if word in ROLES else 1.0 for word in words)


def unnamed(task: Task) -> list[str]:
    """Things that the question names and neither the schema nor a note on it does, nor a value that was found.

    Empty for a schema whose names are not English: the question may be, and means them all the same.
    """
    listed, stated = _pieces_of(_names(task.known)), _said(task)
    if not has_english(listed):
        return []
    return [word for word in things(task.question.text) if word not in stated and not _known(word, listed)]


@quiet()
def _found(chosen: Candidate, schema: Schema) -> list[str]:
    """Words of a query that found rows: of the texts that they are picked by, and of its window functions."""
    tree = read_query(chosen.sql, schema.dialect) if chosen.result.finds else None
    if tree is None:
        return []
    texts = [literal.name for literal in tree.find_all(exp.Literal) if literal.is_string and _is_looked_for(literal)]
    ranked = [window.this.sql() for window in tree.find_all(exp.Window)]
    return [word for text in (*texts, *ranked) for word in pieces(text)]


def _is_looked_for(literal: exp.Literal) -> bool:
    """Whether rows must have the text, or be like it."""
    condition = literal.find_ancestor(exp.EQ, exp.In, exp.Like, exp.ILike)
    return condition is not None and not condition.args.get("negate") and condition.find_ancestor(exp.Not) is None


def _names(schema: Schema) -> list[str]:
    """The names of all tables and columns; ``date`` too where a column's type is one."""
    columns = [column for table in schema.tables for column in table.columns]
    dated = any(_DATED.search(column.type) for column in columns)
    return [
        *(table.name for table in schema.tables),
        *(column.name for column in columns),
        *(["date"] if dated else []),
    ]


def _pieces_of(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(piece for name in names for piece in pieces(name)))[:_PIECES]


def _said(task: Task) -> str:
    """What notes and evidence say."""
    return " ".join((*task.notes, task.question.evidence)).casefold()


def _known(word: str, names: Sequence[str]) -> bool:
    """Whether a name has the word, one like it, or one with hardly another letter."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extractOne

    if any(likeness(synonym, name) >= ALIKE for synonym in (word, *SAME.get(word, ())) for name in names):
        return True
    if extractOne(word, names, scorer=Indel.normalized_similarity, score_cutoff=MISSPELT):
        return True
    alike = [term for term in GENERAL if term[0] == word[0] and term[-1] == word[-1]]
    return bool(extractOne(word, alike, scorer=Indel.normalized_similarity, score_cutoff=MISSPELT_GENERAL))
