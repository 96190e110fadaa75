"""One question in one call: database, notes and models are opened for it, and closed after it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.budget import UNLIMITED, Allowance
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.db.connect import connect
from sqljury.language.orders import check_question
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.notes_files import load
from sqljury.stages.contrast import verified
from sqljury.types import Answer, Limits, Question


@contextlib.contextmanager
def opened(
    db: Database | str | os.PathLike[str],
    recipe: str,
    model: LanguageModel | str | None,
    limits: Limits = DEFAULT_LIMITS,
    access: Access | None = None,
) -> Iterator[tuple[Pipeline, Database]]:
    """A recipe on a model, and the database as ``access`` lets it be seen.

    What is given by name is opened here and closed at the end, with the models that the recipe names: ``+ADAPTER`` of a
    recipe is that adapter on the model that is named here, on the default one where none is. Raises what ``connect``,
    ``guard``, ``open_model`` and ``Pipeline.from_recipe`` raise.
    """
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(connect(db)) if isinstance(db, str | os.PathLike) else db
        if access:
            source = guard(source, introspect(source), access)
        by_name = partial(open_model, base=model if isinstance(model, str) else None)
        if model is None or isinstance(model, str):
            model = by_name()
            stack.callback(_close, model)
        pipeline = Pipeline.from_recipe(recipe, model, limits, by_name)
        for other in pipeline.others():
            stack.callback(_close, other)
        yield pipeline, source


def _close(model: LanguageModel) -> None:
    """Free a model that can be freed; one of a service holds nothing."""
    if close := getattr(model, "close", None):
        close()


def ask(
    question: str,
    db: Database | str | os.PathLike[str],
    *,
    evidence: str = "",
    recipe: str = "default",
    model: LanguageModel | str | None = None,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
    allowance: Allowance = UNLIMITED,
    notes: Notes | str | os.PathLike[str] = NO_NOTES,
    access: Access | None = None,
    verify: bool = False,
) -> Answer:
    """Answer one question on a database, given as a path, a URL, or what ``connect`` returned.

    ``notes`` on the database are what ``schema.notes_files.load`` read, or the path of a YAML file or of a
    ``database_description`` folder.

    ``model`` is a model or the name of one, by default the embedded one, which is loaded for this call and freed
    after it: for many questions, open the model once with ``open_model`` and pass it.
    ``allowance`` is what the question may take; the best of what there is then is the answer.
    ``access`` says which tables and columns may be seen. With ``verify`` the answer shows some rows on which its query
    and the best other one differ, see ``verify.verified``. Raises what ``Pipeline.answer``, ``connect``, ``guard`` and
    ``open_model`` raise.
    """
    asked = Question(question, evidence)
    check_question(asked)
    known = notes if isinstance(notes, Notes) else load(notes)
    with opened(db, recipe, model, limits, access) as (pipeline, source):
        pipeline = replace(pipeline, allowance=allowance)
        answer = pipeline.answer(asked, source, seed=seed, notes=known)
        return verified(answer, source, seed=seed) if verify else answer
