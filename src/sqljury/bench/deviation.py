"""In which way a result that is not gold's differs from it, as far as the two results say."""

from __future__ import annotations

from typing import Final

from sqljury.errors import QueryLimitError
from sqljury.metrics.results import same_result
from sqljury.types import Result

DEVIATIONS: Final = {
    "fails": "no query, or one that fails",
    "columns": "another number of columns",
    "none": "no rows where gold has some",
    "some": "rows where gold has none",
    "fewer": "fewer rows",
    "more": "more rows",
    "order": "gold's rows in another order",
    "cells": "as many rows, other cells",
}
"""By name, the first in this order that holds; what is right has none."""


def deviation(gold: Result, other: Result, ordered: bool) -> str:
    """The name of what is wrong with a result that is not right; ``ordered`` says that the order of rows counts."""
    if not other.ok:
        return "fails"
    if len(gold.columns) != len(other.columns):
        return "columns"
    if bool(gold.rows) != bool(other.rows):
        return "none" if gold.rows else "some"
    if len(gold.rows) != len(other.rows):
        return "fewer" if len(other.rows) < len(gold.rows) else "more"
    try:
        return "order" if ordered and same_result(gold, other, ordered=False) else "cells"
    except QueryLimitError:  # too alike to be told apart
        return "cells"
