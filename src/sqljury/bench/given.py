"""Candidates of other systems: their prediction files become a run, and the run a prediction file of the choices.

The run is like one of `sqljury bench`: `eval`, `bench select` and `bench analyze` read it. A part of its recipe stands
for each system.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Self

from sqljury import recipes
from sqljury.bench import export
from sqljury.bench import run as bench
from sqljury.bench.run import UNATTENDED, Controls
from sqljury.bench.versions import data_versions
from sqljury.datasets import candidates, questions
from sqljury.datasets.candidates import Pool, Votes
from sqljury.datasets.reading import Document
from sqljury.datasets.spider import Example
from sqljury.db.base import DEFAULT_LIMITS
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatasetError, InputError
from sqljury.evaluation.run_folder import Record, records
from sqljury.evaluation.targets import read_tables
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.recipes.parts import Opinion
from sqljury.resources import must_write, would_change, write_whole
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import Join, Notes
from sqljury.stages.registry import choosing_recipe
from sqljury.types import Choice, Limits, Schema

MOST_SYSTEMS: Final = 256
FAULTS: Final = "faults.txt"
NONE_GIVEN: Final = "no file has a query for it"
_STOPPED: Final = ("limit: ", "refused: ")
_REASON: Final = 200


@dataclass(frozen=True)
class Sources:
    """The files of a choice: ``predictions``, the most trusted first, ``questions``, and the folder of ``databases``.

    ``pool`` holds what is used of them, weighed by ``votes``. ``faults`` are files, lines and questions that cannot be
    used as they are. ``notes`` hold the foreign keys of ``tables``, Spider's ``tables.json``, by the URL of a database.
    ``unusable`` are databases that are not there or cannot be read.
    """

    predictions: tuple[Document, ...]
    questions: Document
    databases: Path
    pool: Pool
    faults: tuple[str, ...]
    tables: Document | None = None
    notes: Mapping[str, Notes] = field(default_factory=dict, repr=False)
    unusable: frozenset[str] = frozenset()
    votes: Votes = "systems"

    @property
    def dataset(self) -> Record:
        """What a run's settings say of its questions and candidates."""
        folder = self.databases.resolve()
        return {
            "name": self.questions.file.name,
            "data": str(folder.parent),
            "databases": folder.name,
            "questions": _hash(self.questions),
            "tables": self.tables and _hash(self.tables),
            "votes": self.votes,
            "count": len(self.pool.examples),
            **data_versions(self.pool.examples, {}),
            "predictions": [
                [name, _hash(file)] for name, file in zip(self.pool.systems, self.pool.documents, strict=True)
            ],
        }


@dataclass(frozen=True)
class Choices:
    """What was chosen: a record for each question, as a run has them.

    ``faults`` are the lines whose queries were stopped by their limits or refused, and those of ``Sources``, which name
    the ``unusable`` databases. ``model`` is the one that was ``asked`` for its opinion.
    """

    records: tuple[Record, ...]
    systems: tuple[str, ...]
    faults: tuple[str, ...] = field(default=())
    unusable: frozenset[str] = frozenset()
    model: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many answers are of each system; of several that have the same query, of the one trusted most.

        The model stands last, if any answer is its own.
        """
        chosen = Counter[str]()
        for record in self.records:
            first = next(
                (candidate["part"] for candidate in record["candidates"] if candidate["sql"] == record["sql"]), None
            )
            if record["sql"] and first is not None:
                chosen[self.systems[first] if first < len(self.systems) else self.model] += 1
        return {**dict.fromkeys(self.systems, 0), **chosen}

    @property
    def asked(self) -> int:
        """On how many questions the model wrote queries of its own."""
        return sum(
            any(candidate["part"] >= len(self.systems) for candidate in record["candidates"]) for record in self.records
        )

    @property
    def within_margin(self) -> int:
        """On how many questions the light judge preferred another result by less than its margin, so votes decided."""
        return sum(map(_is_within_margin, self.records))

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Why questions have no answer, by their ids; not those on databases that ``faults`` name."""
        return tuple(
            f"question {line['id']!r}: {line['error'] if any(c['sql'] for c in line['candidates']) else NONE_GIVEN}"
            for line in self.records
            if line["error"] and line["db_id"] not in self.unusable
        )

    def lines(self) -> str:
        """Spider's prediction file: a query on each line, in the order of the questions; see ``export.spider``."""
        return export.spider(self.records)

    def bird(self) -> str:
        """BIRD's prediction file, a JSON object from positions to queries with their databases."""
        return export.bird(self.records)


