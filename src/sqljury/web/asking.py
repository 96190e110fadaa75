"""The routes that work: ask, check, and a query of the client's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from sqljury.context import Progress
from sqljury.errors import (
    CancelledError,
    DatabaseError,
    DatabaseLockedError,
    NoAnswerError,
    QueryError,
    QueryLimitError,
    QueryRefusedError,
    SqljuryError,
)
from sqljury.parallel.jobs import Following, Report
from sqljury.types import Answer, FailureKind, Result
from sqljury.web import bodies, downloads
from sqljury.web.evidence import answer_json, candidate_json, chart_json, result_json
from sqljury.web.problems import ProblemError
from sqljury.web.server import (
    KEEP_ALIVE_SECONDS,
    EventStream,
    Json,
    Server,
    TheClient,
    TheServer,
    event,
    json_only,
    unless_gone,
)
from sqljury.web.tokens import Client

router = APIRouter(prefix="/v1", dependencies=[Depends(json_only)], tags=["questions"])

_FAILURES: Final[dict[FailureKind, type[SqljuryError]]] = {
    "refused": QueryRefusedError,
    "limit": QueryLimitError,
    "locked": DatabaseLockedError,
    "database": DatabaseError,
    "cancelled": CancelledError,
}


@dataclass(frozen=True)
class Asked:
    """One question of a client, from the request to its answer, its history and its count."""

    server: Server
    client: Client
    database: str
    question: str
    evidence: str = ""
    verify: bool = False
    id: str = ""
    earlier: tuple[str, ...] = ()

    def start(self, report: Report | None = None) -> asyncio.Task[Answer]:
        """Enter the queue; raises ``BusyError`` where it is full."""

        def work(following: Following) -> Answer:
            session = self.server.databases.session(self.client, self.database)
            followed = session.following(following.progress, following.cancel)
            return followed.ask(self.question, evidence=self.evidence, verify=self.verify, earlier=self.earlier)

        return self.server.jobs.start(self.client.name, work, report)

    def answered(self, answer: Answer) -> dict[str, Any]:
        """The answer for the client, noted and counted."""
        made = answer_json(answer, self.database, self.server.settings.rows, self.server.problems.clean)
        self.server.metrics.asked("answered", answer.cost.seconds, answer.cost)
        question = answer.question.text
        readings = [(reading.words, reading.meaning) for reading in answer.readings]
        outcome = {"sql": answer.sql, "confidence": made["confidence"], "rows": made["row_count"]}
        if answer.abstention is not None:
            outcome["abstained"] = answer.abstention.kind
        asked = self.question if question != self.question else ""
        given = {"id": self.id, **made, "asked": asked}
        self._note(
            question=question,
            **outcome,
            **({"readings": readings} if readings else {}),
            **({"asked": asked} if asked else {}),
        )
        self.server.history.keep(self.client.name, self.id, given)
        return given

    def failed(self, error: BaseException, seconds: float) -> ProblemError:
        """The problem for the client, noted and counted; one without an answer shows what was tried."""
        problem = self.server.problems.of(error, self.database, self.server.jobs.retry_after)
        cost = None
        if isinstance(error, NoAnswerError):
            clean, cost = self.server.problems.clean, error.cost
            problem.more = {"candidates": [candidate_json(candidate, clean) for candidate in error.candidates]}
        self.server.metrics.asked(problem.code, seconds, cost)
        self._note(question=self.question, problem=problem.code)
        return problem

    def _note(self, **outcome: Any) -> None:
        self.server.history.add(self.client.name, id=self.id, kind="ask", database=self.database, **outcome)


def asked(
    request: Request,
    server: Server,
    client: Client,
    database: str,
    question: str,
    evidence: str = "",
    *,
    verify: bool = False,
    earlier: Sequence[str] = (),
) -> Asked:
    """A question of a request; raises ``UnknownDatabaseError``."""
    name = server.databases.name(client, database)
    return Asked(server, client, name, question, evidence, verify, request.state.request_id, tuple(earlier))


@router.post(
    "/ask",
    response_model=bodies.AnswerOut,
    responses={
        **bodies.problems(404, 415, 429, 504),
        200: {
            "description": "The answer. With `stream`, or `Accept: text/event-stream`, events: `queued`, `stage`, "
            "`candidate`, and at last `answer` or `problem`.",
            "content": {"text/event-stream": {}},
        },
    },
    summary="Answer a question",
)
async def ask(request: Request, body: bodies.Ask, server: TheServer, client: TheClient) -> Response:
    """Write several queries, run and compare them, and answer with the best and the evidence for it."""
    given = (body.database, body.question, body.evidence)
    job = asked(request, server, client, *given, verify=body.verify, earlier=body.earlier)
    if body.stream or "text/event-stream" in request.headers.get("accept", ""):
        return _streamed(job)
    began = time.monotonic()
    try:
        return Json(job.answered(await unless_gone(job.start(), request.receive)))
    except Exception as error:
        raise job.failed(error, time.monotonic() - began) from None


def _streamed(job: Asked) -> EventStream:
    """The answer as events; a full queue is said by the status, before the first of them."""
    news: asyncio.Queue[Progress] = asyncio.Queue()
    began = time.monotonic()
    try:
        task = job.start(news.put_nowait)
    except Exception as error:
        raise job.failed(error, 0.0) from None
    return EventStream(_events(job, task, news, began), task)


async def _events(
    job: Asked, task: asyncio.Task[Answer], news: asyncio.Queue[Progress], began: float
) -> AsyncIterator[str]:
    yield event("queued", {"id": job.id, "waiting": job.server.jobs.turns.waiting})
    async for progress in reports(task, news):
        if progress is None:
            yield ": still working\n\n"
            continue
        for candidate in progress.candidates:
            yield event("candidate", candidate_json(candidate, job.server.problems.clean))
        if not progress.candidates:
            stage = {"step": progress.step, "done": progress.done, "total": progress.total}
            yield event("stage", {**stage, "seconds": round(time.monotonic() - began, 2)})
    try:
        yield event("answer", job.answered(await task))
    except Exception as error:
        yield event("problem", job.failed(error, time.monotonic() - began).to_dict(job.id))


async def reports(task: asyncio.Task[Answer], news: asyncio.Queue[Progress]) -> AsyncIterator[Progress | None]:
    """What is reported until the task ends; None where nothing was for ``KEEP_ALIVE_SECONDS``."""
    while not task.done() or not news.empty():
        getting = asyncio.ensure_future(news.get())
        try:
            await asyncio.wait({task, getting}, timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                yield getting.result()
            elif not task.done():
                yield None
        finally:
            getting.cancel()


@router.post(
    "/check",
    response_model=bodies.CheckedOut,
    responses=bodies.problems(404, 415, 429, 504),
    summary="Is this query right?",
)
async def check(request: Request, body: bodies.Check, server: TheServer, client: TheClient) -> Response:
    """Compare a query with those written for the question, by tests on small databases."""
    name = server.databases.name(client, body.database)

    def work(following: Following) -> dict[str, Any]:
        session = server.databases.session(client, name).following(following.progress, following.cancel)
        return session.check(body.question, body.sql, evidence=body.evidence).to_dict()

    checked = await server.work(client, name, work, request.receive)
    for result in filter(None, (checked["result"], checked["correction"])):
        cut = len(result["rows"]) > server.settings.rows
        result["rows"], result["truncated"] = result["rows"][: server.settings.rows], result["truncated"] or cut
        result["error"] = result["error"] and server.problems.clean(result["error"])
    checked["why"] = server.problems.clean(checked["why"])
    noted = {"question": body.question, "sql": body.sql, "verdict": checked["verdict"]}
    server.history.add(client.name, id=request.state.request_id, kind="check", database=name, **noted)
    return Json({"id": request.state.request_id, "database": name, **checked})


@router.post(
    "/query",
    response_model=bodies.ResultOut,
    responses={
        **bodies.problems(404, 415, 429, 504),
        200: {
            "description": "The rows; with `Accept: text/csv` all of them as CSV, defused for spreadsheets, and with "
            f"`Accept: {downloads.PARQUET}` as Parquet.",
            "content": {kind: {"schema": {"type": "string"}} for kind in downloads.FORMS},
        },
    },
    summary="Run a query of your own, read-only",
)
async def query(request: Request, body: bodies.Query, server: TheServer, client: TheClient) -> Response:
    """Run a query behind the same walls and access rules as the written ones."""
    name = server.databases.name(client, body.database)

    def work(following: Following) -> Result:
        session = server.databases.session(client, name)
        return session.following(following.progress, following.cancel).query(body.sql)

    result = await server.work(client, name, work, request.receive)
    if result.error is not None:
        raise server.problems.of(_FAILURES.get(result.error.kind, QueryError)(str(result.error)), name)
    accepted = request.headers.get("accept", "")
    form = next((form for kind, form in downloads.FORMS.items() if kind in accepted), None)
    if form is not None:
        return await asyncio.to_thread(form, result, name)  # a file of what has been asked already: no new entry
    server.history.add(
        client.name, id=request.state.request_id, kind="query", database=name, sql=body.sql, rows=len(result.rows)
    )
    rows = server.settings.rows
    shown = {**result_json(result, rows), "chart": chart_json(result, rows)}
    about = {"id": request.state.request_id, "database": name, "seconds": round(result.seconds, 3)}
    return await asyncio.to_thread(Json, {**about, **shown})  # cells may be megabytes
