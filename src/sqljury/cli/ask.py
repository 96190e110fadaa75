"""``sqljury ask``: one question, one database, one answer."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from sqljury.cli import show
from sqljury.cli.options import (
    AccessOption,
    AdapterOption,
    AllowOption,
    BudgetSeconds,
    BudgetTokens,
    CacheOption,
    DbOption,
    DenyOption,
    EvidenceOption,
    ExamplesOption,
    MaskOption,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    ModelOption,
    NotesOption,
    PriceOption,
    RecipeOption,
    SchemaOption,
    SeedOption,
    TimeoutOption,
    access_of,
    allowance,
    budget,
    opening,
    pool_of,
    price_of,
)
from sqljury.cli.terminal import interruptible


class Output(StrEnum):
    """The forms an answer can be printed in."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    SQL = "sql"


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know, in plain language.")],
    db: DbOption,
    schema: SchemaOption = None,
    evidence: EvidenceOption = "",
    notes: NotesOption = None,
    recipe: RecipeOption = "default",
    model: ModelOption = None,
    adapter: AdapterOption = None,
    output: Annotated[Output, typer.Option(help="How to print the answer.")] = Output.TABLE,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows to print; 50 in a table, else all.")] = None,
    defuse: Annotated[
        bool, typer.Option("--defuse-formulas", help="With --output csv: no cell is a formula to a spreadsheet.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the candidates, repairs and cost.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Show some rows on which the answer and its strongest rival differ.")
    ] = False,
    seed: SeedOption = 0,
    timeout: TimeoutOption = 30.0,
    cache: CacheOption = True,
    examples: ExamplesOption = None,
    budget_seconds: BudgetSeconds = None,
    budget_tokens: BudgetTokens = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    price: PriceOption = None,
    access: AccessOption = None,
    allow: AllowOption = None,
    deny: DenyOption = None,
    mask: MaskOption = None,
) -> None:
    """Answer a question on a database: several queries are written, run and compared, and the best is shown."""
    from sqljury.access.guard import guard
    from sqljury.db.connect import connect
    from sqljury.errors import InputError, NoAnswerError
    from sqljury.language.orders import check_question
    from sqljury.pipeline import Pipeline, Progress
    from sqljury.schema.introspect import introspect
    from sqljury.schema.notes_files import load
    from sqljury.stages.contrast import verified
    from sqljury.types import Limits, Question

    if defuse and output is not Output.CSV:
        raise InputError("--defuse-formulas is for --output csv; add that, or leave it out")
    asked = Question(question, evidence)
    check_question(asked)
    known = load(*(notes or ()))
    pool = pool_of(examples)
    rules = access_of(access, allow, deny, mask)
    with connect(db, schema or ()) as database, show.progress() as report, interruptible() as cancel:
        source = guard(database, introspect(database), rules) if rules else database
        limited = budget(max_calls, max_tokens, max_usd)
        opened = opening(model, adapter, cache=cache, budget=limited, price=price_of(price))
        pipeline = replace(
            Pipeline.from_recipe(recipe, opened(), Limits(seconds=timeout), opened),
            allowance=allowance(budget_seconds, budget_tokens),
            pool=pool,
        )
        try:
            answer = pipeline.answer(asked, source, seed=seed, progress=report, cancel=cancel, notes=known)
        except NoAnswerError as error:
            report.close()
            if explain:
                show.evidence(error.candidates, error.cost, stderr=True, dialect=database.dialect)
            raise
        if verify:
            report(Progress("looking for rows that tell the answer from its rival", 0, 1))
            answer = verified(answer, source, seed=seed, cancel=cancel)
    show.answer(answer, output.value, limit, explain, defuse=defuse)
