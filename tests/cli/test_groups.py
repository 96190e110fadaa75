"""Groups of options: fields of a frozen class as the options of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sqljury.cli.groups import grouped


@dataclass(frozen=True, kw_only=True)
class Ink:
    colour: Annotated[str, typer.Option(help="The colour.")] = "black"
    tags: Annotated[list[str] | None, typer.Option("--tag")] = None


@dataclass(frozen=True, kw_only=True)
class Pen:
    ink: Ink
    width: Annotated[int, typer.Option(min=1)] = 2


@dataclass(frozen=True, kw_only=True)
class BroadPen(Pen):
    width: Annotated[int, typer.Option(min=1)] = 9


def test_a_command_takes_the_options_of_its_groups_at_any_depth() -> None:
    app, drawn = typer.Typer(), []

    @app.command()
    @grouped
    def draw(shape: Annotated[str, typer.Argument()], pen: Pen, times: int = 1) -> None:
        drawn.append((shape, pen, times))

    run = CliRunner().invoke(app, ["star", "--tag", "a", "--tag", "b", "--width", "3", "--times", "4"])
    assert run.exit_code == 0, run.output
    assert drawn == [("star", Pen(ink=Ink(tags=["a", "b"]), width=3), 4)]
    assert "--colour" in CliRunner().invoke(app, ["--help"]).output
    assert CliRunner().invoke(app, ["star", "--width", "0"]).exit_code == 2


def test_it_can_be_called_as_a_function_with_the_options_by_name() -> None:
    drawn = []

    @grouped
    def draw(shape: str, pen: BroadPen) -> None:
        drawn.append((shape, pen))

    draw("star")
    draw("star", colour="red")
    assert drawn == [("star", BroadPen(ink=Ink())), ("star", BroadPen(ink=Ink(colour="red")))]
    with pytest.raises(TypeError):
        draw("star", size=1)
