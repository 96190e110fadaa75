"""How an answer came about, and the two readings of an ambiguous question, on the terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

from sqljury.cli import terminal
from sqljury.types import Answer, Explanation, Reading

_CELLS: Final = 60


def explanation(found: Explanation, *, stderr: bool = False) -> None:
    """Print the steps of the query, numbered, and what was counted of them."""
    lines = []
    number = 0
    for step in found.steps:
        numbered = step.depth == 0 and step.kind != "subquery"
        number += numbered
        mark = f"{number}." if numbered else "-"
        lines.append(f"  {'   ' * (step.depth + (step.kind == 'subquery'))}{mark} {step.text}")
    if lines:
        terminal.show("", "How the answer came about:", *map(terminal.clean, lines), stderr=stderr)
    if found.effects:
        shown = [terminal.clean(f"  - {effect.text}") for effect in found.effects]
        terminal.show("", "What this did to rows:", *shown, stderr=stderr)
    if found.uncounted:
        reason = terminal.clean(f"What this did to rows was not, or not all, counted: {found.uncounted}.")
        terminal.show("", reason, stderr=stderr)


def readings(found: Answer, *, stderr: bool = False) -> None:
    """Print both readings of an ambiguous question with their answers; nothing where there are none."""
    if not found.readings:
        return
    count = len(found.candidates)
    opening = f"'{found.readings[0].words}' can be read in two ways, and the candidates are divided:"
    lines = [
        f"  {number}. {reading.meaning} ({reading.votes} of {count}): {_rows(reading)}"
        for number, reading in enumerate(found.readings, 1)
    ]
    terminal.show("", *map(terminal.clean, (opening, *lines)), stderr=stderr)


def chosen(found: Answer) -> Answer:
    """The answer by the reading that the user chooses; asked only where a user sits at both ends."""
    if not (found.readings and sys.stdin.isatty() and terminal.at_terminal()):
        return found
    readings(found)
    while True:
        try:
            reply = input(f"Which do you mean? [1-{len(found.readings)}, Enter for 1] ").strip()
        except EOFError:
            return replace(found, readings=())
        if not reply or (reply.isdecimal() and 1 <= int(reply) <= len(found.readings)):
            return replace(found.read_as(int(reply or 1) - 1), readings=())


def _rows(reading: Reading) -> str:
    """The one row of a reading, or how many rows it has."""
    if len(reading.rows) != 1:
        return f"{len(reading.rows):,}{'+' if reading.truncated else ''} rows"
    line = ", ".join(map(terminal.text, reading.rows[0]))
    return line if len(line) <= _CELLS else f"{line[: _CELLS - 1]}…"
