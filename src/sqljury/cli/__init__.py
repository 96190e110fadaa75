"""The command line, one file per command: errors are one line on stderr and a documented exit code."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
from copy import copy
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from sqljury import traces
from sqljury.cli import (
    ask,
    audit,
    bench,
    bench_run,
    calibrate,
    chat,
    check,
    choose,
    evaluate,
    index,
    mcp,
    models,
    project,
    report,
    reproduce,
    scale,
    schema,
    serve,
    suite,
    terminal,
    train,
    tune,
)
from sqljury.errors import SqljuryError

app = typer.Typer(
    name="sqljury",
    help="Ask a database a question in plain language; get tested SQL, its result and the evidence for it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("ask")(ask.ask)
app.command("calibrate")(calibrate.calibrate)
app.command("chat")(chat.chat)
app.command("check")(check.check)
app.command("choose")(choose.choose)
app.command("cost")(bench_run.cost)
app.command("import")(project.take_over)
app.command("init")(project.init)
app.command("feedback")(project.feedback)
app.command("test")(project.retest)
app.command("mcp")(mcp.serve)
app.command("eval")(evaluate.evaluate)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("scale")(scale.scale)
app.command("schema")(schema.describe)
app.command("serve")(serve.serve)
app.command("tune")(tune.tune)
app.add_typer(audit.app, name="audit")
app.add_typer(bench.app, name="bench")
app.add_typer(index.app, name="index")
app.add_typer(models.app, name="models")
app.add_typer(suite.app, name="suite")
app.add_typer(train.app, name="train")

OTHER = 1
INTERRUPTED = 130
BROKEN_PIPE = 141


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"sqljury {version('sqljury')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit: 0 when it worked, else the error's own code (see ``sqljury.errors``)."""
    terminal.prepare()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job, where SIGTERM would be lost too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # SIGTERM is handled like Ctrl-C, so that nothing is left behind, such as copies of the user's files.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    code = _guarded(sys.argv[1:])
    if code == INTERRUPTED:  # a normal exit would wait for a model that is still reading
        atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)


def _guarded(arguments: list[str]) -> int:
    """The exit code of a command, including failures to write its output."""
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a full disk can still be reported
        return code
    except (KeyboardInterrupt, typer.Abort) as stop:
        terminal.say(str(stop) or "stopped")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it
        terminal.abandon()
        return BROKEN_PIPE
    except OSError as error:
        what = error.strerror or str(error) or type(error).__name__
        terminal.say(f"{os.fsdecode(error.filename)}: {what}" if _named(error) else what)
        terminal.abandon()
        return OTHER


def _run(arguments: list[str]) -> int:
    # Typer's own main is not used: it turns Ctrl-C and a broken pipe into exits of its own.
    command = _command(arguments[0] if arguments else "")
    try:
        traces.export_by_environment()
        with command.make_context("sqljury", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except typer.TyperException as error:
        text = io.StringIO()
        error.show(file=text)  # type: ignore[attr-defined]  # every error of the command line has show
        print(terminal.clean_lines(text.getvalue()), file=sys.stderr)
        return error.exit_code
    except SqljuryError as error:
        terminal.say(str(error))
        return error.exit_code
    return 0


@cache
def _command(name: str) -> Any:  # Typer says a class of its own copy of Click, which has no public name
    """The parser of the command line, with no command but ``name`` where there is one.

    Typer reads the signatures of all commands that it is given, anew each time: a fifth of the start of the program.
    """
    chosen = copy(app)
    chosen.registered_commands = [known for known in app.registered_commands if known.name == name]
    chosen.registered_groups = [known for known in app.registered_groups if known.name == name]
    return get_command(chosen if chosen.registered_commands or chosen.registered_groups else app)


def _named(error: OSError) -> bool:
    return isinstance(error.filename, str | bytes)
