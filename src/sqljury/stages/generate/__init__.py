"""Generators, by name: each turns a task into what the model is asked."""

from sqljury.stages.generate.base import Generator
from sqljury.stages.generate.direct import direct
from sqljury.stages.generate.fewshot import fewshot
from sqljury.stages.generate.listed import listed
from sqljury.stages.generate.made import made
from sqljury.stages.generate.reasoning import divide, divide_short, plan, plan_short
from sqljury.stages.generate.synthetic import synthetic

GENERATORS: dict[str, Generator] = {
    "direct": direct,
    "divide": divide,
    "divide-short": divide_short,
    "fewshot": fewshot,
    "listed": listed,
    "made": made,
    "plan": plan,
    "plan-short": plan_short,
    "synthetic": synthetic,
}

__all__ = ["GENERATORS"]
