"""Seconds that `import sqljury` and `sqljury --help` take, as whole processes.

.venv/bin/python benchmarks/startup.py [--runs 10]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "python -c pass (for comparison)": [sys.executable, "-c", "pass"],
    "import sqljury": [sys.executable, "-c", "import sqljury"],
    "sqljury --help": [str(Path(sys.executable).with_name("sqljury")), "--help"],
}


def main() -> None:
    """Print the median of each after one run that is not counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    for name, command in COMMANDS.items():
        taken = [measure(command) for _ in range(runs + 1)][1:]
        print(f"{name:34s} {statistics.median(taken):.3f} s ({min(taken):.3f} - {max(taken):.3f})")


def measure(command: list[str]) -> float:
    """Wall seconds of one process."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
