"""What the steps after generation work with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqljury.db.base import Database
from sqljury.llm.base import LanguageModel
from sqljury.types import Limits

if TYPE_CHECKING:
    from sqljury.schema.values import ValueIndex


@dataclass(frozen=True, slots=True)
class Work:
    """The database and the limits of one query on it, the model, the question's seed, and what stops it all.

    ``values`` opens the value index, building it if need be; None where repairs must do without.
    """

    db: Database
    model: LanguageModel
    limits: Limits
    seed: int
    cancel: threading.Event | None = None
    values: Callable[[], ValueIndex] | None = None
