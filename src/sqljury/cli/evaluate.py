"""``sqljury eval``: how good the answers of a run, or the predictions in a file, are."""

from __future__ import annotations

from dataclasses import replace

from sqljury.cli.eval_options import (
    METRICS,
    AccumulateRules,
    Against,
    Agreement,
    Check,
    Data,
    DbDir,
    DisableRules,
    Explain,
    Form,
    Gold,
    GoldFormat,
    KeepDistinct,
    Labels,
    Metrics,
    Output,
    Partial,
    PerQuery,
    PlugValue,
    Pred,
    PredFormat,
    Processes,
    RunDir,
    Seed,
    Suite,
    Tables,
    Timeout,
)
from sqljury.cli.options import ClusterOption, crew_on


def evaluate(
    run_dir: RunDir = None,
    data: Data = None,
    gold: Gold = None,
    pred: Pred = None,
    against: Against = None,
    db_dir: DbDir = None,
    tables: Tables = None,
    suite: Suite = None,
    labels: Labels = None,
    metrics: Metrics = METRICS,
    check: Check = False,
    keep_distinct: KeepDistinct = False,
    plug_value: PlugValue = False,
    disable_rules: DisableRules = "",
    partial: Partial = False,
    agreement: Agreement = False,
    accumulate_rules: AccumulateRules = False,
    explain: Explain = None,
    gold_format: GoldFormat = None,
    pred_format: PredFormat = None,
    timeout: Timeout = 60.0,
    processes: Processes = 1,
    cluster: ClusterOption = None,
    seed: Seed = 0,
    per_query: PerQuery = None,
    output: Output = Form.TABLE,
) -> None:
    """Judge predictions against gold queries: those of a run, or a file."""
    from sqljury.cli.evaluate_run import evaluate_run
    from sqljury.errors import InputError

    tasks = {"--explain": explain is not None, "--per-query": per_query is not None, "--partial": partial}
    tasks |= {"--agreement": agreement, "--accumulate-rules": accumulate_rules}
    tasks |= {"--against": against is not None, "--labels": labels is not None, "--output html": output is Form.HTML}
    if run_dir is not None:
        given = {
            "--gold": gold is not None,
            "--pred": pred is not None,
            "--check": check,
            "--db-dir": db_dir is not None,
        }
        _refuse("a run's folder", {**given, **tasks, "--per-query": False})
        evaluate_run(run_dir, data, per_query, as_json=output is Form.JSON, processes=processes, cluster=cluster)
        return
    if gold is None or db_dir is None or (pred is None and not check):
        raise InputError("nothing to judge; give a run's folder, or --gold, --pred (or --check) and --db-dir")
    if check:
        _refuse("--check", {"--pred": pred is not None, **tasks})
    elif explain is not None:
        _refuse("--explain", {**tasks, "--explain": False, "--cluster": cluster is not None})
    from sqljury.cli.files import Files, Paths, Settings, Wanted, check_gold, explain_pair, judge_files

    paths = Paths(gold, pred, against, tables, labels)
    settings = Settings.of(metrics, keep_distinct, plug_value, disable_rules, timeout, processes, seed)
    files = Files.read(paths, db_dir, suite, gold_format, pred_format)
    with crew_on(cluster, processes) as crew:
        settings = replace(settings, processes=crew)
        if check:
            check_gold(files, settings, as_json=output is Form.JSON)
        elif explain is not None:
            explain_pair(files, settings, explain, as_json=output is Form.JSON)
        else:
            judge_files(files, settings, Wanted(output.value, per_query, partial, agreement, accumulate_rules))


def _refuse(task: str, options: dict[str, bool]) -> None:
    """Raise ``InputError`` for options that this task would not heed."""
    from sqljury.errors import InputError

    given = [name for name, is_given in options.items() if is_given]
    if given:
        raise InputError(f"{', '.join(given)} cannot be used with {task}; leave one of them out")
