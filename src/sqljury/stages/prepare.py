"""From a question and a database to a task: the schema as the model will see it, and what is known beside it.

A recipe may have a model pick the question's keywords too (``by_model``; CHASE-SQL, section 3.2);
``language.keywords.by_rules`` needs none.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, cast

from sqljury import prompts
from sqljury.access.guard import Guarded, skip
from sqljury.context import Context, State
from sqljury.db.base import Database
from sqljury.db.contents import Content, content
from sqljury.keys import known_schema
from sqljury.language.instructions import concerning, instructions
from sqljury.language.keywords import MAX_KEYWORDS, WORD, by_rules
from sqljury.language.words import words
from sqljury.llm.base import Message, NoModel, Sampling, derive_seed
from sqljury.prompts import Text
from sqljury.recipes.parts import SchemaPart
from sqljury.schema.index import Hit
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import NO_NOTES, Notes, bind, merge, relevant
from sqljury.schema.render import SCHEMA_CHARS, Style
from sqljury.schema.retrieve import Indexes, is_short, retrieve
from sqljury.schema.samples import sample
from sqljury.schema.target import aimed
from sqljury.types import Privacy, Question, Schema, Task
from sqljury.types.schema import Form
from sqljury.values import ValueIndex, open_or_build
from sqljury.values.collect import Progress
from sqljury.values.explained import Codes, Explained, explained
from sqljury.values.hints import Meant, hints, meant, nearest

MAX_TOKENS: Final = 160
_SCHEMA: Final = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_KEYWORDS}


def by_model(question: Question, context: Context) -> tuple[str, ...]:
    """Keywords as the model sees them, after examples (few-shot), then those of ``by_rules``.

    Only words that are taken from the question or its evidence count, up to ``MAX_KEYWORDS``; a reply that is no list
    counts as an empty one. Raises what the model raises.
    """
    text = question.whole
    conversation = [
        Message(
            "system", Text(prompts.render("keywords/system") + "\n\n" + prompts.render("keywords/examples"), "schema")
        ),
        Message("user", prompts.render("keywords/question", "schema", question=text)),
    ]
    sampling = Sampling(max_tokens=MAX_TOKENS, seed=context.seed, json_schema=_SCHEMA)
    reply = context.complete(conversation, sampling)
    written = [word for word in _list(reply.completions[0].text) if _taken_from(word, text)]
    keywords = {word.casefold(): word for word in (*by_rules(text), *written)}
    first = {word.casefold(): word for word in written}
    return tuple({**first, **keywords}.values())[:MAX_KEYWORDS]


def _list(reply: str) -> list[str]:
    """The strings of a JSON list, one that was cut off at the end included."""
    start = reply.find("[")
    text = reply[start:] if start >= 0 else ""
    for end in (text, text.rpartition(",")[0] + "]"):
        try:
            parsed = json.loads(end)
        except (ValueError, RecursionError):
            continue
        return [item.strip() for item in parsed if isinstance(item, str) and item.strip()]
    return []


def _taken_from(word: str, text: str) -> bool:
    """Whether at least one word of it, or its stem, stands in the text."""
    words = {part.casefold()[:4] for part in WORD.findall(text)}
    return any(part.casefold()[:4] in words for part in WORD.findall(word))


SEEN_ROWS: Final = 50
"""Rows read of each table: to be shown, for varied examples, and for what the values of columns mean."""

UNMATCHED_SHOWN: Final = 5
"""Lines of a user's notes that match nothing, as warnings; a foreign description folder may have hundreds."""

Near = tuple[tuple[str, str, tuple[str, ...]], ...]
"""``Task.near``: table, column, and values of it that are like a keyword."""