def read(
    predictions: Sequence[str | Path],
    questions_file: str | Path,
    databases: str | Path,
    format: str | None = None,
    tables: str | Path | None = None,
    votes: Votes = "systems",
) -> Sources:
    """The files, read and paired; databases that are missing or cannot be read are named in ``faults``.

    ``format`` is one of ``samples.FORMATS``. A question's queries in one file share one vote, unless all ``votes`` are
    the ``queries``'. ``databases`` holds ``<db_id>/<db_id>.sqlite``. Gold queries may be missing. A file that is not
    for these questions is left out, and named in ``faults`` too. Raises ``DatasetError`` where no file can be used, see
    ``candidates.load``, and ``DatabaseError`` where no database can.
    """
    if not 1 <= len(predictions) <= MOST_SYSTEMS:
        raise InputError(f"{len(predictions)} prediction files are given; name from 1 to {MOST_SYSTEMS}")
    folder = Path(databases)
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder; give the one that holds <db_id>/<db_id>.sqlite")
    files = tuple(map(candidates.document_of, predictions))
    asked, keys = Document.of(questions_file), None if tables is None else Document.of(tables)
    examples = questions.load(asked, folder, gold=False, there=False)
    known = _Databases.of(examples, {} if keys is None else read_tables(keys))
    missing = [f"{asked}, {_asking(examples, name)}: {why}" for name, why in known.unusable.items()]
    if not known.tables:
        raise DatabaseError(missing[0])
    pool = candidates.load(files, examples, format, known.tables).weighed(votes)
    unusable = frozenset(known.unusable)
    return Sources(files, asked, folder, pool, (*pool.faults, *missing), keys, known.notes, unusable, votes)


def _asking(examples: Sequence[Example], db_id: str) -> str:
    """The questions on a database: how many, and the first."""
    ids = [example.id for example in examples if example.db_id == db_id]
    return f"question {ids[0]!r}" if len(ids) == 1 else f"{len(ids)} questions, the first {ids[0]!r}"


def pipeline_for(
    pool: Pool,
    model: LanguageModel | None = None,
    recipe: str = "choose",
    selector: str = "",
    limits: Limits = DEFAULT_LIMITS,
    opened: Callable[..., LanguageModel] = open_model,
    weights: str = "",
    opinion: Opinion | Literal[""] = "",
) -> Pipeline:
    """The pipeline that chooses among the candidates of a pool by a recipe; ``selector`` replaces the recipe's.

    So does ``opinion``, see ``SelectPart``. ``model`` and ``opened`` are those of ``Pipeline.from_recipe``. ``weights``
    is a file of `sqljury train light`, for the selector ``light``. With ``NoModel`` nothing is asked. Raises
    ``RecipeError`` for a recipe that cannot be loaded, or needs a model then, and ``InputError`` for a file that does
    not hold weights.
    """
    opened = cache(opened)  # the model that is looked at here is the one that the pipeline asks
    asked = opened() if model is None else model
    adapted = choosing_recipe(recipes.load(recipe), pool.systems, selector, asked, weights, opinion)
    return Pipeline.of(adapted, model, limits, opened, given=True)


def choose(
    sources: Sources, pipeline: Pipeline, folder: Path | None = None, controls: Controls = UNATTENDED, *, seed: int = 0
) -> Choices:
    """The choices of a pipeline among the candidates of these files, question by question.

    The run is kept in ``folder``, where one that was broken off is continued; with None it is not kept. The file
    ``FAULTS`` there has the lines that were not used as they are, and the questions without an answer. Raises what
    ``bench.run`` raises, for a folder that holds another run among others.
    """
    examples = sources.pool.examples
    with ExitStack() as stack:
        where = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sqljury-choose-")))
        pipeline = replace(pipeline, notes=sources.notes)
        settled = bench.settings(pipeline, sources.dataset, seed)

        def say(done: int, record: Record | None) -> None:
            controls.say(done, len(examples), record)

        bench.run(examples, pipeline, where, settled, say, controls.cancel)
        answered: Mapping[str, Record] = {record["id"]: record for record in records(where)}
        chosen = tuple(answered[example.id] for example in examples)
        faults = (*_stopped(chosen, sources.pool), *sources.faults)
        choices = Choices(chosen, sources.pool.systems, faults, sources.unusable, pipeline.model.name)
        write_whole(where / FAULTS, "".join(f"{' '.join(line.split())}\n" for line in (*faults, *choices.unanswered)))
    return choices


