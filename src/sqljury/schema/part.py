"""What of a schema a model is shown, as recipes say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["ddl", "compact", "mschema"]
Keywords = Literal["rules", "model"]


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """How the model sees the schema: ``form`` as in ``schema.render``, and example rows of each table.

    The form ``mschema`` has so many example values of each column instead. ``types`` says of columns what their
    values show and their type does not, such as text that holds numbers. ``values`` is how many values of the database
    that the question seems to mean are told at most; 0 needs no value index. ``keywords`` says who picks the words
    that are looked up in it: ``rules``, or the ``model``, which costs a call.
    """

    form: Form = "ddl"
    sample_rows: int = 3
    types: bool = False
    values: int = 0
    keywords: Keywords = "rules"
