"""Options that several commands share, and the values that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.budget import Allowance
    from sqljury.datasets.pool import Pool
    from sqljury.llm.base import LanguageModel
    from sqljury.llm.ledger import Ledger, Price
    from sqljury.llm.prices import Prices
    from sqljury.parallel.cluster import Cluster, Needs
    from sqljury.parallel.crew import Crew


class Dataset(StrEnum):
    """The kinds of datasets."""

    SPIDER = "spider"
    BIRD = "bird"
    COSQL = "cosql"
    JSONL = "jsonl"
    PROJECT = "project"


class Tests(StrEnum):
    """The kinds of tests."""

    SUITE = "suite"
    AGENTS = "agents"


class Privacy(StrEnum):
    """What models outside of this process may get of a database's content."""

    SCHEMA = "schema"
    VALUES = "values"
    ROWS = "rows"


DbOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="The database: a SQLite or DuckDB file, a CSV, Parquet, JSON or Excel file, a folder of them, a "
        "URL, or a name in the context folder.",
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The context folder, which has sqljury.toml; by default the nearest one at or above this folder.",
    ),
]
SchemaOption = Annotated[
    list[str] | None,
    typer.Option("--schema", help="A schema to ask about; repeatable. The first one needs no prefix in queries."),
]
EvidenceOption = Annotated[
    str, typer.Option(help="Knowledge that the database does not hold, such as a formula or the meaning of a code.")
]
NotesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Notes on the database: a YAML file or a description folder in BIRD's form; repeatable."
    ),
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="The time limit of one query, in seconds.")]
_RECIPES = "The recipe: default, fast, max, rerank, tssql, chase, mscsql, ... or a .toml file."
RecipeOption = Annotated[str, typer.Option(help=_RECIPES)]
AskedRecipe = Annotated[str | None, typer.Option(help=f"{_RECIPES} By default that of the context folder.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="The model: a local model, a .gguf file or a service such as openai:NAME; SQLJURY_MODEL sets the default."
    ),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A trained adapter for the local model: its name or the path of its .gguf file; none leaves out "
        "the recipe's adapter.",
    ),
]
AnyDataset = Annotated[
    Path,
    typer.Option(
        "--data",
        help="The folder of Spider, BIRD, CoSQL or SParC, a file of questions (JSON or JSONL), or a context folder.",
    ),
]
DatasetOption = Annotated[
    Dataset | None, typer.Option("--dataset", help="The kind of dataset, if it cannot be detected from the files.")
]
DatabaseFolder = Annotated[
    Path | None,
    typer.Option("--db-dir", help="For a file of questions: the folder that holds <db_id>/<db_id>.sqlite."),
]
ProcessesOption = Annotated[
    int, typer.Option("--processes", min=1, help="The number of processes, or of workers on --cluster.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WHERE",
        help="Use workers on Ray: local (started here), auto (the cluster of this machine) or ray://HOST:PORT.",
    ),
]
RunFolder = Annotated[Path, typer.Option(help="The folder of this run; an unfinished run there is continued.")]
SplitOption = Annotated[str, typer.Option(help="The split of the dataset: dev or train.")]
QuestionsOption = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="The number of questions, drawn at random by --seed; all by default."),
]
DatabasesOption = Annotated[
    str,
    typer.Option(
        "--databases",
        metavar="WHICH",
        help="Only these databases: a share such as 1/2 (2/2 is the other half; 1/2:7 draws with seed 7), "
        "names separated by commas, or a file with one name per line.",
    ),
]
WithoutDatabases = Annotated[
    str,
    typer.Option("--without-databases", metavar="WHICH", help="Leave out these databases, given as for --databases."),
]
DrawSeed = Annotated[int, typer.Option(help="The seed of the drawn questions and all random choices.")]
SeedOption = Annotated[int, typer.Option(help="The seed of all random choices.")]
WeightsOption = Annotated[
    str, typer.Option("--weights", metavar="FILE", help="The weights file of `train light`, for the selector light.")
]
CacheOption = Annotated[bool, typer.Option(help="Store the model's replies and reuse them.")]
BatchOption = Annotated[
    int,
    typer.Option(
        min=1,
        max=1024,
        help="The number of questions in flight at once; for services, vLLM and the embedded model.",
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(min=1, help="The limit on calls to the model; the command ends with an error before exceeding it."),
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="The limit on tokens read and written by the model, as for --max-calls.")
]
MaxUsd = Annotated[
    float | None, typer.Option(min=0, help="The limit on the cost in US dollars, as for --max-calls; needs --price.")
]
PriceOption = Annotated[
    str | None,
    typer.Option(metavar="IN/OUT", help="The price in US dollars per million tokens read and written, such as 0.25/1."),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="A TOML file of prices by model, in US dollars per million tokens; see docs/benchmarks.md.",
    ),
]
BudgetSeconds = Annotated[
    float | None,
    typer.Option(
        min=0, help="The time budget of a question, in seconds; once spent, the best candidate so far is chosen."
    ),
]
BudgetTokens = Annotated[
    int | None, typer.Option(min=0, help="The token budget of a question, read and written, without cached tokens.")
]
ExamplesOption = Annotated[
    str | None,
    typer.Option(
        "--examples", metavar="FILE", help="Your own questions with queries, for recipes that show few-shot examples."
    ),
]
AccessOption = Annotated[
    str | None, typer.Option("--access", metavar="FILE", help="A TOML file of access rules; see docs/access.md.")
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="PATTERN",
        help="Tables or columns that may be read, as table or table.column with * wildcards; repeatable.",
    ),
]
DenyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--deny", metavar="PATTERN", help="Tables or columns that are hidden and may not be read; repeatable."
    ),
]
MaskOption = Annotated[
    list[str] | None,
    typer.Option("--mask", metavar="PATTERN", help="Columns whose values the model is not shown; repeatable."),
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only-rows",
        metavar="RULE",
        help="The rows of a table that queries see, such as \"customer: region = 'north'\"; repeatable.",
    ),
]
WorkersOption = Annotated[int, typer.Option(min=1, max=256, help="The number of questions worked on at once.")]
QueueOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="The number of questions that may wait; further questions are refused with the message that the "
        "server is busy.",
    ),
]
SecondsOption = Annotated[
    float, typer.Option(min=1, help="The time limit of a question, in seconds, waiting included.")
]
PrivacyOption = Annotated[
    Privacy | None,
    typer.Option(
        "--privacy",
        help="What a model service may see of the database: only the schema, also values of columns, or also "
        "rows (the default). A model in this process may see everything.",
    ),
]