def _is_within_margin(record: Record) -> bool:
    choice = record.get("choice")
    if choice is None or choice["index"] is None:
        return False
    group = record["candidates"][choice["index"]]["group"]
    chosen = Choice(choice["index"], choice["selector"], tuple(choice["scores"]))
    return group is not None and chosen.within_margin(group)


def _stopped(answered: Iterable[Record], pool: Pool) -> Iterator[str]:
    """The lines whose queries took too much, or do more than read, and why they were not run to their end."""
    for record, sources in zip(answered, pool.places, strict=True):
        for candidate, source in zip(record["candidates"], sources, strict=False):  # refinement adds some at the end
            if candidate["error"] and candidate["error"].startswith(_STOPPED):
                yield f"{source}: {candidate['error'][:_REASON]}; not chosen"


def check_out(out: Path, sources: Sources, folder: Path | None = None, also: Iterable[str] = ()) -> None:
    """Raise ``InputError`` where ``save`` could not write, or would write over what is read.

    That is also the run that ``choose`` keeps in ``folder``, and those of ``also`` that are files: a recipe, weights.
    """
    documents = [sources.questions, *sources.predictions, *filter(None, [sources.tables])]
    inputs = [*(document.file for document in documents), *filter(Path.is_file, map(Path, filter(None, also)))]
    if would_change(out, inputs):
        raise InputError(f"{out}: is an input; name another --out")
    if out.exists() and not (out.is_file() or out.is_dir()):
        raise InputError(f"{out}: is not a regular file, and would be replaced by one; name another --out")
    if folder is not None and folder.resolve().is_relative_to(sources.databases.resolve()):
        raise InputError(f"{folder}: lies in the folder of the databases; name another --run")
    if folder is not None and out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{out}: lies in the folder of the run; name another --out")
    if out.resolve().is_relative_to(sources.databases.resolve()):
        raise InputError(f"{out}: lies in the folder of the databases; name another --out")
    if out.is_dir() or not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise InputError(f"{out}: cannot be written; name a file in a folder that is there")


def save(choices: Choices, file: Path) -> None:
    """Write the prediction file: BIRD's for a name that ends with ``.json``, else Spider's.

    Raises ``InputError`` where it cannot be written.
    """
    with must_write(file, InputError, "name another --out"):
        write_whole(file, choices.bird() if file.suffix.lower() == ".json" else choices.lines())


@dataclass
class _Databases:
    """Of each database the names of its tables in lower case, or why it cannot be used; and keys that are given."""

    tables: dict[str, frozenset[str]] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Notes] = field(default_factory=dict)

    @classmethod
    def of(cls, examples: Sequence[Example], entries: Mapping[str, Any]) -> Self:
        """Those of the questions; ``entries`` are those of ``tables.json``."""
        known = cls()
        for name, file in {example.db_id: example.database for example in examples}.items():
            if not os.path.isfile(file):
                known.unusable[name] = (
                    f"there is no database {name!r} ({file}); give the folder of <db_id>/<db_id>.sqlite"
                )
                continue
            try:
                with connect(file) as db:
                    schema = introspect(db)
                    known.notes[db.url] = Notes(joins=tuple(_joins(entries.get(name), schema)))
            except DatabaseError as error:
                known.unusable[name] = str(error)
            else:
                known.tables[name] = frozenset(table.name.lower() for table in schema.tables)
        return known


def _joins(entry: Any, schema: Schema) -> Iterator[Join]:
    """The foreign keys of an entry of ``tables.json`` that the schema has tables and columns for."""
    existing = {(table.name.lower(), column.name.lower()) for table in schema.tables for column in table.columns}
    try:
        names, columns = entry["table_names_original"], entry["column_names_original"]
        pairs = [[(str(names[columns[at][0]]), str(columns[at][1])) for at in key] for key in entry["foreign_keys"]]
    except (TypeError, KeyError, IndexError):
        return
    for pair in pairs:
        folded = {(table.lower(), column.lower()) for table, column in pair}
        if len(pair) == 2 == len(folded) and folded <= existing:
            yield Join(((pair[0], pair[1]),), "tables.json")


def _hash(document: Document) -> str:
    return hashlib.sha256(document.raw).hexdigest()
