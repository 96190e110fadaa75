"""OpenAI's chat completions: any client of that API asks a database, whose name stands for the model's."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from sqljury.context import Progress
from sqljury.types import Answer, Reading, serialize
from sqljury.web import bodies
from sqljury.web.asking import Asked, asked, reports
from sqljury.web.databases import UnknownDatabaseError
from sqljury.web.evidence import in_words, plain_rows
from sqljury.web.feedback import meant
from sqljury.web.problems import ProblemError, unknown_database
from sqljury.web.server import EventStream, Json, Server, TheClient, TheServer, in_json, json_only, unless_gone
from sqljury.web.tokens import Client

router = APIRouter(prefix="/v1", tags=["OpenAI"])

PREFIX: Final = "sqljury/"
ROWS: Final = 30
"""Rows of the table in the text; the extension field has all."""
CELL_CHARS: Final = 200


@router.get("/models", responses=bodies.problems(), summary="The databases as models")
async def models(server: TheServer, client: TheClient) -> Response:
    """In OpenAI's form."""
    names = server.databases.names(client)
    listed = [{"id": f"{PREFIX}{name}", "object": "model", "created": 0, "owned_by": "sqljury"} for name in names]
    return Json({"object": "list", "data": listed})


@router.post(
    "/chat/completions",
    dependencies=[Depends(json_only)],
    responses={
        **bodies.problems(404, 415, 429, 504, chat=True),
        200: {
            "description": "A completion in OpenAI's form; `sqljury` holds the answer with its evidence.",
            "content": {"text/event-stream": {}},
        },
    },
    summary="Ask by an OpenAI client",
)
async def completions(request: Request, body: bodies.Chat, server: TheServer, client: TheClient) -> Response:
    """The last message of the user is the question, which may point back to earlier ones; the system's is evidence."""
    try:
        job = await _asked(request, body, server, client)
        news: asyncio.Queue[Progress] = asyncio.Queue()
        task = job.start(news.put_nowait)
    except UnknownDatabaseError as error:
        return failure(unknown_database(str(error)), request.state.request_id)
    except Exception as error:
        return failure(server.problems.of(error, retry_after=server.jobs.retry_after), request.state.request_id)
    if body.stream:
        return EventStream(_chunks(job, task, news, body.model), task)
    began = time.monotonic()
    try:
        answer = await unless_gone(task, request.receive)
    except Exception as error:
        return failure(job.failed(error, time.monotonic() - began), job.id)
    message = {"role": "assistant", "content": in_markdown(answer, job.question)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    made = _envelope(job.id, body.model, "chat.completion", choice)
    return Json({**made, "usage": _usage(answer), "sqljury": job.answered(answer)})


def failure(problem: ProblemError, request_id: str) -> Response:
    """A problem in OpenAI's form."""
    return Json(_failure(problem, request_id), problem.status, dict(problem.headers))


def _failure(problem: ProblemError, request_id: str) -> dict[str, Any]:
    kind = "server_error" if problem.status >= 500 else "invalid_request_error"
    error = {"message": problem.detail, "type": kind, "param": None, "code": problem.code}
    return {"error": {**error, "request_id": request_id}}


async def _asked(request: Request, body: bodies.Chat, server: TheServer, client: TheClient) -> Asked:
    messages = [(message.role, _text(message.content)) for message in body.messages]
    questions = [text for role, text in messages if role == "user" and text.strip()]
    evidence = "\n".join(text for role, text in messages if role in ("system", "developer"))
    if not questions:
        raise ProblemError(400, "bad-question", "there is no message of the user; add one with the question")
    if len(questions[-1]) > bodies.QUESTION_CHARS or len(evidence) > bodies.EVIDENCE_CHARS:
        most = f"{bodies.QUESTION_CHARS:,} and {bodies.EVIDENCE_CHARS:,} characters"
        raise ProblemError(422, "question-too-long", f"a question and what the system says may have {most}")
    if not body.model.startswith(PREFIX):
        raise ProblemError(404, "unknown-database", f"models are called {PREFIX}DATABASE; GET /v1/models lists yours")
    name = server.databases.name(client, body.model.removeprefix(PREFIX))
    talk: list[str] = []
    chosen = None
    for text in questions:
        chosen = _choice(text, talk[-1].strip(), name, server, client) if talk else None
        if chosen is None:
            talk.append(text[: bodies.QUESTION_CHARS])
    if chosen is not None:
        await meant(server, client, *chosen)
    *earlier, question = talk
    return asked(request, server, client, name, question, evidence, earlier=earlier[-bodies.EARLIER :])


def _choice(reply: str, question: str, database: str, server: Server, client: Client) -> tuple[str, int] | None:
    """The answer to the question before and the index of its reading, if the reply is the number of one of them."""
    number = re.fullmatch(r"\W*([1-9])\W*", reply)
    if number is None:
        return None
    for entry in server.history.of(client.name, server.settings.history):
        readings = entry.get("readings", ())
        same = entry["database"] == database and question in (entry.get("question"), entry.get("asked"))
        if same and int(number[1]) <= len(readings):
            return entry["id"], int(number[1]) - 1
    return None


def _text(content: str | list[dict[str, Any]] | None) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return content or ""


async def _chunks(
    job: Asked, task: asyncio.Task[Answer], news: asyncio.Queue[Progress], model: str
) -> AsyncIterator[str]:
    began = time.monotonic()

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {in_json({**_envelope(job.id, model, 'chat.completion.chunk', choice), **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    async for progress in reports(task, news):
        yield f": {' '.join(progress.step.split()) if progress else 'still working'}\n\n"
    try:
        answer = await task
    except Exception as error:
        yield f"data: {in_json(_failure(job.failed(error, time.monotonic() - began), job.id))}\n\n"
        return
    for paragraph in in_markdown(answer, job.question).split("\n\n"):
        yield chunk({"content": f"{paragraph}\n\n"})
    yield chunk({}, "stop", usage=_usage(answer), sqljury=job.answered(answer))
    yield "data: [DONE]\n\n"


def _envelope(request_id: str, model: str, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    made = {"id": f"chatcmpl-{request_id}", "object": kind, "created": int(time.time()), "model": model}
    return {**made, "choices": [choice]}


def _usage(answer: Answer) -> dict[str, int]:
    read, written = answer.cost.prompt_tokens, answer.cost.completion_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def in_markdown(answer: Answer, asked: str) -> str:
    """The rows as a table, the query, and how sure the answer is; first what a reader must know before the rows.

    That is why the answer is not to be relied on, a follow-up as it was written out, and two readings.
    """
    shown = plain_rows(answer.rows[:ROWS])
    table = [_row(answer.columns), _row("---" for _ in answer.columns), *map(_row, shown)]
    ran = any(candidate.result.error is None for candidate in answer.candidates)
    empty = "No rows." if ran else "No query that was written could be run."
    parts = [*_before(answer, asked), "\n".join(table) if answer.rows else empty]
    if len(answer.rows) > ROWS or answer.truncated:
        parts.append(f"The first {len(shown):,} of {len(answer.rows):,}{'+' if answer.truncated else ''} rows.")
    sql = serialize.query(answer.sql, answer.dialect)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", sql)), default=0))
    parts += [f"{fence}sql\n{sql}\n{fence}", *map(_escaped, answer.remarks)]
    sure = "unknown" if answer.confidence is None else f"{in_words(answer.confidence)} ({answer.confidence:.0%})"
    parts.append(f"Confidence: {sure}.")
    return "\n\n".join(parts)


def _before(answer: Answer, asked: str) -> list[str]:
    """The lines before the rows."""
    lines = [] if answer.abstention is None else [f"**{_escaped(answer.abstention)}**"]
    if answer.question.text != asked:
        lines.append(f"Understood as: {_escaped(answer.question.text)}")
    if answer.readings:
        lines.append(f"{_escaped(answer.readings[0].words)} can be read in two ways, and the candidates are divided:")
        lines.append(
            "\n".join(
                _reading(number, reading, len(answer.candidates)) for number, reading in enumerate(answer.readings, 1)
            )
        )
        lines.append("Reply with its number to say which is meant; it is remembered for later questions.")
    return lines


def _reading(number: int, reading: Reading, candidates: int) -> str:
    """One of the readings with its votes and its result, if that is a single value; the first is the answer's."""
    (cells, *more) = plain_rows(reading.rows[:2]) or [[]]
    result = f"{len(reading.rows):,} rows" if more or len(cells) != 1 else _cell(cells[0])
    votes = f"{reading.votes} of {candidates}"
    return f"{number}. {_escaped(reading.meaning)} ({votes}): {result}{', as below' if number == 1 else ''}"


def _row(cells: Any) -> str:
    """A line of a table; what could end a cell, or begin markup, is escaped."""
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(cell: object) -> str:
    text = "NULL" if cell is None else str(cell)
    return text if text == "---" else _escaped(text, CELL_CHARS)


def _escaped(text: object, chars: int | None = None) -> str:
    """A text on one line that begins no markup, cut after so many characters."""
    whole = " ".join(str(text).split())[:chars]
    return "".join(f"\\{character}" if character in "\\|`*_[]<>!&" else character for character in whole)
