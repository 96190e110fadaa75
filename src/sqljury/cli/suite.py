"""``sqljury suite``: databases that tell gold queries from queries close to them, and predictions judged on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.eval_options import Form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqljury.datasets.pairs import Gold
    from sqljury.metrics.suite.run import Finding
    from sqljury.metrics.suite.store import Entry

app = typer.Typer(help="Build databases that tell queries apart, and judge predictions on them.", no_args_is_help=True)

GoldOption = Annotated[Path, typer.Option(help="Gold queries: SQL TAB db_id, dev.json, BIRD JSON, JSONL.")]
DbDirOption = Annotated[Path, typer.Option(help="The folder of <db_id>/<db_id>.sqlite; it is only read.")]


@app.callback()
def _suite() -> None:
    pass


@app.command("build")
def build(
    gold: GoldOption,
    db_dir: DbDirOption,
    out: Annotated[Path, typer.Option(help="The folder of the suite; an unfinished one there is continued.")],
    seed: Annotated[int, typer.Option(help="Seeds every random choice.")] = 0,
    databases: Annotated[int, typer.Option(min=1, help="How many to keep at most for each db_id.")] = 8,
    candidates: Annotated[int, typer.Option(min=1, help="How many to choose them from.")] = 16,
    nulls: Annotated[
        bool, typer.Option("--nulls", help="Put NULL wherever the schema lets it, not only where the data has some.")
    ] = False,
) -> None:
    """Make databases on which gold's neighbours return something else than gold."""
    from sqljury.datasets.folders import database_files
    from sqljury.datasets.formats import read_golds
    from sqljury.db.connect import connect
    from sqljury.errors import DatasetError
    from sqljury.metrics.suite import distill, store
    from sqljury.schema.introspect import introspect

    golds = read_golds(gold)
    if not golds:
        raise DatasetError(f"{gold}: holds no gold queries; give a file with some")
    settings = distill.Settings(seed=seed, candidates=candidates, databases=databases, nulls=nulls)
    out.mkdir(parents=True, exist_ok=True)
    entries = store.load(out)
    files = database_files(db_dir, golds)
    for name, own in files.items():
        queries = _queries(golds, name)
        with connect(own[0]) as opened:
            schema = introspect(opened)
        known = entries.get(name)
        inputs = distill.inputs_hash(schema, own[0], queries, settings)
        if known is None or known.inputs != inputs or not store.intact(out, name, known):
            entries[name] = distill.build(schema, own[0], queries, out / name, settings)
            store.save(out, entries)
        terminal.note(f"{name}: {_told([entries[name]])}")
    print(f"{out}: {_told([entries[name] for name in files])}")


@app.command("run")
def run(
    gold: GoldOption,
    pred: Annotated[Path, typer.Option(help="Predictions, in any of these formats but dev.json.")],
    suite: Annotated[Path, typer.Option(help="The folder that `sqljury suite build` wrote.")],
    db_dir: DbDirOption,
    keep_distinct: Annotated[bool, typer.Option("--keep-distinct", help="Leave DISTINCT in.")] = False,
    output: Annotated[Form, typer.Option(help="How to print the report.")] = Form.TABLE,
) -> None:
    """Find the predictions that agree with gold on the given data by luck, with a counterexample for each."""
    from sqljury.datasets.folders import database_files
    from sqljury.datasets.formats import read_pairs
    from sqljury.errors import DatasetError
    from sqljury.metrics.execution import EXE, EXE_KEEP_DISTINCT
    from sqljury.metrics.suite.run import Item
    from sqljury.metrics.suite.run import run as run_suite
    from sqljury.metrics.suite.store import load

    pairs = read_pairs(gold, pred)
    entries = load(suite)
    items: dict[str, list[Item]] = {}
    for number, (one, prediction) in enumerate(pairs):
        items.setdefault(one.db_id, []).append(Item(str(number), one.sql, prediction.sql))
    found: list[tuple[str, Finding]] = []
    files = database_files(db_dir, [one.gold for one in pairs])
    for name, listed in items.items():
        if name not in entries:
            raise DatasetError(f"{suite}: has no databases for {name!r}; run `sqljury suite build` with this gold file")
        rules = EXE_KEEP_DISTINCT if keep_distinct else EXE
        found += [(name, one) for one in run_suite(listed, files[name][0], suite, entries[name], rules)]
    found.sort(key=lambda one: int(one[1].item.id))
    report = summary(found)
    if output is Form.JSON:
        print(terminal.to_json(report))
    else:
        _print(terminal.cleaned(report))


def summary(found: Iterable[tuple[str, Finding]]) -> dict[str, Any]:
    """The counts of an evaluation on a suite, and every prediction it rejects with its counterexample."""
    listed = list(found)
    right = [one for _, one in listed if one.correct]
    rejected = [
        {
            "index": int(one.item.id),
            "db_id": name,
            "counterexample": str(one.counterexample),
            "reason": one.reason,
            "gold": one.item.gold,
            "predicted": one.item.predicted,
        }
        for name, one in listed
        if one.rejected
    ]
    return {
        "queries": len(listed),
        "gold_fails": sum(one.correct is None for _, one in listed),
        "correct": len(right),
        "rejected": len(rejected),
        "untested": sum(not one.tried for one in right),
        "counterexamples": rejected,
    }


def _told(entries: list[Entry]) -> str:
    kept = sum(len(entry.members) for entry in entries)
    killed, all_ = sum(entry.killed for entry in entries), sum(entry.neighbours for entry in entries)
    return f"{kept} databases, {killed} of {all_} neighbours told apart"


def _queries(golds: list[Gold], name: str) -> list[str]:
    return [one.sql for one in golds if one.db_id == name]


def _print(report: dict[str, Any]) -> None:
    correct, rejected = report["correct"], report["rejected"]
    share = 100 * rejected / correct if correct else 0.0
    print(f"{correct} of {report['queries']} predictions are right on the given data (EXE)")
    print(f"{rejected} of these ({share:.1f} %) are wrong on the suite; {report['untested']} could not be tried on it")
    if report["gold_fails"]:
        print(f"{report['gold_fails']} gold queries fail on the given data")
    for one in report["counterexamples"]:
        print(f"\n{one['index']} {one['db_id']}: {one['reason']} in {one['counterexample']}")
        print(f"  gold      {' '.join(one['gold'].split())}\n  predicted {' '.join(one['predicted'].split())}")
