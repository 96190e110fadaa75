"""Training sets: a JSONL file with one example a line, and a card beside it.

Prompts are made by the functions that make them at inference, so the model is trained on what it will be asked. A set
depends on its sources, its kind and its seed alone: making it twice gives the same bytes. This module writes sets, and
makes the one that needs questions and gold queries only: for the schema linker (MSc-SQL, section 3).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, NoReturn, Protocol, TypeVar

from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatasetError, InputError
from sqljury.keys import known_schema
from sqljury.parallel.crew import Crew
from sqljury.parallel.processes import Tell, Work, map_processes
from sqljury.recipes.parts import SchemaPart
from sqljury.resources import write_whole
from sqljury.sql.resolve import used
from sqljury.stages import link
from sqljury.stages.prepare import Preparation
from sqljury.train.examples import TrainingExample
from sqljury.train.leaks import NearDuplicate, SetQuestion, evaluation_size, near_duplicates
from sqljury.types import Schema

GOLD: Final = "gold"
"""The ``hint`` in an example's meta where the gold query itself takes part, since no candidate was correct."""
_FIRST_BYTES: Final = b'{"messages": '
_STALE_SECONDS: Final = 86_400.0
"""Unfinished files that nobody wrote to for this long are removed."""
Q = TypeVar("Q", bound="Asked")
Kind = Literal["linker", "generator", "critic", "pairwise", "selector"]


class LeftOut(NamedTuple):
    """A question that gives no example, and the count of the ``SetReport`` that it belongs to."""

    id: str
    why: Literal["cut", "unread", "failed", "suspect", "none", "held_out"]


