"""``sqljury eval RUN_DIR``: how good the answers of a run are, overall, by hardness, and after each step."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.cli import terminal
from sqljury.cli.options import crew_on
from sqljury.cli.terminal import interruptible, table_file

if TYPE_CHECKING:
    from sqljury.evaluation.report import RunFindings, Verdict


TABLE_BEGINS: Final = "id\tdb_id"


def evaluate_run(
    run_dir: Path,
    data: Path | None,
    per_query: Path | None,
    *,
    as_json: bool,
    processes: int = 1,
    cluster: str | None = None,
) -> None:
    """Judge a run by execution accuracy and print the report; ``per_query`` is a TSV file to write.

    Raises ``DatasetError`` for a run without answers, and for one of whose questions none can be judged.
    """
    from sqljury.engines.databases import of_run
    from sqljury.errors import CancelledError, DatasetError
    from sqljury.evaluation import report, run_folder
    from sqljury.evaluation.findings import to_json

    described = run_folder.described(run_dir)
    records = run_folder.records(run_dir)
    if not records:
        raise DatasetError(f"{run_dir} has no answers yet; continue it with `sqljury bench`")
    with ExitStack() as stack:
        where = data or run_folder.data_of(run_dir)
        databases = stack.enter_context(of_run(described, where, run_dir))
        table = stack.enter_context(table_file(per_query, TABLE_BEGINS, (databases.files,)))  # before the long work
        cancel = stack.enter_context(interruptible())
        crew = stack.enter_context(crew_on(cluster, processes))

        def stop_if_cancelled() -> None:
            if cancel.is_set():
                raise CancelledError("stopped")

        verdicts = report.judge_run(records, databases, crew, stop_if_cancelled)
        report.refuse_if_nothing_judged(run_dir, verdicts)
        if table is not None:
            table.write(_tsv(verdicts))
    if per_query is not None:
        terminal.note(f"{len(verdicts)} lines in {per_query}")
    findings = report.summary(verdicts)
    if as_json:
        print(terminal.to_json({"run": described, **to_json(findings)}))
    else:
        _print(described, findings)


def _tsv(verdicts: list[Verdict]) -> str:
    lines = ["\t".join((TABLE_BEGINS, "hardness", "ex", "exe", "seconds", "reason"))]
    for v in verdicts:
        right, exe = ("", "") if v.fault else (str(int(v.right)), str(int(v.exe)))
        fields = (v.id, v.db_id, v.hardness, right, exe, f"{v.seconds:.2f}", v.fault or v.reason)
        lines.append("\t".join(" ".join(terminal.clean(field).split()) for field in fields))
    return "\n".join(lines) + "\n"


def _print(described: dict[str, Any], findings: RunFindings) -> None:
    from rich.text import Text

    from sqljury.cli.eval_tables import left_out

    table = terminal.figures("execution accuracy", "right", "of", "%", "95 % interval")
    for name, shares in (
        ("all", {"EX": findings.ex, "EX, DISTINCT dropped": findings.exe}),
        ("by hardness", findings.hardness),
        ("by step", findings.steps),
    ):
        table.add_section()
        table.add_row(Text(name, style="bold"))
        for label, share in shares.items():
            low, high = share.interval()
            table.add_row(
                f"  {label}", str(share.right), str(share.total), f"{share.percent:.1f}", f"{low:.1f} - {high:.1f}"
            )
    dataset, seconds = described["dataset"], findings.seconds
    about = (
        f"{dataset.get('name', 'dataset')} {dataset.get('split', '')}, {findings.questions} questions, "
        f"recipe {described['recipe']['name']}, model {described['model']}, seed {described['seed']}"
    )
    terminal.show(
        terminal.clean(about),
        *left_out(findings.faults, findings.questions),
        "",
        table,
        f"\nseconds a question: mean {seconds.mean:.1f}, median {seconds.median:.1f}, max {seconds.max:.1f}; "
        f"tokens computed a question: mean {findings.tokens.mean:,.0f}"
        f"\ncandidates that run as written: {findings.executable.percent:.1f} % of {findings.executable.total}",
    )
