"""Training sets: a line of JSON an example, with the chat messages, the answer apart, and where it comes from.

Prompts are made by the same functions as at inference, so that what is trained is what will be asked. A set depends on
its sources, its kind and its seed alone: making it twice gives the same bytes.

Sets made of questions and gold queries alone: for the schema linker and for the generator (MSc-SQL, section 3).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, InputError
from sqljury.llm.base import Message, derive_seed
from sqljury.recipes.parts import SchemaPart
from sqljury.resources import write_whole
from sqljury.schema.introspect import introspect
from sqljury.sql.resolve import used
from sqljury.stages import link
from sqljury.stages.generate.direct import messages
from sqljury.stages.prepare import Preparation
from sqljury.train.leaks import Asked, Near, checked, near
from sqljury.types import Schema, Task
from sqljury.types.schema import only_tables

_BEGINS: Final = b'{"messages": '
GOLD: Final = "gold"
"""The ``hint`` in an item's meta where gold itself takes part, since no candidate was right."""
_STALE: Final = 86_400.0
"""Seconds after which an unfinished file that nobody wrote to is nobody's."""
Kind = Literal["linker", "generator", "critic", "pairwise"]


@dataclass(frozen=True, slots=True)
class Item:
    """One example: what the model is asked, and what it should reply.

    ``meta`` has the question's ``id``, ``db_id`` and text (``question``) at least.
    """

    messages: tuple[Message, ...]
    answer: str
    meta: Mapping[str, Any]

    def line(self) -> str:
        """As a line of JSON, its end included."""
        messages = [{"role": one.role, "content": one.content} for one in self.messages]
        return json.dumps({"messages": messages, "answer": self.answer, "meta": self.meta}, ensure_ascii=False) + "\n"

    def asked(self) -> str:
        """A hash of the messages."""
        text = json.dumps([[one.role, one.content] for one in self.messages])
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()

    @property
    def question(self) -> Asked:
        """The question that it is made of."""
        return Asked(self.meta["id"], self.meta["db_id"], self.meta["question"])


class LeftOut(NamedTuple):
    """A question that no example is made of, and by which count of the ``Report``."""

    id: str
    why: Literal["cut", "unread"]


@dataclass
class Report:
    """What a set holds and what was left out of it; ``near`` are questions like one of the evaluation.

    ``checked`` is as ``leaks.checked`` has it. Questions are left out where gold itself would have taken part
    (``of_gold``), where the schema is too long to be shown whole and the part that would be shown lacks what gold
    names (``cut``), and where gold reads no table or cannot be parsed (``unread``).
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
    sha256: str = ""
    checked: dict[str, int] | None = None
    near: list[Near] = field(default_factory=list)
    sources: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For the card beside the set."""
        listed = [one._asdict() for one in self.near]
        return {**vars(self), "near": {"count": len(listed), "questions": listed}}


def write(
    items: Iterable[Item | LeftOut],
    out: Path,
    kind: Kind,
    seed: int,
    evaluation: Sequence[Example] = (),
    sources: Mapping[str, Any] | None = None,
    *,
    gold: bool = True,
) -> Report:
    """Write a set to ``out``, and its card to the same name with ``.card.json``; both are whole or not there.

    What is asked a second time is left out, whether with the same answer (``repeated``) or another one
    (``contradicting``). Questions like one of ``evaluation`` are kept, and counted; without ``gold``, those whose right
    query is gold itself (``hint`` in their meta) are left out, and counted. Raises ``InputError`` for a set
    without examples, and for a file that cannot be written or holds something else than a set.
    """
    _refuse_foreign(out)
    _clear(out)
    report = Report(kind, seed, checked=checked(evaluation), sources=dict(sources or {}))
    questions: dict[Asked, None] = {}
    digest = hashlib.sha256()
    unfinished = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            made = _made(items, report)
            for item in _once(made if gold else _not_of_gold(made, report), report):
                stream.write(line := item.line())
                digest.update(line.encode(errors="backslashreplace"))
                questions[item.question] = None
                report.items += 1
        if not report.items:
            raise InputError(f"{out}: nothing to train a {kind} on was found; give more questions or another run")
        report.questions, report.databases = len(questions), len({one.db_id for one in questions})
        report.sha256 = digest.hexdigest()
        report.near = near(list(questions), evaluation)
        _write_card(report, out)
        unfinished.replace(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); name another file with --out") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return report


def _write_card(report: Report, out: Path) -> None:
    write_whole(out.with_name(f"{out.name}.card.json"), json.dumps(report.to_json(), indent=2) + "\n")


def _refuse_foreign(out: Path) -> None:
    """Raise ``InputError`` where there is a file that this module did not write; an empty one may be written to."""
    try:
        with out.open("rb") as stream:
            begins = stream.read(len(_BEGINS))
    except OSError:
        return  # nothing there, or what writing will say
    if begins not in (b"", _BEGINS):
        raise InputError(f"{out}: is there and no training set; name a new file with --out, or remove this one")


