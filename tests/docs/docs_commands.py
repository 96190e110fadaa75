"""The commands of the documentation: found in its pages, and run in a shell."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAST = {ROOT / "docs" / "log.md"}
"""What was run once, by the program of its day."""
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")} - PAST)
PROGRAMS = r"(?:[A-Z_]+=\S+ )*(?:sqljury|python|pip|docker|curl|make|cat|mkdir|export|for)\b "
SERVER = re.compile(r"^sqljury (?:serve|mcp(?=.* --http))(?!.*(?:--new-token|--print-config))")
SECONDS = 300.0


class Command(NamedTuple):
    """A command of a page, with the lines that a console shows after it; lines after ``> `` there are typed."""

    line: int
    text: str
    shown: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        return "".join(f"{line[2:]}\n" for line in self.shown if line.startswith("> "))


def commands(page: Path) -> Iterator[Command]:
    """Every line of a block ``sh``, those after ``$ `` in others, and indented ones that begin with a known program."""
    lines = page.read_text(encoding="utf-8").splitlines()
    kind: str | None = None  # of the block that the line is in
    at = 0
    while at < len(lines):
        begin, line = at, lines[at]
        at += 1
        if line.startswith("```"):
            kind = line[3:].strip() if kind is None else None
            continue
        if kind is None:
            if not re.match(rf"    {PROGRAMS}", line):
                continue
        elif kind == "sh":
            if not line or line.startswith("#"):
                continue
        elif kind not in ("", "console") or not re.match(r"\$ |sqljury ", line):
            continue
        text = line.strip().removeprefix("$ ")
        while text.endswith("\\") or (text.startswith("for ") and not text.endswith("done")):
            text, at = f"{text}\n{lines[at].strip()}", at + 1
        shown = []
        while kind == "console" and not lines[at].startswith(("$ ", "```")):
            shown.append(lines[at])
            at += 1
        yield Command(begin + 1, text, tuple(shown))


def files(page: Path) -> dict[str, str]:
    """The files that a page shows: blocks whose first line is a comment with a name that its commands have."""
    named = re.findall(r"^```\w+\n(# (\S+\.\w+)\n.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    texts = " ".join(command.text for command in commands(page)).split()
    return {name: text for text, name in named if name in texts}


class Shell:
    """A shell in ``folder`` whose ``sqljury`` and ``python`` are those of ``docs_program``."""

    def __init__(self, folder: Path, programs: Path, cache: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not re.search("KEY|TOKEN|^SQLJURY|^OTEL", name)
        }
        self.environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "SQLJURY_CACHE": str(cache), "S": "../shared"}
        self.environment |= {"COLUMNS": "100", "TERM": "dumb"}
        self.exported: list[str] = []
        self.server: subprocess.Popen[str] | None = None
        self.address = "localhost:8000"

    def run(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Run one command; a server is left running until the next one, or ``close``."""
        text = command.text.replace("localhost:8000", self.address)
        if text.startswith("export "):
            self.exported.append(text)
        if SERVER.match(text):
            return self._serve(text.replace("0.0.0.0", "127.0.0.1"))
        return subprocess.run(
            self._words(text),
            cwd=self.folder,
            env=self.environment,
            input=command.typed,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def _words(self, text: str) -> list[str]:
        return [shutil.which("sh") or "sh", "-c", "\n".join([*self.exported, text])]

    def _serve(self, text: str) -> subprocess.CompletedProcess[str]:
        self.close()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = self._words(f"exec {text.partition(' #')[0]} --port {port}")
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stdout=pipe, stderr=pipe, text=True
        )
        assert self.server.stderr is not None
        late = threading.Timer(SECONDS, self.server.kill)
        late.start()
        said = ""
        for line in self.server.stderr:
            said += line
            if match := re.search(r"http://(\S+?)/", line):
                self.address = match[1]
                late.cancel()
                return subprocess.CompletedProcess(words, 0, "", said)
        late.cancel()
        return subprocess.CompletedProcess(words, self.server.wait(), "", said)

    def close(self) -> None:
        """End the server as Ctrl-C does."""
        server, self.server = self.server, None
        if server is not None and server.poll() is None:
            server.send_signal(signal.SIGINT)
            try:
                server.communicate(timeout=SECONDS)
            finally:
                server.kill()
            assert server.returncode == 130, f"the server ended with {server.returncode}"
