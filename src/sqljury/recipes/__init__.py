"""Named configurations of the pipeline: TOML files here, or a user's own."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from sqljury.errors import RecipeError
from sqljury.recipes.parts import (
    Data,
    Form,
    Keywords,
    LinkKind,
    LinkPart,
    Sayer,
    SchemaPart,
    Shown,
    TestKind,
    TestsPart,
    Voting,
)

RANGES: dict[str, tuple[float, float]] = {
    "schema.sample_rows": (0, 100),
    "schema.values": (0, 100),
    "schema.examples": (0, 20),
    "link.share": (0, 1),
    "link.samples": (1, 64),
    "link.temperature": (0, 5),
    "link.whole": (0, 100_000),
    "generate.samples": (1, 256),
    "generate.temperature": (0, 5),
    "generate.top_p": (0, 1),
    "generate.max_tokens": (1, 32_768),
    "generate.order": (0, 1000),
    "generate.examples": (0, 100),
    "stop.share": (0, 1),
    "stop.least": (1, 256),
    "fix.attempts": (0, 20),
    "tests.cases": (1, 100),
    "tests.rows": (1, 100),
    "tests.shots": (0, 100),
    "tests.samples": (1, 64),
    "tests.temperature": (0, 5),
    "tests.codes": (1, 64),
    "tests.inspections": (0, 20),
    "tests.max_tokens": (1, 32_768),
    "refine.rounds": (0, 20),
    "refine.sure": (0, 1),
    "select.groups": (0, 256),
}
"""The least and the most that a number of a recipe may be."""


Rounds = Literal["both", "features", "focus"]


@dataclass(frozen=True, slots=True)
class GeneratePart:
    """``samples`` queries of one generator; ``temperature`` 0 is greedy. ``max_tokens`` is for one query.

    ``form`` is this part's own form of the schema, the recipe's where it is empty; ``order`` above 0 shuffles tables
    and columns, the same way for every question on a database, so that its state is kept. ``examples`` is how many
    worked examples a generator shows that shows any; ``rounds`` says which of the two ``synthetic`` writes, by features
    of SQL, or on what the question seems to need. ``constrain`` lets the model write only SQL that names what is
    there, see ``generate.grammar``. A part that is a ``fallback`` is asked only where no query of the other parts runs.
    ``model`` writes, by what ``open_model`` takes, such as ``+NAME`` for the run's own
    model with that adapter; where it is empty, the run's own.
    """

    generator: str = "direct"
    samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 300
    form: str = ""
    order: int = 0
    examples: int = 5
    rounds: Rounds = "both"
    constrain: bool = False
    fallback: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class FixPart:
    """Repairs: ``names``, ``dialect`` and ``values`` need no model, see ``fix.repair``; ``attempts`` is the model's.

    With ``hints`` it is told what schema and content say of its query, see ``fix.hints``, beside the engine's message.
    """

    names: bool = True
    dialect: bool = True
    values: bool = False
    attempts: int = 3
    hints: bool = True


@dataclass(frozen=True, slots=True)
class StopPart:
    """When later parts are not asked: a ``share`` of at least ``least`` candidates agrees; a share of 0 means never."""

    share: float = 0.0
    least: int = 2


@dataclass(frozen=True, slots=True)
class SelectPart:
    """The way to choose among candidates; ``groups`` is how many different results a judge compares, 0 for all.

    ``judge`` is the model that compares, by what ``open_model`` takes: a name of the catalogue, a GGUF file's path, a
    service's model. Where it is empty, the model that wrote the queries. ``weights`` is a file of `sqljury train light`
    for the selector ``light``; where it is empty, that of the package.
    """

    selector: str = "consistency"
    groups: int = 0
    judge: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class RefinePart:
    """A query that fails its test is written again, up to ``rounds`` times (TS-SQL, Algorithm 1); 0 for never.

    A test counts where that share of the opinions, or more, agrees on what is expected: ``sure`` 0 believes the test
    in any case, as the paper does.
    """

    rounds: int = 0
    sure: float = 0.0


DEFAULT_SCHEMA = SchemaPart()
DEFAULT_LINK = LinkPart()
DEFAULT_TESTS = TestsPart()


@dataclass(frozen=True, slots=True)
class Recipe:
    """One configuration of the pipeline."""

    name: str
    summary: str = ""
    schema: SchemaPart = DEFAULT_SCHEMA
    link: LinkPart = DEFAULT_LINK
    generate: tuple[GeneratePart, ...] = (GeneratePart(),)
    stop: StopPart = StopPart()
    fix: FixPart = FixPart()
    tests: TestsPart = DEFAULT_TESTS
    refine: RefinePart = RefinePart()
    select: SelectPart = SelectPart()

    @property
    def models(self) -> frozenset[str]:
        """The models that the recipe names, by what ``open_model`` takes."""
        return self.judges | ({part.model for part in self.generate} | {self.link.model}) - {""}

    @property
    def judges(self) -> frozenset[str]:
        """Those of them that choose among candidates and test them."""
        return self.tests.named | {self.select.judge} - {""}

    def steps(self, places: Iterable[int]) -> list[str]:
        """What the steps of these parts are called in an answer's ``steps``; places count from 0."""
        return [f"{place + 1} {self.generate[place].generator}" for place in places]


