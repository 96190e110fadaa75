"""How common clients are told of the server: ``sqljury mcp --print-config``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any, Final

from sqljury.types.serialize import in_toml

_HEADINGS: Final = {
    "claude": "Claude Code, in a shell",
    "desktop": "Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json), Windsurf, Gemini CLI",
    "cursor": "Cursor (.cursor/mcp.json); Windsurf calls the key serverUrl, Gemini CLI httpUrl",
    "vscode": "VS Code (.vscode/mcp.json)",
    "codex": "Codex (~/.codex/config.toml)",
}
_TOKEN: Final = "SQLJURY_TOKEN"  # noqa: S105 - the name of an environment variable


def registration(command: Sequence[str], variables: Sequence[str] = ()) -> str:
    """What to enter in each client so that it starts this command.

    ``variables`` are environment variables that it needs: most clients start servers without those of the shell.
    """
    program, *arguments = command
    env = dict.fromkeys(variables, "...")
    stdio = {"command": program, "args": arguments, **({"env": env} if env else {})}
    given = "".join(f'--env {name}="${name}" ' for name in variables)
    table = ", ".join(f"{name} = {in_toml(value)}" for name, value in env.items())
    codex = f"[mcp_servers.sqljury]\ncommand = {in_toml(program)}\nargs = {in_toml(arguments)}"
    return _texts(
        claude=f"claude mcp add sqljury {given}-- {shlex.join(command)}",
        desktop=_json({"mcpServers": {"sqljury": stdio}}),
        vscode=_json({"servers": {"sqljury": {"type": "stdio", **stdio}}}),
        codex=f"{codex}\nenv = {{ {table} }}" if env else codex,
    )


def remote_registration(url: str, *, token: bool) -> str:
    """What to enter in each client so that it calls the server at this URL, with a ``token`` if it asks for one."""
    bearer = "Authorization: Bearer TOKEN"
    name, _, value = bearer.partition(": ")
    headers = {"headers": {name: value}} if token else {}
    codex = f"[mcp_servers.sqljury]\nurl = {in_toml(url)}"
    return _texts(
        claude=f"claude mcp add --transport http sqljury {url}" + (f' --header "{bearer}"' if token else ""),
        cursor=_json({"mcpServers": {"sqljury": {"url": url, **headers}}}),
        vscode=_json({"servers": {"sqljury": {"type": "http", "url": url, **headers}}}),
        codex=f'{codex}\nbearer_token_env_var = "{_TOKEN}"' if token else codex,
    )


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2)


def _texts(**texts: str) -> str:
    return "\n\n".join(f"# {_HEADINGS[name]}\n{text}" for name, text in texts.items())
