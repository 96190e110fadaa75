"""The program for the commands of the documentation; see ``forked``.

Models, whatever their names, answer as ``docs_world`` says, and few changes of a test's rows are tried; nothing else is
replaced.
"""

from __future__ import annotations

import os
import runpy
import sys

import forked


def main() -> None:
    from docs_world import model

    from sqljury.llm import open as opening
    from sqljury.llm.base import NoModel
    from sqljury.testing.agents import data

    forked.preload()
    opening._bare = lambda spec, _together: NoModel() if spec == NoModel.name else model(spec)
    opening._look_for = lambda spec: None  # weights
    data.CHANGED = 5  # type: ignore[misc]  # for more than a second a question
    forked.serve(sys.argv[1], run)


def run(program: str, arguments: list[str]) -> None:
    from sqljury.cli import main as command

    if program == "sqljury":
        sys.argv = ["sqljury", *arguments]
        command()
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
