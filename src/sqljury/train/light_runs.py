"""What the light judge learns from: the candidates of runs, and the gold queries of the splits that they were on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from sqljury.datasets.spider import Example
from sqljury.evaluation import run_folder as folder
from sqljury.stages.select.features import features
from sqljury.stages.select.light import Weights
from sqljury.stages.select.sketch import Sketch
from sqljury.train import sketch as sketching
from sqljury.train.leaks import Asked, checked, near
from sqljury.train.light import Rated, train
from sqljury.train.replay import Replayed, replay_all


def from_runs(
    runs: Sequence[Path],
    data: Path | None,
    measured: Sequence[Example],
    seed: int = 0,
    processes: int = 1,
    today: date | None = None,
    critic: str = "",
) -> Weights:
    """The weights learned from the candidates of runs; questions ``measured`` on must be of other databases.

    With ``critic``, the name of its choices in every run, the judge hears the critic too.

    Raises ``InputError`` where they are not, and what ``replay_all`` and ``train`` raise.
    """
    replayed = replay_all(runs, data, measured, processes, critic)
    told = sketching.gold(runs, data, measured)
    crossed = sketching.crossed(told, seed)
    questions = [_rated(one, crossed.get(one.named.casefold())) for one in replayed]
    described = [folder.described(run) for run in runs]
    about = {
        "trained": None if today is None else today.isoformat(),
        "runs": [
            {
                "dataset": {key: one["dataset"].get(key) for key in ("name", "split", "limit")},
                "seed": one["seed"],
                "recipe": one["recipe"]["name"],
                "model": one["model"],
                "answers": len(folder.records(run)),
            }
            for run, one in zip(runs, described, strict=True)
        ],
        "critic": critic or None,
        "sketch": {"questions": len(told), "databases": len({one.database for one in told})} if crossed else None,
        "checked": checked(measured),
        "near": len(near([Asked(one.id, one.named, one.text) for one in questions], measured)),
    }
    return train(questions, seed, about, sketching.fitted(told) if crossed else None)


def _rated(one: Replayed, sketch: Sketch | None) -> Rated:
    figures = features(one.candidates, one.task, one.opinions, sketch)
    return Rated(one.id, one.named, one.task.question.text, tuple(figures[number] for number in figures), one.right)
