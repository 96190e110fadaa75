"""The tools and resources of the MCP server.

Each tool only reads: queries go through ``Session.query``, so a statement of an agent meets the walls that those of a
model meet. Work is done in threads; a call that its client cancels is stopped.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
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
from sqljury.types import Answer

MAX_TEXT: Final = 20_000
"""Characters of a question or a query."""
MAX_ROWS: Final = 1_000
AT_ONCE: Final = 8
"""Calls that work at the same time; others wait."""
ANSWERS: Final = 32
"""Answers that are kept while a client asks its user which reading is meant."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

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


def build(databases: Databases, version: str = "") -> MCPServer[Any]:
    """The server for these databases, not yet running; the caller closes them after it."""
    server: MCPServer[Any] = MCPServer("sqljury", instructions=_INSTRUCTIONS, version=version, log_level="ERROR")
    tools = Tools(databases)
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


def serve_http(server: MCPServer[Any], host: str, port: int) -> None:
    """Serve streamable HTTP at ``/mcp`` on a loopback address until interrupted; other hosts and origins are refused.

    Raises ``InputError`` for another address: there is no authentication.
    """
    if host not in LOOPBACK:
        raise InputError(f"--host {host}: this server has no passwords and stays on 127.0.0.1; put a proxy before it")
    name = f"[{host}]" if ":" in host else host
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}", f"localhost:{port}"],
        allowed_origins=[f"http://{name}:{port}", f"http://localhost:{port}"],
    )
    server.run("streamable-http", host=host, port=port, stateless_http=True, transport_security=security)


class Tools:
    """The tools, as the server registers them: names, texts and arguments are what an agent sees."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._limiter: anyio.CapacityLimiter | None = None
        self._answered: OrderedDict[tuple[str, str, str], Answer] = OrderedDict()

    async def ask(
        self, question: Text, context: Context[Any, Any], database: Database = "", evidence: Text = ""
    ) -> Any:
        """Answer a question in plain language with tested SQL; returns rows, confidence, dissenting queries, and rows on which they differ. evidence: definitions the database lacks."""  # noqa: E501

        key = database, question, evidence
        answer = self._answered.get(key) if context.input_responses else None  # asked before, and now chosen
        if answer is None:
            answer = await self._run(lambda one: one.ask(question, evidence=evidence, verify=True), database, context)
            self._answered[key] = answer
            while len(self._answered) > ANSWERS:
                self._answered.popitem(last=False)
        group = readings.rival(answer)
        chosen = None if group is None else await readings.meant(answer, group, context)
        if isinstance(chosen, InputRequiredResult):
            return chosen
        reply = replies.answer(chosen or answer, self._databases.name(database))
        return _reply({**reply, "reading_chosen_by_user": True} if chosen else reply)

    async def execute_sql(
        self, sql: Text, database: Database = "", limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = replies.ROWS
    ) -> Any:
        """Run one read-only SELECT in the database's own dialect."""

        def work(session: Session) -> dict[str, Any]:
            found = session.query(sql, limit)
            if found.error is not None:
                raise ToolError(str(found.error))
            return replies.result(found, limit)

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

        def work(session: Session) -> tuple[str, list[str]]:
            text, left_out = replies.schema(self._databases.describe(database, session), tables)
            if not text.strip() and not left_out:
                raise ToolError(f"no such table: {', '.join(tables)[:200]}; search_objects finds names")
            terms = [f"-- {term}: {meaning}" for term, meaning in (*session.notes.glossary, *session.notes.formulas)]
            return "\n".join((text, *(" ".join(term.split()) for term in terms))), left_out

        return await self._run(work, database)

    async def _listed(self, name: str) -> dict[str, str]:
        try:
            return {"name": name, "dialect": await self._run(lambda session: session.database.dialect, name)}
        except ToolError as error:
            return {"name": name, "error": str(error)}

    async def _run(self, work: Work[T], database: str, context: Context[Any, Any] | None = None) -> T:
        """What ``work`` gives for a session on the database, in a thread; raises ``ToolError`` with what went wrong."""
        self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
        cancel = threading.Event()
        progress = silent if context is None else _reporter(context)

        def job() -> T:
            return work(self._databases.session(database, progress, cancel))

        try:
            return await anyio.to_thread.run_sync(job, abandon_on_cancel=True, limiter=self._limiter)
        except NoAnswerError as error:
            tried = "; ".join(sorted({str(one.result.error) for one in error.candidates if one.result.error})[:3])
            raise ToolError(f"{error} ({tried})" if tried else str(error)) from None
        except SqljuryError as error:
            raise ToolError(str(error)) from None
        finally:
            cancel.set()  # where the client has cancelled, the thread is still at work


def _reporter(context: Context[Any, Any]) -> Callable[[Progress], None]:
    """Progress as MCP notifications; counted up, as the protocol wants it."""
    count = 0

    def report(at: Progress) -> None:
        nonlocal count
        count += 1
        step = f"{at.step} ({at.done}/{at.total})" if at.total > 1 else at.step
        try:
            anyio.from_thread.run(context.report_progress, float(count), None, step)
        except RuntimeError:  # the call was cancelled, or its client is gone
            return

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
