"""``sqljury eval RUN_DIR``: how good the answers of a run are, overall, by hardness, and after each step."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file

if TYPE_CHECKING:
    from sqljury.evaluation.report import Verdict


TABLE_BEGINS: Final = "id\tdb_id"


def evaluate_run(run_dir: Path, data: Path | None, per_query: Path | None, *, as_json: bool) -> None:
    """Judge a run by execution accuracy and print the report; ``per_query`` is a TSV file to write.

    Raises ``DatasetError`` for a run without answers, and for one of whose questions none can be judged.
    """
    from sqljury.errors import CancelledError, DatasetError
    from sqljury.evaluation import report
    from sqljury.evaluation import run_folder as folder

    described = folder.described(run_dir)
    records = folder.records(run_dir)
    if not records:
        raise DatasetError(f"{run_dir} has no answers yet; continue it with `sqljury bench`")
    with ExitStack() as stack:
        where = data or folder.data_of(run_dir)
        table = stack.enter_context(table_file(per_query, TABLE_BEGINS, (where / "database",)))  # before the long work
        cancel = stack.enter_context(interruptible())

        def check(_: Verdict) -> None:
            if cancel.is_set():
                raise CancelledError("stopped")

        verdicts = report.judge_run(records, where, check)
        report.refuse_if_nothing_judged(run_dir, verdicts)
        if table is not None:
            table.write(_tsv(verdicts))
    if per_query is not None:
        terminal.note(f"{len(verdicts)} lines in {per_query}")
    figures = report.summary(verdicts)
    if as_json:
        print(terminal.to_json({"run": described, **figures}))
    else:
        _print(described, figures)


def _tsv(verdicts: list[Verdict]) -> str:
    lines = ["\t".join((TABLE_BEGINS, "hardness", "ex", "exe", "seconds", "reason"))]
    for v in verdicts:
        right, exe = ("", "") if v.fault else (str(int(v.right)), str(int(v.exe)))
        fields = (v.id, v.db_id, v.hardness, right, exe, f"{v.seconds:.2f}", v.fault or v.reason)
        lines.append("\t".join(" ".join(terminal.clean(field).split()) for field in fields))
    return "\n".join(lines) + "\n"


def _print(described: dict[str, Any], figures: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from sqljury.cli.eval_tables import left_out

    dataset = described["dataset"]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("execution accuracy", "right", "of", "%", "95 % interval"):
        table.add_column(title, justify="left" if title == "execution accuracy" else "right")
    for name, shares in (
        ("all", {"EX": figures["ex"], "EX, DISTINCT dropped": figures["exe"]}),
        ("by hardness", figures["hardness"]),
        ("by step", figures["steps"]),
    ):
        table.add_section()
        table.add_row(Text(name, style="bold"))
        for label, share in shares.items():
            low, high = share["low"], share["high"]
            row = (str(share["right"]), str(share["total"]), f"{share['percent']:.1f}", f"{low:.1f} - {high:.1f}")
            table.add_row(f"  {label}", *row)
    about = (
        f"{dataset.get('name', 'dataset')} {dataset.get('split', '')}, {figures['questions']} questions, "
        f"recipe {described['recipe']['name']}, model {described['model']}, seed {described['seed']}"
    )
    seconds, tokens, runs = figures["seconds"], figures["tokens"], figures["executable"]
    terminal.show(
        terminal.clean(about),
        *left_out(figures["faults"], figures["questions"]),
        "",
        table,
        f"\nseconds a question: mean {seconds['mean']:.1f}, median {seconds['median']:.1f}, max {seconds['max']:.1f}; "
        f"tokens computed a question: mean {tokens['mean']:,.0f}"
        f"\ncandidates that run as written: {runs['percent']:.1f} % of {runs['total']}",
    )
