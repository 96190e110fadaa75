"""``sqljury choose``: the best of several systems' queries, for the questions of a file or for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sqljury.cli import show, terminal
from sqljury.cli.ask import Output
from sqljury.cli.groups import LimitOptions, grouped
from sqljury.cli.options import (
    CacheOption,
    EvidenceOption,
    PrivacyOption,
    SeedOption,
    TimeoutOption,
    WeightsOption,
    opening,
    price_of,
)
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.bench.given import Choices
    from sqljury.evaluation.run_folder import Record
    from sqljury.types import Answer

LISTED = 20
"""Lines that are printed of those that are not used as they are, and of questions without an answer."""


class Votes(StrEnum):
    """Who has a vote on a question."""

    SYSTEMS = "systems"
    QUERIES = "queries"


class Opinion(StrEnum):
    """What the model's own queries are for, where the systems disagree."""

    NONE = "none"
    VOTES = "votes"
    CANDIDATE = "candidate"


Asked = Annotated[
    str | None, typer.Argument(help="One question, with --db and --sql; without it, give --pred and --questions.")
]
Pred = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A system's prediction file; repeatable, the most trusted system first."),
]
Questions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The questions: dev.json, BIRD JSON or JSONL; gold may be missing.")
]
DbDir = Annotated[Path | None, typer.Option(help="The folder of <db_id>/<db_id>.sqlite.")]
Tables = Annotated[
    Path | None, typer.Option(help="Spider's tables.json; its foreign keys count beside those of the databases.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The prediction file to write, in BIRD's form if it ends with .json."),
]
Run = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The folder of the run; an unfinished run there is continued.")
]
Db = Annotated[str | None, typer.Option(help="The database of the one question: a file or a URL.")]
Sql = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A file with a query for the one question; repeatable, most trusted first."),
]
RecipeName = Annotated[str, typer.Option(help="The recipe whose repairs, tests, selector and refinement are used.")]
Selector = Annotated[
    str, typer.Option(metavar="NAME", help="The selector: light, consistency, first, critic, tournament, ...")
]
PredFormat = Annotated[
    str | None, typer.Option(help="The format of --pred: lines, blocks, bird or jsonl; detected by default.")
]
VotesOption = Annotated[
    Votes,
    typer.Option(
        "--votes", help="Who votes on a question: each system once, however many queries it has, or each query."
    ),
]
OpinionOption = Annotated[
    Opinion | None,
    typer.Option(
        "--opinion",
        help="Where the systems disagree, the model writes a query too, which only votes, or may be chosen as a "
        "candidate; none asks for no query. By default none without --model, else as the recipe has it: votes in "
        "`choose`.",
    ),
]
AnswerForm = Annotated[Output, typer.Option(help="The output format of one question's answer.")]
Model = Annotated[
    str | None,
    typer.Option(
        help="The model of opinions, repairs and judges, as for `ask`; none asks no model, and refuses a selector that "
        "needs one."
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show all candidates of the one question.")]


@grouped
def choose(
    *,
    question: Asked = None,
    pred: Pred = None,
    questions: Questions = None,
    db_dir: DbDir = None,
    tables: Tables = None,
    out: Out = None,
    run: Run = None,
    db: Db = None,
    sql: Sql = None,
    evidence: EvidenceOption = "",
    recipe: RecipeName = "choose",
    selector: Selector = "",
    weights: WeightsOption = "",
    votes: VotesOption = Votes.SYSTEMS,
    opinion: OpinionOption = None,
    pred_format: PredFormat = None,
    model: Model = None,
    cache: CacheOption = True,
    seed: SeedOption = 0,
    timeout: TimeoutOption = 30.0,
    output: AnswerForm = Output.TABLE,
    explain: Explain = False,
    privacy: PrivacyOption = None,
    spending: LimitOptions,
) -> None:
    """Choose the best query for each question among those of several systems.

    With --model, a query of that model votes too where they disagree.
    """
    files = {"--pred": pred, "--questions": questions, "--db-dir": db_dir, "--out": out}
    single = {"the question": question, "--db": db, "--sql": sql}
    by_query = votes is Votes.QUERIES
    _check(single, files, {"--tables": tables, "--run": run, "--pred-format": pred_format, "--votes": by_query})
    _check_answer(single, {"--evidence": evidence, "--explain": explain, "--output": output is not Output.TABLE})
    settings: dict[str, Any] = {"recipe": recipe, "selector": selector, "model": model, "cache": cache, "seed": seed}
    settings |= {"privacy": privacy.value if privacy else "rows", "weights": weights}
    settings |= {"opinion": opinion.value if opinion else "" if model else "none", "price": price_of(spending.price)}
    settings["ledger"] = spending.ledger()
    if any(single.values()):
        answer = _one(str(question), str(db), sql or (), evidence, timeout, settings, explain=explain)
        show.answer(answer, output.value, None, explain)
        return
    assert questions is not None
    assert db_dir is not None
    assert out is not None
    given = _Files(pred or [], questions, db_dir, out, run, tables, pred_format, votes)
    choices = _of_files(given, timeout, settings)
    _report(choices, out, run)


class _Files(NamedTuple):
    pred: Sequence[Path]
    questions: Path
    db_dir: Path
    out: Path
    run: Path | None
    tables: Path | None
    format: str | None
    votes: Votes


def _check(single: Mapping[str, object], files: Mapping[str, object], beside: Mapping[str, object]) -> None:
    """Raise ``InputError`` for options that are missing, or are for the other of the two ways to choose."""
    from sqljury.errors import InputError

    given = [name for name, value in single.items() if value]
    wanted = single if given else files
    if missing := [name for name, value in wanted.items() if not value]:
        raise InputError(f"{' and '.join(missing)}: missing; see `sqljury choose --help`")
    if given and (odd := [name for name, value in {**files, **beside}.items() if value]):
        raise InputError(f"{odd[0]} is for prediction files, and {given[0]} for one question; leave one of them out")


def _check_answer(single: Mapping[str, object], settings: Mapping[str, object]) -> None:
    """Raise ``InputError`` for settings of one question's answer where there are prediction files."""
    from sqljury.errors import InputError

    if not any(single.values()) and (odd := [name for name, value in settings.items() if value]):
        why = "; questions of a file have their own 'evidence'" if odd[0] == "--evidence" else ""
        raise InputError(f"{odd[0]} is for one question, and --pred is given{why}; leave it out")


def _one(
    question: str,
    db: str,
    queries: Sequence[Path],
    evidence: str,
    seconds: float,
    settings: Mapping[str, Any],
    *,
    explain: bool,
) -> Answer:
    from sqljury import api
    from sqljury.datasets.candidates import system_names
    from sqljury.types import Candidate, Limits

    with show.progress() as report, interruptible() as cancel:
        options = {**settings, "limits": Limits(seconds=seconds), "progress": report, "cancel": cancel}
        names = system_names(queries)
        given = [Candidate(_query(file), name) for file, name in zip(queries, names, strict=True)]
        with show.tried(report, explain):
            return api.choose(question, db, given, evidence=evidence, **options)


def _of_files(files: _Files, seconds: float, settings: Mapping[str, Any]) -> Choices:
    """The choices, written to their file."""
    from sqljury.bench import given
    from sqljury.bench.run import Controls
    from sqljury.datasets import candidates
    from sqljury.types import Limits

    opened = opening(settings["model"], **{name: settings[name] for name in ("cache", "ledger", "price")})
    with interruptible() as cancel:
        votes: candidates.Votes = "queries" if files.votes is Votes.QUERIES else "systems"
        sources = given.read(files.pred, files.questions, files.db_dir, files.format, files.tables, votes)
        given.check_out(files.out, sources, files.run, [settings["recipe"], settings["weights"]])
        limits = Limits(seconds=seconds)
        chosen_by = {name: settings[name] for name in ("recipe", "selector", "weights", "opinion")}
        pipeline = given.pipeline_for(sources.pool, limits=limits, opened=opened, **chosen_by)
        pipeline = replace(pipeline, privacy=settings["privacy"])
        controls = Controls(_say, cancel, opened)
        choices = given.choose(sources, pipeline, files.run, controls, seed=settings["seed"])
    given.save(choices, files.out)
    return choices


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
    from sqljury.bench.given import FAULTS

    whole = f"{run / FAULTS} names all" if run else "with --run DIR, a file there names all"
    _listed(choices.faults, f"are not used as they are; {whole}")
    _listed(choices.unanswered, f"have no query that runs; {whole}")
    shares = ", ".join(f"{count} of {name}" for name, count in choices.counts.items())
    terminal.note(f"{len(choices.records)} queries in {out}: {shares}")
    if choices.asked:
        terminal.note(f"{choices.model} was asked on {choices.asked} questions, where these disagree or do not run")
    if choices.within_margin:
        terminal.note(f"votes decided {choices.within_margin} questions on which the light judge is not sure enough")
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
        terminal.note(f"{done} of {total} answers are there; continuing")
