"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.budget import Allowance
    from sqljury.datasets.pool import Pool
    from sqljury.llm.base import LanguageModel
    from sqljury.llm.ledger import Ledger, Price


class Tests(StrEnum):
    """The kinds of tests."""

    SUITE = "suite"
    AGENTS = "agents"


DbOption = Annotated[
    str, typer.Option("--db", help="A database file, a CSV, Parquet, JSON or Excel file, a folder of them, or a URL.")
]
SchemaOption = Annotated[
    list[str] | None, typer.Option("--schema", help="A schema to ask about; the first one given needs no prefix.")
]
EvidenceOption = Annotated[str, typer.Option(help="What the database does not say: a formula, a meaning.")]
NotesOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="What is known of the database: a YAML file, or a folder as BIRD has it."),
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds that one query may run.")]
RecipeOption = Annotated[
    str, typer.Option(help="How to work: default, fast, rerank, tssql, chase, mscsql, ... or a .toml file.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(help="A local model, a .gguf file, or a service such as openai:NAME; SQLJURY_MODEL sets the default."),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A trained adapter for the local model: its name, or the path of a .gguf file."),
]
SplitOption = Annotated[str, typer.Option(help="dev or train.")]
QuestionsOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="That many questions, drawn at random by --seed.")
]
SeedOption = Annotated[int, typer.Option(help="Seeds every random choice.")]
CacheOption = Annotated[bool, typer.Option(help="Keep and reuse the model's replies.")]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Stop before making more calls to the model.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Stop before the model reads and writes more tokens.")]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Stop before spending more than this; needs --price.")]
PriceOption = Annotated[
    str | None, typer.Option(metavar="IN/OUT", help="US dollars for a million tokens read and written, such as 0.25/1.")
]
BudgetSeconds = Annotated[
    float | None, typer.Option(min=0, help="Begin no further call to the model after that many seconds; then choose.")
]
BudgetTokens = Annotated[
    int | None, typer.Option(min=0, help="The same after that many tokens read and written, known ones not counted.")
]
ExamplesOption = Annotated[
    str | None,
    typer.Option(
        "--examples", metavar="FILE", help="Your own questions with their queries, for recipes that show some."
    ),
]
AccessOption = Annotated[
    str | None, typer.Option("--access", metavar="FILE", help="A TOML file of what may be seen: docs/access.md.")
]
AllowOption = Annotated[
    list[str] | None, typer.Option("--allow", metavar="PATTERN", help="Only these: table, or table.column, with *.")
]
DenyOption = Annotated[
    list[str] | None, typer.Option("--deny", metavar="PATTERN", help="Tables or columns that are not seen nor read.")
]
MaskOption = Annotated[
    list[str] | None, typer.Option("--mask", metavar="PATTERN", help="Columns whose values the model is not shown.")
]


def adapted(model: str | None, adapter: str | None) -> str | None:
    """The name that ``open_model`` takes for a model, or the default one, with an adapter, if any.

    Raises ``InputError`` for a model that is named with another one.
    """
    if not adapter:
        return model
    from sqljury.errors import InputError
    from sqljury.llm import adapters

    if model and adapters.parse(model)[1]:
        raise InputError(f"{model} names an adapter already; leave it out there, or leave out --adapter {adapter}")
    return f"{model or ''}+{adapter}"


def opening(
    model: str | None,
    adapter: str | None = None,
    *,
    cache: bool,
    ledger: Ledger | None = None,
    price: Price | None = None,
) -> Callable[..., LanguageModel]:
    """``open_model`` for a command: without a name it opens the command's own model, with one what a recipe names.

    One ledger counts for all that it opens.
    """
    from sqljury.llm.open import open_model

    return partial(open_model, base=adapted(model, adapter), cache=cache, ledger=ledger, price=price)


def access_of(
    path: str | None, allow: list[str] | None, deny: list[str] | None, mask: list[str] | None
) -> Access | None:
    """The rules of the file and of the options together, None when there are none; raises ``InputError``."""
    from sqljury.access.rules import Access, load

    given = Access(tuple(allow or ()), tuple(deny or ()), tuple(mask or ()))
    return ((load(path) if path else Access()) + given) or None


def ledger(calls: int | None, tokens: int | None, usd: float | None) -> Ledger | None:
    """What holds a command's calls of models to the limits that were given, None when there were none."""
    from sqljury.llm.ledger import Budget, Ledger

    return None if calls is tokens is usd is None else Ledger(Budget(calls, tokens, usd))


def allowance(seconds: float | None, tokens: int | None) -> Allowance:
    """What one question may take; what was not given is not limited."""
    from sqljury.budget import Allowance

    return Allowance(inf if seconds is None else seconds, inf if tokens is None else tokens)


def pool_of(path: str | None) -> Pool | None:
    """The user's own examples, None where there are none; raises ``InputError``."""
    if path is None:
        return None
    from sqljury.datasets.pool import load

    return load(path)


def price_of(text: str | None) -> Price | None:
    """The price in ``IN/OUT`` or ``IN/OUT/CACHED`` form; raises ``typer.BadParameter`` for anything else."""
    from sqljury.llm.ledger import Price

    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split("/")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or min(numbers) < 0:
        raise typer.BadParameter(f"{text!r} is no price; write dollars for a million tokens as IN/OUT, such as 0.25/1")
    return Price(*numbers)
