"""What is known of a database before a question: its schema, and what the values of its columns show."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError
from sqljury.schema.forms import contents
from sqljury.schema.samples import sample_rows
from sqljury.types import Schema, serialize

ROWS: Final = 50
"""Rows of each table from which the contents of its columns are told, as in a prompt."""
SECONDS: Final = 20.0
"""The time for all tables; ``contents`` has nothing on those that are left."""


@dataclass(frozen=True, slots=True)
class Description:
    """A schema, and by table and column what values show and the type does not, as ``forms.contents`` words it."""

    schema: Schema
    contents: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, db: Database, schema: Schema, cancel: threading.Event | None = None) -> Description:
        """Read the first rows of each table, of masked columns and views none.

        Raises ``CancelledError`` once ``cancel`` is set.
        """
        shown: dict[tuple[str, str], str] = {}
        ends = time.monotonic() + SECONDS
        for table in schema.tables:
            if cancel is not None and cancel.is_set():
                raise CancelledError("stopped while reading rows of the tables")
            if table.kind == "table" and time.monotonic() < ends:
                held = contents(table, sample_rows(db, table, ROWS))
                shown.update(((table.name, column), text) for column, text in held.items())
        return cls(schema, shown)

    def to_dict(self) -> dict[str, Any]:
        """The description for JSON: ``name``, ``dialect``, ``tables``, ``foreign_keys``; see docs/schema.md."""
        return serialize.schema_dict(self.schema, self.contents)
