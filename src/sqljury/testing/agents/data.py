"""The data agent: small frames that have all that is in play and tell the queries apart.

TS-SQL, section 3.1.1 and appendix A.3. ``make_rows`` works without a model: it fuzzes rows (Zhong et al. 2020, section
4.1) and changes them at the edges of the queries' conditions. ``write_rows`` lets a model write Python that builds the
frames, and tells it what is wrong with them; the model sees the schema in play and the linked values, never a row.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import REASONING_TOKENS
from sqljury.prompts import Text, unmarked
from sqljury.sandbox import Sandbox, SandboxLimits
from sqljury.sql.affinity import affinity, stored
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents import frames
from sqljury.testing.agents.code import STOP, read_program
from sqljury.testing.agents.judging import FAULTS, Judge, Verdict, faults
from sqljury.testing.agents.linking import Linked
from sqljury.testing.draw import Origin, made_up
from sqljury.testing.fuzz import fuzz
from sqljury.testing.mutate import Mutator
from sqljury.testing.separate import minimised
from sqljury.testing.shape import Rows, size
from sqljury.types import Question, Row, Schema, Table

FUZZED: Final = 12
"""Databases fuzzed before the best of them is changed."""

CHANGED: Final = 150
"""Changes tried; all of them in vain where two queries mean the same."""

SECONDS: Final = 4.0
"""Of wall time; most databases take a tenth of it."""

FEWEST: Final = 3
"""Rows that a table keeps: on fewer, wrong programs often return the right result."""

ROUNDS: Final = 3
"""Times that the model may write data for one question."""

TEMPERATURE: Final = 0.7
"""Of all attempts but the first: at 0 a small model repeats its tables although it was told what is wrong with them."""

MOST_ROWS: Final = 40
"""Rows of one frame; more are cut."""

LIMITS: Final = SandboxLimits(seconds=5.0, cpu_seconds=5, rows=MOST_ROWS)

_FEWEST_TOKENS, _CELL_TOKENS, _ROWS_ASKED = 200, 8, 6
_PICK: Final = """
result = next((one for name, one in list(globals().items())
               if isinstance(one, pd.DataFrame) and name.lower() in {names!r}), None)
if result is None:
    raise NameError('no data frame')
result = result.reset_index(drop=True)
"""


def make_rows(linked: Linked, judge: Judge, *, rows: int, seed: str, cancel: threading.Event | None = None) -> Verdict:
    """The best database made without a model, with about ``rows`` rows a table where fewer do as well.

    Equal for equal arguments as long as time does not run out; the best so far once ``cancel`` is set. Raises
    ``DatabaseError`` when SQLite does not take the schema.
    """
    deadline = time.monotonic() + SECONDS

    def over() -> bool:
        return time.monotonic() > deadline or (cancel is not None and cancel.is_set())

    shape = judge.shape
    origin = made_up(shape, [sql for sql in linked.queries if sql], linked.values, seed)
    best = judge.verdict(origin.pool)
    for number in range(FUZZED):
        best = _better(best, judge.verdict(fuzz(shape.schema, origin.sources, f"{seed}|program|{number}")))
    rng = random.Random(f"{seed}|program")  # noqa: S311 - no secret
    mutator = Mutator(origin, rng)
    for number in range(CHANGED):
        if not any(best.fails) or over():
            break
        changed = _with_constants(best.rows, origin, rng) if number % 4 == 0 else mutator.changed(best.rows)
        best = _better(best, judge.verdict(changed))
    return _fewer(best, judge, rows, over)


def _with_constants(rows: Rows, origin: Origin, rng: random.Random) -> Rows:
    """The rows with one of each table that has what queries compare its columns with, all conditions at once."""
    changed = {name: list(held) for name, held in rows.items()}
    for name, held in changed.items():
        if held:
            index = rng.randrange(len(held))
            columns = origin.shape.tables[name].columns
            wanted = [origin.constants.get((name, column.name), ()) for column in columns]
            pairs = zip(wanted, held[index], strict=True)
            held[index] = tuple(rng.choice(constants) if constants else cell for constants, cell in pairs)
    return origin.shape.closed(changed)


def _better(first: Verdict, second: Verdict) -> Verdict:
    return min(first, second, key=lambda verdict: (verdict.fails, size(verdict.rows)))


def _fewer(best: Verdict, judge: Judge, most: int, over: Callable[[], bool]) -> Verdict:
    """As good a database with fewer rows, as long as a table has more than ``most``."""
    latest = best
    floor = {name: min(FEWEST, most, len(held)) for name, held in best.rows.items()}

    def holds(fewer: Rows) -> bool:
        nonlocal latest
        if any(len(fewer[name]) < least for name, least in floor.items()):
            return False
        verdict = judge.verdict(fewer)
        worse = any(now > before for now, before in zip(verdict.fails, best.fails, strict=True))
        if worse or verdict.rows != fewer:
            return False
        latest = verdict
        return True

    minimised(judge.shape, best.rows, holds, lambda: over() or all(len(held) <= most for held in latest.rows.values()))
    return latest


def write_rows(
    linked: Linked, question: Question, judge: Judge, made: Verdict, context: Context, reasoning: bool = False
) -> Verdict | None:
    """Data by the model that has all that is in play and tells apart what ``made``, of ``make_rows``, does.

    For a single query that means only that it finds something: there rows of ``made`` are added where the model's own
    tell fewer neighbours from it, as ``>=`` from ``>``. None when it has none after ``ROUNDS`` attempts, or earlier,
    once the budget is exhausted or the model's context is full. With ``reasoning`` the model is asked for steps before
    the program (appendix A.3). Raises what else the model and the sandbox raise.
    """
    form = "_steps" if reasoning else ""
    system = prompts.render(f"tssql/data_system{form}")
    conversation = [Message("system", system), Message("user", _asked(linked, question))]
    program, sandbox = "", context.sandbox()  # before any call: where no sandbox can be had, none is wasted
    for number in range(ROUNDS):
        sampling = Sampling(
            temperature=TEMPERATURE if number else 0.0,
            max_tokens=_tokens(linked.schema) + REASONING_TOKENS * reasoning,
            stop=() if reasoning else STOP,
            seed=derive_seed(context.seed, "data", number),
        )
        reply = context.ask(conversation, sampling)
        if reply is None:
            break
        before, program = program, read_program(reply.completions[0])
        if program == before:
            break
        written, wrong = _checked(program, linked, judge, made, sandbox)
        if not wrong:
            single = sum(sql is not None for sql in linked.queries) == 1
            return _sharper(written, made, judge) if single else written
        listed = "\n".join(f"- {line}" for line in wrong[:FAULTS])
        conversation = [
            *conversation[:2],
            Message("assistant", Text(f"```python\n{unmarked(program)}\n```", "values")),
            Message("user", prompts.render(f"tssql/data_again{form}", "values", faults=listed)),
        ]
    return None


def _asked(linked: Linked, question: Question) -> str:
    names = frames.frame_names(linked.schema)
    lines = [
        f"- {names[table]}[{frames.quoted(column)}]: "
        f"{', '.join(frames.quoted(value, frames.SHOWN_CELL) for value in values)}"
        for (table, column), values in linked.named_values.items()
        if table in names
    ]
    return prompts.render(
        "tssql/data_question",
        "values",
        tables=frames.described(linked.schema),
        values="\n".join(lines) or "- any",
        question=question.whole,
    )


def _tokens(schema: Schema) -> int:
    return _FEWEST_TOKENS + _CELL_TOKENS * _ROWS_ASKED * sum(len(table.columns) for table in schema.tables)


def _checked(program: str, linked: Linked, judge: Judge, made: Verdict, sandbox: Sandbox) -> tuple[Verdict, list[str]]:
    """The verdict on the program's data, and what the model can mend about it."""
    built = build(program, linked.schema, sandbox)
    verdict = judge.verdict(built.rows)
    if built.faults:
        return verdict, built.faults
    broken = [
        f"{count} rows of {plain(table, 80)} repeat a key, lack a value, or refer to a row that is not there"
        for table, rows in built.rows.items()
        if (count := len(rows) - len(verdict.rows[table]))
    ]
    avoidable = Verdict(
        verdict.rows,
        verdict.uncovered,
        tuple(index for index in verdict.idle if index not in made.idle),
        tuple(pair for pair in verdict.together if pair not in made.together),
        verdict.near,
    )
    wrong = faults(avoidable, [sql or "" for sql in linked.queries])
    return verdict, [*broken, *wrong] if wrong else []


