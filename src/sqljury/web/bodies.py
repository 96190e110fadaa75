"""What requests hold and what comes back, as the OpenAPI document describes it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

QUESTION_CHARS: Final = 4_000
EVIDENCE_CHARS: Final = 20_000
SQL_CHARS: Final = 50_000
COMMENT_CHARS: Final = 2_000
EARLIER: Final = 8
MESSAGES: Final = 200

DatabaseName = Annotated[
    str, Field(max_length=200, description="A name of GET /v1/databases; may be left out where there is only one.")
]
Sql = Annotated[str, Field(min_length=1, max_length=SQL_CHARS, description="One query that only reads.")]
Question = Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS, description="In plain language.")]
Evidence = Annotated[
    str, Field(max_length=EVIDENCE_CHARS, description="What the database does not say: formulas, meanings of codes.")
]
AnswerId = Annotated[str, Field(min_length=1, max_length=64, description="The id of an answer of yours.")]


class Body(BaseModel):
    """A request: unknown keys are refused, since a misspelled one would be without effect, and so are other types."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"additionalProperties": False})


class Ask(Body):
    """A question for `POST /v1/ask`."""

    question: Question
    database: DatabaseName = ""
    evidence: Evidence = ""
    verify: Annotated[bool, Field(description="Look for rows on which the answer and its strongest rival differ.")] = (
        False
    )
    stream: Annotated[bool, Field(description="Answer as server-sent events.")] = False
    earlier: Annotated[
        list[Question],
        Field(max_length=EARLIER, description="What was asked before, the latest last, to which `question` may point."),
    ] = []


class Feedback(Body):
    """What you say of an answer, for `POST /v1/feedback`: a thumb, and what is right where it is not."""

    id: AnswerId
    good: Annotated[bool, Field(description="Whether the answer is right.")]
    correction: Annotated[str, Field(max_length=SQL_CHARS, description="The query that is right.")] = ""
    comment: Annotated[
        str, Field(max_length=COMMENT_CHARS, description="What the answer lacked, such as the meaning of a word.")
    ] = ""


class Meant(Body):
    """Which of two readings of a question you meant, for `POST /v1/reading`."""

    id: AnswerId
    reading: Annotated[int, Field(ge=0, le=9, description="The index in `readings` of the one that was meant.")]


class FeedbackOut(BaseModel):
    """Where the feedback is kept now."""

    id: str
    kept: Annotated[
        Literal["folder", "server"],
        Field(description="In the context folder, or in the memory of the server until it ends."),
    ]


class FoundOut(BaseModel):
    """Tables, columns and values that a text may mean, best first."""

    found: list[dict[str, Any]]


class Check(Body):
    """A question and a query that may answer it, for `POST /v1/check`."""

    question: Question
    sql: Sql
    database: DatabaseName = ""
    evidence: Evidence = ""


class Query(Body):
    """A query of your own for `POST /v1/query`."""

    sql: Sql
    database: DatabaseName = ""


class Message(BaseModel):
    """A turn of a conversation in OpenAI's form."""

    model_config = ConfigDict(strict=True)

    role: Annotated[str, Field(max_length=40)]
    content: str | list[dict[str, Any]] | None = None


class Chat(BaseModel):
    """A request in OpenAI's form; further keys, such as `temperature`, have no effect."""

    model_config = ConfigDict(strict=True)

    model: Annotated[str, Field(max_length=220, description="`sqljury/` and the name of a database.")]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MESSAGES)]
    stream: bool | None = False


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: Annotated[str, Field(description="For programs; docs/serve.md lists the codes.")]
    request_id: str


class ChatErrorOut(BaseModel):
    """An error in OpenAI's form, with `message`, `type`, `code` and `request_id`."""

    error: dict[str, Any]


class ResultOut(BaseModel):
    """Rows. Integers beyond 2^53 and values that JSON lacks are texts."""

    model_config = ConfigDict(extra="allow")

    columns: list[str]
    rows: list[list[Any]]
    row_count: Annotated[int, Field(description="Rows that the database returned; `rows` may hold fewer.")]
    truncated: Annotated[bool, Field(description="`rows` are not all rows of the query.")]
    limit_reached: Annotated[bool, Field(description="The server read only `row_count` rows of the query.")]
    chart: Annotated[
        dict[str, Any] | None,
        Field(description="A proposed Vega-Lite chart, without its data: field `c0` is the first cell of each row."),
    ] = None


class Group(ResultOut):
    """Candidates with the same result, with its first rows."""

    group: int
    votes: int
    chosen: bool
    score: float | None
    queries: list[str]


class AnswerOut(ResultOut):
    """An answer with its evidence; docs/usage.md describes the further keys."""

    id: str
    database: str
    question: str
    asked: Annotated[str, Field(description="The question as it came, where `question` is one written out.")] = ""
    sql: str
    dialect: str
    confidence: float | None
    confidence_in_words: str
    agreement: float | None
    candidates: list[dict[str, Any]]
    groups: list[Group]
    remarks: list[str]
    cost: dict[str, Any]


class CheckedOut(BaseModel):
    """What was found of a query; docs/recipes/tssql.md describes the further keys."""

    model_config = ConfigDict(extra="allow")

    verdict: Literal["right", "wrong", "unclear"]
    why: str
    sql: str


class DatabaseOut(BaseModel):
    """A database that may be asked about; `privacy` is what a model service gets of it, null where none is asked."""

    name: str
    engine: str
    dialect: str
    privacy: Literal["schema", "values", "rows"] | None


class DatabasesOut(BaseModel):
    """The databases of the client."""

    databases: list[DatabaseOut]


class SchemaOut(BaseModel):
    """Tables, columns and keys, as questions see them; docs/schema.md describes them."""

    model_config = ConfigDict(extra="allow")

    name: str
    dialect: str
    tables: list[dict[str, Any]]
    foreign_keys: list[dict[str, Any]]


class HistoryOut(BaseModel):
    """The client's latest questions and queries, the latest first; without rows, and gone when the server ends.

    `kept` says of a question whether `GET /v1/history/{id}` still has its answer.
    """

    entries: list[dict[str, Any]]


class HealthOut(BaseModel):
    """That the server runs."""

    status: Literal["ok"]


def problems(*statuses: int, chat: bool = False) -> dict[int | str, dict[str, Any]]:
    """The errors of an endpoint for the OpenAPI document, with those that any request may meet.

    Those of ``chat`` are in OpenAI's form, but for those that no route has seen.
    """
    every = {400, 401, 403, 413, 421, 422, 500, 503, *statuses}
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemOut"}}}
    if chat:
        content["application/json"] = {"schema": {"$ref": "#/components/schemas/ChatErrorOut"}}
    return {status: {"description": DESCRIPTIONS[status], "content": content} for status in sorted(every)}


DESCRIPTIONS: Final = {
    400: "The request is not JSON of the right form, or the question cannot be asked",
    401: "No token, or an unknown one",
    403: "A foreign Origin",
    404: "No such database or answer of this client",
    413: "The request is too large",
    415: "The request is not JSON",
    421: "A Host that is not a name of this server",
    422: "A value is out of bounds, the query was refused or failed, or no query could answer the question",
    429: "The queue is full; try again after Retry-After seconds",
    500: "The server failed",
    503: "The database or the model cannot be used now, or the server is shutting down",
    504: "The question took longer than the server allows",
}
