"""The card of a training: settings, data, versions and results, with the loss curves as a picture."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from sqljury.evaluation import svg
from sqljury.resources import write_whole

JSON: Final = "card.json"
MARKDOWN: Final = "card.md"
PICTURE: Final = "curves.svg"
LIBRARIES: Final = ("torch", "transformers", "sqljury")
KEPT: Final = "kept_step"
SHOWN: Final = {
    "loss": "loss",
    "eval_loss": "held-out loss",
    "eval_right_answers": "held-out answers right",
    "base_eval_loss": "held-out loss without the adapter",
    "base_eval_right_answers": "held-out answers right without the adapter",
    "divergence": "divergence from the base model",
    "reward": "mean reward",
    "right": "right queries",
    "eval_wrong": "held-out questions answered wrong",
    "base_eval_wrong": "held-out questions answered wrong at the start",
    "tokens_per_second": "tokens a second",
    "peak_memory_gb": "peak memory, GB",
    KEPT: "step that is kept",
    "train_runtime": "seconds",
}
"""The figures of a log that are reported, and their names."""

MEASURES: Final = frozenset({"eval_loss", "eval_wrong"})
"""What an adapter is kept by, the lower the better; a training has one of them."""

Log = Sequence[Mapping[str, Any]]


def write(out: Path, settings: Mapping[str, Any], counts: Mapping[str, int], device: str, log: Log) -> None:
    """Write ``card.json``, ``card.md`` and ``curves.svg`` into ``out``, the JSON last: it marks the end."""
    facts = {
        "settings": dict(settings),
        "counts": dict(counts),
        "device": device,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "results": results(log),
        "log": [dict(entry) for entry in log],
    }
    write_whole(out / PICTURE, curves(log))
    write_whole(out / MARKDOWN, markdown(facts))
    write_whole(out / JSON, json.dumps(facts, indent=2) + "\n")


def has_learned(out: Path) -> bool:
    """Whether the adapter of a finished training in ``out`` is another than the one that it started from."""
    try:
        facts = json.loads((out / JSON).read_bytes())
        return bool(facts["results"].get(KEPT) != 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def results(log: Log) -> dict[str, float]:
    """The last value of each figure in the log; those on held-out examples are of the adapter that is kept, the best.

    ``base_*`` are those of the model without an adapter, where the log begins with them.
    """
    figures: dict[str, float] = {}
    evaluations = [entry for entry in log if not MEASURES.isdisjoint(entry)]
    best = min(evaluations, key=_held_out) if evaluations else None
    for entry in (*log, *([best] if best else ())):
        figures |= {key: entry[key] for key in SHOWN if isinstance(entry.get(key), int | float)}
    if best:
        figures[KEPT] = best.get("step", 0)
    if evaluations and evaluations[0].get("step") == 0:
        figures |= {f"base_{key}": value for key, value in evaluations[0].items() if f"base_{key}" in SHOWN}
    return figures


def _held_out(entry: Mapping[str, Any]) -> float:
    return next(float(entry[key]) for key in MEASURES if key in entry)


def curves(log: Log) -> str:
    """Loss by step, in training and held out, as SVG; empty with nothing to draw."""
    drawn = {name: points for key, name in list(SHOWN.items())[:2] if (points := _points(log, key))}
    return svg.file(svg.curves(drawn, "Loss by step", ("step", "loss"), (0.0, 0.0), dots=True)) if drawn else ""


def markdown(facts: Mapping[str, Any]) -> str:
    """The card as Markdown: the facts of the JSON without the log."""
    settings = facts["settings"]
    parts = [
        f"# Adapter `{settings['part']}` for `{settings['base_model']}`",
        _table("Results", {SHOWN[key]: f"{value:.4g}" for key, value in facts["results"].items()}),
        f"![Loss by step]({PICTURE})",
        _table("Examples", {key.replace("_", " "): f"{value:,}" for key, value in facts["counts"].items()}),
        _table("Settings", {key: str(value) for key, value in settings.items()}),
        _table("Made with", {**facts["versions"], "device": facts["device"]}),
    ]
    return "\n\n".join(parts) + "\n"


def _points(log: Log, key: str) -> list[tuple[float, float]]:
    return [(float(entry["step"]), float(entry[key])) for entry in log if key in entry and "step" in entry]


def _table(title: str, rows: Mapping[str, str]) -> str:
    body = "\n".join(f"| {name} | {value.replace('|', '/')} |" for name, value in rows.items())
    return f"## {title}\n\n| | |\n|---|---|\n{body}"