@dataclass(frozen=True)
class Preparation:
    """How tasks are made; ``part`` is the recipe's, ``indexes`` keeps what was made for the schema before.

    Where no model sees the schema (``unseen``), it is not written out. ``now`` is the content of the database, if it
    was looked at for the question; else each method looks at it.
    """

    part: SchemaPart
    indexes: Indexes = field(default_factory=Indexes, compare=False, repr=False)
    unseen: bool = False
    now: Content | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, context: Context, *, unseen: bool = False) -> Preparation:
        """As the recipe of the context has it, with what is kept of its database."""
        return cls(context.recipe.schema, context.indexes, unseen, context.content())

    def task(
        self,
        question: Question,
        db: Database,
        notes: Notes = NO_NOTES,
        keywords: Sequence[str] | None = None,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
        shows: Privacy = "rows",
    ) -> Task:
        """The task for one question; ``keywords`` are looked up among the values, by default those of the rules.

        Where it ``shows`` the schema alone, no value is looked up. What people wrote is shown at any rate: the
        question, its evidence and the notes.

        Raises what ``known_schema`` raises, ``NotesError`` for notes on what the database does not have, and
        ``CancelledError`` once ``cancel`` is set.
        """
        now = self.now or content(db)
        given, (whole, notes) = notes, known(db, notes, progress, cancel, now)
        if notes.rules:
            question = replace(question, evidence="\n".join(filter(None, (question.evidence, *notes.rules))))
        if keywords is None:
            keywords = by_rules(_searched(question))
        hinted, beside_columns = self.part.values, self.part.examples if self.part.nearest else 0
        searched = keywords and self.part.looks_up and shows != "schema"
        index = value_index(db, lambda: whole, progress, cancel, now) if searched else None
        tables = now.get("table names", lambda: {frozenset(words(table.name)) for table in whole.tables})
        values = meant(index, keywords, hinted, tables) if index is not None and hinted else []
        near = tuple(nearest(index, keywords, beside_columns)) if index is not None and beside_columns else ()
        codes = now.get("codes", lambda: explained(db, whole))
        hits = _hits(values, codes)
        schema = whole
        if not now.get(("short", given), lambda: is_short(whole, SCHEMA_CHARS)):
            text = f"{question.text}\n{question.evidence}"
            schema = retrieve(self.indexes.of(whole), text, hits=hits, form=self.part.form)
        by_people = (Text(note, "schema") for note in _relevant(question, notes))
        beside = (*by_people, *(Text(hint, "values") for hint in hints(values, codes)))
        text = "" if self.unseen else _schema_text(db, now, schema, self.part, shows, near, codes.columns)
        return Task(question, schema, text, beside, hits, near, shows=shows, codes=codes.columns)

    def reshown(self, task: Task, db: Database, form: str = "", order: int = 0) -> Task:
        """The task with its schema in another form, or with tables and columns in another order; 0 is their own."""
        if form in ("", self.part.form) and not order:
            return task
        part = replace(self.part, form=cast(Form, form)) if form else self.part
        now = self.now or content(db)
        text = _schema_text(db, now, task.shown, part, task.shows, task.near, task.codes, order or None)
        return replace(task, text=text)

    def narrowed(self, task: Task, db: Database, schema: Schema) -> Task:
        """The task on a part of its schema."""
        if schema == task.known:
            return task
        now = self.now or content(db)
        text = _schema_text(db, now, schema, self.part, task.shows, task.near, task.codes)
        return replace(task, linked=schema, text=text)


def find_keywords(state: State, context: Context) -> State:
    """The stage: a model picks the words of the question that are looked up among the values of the database."""
    question = state.task.question
    seeded = replace(context, seed=derive_seed(context.seed, "keywords"))
    return replace(state, keywords=by_model(question, seeded))


def prepare(state: State, context: Context) -> State:
    """The stage: the schema is read, with notes, values and examples as the recipe has them."""
    context.emit("reading the schema")
    unseen = context.model.name == NoModel.name and not context.named  # a run's journal stands around the model
    prepared = Preparation.of(context, unseen=unseen)
    question, keywords = state.task.question, state.keywords
    options = context.emit, context.cancel, context.shows
    task = prepared.task(question, context.db, context.notes, keywords, *options)
    return replace(state, task=task)


def values_of(context: Context) -> Callable[[], ValueIndex] | None:
    """What opens the value index for repairs, once for a question; None where the recipe repairs no values."""
    if not context.recipe.fix.values:
        return None
    db = context.db
    return cache(lambda: value_index(db, lambda: introspect(db), cancel=context.cancel, now=context.content()))


def value_index(
    db: Database,
    schema: Callable[[], Schema],
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    now: Content | None = None,
) -> ValueIndex:
    """The value index of the database, built or refreshed if need be; masked columns stay out of it.

    ``schema`` reads the whole schema. ``now`` is the content of the database, which is looked at if it is not given.
    Raises what ``values.open_or_build`` raises.
    """
    return (now or content(db)).get(
        "index",
        lambda: open_or_build(db, schema(), progress, cancel, skip(db)),
        lambda index: not index.damaged,
    )


def _hits(values: Sequence[Meant], codes: Explained) -> tuple[Hit, ...]:
    """Where the values are, or the codes that are stored in their place."""
    hits: dict[tuple[str, str, str], Hit] = {}
    for match in (value.match for value in values):
        stored = codes.columns_of(match.table, match.column, match.value)
        for table, column in [(table, column) for table, column, _ in stored] or [(match.table, match.column)]:
            hits.setdefault((table, column, match.value), Hit(table, column, match.score))
    return tuple(hits.values())


