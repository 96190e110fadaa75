"""Groups of options: a frozen class whose fields are options of each command that takes one.

A command that is ``grouped`` names a group like any parameter; Typer sees the fields in its place, and the command gets
the group filled in. What the options mean together is a method of the group.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from sqljury.cli.options import (
    AccessOption,
    AdapterOption,
    AllowOption,
    AskedRecipe,
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    DatabasesOption,
    DbOption,
    DenyOption,
    DrawSeed,
    MaskOption,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    ModelOption,
    NotesOption,
    PriceOption,
    PrivacyOption,
    ProjectOption,
    QuestionsOption,
    QueueOption,
    RowsOption,
    SchemaOption,
    SecondsOption,
    SeedOption,
    SplitOption,
    TimeoutOption,
    WithoutDatabases,
    WorkersOption,
    access_of,
    adapted,
    allowance,
    ledger,
    price_of,
)
from sqljury.cli.target import session_options
from sqljury.llm.privacy import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqljury.access.rules import Access
    from sqljury.datasets.spider import Example
    from sqljury.llm.ledger import Ledger
    from sqljury.types import Privacy
    from sqljury.web.settings import Settings


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups, at any depth, in place of the groups."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    options = [option for parameter in parameters for option in _options(parameter)]
    signature = inspect.Signature(options)

    @wraps(command)
    def with_groups(*arguments: Any, **given: Any) -> None:
        bound = signature.bind(*arguments, **given)
        bound.apply_defaults()
        command(
            **{
                parameter.name: _filled(parameter.annotation, parameter.name, bound.arguments)
                for parameter in parameters
            }
        )

    with_groups.__signature__ = signature  # type: ignore[attr-defined]
    with_groups.__annotations__ = {option.name: option.annotation for option in options}
    return with_groups


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameter itself, or the options of the group that it is; options with a default are given by name."""
    if not is_dataclass(parameter.annotation):
        optional = parameter.default is not parameter.empty
        yield parameter.replace(kind=parameter.KEYWORD_ONLY) if optional else parameter
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        default = parameter.empty if field.default is MISSING else field.default
        yield from _options(parameter.replace(name=field.name, default=default, annotation=hints[field.name]))


def _filled(hint: Any, name: str, given: Mapping[str, Any]) -> Any:
    """The value of an option, or the group of this class with the values of its options."""
    if not is_dataclass(hint):
        return given[name]
    hints = get_type_hints(hint, include_extras=True)
    return hint(**{field.name: _filled(hints[field.name], field.name, given) for field in fields(hint)})  # type: ignore[operator]


@dataclass(frozen=True, kw_only=True)
class AccessOptions:
    """What queries and the model may read."""

    access: AccessOption = None
    allow: AllowOption = None
    deny: DenyOption = None
    mask: MaskOption = None
    only_rows: RowsOption = None

    def rules(self) -> Access | None:
        """The rules of the file and the options together, None without any; raises ``InputError``."""
        return access_of(self.access, self.allow, self.deny, self.mask, self.only_rows)


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What all calls of the model may cost together."""

    max_calls: MaxCalls = None
    max_tokens: MaxTokens = None
    max_usd: MaxUsd = None
    price: PriceOption = None

    def ledger(self) -> Ledger | None:
        """The ledger that enforces the limits, None without any."""
        return ledger(self.max_calls, self.max_tokens, self.max_usd)


@dataclass(frozen=True, kw_only=True)
class ViewOptions(AccessOptions):
    """What queries and the model may read, and what of it a model that is a service may get."""

    privacy: PrivacyOption = None

    @property
    def level(self) -> Privacy | None:
        """What a service may get, None where no option says it."""
        return None if self.privacy is None else level(self.privacy.value)

    def target(self) -> dict[str, Any]:
        """Arguments of ``session_options``; raises ``InputError``."""
        return {"access": self.rules(), "privacy": self.level}


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """How questions are answered."""

    recipe: AskedRecipe = None
    model: ModelOption = None
    adapter: AdapterOption = None
    seed: SeedOption = 0
    timeout: TimeoutOption = 30.0
    cache: CacheOption = True
    budget_seconds: BudgetSeconds = None

    @property
    def spec(self) -> str | None:
        """The model with its adapter; raises ``InputError`` for two adapters."""
        return adapted(self.model, self.adapter)

    def target(self) -> dict[str, Any]:
        """Arguments of ``session_options``; raises ``InputError``."""
        return {"recipe": self.recipe, "model": self.spec}

    def session(self) -> dict[str, Any]:
        """Arguments of ``Session`` besides recipe and model."""
        from sqljury.types import Limits

        budget = allowance(self.budget_seconds, None)
        return {"limits": Limits(seconds=self.timeout), "allowance": budget, "seed": self.seed, "cache": self.cache}


@dataclass(frozen=True, kw_only=True)
class PaidAnswerOptions(AnswerOptions):
    """How questions are answered, and what that may cost."""

    budget_tokens: BudgetTokens = None
    spending: LimitOptions

    def session(self) -> dict[str, Any]:
        """Arguments of ``Session`` besides recipe and model; raises ``typer.BadParameter`` for a faulty price."""
        return {
            **super().session(),
            "allowance": allowance(self.budget_seconds, self.budget_tokens),
            "ledger": self.spending.ledger(),
            "price": price_of(self.spending.price),
        }


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """A database, and how questions about it are answered."""

    db: DbOption = None
    project: ProjectOption = None
    schema: SchemaOption = None
    notes: NotesOption = None
    answering: PaidAnswerOptions
    view: ViewOptions

    def arguments(self, *, examples: str | None = None) -> dict[str, Any]:
        """The arguments of ``Session``; raises what ``session_options`` raises."""
        given = {**self.answering.target(), **self.view.target()}
        target = session_options(
            self.db, self.project, schemas=self.schema, notes=self.notes, examples=examples, **given
        )
        return {**target, **self.answering.session()}


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """Where a server listens, to whom, and how much it takes on."""

    host: Annotated[str, typer.Option(help="The address to listen on; other than loopback only with --tokens.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any free one.")] = 8000
    tokens: Annotated[
        str | None, typer.Option(metavar="FILE", help="A TOML file of tokens with their databases and access rules.")
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name under which clients call this server; repeatable."),
    ] = None
    workers: WorkersOption = 4
    queue: QueueOption = 64
    seconds: SecondsOption = 300.0

    def settings(self, **more: Any) -> Settings:
        """The server's settings, not yet checked; ``more`` are further ones."""
        from sqljury.web.settings import Settings

        names = tuple(self.allow_host or ())
        return Settings(self.host, self.port, names, self.workers, self.queue, self.seconds, **more)


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Which questions of a dataset are used."""

    split: SplitOption = "dev"
    among: DatabasesOption = ""
    left_out: WithoutDatabases = ""
    limit: QuestionsOption = None
    seed: DrawSeed = 0

    def drawn(self, examples: Sequence[Example]) -> list[Example]:
        """The questions that are used; raises ``InputError`` for databases that the dataset does not have."""
        from sqljury.datasets import spider, subset

        return spider.sample(subset.of_databases(examples, self.among, self.left_out), self.limit, self.seed)

    def settings(self) -> dict[str, Any]:
        """What a run stores of these options; the seed is a setting of the run itself."""
        given = {"databases": self.among, "without": self.left_out}
        return {"limit": self.limit, **{name: text for name, text in given.items() if text}}
