"""The values that pass between steps: frozen, comparable, without behaviour beyond reading themselves."""

from sqljury.types.answer import Abstention, Answer, Choice, Comparison, Cost, Verified
from sqljury.types.candidate import Candidate, Fix
from sqljury.types.explanation import Effect, Explanation, Reading, Step
from sqljury.types.question import LEVELS, Privacy, Question, Task
from sqljury.types.result import Cell, FailureKind, Limits, QueryFailure, Result, Row
from sqljury.types.schema import DIALECT_NAMES, Column, ForeignKey, Schema, Table
from sqljury.types.testcase import TestCase, Tried

__all__ = [
    "DIALECT_NAMES",
    "LEVELS",
    "Abstention",
    "Answer",
    "Candidate",
    "Cell",
    "Choice",
    "Column",
    "Comparison",
    "Cost",
    "Effect",
    "Explanation",
    "FailureKind",
    "Fix",
    "ForeignKey",
    "Limits",
    "Privacy",
    "QueryFailure",
    "Question",
    "Reading",
    "Result",
    "Row",
    "Schema",
    "Step",
    "Table",
    "Task",
    "TestCase",
    "Tried",
    "Verified",
]
