"""A database before any question: its schema, and what the values of its columns show."""

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
"""Rows of each table that are read for the contents of its columns, as for a prompt."""
SECONDS: Final = 20.0
"""For all tables together; ``contents`` lacks those that were not reached."""


@dataclass(frozen=True, slots=True)
class Description:
    """A schema, and by table and column what its values show and its type does not; see ``forms.contents``."""

    schema: Schema
    contents: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, db: Database, schema: Schema, cancel: threading.Event | None = None) -> Description:
        """Read the first rows of each table except views, without masked columns.

        Raises ``CancelledError`` once ``cancel`` is set.
        """
        shown: dict[tuple[str, str], str] = {}
        ends = time.monotonic() + SECONDS
        for table in schema.tables:
            if cancel is not None and cancel.is_set():
                raise CancelledError("stopped while reading rows of the tables")
            if not table.is_view and time.monotonic() < ends:
                held = contents(table, sample_rows(db, table, ROWS))
                shown.update(((table.name, column), text) for column, text in held.items())
        return cls(schema, shown)

    def to_dict(self) -> dict[str, Any]:
        """The description for JSON: ``name``, ``dialect``, ``tables``, ``foreign_keys``; see docs/schema.md."""
        return serialize.schema_dict(self.schema, self.contents)
