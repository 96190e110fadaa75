"""SQL as the Spider benchmark sees it: the structure that its hardness levels and exact set match are defined on."""

from sqljury.metrics.spider.parser import parse, parse_or_empty
from sqljury.metrics.spider.structure import ColUnit, Condition, Conditions, Names, Query, TableUnit, Value, ValUnit

__all__ = [
    "ColUnit",
    "Condition",
    "Conditions",
    "Names",
    "Query",
    "TableUnit",
    "ValUnit",
    "Value",
    "parse",
    "parse_or_empty",
]
