"""A hook of mkdocs: the page reference/cli.md is written from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PAGE = "reference/cli.md"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with every command below its introduction; other pages as they are."""
    return "\n".join((markdown, *commands())) if page.file.src_uri == PAGE else markdown


def commands() -> Iterator[str]:
    """Markdown for every command, sorted by its name."""
    from typer.main import get_command

    from sqljury.cli import app

    yield from _described("sqljury", get_command(app))


def _described(name: str, command: Any) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if not below:
        options = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
        yield f"\n## `{name}`\n\n{_text(command.help)}\n"
        yield "| argument | meaning | default |\n|---|---|---|"
        yield from (f"| {_names(one)} | {_text(getattr(one, 'help', '') or '')} | {_default(one)} |" for one in options)
    for key, inner in sorted(below.items()):
        yield from _described(f"{name} {key}", inner)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _default(parameter: Any) -> str:
    value = getattr(parameter.default, "value", parameter.default)
    plain = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    return f"`{value}`" if plain else ""


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")
