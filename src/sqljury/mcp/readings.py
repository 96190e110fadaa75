"""When two readings of a question compete, the user is asked which is meant, by the client's elicitation.

They are called by what they take words of the question to mean where that is known, otherwise by their queries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal

from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel

from sqljury.sql.text import remark
from sqljury.stages.select.base import representative
from sqljury.types import Answer, serialize

SHARE: Final = 0.5
"""Of the answer's votes: a reading with fewer is dissent, and nobody is bothered with it."""
_KEY: Final = "reading"
_INPUT_REQUIRED: Final = "2026-07-28"
"""The first version of the protocol in which a call ends with a question and is made again with its answer."""
_CHARS: Final = 300


class Reading(BaseModel):
    """What is asked: the number of a reading."""

    reading: Literal["1", "2"]


def competing(answer: Answer) -> tuple[Answer, Answer] | None:
    """The answer by each of two readings; None where no other competes with its own."""
    if answer.readings:
        return answer.read_as(0), answer.read_as(1)
    group = _rival(answer)
    return None if group is None else (answer, _read_otherwise(answer, group))


def _rival(answer: Answer) -> int | None:
    """The group that competes with the answer's: rows tell the two apart, and it has a good share of votes."""
    if answer.verified is None or answer.verified.outcome != "differ" or answer.choice is None:
        return None
    chosen = None if answer.choice.index is None else answer.candidates[answer.choice.index].group
    chosen_votes, rival_votes = (_votes(answer, group) for group in (chosen, answer.verified.rival))
    return answer.verified.rival if rival_votes >= SHARE * chosen_votes else None


async def meant(answers: tuple[Answer, Answer], context: Context[Any, Any]) -> Answer | InputRequiredResult | None:
    """The answer by the reading that the user chose; None if the client cannot ask, or the user does not say.

    To a client of the newer protocol the question is returned, and its answer comes with the next call.
    """
    capabilities = context.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return None
    message = _question(answers)
    version = context.protocol_version
    if version is not None and is_version_at_least(version, _INPUT_REQUIRED):
        given = (context.input_responses or {}).get(_KEY)
        if given is None:
            form = ElicitRequestFormParams(message=message, requested_schema=Reading.model_json_schema())
            return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=form)})
        accepted = isinstance(given, ElicitResult) and given.action == "accept"
        number = (given.content or {}).get(_KEY) if accepted and isinstance(given, ElicitResult) else None
    else:
        reply = await context.elicit(message, Reading)
        number = reply.data.reading if reply.action == "accept" else None
    return dict(zip(("1", "2"), answers, strict=True)).get(str(number))


def _question(answers: tuple[Answer, Answer]) -> str:
    readings = answers[0].readings
    begin = (
        f"{readings[0].words!r} can be read in two ways. Which is meant?"
        if readings
        else f"Two readings of {answers[0].question.text[:_CHARS]!r} differ. Which is meant?"
    )
    lines = [
        f"{number}: {_summary(answer)} - "
        f"{answer.readings[0].meaning if readings else serialize.one_line(answer.sql, answer.dialect)[:_CHARS]}"
        for number, answer in enumerate(answers, 1)
    ]
    return "\n".join((begin, *lines))


def _summary(answer: Answer) -> str:
    """A single value itself, otherwise how many rows there are."""
    rows = answer.rows
    if len(rows) == 1 and len(rows[0]) == 1:
        return remark(str(rows[0][0]), _CHARS)
    return f"{len(rows)} row{'' if len(rows) == 1 else 's'}"


def _read_otherwise(answer: Answer, group: int) -> Answer:
    """The answer with the query and rows of this group."""
    index = representative(answer.candidates, group)
    candidate = answer.candidates[index]
    assert answer.choice is not None
    return replace(
        answer,
        sql=candidate.sql,
        columns=candidate.result.columns,
        rows=candidate.result.rows,
        truncated=candidate.result.truncated,
        confidence=None,
        remarks=(),
        choice=replace(answer.choice, index=index),
    )


def _votes(answer: Answer, group: int | None) -> int:
    return 0 if group is None else sum(candidate.group == group for candidate in answer.candidates)
