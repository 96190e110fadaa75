"""Questions in, SQL that has been tried out."""

from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline, ask
from sqljury.types import Answer, Candidate, Cost, Limits, Question, Result

__all__ = [
    "Answer",
    "Candidate",
    "Cost",
    "FakeModel",
    "Limits",
    "Pipeline",
    "Question",
    "Result",
    "ask",
    "connect",
    "open_model",
]
