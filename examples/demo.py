"""Asks the example database the questions marked as a demo, the way a user would: through the command line."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATABASE = HERE / "shop" / "shop.db"


def main() -> int:
    """Run the three questions; the exit code of the first that fails, else 0."""
    lines = (HERE / "shop" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    for entry in map(json.loads, lines):
        if not entry.get("demo"):
            continue
        arguments = ["ask", entry["question"], "--db", str(DATABASE.relative_to(ROOT))]
        print(f"\n$ sqljury {shlex.join(arguments)}\n", flush=True)
        code = run([str(Path(sys.executable).with_name("sqljury")), *arguments])
        if code:
            return code
    print("\nYour turn: .venv/bin/sqljury ask 'your question' --db your.db --explain")
    return 0


def run(command: list[str]) -> int:
    """The exit code of ``command``, which answers Ctrl-C itself: it is given the time to say so."""
    with subprocess.Popen(command, cwd=ROOT) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
