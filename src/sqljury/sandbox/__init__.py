"""Runs code that a model wrote, in a process that can compute and do nothing else."""

from sqljury.sandbox.run import Sandbox, UnisolatedWarning, run
from sqljury.sandbox.values import SandboxLimits, SandboxResult
from sqljury.sandbox.warm import Warm

__all__ = ["Sandbox", "SandboxLimits", "SandboxResult", "UnisolatedWarning", "Warm", "run"]
