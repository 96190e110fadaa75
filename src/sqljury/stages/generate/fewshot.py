"""Few-shot generation: similar questions with their queries before the question (DAIL-SQL, section 4.2).

Examples are ordered by the similarity of the masked questions; those come first whose query has a form like that of a
query already written for the question.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqljury import prompts
from sqljury.context import Context
from sqljury.datasets.pool import Pool, Shot, default
from sqljury.language import embed
from sqljury.language.alike import folded
from sqljury.language.mask import mask, name_words
from sqljury.llm.base import Message
from sqljury.llm.replies import STOP
from sqljury.recipes import GeneratePart
from sqljury.sql import skeleton
from sqljury.sql.text import remark
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.direct import messages, system
from sqljury.stages.generate.direct import question as asked_with
from sqljury.types import Schema, Task

QUESTION_CHARS: Final = 500
QUERY_CHARS: Final = 1_500
"""Longer examples are left out: each would take the room of several."""
ALL_CHARS: Final = 12_000

NEXT: Final = "\nQuestion:"
"""Stops a reply that goes on with a further example, as those of small models do."""


def fewshot(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Request:
    """The generator: examples from the given pool or the package's, the most similar last, then the question.

    Without an example to show, it asks as ``direct`` does.
    """
    pool = default() if context.pool is None else context.pool
    draft = drafts[0] if drafts else ""
    shots = index(pool).choose(task.question.text, task.shown, part.examples, draft)
    shown = _shown(shots)
    if not shown:
        return Request(tuple(messages(task)))
    asked = prompts.render("fewshot/question", "schema", examples="\n\n".join(shown), question=asked_with(task))
    return Request((system(task), Message("user", asked)), stop=(*STOP, NEXT))


def _shown(shots: list[Shot]) -> list[str]:
    """The examples as the model sees them, the first last, as far as there is room; people wrote or approved them."""
    texts = list[str]()
    room = ALL_CHARS
    for shot in shots:
        question, sql = remark(shot.question, QUESTION_CHARS + 1), remark(skeleton.bare(shot.sql), QUERY_CHARS + 1)
        text = prompts.render("fewshot/example", question=question, query=sql)
        if len(question) <= QUESTION_CHARS and len(sql) <= QUERY_CHARS and len(text) <= room:
            texts.append(text)
            room -= len(text)
    return texts[::-1]


ALIKE: Final = 0.6
"""Likeness of forms from which on an example counts as having the draft's form."""

SAME_FORM: Final = 2
"""Examples of one form that are shown at most: a third one adds nothing."""


class Index:
    """A pool prepared for retrieval: masked questions as vectors and weighted words, queries as forms."""

    def __init__(self, shots: Sequence[Shot]) -> None:
        import numpy

        read = [skeleton.read(shot.sql) for shot in shots]
        databases = defaultdict[str, set[str]](set)
        for shot, reading in zip(shots, read, strict=True):
            databases[shot.database].update(reading.names)
        words = {database: name_words(names) for database, names in databases.items() if database}
        masked = [
            mask(shot.question, words.get(shot.database, frozenset()) | name_words([*reading.names, *reading.values]))
            for shot, reading in zip(shots, read, strict=True)
        ]
        self._shots = shots
        self._asked = [folded(shot.question) for shot in shots]
        self._forms = [reading.form for reading in read]
        self._kinds = {form: number for number, form in enumerate(dict.fromkeys(self._forms))}
        self._kind_of = numpy.array([self._kinds[form] for form in self._forms], dtype=numpy.intp)
        self._features = [skeleton.features(form) for form in self._kinds]
        self._grams = _Grams(masked)
        self._vectors = embed.vectors(masked) if embed.available() else None

    def choose(self, question: str, schema: Schema, most: int, draft: str = "") -> list[Shot]:
        """At most ``most`` examples, the most helpful first; ``draft`` is a query already written, empty for none.

        The same question on a database of the same name, or of no name, is left out: it would leak the answer in
        benchmarks. So are repeated queries, and forms chosen ``SAME_FORM`` times.
        """
        reading = skeleton.read(draft)
        names = [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]
        order = self._order(mask(question, name_words([*names, *reading.values])), reading.form if draft else "")
        asked = folded(question)
        chosen, queries, forms = list[Shot](), set[str](), Counter[str]()
        for row in order:
            shot, form = self._shots[row], self._forms[row]
            given_away = self._asked[row] == asked and shot.database in ("", schema.name)
            if len(chosen) == most:
                break
            if not given_away and shot.sql not in queries and forms[form] < SAME_FORM:
                chosen.append(shot)
                queries.add(shot.sql)
                forms[form] += 1
        return chosen

    def _order(self, masked: str, form: str) -> list[int]:
        """The examples' indices, best first: those with the draft's form before others, then by the questions."""
        import numpy

        alike = self._alike(masked)
        if not form:
            order = numpy.argsort(-alike, kind="stable")
        else:
            wanted = skeleton.features(form)
            near = numpy.array([skeleton.likeness(wanted, its) >= ALIKE for its in self._features], dtype=bool)
            order = numpy.lexsort((-alike, ~near[self._kind_of]))
        indices: list[int] = order.tolist()
        return indices

    def _alike(self, masked: str) -> Any:
        """The similarity of each example's masked question: by words and word pairs, and by vectors if available.

        On Spider's training questions either one alone finds examples whose queries are less like the gold query.
        """
        scores = self._grams.alike(masked)
        return scores if self._vectors is None else scores + self._vectors @ embed.vectors([masked])[0]


class _Grams:
    """Cosine similarity of texts by their words and word pairs, weighted by rarity (TF-IDF)."""

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy

        rows = defaultdict[str, list[int]](list)
        for row, text in enumerate(texts):
            for gram in _grams(text):
                rows[gram].append(row)
        self._weights = {gram: math.log(1 + len(texts) / len(where)) ** 2 for gram, where in rows.items()}
        self._rows = {gram: numpy.array(where) for gram, where in rows.items()}
        sums = numpy.zeros(len(texts))
        for gram, where in self._rows.items():
            sums[where] += self._weights[gram]
        self._lengths = numpy.sqrt(numpy.maximum(sums, 1e-9))

    def alike(self, text: str) -> Any:
        """The similarity of each text, 0 to 1; grams that no text has do not count."""
        import numpy

        scores = numpy.zeros(len(self._lengths))
        length = 1e-9
        for gram in _grams(text) & self._rows.keys():
            scores[self._rows[gram]] += self._weights[gram]
            length += self._weights[gram]
        return scores / self._lengths / math.sqrt(length)


def _grams(text: str) -> set[str]:
    words = text.split()
    return {*words, *(f"{first} {second}" for first, second in pairwise(words))}


_lock = threading.Lock()
_indexes: WeakKeyDictionary[Pool, Index] = WeakKeyDictionary()


def index(pool: Pool) -> Index:
    """The pool prepared for retrieval, made at the first question and kept as long as the pool."""
    with _lock:
        if pool not in _indexes:
            _indexes[pool] = Index(pool.shots)
        return _indexes[pool]
