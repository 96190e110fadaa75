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
    judged = [{one.id: one for one in run.questions} for run in runs]
    faults = {id_: why for run in runs for id_, why in run.faults}
    ids = dict.fromkeys(id_ for own in records for id_ in _ordered(own))
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
    first = next(own[id_] for own in records if id_ in own)
    level = next((own[id_].hardness for own in judged if id_ in own), "")
    found = {
        "id": visible(id_),
        "db": visible(first["db_id"]),
        "level": level,
        "text": visible(first["question"]),
        "gold": serialize.query(cut(first["gold"])),
        "runs": [
            _answer(own[id_], mine[id_], cost) if id_ in own else None
            for own, mine, cost in zip(judged, records, costs, strict=True)
        ],
    }
    found |= {"evidence": visible(first["evidence"])} if first.get("evidence") else {}
    return found | ({"fault": visible(fault)} if fault else {})


def _answer(question: Asked, record: Record, costs: RunCost) -> dict[str, Any]:
    """What a run made of a question: its queries with verdicts, the candidates, the choice and the cost."""
    texts = dict.fromkeys((record["sql"], *(one.queries[-1] for one in question.candidates)))
    places = {sql: place for place, sql in enumerate(text for text in texts if text)}
    cost = costs.questions[question.id]
    found: dict[str, Any] = {
        "right": question.right(record["sql"]),
        "answer": places.get(record["sql"]),
        "queries": [_query(question, sql) for sql in places],
        "candidates": [
            _candidate(one, stored, places.get(one.queries[-1]))
            for one, stored in zip(question.candidates, record["candidates"], strict=True)
        ],
        "seconds": round(cost.seconds, 3),
        "tokens": cost.computed_tokens,
    }
    found |= {key: round(record[key], 4) for key in ("confidence", "agreement") if record.get(key) is not None}
    found |= {"error": visible(record["error"])} if record["error"] else {}
    found |= {"usd": round(cost.usd, 6)} if cost.usd else {}
    found |= {"linked": [visible(str(name)) for name in record["linked"]]} if record.get("linked") else {}
    return found | ({"choice": _choice(record["choice"])} if isinstance(record.get("choice"), dict) else {})


def _query(question: Asked, sql: str) -> dict[str, Any]:
    tried = question.tried(sql)
    found: dict[str, Any] = {"sql": serialize.query(cut(sql)), "right": tried.right}
    if tried.error is not None:
        return found | {"error": visible(tried.error)}
    return found | ({"deviation": tried.deviation} if tried.deviation else {})


def _candidate(one: Any, stored: Record, place: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"query": place, "part": one.part + 1, "by": visible(one.generator)}
    found |= {"group": one.group} if one.group is not None else {}
    found |= {"logprob": round(one.logprob, 2)} if one.logprob is not None else {}
    fixes = [
        {
            "by": visible(fix["by"]),
            "reason": visible(str(fix.get("reason", ""))),
            "before": serialize.query(cut(fix["before"])),
        }
        for fix in stored["fixes"]
    ]
    return found | ({"fixes": fixes} if fixes else {})


def _choice(choice: Record) -> dict[str, Any]:
    """How a run chose: scores by group, comparisons, and its tests."""
    found: dict[str, Any] = {"selector": visible(str(choice.get("selector", "")))}
    if note := choice.get("note"):
        found["note"] = visible(str(note))
    for name in ("scores", "comparisons", "tests"):
        if isinstance(listed := choice.get(name), list) and listed:
            found[name] = [_small(one) for one in listed[:_MOST_TESTS]]
    return found


def _small(value: Any) -> Any:
    """A stored value with its texts made visible, and long lists cut."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {visible(str(key)): _small(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_small(one) for one in value[:_MOST_ROWS]]
    return value


def visible(text: str, *, lines: bool = False) -> str:
    """The text without characters that cannot be seen or turn what follows; line ends stay where ``lines`` are."""
    return "".join(c if c.isprintable() or (lines and c == "\n") else " " for c in cut(text))


def cut(text: str) -> str:
    """The text, or its beginning where it is very long."""
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."
