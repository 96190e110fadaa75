"""``sqljury bench select``: other choices among the candidates of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import grouped
from sqljury.cli.options import (
    AdapterOption,
    CacheOption,
    DatabasesOption,
    ModelOption,
    Tests,
    WeightsOption,
    WithoutDatabases,
    opening,
)
from sqljury.cli.refining import Voting
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.recipes import TestsPart


class Shown(StrEnum):
    """The forms in which a model sees a small database."""

    CSV = "csv"
    SQLITE = "sqlite"


class JudgedSchema(StrEnum):
    """What a judge sees of the schema."""

    USED = "used"
    LINKED = "linked"


class Kept(StrEnum):
    """Which small databases a suite keeps."""

    PAIRS = "pairs"
    CLASSES = "classes"
    ALL = "all"


class Draw(StrEnum):
    """Where the rows of small databases come from."""

    SELECTION = "selection"
    FUZZING = "fuzzing"


@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """The tests of a selector that uses tests; what is not given is as in a suite."""

    tests: Annotated[Tests, typer.Option(help="The kind of tests, for selectors that use tests.")] = Tests.SUITE
    form: Annotated[Shown | None, typer.Option(help="The form in which tests show small databases to the model.")] = (
        None
    )
    shots: Annotated[int | None, typer.Option(min=0, max=100, help="The number of few-shot examples of tests.")] = None
    samples: Annotated[
        int | None, typer.Option(min=1, max=64, help="The number of replies that state an expected result.")
    ] = None
    temperature: Annotated[float | None, typer.Option(min=0, max=5, help="The temperature of these replies.")] = None
    cases: Annotated[int | None, typer.Option(min=1, max=100, help="The largest number of small databases.")] = None
    keep: Annotated[
        Kept | None,
        typer.Option(
            help="Which small databases are kept: those on which a new pair of queries differs, those with new "
            "classes, or all up to --cases."
        ),
    ] = None
    draw: Annotated[
        Draw | None,
        typer.Option(help="The rows of small databases: a random selection from the database, or made-up rows."),
    ] = None
    reduce: Annotated[
        bool | None,
        typer.Option(
            "--reduce/--as-drawn", help="Whether databases drawn at random lose the rows that no difference needs."
        ),
    ] = None
    coder: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A model that writes programs for tests; repeatable.")
    ] = None
    voting: Annotated[Voting | None, typer.Option(help="How the programs' results are combined.")] = None

    def part(self) -> TestsPart:
        """The tests as a recipe has them; raises ``InputError`` for options of the other kind of tests."""
        from sqljury.bench.choices import SUITE
        from sqljury.errors import InputError

        if (self.keep or self.draw or self.reduce is not None) and self.tests is not Tests.SUITE:
            raise InputError(
                "--keep, --draw and --as-drawn are for the databases of a suite; leave them out, or leave out --tests "
                "agents"
            )
        if (self.coder or self.voting) and self.tests is not Tests.AGENTS:
            raise InputError("--coder and --voting are for programs; add --tests agents, or leave them out")
        given: dict[str, Any] = {
            "form": self.form and self.form.value,
            "shots": self.shots,
            "samples": self.samples,
            "temperature": self.temperature,
            "cases": self.cases,
            "keep": self.keep and self.keep.value,
            "draw": self.draw and self.draw.value,
            "reduce": self.reduce,
            "models": tuple(dict.fromkeys(self.coder)) if self.coder else None,
            "voting": self.voting and self.voting.value,
        }
        return replace(
            SUITE, kind=self.tests.value, **{name: value for name, value in given.items() if value is not None}
        )


@grouped
def select(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a finished run.")],
    selector: Annotated[
        str, typer.Option(help="The selector: consistency, critic, first, random, ranker, rerank, tournament, ...")
    ],
    tests: TestOptions,
    groups: Annotated[
        int, typer.Option(min=0, max=256, help="The number of largest groups to choose among; 0 for all.")
    ] = 0,
    weights: WeightsOption = "",
    part: Annotated[
        list[int] | None,
        typer.Option(min=1, help="The number of a recipe part whose candidates take part; repeatable."),
    ] = None,
    first: Annotated[int, typer.Option(min=0, help="The number of first candidates that take part; 0 for all.")] = 0,
    schema: Annotated[
        JudgedSchema, typer.Option(help="What a judge sees: what the queries use, or the linked schema with values.")
    ] = JudgedSchema.USED,
    databases: DatabasesOption = "",
    left_out: WithoutDatabases = "",
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    model: ModelOption = None,
    adapter: AdapterOption = None,
    cache: CacheOption = False,
) -> None:
    """Choose among a run's stored candidates with another selector; `bench analyze --what ablation` shows it."""
    from sqljury.bench import choices
    from sqljury.bench.run import Controls
    from sqljury.datasets import subset
    from sqljury.evaluation import run_folder as folder
    from sqljury.recipes import SelectPart
    from sqljury.stages.registry import check_weights

    check_weights(weights, selector)
    testing = tests.part()
    where = data or folder.data_of(run_dir)
    within = subset.subset(databases, left_out)  # before the run is read: a share may not exist
    if databases or left_out:
        within = subset.checked({record["db_id"] for record in folder.records(run_dir)}, databases, left_out)

    def say(done: int, total: int, line: folder.Record | None) -> None:
        if line is not None:
            terminal.note(f"{done}/{total} {line['error'] or written.one_line(line['sql'])[:100]}")
        elif done:
            terminal.note(f"{run_dir} has {done} of {total} choices; continuing")

    with interruptible() as cancel:
        selecting = SelectPart(selector, groups, schema=schema.value, weights=weights)
        among = choices.Among(first, tuple(part or ()))
        opened = opening(model, adapter, cache=cache)
        controls = Controls(say, cancel, opened)
        file = choices.select(run_dir, where, opened(), selecting, controls, among=among, tests=testing, within=within)
    terminal.note(f"choices {choices.name_of(file)!r} in {file}; the analysis `ablation` shows them")
