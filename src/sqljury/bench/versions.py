"""What a run's answers rest on beside its settings: the code, the prompts and the models, by hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from sqljury.pipeline import Pipeline

_AFTERWARDS: Final = frozenset(
    {"audit", "bench", "cli", "evaluation", "experiments", "mcp", "metrics", "prompts", "train", "web"}
)
"""Folders of the package that do not shape an answer, and that of the prompts, which have a hash of their own."""

_SOURCES: Final = (".py", ".json", ".toml", ".sql", ".jsonl", ".txt")


def versions(pipeline: Pipeline) -> dict[str, object]:
    """The hashes, and what each model says that its replies depend on beside its name, such as its weights' hash."""
    models = {model.name: str(getattr(model, "identity", model.name)) for model in (pipeline.model, *pipeline.others())}
    return {
        "code": code_hash(),
        "prompts": prompt_hash(),
        "identities": {name: identity for name, identity in models.items() if identity != name},
    }


@cache
def code_hash() -> str:
    """A hash of the modules and data of the package that shape answers."""
    package = files("sqljury")
    parts = [one for one in package.iterdir() if one.name not in _AFTERWARDS]
    return _hash(file for part in parts for file in _within(part, part.name, _SOURCES))


@cache
def prompt_hash() -> str:
    """A hash of all prompts."""
    return _hash(_within(files("sqljury") / "prompts", "prompts", (".md", ".py")))


def _within(part: Traversable, path: str, endings: tuple[str, ...]) -> Iterator[tuple[str, Traversable]]:
    if part.is_file():
        if part.name.endswith(endings):
            yield path, part
        return
    for one in part.iterdir():
        if one.name != "__pycache__":
            yield from _within(one, f"{path}/{one.name}", endings)


def _hash(found: Iterator[tuple[str, Traversable]]) -> str:
    digest = hashlib.sha256()
    for path, file in sorted(found, key=lambda item: item[0]):
        digest.update(f"{path}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
