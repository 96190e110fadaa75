"""The folder of a run, read with distrust: it may be half written, edited, or somebody else's.

``run.json`` says what was run, ``answers.jsonl`` holds one JSON object a question, in the order they were answered,
``calls.jsonl`` one a call of a model, and ``run.lock`` is held by the program that writes. A run that was put aside is
in ``before-1``, ``before-2``, ..., each a run by itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from sqljury.errors import DatasetError
from sqljury.resources import locked_folder, must_write, write_whole

SETTINGS = "run.json"
ANSWERS = "answers.jsonl"
CALLS = "calls.jsonl"
BEFORE = "before-"
IN_FLIGHT = "in_flight"
"""The setting for how many questions a machine had in flight at once, where that cannot change an answer."""
_FILES: Final = (ANSWERS, CALLS, "verdicts.jsonl", "choices-*.jsonl", SETTINGS)
"""The files of a run and of its analyses, as patterns."""

Record = dict[str, Any]

_SETTINGS_SHAPE: dict[str, type | tuple[type, ...]] = {"dataset": dict, "recipe": dict, "model": str, "seed": int}
_RECORD_SHAPE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "db_id", "question", "gold", "sql"), str),
    "error": (str, type(None)),
    "candidates": list,
    "cost": dict,
}
_CANDIDATE_SHAPE: dict[str, type | tuple[type, ...]] = {
    "sql": str,
    "logprob": (int, float, type(None)),
    "fixes": list,
}
_CANDIDATE_MAY_HAVE: dict[str, type | tuple[type, ...]] = {"tokens": (int, type(None)), "part": int}
_FIX_SHAPE: dict[str, type | tuple[type, ...]] = {"before": str, "by": str}
_LEAST_WEIGHT: Final = 1e-4
_COSTS = ("seconds", "prompt_tokens", "cached_tokens", "completion_tokens")
_HUGE = 1e15
_PLACES: Final = ("data", "folder", "file")
_ABSENT: Final = object()
_SHOWN: Final = 8
_LONG: Final = 60


def described(folder: Path) -> Record:
    """The settings of a run; raises ``DatasetError`` where there are none, or they are not what a bench writes."""
    try:
        loaded = json.loads((folder / SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(
            f"{folder} is no run: it has no readable {SETTINGS}; give a folder of `sqljury bench`"
        ) from error
    fault = misshapen(loaded, _SETTINGS_SHAPE) or misshapen(loaded["recipe"], {"name": str})
    if fault:
        raise DatasetError(f"{folder / SETTINGS}: {fault}; give a folder of `sqljury bench`")
    return dict(loaded)


def data_of(folder: Path, *, there: bool = True) -> Path:
    """The folder of the dataset that a run was on.

    Raises ``DatasetError`` where it is not said, and where it has gone unless it need not be ``there``.
    """
    named = described(folder)["dataset"].get("data")
    if not isinstance(named, str) or not named or not _is_path(named) or (there and not Path(named).is_dir()):
        raise DatasetError(f"{folder}: the folder of its dataset is not there ({named}); {moved(folder)}")
    return Path(named)


def _is_path(text: str) -> bool:
    """Whether a file can have this path at all."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def moved(folder: Path) -> str:
    """What to do for a run whose dataset is at another place by now."""
    within = described(folder)["dataset"].get("folder")
    what = f"the folder that holds {within}/" if isinstance(within, str) and within != "." else "its folder"
    return f"if the dataset has moved, name {what} with --data"


