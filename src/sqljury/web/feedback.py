"""What people say of answers: thumbs, corrections, and which of two readings they meant."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from sqljury.errors import SqljuryError
from sqljury.project.feedback import Feedback, record
from sqljury.web import bodies
from sqljury.web.problems import ProblemError
from sqljury.web.server import Json, Server, TheClient, TheServer, json_only
from sqljury.web.tokens import Client

router = APIRouter(prefix="/v1", dependencies=[Depends(json_only)], tags=["questions"])

TIMES: Final = 20
"""How often one answer may be judged: each time is a line of a file."""


@router.post(
    "/feedback",
    response_model=bodies.FeedbackOut,
    responses=bodies.problems(404, 415),
    summary="Say whether an answer is right",
)
async def feedback(body: bodies.Feedback, server: TheServer, client: TheClient) -> Response:
    """Kept in the context folder, where `sqljury feedback` reads it, or else in memory; history shows it."""
    entry = server.history.find(client.name, body.id)
    if entry is None or entry["kind"] != "ask":
        raise ProblemError(404, "unknown-answer", "you have no answer of this id in the history of this server")
    if entry.get("judged", 0) >= TIMES:
        raise ProblemError(400, "bad-request", f"an answer may be judged {TIMES} times; ask the question again")
    entry["judged"] = entry.get("judged", 0) + 1
    keep = _thumb if body.reading is None else _reading
    try:
        kept = await asyncio.to_thread(keep, body, entry, server, client)
    except SqljuryError as error:
        raise server.problems.of(error, entry["database"]) from None
    return Json({"id": body.id, "kept": "folder" if kept else "server"})


def _thumb(body: bodies.Feedback, entry: dict[str, Any], server: Server, _: Client) -> bool:
    """Whether the folder has it now."""
    if body.good is None:
        raise ProblemError(422, "bad-value", "good: say whether the answer is right, or which reading was meant")
    said = {"good": body.good, "correction": body.correction.strip(), "comment": body.comment.strip()}
    served = server.databases.served[entry["database"]]
    if served.project is not None:
        record(served.project, Feedback(entry["question"], entry.get("sql", ""), served.known, **said))
    entry["feedback"] = {name: value for name, value in said.items() if value != ""}
    return served.project is not None


def _reading(body: bodies.Feedback, entry: dict[str, Any], server: Server, client: Client) -> bool:
    """Whether the folder has it now. Only what the server itself has read into the question becomes a note."""
    readings = entry.get("readings", ())
    if body.reading is None or body.reading >= len(readings):
        raise ProblemError(422, "bad-value", "reading: this answer has no such reading")
    words, meaning = readings[body.reading]
    kept = server.databases.learn(client, entry["database"], words, meaning)
    entry["meant"] = meaning
    return kept
