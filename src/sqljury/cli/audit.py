"""``sqljury audit``: suspected errors in the gold queries of a benchmark, with evidence."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.eval_options import TextForm, Timeout
from sqljury.cli.options import (
    BatchOption,
    ClusterOption,
    ModelOption,
    ProcessesOption,
    QuestionsOption,
    SplitOption,
    crew_on,
    opening,
)
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.db.base import Database
    from sqljury.evaluation.run_folder import Record

app = typer.Typer(help="Find wrong gold queries in datasets.", no_args_is_help=True)


@app.callback()
def _audit() -> None:
    pass


@app.command("spider")
def spider(
    data: Annotated[Path, typer.Option(help="Spider's folder, with dev.json and database/; opened read-only.")],
    out: Annotated[Path, typer.Option(help="The JSONL file to write; an unfinished audit there is continued.")],
    split: SplitOption = "dev",
    limit: QuestionsOption = None,
    seed: Annotated[int, typer.Option(help="The seed of the drawn questions.")] = 0,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of the ids to check: one a line, or a column id of a TSV."),
    ] = None,
    least: Annotated[float, typer.Option(min=0.0, max=1.0, help="The lowest confidence of findings to show.")] = 0.5,
    explain: Annotated[str | None, typer.Option(metavar="ID", help="Show only the findings of this question.")] = None,
    timeout: Timeout = 10.0,
    processes: ProcessesOption = 1,
    cluster: ClusterOption = None,
    output: Annotated[TextForm, typer.Option(help="The output format.")] = TextForm.TABLE,
    model_checks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run additional checks by tests, with a model, and store them in this JSONL file."
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file for all gold queries of the split, corrected; `eval --gold` takes it."
        ),
    ] = None,
    recipe: Annotated[str, typer.Option(help="The recipe of --model-checks.")] = "tssql",
    model: ModelOption = None,
    batch: BatchOption = 1,
) -> None:
    """Check Spider's gold queries against their questions and data; findings have a type and a confidence."""
    from sqljury.audit import run as audit
    from sqljury.datasets import spider as dataset
    from sqljury.errors import InputError

    written_files = {"--out": out, "--model-checks": model_checks, "--export": export}
    given = {option: file for option, file in written_files.items() if file is not None}
    for file in given.values():
        _refuse_inside(file, data)
    if len({file.resolve() for file in given.values()}) < len(given):
        raise InputError(f"{', '.join(given)}: two of them name the same file; name one file for each")
    everything = dataset.load(data, split)
    examples = everything if ids is None else _listed(everything, ids)
    examples = dataset.sample(examples, limit, seed)
    if explain is not None:
        examples = [example for example in examples if example.id == explain]
        if not examples:
            raise InputError(f"there is no question {explain!r} among these; ids are like {split}-0017")
    settled = audit.settings({"name": "spider", "data": str(data.resolve()), "split": split}, timeout)

    with interruptible() as cancel:
        with crew_on(cluster, processes) as crew:
            lines = audit.run(examples, out, settled, processes=crew, stopped=cancel.is_set)
        checked: list[Record] = lines
        more: list[Record] = []
        if model_checks is not None:
            more = _checked(examples, model_checks, settled, recipe, model, batch, cancel)
            lines = [_joined(*both) for both in zip(lines, more, strict=True)]
    if export is not None:
        _export(export, everything, checked, more, least)
    if output is TextForm.JSON:
        print(terminal.to_json(_report(lines, least)))
    else:
        _print(terminal.cleaned(_report(lines, 0.0 if explain else least)), one_by_one=explain is not None)
        terminal.note(f"{len(lines)} questions in {out}")


def _checked(
    examples: Sequence[Example],
    file: Path,
    settled: Record,
    recipe: str,
    name: str | None,
    batch: int,
    cancel: threading.Event,
) -> list[Record]:
    """The same gold queries by tests."""
    from sqljury.api import check_with
    from sqljury.audit import model as audit_model
    from sqljury.pipeline import Pipeline
    from sqljury.stages.check import with_tests

    opened = opening(name, cache=False, together=batch)
    pipeline = Pipeline.from_recipe(recipe, opened=opened)
    pipeline = replace(pipeline, recipe=with_tests(pipeline.recipe, ""), questions=batch)

    def check(example: Example, db: Database, stop: threading.Event) -> Record:
        return check_with(pipeline, example.question, example.gold_sql, db, cancel=stop).to_dict()

    done = 0

    def say(line: Record) -> None:
        nonlocal done
        done += 1
        checked = line["checked"]
        outcome = line["error"] or f"{checked['verdict']}: {checked['why']}"
        terminal.note(f"{done} {line['id']} {outcome}"[:160])

    others = sorted(model.name for model in pipeline.others())  # an adapter's name changes when it is trained again
    wanted = {**settled, "model": opened().name, "others": others, "recipe": asdict(pipeline.recipe)}
    return audit_model.run(examples, file, wanted, check, on_line=say, cancel=cancel, threads=batch)


