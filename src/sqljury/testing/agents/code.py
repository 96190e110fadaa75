"""The code agent: pandas programs for a question and small frames, and what they return (TS-SQL, sections 3.1.2, A.4).

A program that builds rows of its own is not run: its result would tell nothing of the frames that it was given.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Completion, Message, Sampling, derive_seed
from sqljury.llm.replies import concluded, extract_code, lines_of
from sqljury.prompts import Text, held
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Sandbox, SandboxLimits
from sqljury.testing.agents import frames
from sqljury.types import QueryFailure, Question, Result, TestCase

if TYPE_CHECKING:
    import pyarrow as pa

TEMPERATURE: Final = 0.7
"""Of all programs but the first, where the recipe names none: at 0 all samples of one model are alike."""

STOP: Final = ("\n```\n",)
LIMITS: Final = SandboxLimits(seconds=5.0, cpu_seconds=5, rows=1_000, columns=50)

_NOTES_SHOWN: Final = 6
_ALONE: Final = Text("this is the only frame: there is nothing to merge", "schema")
"""Without it a small model merges a frame with itself."""

_COLUMNS: Final = """
result = pd.DataFrame([(name, str(column)) for name, one in list(globals().items())
                       if isinstance(one, pd.DataFrame) for column in one.columns], columns=['frame', 'column'])
