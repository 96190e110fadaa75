"""``sqljury eval``: how good the answers of a run, or the predictions in a file, are."""

from __future__ import annotations

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
    seed: Seed = 0,
    per_query: PerQuery = None,
    output: Output = Form.TABLE,
) -> None:
    """Judge predictions: a run's folder, or a file of them beside one of gold queries."""
    from sqljury.cli.evaluate_run import evaluate_run
    from sqljury.errors import InputError

    if run_dir is not None and gold is not None:
        raise InputError("both a run's folder and --gold are given; give one of them")
    if output is Form.HTML and (run_dir is not None or check or explain is not None):
        raise InputError(
            "--output html is for files of predictions; give --gold and --pred, without --check or --explain"
        )
    if run_dir is not None:
        evaluate_run(run_dir, data, per_query, as_json=output is Form.JSON)
        return
    if gold is None or db_dir is None or (pred is None and not check):
        raise InputError("nothing to judge; give a run's folder, or --gold, --pred (or --check) and --db-dir")
    from sqljury.cli.files import Files, Settings, Wanted, check_gold, explain_pair, judge_files

    files = Files(gold, pred, against, db_dir, tables, suite, labels, gold_format, pred_format)
    settings = Settings.of(metrics, keep_distinct, plug_value, disable_rules, timeout, processes, seed)
    if check:
        check_gold(files, settings)
    elif explain is not None:
        explain_pair(files, settings, explain, as_json=output is Form.JSON)
    else:
        judge_files(files, settings, Wanted(output.value, per_query, partial, agreement, accumulate_rules))
