"""The folder of a run, read with distrust: it may be half written, edited, or somebody else's.

``run.json`` says what was run, ``answers.jsonl`` holds one JSON object a question, in the order they were answered,
and ``run.lock`` is held by the program that writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sqljury.errors import DatasetError
from sqljury.resources import locked_folder, write_whole

SETTINGS = "run.json"
ANSWERS = "answers.jsonl"

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
_COSTS = ("seconds", "prompt_tokens", "cached_tokens", "completion_tokens")
_HUGE = 1e15


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


def data_of(folder: Path) -> Path:
    """The folder of the dataset that a run was on; raises ``DatasetError`` where it is not said, or has gone."""
    named = described(folder)["dataset"].get("data")
    if not isinstance(named, str) or not named or not Path(named).is_dir():
        raise DatasetError(f"{folder}: the folder of its dataset is not there ({named}); name it with --data")
    return Path(named)


def records(folder: Path) -> list[Record]:
    """The answers of a run; a last line that was cut off in writing is left out.

    Raises ``DatasetError`` that names the line for one that holds no answer, or an answer for the second time.
    """
    file = folder / ANSWERS
    try:
        raw = file.read_bytes() if file.is_file() else b""
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from None
    found: list[Record] = []
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
        found.append(record)
    return found


@contextmanager
def claimed(folder: Path, wanted: Mapping[str, Any]) -> Iterator[tuple[IO[str], list[Record]]]:
    """The stream to append answers to, and those that are there, for a run with the settings ``wanted``.

    The folder is made, and locked until the end. Raises ``DatasetError`` for one that cannot be written, holds
    another run, or is written by another program.
    """
    with locked_folder(folder):
        _claim(folder, wanted)
        before = records(folder)
        with appending(folder / ANSWERS) as stream:
            yield stream, before


@contextmanager
def appending(file: Path) -> Iterator[IO[str]]:
    """A stream for further lines of JSON; a last line that was cut off in writing is taken away first."""
    _drop_unfinished(file)
    # a question may hold what UTF-8 has no bytes for; as an escape it is JSON all the same
    with file.open("a", encoding="utf-8", errors="backslashreplace") as stream:
        yield stream


def append_line(stream: IO[str], line: Mapping[str, Any]) -> None:
    """Write ``line`` as JSON, at once."""
    stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    stream.flush()


def _drop_unfinished(file: Path) -> None:
    """Cut off a last line without its end, so that the next answer begins a line of its own."""
    if not file.is_file():
        return
    raw = file.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole != len(raw):
        os.truncate(file, whole)


def _claim(folder: Path, wanted: Mapping[str, Any]) -> None:
    file = folder / SETTINGS
    text = json.dumps(wanted, indent=2) + "\n"
    if not file.exists() or _was_cut_off(folder, text):
        keep_settings(folder, text)
        return
    before, now = described(folder), json.loads(text)
    if changed := sorted(_differing(lasting(before), lasting(now))):
        raise DatasetError(
            f"{folder} holds a run with other settings ({', '.join(changed)} differ); give another folder with --out"
        )


def restate(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write down where the dataset is by now: analyses look for it where the settings say."""
    text = json.dumps(wanted, indent=2) + "\n"
    if described(folder) != json.loads(text):
        keep_settings(folder, text)


def keep_settings(folder: Path, text: str) -> None:
    """Write ``run.json`` whole; raises ``DatasetError`` that names it."""
    try:
        write_whole(folder / SETTINGS, text)
    except OSError as error:
        raise DatasetError(
            f"{folder / SETTINGS}: cannot be written ({error.strerror}); make room, or give another folder with --out"
        ) from None


def _was_cut_off(folder: Path, text: str) -> bool:
    """Whether the settings there are the beginning of ``text``, from a disk that was full before the first answer."""
    try:
        settings, answers = folder / SETTINGS, folder / ANSWERS
        raw = settings.read_bytes()
        return (
            len(raw) < len(text) and text.encode().startswith(raw) and not (answers.exists() and answers.stat().st_size)
        )
    except OSError:
        return False


def lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay the same from call to call: all but the place of the dataset's folder."""
    dataset = settings.get("dataset") or {}
    return {**settings, "dataset": {name: one for name, one in dataset.items() if name != "data"}}


def _differing(before: Mapping[str, Any], now: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """The names of what differs, those of inner settings behind a dot."""
    for key in {*before, *now}:
        one, other = before.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differing(one, other, f"{within}{key}.")
        elif one != other:
            yield f"{within}{key}"


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
    for candidate in record["candidates"]:
        fault = misshapen(candidate, _CANDIDATE_SHAPE)
        if fault or candidate["logprob"] != candidate["logprob"]:  # NaN has no rank
            return f"a candidate: {fault or 'logprob is no number'}"
        if fault := misshapen({"tokens": None, "part": 0, **candidate}, _CANDIDATE_MAY_HAVE):
            return f"a candidate: {fault}"
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
