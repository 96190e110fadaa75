"""How common clients are told of the server: ``sqljury mcp --print-config``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Final

_HEADINGS: Final = {
    "claude": "Claude Code, in a shell",
    "desktop": "Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json), Windsurf, Gemini CLI",
    "vscode": "VS Code (.vscode/mcp.json)",
    "codex": "Codex (~/.codex/config.toml)",
}


def registration(command: Sequence[str]) -> str:
    """What to enter in each client so that it starts this command."""
    program, *arguments = command
    stdio = {"command": program, "args": arguments}
    texts = {
        "claude": f"claude mcp add sqljury -- {shlex.join(command)}",
        "desktop": json.dumps({"mcpServers": {"sqljury": stdio}}, indent=2),
        "vscode": json.dumps({"servers": {"sqljury": {"type": "stdio", **stdio}}}, indent=2),
        "codex": f"[mcp_servers.sqljury]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}",
    }
    return "\n\n".join(f"# {heading}\n{texts[name]}" for name, heading in _HEADINGS.items())