def adapted(model: str | None, adapter: str | None) -> str | None:
    """The spec of a model, or of the default model, with an adapter if one is given, for ``open_model``.

    Raises ``InputError`` for a model that already names an adapter.
    """
    if not adapter:
        return model
    from sqljury.errors import InputError
    from sqljury.llm import adapters

    if model and adapters.parse(model)[1]:
        raise InputError(f"{model} already names an adapter; leave it out there, or leave out --adapter {adapter}")
    return f"{model or ''}+{adapter}"


def opening(
    model: str | None,
    adapter: str | None = None,
    *,
    cache: bool,
    ledger: Ledger | None = None,
    price: Price | Prices | None = None,
    together: int = 1,
) -> Callable[..., LanguageModel]:
    """``open_model`` for a command: without a name it opens the command's own model, with one a recipe's model.

    All models that it opens share one ledger.
    """
    from sqljury.llm.open import open_model

    base = adapted(model, adapter)
    return partial(open_model, base=base, cache=cache, ledger=ledger, price=price, together=together)


@contextmanager
def crew_on(cluster: str | None, processes: int) -> Iterator[int | Crew]:
    """Who works: as many processes of this machine, or as many workers of a cluster, until the command ends."""
    if cluster is None:
        yield processes
        return
    with cluster_of(cluster, processes, slots=2) as crew:  # an item waits in each worker while another is worked on
        yield crew


@contextmanager
def cluster_of(cluster: str, workers: int | None, slots: int, needs: Needs | None = None) -> Iterator[Cluster]:
    """The cluster's crew, until the command ends; raises what ``Cluster`` raises."""
    from sqljury.cli import terminal
    from sqljury.parallel.cluster import Cluster, Needs

    with closing(Cluster(cluster, workers, slots, needs or Needs())) as crew:
        terminal.note(f"{crew.workers} worker{'' if crew.workers == 1 else 's'} on {cluster}")
        yield crew


def access_of(
    path: str | None,
    allow: list[str] | None,
    deny: list[str] | None,
    mask: list[str] | None,
    rows: list[str] | None,
) -> Access | None:
    """The rules of the file and the options together, None if there are none; raises ``InputError``."""
    from sqljury.access.rules import Access, load

    given = Access(tuple(allow or ()), tuple(deny or ()), tuple(mask or ()), tuple(rows or ()))
    return ((load(path) if path else Access()) + given) or None


def ledger(calls: int | None, tokens: int | None, usd: float | None) -> Ledger | None:
    """The ledger that enforces the given limits, None if there are none."""
    from sqljury.llm.ledger import Budget, Ledger

    return None if calls is tokens is usd is None else Ledger(Budget(calls, tokens, usd))


def prices_of(table: Path | None, price: str | None) -> Price | Prices | None:
    """The table of ``--prices``, or the one price of ``--price``; raises ``InputError`` for both."""
    from sqljury.errors import InputError
    from sqljury.llm.prices import load

    if table is None:
        return price_of(price)
    if price is not None:
        raise InputError("--price and --prices both say what the model costs; leave one of them out")
    return load(table)


def allowance(seconds: float | None, tokens: int | None) -> Allowance:
    """The budget of one question; infinite where none is given."""
    from sqljury.budget import Allowance

    return Allowance(inf if seconds is None else seconds, inf if tokens is None else tokens)


def pool_of(path: str | None) -> Pool | None:
    """The user's own examples, None if there are none; raises ``InputError``."""
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
    if len(numbers) not in (2, 3) or not all(0 <= number < inf for number in numbers):
        raise typer.BadParameter(f"{text!r} is not a price; write dollars per million tokens as IN/OUT, such as 0.25/1")
    return Price(*numbers)
