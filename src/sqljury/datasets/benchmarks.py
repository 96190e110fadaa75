"""Opens a benchmark from where it was unpacked: Spider's folder, BIRD's, CoSQL's or SParC's, or a user's own file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from sqljury.datasets import questions, spider
from sqljury.datasets.reading import Document, entries_of, field, json_of
from sqljury.datasets.spider import Example, database_file
from sqljury.errors import DatasetError, InputError
from sqljury.types import Privacy, Question

Kind = Literal["spider", "bird", "cosql", "jsonl", "project"]
"""``project`` is a context folder, whose examples ``project.folder`` reads."""

DESCRIPTIONS: Final = "database_description"
"""BIRD's folder of descriptions, in that of a database."""

_LEVELS: Final = ("simple", "moderate", "challenging")
_SPLITS: Final = ("dev", "train")
_DIALOGUES: Final = ("sql_state_tracking/cosql_{split}.json", "cosql_{split}.json", "{split}.json")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The questions of a benchmark, in its order, and where its databases are: ``folder`` in ``data``.

    ``digest`` is a hash of the files of questions, ``file`` a user's own. ``descriptions`` holds BIRD's folder of
    descriptions by database. ``privacy`` is the most of the databases' content that services may get.
    """

    kind: Kind
    split: str
    data: Path
    folder: str
    examples: tuple[Example, ...]
    digest: str
    descriptions: Mapping[str, Path]
    privacy: Privacy = "rows"
    file: Path | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What a run's settings say of it."""
        described: dict[str, Any] = {"name": self.kind, "data": str(self.data.resolve()), "folder": self.folder}
        described |= {} if self.file is None else {"file": str(self.file.resolve())}
        shared = {} if self.privacy == "rows" else {"privacy": self.privacy}
        return {**described, "split": self.split, "questions": self.digest, **shared}


def load(
    data: Path, kind: Kind | None = None, split: str = "dev", databases: Path | None = None, *, there: bool = True
) -> Benchmark:
    """The benchmark at ``data``, of a ``kind`` that is told by what is there unless it is given.

    A file needs the folder of its ``databases``, with ``<db_id>/<db_id>.sqlite``; unless they must be ``there``, the
    files of databases may be missing. Raises ``DatasetError`` for files that are missing or malformed, and
    ``InputError`` for what does not go together.
    """
    kind = kind or _told(data)
    if kind not in get_args(Kind) or kind == "project":
        raise InputError(f"there is no dataset {kind!r} to be read here; known are {', '.join(get_args(Kind))}")
    if kind == "jsonl" and databases is None:
        raise InputError(f"{data} is a file of questions: name the folder of its databases with --db-dir")
    if kind != "jsonl" and databases is not None:
        raise InputError(f"--db-dir names the databases of a file of questions, and {data} is {kind}; leave it out")
    if kind != "jsonl" and split not in _SPLITS:
        raise DatasetError(f"{data}: {kind} has no split {split!r} here; give one of {', '.join(_SPLITS)}")
    if kind == "jsonl":
        assert databases is not None
        return _own(data, databases, there)
    return {"spider": _spider, "bird": _bird, "cosql": _dialogues}[kind](data, split, there)


def has_split(data: Path, kind: Kind, split: str) -> bool:
    """Whether the folder of a dataset has the questions of a split; never that of a context folder."""
    names = {"cosql": _DIALOGUES, "project": ()}.get(kind, ("{split}.json",))
    return any((data / name.format(split=split)).is_file() for name in names)


def _told(data: Path) -> Kind:
    """The kind of what is at a path; raises ``DatasetError`` where that cannot be told."""
    if data.is_file():
        return "jsonl"
    if not data.is_dir():
        raise DatasetError(f"{data}: no such file or folder; give a dataset's folder, or a file of questions")
    if any((data / f"{split}_databases").is_dir() for split in _SPLITS):
        return "bird"
    if (data / "sql_state_tracking").is_dir() or any((data / f"cosql_{split}.json").is_file() for split in _SPLITS):
        return "cosql"
    if (data / "database").is_dir():
        return "spider"
    raise DatasetError(
        f"{data}: has neither database/ (Spider, CoSQL) nor dev_databases/ (BIRD); give the folder that the dataset "
        "was unpacked into, or a file of questions with --db-dir"
    )


