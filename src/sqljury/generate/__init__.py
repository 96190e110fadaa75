"""Generators, by name: each turns a task into the conversation that asks for a query."""

from sqljury.generate import direct

GENERATORS = {"direct": direct.messages}

__all__ = ["GENERATORS"]
