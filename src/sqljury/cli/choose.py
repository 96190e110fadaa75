"""``sqljury choose``: the best of several systems' queries, for the questions of a file or for one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import show, terminal
from sqljury.cli.ask import Output
from sqljury.cli.options import (
    CacheOption,
    EvidenceOption,
    ModelOption,
    PrivacyOption,
    SeedOption,
    TimeoutOption,
    opening,
)
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.bench.given import Choices
    from sqljury.evaluation.run_folder import Record

LISTED = 20
"""Lines that are printed of those that are not used as they are, and of questions without an answer."""


def choose(
    question: Annotated[
        str | None, typer.Argument(help="One question, with --db and --sql; without it, give --pred and --questions.")
    ] = None,
    pred: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A system's prediction file; repeatable, the most trusted system first."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The questions: dev.json, BIRD JSON or JSONL; gold may be missing."),
    ] = None,
    db_dir: Annotated[Path | None, typer.Option(help="The folder of <db_id>/<db_id>.sqlite.")] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Spider's tables.json; its foreign keys count beside those of the databases.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The prediction file to write, in BIRD's form if it ends with .json."),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of the run; an unfinished run there is continued.")
    ] = None,
    db: Annotated[str | None, typer.Option(help="The database of the one question: a file or a URL.")] = None,
    sql: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A file with a query for the one question; repeatable, most trusted first."),
    ] = None,
    evidence: EvidenceOption = "",
    recipe: Annotated[
        str, typer.Option(help="The recipe whose repairs, tests, selector and refinement are used.")
    ] = "choose",
    selector: Annotated[
        str, typer.Option(metavar="NAME", help="The selector: light, consistency, first, critic, tournament, ...")
    ] = "",
    pred_format: Annotated[
        str | None, typer.Option(help="The format of --pred: lines, bird or jsonl; detected by default.")
    ] = None,
    model: ModelOption = None,
    cache: CacheOption = True,
    seed: SeedOption = 0,
    timeout: TimeoutOption = 30.0,
    output: Annotated[Output, typer.Option(help="The output format of one question's answer.")] = Output.TABLE,
    explain: Annotated[bool, typer.Option("--explain", help="Show all candidates of the one question.")] = False,
    privacy: PrivacyOption = None,
) -> None:
    """Choose among several systems' queries: predictions in, the best ones out. --model none asks no model."""
    from sqljury import api
    from sqljury.bench import given as from_files
    from sqljury.bench.run import Controls
    from sqljury.errors import InputError
    from sqljury.types import Limits

    files = {"--pred": pred, "--questions": questions, "--db-dir": db_dir, "--out": out}
    single = {"the question": question, "--db": db, "--sql": sql}
    given = [name for name, value in single.items() if value]
    wanted = single if given else files
    if missing := [name for name, value in wanted.items() if not value]:
        raise InputError(f"{' and '.join(missing)}: missing; see `sqljury choose --help`")
    if given and (odd := [name for name, value in {**files, "--tables": tables, "--run": run}.items() if value]):
        raise InputError(f"{odd[0]} is for prediction files, and {given[0]} for one question; leave one of them out")
    if given:
        with show.progress() as report, interruptible() as cancel:
            options: dict[str, Any] = {
                "recipe": recipe,
                "selector": selector,
                "model": model,
                "cache": cache,
                "seed": seed,
                "privacy": privacy.value if privacy else "rows",
            }
            options |= {"limits": Limits(seconds=timeout), "progress": report, "cancel": cancel}
            queries = [_query(file) for file in sql or ()]
            answer = api.choose(str(question), str(db), queries, evidence=evidence, **options)
        show.answer(answer, output.value, None, explain)
        return
    assert questions is not None
    assert db_dir is not None
    assert out is not None
    opened = opening(model, cache=cache)
    with interruptible() as cancel:
        sources = from_files.read(pred or [], questions, db_dir, pred_format, tables)
        from_files.check_out(out, sources)
        limits = Limits(seconds=timeout)
        pipeline = from_files.pipeline_for(sources.pool, opened(), recipe, selector, limits, opened)
        choices = from_files.choose(sources, pipeline, run, Controls(_say, cancel, opened), seed=seed)
    from_files.save(choices, out)
    _report(choices, out, run)


def _query(file: Path) -> str:
    """The query in a file; raises ``DatasetError`` for one that cannot be read, is too long or is empty."""
    from sqljury.datasets.reading import Document
    from sqljury.errors import DatasetError
    from sqljury.sql.scan import text_fault

    sql = Document.of(file).text.strip()
    if fault := "it is empty" if not sql else text_fault(sql):
        raise DatasetError(f"{file}: holds no query that can be run ({fault}); write one")
    return sql


def _report(choices: Choices, out: Path, run: Path | None) -> None:
    """What was not used as it is, what has no answer, and whose queries were chosen."""
    _listed(choices.faults, "are not used as they are")
    _listed(choices.unanswered, "have no query that runs")
    shares = ", ".join(f"{count} of {name}" for name, count in choices.counts.items())
    terminal.note(f"{len(choices.records)} queries in {out}: {shares}")
    if run is not None:
        terminal.note(f"the run is in {run}; with gold queries, now run: sqljury eval {run}")


def _listed(lines: Sequence[str], what: str) -> None:
    for line in lines[:LISTED]:
        terminal.say(line)
    if len(lines) > LISTED:
        terminal.say(f"{len(lines) - LISTED} more {what}")


def _say(done: int, total: int, record: Record | None) -> None:
    if record is not None and terminal.at_terminal():
        terminal.note(f"{done}/{total} {(record['error'] or written.one_line(record['sql']))[:100]}")
    elif record is None and done:
        terminal.note(f"{done} of {total} answers are there; going on")
