"""The notes that a run shows beside its schemas: those of a context folder, or BIRD's descriptions of columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sqljury.datasets.benchmarks import DESCRIPTIONS, Benchmark
from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.errors import InputError
from sqljury.evaluation.run_folder import Record
from sqljury.project.folder import load as load_project
from sqljury.schema.notes import Notes
from sqljury.schema.notes_files import load


def notes_of(
    drawn: Sequence[Example], of_project: Mapping[str, Notes], described: Benchmark | None
) -> dict[str, Notes]:
    """By name of each drawn question's database its notes: those of a context folder, or BIRD's descriptions."""
    descriptions = {} if described is None else described.descriptions
    names = sorted({example.db_id for example in drawn})
    known = {name: load(descriptions[name]) for name in names if name in descriptions}
    return known | {name: of_project[name] for name in names if name in of_project}


def by_url(drawn: Sequence[Example], notes: Mapping[str, Notes]) -> dict[str, Notes]:
    """The notes by the URL of the database, as a pipeline takes them."""
    notes_by_url = {}
    for name, file in {example.db_id: example.database for example in drawn if example.db_id in notes}.items():
        with connect(file) as db:
            notes_by_url[db.url] = notes[name]
    return notes_by_url


def shown_notes(run: Path, described: Record, data: Path, names: Collection[str]) -> dict[str, Notes]:
    """By name of database, of these, the notes that a finished run showed, read again from where its dataset is.

    Raises ``InputError`` for notes that are not those of the run, by the hash in its settings, and what their readers
    raise.
    """
    dataset = described["dataset"]
    recorded = dataset.get("notes") or {}
    shown: dict[str, Notes] = {}
    for name in sorted(names) if isinstance(recorded, dict) else ():
        if name not in recorded:
            continue
        if dataset.get("name") == "project":
            shown[name] = load_project(data).database(name).notes
        else:
            shown[name] = load(data / str(dataset.get("folder")) / name / DESCRIPTIONS)
    changed = sorted(name for name, notes in shown.items() if notes.fingerprint != recorded[name])
    if changed or not isinstance(recorded, dict):
        which = f" on {', '.join(changed[:3])}" if changed else ""
        raise InputError(
            f"{run}: the notes{which} are not those that the run showed; restore them in {data}, or make the run again"
        )
    return shown