def _clear(out: Path) -> None:
    """Remove what programs that were killed left of this set and its card; younger files may be another's work."""
    named = re.compile(rf"{re.escape(out.name)}(\.card\.json)?\.\d+\.part")
    with contextlib.suppress(OSError):  # where nothing can be removed, nothing can be written either
        for file in out.parent.iterdir():
            if named.fullmatch(file.name) and time.time() - file.stat().st_mtime > _STALE:
                file.unlink(missing_ok=True)


def _made(items: Iterable[Item | LeftOut], report: Report) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Item):
            yield item
        elif item.why == "cut":
            report.cut += 1
        else:
            report.unread += 1


def _not_of_gold(items: Iterable[Item], report: Report) -> Iterator[Item]:
    left_out: set[Asked] = set()
    for item in items:
        if item.meta.get("hint") != GOLD:
            yield item
            continue
        left_out.add(item.question)
        report.of_gold = len(left_out)


def _once(items: Iterable[Item], report: Report) -> Iterator[Item]:
    known: dict[str, str] = {}
    for item in items:
        asked = item.asked()
        if asked not in known:
            known[asked] = item.answer
            yield item
        elif known[asked] == item.answer:
            report.repeated += 1
        else:
            report.contradicting += 1


EXTRA: Final = (0.5, 0.3, 0.2)
"""How likely 0, 1 and 2 tables too many are, by default."""


def linker(examples: Sequence[Example], part: SchemaPart) -> Iterator[Item | LeftOut]:
    """From question and schema to the tables that gold reads, in the schema's order.

    ``part`` is how the recipe shows schemas. Left out are questions whose gold query reads no table, and those that
    would be shown a part of a long schema without all that gold names.
    """

    def make(example: Example, task: Task, tables: list[str], _: Preparation, __: Database) -> Item:
        return Item(tuple(link.conversation(task)), link.written(tables), _meta(example, "linker"))

    return _data_gold_made(examples, part, make)


def generator(
    examples: Sequence[Example], part: SchemaPart, seed: int = 0, extra: Sequence[float] = EXTRA
) -> Iterator[Item | LeftOut]:
    """From question and schema to the gold query; the schema has gold's tables and some others (section 3.2).

    ``extra`` has the weights of 0, 1, 2, ... other tables, which are drawn for each question. Left out is what
    ``linker`` leaves out. Raises ``InputError`` for weights that are none.
    """
    if not extra or min(extra) < 0 or not 0 < sum(extra) < inf:
        raise InputError("the weights of further tables must be numbers from 0 up, not all 0; give such as 0.5 0.3 0.2")

    def make(example: Example, task: Task, tables: list[str], prepared: Preparation, db: Database) -> Item:
        drawn = random.Random(derive_seed(seed, "extra tables", example.id))  # noqa: S311
        others = [table.name for table in task.known.tables if table.name not in tables]
        [count] = drawn.choices(range(len(extra)), weights=extra)
        kept = {*tables, *drawn.sample(others, min(count, len(others)))}
        cut = prepared.narrowed(task, db, only_tables(task.known, kept))
        meta = {**_meta(example, "generator"), "extra_tables": len(kept) - len(tables)}
        return Item(tuple(messages(cut)), example.gold_sql.strip(), meta)

    return _data_gold_made(examples, part, make)


Make = Callable[[Example, Task, list[str], Preparation, Database], Item]


def _data_gold_made(examples: Sequence[Example], part: SchemaPart, make: Make) -> Iterator[Item | LeftOut]:
    """An item for each example whose gold query and database can be read and is shown its tables, in their order."""
    for file, own in groupby(examples, key=lambda one: one.database):
        try:
            db = connect(file)
        except DatabaseError:
            yield from (LeftOut(example.id, "unread") for example in own)
            continue
        preparation = Preparation(part)
        with db:
            whole = introspect(db)
            for example in own:
                needed = used(whole, [example.gold_sql])
                if not needed.tables:
                    yield LeftOut(example.id, "unread")
                    continue
                task = preparation.task(example.question, db)
                if _shows(task.known, needed):
                    yield make(example, task, [table.name for table in needed.tables], preparation, db)
                else:
                    yield LeftOut(example.id, "cut")


def _shows(schema: Schema, needed: Schema) -> bool:
    """Whether a part of a schema has all tables and columns of another part."""
    shown = {(table.name, column.name) for table in schema.tables for column in table.columns}
    return all((table.name, column.name) in shown for table in needed.tables for column in table.columns)


def _meta(example: Example, kind: str) -> dict[str, Any]:
    return {"kind": kind, "id": example.id, "db_id": example.db_id, "question": example.question.text}