def _listed(examples: Sequence[Example], file: Path) -> list[Example]:
    """The questions that a file lists, in the dataset's order."""
    from sqljury.datasets.reading import Document
    from sqljury.errors import DatasetError

    rows = [line.split("\t") for line in Document.of(file).lines if line.strip()]
    header = [name.strip() for name in rows[0]] if rows else []
    column = header.index("id") if "id" in header else 0
    wanted = {row[column].strip() for row in (rows[1:] if "id" in header else rows) if len(row) > column}
    unknown = sorted(wanted - {example.id for example in examples})
    if unknown or not wanted:
        what = f"there is no question {unknown[0]!r} in this split" if unknown else "has no ids"
        raise DatasetError(f"{file}: {what}; write ids like {examples[0].id}, one a line, or a column named id")
    return [example for example in examples if example.id in wanted]


def _export(
    file: Path, examples: Sequence[Example], lines: Sequence[Record], tests: Sequence[Record], least: float
) -> None:
    """Write the corrected gold queries of the whole split."""
    from sqljury.audit.correction import export

    by_id, tested = ({line["id"]: line for line in records} for records in (lines, tests))
    made = export(file, examples, by_id, tested, least)
    terminal.note(
        f"{file}: {made.by_checks} gold queries corrected by program checks, {made.by_tests} by tests, "
        f"{made.unchanged} as they were; read the corrections before you judge by them"
    )


def _joined(line: Record, more: Record) -> Record:
    """A question with the findings of both, and why it could not be checked by one of them."""
    return {**line, "findings": [*line["findings"], *more["findings"]], "error": line["error"] or more["error"]}


def _refuse_inside(out: Path, data: Path) -> None:
    from sqljury.errors import InputError

    if out.resolve().is_relative_to(data.resolve()):
        raise InputError(f"{out}: lies in the folder of the dataset, which is only read; name another file with --out")


def _report(lines: list[Record], least: float) -> dict[str, Any]:
    from sqljury.audit import run as audit

    suspected = [line for line in lines if audit.findings_of(line, least)]
    return {
        "questions": len(lines),
        "suspected": len(suspected),
        "failed": [{"id": line["id"], "error": line["error"]} for line in lines if line["error"]],
        "types": audit.counts(lines, least),
        "findings": [
            {**{key: line[key] for key in ("id", "db_id", "question", "gold")}, **finding._asdict()}
            for line in suspected
            for finding in audit.findings_of(line, least)
        ],
    }


def _print(report: dict[str, Any], *, one_by_one: bool) -> None:
    last = None
    for finding in report["findings"]:
        if finding["id"] != last:
            print(terminal.clean(f"{finding['id']} {finding['db_id']}: {' '.join(finding['question'].split())}"))
            print(f"  gold  {written.one_line(finding['gold'])}")
        last = finding["id"]
        print(
            f"  {finding['confidence']:.2f}  {finding['type']} ({finding['check']})"
            f"  {terminal.clean(finding['clause'])}"
        )
        print(f"        {terminal.clean(finding['evidence'])}")
    if one_by_one:
        if not report["findings"]:
            print("nothing was found")
        return
    if report["findings"]:
        print()
    for kind, checks in report["types"].items():
        parts = ", ".join(f"{check} {count}" for check, count in checks.items())
        print(f"{kind:15} {sum(checks.values()):5}  {parts}")
    share = 100 * report["suspected"] / report["questions"] if report["questions"] else 0.0
    print(f"{report['suspected']} of {report['questions']} gold queries ({share:.1f} %) are suspected to be wrong")
    if report["failed"]:
        first = report["failed"][0]
        print(f"{len(report['failed'])} could not be checked, first {first['id']}: {first['error']}")
