"""``sqljury calibrate``: the confidence of answers, fitted on runs whose correct answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.options import SeedOption
from sqljury.cli.train_data import UNCHECKED, DataFolder, EvalData


def calibrate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench`.")],
    out: Annotated[Path, typer.Option(help="The JSON file to write: weights and their card.")],
    data: DataFolder = None,
    eval_data: EvalData = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
) -> None:
    """Fit the confidence of answers on runs; name the file in a recipe as select.confidence."""
    import datetime

    from sqljury.train import confidence
    from sqljury.train.replay import evaluation_of_runs

    confidence.check_out(out)
    today = datetime.datetime.now(datetime.UTC).date()
    evaluation = evaluation_of_runs(runs, data, eval_data)
    fitted = confidence.fit_runs(runs, data, evaluation, seed, processes, today)
    confidence.save(fitted, out)
    print(f"{fitted.card['questions']} questions on {fitted.card['databases']} databases; on held-out databases:")
    for kind, known in fitted.card["held_out"].items():
        auroc = "-" if known["auroc"] is None else f"{known['auroc']:.3f}"
        print(
            f"{kind:42} right {known['accuracy']:.1%}, said {known['mean_confidence']:.1%}, "
            f"ECE {known['ece']:.3f}, AUROC {auroc}, surest 80 %: {known['sure_80']:.1%}"
        )
    if not evaluation:
        terminal.note(UNCHECKED)
    terminal.note(f"the calibration is in {out}; name it in a recipe as select.confidence")
