"""What people say of answers: thumbs, corrections, and which of two readings they meant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
    entry = _entry(body.id, server, client)
    correction, comment = body.correction.strip(), body.comment.strip()
    served = server.databases.served[entry["database"]]

    def keep() -> bool:
        if served.project is None:
            return False
        sql = entry.get("sql", "")
        record(served.project, Feedback(entry["question"], sql, served.known, body.good, correction, comment))
        return True

    texts = {name: text for name, text in (("correction", correction), ("comment", comment)) if text}
    return await _kept(entry, server, keep, feedback={"good": body.good, **texts})


@router.post(
    "/reading",
    response_model=bodies.FeedbackOut,
    responses=bodies.problems(404, 415),
    summary="Say which reading you meant",
)
async def reading(body: bodies.Meant, server: TheServer, client: TheClient) -> Response:
    """Becomes a note on the database: in the glossary of the context folder, or else in memory."""
    return await meant(server, client, body.id, body.reading)


async def meant(server: Server, client: Client, answer: str, index: int) -> Response:
    """Note which reading of the client's own answer was meant; raises ``ProblemError`` for one that there is not."""
    entry = _entry(answer, server, client)
    readings = entry.get("readings", ())
    if index >= len(readings):
        raise ProblemError(404, "unknown-answer", "this answer has no such reading")
    words, meaning = readings[index]  # only what the server itself has read into the question

    def keep() -> bool:
        return server.databases.learn(client, entry["database"], words, meaning)

    return await _kept(entry, server, keep, meant=meaning)


def _entry(answer: str, server: Server, client: Client) -> dict[str, Any]:
    """The client's own answer in the history; raises ``ProblemError`` for none, and for one that was judged often."""
    entry = server.history.find(client.name, answer)
    if entry is None or entry["kind"] != "ask":
        raise ProblemError(404, "unknown-answer", "you have no answer of this id in the history of this server")
    if entry.get("judged", 0) >= TIMES:
        raise ProblemError(400, "bad-request", f"an answer may be judged {TIMES} times; ask the question again")
    entry["judged"] = entry.get("judged", 0) + 1
    return entry


async def _kept(entry: dict[str, Any], server: Server, keep: Callable[[], bool], **fields: Any) -> Response:
    """Keep it, which may take a thread some time, and note it in the history."""
    try:
        in_folder = await asyncio.to_thread(keep)
    except SqljuryError as error:
        raise server.problems.of(error, entry["database"]) from None
    entry.update(fields)
    return Json({"id": entry["id"], "kept": "folder" if in_folder else "server"})
