"""Questions in, SQL that has been tried out."""

from sqljury.api import Session, ask, check, choose, describe
from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel
from sqljury.llm.open import open_model
from sqljury.notebook import load_ipython_extension, unload_ipython_extension
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
    "load_ipython_extension",
    "open_model",
    "unload_ipython_extension",
]
