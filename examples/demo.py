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
        done = subprocess.run([str(Path(sys.executable).with_name("sqljury")), *arguments], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    print("\nYour turn: .venv/bin/sqljury ask 'your question' --db your.db --explain")
    return 0


if __name__ == "__main__":
    sys.exit(main())
