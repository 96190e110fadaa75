"""What the steps after generation work with."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from sqljury.db.base import Database
from sqljury.llm.base import LanguageModel
from sqljury.types import Limits


@dataclass(frozen=True, slots=True)
class Work:
    """The database and the limits of one query on it, the model, the question's seed, and what stops it all."""

    db: Database
    model: LanguageModel
    limits: Limits
    seed: int
    cancel: threading.Event | None = None
