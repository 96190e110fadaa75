"""``sqljury train``: training sets, the light judge, LoRA adapters and their export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal, train_data, train_gain, train_policy, train_writer, training
from sqljury.cli.options import DatabasesOption, SeedOption, WithoutDatabases
from sqljury.cli.train_data import UNCHECKED, DataFolder, EvalData

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench` on a training split.")
]

SHIPPED = "shipped"
"""In the place of a weights file: that of the package."""

app = typer.Typer(help="Make training sets, and train parts of a recipe.", no_args_is_help=True)
app.command("writer")(train_writer.writer)
app.command("data")(train_data.data)
app.command("gain")(train_gain.gain)


@app.command("light")
def light(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The JSON file to write: weights and their card.")],
    data: DataFolder = None,
    eval_data: EvalData = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Use a judge's scores too: those of choices that `sqljury bench select` stored in the runs, such as "
            "tournament, critic or 'tournament-*'; repeatable.",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            help="With --scores: weights to keep, a file of this command or the package's (`shipped`); only how far to "
            "trust the scores beside them is learned, which takes fewer questions."
        ),
    ] = None,
    databases: DatabasesOption = "",
    without_databases: WithoutDatabases = "",
) -> None:
    """Train the light judge on the candidates of runs; its card has figures on held-out databases."""
    import datetime

    from sqljury.datasets import subset
    from sqljury.evaluation import run_folder
    from sqljury.stages.select.light import FORMAT, read
    from sqljury.stages.weights import save
    from sqljury.train import light as trained
    from sqljury.train.replay import evaluation_of_runs

    FORMAT.check_out(out)
    today = datetime.datetime.now(datetime.UTC).date()
    evaluation = evaluation_of_runs(runs, data, eval_data)
    known = {record["db_id"] for run in runs for record in run_folder.records(run)}
    within = subset.checked(known, databases, without_databases)
    begun = None if start is None else read("" if str(start) == SHIPPED else str(start))
    weights = trained.train_from_runs(
        runs, data, evaluation, seed, processes, today, scores or (), start=begun, within=within
    )
    save(weights, out)
    card, held_out = weights.card, weights.card["held_out"]
    print(f"{card['questions']} questions on {card['databases']} databases, {card['decided']} of them decided")
    for name, label in (("ex", "light judge"), ("ex_votes", "votes"), ("ex_bound", "best choice")):
        print(f"{label:12} EX {held_out[name]['percent']:5.1f} %")
    if before := card.get("start"):
        print(f"started from EX {before['ex']['percent']:5.1f} %, decided pairs {before['pairs']['percent']:.1f} %")
    mistakes = held_out["ex_bound"]["right"] - held_out["ex_votes"]["right"]
    print(
        f"against votes: {held_out['changed']} answers changed; {held_out['won']} of {mistakes} mistakes corrected, "
        f"{held_out['lost']} correct answers lost"
    )
    print(f"decided pairs: {held_out['pairs']['percent']:.1f} % ({held_out['pairs_votes']['percent']:.1f} % by votes)")
    print(f"expected calibration error: {held_out['ece']:.3f}")
    if blind := card["blind"]:
        without = blind["held_out"]
        print(
            f"without log-probabilities, {blind['questions']} questions: EX {without['ex']['percent']:.1f} %, votes "
            f"{without['ex_votes']['percent']:.1f} %; {without['won']} corrected, {without['lost']} lost"
        )
    if held_out["won"] <= held_out["lost"]:
        terminal.note(
            f"on held-out {card['held_out_by']}s this judge is not better than votes; train on more questions"
        )
    if weights.scorer is not None:
        terminal.note(
            f"this judge uses scores of the selector {weights.scorer.selector}, "
            "so a recipe with it calls a model (select.judge)"
        )
    elif scores:
        terminal.note("the judge's scores differ within too few questions to be learned from; they are not used")
    if not evaluation:
        terminal.note(UNCHECKED)
    if card["held_out_by"] == "question":
        terminal.note("there are too few databases to hold any out: expect lower figures on other databases")
    terminal.note(f"weights in {out}; all figures are on {card['held_out_by']}s held out in turn, see its card")


for _part, _what in training.PARTS.items():
    app.command(_part, help=f"Train an adapter that {_what}.")(training.command(_part))
app.command("policy")(train_policy.policy)
app.command("export")(training.export)