def records(folder: Path) -> list[Record]:
    """The answers of a run; a last line that was cut off in writing is left out.

    Raises ``DatasetError`` that names the line for one that holds no answer, or an answer for the second time.
    """
    file = folder / ANSWERS
    try:
        raw = file.read_bytes() if file.is_file() else b""
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from None
    answers: list[Record] = []
    known: set[str] = set()
    for number, line in enumerate(raw[: raw.rfind(b"\n") + 1].splitlines(), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise DatasetError(f"{file}, line {number}: not a JSON object; delete that line to go on") from None
        fault = _fault(record) or (f"{record['id']!r} was answered before" if record["id"] in known else None)
        if fault:
            raise DatasetError(f"{file}, line {number}: {fault}; delete that line to go on")
        known.add(record["id"])
        answers.append(record)
    return answers


def forms_of(candidate: Record) -> tuple[str, ...]:
    """The query of a stored candidate as it was written, and as each repair left it; as ``Candidate.forms``."""
    return (*(fix["before"] for fix in candidate["fixes"]), candidate["sql"])


@contextmanager
def claimed(folder: Path, wanted: Mapping[str, Any]) -> Iterator[tuple[IO[str], list[Record]]]:
    """The stream to append answers to, and those that are there, for a run with the settings ``wanted``.

    The folder is made, and locked until the end. Raises ``DatasetError`` for one that cannot be written, holds
    another run, or is written by another program.
    """
    with locked_folder(folder):
        claim(folder, wanted)
        before = records(folder)
        with appending(folder / ANSWERS) as stream:
            yield stream, before


@contextmanager
def appending(file: Path) -> Iterator[IO[str]]:
    """A stream for further lines of JSON; a last line that was cut off in writing is taken away first."""
    _drop_unfinished(file)
    # a question may hold what UTF-8 has no bytes for; as an escape it is JSON all the same
    with file.open("a", encoding="utf-8", errors="backslashreplace") as stream:
        _sync_folder(file.parent)
        yield stream


def append_line(stream: IO[str], line: Mapping[str, Any], *, durable: bool = True) -> None:
    """Write ``line`` as JSON, at once: it outlasts this process, and where it is ``durable`` a power cut too."""
    stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    stream.flush()
    if durable:
        with suppress(OSError):  # a pipe has nothing to sync
            os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a new file's entry in its folder outlast a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _drop_unfinished(file: Path) -> None:
    """Cut off a last line without its end, so that the next answer begins a line of its own."""
    if not file.is_file():
        return
    raw = file.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole != len(raw):
        os.truncate(file, whole)


def claim(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write down the settings of the work in a locked folder; raises ``DatasetError`` where it holds other work."""
    text = json.dumps(wanted, indent=2) + "\n"
    if _has_answers(folder) and not _is_described(folder):
        raise DatasetError(
            f"{folder} has answers and no readable {SETTINGS}, so what made them is not known; put them aside with "
            "--force-new (of bench run), or give another folder with --out"
        )
    if not (folder / SETTINGS).exists() or _was_cut_off(folder, text):
        keep_settings(folder, text)
        return
    changed = dict(sorted(_differing(lasting(described(folder)), lasting(json.loads(text)))))
    if changed:
        shown = [f"{name} was {_said(was)}, is {_said(now)}" for name, (was, now) in changed.items()]
        more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        raise DatasetError(
            f"{folder} holds a run with other settings ({', '.join(changed)} differ): {'; '.join(shown[:_SHOWN])}{more}"
            ". Give another folder, or move that run away (bench run does so with --force-new)"
        )


def _has_answers(folder: Path) -> bool:
    answers = folder / ANSWERS
    return answers.exists() and answers.stat().st_size > 0


def _is_described(folder: Path) -> bool:
    try:
        described(folder)
    except DatasetError:
        return False
    return True


def _said(value: Any) -> str:
    """A setting's value for a message; long ones are cut."""
    if value is _ABSENT:
        return "not recorded"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def put_aside(folder: Path) -> Path | None:
    """Move the run that ``folder`` holds to ``before-N`` in it, and return that folder; None where there is no run.

    Files that are not of a run stay. Raises ``DatasetError`` for a run that another program is writing.
    """
    if not any((folder / name).exists() for name in (SETTINGS, ANSWERS)):
        return None
    with locked_folder(folder):
        numbers = (int(run.name.removeprefix(BEFORE)) for run in folder.glob(f"{BEFORE}*") if _is_aside(run))
        aside = folder / f"{BEFORE}{max(numbers, default=0) + 1}"
        aside.mkdir()
        # the settings go last: until then the run is where it was, and continuing it is refused
        for pattern in _FILES:
            for file in list(folder.glob(pattern)):
                file.rename(aside / file.name)
        return aside


def _is_aside(folder: Path) -> bool:
    return folder.name.startswith(BEFORE) and folder.name.removeprefix(BEFORE).isdecimal()


def restate(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write down where the dataset is by now: analyses look for it where the settings say."""
    text = json.dumps(wanted, indent=2) + "\n"
    if described(folder) != json.loads(text):
        keep_settings(folder, text)


def keep_settings(folder: Path, text: str) -> None:
    """Write ``run.json`` whole; raises ``DatasetError`` that names it."""
    with must_write(folder / SETTINGS, DatasetError, "make room, or give another folder with --out"):
        write_whole(folder / SETTINGS, text)


def _was_cut_off(folder: Path, text: str) -> bool:
    """Whether the settings there are the beginning of ``text``, from a disk that was full before the first answer."""
    try:
        raw = (folder / SETTINGS).read_bytes()
        return len(raw) < len(text) and text.encode().startswith(raw) and not _has_answers(folder)
    except OSError:
        return False


def lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay the same from call to call: all but where the dataset's files are, and what changes no answer."""
    dataset = settings.get("dataset") or {}
    kept = {name: value for name, value in settings.items() if name != IN_FLIGHT}
    return {**kept, "dataset": {name: value for name, value in dataset.items() if name not in _PLACES}}


def _differing(
    before: Mapping[str, Any], now: Mapping[str, Any], within: str = ""
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """The names of what differs, those of inner settings behind a dot, each with both values.

    A setting that is not there is as one that is null.
    """
    for key in {*before, *now}:
        old, new = before.get(key, _ABSENT), now.get(key, _ABSENT)
        if _is_nested(old) and _is_nested(new):
            yield from _differing(_named(old), _named(new), f"{within}{key}.")
        elif old != new and {old is None or old is _ABSENT, new is None or new is _ABSENT} != {True}:
            yield f"{within}{key}", (old, new)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(item, dict) for item in value))


def _named(value: Any) -> dict[str, Any]:
    """Settings by name; those of a list by number, from 1."""
    return value if isinstance(value, dict) else {str(number): item for number, item in enumerate(value, 1)}


def _fault(record: Any) -> str | None:
    """What is wrong with an answer, None when nothing is."""
    if fault := misshapen(record, _RECORD_SHAPE):
        return fault
    name = record["db_id"]
    # A name, not a path: a line does not choose which file is opened.
    if not name or Path(name).name != name or name == ".." or "\0" in name:
        return f"db_id {name!r} is no name of a database"
    for key in _COSTS:
        if not is_figure(record["cost"].get(key)):
            return f"cost.{key} is no sensible number"
    for key in ("evidence", "hardness", "source_gold"):
        if not isinstance(record.get(key, ""), str):
            return f"{key} is of the wrong kind"
    for key in ("number", "interaction"):
        if type(record.get(key, 0)) is not int:
            return f"{key} is of the wrong kind"
    for key in ("confidence", "agreement"):
        if not (record.get(key) is None or (is_figure(record[key]) and record[key] <= 1)):
            return f"{key} is no share"
    for candidate in record["candidates"]:
        fault = misshapen(candidate, _CANDIDATE_SHAPE)
        if fault or candidate["logprob"] != candidate["logprob"]:  # NaN has no rank
            return f"a candidate: {fault or 'logprob is no number'}"
        if fault := misshapen({"tokens": None, "part": 0, **candidate}, _CANDIDATE_MAY_HAVE):
            return f"a candidate: {fault}"
        weight = candidate.get("weight", 1.0)
        if not is_figure(weight) or not _LEAST_WEIGHT <= weight <= 1:
            return "a candidate: weight is not a share of a vote"
        if type(candidate.get("opinion", False)) is not bool:
            return "a candidate: opinion is neither true nor false"
        for fix in candidate["fixes"]:
            if fault := misshapen(fix, _FIX_SHAPE):
                return f"a fix: {fault}"
    return None


def is_figure(value: Any) -> bool:
    """A number that something can have cost."""
    return type(value) in (int, float) and 0 <= value < _HUGE


def misshapen(value: Any, shape: Mapping[str, type | tuple[type, ...]]) -> str | None:
    """What is wrong with a value read from JSON that should have keys of these types, None when nothing is."""
    if not isinstance(value, dict):
        return "not a JSON object"
    for key, kind in shape.items():
        if key not in value:
            return f"{key} is missing"
        if not isinstance(value[key], kind):
            return f"{key} is of the wrong kind"
    return None