def _sharper(written: Verdict, made: Verdict, judge: Judge) -> Verdict:
    """The written data, with rows of the other where these tell more apart; the first ones stay where keys clash."""
    if written.near <= made.near:
        return written
    both = [
        judge.verdict({name: list(dict.fromkeys([*a.rows[name], *b.rows[name]])) for name in written.rows})
        for a, b in ((written, made), (made, written))
    ]
    return min((written, *both), key=lambda verdict: verdict.fails)


class Built(NamedTuple):
    """Rows by table as a program built them, and what is wrong with them."""

    rows: dict[str, list[Row]]
    faults: list[str]


def build(program: str, schema: Schema, sandbox: Sandbox) -> Built:
    """Run a program that builds frames; each frame is read by a run of its own, as a table of plain cells.

    Names are matched in any case, also with ``df`` before or after. Cells become what SQLite keeps of them.
    """
    if not program:
        return Built({}, ["there is no Python block"])
    rows: dict[str, list[Row]] = {}
    wrong: list[str] = []
    names = frames.frame_names(schema)
    for table in schema.tables:
        name = names[table.name]
        lower = name.lower()
        picked = program + _PICK.format(names=(lower, f"{lower}_df", f"df_{lower}"))
        ran = sandbox.run("import pandas as pd\n" + picked, limits=LIMITS)
        if ran.kind == "ok":
            rows[table.name], faulty = _fitted(table, name, ran.result.columns, ran.result.rows)
            wrong += faulty
        elif "no data frame" in str(ran.result.error or ""):
            wrong.append(f"there is no data frame {name}")
        else:
            wrong.append(f"the code fails: {ran.result.error}")
            break
    return Built(rows, wrong)


def _fitted(table: Table, frame: str, columns: Sequence[str], rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """The rows with the table's columns in its order, cells as SQLite keeps them; and what does not fit."""
    indexes = {name.strip().lower(): index for index, name in enumerate(columns)}
    missing = [column.name for column in table.columns if column.name.strip().lower() not in indexes]
    if missing:
        return [], [f"{frame} lacks the columns {', '.join(plain(name, 80) for name in missing)}"]
    kept = [(indexes[column.name.strip().lower()], affinity(column.type)) for column in table.columns]
    fitted = [tuple(stored(row[index], kind) for index, kind in kept) for row in frames.cells(rows, days=True)]
    wrong = []
    for number, column in enumerate(table.columns):
        texts = [row[number] for row in fitted if isinstance(row[number], str)]
        if texts and kept[number][1] in ("INTEGER", "REAL"):
            text = repr(cell_text(texts[0]))
            wrong.append(f"{frame}[{frames.quoted(column.name)}] must hold numbers, not {text}")
    return fitted, wrong
