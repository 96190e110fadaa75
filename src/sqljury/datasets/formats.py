"""Which reader reads which file: a format given by name, or the one that the file's beginning shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sqljury.datasets import bird_json, dev_json, jsonl, lines
from sqljury.datasets.pairs import Gold, Pair, Prediction, pair
from sqljury.datasets.reading import text_of
from sqljury.errors import DatasetError

GOLD: Final[dict[str, Callable[[Path], list[Gold]]]] = {
    "lines": lines.golds,
    "bird": bird_json.golds,
    "dev": dev_json.golds,
    "jsonl": jsonl.golds,
}
PREDICTIONS: Final[dict[str, Callable[[Path, bool], list[Prediction]]]] = {
    "lines": lines.predictions,
    "bird": bird_json.predictions,
    "jsonl": jsonl.predictions,
}


def detect(file: Path) -> str:
    """The format's name: by how the file begins, for the names of such files tell little.

    ``[`` begins ``dev``. ``{`` begins ``jsonl`` where the name says so or the first line is a whole object followed by
    others, else ``bird``; all else is ``lines``.
    """
    text = text_of(file).lstrip()
    if text.startswith("["):
        return "dev"
    if not text.startswith("{"):
        return "lines"
    first, _, rest = text.partition("\n")
    several = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
    return "jsonl" if file.suffix == ".jsonl" or several else "bird"


def read_golds(file: str | Path, format: str | None = None) -> list[Gold]:
    """The gold queries of a file, in its order; ``format`` is a key of ``GOLD``, by default detected.

    Raises ``DatasetError`` that names file and line: a file that does not hold together, or an unknown format.
    """
    path = Path(file)
    name = format or detect(path)
    if name not in GOLD:
        raise DatasetError(f"{path}: there is no format {name!r} of gold queries; give one of {', '.join(GOLD)}")
    return GOLD[name](path)


def read_predictions(file: str | Path, format: str | None = None, interactions: bool = False) -> list[Prediction]:
    """The predictions of a file; ``interactions`` says that blank lines separate dialogues, not empty predictions.

    Raises ``DatasetError`` as ``read_golds`` does.
    """
    path = Path(file)
    name = format or detect(path)
    if name not in PREDICTIONS:
        known = ", ".join(PREDICTIONS)
        raise DatasetError(f"{path}: there is no format {name!r} of predictions; give one of {known}")
    return PREDICTIONS[name](path, interactions)


def read_pairs(
    gold: str | Path, predictions: str | Path, gold_format: str | None = None, format: str | None = None
) -> list[Pair]:
    """Both files, paired; raises ``DatasetError`` as the readers and ``pair`` do."""
    golds = read_golds(gold, gold_format)
    return pair(golds, read_predictions(predictions, format, has_interactions(golds)))


def has_interactions(golds: Sequence[Gold]) -> bool:
    """Whether the queries are turns of several dialogues."""
    return len({gold.interaction for gold in golds}) > 1
