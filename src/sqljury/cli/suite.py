"""``sqljury suite``: databases that tell gold queries from queries close to them, and predictions judged on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.eval_options import Processes, TextForm, Timeout
from sqljury.cli.options import ClusterOption, ProcessesOption, crew_on
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.datasets.pairs import Gold
    from sqljury.testing.store import Entry

app = typer.Typer(help="Build databases that tell queries apart, and judge predictions on them.", no_args_is_help=True)

GoldOption = Annotated[Path, typer.Option(help="Gold queries: SQL TAB db_id, dev.json, BIRD JSON, JSONL.")]
DbDirOption = Annotated[Path, typer.Option(help="The folder of <db_id>/<db_id>.sqlite, opened read-only.")]


@app.callback()
def _suite() -> None:
    pass


@app.command("build")
def build(
    gold: GoldOption,
    db_dir: DbDirOption,
    out: Annotated[Path, typer.Option(help="The folder of the suite; an unfinished one there is continued.")],
    seed: Annotated[int, typer.Option(help="The seed of all random choices.")] = 0,
    databases: Annotated[int, typer.Option(min=1, help="The largest number of databases for each db_id.")] = 8,
    candidates: Annotated[
        int, typer.Option(min=1, help="The number of candidate databases that they are chosen from.")
    ] = 16,
    nulls: Annotated[
        bool, typer.Option("--nulls", help="Put NULL wherever the schema allows it, not only where the data has it.")
    ] = False,
    processes: ProcessesOption = 1,
    cluster: ClusterOption = None,
) -> None:
    """Build databases on which small changes of gold queries return other results."""
    from sqljury.datasets.formats import read_golds
    from sqljury.datasets.pairs import database_files
    from sqljury.db.connect import connect
    from sqljury.errors import DatasetError
    from sqljury.metrics import distill
    from sqljury.schema.introspect import introspect
    from sqljury.testing import store

    golds = read_golds(gold)
    if not golds:
        raise DatasetError(f"{gold}: holds no gold queries; give a file with some")
    settings = distill.Settings(seed=seed, candidates=candidates, databases=databases, nulls=nulls)
    files = database_files(db_dir, golds, all_there=False)
    for name in dict.fromkeys(query.db_id for query in golds if query.db_id not in files):
        terminal.note(f"{name}: there is no such database in {db_dir}; its gold queries are left out")
    store.claim(out, db_dir)
    entries = store.load(out)
    jobs = []
    for name, paths in files.items():
        job = distill.Job(name, paths[0], tuple(_queries(golds, name)))
        with connect(job.database) as opened:
            inputs = distill.inputs_hash(introspect(opened), job.database, job.golds, settings)
        known = entries.get(name)
        if known is not None and known.inputs == inputs and store.intact(out, name, known):
            terminal.note(f"{name}: {_told([known])}")
        else:
            jobs.append(job)

    def keep(built: distill.Built) -> None:
        built.save(out)
        entries[built.name] = built.entry
        store.save(out, entries)
        terminal.note(f"{built.name}: {_told([built.entry])}")

    with crew_on(cluster if jobs else None, processes) as crew:
        distill.build_all(jobs, settings, crew, keep)
    print(f"{out}: {_told([entries[name] for name in files])}")


@app.command("run")
def run(
    gold: GoldOption,
    pred: Annotated[Path, typer.Option(help="Predictions, in any of the formats of --gold except dev.json.")],
    suite: Annotated[Path, typer.Option(help="A folder of `sqljury suite build`.")],
    db_dir: DbDirOption,
    keep_distinct: Annotated[bool, typer.Option("--keep-distinct", help="Keep DISTINCT in queries.")] = False,
    timeout: Timeout = 10.0,
    processes: Processes = 1,
    cluster: ClusterOption = None,
    output: Annotated[TextForm, typer.Option(help="The output format.")] = TextForm.TABLE,
) -> None:
    """Find predictions that agree with gold only by chance, with a counterexample for each."""
    from sqljury.datasets.formats import read_pairs
    from sqljury.datasets.pairs import database_files
    from sqljury.evaluation.judge import evaluate
    from sqljury.evaluation.targets import Targets
    from sqljury.experiments.lucky import lucky
    from sqljury.metrics.case import Options
    from sqljury.metrics.registry import METRICS

    pairs = read_pairs(gold, pred)
    targets = Targets(database_files(db_dir, [pair.gold for pair in pairs], all_there=False), suite=suite)
    options = Options(limits=replace(Options().limits, seconds=timeout))
    metric = METRICS["suite_keep_distinct" if keep_distinct else "suite"]
    with crew_on(cluster, processes) as crew:
        evaluation = evaluate(pairs, targets, (metric,), options=options, processes=crew)
    evaluation.refuse_if_nothing_judged()
    report = lucky(evaluation)
    if output is TextForm.JSON:
        print(terminal.to_json(report))
    else:
        _print(terminal.cleaned(report))


def _told(entries: list[Entry]) -> str:
    kept = sum(len(entry.members) for entry in entries)
    killed, all_ = sum(entry.killed for entry in entries), sum(entry.neighbours for entry in entries)
    return f"{kept} databases, {killed} of {all_} neighbours told apart"


def _queries(golds: list[Gold], name: str) -> list[str]:
    return [gold.sql for gold in golds if gold.db_id == name]


def _print(report: dict[str, Any]) -> None:
    from sqljury.cli.eval_tables import SHOWN_FAULTS
    from sqljury.evaluation.judge import RETURNS_NOTHING

    correct, rejected = report["correct"], report["rejected"]
    share = 100 * rejected / correct if correct else 0.0
    judged = report["queries"] - report["gold_fails"]
    print(f"{correct} of {judged} predictions are right on the given data (EXE)")
    print(f"{rejected} of these ({share:.1f} %) are wrong on the suite; {report['untested']} could not be tried on it")
    if report["gold_fails"]:
        print(f"{report['gold_fails']} gold queries cannot be judged by on the given data; they are left out")
    failing = [fault for fault in report["gold"] if fault["fault"] != RETURNS_NOTHING]
    for fault in failing[:SHOWN_FAULTS]:
        print(f"  {fault['place']}: {fault['fault']}")
    if len(failing) > SHOWN_FAULTS:
        print(f"  and {len(failing) - SHOWN_FAULTS} more; --output json has all")
    for row in report["counterexamples"]:
        title = f"{row['index']} {row['db_id']}: {row['reason']} in {row['counterexample']}"
        print(f"\n{terminal.clean(title)}\n  gold      {written.one_line(row['gold'])}")
        print(f"  predicted {written.one_line(row['predicted'])}")
