"""What the prompt of ``sqljury chat`` completes: commands, tables, columns, and values of the database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from sqljury.cli.terminal import clean
from sqljury.errors import SqljuryError

if TYPE_CHECKING:
    from sqljury.api import Session

SHOWN: Final = 8
"""Names, and as many values, that are offered at once."""
_WORD: Final = re.compile(r"[^\s,;()'\"]+$")
_LEAST: Final = 3
"""Letters from which on values are looked up."""


class Words(Completer):
    """Names begin with the word at the cursor, or contain it; values are near it, and begin like it or contain it."""

    def __init__(self, session: Session, commands: Sequence[str]) -> None:
        self._session, self._commands = session, commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """The completions at the cursor; a database that cannot be read has none."""
        text = document.text_before_cursor
        if text.startswith("\\") and " " not in text:
            yield from (Completion(name, -len(text)) for name in self._commands if name.startswith(text))
            return
        match = _WORD.search(text)
        if match is None or len(match[0]) < 2:
            return
        word = match[0]
        try:
            yield from self._names(word)
            if len(word) >= _LEAST:
                yield from self._values(word)
        except SqljuryError:
            return

    def _names(self, word: str) -> Iterator[Completion]:
        sought = word.casefold()
        near = [(not name.casefold().startswith(sought), name) for name in self._known if sought in name.casefold()]
        for _, name in sorted(near)[:SHOWN]:
            yield Completion(clean(name), -len(word), display_meta=clean(self._known[name]))

    def _values(self, word: str) -> Iterator[Completion]:
        sought = word.casefold()
        for match in self._session.search(word, SHOWN):
            if match.kind == "value" and sought in match.value.casefold():
                meta = clean(f"{match.table}.{match.column}")
                yield Completion(clean(match.value), -len(word), display_meta=meta)

    @cached_property
    def _known(self) -> dict[str, str]:
        """What each name of a table or column is."""
        schema = self._session.prepare()
        columns: dict[str, list[str]] = {}
        for table in schema.tables:
            for column in table.columns:
                columns.setdefault(column.name, []).append(table.name)
        named = {name: f"column of {', '.join(tables[:3])}" for name, tables in columns.items()}
        return {**named, **{table.name: "table" for table in schema.tables}}
