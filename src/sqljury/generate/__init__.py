"""Generators, by name: each turns a task into what the model is asked."""

from sqljury.generate.base import Generator
from sqljury.generate.direct import direct

GENERATORS: dict[str, Generator] = {"direct": direct}

__all__ = ["GENERATORS"]
