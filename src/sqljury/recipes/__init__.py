"""Named configurations of the pipeline: TOML files in this folder, or a user's own file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

from sqljury.errors import RecipeError
from sqljury.recipes.parts import (
    BudgetPart,
    FixPart,
    GeneratePart,
    LinkPart,
    Recipe,
    RefinePart,
    SchemaPart,
    SelectPart,
    StopPart,
    TestsPart,
)
from sqljury.types.serialize import in_toml

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "BudgetPart",
    "FixPart",
    "GeneratePart",
    "LinkPart",
    "Recipe",
    "RefinePart",
    "SchemaPart",
    "SelectPart",
    "StopPart",
    "TestsPart",
    "build",
    "dump",
    "load",
    "names",
    "parse",
]

_PARTS: Final[dict[str, type[Any]]] = {
    "schema": SchemaPart,
    "link": LinkPart,
    "generate": GeneratePart,
    "stop": StopPart,
    "budget": BudgetPart,
    "fix": FixPart,
    "tests": TestsPart,
    "refine": RefinePart,
    "select": SelectPart,
}


def names() -> list[str]:
    """The recipes of the package, sorted."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


def load(name: str) -> Recipe:
    """The recipe of that name, or in the TOML file at that path.

    Raises ``RecipeError`` for an unknown name, a file that is not TOML, an unknown key, and a value of the wrong type
    or out of range.
    """
    if name in names():
        return _trusted(name, tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8")))
    path = Path(name)
    if path.suffix == ".toml" and os.path.isfile(path):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise RecipeError(f"recipe {path}: is not UTF-8 text; save it as UTF-8") from None
        except OSError as error:
            raise RecipeError(f"recipe {path}: cannot be read ({error.strerror}); check its permissions") from None
        return parse(path.stem, text)
    raise RecipeError(f"there is no recipe {name!r}; known are {', '.join(names())}, or give the path of a .toml file")


def parse(name: str, text: str) -> Recipe:
    """A recipe from TOML text; raises ``RecipeError`` as ``load`` does."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe {name}: not valid TOML: {error}") from error
    return build(name, tables)


def build(name: str, tables: Mapping[str, Any]) -> Recipe:
    """A recipe from the tables of its file, or from a run's record of it; raises ``RecipeError`` as ``load`` does."""
    from pydantic import ValidationError

    if "name" in tables:
        raise RecipeError(f"recipe {name}: unknown field name; a recipe is named by its file")
    try:
        # As JSON, for which strict validation accepts arrays as tuples and objects as parts. TOML's dates become
        # lists, which no key takes.
        text = json.dumps({**tables, "name": name}, default=lambda value: [str(value)])
        recipe = _adapter().validate_json(text)
    except ValidationError as error:
        raise RecipeError(f"recipe {name}: {_problem(error.errors(include_url=False)[0])}") from None
    _check_together(recipe)
    return recipe


def dump(recipe: Recipe) -> str:
    """The recipe as the text of a file that ``parse`` reads; what is as usual is left out."""
    texts = {"summary": recipe.summary, "adapter": recipe.adapter}
    lines = [f"{key} = {in_toml(text)}" for key, text in texts.items() if text]
    for key, kind in _PARTS.items():
        own = getattr(recipe, key)
        head, parts = (f"[[{key}]]", own) if key == "generate" else (f"[{key}]", (own,))
        for part in parts:
            changed = [field.name for field in fields(kind) if getattr(part, field.name) != field.default]
            if changed or key == "generate":
                entries = (f"{name} = {in_toml(getattr(part, name))}" for name in changed)
                lines += ["", head, *(entries if changed else ("samples = 1",))]
    return "\n".join(lines).lstrip("\n") + "\n"


def _trusted(name: str, tables: dict[str, Any]) -> Recipe:
    """A recipe of the package, which a test validates: importing pydantic here would delay every first answer."""
    generate = tuple(GeneratePart(**table) for table in tables.pop("generate"))
    texts = {key: tables.pop(key, "") for key in ("summary", "adapter")}
    parts = {key: _PARTS[key](**table) for key, table in tables.items()}
    return Recipe(name, generate=generate, **texts, **parts)


@cache
def _adapter() -> TypeAdapter[Recipe]:
    from pydantic import TypeAdapter

    return TypeAdapter(Recipe)


def _problem(error: Mapping[str, Any]) -> str:
    """One line on a validation error: the key, what its value may be, and the wrong value."""
    if not error["loc"]:  # a text that no encoding has bytes for
        return str(error["msg"])
    keys = [key for key in error["loc"] if isinstance(key, str)]
    key, kind, value = ".".join(keys), error["type"], error["input"]
    part = _PARTS[keys[0]] if len(keys) > 1 else Recipe
    if kind == "unexpected_keyword_argument":
        known = sorted({field.name for field in fields(part)} - {"name"})
        return f"unknown field {key}; known are {', '.join(known)}"
    if kind.startswith("dataclass"):
        return f"{key} must be a table, not {value!r}"
    if key == "generate":
        return "write at least one [[generate]] table"
    if kind == "tuple_type" or isinstance(error["loc"][-1], int):
        return f"{key} must be a list of names, not {value!r}"
    hint = get_type_hints(part, include_extras=True)[keys[-1]]
    if kind == "literal_error":
        return f"{key} must be one of {', '.join(filter(None, get_args(hint)))}, not {value!r}"
    if kind in ("greater_than_equal", "less_than_equal"):
        (limits,) = hint.__metadata__
        return f"{key} must be from {limits.ge:g} to {limits.le:g}, not {value!r}"
    return f"{key} must be {kind.removesuffix('_type')}, not {value!r}"


def _check_together(recipe: Recipe) -> None:
    """Raise ``RecipeError`` for values that contradict each other."""
    tests, problem = recipe.tests, ""
    first = next((part for part in recipe.generate if not part.fallback), None)
    if all(part.fallback for part in recipe.generate):
        problem = "every part is a fallback; leave fallback out of one [[generate]] table"
    elif first is not None and first.tables:
        problem = 'tables = "drafts" needs queries before it; leave it out of the first [[generate]] table'
    elif recipe.schema.nearest and not recipe.schema.examples:
        problem = "schema.nearest chooses values beside columns; set schema.examples, or leave it out"
    elif recipe.select.weights and recipe.select.selector != "light":
        problem = f"select.weights are for the selector light, not {recipe.select.selector}"
    elif recipe.select.judge and recipe.select.adapter:
        problem = "select.adapter is worn by the model that writes; write it behind select.judge, as MODEL+ADAPTER"
    elif len(set(tests.models)) < len(tests.models):
        problem = "tests.models names a model twice; name each once, and raise codes"
    elif (tests.models or tests.voting != "majority") and (tests.kind != "agents" or tests.by != "code"):
        problem = 'tests.models and tests.voting are for programs: kind = "agents", by = "code"'
    elif tests.chooser and tests.voting != "selection":
        problem = 'tests.chooser chooses where tests.voting = "selection"'
    elif tests.share and tests.data != "real":
        problem = 'tests.share is a share of the user\'s rows; set tests.data = "real", or leave it out'
    elif tests.kind == "agents" and (tests.keep != "pairs" or tests.draw != "selection" or not tests.reduce):
        problem = 'tests.keep, tests.draw and tests.reduce are for the databases of a suite: kind = "suite"'
    elif tests.kind == "suite" and (tests.share or tests.reasoning):
        problem = 'tests.share and tests.reasoning are for agents: kind = "agents"'
    if problem:
        raise RecipeError(f"recipe {recipe.name}: {problem}")
