"""The data agent: a model writes Python that builds small frames, a program says what is wrong with them.

TS-SQL, section 3.1.1 and appendix A.3. The model sees the schema in play and the values that were found, never a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.prompts import unmarked
from sqljury.sandbox import Sandbox, SandboxLimits
from sqljury.sql.affinity import affinity, stored
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents import code, frames
from sqljury.testing.agents.judging import FAULTS, Judge, Look, faults
from sqljury.testing.agents.linking import Linked
from sqljury.types import Cell, Question, Row, Schema, Table

ROUNDS: Final = 3
"""Times that the model may write data for one question."""

TEMPERATURE: Final = 0.7
"""Of all attempts but the first: told what was wrong, a small model without any writes the same tables again."""

MOST_ROWS: Final = 40
"""Rows of one frame; more are cut."""

LIMITS: Final = SandboxLimits(seconds=5.0, cpu_seconds=5, rows=MOST_ROWS)
STOP: Final = ("\n```\n",)

_FEWEST_TOKENS, _CELL_TOKENS, _ROWS_ASKED = 200, 8, 6
_PICK: Final = """
result = next((one for name, one in list(globals().items())
               if isinstance(one, pd.DataFrame) and name.lower() in {names!r}), None)
if result is None:
    raise NameError('no data frame')
result = result.reset_index(drop=True)
"""


class Built(NamedTuple):
    """Rows by table as a program built them, and what is wrong with them."""

    rows: dict[str, list[Row]]
    faults: list[str]


def write(
    linked: Linked, question: Question, judge: Judge, known: Look, context: Context, rounds: int = ROUNDS
) -> Look | None:
    """Data of the model's that has all that is in play and tells apart what ``known``, made by program, does.

    Of a single query that says no more than that it finds something: there rows of ``known`` are among it where the
    model's own tell fewer neighbours from it, as ``>=`` from ``>``.
    None when it has none after ``rounds`` attempts, or earlier, once the question's allowance is spent or the context
    of the model is full. Raises what else the model and the sandbox raise.
    """
    conversation = [Message("system", prompts.render("tssql/data_system")), Message("user", _asked(linked, question))]
    program, sandbox = "", context.sandbox()  # where there is none, no call is wasted
    for number in range(rounds):
        sampling = Sampling(
            temperature=TEMPERATURE if number else 0.0,
            max_tokens=_tokens(linked.schema),
            stop=STOP,
            seed=derive_seed(context.seed, "data", number),
        )
        reply = context.ask(conversation, sampling)
        if reply is None:
            break
        before, program = program, code.read(reply.completions[0])
        if program == before:
            break
        look, wrong = _checked(program, linked, judge, known, sandbox)
        if not wrong:
            alone = sum(sql is not None for sql in linked.queries) == 1
            return _sharper(look, known, judge) if alone else look
        listed = "\n".join(f"- {line}" for line in wrong[:FAULTS])
        conversation = [
            *conversation[:2],
            Message("assistant", f"```python\n{unmarked(program)}\n```"),
            Message("user", prompts.render("tssql/data_again", faults=listed)),
        ]
    return None


def _asked(linked: Linked, question: Question) -> str:
    names = frames.frame_names(linked.schema)
    values = [
        f"- {names[table]}[{frames.quoted(column)}]: "
        f"{', '.join(frames.quoted(value, frames.SHOWN_CELL) for value in found)}"
        for (table, column), found in linked.found.items()
        if table in names
    ]
    return prompts.render(
        "tssql/data_question",
        tables=frames.described(linked.schema),
        values="\n".join(values) or "- any",
        question=question.whole,
    )


def _tokens(schema: Schema) -> int:
    """Room for the rows that are asked for."""
    return _FEWEST_TOKENS + _CELL_TOKENS * _ROWS_ASKED * sum(len(table.columns) for table in schema.tables)


def _checked(program: str, linked: Linked, judge: Judge, known: Look, sandbox: Sandbox) -> tuple[Look, list[str]]:
    built = build(program, linked.schema, sandbox)
    look = judge.look(built.rows)
    if built.faults:
        return look, built.faults
    broken = [
        f"{count} rows of {plain(table, 80)} repeat a key, lack a value, or refer to a row that is not there"
        for table, rows in built.rows.items()
        if (count := len(rows) - len(look.rows[table]))
    ]
    avoidable = Look(
        look.rows,
        look.uncovered,
        tuple(at for at in look.idle if at not in known.idle),
        tuple(pair for pair in look.together if pair not in known.together),
        look.near,
    )
    wrong = faults(avoidable, [sql or "" for sql in linked.queries])
    return look, [*broken, *wrong] if wrong else []


def _sharper(look: Look, known: Look, judge: Judge) -> Look:
    """The written data, with rows of the other where these tell more apart; written ones go first where keys clash."""
    if look.near <= known.near:
        return look
    both = [
        judge.look({table: list(dict.fromkeys([*one.rows[table], *other.rows[table]])) for table in look.rows})
        for one, other in ((look, known), (known, look))
    ]
    return min((look, *both), key=lambda found: found.fails)


def build(program: str, schema: Schema, sandbox: Sandbox) -> Built:
    """Run a program that builds frames; each is taken out by a run of its own, as a table of plain cells.

    Names are taken in any case, also with ``df`` before or after. Cells become what SQLite keeps of them.
    """
    if not program:
        return Built({}, ["there is no Python block"])
    rows: dict[str, list[Row]] = {}
    wrong: list[str] = []
    for table, name in frames.frame_names(schema).items():
        lower = name.lower()
        picked = program + _PICK.format(names=(lower, f"{lower}_df", f"df_{lower}"))
        ran = sandbox.run("import pandas as pd\n" + picked, limits=LIMITS)
        if ran.kind != "ok":
            missing = "no data frame" in str(ran.result.error or "")
            wrong.append(f"there is no data frame {name}" if missing else f"the code fails: {ran.result.error}")
            if not missing:
                break
            continue
        own = next(one for one in schema.tables if one.name == table)
        rows[table], faulty = _fitted(own, name, ran.result.columns, ran.result.rows)
        wrong += faulty
    return Built(rows, wrong)


def _fitted(table: Table, frame: str, columns: Sequence[str], rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """The rows with the table's columns in its order, cells as SQLite keeps them; and what does not fit."""
    at = {name.strip().lower(): place for place, name in enumerate(columns)}
    missing = [column.name for column in table.columns if column.name.strip().lower() not in at]
    if missing:
        return [], [f"{frame} lacks the columns {', '.join(plain(name, 80) for name in missing)}"]
    plain_rows = frames.cells(rows, days=True)
    places = [at[column.name.strip().lower()] for column in table.columns]
    kinds = [affinity(column.type) for column in table.columns]
    fitted = [tuple(stored(row[place], kind) for place, kind in zip(places, kinds, strict=True)) for row in plain_rows]
    wrong = []
    for number, (column, kind) in enumerate(zip(table.columns, kinds, strict=True)):
        odd = [row[number] for row in fitted if kind in ("INTEGER", "REAL") and isinstance(row[number], str)]
        if odd:
            wrong.append(f"{frame}[{frames.quoted(column.name)}] must hold numbers, not {_shown(odd[0])}")
    return fitted, wrong


def _shown(cell: Cell) -> str:
    return repr(cell_text(cell))
