"""Traces of questions by OpenTelemetry; nothing is recorded unless the program that runs sqljury asks for it.

A question is one trace: ``link``, ``generate``, ``repair``, ``test``, ``select`` under one root, and under each of them
the calls of models. Names of attributes are those of the GenAI conventions, which still change: they stand here and
nowhere else. No span holds a question, a query, data, a message of an error, or a key; a question of a dataset is named
by its id. Questions and what models read and wrote are added where
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import MissingExtraError

if TYPE_CHECKING:
    from sqljury.llm.base import Message, Reply, Sampling
    from sqljury.types import Answer, Question

OPERATION: Final = "gen_ai.operation.name"
WORKFLOW: Final = "gen_ai.workflow.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
TEMPERATURE: Final = "gen_ai.request.temperature"
TOP_P: Final = "gen_ai.request.top_p"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
SEED: Final = "gen_ai.request.seed"
CHOICES: Final = "gen_ai.request.choice.count"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
ERROR_TYPE: Final = "error.type"
DATABASE: Final = "db.system.name"
QUESTION: Final = "sqljury.question"
QUESTION_ID: Final = "sqljury.question.id"
CANDIDATES: Final = "sqljury.candidates"
CONFIDENCE: Final = "sqljury.confidence"

CHAT: Final = "chat"
WORKFLOW_CALL: Final = "invoke_workflow"

EXPORTER: Final = "OTEL_TRACES_EXPORTER"
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_STEPS: Final = {"write": "generate", "fix": "repair", "tests": "test"}
"""How steps are called in a trace where a recipe's stages have other names."""

_SYSTEMS: Final = {"postgres": "postgresql"}
"""What the conventions call a dialect that has another name here."""

_PROVIDERS: Final = {"openai": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini", "vllm": "vllm"}

Set = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Span:
    """A finished span as pages show it: times in nanoseconds, ``parent`` the id of the span around it."""

    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    failed: bool


@contextmanager
def question(asked: Question, recipe: str, dialect: str) -> Iterator[Callable[[Answer], None]]:
    """The root of a question's trace; the answer is to be handed to what it gives."""
    attributes = {OPERATION: WORKFLOW_CALL, WORKFLOW: recipe, DATABASE: _SYSTEMS.get(dialect, dialect)}
    if asked.id:
        attributes[QUESTION_ID] = asked.id
    if _with_content():
        attributes[QUESTION] = asked.text
    with _span(f"{WORKFLOW_CALL} {recipe}", attributes) as put:

        def answered(answer: Answer) -> None:
            put({CANDIDATES: len(answer.candidates), CONFIDENCE: answer.confidence})
            put({INPUT_TOKENS: answer.cost.prompt_tokens, OUTPUT_TOKENS: answer.cost.completion_tokens})

        yield answered


def step(name: str) -> AbstractContextManager[Set]:
    """A step of a question."""
    return _span(_STEPS.get(name, name), {})


@contextmanager
def chat(model: str, messages: Sequence[Message], sampling: Sampling, n: int) -> Iterator[Callable[[Reply], None]]:
    """A call of a model; the reply is to be handed to what it gives."""
    attributes = {
        OPERATION: CHAT,
        PROVIDER: _PROVIDERS.get(model.partition(":")[0], "sqljury.local"),
        REQUEST_MODEL: model,
        TEMPERATURE: sampling.temperature,
        TOP_P: sampling.top_p,
        MAX_TOKENS: sampling.max_tokens,
        SEED: sampling.seed,
        CHOICES: n,
    }
    if _with_content():
        attributes[INPUT_MESSAGES] = json.dumps([_message(message.role, message.content) for message in messages])
    with _span(f"{CHAT} {model}", attributes) as put:

        def replied(reply: Reply) -> None:
            cost, completions = reply.cost, reply.completions
            put({INPUT_TOKENS: cost.prompt_tokens, CACHED_TOKENS: cost.cached_tokens})
            put(
                {
                    OUTPUT_TOKENS: cost.completion_tokens,
                    FINISH_REASONS: [completion.finish_reason for completion in completions],
                }
            )
            if _with_content():
                written = [
                    {**_message("assistant", completion.text), "finish_reason": completion.finish_reason}
                    for completion in completions
                ]
                put({OUTPUT_MESSAGES: json.dumps(written)})

        yield replied


def export_by_environment() -> None:
    """Send spans where the environment says, if it has ``OTEL_TRACES_EXPORTER=otlp``.

    Where to, and with which headers, is said by the ``OTEL_EXPORTER_OTLP_...`` variables. Raises ``MissingExtraError``
    without the extra ``traces``.
    """
    if os.environ.get(EXPORTER, "").strip().lower() != "otlp":
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise MissingExtraError("opentelemetry", "traces") from None
    _provider().add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))


@contextmanager
def kept() -> Iterator[list[Span]]:
    """The spans of what is done in the block, filled in at its end; raises ``MissingExtraError``."""
    try:
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    except ImportError:
        raise MissingExtraError("opentelemetry", "traces") from None
    exporter, spans = InMemorySpanExporter(), list[Span]()
    _provider().add_span_processor(SimpleSpanProcessor(exporter))
    try:
        yield spans
    finally:
        spans += [_finished(span) for span in exporter.get_finished_spans()]
        exporter.shutdown()


def _provider() -> Any:
    """The provider that the program has set up, or a new one."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider(resource=Resource.create({"service.name": "sqljury"}))
        trace.set_tracer_provider(provider)
    return provider


def _finished(span: Any) -> Span:
    parent = "" if span.parent is None else f"{span.parent.span_id:016x}"
    failed = not span.status.is_ok and span.status.status_code.name == "ERROR"
    span_id = f"{span.context.span_id:016x}"
    return Span(span_id, parent, span.name, span.start_time, span.end_time, dict(span.attributes or {}), failed)


@contextmanager
def _span(name: str, attributes: Mapping[str, Any]) -> Iterator[Set]:
    """A span around the block. Of an error it holds the kind alone: messages quote questions and data."""
    trace = sys.modules.get("opentelemetry.trace")  # a program that has not loaded it records nothing
    if trace is None:
        yield _forget
        return
    tracer = trace.get_tracer("sqljury")
    silent = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, attributes=attributes, **silent) as span:
        try:
            yield lambda more: span.set_attributes({key: value for key, value in more.items() if value is not None})
        except BaseException as error:
            span.set_attribute(ERROR_TYPE, type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


def _forget(_: Mapping[str, Any]) -> None:
    pass


def _with_content() -> bool:
    return os.environ.get(CONTENT, "").strip().lower() == "true"


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}
