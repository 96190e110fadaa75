"""Which reader reads which file: a format given by name, or the one that the file's beginning shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sqljury.datasets import bird_json, dev_json, jsonl, lines
from sqljury.datasets.pairs import UNKNOWN, Gold, Known, Pair, Prediction, pair
from sqljury.datasets.reading import Document
from sqljury.errors import DatasetError

GOLD: Final[dict[str, Callable[[Document], list[Gold]]]] = {
    "lines": lines.golds,
    "bird": bird_json.golds,
    "dev": dev_json.golds,
    "jsonl": jsonl.golds,
}
PREDICTIONS: Final[dict[str, Callable[[Document, Known], list[Prediction]]]] = {
    "lines": lines.predictions,
    "bird": bird_json.predictions,
    "jsonl": jsonl.predictions,
}


def detect(file: str | Path | Document) -> str:
    """The format's name: by how the file begins, for the names of such files tell little.

    ``[`` begins ``dev``. ``{`` begins ``jsonl`` where the name says so or the first line is a whole object followed by
    others, else ``bird``; all else is ``lines``.
    """
    document = Document.of(file)
    text = document.text.lstrip()
    if text.startswith("["):
        return "dev"
    if not text.startswith("{"):
        return "lines"
    first, _, rest = text.partition("\n")
    several = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
    return "jsonl" if document.file.suffix == ".jsonl" or several else "bird"


def read_golds(file: str | Path | Document, format: str | None = None) -> list[Gold]:
    """The gold queries of a file, in its order; ``format`` is a key of ``GOLD``, by default detected.

    Raises ``DatasetError`` that names file and line: a file that does not hold together, or an unknown format.
    """
    document = Document.of(file)
    name = format or detect(document)
    if name not in GOLD:
        raise DatasetError(f"{document}: there is no format {name!r} of gold queries; give one of {', '.join(GOLD)}")
    return GOLD[name](document)


def read_predictions(
    file: str | Path | Document, format: str | None = None, known: Known = UNKNOWN
) -> list[Prediction]:
    """The predictions of a file; ``known`` is what gold says of how to read it.

    Raises ``DatasetError`` as ``read_golds`` does.
    """
    document = Document.of(file)
    name = format or detect(document)
    if name not in PREDICTIONS:
        listed = ", ".join(PREDICTIONS)
        raise DatasetError(f"{document}: there is no format {name!r} of predictions; give one of {listed}")
    return PREDICTIONS[name](document, known)


def read_pairs(
    gold: str | Path | Document,
    predictions: str | Path | Document,
    gold_format: str | None = None,
    format: str | None = None,
) -> list[Pair]:
    """Both files, paired; raises ``DatasetError`` as the readers and ``pair`` do."""
    golds = read_golds(gold, gold_format)
    known = Known(has_interactions(golds), frozenset(gold.db_id for gold in golds))
    return pair(golds, read_predictions(predictions, format, known))


def has_interactions(golds: Sequence[Gold]) -> bool:
    """Whether the queries are turns of several dialogues."""
    return len({gold.interaction for gold in golds}) > 1
