"""What is asked: a question, and the question beside the schema that a model is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from sqljury.types.schema import DIALECT_NAMES, Schema

Privacy = Literal["schema", "values", "rows"]
"""How much of a database's content a prompt may hold: none, single values of its columns, or whole rows."""

LEVELS: Final[tuple[Privacy, ...]] = ("schema", "values", "rows")
"""Every ``Privacy``, the strictest first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in natural language; ``evidence`` is external knowledge (BIRD's term), ``id`` seeds random choices."""

    text: str
    evidence: str = ""
    id: str = ""

    @property
    def whole(self) -> str:
        """The text followed by the evidence, if any."""
        return " ".join(filter(None, (self.text, self.evidence)))


@dataclass(frozen=True, slots=True)
class Task:
    """A question on a schema: ``known`` is the whole schema, ``shown`` the part that the writer of queries sees.

    ``text`` is ``shown`` as a prompt has it. ``linked`` is the part that schema linking kept, None if all is shown.
    ``notes`` are lines about the database that are relevant to the question; they are data, not instructions.
    ``hits`` holds table, column and match score in (0, 1] of values that the question seems to name; ``near`` holds
    table, column and some of its values, ordered by similarity to the question's words. ``shows`` is the most of the
    database's content that prompts on the question may hold. ``codes`` has what codes mean, by table and column, where
    a table of codes explains them.
    """

    question: Question
    known: Schema
    text: str
    notes: tuple[str, ...] = ()
    hits: tuple[tuple[str, str, float], ...] = ()
    near: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    linked: Schema | None = None
    shows: Privacy = "rows"
    codes: Mapping[tuple[str, str], Mapping[str | int, str]] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> Schema:
        """The part of the schema that the writer of queries sees."""
        return self.known if self.linked is None else self.linked

    @property
    def dialect_name(self) -> str:
        """The dialect's usual spelling, such as PostgreSQL."""
        return DIALECT_NAMES.get(self.known.dialect, self.known.dialect)
