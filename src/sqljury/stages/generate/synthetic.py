"""Few-shot examples on the question's own database, written by the model (CHASE-SQL, section 3.3, Algorithm 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import extract_sql
from sqljury.prompts import held
from sqljury.recipes import GeneratePart
from sqljury.schema.render import render
from sqljury.sql.skeleton import bare
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.columns import by_model
from sqljury.stages.generate.direct import system
from sqljury.stages.generate.examples import EXAMPLES, conversation, focus, tried, unlike
from sqljury.types import Schema, Task

TOKENS: Final = 100
"""Of one example at most."""

_QUESTION: Final = re.compile(r"^[^\w\n]{0,8}(?:\d{1,3}[^\w\n]{1,8})?Q(?:uestion)?[ \d*]{0,6}:[*]{0,2}", re.I | re.M)
_QUERY: Final = re.compile(r"^[^\w\n]{0,8}(?:SQL|Query|A|Answer)[ \w*]{0,12}:[*]{0,2}", re.I | re.M)
_NUMBER: Final = re.compile(r"\n[^\w\n]{0,8}\d{1,3}[.)] ")
"""The number of the next example, which ends a query."""


def synthetic(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Request:
    """The generator: examples by features of SQL, examples on the tables in focus, then the question.

    The first round depends on the schema alone, the second on the tables and columns in focus; both are kept for
    further questions on the database. The question is not shown while examples are written, since the model would
    return it as an example, with its first guess for the query. ``part.rounds`` leaves one round out (Table 8).
    """
    count = part.examples or EXAMPLES
    first, second = {"features": (count, 0), "focus": (0, count)}.get(part.rounds, _split(count))
    model = str(getattr(context.model, "identity", context.model.name))

    def written(prompt: str, wanted: int) -> list[Shot]:
        key = "synthetic", model, context.db.url, task.text, prompt
        return context.kept.get(key, lambda: _written(prompt, wanted, task, context), context.cancel)

    shots = written(_features(first), first) if first else []
    if second:
        tables = render(_focus(task, part, drafts, context), form="compact").strip()
        known = {shot.sql for shot in shots}
        prompt = prompts.render("synthetic/focus", "schema", count=str(second), part=tables)
        shots = shots + [shot for shot in written(prompt, second) if shot.sql not in known]
    return Request(conversation(task, unlike(task, shots), held(task.text)))  # it knows what it was shown


def _focus(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Schema:
    """What the second round is about: the columns of drafts, by words, or as the model selects them."""
    selected = by_model(task, context) if part.columns == "model" else None
    return selected or focus(task, drafts if part.columns == "drafts" else ())


def _split(count: int) -> tuple[int, int]:
    """Examples of the first and the second round: 70 % are of the first, so that 20 cover all features."""
    second = (3 * count + 5) // 10
    return count - second, second


def guidelines() -> str:
    """The features that examples of the first round show, and what good examples look like."""
    return prompts.render("synthetic/guidelines")


def _features(count: int) -> str:
    """The prompt of the first round: small models keep to a feature if they have to write its name first."""
    listed, _, about = guidelines().rpartition("\n\n")
    features = [line.removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")]
    numbered = [f"{number + 1}. {features[number % len(features)]}" for number in range(count)]
    return prompts.render(
        "synthetic/features",
        "schema",
        count=str(count),
        guidelines=about,
        features="\n".join(numbered),
        first=numbered[0].partition(":")[0],
    )


def _written(prompt: str, count: int, task: Task, context: Context) -> list[Shot]:
    """At most ``count`` examples of the model's reply to the prompt that run."""
    sampling = Sampling(max_tokens=TOKENS * count, seed=derive_seed("synthetic", task.text, prompt))
    reply = context.complete((system(task), Message("user", prompt)), sampling)
    return tried(read(reply.completions[0].text), context)[:count]


def read(reply: str) -> Iterator[Shot]:
    """The examples in a reply; anything but a question followed by a query is skipped."""
    for piece in _QUESTION.split(reply)[1:]:
        question, *queries = _QUERY.split(piece)
        sql = " ".join(bare(extract_sql(_unticked(_NUMBER.split("".join(queries[:1]), maxsplit=1)[0]))).splitlines())
        text = question.strip().strip('*"').strip()
        if sql and text and "\n" not in text:
            yield Shot(text, sql)


def _unticked(text: str) -> str:
    """The text without the backticks of inline code around it; those of quoted names stay."""
    return text.strip().strip("`") if re.fullmatch(r"`[^`].*[^`]`", text.strip()) else text
