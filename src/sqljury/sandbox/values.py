"""What goes into a run of the sandbox and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqljury.types import Result

Kind = Literal["ok", "code", "time", "memory", "output", "crash", "reply"]
"""How a run ended.

``code``: the code raised, or its result is not a table; ``time``: over its wall or processor time; ``memory``: over its
memory; ``output``: printed or returned too much; ``crash``: its process ended without a reply; ``reply``: what came
back is not a valid reply, which honest code never causes.
"""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one run may use.

    ``seconds`` of wall time, ``cpu_seconds`` of processor time (whole seconds count), ``memory`` in bytes on top of
    what Python and pandas take. Of the result ``columns`` (more are an error), and as many rows as ``rows`` and
    ``cells`` let, in ``reply`` bytes. ``printed`` characters are kept of what it prints; over ``output`` bytes printed
    it is ended.
    """

    seconds: float = 10.0
    cpu_seconds: int = 10
    memory: int = 1024**3
    rows: int = 10_000
    columns: int = 500
    cells: int = 100_000
    reply: int = 16 * 1024**2
    printed: int = 16 * 1024
    output: int = 4 * 1024**2

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"SandboxLimits.{name} is {getattr(self, name)}; it must be more than 0")


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """``result`` is the table that the code made, or its ``error`` one line; ``stdout`` is what it printed, cut."""

    kind: Kind = "ok"
    result: Result = field(default_factory=Result)
    stdout: str = ""

    @property
    def ok(self) -> bool:
        """The code ran to its end and left a table."""
        return self.kind == "ok"