def names() -> list[str]:
    """The recipes that come with the package, sorted."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


def load(name: str) -> Recipe:
    """The recipe of that name, or of a TOML file at that path.

    Raises ``RecipeError`` for an unknown name, a file that is no TOML, a field that no recipe has, and a number out
    of its range.
    """
    if name in names():
        return parse(name, (files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
    path = Path(name)
    if path.suffix == ".toml" and os.path.isfile(path):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise RecipeError(f"recipe {path}: is no UTF-8 text; save it as UTF-8") from None
        except OSError as error:
            raise RecipeError(f"recipe {path}: cannot be read ({error.strerror}); check its permissions") from None
        return parse(path.stem, text)
    raise RecipeError(f"there is no recipe {name!r}; known are {', '.join(names())}, or give the path of a .toml file")


def parse(name: str, text: str) -> Recipe:
    """A recipe from TOML text; see ``load`` for the errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe {name}: not valid TOML: {error}") from error
    return build(name, data)


def build(name: str, data: Mapping[str, Any]) -> Recipe:
    """A recipe from the tables of its file, or from those that a run has kept; see ``load`` for the errors."""
    _known(name, "", data, Recipe)
    generate = data.get("generate", [{}])
    if not isinstance(generate, list) or not generate:
        raise RecipeError(f"recipe {name}: write at least one [[generate]] table")
    recipe = Recipe(
        name=name,
        summary=str(data.get("summary", "")),
        schema=_part(name, "schema", data.get("schema", {}), SchemaPart),
        link=_part(name, "link", data.get("link", {}), LinkPart),
        generate=tuple(_part(name, "generate", part, GeneratePart) for part in generate),
        stop=_part(name, "stop", data.get("stop", {}), StopPart),
        fix=_part(name, "fix", data.get("fix", {}), FixPart),
        tests=_part(name, "tests", data.get("tests", {}), TestsPart),
        refine=_part(name, "refine", data.get("refine", {}), RefinePart),
        select=_part(name, "select", data.get("select", {}), SelectPart),
    )
    for field, value, known in (
        ("schema.form", recipe.schema.form, get_args(Form)),
        ("schema.keywords", recipe.schema.keywords, get_args(Keywords)),
        ("link.kind", recipe.link.kind, get_args(LinkKind)),
        *(("generate.form", part.form, ("", *get_args(Form))) for part in recipe.generate),
        *(("generate.rounds", part.rounds, get_args(Rounds)) for part in recipe.generate),
        ("tests.kind", recipe.tests.kind, get_args(TestKind)),
        ("tests.form", recipe.tests.form, get_args(Shown)),
        ("tests.data", recipe.tests.data, get_args(Data)),
        ("tests.by", recipe.tests.by, get_args(Sayer)),
        ("tests.voting", recipe.tests.voting, get_args(Voting)),
    ):
        if value not in known:
            raise RecipeError(f"recipe {name}: {field} must be one of {', '.join(filter(None, known))}")
    if all(part.fallback for part in recipe.generate):
        raise RecipeError(f"recipe {name}: every part is a fallback; leave fallback out of one [[generate]] table")
    if recipe.select.weights and recipe.select.selector != "light":
        raise RecipeError(f"recipe {name}: select.weights are for the selector light, not {recipe.select.selector}")
    _check_agents(recipe)
    return recipe


def _check_agents(recipe: Recipe) -> None:
    """Raise for models of tests that would have nothing to do, or would do the same twice."""
    part = recipe.tests
    if len(set(part.models)) < len(part.models):
        raise RecipeError(f"recipe {recipe.name}: tests.models names a model twice; name each once, and raise codes")
    if (part.models or part.voting != "majority") and (part.kind != "agents" or part.by != "code"):
        what = "tests.models and tests.voting are for programs"
        raise RecipeError(f'recipe {recipe.name}: {what}: kind = "agents", by = "code"')
    if part.chooser and part.voting != "selection":
        raise RecipeError(f'recipe {recipe.name}: tests.chooser chooses where tests.voting = "selection"')


P = TypeVar("P", SchemaPart, LinkPart, GeneratePart, StopPart, FixPart, TestsPart, RefinePart, SelectPart)


def _part(recipe: str, section: str, data: Any, kind: type[P]) -> P:
    _known(recipe, section, data, kind)
    defaults = kind()
    values: dict[str, Any] = {}
    for key, value in data.items():
        wanted = type(getattr(defaults, key))
        if wanted is tuple:
            values[key] = _names(recipe, f"{section}.{key}", value)
            continue
        whole = wanted is float and isinstance(value, int) and not isinstance(value, bool)
        if type(value) is not wanted and not whole:
            raise RecipeError(f"recipe {recipe}: {section}.{key} must be {wanted.__name__}, not {value!r}")
        least, most = RANGES.get(f"{section}.{key}", (-inf, inf))
        if wanted in (int, float) and not least <= value <= most:
            raise RecipeError(f"recipe {recipe}: {section}.{key} must be from {least:g} to {most:g}, not {value!r}")
        values[key] = float(value) if whole else value
    return kind(**values)


def _names(recipe: str, where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise RecipeError(f"recipe {recipe}: {where} must be a list of names, not {value!r}")
    return tuple(value)


def _known(recipe: str, section: str, data: Any, kind: type) -> None:
    if not isinstance(data, dict):
        raise RecipeError(f"recipe {recipe}: {section} must be a table, not {data!r}")
    known = {field.name for field in fields(kind)} - {"name"}
    if unknown := set(data) - known:
        where = f"{section}." if section else ""
        raise RecipeError(f"recipe {recipe}: unknown field {where}{min(unknown)}; known are {', '.join(sorted(known))}")