@dataclass
class SetReport:
    """What a set holds, and how many questions were left out of it, by reason.

    ``of_gold``: the gold query itself would have taken part. ``cut``: the schema is too long to be shown whole, and the
    part that would be shown lacks tables or columns of the gold query. ``unread``: the gold query reads no table or
    cannot be parsed. ``failed``: it cannot be run. ``suspect``: ``sqljury audit`` suspects an error in it. ``none``: no
    correct query. ``held_out``: the evaluation asks it too. ``answers`` counts examples by the source of their answer,
    where the kind has several. ``near`` lists near-duplicates of evaluation questions, ``checked`` is the evaluation's
    size.
    """

    kind: str
    seed: int
    items: int = 0
    questions: int = 0
    databases: int = 0
    repeated: int = 0
    contradicting: int = 0
    of_gold: int = 0
    cut: int = 0
    unread: int = 0
    failed: int = 0
    suspect: int = 0
    none: int = 0
    held_out: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    sha256: str = ""
    checked: dict[str, int] | None = None
    near: list[NearDuplicate] = field(default_factory=list)
    sources: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The content of the card beside the set."""
        listed = [duplicate._asdict() for duplicate in self.near]
        return {**vars(self), "near": {"count": len(listed), "questions": listed}}

    def left_out(self) -> list[str]:
        """What was left out, and why, with its count."""
        counts = [(getattr(self, name), text) for name, text in _LEFT_OUT.items()]
        return [f"{count} {text.format(*(('', 's') if count == 1 else ('s', '')))}" for count, text in counts if count]


_LEFT_OUT: Final = {
    "repeated": "repeated",
    "contradicting": "contradicting",
    "of_gold": "question{0} that need{1} the gold query",
    "none": "question{0} without a correct query",
    "cut": "question{0} whose cut schema lacks what gold reads",
    "unread": "question{0} whose gold query reads no table",
    "failed": "question{0} whose gold query fails",
    "suspect": "question{0} whose gold query is suspect (see `sqljury audit`)",
    "held_out": "question{0} that the evaluation asks too",
}
"""By count of the card, how it is said: behind ``question`` and ``need`` stand the endings of their number."""


def write(
    examples: Iterable[TrainingExample | LeftOut],
    out: Path,
    kind: Kind,
    seed: int,
    evaluation: Sequence[Example] = (),
    sources: Mapping[str, Any] | None = None,
    *,
    gold: bool = True,
) -> SetReport:
    """Write a set to ``out`` and its card to ``out`` + ``.card.json``; both are written whole or not at all.

    Prompts that occur again are left out, without ``gold`` also questions whose correct query is the gold query. Raises
    ``InputError`` for no examples, a file that cannot be written and an existing file that is not a training set.
    """
    _refuse_foreign(out)
    _remove_stale(out)
    report = SetReport(kind, seed, checked=evaluation_size(evaluation), sources=dict(sources or {}))
    questions: dict[SetQuestion, None] = {}
    digest = hashlib.sha256()
    unfinished = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            for example in _kept(examples, report, gold=gold):
                stream.write(line := example.to_line())
                digest.update(line.encode(errors="backslashreplace"))
                questions[_question(example)] = None
                report.items += 1
                if source := example.meta.get("source"):
                    report.answers[source] = report.answers.get(source, 0) + 1
        if not report.items:
            why = ", ".join(report.left_out())
            raise InputError(
                f"{out}: no example for a {kind} set{why and f': {why}'}; give other questions or another run"
            )
        report.questions, report.databases = len(questions), len({question.db_id for question in questions})
        report.sha256 = digest.hexdigest()
        report.near = near_duplicates(list(questions), evaluation)
        write_whole(out.with_name(f"{out.name}.card.json"), json.dumps(report.to_json(), indent=2) + "\n")
        unfinished.replace(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); name another file with --out") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return report


def _question(example: TrainingExample) -> SetQuestion:
    return SetQuestion(example.meta["id"], example.meta["db_id"], example.meta["question"])


def _refuse_foreign(out: Path) -> None:
    """Raise ``InputError`` for an existing file that this module did not write; an empty one may be overwritten."""
    try:
        with out.open("rb") as stream:
            start = stream.read(len(_FIRST_BYTES))
    except OSError:
        return  # the file does not exist, or writing will say what is wrong
    if start not in (b"", _FIRST_BYTES):
        raise InputError(f"{out}: exists and is not a training set; name a new file with --out, or remove this one")


def _remove_stale(out: Path) -> None:
    """Remove what killed programs left of this set and its card; younger files may be another program's work."""
    pattern = re.compile(rf"{re.escape(out.name)}(\.card\.json)?\.\d+\.part")
    with contextlib.suppress(OSError):  # where nothing can be removed, nothing can be written either
        for file in out.parent.iterdir():
            if pattern.fullmatch(file.name) and time.time() - file.stat().st_mtime > _STALE_SECONDS:
                file.unlink(missing_ok=True)


def _kept(examples: Iterable[TrainingExample | LeftOut], report: SetReport, *, gold: bool) -> Iterator[TrainingExample]:
    made = _without_left_out(examples, report)
    return _unrepeated(made if gold else _without_gold(made, report), report)


def _without_left_out(examples: Iterable[TrainingExample | LeftOut], report: SetReport) -> Iterator[TrainingExample]:
    for example in examples:
        if isinstance(example, TrainingExample):
            yield example
        else:
            setattr(report, example.why, getattr(report, example.why) + 1)


def _without_gold(examples: Iterable[TrainingExample], report: SetReport) -> Iterator[TrainingExample]:
    left_out: set[SetQuestion] = set()
    for example in examples:
        if example.meta.get("hint") != GOLD:
            yield example
            continue
        left_out.add(_question(example))
        report.of_gold = len(left_out)


def _unrepeated(examples: Iterable[TrainingExample], report: SetReport) -> Iterator[TrainingExample]:
    """Each prompt once; for a generator, which writes several queries, each prompt with each answer to its question."""
    answers: dict[str, tuple[SetQuestion, set[str]]] = {}
    for example in examples:
        question, known = answers.setdefault(example.prompt_hash(), (_question(example), set()))
        several = report.kind == "generator" and question == _question(example)
        if example.answer in known:
            report.repeated += 1
        elif known and not several:
            report.contradicting += 1
        else:
            known.add(example.answer)
            yield example


