"""Questions in, SQL that has been tried out."""

from sqljury.api import ask
from sqljury.check import Checked, check
from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.types import Answer, Candidate, Cost, Limits, Question, Result

__all__ = [
    "Answer",
    "Candidate",
    "Checked",
    "Cost",
    "FakeModel",
    "Limits",
    "Pipeline",
    "Question",
    "Result",
    "ask",
    "check",
    "connect",
    "open_model",
]
