"""Ways to choose among candidates, by name."""

from sqljury.select import consistency

SELECTORS = {"consistency": consistency.choose}

__all__ = ["SELECTORS"]
