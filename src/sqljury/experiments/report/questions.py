"""Every question of a report with what each run made of it, as small as JSON can have it.

A query stands once in its question, however many candidates wrote it, and candidates name it by its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqljury.bench.costs import RunCost
from sqljury.bench.stored import Asked, StoredRun
from sqljury.evaluation.run_folder import Record
from sqljury.types import serialize

_MOST_TESTS = 12
_MOST_ROWS = 8
_MOST_TEXT = 4000


def questions(
    runs: Sequence[StoredRun], records: Sequence[Mapping[str, Record]], costs: Sequence[RunCost]
) -> list[dict[str, Any]]:
    """All questions of all runs, in the order of the first that has them."""
    judged = [{question.id: question for question in run.questions} for run in runs]
    faults = {id_: why for run in runs for id_, why in run.faults}
    ids = dict.fromkeys(id_ for answers in records for id_ in _ordered(answers))
    return [_question(id_, judged, records, costs, faults.get(id_, "")) for id_ in ids]


def _ordered(records: Mapping[str, Record]) -> list[str]:
    return sorted(records, key=lambda id_: int(records[id_].get("number", 0)))


def _question(
    id_: str,
    judged: Sequence[Mapping[str, Asked]],
    records: Sequence[Mapping[str, Record]],
    costs: Sequence[RunCost],
    fault: str,
) -> dict[str, Any]:
    first = next(answers[id_] for answers in records if id_ in answers)
    level = next((asked[id_].hardness for asked in judged if id_ in asked), "")
    entry = {
        "id": visible(id_),
        "db": visible(first["db_id"]),
        "level": level,
        "text": visible(first["question"]),
        "gold": serialize.query(cut(first["gold"])),
        "runs": [
            _answer(asked[id_], answers[id_], cost) if id_ in asked else None
            for asked, answers, cost in zip(judged, records, costs, strict=True)
        ],
    }
    entry |= {"evidence": visible(first["evidence"])} if first.get("evidence") else {}
    return entry | ({"fault": visible(fault)} if fault else {})


def _answer(question: Asked, record: Record, costs: RunCost) -> dict[str, Any]:
    """What a run made of a question: its queries with verdicts, the candidates, the choice and the cost."""
    texts = dict.fromkeys((record["sql"], *(candidate.queries[-1] for candidate in question.candidates)))
    numbers = {sql: number for number, sql in enumerate(text for text in texts if text)}
    cost = costs.questions[question.id]
    entry: dict[str, Any] = {
        "right": question.right(record["sql"]),
        "answer": numbers.get(record["sql"]),
        "queries": [_query(question, sql) for sql in numbers],
        "candidates": [
            _candidate(candidate, stored, numbers.get(candidate.queries[-1]))
            for candidate, stored in zip(question.candidates, record["candidates"], strict=True)
        ],
        "seconds": round(cost.seconds, 3),
        "tokens": cost.computed_tokens,
    }
    entry |= {key: round(record[key], 4) for key in ("confidence", "agreement") if record.get(key) is not None}
    entry |= {"error": visible(record["error"])} if record["error"] else {}
    entry |= {"usd": round(cost.usd, 6)} if cost.usd else {}
    entry |= {"linked": [visible(str(name)) for name in record["linked"]]} if record.get("linked") else {}
    return entry | ({"choice": _choice(record["choice"])} if isinstance(record.get("choice"), dict) else {})


def _query(question: Asked, sql: str) -> dict[str, Any]:
    tried = question.tried(sql)
    entry: dict[str, Any] = {"sql": serialize.query(cut(sql)), "right": tried.right}
    if tried.error is not None:
        return entry | {"error": visible(tried.error)}
    return entry | ({"deviation": tried.deviation} if tried.deviation else {})


def _candidate(candidate: Any, stored: Record, number: int | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"query": number, "part": candidate.part + 1, "by": visible(candidate.generator)}
    entry |= {"group": candidate.group} if candidate.group is not None else {}
    entry |= {"logprob": round(candidate.logprob, 2)} if candidate.logprob is not None else {}
    fixes = [
        {
            "by": visible(fix["by"]),
            "reason": visible(str(fix.get("reason", ""))),
            "before": serialize.query(cut(fix["before"])),
        }
        for fix in stored["fixes"]
    ]
    return entry | ({"fixes": fixes} if fixes else {})


def _choice(choice: Record) -> dict[str, Any]:
    """How a run chose: scores by group, comparisons, and its tests."""
    entry: dict[str, Any] = {"selector": visible(str(choice.get("selector", "")))}
    if note := choice.get("note"):
        entry["note"] = visible(str(note))
    for name in ("scores", "comparisons", "tests"):
        if isinstance(listed := choice.get(name), list) and listed:
            entry[name] = [_small(item) for item in listed[:_MOST_TESTS]]
    return entry


def _small(value: Any) -> Any:
    """A stored value with its texts made visible, and long lists cut."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {visible(str(key)): _small(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_small(item) for item in value[:_MOST_ROWS]]
    return value


def visible(text: str, *, lines: bool = False) -> str:
    """The text without characters that cannot be seen or turn what follows; line ends stay where ``lines`` are."""
    return "".join(c if c.isprintable() or (lines and c == "\n") else " " for c in cut(text))


def cut(text: str) -> str:
    """The text, or its beginning where it is very long."""
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."
