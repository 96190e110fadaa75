"""Puts a server together: routes, errors, walls, and what happens when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sqljury.parallel.jobs import Jobs
from sqljury.web import asking, chat, feedback, looking, page
from sqljury.web.bodies import ChatErrorOut, ProblemOut
from sqljury.web.databases import Databases, UnknownDatabaseError
from sqljury.web.history import History
from sqljury.web.metrics import Metrics
from sqljury.web.problems import ProblemError, Problems
from sqljury.web.server import Json, Server
from sqljury.web.settings import Settings
from sqljury.web.tokens import LOCAL, Tokens
from sqljury.web.walls import Walls

DESCRIPTION = """Ask databases in plain language; an answer is SQL that was tested, its result, and the evidence.
Errors are problems (RFC 9457) with a `code` for programs."""
NOT_JSON = "the request is not a JSON object; send one as GET /v1/openapi.json describes"


def create(databases: Databases, settings: Settings | None = None, tokens: Tokens | None = None) -> Walls:
    """The application, for any ASGI server; the databases are whoever's who opened them.

    Raises ``InputError`` for an address that is not safe without tokens, and for access rules that do not fit.
    """
    settings = settings or Settings()
    settings.check(tokens=tokens is not None)
    databases.check([LOCAL] if tokens is None else tokens.clients)
    locations = [location for served in databases.served.values() for location in served.places]
    jobs = Jobs(settings.workers, settings.queue, settings.seconds, shared=tokens is not None)
    server = Server(settings, databases, tokens, jobs, History(settings.history), Metrics(), Problems(locations))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await server.jobs.end()

    app = FastAPI(
        title="sqljury",
        version=version("sqljury"),
        description=DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # FastAPI's page takes its scripts from the network
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=Json,
    )
    app.state.server = server
    for router in (asking.router, feedback.router, looking.router, chat.router, page.router):
        app.include_router(router)
    _handle_errors(app, server)
    _describe(app, tokens=tokens is not None)
    return Walls(app, server)


def _handle_errors(app: FastAPI, server: Server) -> None:
    def problem_reply(request: Request, error: Exception) -> Response:
        problem = server.problems.of(error, retry_after=server.jobs.retry_after)
        request_id = request.state.request_id
        if request.url.path.startswith("/v1/chat/"):
            return chat.failure(problem, request_id)
        headers = dict(problem.headers)
        return Json(problem.to_dict(request_id), problem.status, headers, "application/problem+json")

    def by_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        codes = {404: "not-found", 405: "wrong-method", 413: "too-large"}
        code = codes.get(error.status_code, "bad-request")
        detail = "there is nothing here; GET /v1/openapi.json describes the API"
        if error.status_code == 400:  # FastAPI raises it for a body that is not JSON at all
            code, detail = "bad-json", NOT_JSON
        elif error.status_code != 404:
            detail = str(error.detail)
        headers = dict(error.headers or {})
        if error.status_code == 405:  # Starlette names the methods of the first route with this path only
            methods = (app.openapi_schema or {}).get("paths", {}).get(request.url.path, {})
            headers = {"Allow": ", ".join(sorted(map(str.upper, methods))) or headers.get("allow", "GET")}
            detail = f"this address takes {headers['Allow']}, not {request.method[:20]}"
        return problem_reply(request, ProblemError(error.status_code, code, detail, headers))

    def by_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem_reply(request, _invalid(error))

    app.add_exception_handler(ProblemError, problem_reply)
    app.add_exception_handler(UnknownDatabaseError, problem_reply)
    app.add_exception_handler(HTTPException, by_http)
    app.add_exception_handler(RequestValidationError, by_validation)
    app.add_exception_handler(Exception, problem_reply)


def _invalid(error: RequestValidationError) -> ProblemError:
    """What is wrong with a request; its content is not repeated."""
    faults = [(".".join(map(str, fault["loc"][1:])), str(fault["msg"]), fault["type"]) for fault in error.errors()]
    if any(kind == "json_invalid" or not field for field, _, kind in faults):
        return ProblemError(400, "bad-json", NOT_JSON)
    detail = "; ".join(f"{field[:80]}: {message}" for field, message, _ in faults[:5])
    return ProblemError(422, "bad-value", detail)


def _describe(app: FastAPI, *, tokens: bool) -> None:
    """Complete the OpenAPI document: the form of problems, and how to authenticate."""
    made = app.openapi()
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas["ProblemOut"] = ProblemOut.model_json_schema()
    schemas["ChatErrorOut"] = ChatErrorOut.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    if tokens:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    app.openapi_schema = made