"""
_REACH: Final = frozenset({"tables", "globals", "locals", "vars", "eval", "exec"})
"""Names by which a program reaches every frame."""

_TOOLS: Final = frozenset({"pd", "np", *dir(builtins)}) - _REACH
_RESULT: Final = "result"
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ROWS: Final = (ast.Call, ast.Dict, ast.List, ast.ListComp, ast.DictComp)
"""What may make rows, unlike a plain value that is named like a frame."""

_NOT_PYTHON: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


class Written(NamedTuple):
    """A program, with the temperature it was written at and the name of its model in the recipe."""

    code: str
    temperature: float
    by: str = ""


class Ran(NamedTuple):
    """A program and what it returned."""

    code: str
    result: Result


def conversation(
    shown: Text, count: int, question: Question, notes: Sequence[str] = (), *, reasoning: bool = False
) -> tuple[Message, ...]:
    """The prompt for a program: ``count`` frames as text, notes on the database, the question.

    With ``reasoning`` it asks for steps before the program (appendix A.4).
    """
    listed = [*([_ALONE] if count == 1 else []), *notes[:_NOTES_SHOWN]]
    lines = Text("".join(f"# {line}\n" for line in listed), held(*listed))
    text = prompts.render("tssql/code_question", "schema", frames=shown, notes=lines, question=question.whole)
    system = prompts.render("tssql/code_system_steps" if reasoning else "tssql/code_system")
    return Message("system", system), Message("user", text)


def stops(part: TestsPart) -> tuple[str, ...]:
    """Where a reply with a program ends: after its first block, unless steps before it may hold blocks too."""
    return () if part.reasoning else STOP


def write_programs(asked: Sequence[Message], part: TestsPart, context: Context) -> list[Written]:
    """``part.codes`` programs of each of its models, model by model and of each the likeliest first.

    Fewer once the budget is exhausted, none of a model whose context is too small for the frames.
    """
    names = part.models or ("",)
    return [program for name in names for program in _programs_of(name, asked, part, context)]


def _programs_of(model: str, asked: Sequence[Message], part: TestsPart, context: Context) -> list[Written]:
    """Those of one model; the seeds do not depend on it, since models differ with equal seeds."""
    programs: list[Written] = []
    for number, (count, temperature) in enumerate(((1, 0.0), (part.codes - 1, part.temperature or TEMPERATURE))):
        if not count:
            continue
        sampling = Sampling(
            temperature=temperature,
            max_tokens=part.max_tokens,
            stop=stops(part),
            seed=derive_seed(context.seed, "code", number),
        )
        reply = context.of(model).ask(asked, sampling, count)
        if reply is None:
            break
        programs += [Written(read_program(completion), temperature, model) for completion in reply.completions]
    return programs


def read_program(completion: Completion) -> str:
    """The program in a reply; empty without one, and for one that was cut: its end may be what makes it right."""
    return extract_code(completion.text) if concluded(completion) else ""


class Runner:
    """Runs programs on one test case, equal ones once."""

    def __init__(self, case: TestCase, sandbox: Sandbox) -> None:
        """Raises ``MissingExtraError`` without the extra."""
        self._frames: dict[str, pa.Table] = frames.arrow(case)
        self._days = not frames.has_midnights(case.tables)
        self._sandbox = sandbox
        self._results: dict[str, Result] = {}

    def run(self, code: str) -> Ran:
        """What the program leaves in ``result``; raises what ``Sandbox.run`` raises, for nothing that the code does."""
        if code not in self._results:
            self._results[code] = self._result(code)
        return Ran(code, self._results[code])

    def refusal(self, code: str) -> str | None:
        """Why a program is not run at all; it depends on its text alone, so it reveals nothing of the rows."""
        return refusal(code, self._frames)

    def columns_before(self, code: str, line: int) -> dict[str, list[str]]:
        """The columns of every frame that exists before the program reaches this line, counted from 1."""
        try:
            done = [statement for statement in ast.parse(code).body if (statement.end_lineno or 0) < line]
        except _NOT_PYTHON:
            return {}
        before = lines_of(code)[: done[-1].end_lineno if done else 0]
        ran = self._sandbox.run("\n".join(before) + _COLUMNS, self._frames, LIMITS)
        columns: dict[str, list[str]] = {}
        for name, column, *_ in ran.result.rows:
            columns.setdefault(str(name), []).append(str(column))
        return columns

    def _result(self, code: str) -> Result:
        if not code:
            return Result(error=QueryFailure("code", "there is no Python block"))
        if refused := self.refusal(code):
            return Result(error=QueryFailure("code", refused))
        result = self._sandbox.run(code, self._frames, LIMITS).result
        return Result(result.columns, frames.cells(result.rows, days=self._days), result.truncated, result.error)


def refusal(code: str, given: Collection[str]) -> str | None:
    """Why the program's result does not come from the ``given`` frames; None where it does, and in doubt.

    A frame may be bound again to what is made from given ones (``book = book[...]``) and to a plain value
    (``book = None``), not to rows that have nothing to do with them (``book = pd.DataFrame({...})``). The reason begins
    with the line, as errors do. Text that is not Python, or that reads a name which it never binds, is left to the
    sandbox.
    """
    try:
        tree = ast.parse(code)
        reading = _Reading(given)
        reading.follow(tree.body)
    except _NOT_PYTHON:
        return None
    if reading.remade:
        return reading.remade
    if reading.reached or _read(tree) - _bound(tree) - {*given}:
        return None
    return "the result uses none of the given frames: work it out from them"


class _Reading:
    """Which names come from the given frames, statement by statement; ``remade`` tells what makes a frame anew."""

    def __init__(self, given: Collection[str]) -> None:
        self.remade = ""
        self._given = frozenset(given)
        self._derived = {*given, *_REACH}
        self._made: set[str] = set()
        self._defined: dict[str, set[str]] = {}
        self._used = self._has_result = False

    @property
    def reached(self) -> bool:
        """Whether the result comes from given frames; where no name ``result`` is bound, whether anything does."""
        return _RESULT in self._derived if self._has_result else self._used

    def follow(self, body: Sequence[ast.stmt], inside: bool = False) -> None:
        """Go through statements in their order.

        ``inside`` one that reads a given frame, as ``for row in book.itertuples():``, all that is bound comes from it.
        The names within a function or class are its own.
        """
        for statement in body:
            bound = _bound(statement)
            self._has_result = self._has_result or _RESULT in bound
            if isinstance(statement, _SCOPES):
                self._defined[statement.name] = _read(statement)
            derived = not self._derived.isdisjoint(self._reads(statement))
            if derived:
                self._used = True
                names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                self._derived |= (bound | names) - _TOOLS
            elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                self._bind(statement.lineno, statement.value, bound, inside)
            if not isinstance(statement, _SCOPES):
                for block in _blocks(statement):
                    self.follow(block, inside or derived)

    def _reads(self, statement: ast.stmt) -> set[str]:
        """Names that are read there, and by functions that it names."""
        names = _read(statement)
        for name in names & self._defined.keys():
            names = names | self._defined[name]
        return names

    def _bind(self, line: int, value: ast.expr, names: set[str], inside: bool) -> None:
        """Names are bound to what has nothing to do with given frames."""
        if any(isinstance(node, _ROWS) for node in ast.walk(value)) or not self._made.isdisjoint(_read(value)):
            self._made |= names
            remade = sorted(names & self._given)
            if remade and not self.remade:
                self.remade = f"line {line}: {remade[0]} is given and keeps its rows: leave this out"
        if not inside:
            self._derived -= names


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    cases = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.ExceptHandler | ast.match_case)]
    for part in (statement, *cases):
        for name in ("body", "orelse", "finalbody"):
            yield getattr(part, name, [])


def _read(tree: ast.AST) -> set[str]:
    """Names that are read there, but for tools; the frame in ``book['new'] = 1`` is changed, not read."""
    nodes = list(ast.walk(tree))
    changed = {id(_base(node)) for node in nodes if isinstance(node, ast.Subscript | ast.Attribute) and _stores(node)}
    names = (node for node in nodes if isinstance(node, ast.Name) and not _stores(node))
    return {node.id for node in names if id(node) not in changed} - _TOOLS


def _stores(node: ast.Subscript | ast.Attribute | ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _bound(tree: ast.AST) -> set[str]:
    """Names that are bound there in any way."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest or "")
        elif isinstance(node, (*_SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names.add(node.name or "")
    return names
