"""What a rule is: a function from a query to the equivalent one, with the assumptions it needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from sqljury.metrics.match.plus.assumptions import Facts
from sqljury.metrics.match.plus.structure import Query


class Applied(NamedTuple):
    """The query rewritten, and what of the schema that rests on, in words.

    ``facts``, where given, holds in this query for the rules that come after.
    """

    query: Query
    assumptions: tuple[str, ...] = ()
    facts: Facts | None = None


Rule: TypeAlias = "Callable[[Query, Facts], Applied | None]"
"""Looks at one query, not into those nested in it, which are rewritten before; None where it does not apply."""