class Asked(Protocol):
    """A question on a database."""

    @property
    def id(self) -> str: ...

    @property
    def database(self) -> str | os.PathLike[str]: ...


class Maker(Protocol):
    """Makes the examples of questions on one database."""

    def examples(self, question: Any, /) -> Iterable[TrainingExample | LeftOut]: ...


def made_on_databases(
    questions: Sequence[Q], maker: Callable[[Database], Maker], processes: int | Crew = 1
) -> Iterator[TrainingExample | LeftOut]:
    """The examples of all questions, in their order, made in as many processes, or by a crew.

    Left out are questions whose database cannot be opened. Raises ``DatasetError`` for one that ends its process.
    """
    making: _Making[Q] = _Making(maker)
    files = [question.database for question in questions]
    made = map_processes(
        making.begin,
        questions,
        _lost,
        silence=inf,
        processes=processes,
        kind=lambda question: str(question.database),
        files=files,
    )
    return chain.from_iterable(made)


@dataclass
class _Making(Generic[Q]):
    """The work of one process: the database of the last question stays open for the next."""

    maker: Callable[[Database], Maker]
    name: str | None = None
    opened: tuple[Database, Maker] | None = None

    def begin(self) -> Work[Q, list[TrainingExample | LeftOut]]:
        """Called once in each process."""
        return self._made

    def _made(self, question: Q, _: Tell) -> list[TrainingExample | LeftOut]:
        if self.name != (name := os.fspath(question.database)):
            if self.opened is not None:
                self.opened[0].close()
            self.name, self.opened = name, self._opened(name)
        return [LeftOut(question.id, "unread")] if self.opened is None else list(self.opened[1].examples(question))

    def _opened(self, name: str) -> tuple[Database, Maker] | None:
        try:
            db = connect(name)
        except DatabaseError:
            return None
        return db, self.maker(db)


def _lost(question: Asked, why: str, _: object) -> NoReturn:
    raise DatasetError(f"question {question.id!r}: no example can be made of it, {why}; leave it out")


def linker_examples(
    examples: Sequence[Example], part: SchemaPart, processes: int | Crew = 1
) -> Iterator[TrainingExample | LeftOut]:
    """Question and schema to the tables that the gold query reads, in the schema's order.

    ``part`` is how the recipe shows schemas. Left out are questions whose gold query reads no table, and those whose
    cut schema would lack tables or columns of the gold query.
    """
    return made_on_databases(examples, partial(_Linker, part=part), processes)


class _Linker:
    """Makes the examples of one database."""

    def __init__(self, db: Database, part: SchemaPart) -> None:
        self._db, self._preparation, self._whole = db, Preparation(part), known_schema(db)

    def examples(self, example: Example) -> Iterator[TrainingExample | LeftOut]:
        needed = used(self._whole, [example.gold_sql])
        if not needed.tables:
            yield LeftOut(example.id, "unread")
        elif not shows((task := self._preparation.task(example.question, self._db)).known, needed):
            yield LeftOut(example.id, "cut")
        else:
            answer = link.written([table.name for table in needed.tables])
            meta = {"kind": "linker", **question_meta(example.id, example.db_id, example.question.text)}
            yield TrainingExample(tuple(link.conversation(task)), answer, meta)


def shows(schema: Schema, needed: Schema) -> bool:
    """Whether ``schema`` has all columns of ``needed``."""
    shown = {(table.name, column.name) for table in schema.tables for column in table.columns}
    return all((table.name, column.name) in shown for table in needed.tables for column in table.columns)


def question_meta(name: str, db_id: str, text: str) -> dict[str, Any]:
    """What the ``meta`` of an example says of its question."""
    return {"id": name, "db_id": db_id, "question": text}
