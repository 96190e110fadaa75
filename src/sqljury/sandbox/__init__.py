"""Runs code that a model wrote, in a process that can compute and do nothing else."""

from sqljury.sandbox.run import Sandbox, UnisolatedWarning, Warm, run
from sqljury.sandbox.values import SandboxLimits, SandboxResult

__all__ = ["Sandbox", "SandboxLimits", "SandboxResult", "UnisolatedWarning", "Warm", "run"]
