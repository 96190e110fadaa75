"""Grammars that let a model write only SQL that parses and names what exists (PICARD's aim, by llama.cpp's GBNF)."""

from __future__ import annotations

from sqljury.types import Schema


def grammar(schema: Schema, *, reasons: bool = False) -> str:
    """The GBNF of queries on ``schema``; with ``reasons`` text comes first and the query in a fenced block."""
    raise NotImplementedError
