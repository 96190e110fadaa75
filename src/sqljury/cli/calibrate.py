"""``sqljury calibrate``: the confidence of answers, fitted or measured on runs whose correct answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.options import SeedOption
from sqljury.cli.train_data import UNCHECKED, DataFolder, EvalData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def calibrate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench`.")],
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write: weights and their card. Without it, only measure.")
    ] = None,
    data: DataFolder = None,
    eval_data: EvalData = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
    calibration: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The calibration to measure if --out is not given; by default that of the package."
        ),
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder for risk.svg and reliability.svg of what is measured."),
    ] = None,
) -> None:
    """Fit a confidence calibration on runs or, without --out, measure one; a recipe names it as select.confidence."""
    import datetime

    from sqljury.errors import InputError
    from sqljury.stages.confidence import FORMAT, read
    from sqljury.stages.weights import save
    from sqljury.train import confidence
    from sqljury.train.replay import evaluation_of_runs

    if out is None:
        _measured(confidence.measure(runs, data, read(calibration), processes), pictures)
        return
    if calibration or pictures:
        raise InputError("--calibration and --pictures are for measuring; leave them out, or leave out --out")
    FORMAT.check_out(out)
    today = datetime.datetime.now(datetime.UTC).date()
    evaluation = evaluation_of_runs(runs, data, eval_data)
    fitted = confidence.fit_runs(runs, data, evaluation, seed, processes, today)
    save(fitted, out)
    print(f"{fitted.card['questions']} questions on {fitted.card['databases']} databases; on held-out databases:")
    for kind, known in fitted.card["held_out"].items():
        _print(kind, known)
    if not evaluation:
        terminal.note(UNCHECKED)
    terminal.note(f"the calibration is in {out}; name it in a recipe as select.confidence")


def _measured(answers_by_kind: Mapping[str, Sequence[tuple[float, bool]]], pictures: Path | None) -> None:
    from sqljury.errors import InputError
    from sqljury.evaluation import svg
    from sqljury.evaluation.risk import reliability_chart, risk, risk_chart
    from sqljury.resources import must_write, write_whole
    from sqljury.train.confidence import ANSWERED, ONE, quality

    for kind, answers in answers_by_kind.items():
        _print(kind, {**quality([chance for chance, _ in answers], [right for _, right in answers])})
    if pictures is None:
        return
    drawn = {kind: known for kind in (ANSWERED, ONE) if (known := risk(answers_by_kind.get(kind, ()))) is not None}
    if not drawn:
        raise InputError("these runs have no answers to measure; make one with `sqljury bench`")
    charts = {"risk.svg": risk_chart(drawn), "reliability.svg": reliability_chart(drawn)}
    with must_write(pictures, InputError, "name another --pictures"):
        pictures.mkdir(parents=True, exist_ok=True)
        for name, chart in charts.items():
            write_whole(pictures / name, svg.file(chart))
    terminal.note(f"pictures: {', '.join(str(pictures / name) for name in charts)}")


def _print(kind: str, known: Mapping[str, float | None]) -> None:
    auroc = "-" if known["auroc"] is None else f"{known['auroc']:.3f}"
    print(
        f"{kind:42} right {known['accuracy']:.1%}, said {known['mean_confidence']:.1%}, "
        f"ECE {known['ece']:.3f}, AUROC {auroc}, surest 80 %: {known['sure_80']:.1%}"
    )
