"""Generators, by name: each turns a task into what the model is asked."""

from sqljury.generate.base import Generator
from sqljury.generate.direct import direct
from sqljury.generate.divide import divide, divide_short
from sqljury.generate.fewshot import fewshot
from sqljury.generate.made import made
from sqljury.generate.plan import plan, plan_short
from sqljury.generate.synthetic import synthetic

GENERATORS: dict[str, Generator] = {
    "direct": direct,
    "divide": divide,
    "divide-short": divide_short,
    "fewshot": fewshot,
    "made": made,
    "plan": plan,
    "plan-short": plan_short,
    "synthetic": synthetic,
}

__all__ = ["GENERATORS"]
