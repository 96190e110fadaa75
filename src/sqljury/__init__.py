"""Questions in, SQL that has been tried out."""

from sqljury.api import Session, ask, check, choose, describe
from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.schema.describe import Description
from sqljury.stages.check import Checked
from sqljury.types import Answer, Candidate, Cost, Limits, Question, Result

__all__ = [
    "Answer",
    "Candidate",
    "Checked",
    "Cost",
    "Description",
    "FakeModel",
    "Limits",
    "Pipeline",
    "Question",
    "Result",
    "Session",
    "ask",
    "check",
    "choose",
    "connect",
    "describe",
    "open_model",
]
