"""What of a schema a model is shown, as recipes say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["ddl", "compact", "mschema"]
Keywords = Literal["rules", "model"]
LinkKind = Literal["", "retrieval", "model"]


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """How the model sees the schema: ``form`` as in ``schema.render``, and example rows of each table.

    The form ``mschema`` has so many example values of each column instead. ``types`` says of columns what their
    values show and their type does not, such as text that holds numbers. ``values`` is how many values of the database
    that the question seems to mean are told at most; 0 needs no value index. ``keywords`` says who picks the words
    that are looked up in it: ``rules``, or the ``model``, which costs a call. ``examples`` is how many values stand
    beside each column in any form, seeded draws from the first rows; with ``nearest`` those of text columns are the
    ones most like the question's words, which needs the value index (MSc-SQL, section 3.2).
    """

    form: Form = "ddl"
    sample_rows: int = 3
    types: bool = False
    values: int = 0
    keywords: Keywords = "rules"
    examples: int = 0
    nearest: bool = False


@dataclass(frozen=True, slots=True)
class LinkPart:
    """Which tables of a schema a question is shown: all, or those that ``retrieval`` or a ``model`` picks.

    Retrieval keeps the tables whose score is at least ``share`` of the best one's. The model is asked ``samples``
    times at ``temperature``, and what any reply names is kept, beside what retrieval keeps. It is the model of that
    name, as ``open_model`` takes it; where ``model`` is empty, the one that writes the queries. Schemas of at most
    ``whole`` tables are shown as they are.
    """

    kind: LinkKind = ""
    share: float = 0.6
    samples: int = 1
    temperature: float = 0.0
    model: str = ""
    whole: int = 0