def _spider(data: Path, split: str, there: bool) -> Benchmark:
    examples = spider.load(data, split, databases=there)
    return Benchmark("spider", split, data, "database", tuple(examples), _hash(spider.files(data, split)), {})


def _bird(data: Path, split: str, there: bool) -> Benchmark:
    """BIRD: ``dev.json`` and ``dev_databases``; the evidence and the levels are its own."""
    document, folder = Document.of(data / f"{split}.json"), data / f"{split}_databases"
    if there and not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder; unpack {split}_databases.zip there")
    examples = questions.load(document, folder, there=there)
    entries = entries_of(json_of(document.text, str(document)), str(document))
    levels = [entry.get("difficulty") if entry.get("difficulty") in _LEVELS else "" for entry in entries]
    leveled = tuple(replace(example, hardness=str(level)) for example, level in zip(examples, levels, strict=True))
    described = {example.db_id: folder / example.db_id / DESCRIPTIONS for example in examples}
    descriptions = {name: path for name, path in described.items() if path.is_dir()}
    return Benchmark("bird", split, data, folder.name, leveled, _hash([document]), descriptions)


def _own(file: Path, databases: Path, there: bool) -> Benchmark:
    if there and not databases.is_dir():
        raise DatasetError(f"{databases}: no such folder; give the one that holds <db_id>/<db_id>.sqlite")
    document, folder = Document.of(file), databases.resolve()
    examples, name = questions.load(document, databases, there=there), folder.name
    return Benchmark("jsonl", file.name, folder.parent, name, tuple(examples), _hash([document]), {}, file=file)


def _dialogues(data: Path, split: str, there: bool) -> Benchmark:
    """CoSQL, or SParC: each turn is a question that knows what was asked before it in its dialogue."""
    names = [data / name.format(split=split) for name in _DIALOGUES]
    file = next((name for name in names if name.is_file()), None)
    if file is None:
        raise DatasetError(f"{data}: there is no {' or '.join(file.name for file in names)}; unpack the dataset there")
    document = Document.of(file)
    examples: list[Example] = []
    for number, entry in enumerate(entries_of(json_of(document.text, str(document)), str(document))):
        location = f"{document}, entry {number}"
        db_id = field(entry, ("database_id", "db_id"), location)
        database = database_file(data / "database", db_id, location, there=there)
        asked: list[str] = []
        for at, turn in enumerate(entries_of(entry.get("interaction"), f"{location}, 'interaction'")):
            where, name = f"{location}, turn {at}", f"{split}-{number:04d}-{at}"
            text, sql = field(turn, ("utterance",), where), field(turn, ("query",), where)
            question = Question(in_dialogue(text, asked), id=name)
            examples.append(Example(name, question, sql.strip(), db_id, database, interaction=number))
            asked.append(text)
    if not examples:
        raise DatasetError(f"{document}: has no questions; use the original file")
    return Benchmark("cosql", split, data, "database", tuple(examples), _hash([document]), {})


def in_dialogue(text: str, before: Iterable[str]) -> str:
    """A question with what its user asked ``before`` it, on one line.

    What was answered is left out: gold answers are not known to a system that is tested.
    """
    earlier = " ".join(f"({number}) {_line(question)}" for number, question in enumerate(before, 1))
    return f"Asked before in this dialogue: {earlier} Asked now, about that: {_line(text)}" if earlier else _line(text)


def _line(text: str) -> str:
    return " ".join(text.split())


def _hash(files: Iterable[Path | Document]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(Document.of(file).raw).digest())
    return digest.hexdigest()[:16]
