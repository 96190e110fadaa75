"""The tools and resources of the MCP server.

Each tool only reads: queries go through ``Session.query``, so a statement of an agent meets the walls that those of a
model meet. Work is done in threads; a call that its client cancels is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Annotated, Any, Final, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import Field

from sqljury.api import Session
from sqljury.context import Progress, silent
from sqljury.errors import InputError, NoAnswerError, SqljuryError
from sqljury.mcp import readings, replies
from sqljury.mcp.databases import Databases
from sqljury.parallel.jobs import BusyError, EndingError, Following, Jobs, OverdueError
from sqljury.stages.prepare import visible
from sqljury.types import Answer

MAX_TEXT: Final = 20_000
"""Characters of a question or a query."""
MAX_ROWS: Final = 1_000
WORKERS: Final = 8
QUEUE: Final = 64
SECONDS: Final = 300.0
"""What a server takes on where it is not told: calls worked on at once, calls that wait, and the time of one."""
PROGRESS_SECONDS: Final = 10.0
"""How long a client may take to read of a step."""
ANSWERS: Final = 32
"""Answers that are kept while a client asks its user which reading is meant."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_CLIENTS: Final[ContextVar[tuple[str, Databases]]] = ContextVar("client")
"""Who makes the request under way, and the databases that they may ask; unset where there are no tokens."""

_INSTRUCTIONS: Final = (
    "Answers questions on databases with SQL that was run and compared. Prefer ask: it writes several queries and says "
    "how far they agree. If confidence is below 0.7 or dissent is listed, tell the user what the readings differ in. "
    "Nothing is ever written."
)
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Database = Annotated[str, Field(description="name as in list_databases; may be left out if there is one")]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
T = TypeVar("T")
Work = Callable[[Session], T]


def build(databases: Databases, version: str = "", jobs: Jobs | None = None) -> MCPServer[Any]:
    """The server for these databases, not yet running; the caller closes them after it.

    Calls take their clients' turns in ``jobs``.
    """
    server: MCPServer[Any] = MCPServer("sqljury", instructions=_INSTRUCTIONS, version=version, log_level="ERROR")
    tools = Tools(databases, jobs or Jobs(WORKERS, QUEUE, SECONDS, shared=False))
    for tool in (
        *(tools.ask, tools.execute_sql, tools.search_objects),
        *(tools.check_sql, tools.describe_database, tools.list_databases),
    ):
        server.add_tool(tool, annotations=_READS, structured_output=False)
    for made in server._tool_manager.list_tools():
        made.parameters = _untitled(made.parameters)

    @server.resource(
        "sqljury://schema/{db}", mime_type="application/sql", description="Tables, columns and keys as SQL"
    )
    async def schema(db: str) -> str:
        try:
            text, _ = await tools.schema(db, [])
        except ToolError as error:
            raise ResourceError(str(error)) from None
        return text

    return server


def serve_http(
    server: MCPServer[Any],
    address: tuple[str, int],
    names: Collection[str],
    allowed: Callable[[str], tuple[str, Databases] | None] | None = None,
) -> None:
    """Serve streamable HTTP at ``/mcp`` until interrupted; only requests under these ``names`` are let in.

    ``allowed`` gives the name and the databases of the client with a token, None for a token that nobody has; without
    it everybody who can connect may ask. Raises ``InputError`` for an address beyond loopback without tokens.
    """
    import uvicorn

    host, port = address
    if allowed is None and host not in LOOPBACK:
        raise InputError(f"--host {host}: without tokens this server stays on 127.0.0.1; give some with --tokens FILE")
    hosts = [f"[{name}]" if ":" in name else name for name in names]
    ported = [f"{name}:*" for name in hosts]
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *ported],
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in (*hosts, *ported)],
    )
    app: Any = server.streamable_http_app(stateless_http=True, transport_security=security, host=host)
    guarded = app if allowed is None else _Door(app, allowed)
    uvicorn.Server(uvicorn.Config(guarded, host=host, port=port, log_level="error")).run()


class _Door:
    """The application for requests with a token; others get 401."""

    def __init__(self, app: Any, allowed: Callable[[str], tuple[str, Databases] | None]) -> None:
        self._app, self._allowed = app, allowed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request; what works on it, in tasks and threads of its own, sees the client's databases alone."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        client = self._allowed(token.strip()) if scheme.lower() == "bearer" and token else None
        if client is None:
            headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"a token is needed: Authorization: Bearer TOKEN\n"})
            return
        mark = _CLIENTS.set(client)
        try:
            await self._app(scope, receive, send)
        finally:
            _CLIENTS.reset(mark)


