"""Options that go together, as frozen values: a command takes the value, and Typer sees its fields as options.

``grouped`` makes such a command. A subclass may give an option another default or help text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
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
    DenyOption,
    MaskOption,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    ModelOption,
    PriceOption,
    PrivacyOption,
    QueueOption,
    RowsOption,
    SecondsOption,
    SeedOption,
    TimeoutOption,
    WorkersOption,
    access_of,
    adapted,
    allowance,
    ledger,
    price_of,
)

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.types import Privacy
    from sqljury.web.settings import Settings


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command for Typer: the fields of its parameters that are dataclasses are parameters of their own."""
    groups: dict[str, Any] = {}
    flat: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if is_dataclass(kind):
            groups[name] = kind
            flat += _options(kind)
        else:
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind))

    def run(**given: Any) -> None:
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # what inspect.signature reads
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(group)
    ]


@dataclass(frozen=True)
class Answering:
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
        """Arguments of ``Session``, besides recipe and model."""
        from sqljury.types import Limits

        budget = allowance(self.budget_seconds, None)
        return {"limits": Limits(seconds=self.timeout), "allowance": budget, "seed": self.seed, "cache": self.cache}


@dataclass(frozen=True)
class Limited(Answering):
    """How questions are answered, and what they may cost."""

    budget_tokens: BudgetTokens = None
    max_calls: MaxCalls = None
    max_tokens: MaxTokens = None
    max_usd: MaxUsd = None
    price: PriceOption = None

    def session(self) -> dict[str, Any]:
        """Arguments of ``Session``, besides recipe and model; raises ``typer.BadParameter`` for a faulty price."""
        return {
            **super().session(),
            "allowance": allowance(self.budget_seconds, self.budget_tokens),
            "ledger": ledger(self.max_calls, self.max_tokens, self.max_usd),
            "price": price_of(self.price),
        }


@dataclass(frozen=True)
class Rules:
    """What may be seen of a database: by anybody, and by a model that is a service."""

    access: AccessOption = None
    allow: AllowOption = None
    deny: DenyOption = None
    mask: MaskOption = None
    only_rows: RowsOption = None
    privacy: PrivacyOption = None

    @property
    def together(self) -> Access | None:
        """The rules of the file and of the options; raises ``InputError``."""
        return access_of(self.access, self.allow, self.deny, self.mask, self.only_rows)

    @property
    def level(self) -> Privacy | None:
        """What a service may get, None where it is not said."""
        from sqljury.llm.privacy import level

        return None if self.privacy is None else level(self.privacy.value)

    def target(self) -> dict[str, Any]:
        """Arguments of ``session_options``; raises ``InputError``."""
        return {"access": self.together, "privacy": self.level}


@dataclass(frozen=True)
class Listening:
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