def known(
    db: Database,
    notes: Notes = NO_NOTES,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    now: Content | None = None,
) -> tuple[Schema, Notes]:
    """The whole schema with the notes in its comments and keys, and the notes with its spelling.

    Keys are inferred before: notes confirm or deny them. ``now`` is the content of the database, which is looked at if
    it is not given. Warns of notes that match nothing; raises ``NotesError``, and what ``known_schema`` raises.
    """
    now = now or content(db)
    schema = now.get("schema", lambda: known_schema(db, progress, cancel))
    if notes == NO_NOTES:
        return schema, notes
    bound = now.get(("bound", notes), lambda: bind(schema, visible(db, notes)))
    _warn(bound.unmatched)
    return now.get(("merged", notes), lambda: merge(schema, bound)), bound


def visible(db: Database, notes: Notes) -> Notes:
    """The notes without those on what access rules hide: descriptions, joins, and formulas that name it.

    Raises ``NotesError`` for a table or column that the database does not have at all.
    """
    if not isinstance(db, Guarded) or notes == NO_NOTES:
        return notes
    shown = {
        (table.name, name) for table in db.schema.tables for name in ("", *(column.name for column in table.columns))
    }
    bound = bind(db.whole, notes)
    return replace(
        bound,
        items=tuple(item for item in bound.items if (item.table, item.column) in shown),
        joins=tuple(join for join in bound.joins if all(end in shown for pair in join.pairs for end in pair)),
        formulas=tuple((name, formula) for name, formula in bound.formulas if not db.tells(formula)),
        unmatched=tuple(message for message in bound.unmatched if not db.tells(message)),
    )


def _searched(question: Question) -> str:
    """The question with its evidence; of several instructions those that concern it, which name its values."""
    given = instructions(question.evidence)
    if len(given) <= 1:
        return f"{question.text} {question.evidence}"
    return "\n".join((question.text, *(instruction.text for instruction in concerning(given, question.text))))


def _relevant(question: Question, notes: Notes) -> list[str]:
    return relevant(notes, f"{question.text} {question.evidence}")


def _warn(unmatched: Sequence[str]) -> None:
    """Say which notes could not be used: the first ones, and how many others there are."""
    for line in unmatched[:UNMATCHED_SHOWN]:
        warnings.warn(line, RuntimeWarning, stacklevel=5)
    if (more := len(unmatched) - UNMATCHED_SHOWN) > 0:
        warnings.warn(f"notes: {more} more lines match nothing in the database", RuntimeWarning, stacklevel=5)


def _schema_text(
    db: Database,
    now: Content,
    schema: Schema,
    part: SchemaPart,
    shows: Privacy,
    near: Near,
    codes: Codes,
    order: int | None = None,
) -> Text:
    """The schema as the recipe wants it seen, as far as it may; ``order`` seeds an order of tables and columns.

    It is kept with the content, unless a table could not be read for it.
    """
    key = "text", schema, part, shows, near, order
    text, _ = now.get(key, lambda: _written(db, schema, part, shows, near, codes, order), lambda made: made[1])
    return text


def _written(
    db: Database, schema: Schema, part: SchemaPart, shows: Privacy, near: Near, codes: Codes, order: int | None
) -> tuple[Text, bool]:
    """The text, and whether all tables could be read for it.

    Where no rows may be shown, values stand beside the columns instead.
    """
    rows = part.sample_rows if shows == "rows" else 0
    usual = {"mschema": part.sample_rows, "listed": min(1, part.sample_rows)}
    examples = part.examples or (usual.get(part.form, 0) if shows == "rows" else part.sample_rows)
    least = max(part.sample_rows, SEEN_ROWS) if part.types or examples else part.sample_rows
    samples = {} if shows == "schema" else sample(db, schema, max(part.sample_rows, SEEN_ROWS), least=least)
    by_column = {(table, column): values for table, column, values in near}
    style = Style(
        rows,
        examples=examples,
        types=part.types,
        odd=True,
        shuffle=order,
        near=by_column,
        meant={} if shows == "schema" else codes,
        apart=shows == "values",
    )
    text = aimed(schema, samples, form=part.form, style=style, tokens=part.tokens, max_chars=SCHEMA_CHARS)
    return Text(text, shows), all(read.ok for read in samples.values())