class Tools:
    """The tools, as the server registers them: names, texts and arguments are what an agent sees."""

    def __init__(self, databases: Databases, jobs: Jobs) -> None:
        self._whole, self._jobs = databases, jobs
        self._answered: OrderedDict[tuple[str, ...], Answer] = OrderedDict()

    @property
    def _databases(self) -> Databases:
        """What the client of this request may ask; to be read in the request's own task, never in ``Work``."""
        return _CLIENTS.get(("", self._whole))[1]

    async def ask(
        self, question: Text, context: Context[Any, Any], database: Database = "", evidence: Text = ""
    ) -> Any:
        """Answer a question in plain language with tested SQL; returns rows, confidence, dissenting queries, and rows on which they differ. evidence: definitions the database lacks."""  # noqa: E501

        client, _ = _CLIENTS.get(("", self._whole))
        key = client, database, question, evidence
        answer = self._answered.get(key) if context.input_responses else None  # asked before, and now chosen
        if answer is None:
            answer = await self._run(
                lambda session: session.ask(question, evidence=evidence, verify=True), database, context
            )
            self._answered[key] = answer
            while len(self._answered) > ANSWERS:
                self._answered.popitem(last=False)
        competing = readings.competing(answer)
        chosen = None if competing is None else await readings.meant(competing, context)
        if isinstance(chosen, InputRequiredResult):
            return chosen
        reply = replies.answer(chosen or answer, self._databases.name(database))
        return _reply({**reply, "reading_chosen_by_user": True} if chosen else reply)

    async def execute_sql(
        self, sql: Text, database: Database = "", limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = replies.ROWS
    ) -> Any:
        """Run one read-only SELECT in the database's own dialect."""

        def work(session: Session) -> dict[str, Any]:
            result = session.query(sql, limit)
            if result.error is not None:
                raise ToolError(str(result.error))
            return replies.result(result, limit)

        return _reply(await self._run(work, database))

    async def search_objects(
        self, text: Text, database: Database = "", limit: Annotated[int, Field(ge=1, le=50)] = 10
    ) -> Any:
        """Find tables, columns and stored values that a word may mean, spelling and abbreviations aside."""

        def work(session: Session) -> dict[str, Any]:
            return {"found": replies.objects(session.search(text, limit))}

        return _reply(await self._run(work, database))

    async def check_sql(self, question: Text, sql: Text, context: Context[Any, Any], database: Database = "") -> Any:
        """Test whether a query answers a question: right, wrong (with a correction where there is one) or unclear."""

        def work(session: Session) -> dict[str, Any]:
            return replies.checked(session.check(question, sql))

        return _reply(await self._run(work, database, context))

    async def describe_database(
        self,
        database: Database = "",
        tables: Annotated[list[str] | None, Field(description="only these")] = None,
    ) -> Any:
        """Tables, columns, keys, comments and glossary of a database."""
        text, left_out = await self.schema(database, tables or [])
        return _reply({"database": self._databases.name(database), "schema": text, "left_out": left_out})

    async def list_databases(self) -> Any:
        """The databases by name, the default one, and each one's SQL dialect."""
        listed = [await self._listed(name) for name in self._databases.names]
        return _reply({"databases": listed, "default": self._databases.default})

    async def schema(self, database: str, tables: list[str]) -> tuple[str, list[str]]:
        """The text of a schema and the tables that did not fit; raises ``ToolError``."""
        databases = self._databases  # read here: in the thread of the work there is no client

        def work(session: Session) -> tuple[str, list[str]]:
            text, left_out = replies.schema(databases.describe(database, session), tables)
            if not text.strip() and not left_out:
                raise ToolError(f"no such table: {', '.join(tables)[:200]}; search_objects finds names")
            notes = visible(session.database, session.notes)
            terms = [f"-- {term}: {meaning}" for term, meaning in (*notes.glossary, *notes.formulas)]
            return "\n".join((text, *(" ".join(term.split()) for term in terms))), left_out

        return await self._run(work, database)

    async def _listed(self, name: str) -> dict[str, str]:
        try:
            return {"name": name, "dialect": await self._run(lambda session: session.database.dialect, name)}
        except ToolError as error:
            return {"name": name, "error": str(error)}

    async def _run(self, work: Work[T], database: str, context: Context[Any, Any] | None = None) -> T:
        """What ``work`` gives for a session on the database, in the client's turn; raises ``ToolError`` for faults."""
        name, databases = _CLIENTS.get(("", self._whole))
        progress = silent if context is None else _reporter(context, asyncio.get_running_loop())

        def job(following: Following) -> T:
            return work(databases.session(database, progress, following.cancel))

        try:
            return await self._jobs.start(name, job)
        except BusyError:
            wait = self._jobs.retry_after
            raise ToolError(f"the server is busy: too many calls wait; call again in {wait} seconds") from None
        except OverdueError:
            raise ToolError("no answer within the server's time limit, waiting included; ask for less") from None
        except EndingError:
            raise ToolError("the server is shutting down; call again when it is back") from None
        except NoAnswerError as error:
            tried = "; ".join(
                sorted({str(candidate.result.error) for candidate in error.candidates if candidate.result.error})[:3]
            )
            raise ToolError(databases.said(f"{error} ({tried})" if tried else str(error))) from None
        except (SqljuryError, ToolError) as error:
            raise ToolError(databases.said(str(error))) from None


def _reporter(context: Context[Any, Any], loop: asyncio.AbstractEventLoop) -> Callable[[Progress], None]:
    """Progress as MCP notifications, sent from threads; counted up, as the protocol wants it."""
    count = 0

    def report(at: Progress) -> None:
        nonlocal count
        count += 1
        step = f"{at.step} ({at.done}/{at.total})" if at.total > 1 else at.step
        sending = context.report_progress(float(count), None, step)
        try:
            sent = asyncio.run_coroutine_threadsafe(sending, loop)
        except RuntimeError:  # the server has ended
            sending.close()
            return
        with contextlib.suppress(Exception):  # the call was cancelled, or its client is gone
            sent.result(PROGRESS_SECONDS)
        sent.cancel()

    return report


def _reply(content: Any) -> CallToolResult:
    """The content as compact JSON text, and structured."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def _untitled(schema: Any) -> Any:
    """A JSON schema without the titles that repeat the names of its fields."""
    if isinstance(schema, dict):
        return {
            key: {name: _untitled(part) for name, part in value.items()} if key == "properties" else _untitled(value)
            for key, value in schema.items()
            if key != "title"
        }
    return [_untitled(part) for part in schema] if isinstance(schema, list) else schema
