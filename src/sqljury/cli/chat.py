"""``sqljury chat``: questions one after another at a prompt, with the evidence of the last answer at hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from sqljury.cli import candidate_tables, case_tables, show, terminal
from sqljury.cli.groups import AnswerOptions, ViewOptions, grouped
from sqljury.cli.options import DbOption, NotesOption, ProjectOption
from sqljury.cli.target import project_for, session_options

if TYPE_CHECKING:
    from sqljury.api import Session
    from sqljury.context import Progress
    from sqljury.errors import NoAnswerError
    from sqljury.project import Project
    from sqljury.types import Answer

HELP: Final = {
    "\\schema [TABLE]": "tables, or the columns of one",
    "\\find WORD": "tables, columns and values that a word may mean",
    "\\sql [QUERY]": "the query of the last answer, or the result of a query of your own",
    "\\chart": "the rows of the last answer as bars",
    "\\why": "the candidates of the last answer, and rows that tell it from its rival",
    "\\good": "approve the last answer (kept in the context folder)",
    "\\bad [QUERY]": "reject the last answer; add the right query, or what a word means",
    "\\new": "begin a new topic: the next question refers to none before it",
    "\\help": "this list",
    "\\quit": "leave, as quit, exit and Ctrl-D do",
}
_BAR: Final = 40
"""The width of the longest bar."""
_BARS: Final = 60
COMMANDS: Final = tuple(entry.split()[0] for entry in HELP)


@grouped
def chat(
    *,
    db: DbOption = None,
    project: ProjectOption = None,
    answering: AnswerOptions,
    notes: NotesOption = None,
    view: ViewOptions,
) -> None:
    """Ask questions at a prompt; names and values are completed, \\help lists the commands."""
    from sqljury.api import Session

    target = session_options(db, project, notes=notes, **answering.target(), **view.target())
    folder = project_for(db, project)
    with Session(**target, **answering.session()) as session:
        talk = Chat(session, folder, (db or folder.default) if folder else "")
        for line in _typed(talk) if sys.stdin.isatty() else _piped():
            if not talk.take(line):
                break


class Chat:
    """A conversation on one database; ``take`` handles a line and prints what comes of it."""

    def __init__(self, session: Session, project: Project | None = None, database: str = "") -> None:
        self.session, self._project, self._database = session, project, database
        self.answer: Answer | None = None
        self._failed: NoAnswerError | None = None
        self._earlier: list[str] = []

    def take(self, line: str) -> bool:
        """Answer a question or carry out a command; False to end. Errors are printed and end nothing."""
        from sqljury.errors import SqljuryError

        line = line.strip()
        if not line:
            return True
        command, _, argument = line.partition(" ")
        if command in ("\\quit", "\\q") or line.casefold() in ("quit", "exit"):
            return False
        try:
            if command.startswith("\\"):
                self._command(command, argument.strip())
            else:
                self._ask(line)
        except SqljuryError as error:
            terminal.say(str(error))
        except KeyboardInterrupt:
            terminal.say("stopped")
        return True

    def _command(self, name: str, argument: str) -> None:
        does: dict[str, Callable[[str], None]] = {
            "\\schema": self._schema,
            "\\find": self._find,
            "\\sql": self._sql,
            "\\chart": self._chart,
            "\\why": self._why,
            "\\good": lambda _: self._judge("", good=True),
            "\\bad": lambda text: self._judge(text, good=False),
            "\\new": lambda _: self._earlier.clear(),
            "\\help": self._help,
        }
        if name not in does:
            terminal.say(f"there is no command {name[:40]}; \\help lists them")
            return
        does[name](argument)

    def _ask(self, question: str) -> None:
        from sqljury.errors import NoAnswerError
        from sqljury.stages.follow import UNDERSTOOD

        self.answer = self._failed = None
        with show.progress() as report, terminal.interruptible() as cancel:

            def follow(at: Progress) -> None:
                if at.step.startswith(UNDERSTOOD):
                    report.close()
                    terminal.show(terminal.clean(f"Understood as:{at.step.removeprefix(UNDERSTOOD)}"))
                report(at)

            try:
                self.answer = self.session.following(follow, cancel).ask(question, earlier=self._earlier)
            except NoAnswerError as error:
                self._failed = error
                raise
        self._earlier.append(self.answer.question.text)
        self.answer = show.answer(self.answer, "table", None, False)
        if self.answer.abstention is not None:
            more = " See the queries with \\why." if self.answer.abstention.kind == "unsure" else ""
            terminal.show(terminal.clean(f"{self.answer.abstention}{more}"))

    def _schema(self, name: str) -> None:
        from sqljury.cli.schema import parts
        from sqljury.types.schema import only_tables

        with show.progress() as report, terminal.interruptible() as cancel:
            known = self.session.following(report, cancel).describe()
        tables = known.schema.tables
        if not name:
            for table in tables:
                terminal.show(terminal.clean(f"{table.name}({', '.join(column.name for column in table.columns)})"))
            return
        wanted = [table.name for table in tables if table.name.casefold() == name.casefold()]
        if not wanted:
            terminal.say(f"there is no table {name[:80]!r}; \\schema lists them, \\find looks for a word")
            return
        terminal.show(*parts(type(known)(only_tables(known.schema, wanted), known.contents)))

    def _find(self, text: str) -> None:
        with show.progress() as report, terminal.interruptible() as cancel:
            matches = self.session.following(report, cancel).search(text, 5)
        for match in matches:
            name = f"{match.table}.{match.column}" if match.column else match.table
            value = f" = {match.value!r}" if match.kind == "value" else ""
            terminal.show(terminal.clean(f"{match.kind:6} {name}{value}"))
        if not matches:
            terminal.show("no table, column or value is like it")

    def _sql(self, sql: str) -> None:
        if not sql:
            if answer := self._last():
                terminal.show_query(answer.sql, answer.dialect)
            return
        with terminal.interruptible() as cancel:
            result = self.session.following(lambda _: None, cancel).query(sql)
        if result.error is not None:
            terminal.say(str(result.error))
        else:
            terminal.show(case_tables.table_of(result))

    def _chart(self, _: str) -> None:
        answer = self._last()
        if answer is None:
            return
        lines = [] if answer.abstained else bars(answer.chart())
        terminal.show(*lines or ["no chart for these rows; it needs a column of names or times and one of numbers"])

    def _why(self, _: str) -> None:
        if self._failed is not None:
            dialect = self.session.database.dialect
            candidate_tables.evidence(self._failed.candidates, self._failed.cost, dialect=dialect)
        elif answer := self._last():
            if answer.verified is None:
                with show.progress() as report, terminal.interruptible() as cancel:
                    self.answer = answer = self.session.following(report, cancel).verify(answer)
            case_tables.verification(answer, stderr=False)
            candidate_tables.evidence(
                answer.candidates, answer.cost, choice=answer.choice, steps=answer.steps, dialect=answer.dialect
            )

    def _judge(self, text: str, *, good: bool) -> None:
        from sqljury.project.feedback import Feedback, record
        from sqljury.sql.parse import read_query

        answer = self._last()
        if answer is None:
            return
        if self._project is None:
            terminal.say("there is no context folder to keep this in; sqljury init makes one")
            return
        begins = text.lower().startswith(("select", "with"))  # as a comment may: "with sales we mean net sales"
        is_query = begins and read_query(text.rstrip("; "), answer.dialect) is not None
        correction, comment = (text, "") if is_query else ("", text)
        record(self._project, Feedback(answer.question.text, answer.sql, self._database, good, correction, comment))
        terminal.show("kept in feedback.jsonl; sqljury feedback proposes what to do with it")

    def _help(self, _: str) -> None:
        for entry, text in HELP.items():
            terminal.show(f"{entry:16} {text}")

    def _last(self) -> Answer | None:
        if self.answer is None:
            terminal.say("there is no answer yet; ask a question")
        return self.answer


def bars(spec: Mapping[str, Any] | None) -> list[str]:
    """A bar chart or a line of a Vega-Lite specification, a bar a row; nothing for other charts."""
    encoding = {} if spec is None else spec["encoding"]
    if spec is None or not {"x", "y"} <= encoding.keys() or encoding["x"]["type"] == "quantitative":
        return []
    y = encoding["y"]["field"]
    rows = [row for row in spec["data"]["values"] if row[y] is not None]
    if encoding["x"].get("sort") == "-y":
        rows.sort(key=lambda row: -row[y])
    names = [", ".join(terminal.text(row[at["field"]]) for at in (encoding["x"], *_colour(encoding))) for row in rows]
    most = max((abs(row[y]) for row in rows), default=0) or 1
    wide = max(map(len, names), default=0)
    drawn = [
        f"{name:{wide}}  {('█' if row[y] >= 0 else '░') * round(_BAR * abs(row[y]) / most)} {row[y]:,.12g}"
        for name, row in zip(names, rows, strict=True)
    ]
    more = [f"{len(drawn) - _BARS} more rows"] if len(drawn) > _BARS else []
    return [terminal.clean(encoding["y"]["title"]), *drawn[:_BARS], *more]


def _colour(encoding: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [encoding["color"]] if "color" in encoding else []


def _piped() -> Iterator[str]:
    """Lines of a file or another program; each is printed, so that the output can be read alone."""
    for line in sys.stdin:
        if line.strip():
            terminal.show(terminal.clean(f"> {line.strip()}"))
            yield line


def _typed(talk: Chat) -> Iterator[str]:
    """Lines of a person, with history and completion; raises ``MissingExtraError`` without ``prompt_toolkit``."""
    prompt = prompting(talk.session)
    terminal.show("Ask in your own words; \\help lists the commands.")
    while True:
        try:
            yield prompt.prompt("> ")
        except KeyboardInterrupt:  # the line is dropped
            continue
        except EOFError:
            return


def prompting(session: Session, **toolkit: Any) -> Any:
    """The prompt, whose history is a file that only the user may read; ``toolkit`` goes to ``PromptSession``."""
    import os

    from sqljury.errors import MissingExtraError
    from sqljury.llm.models import cache_dir

    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory

        from sqljury.cli.completion import Words
    except ModuleNotFoundError:
        raise MissingExtraError("prompt_toolkit", "chat") from None
    path = cache_dir() / "chat_history"
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_APPEND, 0o600))
    words = Words(session, COMMANDS)
    return PromptSession(history=FileHistory(str(path)), completer=words, complete_in_thread=True, **toolkit)
