"""Questions with their queries, to show as examples; similar ones are found as DAIL-SQL does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shot:
    """A question, the query that answers it, and the name of its database (empty where unknown)."""

    question: str
    sql: str
    database: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """Examples to choose from."""

    shots: tuple[Shot, ...]

    @property
    def fingerprint(self) -> str:
        """What tells this pool from others, for the settings of a run."""
        return hashlib.sha256(repr(self.shots).encode()).hexdigest()[:16]
