"""The routes that show what there is: databases, schemas, the client's history, the server's health and counters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from sqljury.parallel.jobs import Following
from sqljury.values.objects import Found
from sqljury.web import bodies
from sqljury.web.problems import ProblemError
from sqljury.web.server import Json, TheClient, TheServer

router = APIRouter()

VALUE_CHARS: Final = 500


@router.get(
    "/v1/databases",
    response_model=bodies.DatabasesOut,
    responses=bodies.problems(),
    summary="The databases that you may ask about",
    tags=["databases"],
)
async def databases(server: TheServer, client: TheClient) -> Response:
    """Their names and engines, and what a model service gets of each."""
    listed = []
    for name in server.databases.names(client):
        served = server.databases.served[name]
        engine = {"engine": served.engine, "dialect": served.database.dialect}
        listed.append({"name": name, **engine, "privacy": server.databases.shares(name)})
    return Json({"databases": listed})


@router.get(
    "/v1/schema",
    response_model=bodies.SchemaOut,
    responses=bodies.problems(404, 429, 504),
    summary="Tables, columns and keys of a database",
    tags=["databases"],
)
async def schema(
    request: Request, server: TheServer, client: TheClient, database: bodies.DatabaseName = ""
) -> Response:
    """As questions see them; read at most a minute ago."""
    name = server.databases.name(client, database)

    def work(following: Following) -> dict[str, Any]:
        return server.databases.describe(client, name, following.cancel).to_dict()

    described = await server.work(client, name, work, request.receive)
    return Json({**described, "name": name})


@router.get(
    "/v1/search",
    response_model=bodies.FoundOut,
    responses=bodies.problems(404, 429, 504),
    summary="Tables, columns and values that a text may mean",
    tags=["databases"],
)
async def search(
    request: Request,
    server: TheServer,
    client: TheClient,
    text: Annotated[str, Query(min_length=1, max_length=200, description="A word, or the beginning of a value.")],
    database: bodies.DatabaseName = "",
    limit: Annotated[int, Query(ge=1, le=50, description="The most of each kind.")] = 10,
) -> Response:
    """Best first; values of masked columns are never among them. The first search reads the values."""
    name = server.databases.name(client, database)

    def work(following: Following) -> list[Found]:
        session = server.databases.session(client, name)
        return session.following(following.progress, following.cancel).search(text, limit)

    matches = await server.work(client, name, work, request.receive)
    return Json({"found": [{**asdict(match), "value": match.value[:VALUE_CHARS]} for match in matches]})


@router.get(
    "/v1/history",
    response_model=bodies.HistoryOut,
    responses=bodies.problems(),
    summary="What you have asked",
    tags=["databases"],
)
async def history(server: TheServer, client: TheClient, limit: Annotated[int, Query(ge=1, le=1_000)] = 50) -> Response:
    """The latest first, without rows."""
    return Json({"entries": server.history.of(client.name, limit)})


@router.get(
    "/v1/history/{id}",
    response_model=bodies.AnswerOut,
    responses=bodies.problems(404),
    summary="An answer of yours as it was given",
    tags=["databases"],
)
async def earlier_answer(id: str, server: TheServer, client: TheClient) -> Response:
    """With its rows, for as long as the server keeps it: nothing is asked or run again."""
    answer = server.history.answer(client.name, id)
    if answer is None:
        raise ProblemError(404, "unknown-answer", "this server keeps no answer of yours of this id; ask again")
    return Json(answer)


@router.delete(
    "/v1/history",
    status_code=204,
    response_class=Response,
    responses=bodies.problems(),
    summary="Forget what you have asked",
    tags=["databases"],
)
async def forget(server: TheServer, client: TheClient) -> Response:
    """Of this client alone."""
    server.history.clear(client.name)
    return Response(status_code=204)


@router.head("/healthz", include_in_schema=False)  # many load balancers ask so
@router.get("/healthz", response_model=bodies.HealthOut, summary="Does the server run?", tags=["server"])
async def health() -> Response:
    """Needs no token."""
    return Json({"status": "ok"})


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=bodies.problems(),
    summary="Counters for Prometheus",
    tags=["server"],
)
async def metrics(server: TheServer, client: TheClient) -> Response:  # noqa: ARG001 - a token is needed
    """No label names a database, a client or a question."""
    text = server.metrics.text(running=server.jobs.running, waiting=server.jobs.turns.waiting)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")
