"""ESM+, exact set match with equivalence rules (ESM+ paper), and a strict mode that goes beyond it."""

from sqljury.metrics.esm_plus.assumptions import Facts
from sqljury.metrics.esm_plus.match import PUBLISHED, STRICT, Match, Options, Side, deciding_rules, esm_plus
from sqljury.metrics.esm_plus.rules import NUMBERS, Fired

__all__ = [
    "NUMBERS",
    "PUBLISHED",
    "STRICT",
    "Facts",
    "Fired",
    "Match",
    "Options",
    "Side",
    "deciding_rules",
    "esm_plus",
]
