"""Generators, by name: each turns a task into what the model is asked."""

from sqljury.generate.base import Generator
from sqljury.generate.direct import direct
from sqljury.generate.made import made
from sqljury.generate.synthetic import synthetic

GENERATORS: dict[str, Generator] = {
    "direct": direct,
    "made": made,
    "synthetic": synthetic,
}

__all__ = ["GENERATORS"]
