"""ESM+, exact set match with equivalence rules (ESM+ paper), and a strict mode that goes beyond it."""

from sqljury.metrics.match.plus.assumptions import Facts
from sqljury.metrics.match.plus.match import PUBLISHED, STRICT, Match, Options, Side, deciding_rules, esm_plus
from sqljury.metrics.match.plus.rewrite import Fired
from sqljury.metrics.match.plus.rules import NUMBERS

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
