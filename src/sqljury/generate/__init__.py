"""Generators, by name: each turns a task into what the model is asked."""

from sqljury.generate.base import Generator
from sqljury.generate.direct import direct
from sqljury.generate.fewshot import fewshot

GENERATORS: dict[str, Generator] = {"direct": direct, "fewshot": fewshot}

__all__ = ["GENERATORS"]
