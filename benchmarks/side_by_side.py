"""Tokens a second that a local model writes: calls at once, and samples of a call.

    python benchmarks/side_by_side.py [MODEL] [--most 6] [--tokens 60] [--weights-alone]

All calls share a system message of some 600 tokens, which is read before; each has some 30 of its own to read, which
counts. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import threading
import time
from contextlib import closing

from sqljury.llm import models
from sqljury.llm.adapters import NONE
from sqljury.llm.base import Message, Reply, Sampling
from sqljury.llm.local import LocalModel

WRITER = "sqljury-writer"
TABLES = "\n".join(
    f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT, amount REAL, created_on TEXT);" for number in range(20)
)


def main() -> None:
    """Print a line for each number of calls and samples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", nargs="?", default=models.DEFAULT, help="a local model or a .gguf file")
    parser.add_argument("--most", type=int, default=6, help="the most calls at once")
    parser.add_argument("--tokens", type=int, default=60, help="tokens that a sample writes at most")
    parser.add_argument("--weights-alone", action="store_true", help=f"without the adapter {WRITER}")
    options = parser.parse_args()
    bare = options.weights_alone or options.model != models.DEFAULT
    with closing(LocalModel(options.model, together=options.most, adapter=NONE if bare else WRITER)) as model:
        ask(model, 0, 1, options.tokens)  # reads the system message
        print(f"{'calls':>5} {'samples':>7} {'tokens':>6} {'seconds':>8} {'a second':>8} {'longest, tokens':>15}")
        for calls, samples in [(1, 1), (1, 4), *((calls, 1) for calls in (2, 4, options.most))]:
            written, seconds = measured(model, calls, samples, options.tokens)
            total, longest = sum(map(sum, written)), max(map(max, written))
            print(f"{calls:5} {samples:7} {total:6} {seconds:8.2f} {total / seconds:8.1f} {longest:15}", flush=True)


def measured(model: LocalModel, calls: int, samples: int, tokens: int) -> tuple[list[list[int]], float]:
    """The tokens of each sample of each call, and the seconds until all had ended."""
    replies: list[Reply] = []

    def work(number: int) -> None:
        replies.append(ask(model, number, samples, tokens))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, calls + 1)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    return [[len(one.tokens or ()) for one in reply.completions] for reply in replies], seconds


def ask(model: LocalModel, number: int, samples: int, tokens: int) -> Reply:
    """One call; with several samples each has its own draw."""
    asked = f"Count from {number} upwards, in words and with commas, up to 500."
    messages = [Message("system", f"You write long lists.\n{TABLES}"), Message("user", asked)]
    sampling = Sampling(temperature=0.8 if samples > 1 else 0.0, max_tokens=tokens, seed=number)
    return model.complete(messages, sampling, samples)


if __name__ == "__main__":
    main()
