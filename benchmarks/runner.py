"""What the runner of benchmarks costs beside the model, and what a run loses that is killed again and again.

    python benchmarks/runner.py overhead --data SPIDER_DIR [--limit 50] [--delay 1.0] [--recipe fast]
    python benchmarks/runner.py kills --data SPIDER_DIR [--limit 200] [--kills 20] [--delay 0.05] [--seed 1]
    python benchmarks/runner.py cluster --data SPIDER_DIR [--limit 400] [--delay 0.5] [--workers 1,2] [--out FOLDER]

All run questions with a ``FakeModel`` of fixed latency, the first two with gold as its answers. ``overhead`` splits the
time of a run into that of the model, of the pipeline (schemas, queries) and of the runner. ``kills`` ends the program
with SIGKILL at random moments, starts it again each time, and compares what it asked, by a log of the model's own, with
what a run that nobody stops asks. ``cluster`` answers questions (those of dev, again and again) by workers on a Ray of
this machine, and prints the throughput of each number of workers, and the driver's memory, beside the throughput that a
simulation with the service times of the first run says; the runs stay in ``--out``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

Asked = tuple[str, int, int]
"""One call: the question's text, the seed, and the number of samples."""


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("overhead", "kills", "cluster", "child"))
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=0, help="questions (50 for overhead, 200 for kills)")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds a call takes (1.0, and 0.05 for kills)")
    parser.add_argument("--recipe", default="")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the questions and the moments of kills")
    parser.add_argument("--workers", default="1,2", help="numbers of workers, for cluster")
    parser.add_argument("--out", type=Path, help="the folder of the run or runs")
    options = parser.parse_args()
    if options.what == "child":
        child(options)
    elif options.what == "overhead":
        overhead(options)
    elif options.what == "cluster":
        cluster(options)
    else:
        kills(options)


def child(options: argparse.Namespace) -> None:
    """`sqljury bench run` on a model that logs each call before it answers."""
    from sqljury import FakeModel
    from sqljury.cli import main as command
    from sqljury.llm import open as opening
    from sqljury.llm.fake import Call

    gold = {entry["question"]: entry["query"] for entry in json.loads((options.data / "dev.json").read_text())}
    texts = sorted(gold, key=len, reverse=True)  # a question may be the beginning of another
    log = os.open(f"{options.out}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def says(call: Call) -> str:
        text = next(text for text in texts if text in call.prompt)
        os.write(log, (json.dumps([os.getpid(), text, call.sampling.seed, call.n]) + "\n").encode())
        return str(gold[text])

    model = FakeModel(says, delay=options.delay)
    opening._bare = lambda _, __: model
    run = ["bench", "run", "--data", str(options.data), "--limit", str(options.limit), "--seed", str(options.seed)]
    sys.argv = ["sqljury", *run, "--recipe", options.recipe, "--out", str(options.out)]
    command()


def start(options: argparse.Namespace, out: Path) -> subprocess.Popen[bytes]:
    """The child in a process of its own."""
    arguments = ("--data", options.data, "--limit", options.limit, "--delay", options.delay, "--seed", options.seed)
    command = [sys.executable, __file__, "child", *map(str, arguments), "--recipe", options.recipe, "--out", str(out)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def lines(file: Path) -> list[Any]:
    """The whole lines of a file of JSON."""
    raw = file.read_bytes() if file.exists() else b""
    return [json.loads(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]


def overhead(options: argparse.Namespace) -> None:
    """Print where the time of a run goes, from the first answer to the last."""
    options.limit, options.delay = options.limit or 50, options.delay or 1.0
    options.recipe = options.recipe or "fast"
    from sqljury import FakeModel, Pipeline
    from sqljury.bench import run
    from sqljury.bench.calls import calls
    from sqljury.datasets import benchmarks, spider

    found = benchmarks.load(options.data)
    drawn = spider.sample(found.examples, options.limit, options.seed)
    gold = {one.question.text: one.gold_sql for one in drawn}
    texts = sorted(gold, key=len, reverse=True)

    def says(call: Any) -> str:
        return gold[next(text for text in texts if text in call.prompt)]

    pipeline = Pipeline.from_recipe(options.recipe, FakeModel(says, delay=options.delay))
    within, answer = [0.0, 0.0], run.answer

    def timed(*arguments: Any) -> Any:
        began = clocks()
        record = answer(*arguments)
        for at, (now, then) in enumerate(zip(clocks(), began, strict=True)):
            within[at] += now - then
        return record

    run.answer = timed  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = clocks()
        run.run(drawn, pipeline, out, run.settings(pipeline, found.settings, options.seed))
        whole = [now - then for now, then in zip(clocks(), began, strict=True)]
        made = calls(out)
    model = sum(call.cost.seconds for call in made)
    print(f"{len(drawn)} questions, {len(made)} calls of {options.delay:g} s, recipe {options.recipe}; seconds")
    print(f"{'':<28} {'wall':>8} {'CPU':>8}  wall, % of the model's")
    rows = {"model": (model, None), "pipeline: schemas, queries": (within[0] - model, within[1])}
    rows["runner"] = (whole[0] - within[0], whole[1] - within[1])
    for label, (wall, cpu) in rows.items():
        print(f"{label:<28} {wall:8.2f} {'' if cpu is None else f'{cpu:.2f}':>8}  {100 * wall / model:6.2f}")


def cluster(options: argparse.Namespace) -> None:
    """Print questions a second and the driver's memory for each number of workers."""
    options.limit, options.delay = options.limit or 400, options.delay or 0.5
    from sqljury import FakeModel, Pipeline
    from sqljury.bench import run, workers
    from sqljury.datasets import benchmarks
    from sqljury.experiments import scaling
    from sqljury.parallel.cluster import Cluster

    found = benchmarks.load(options.data)
    numbered = [found.examples[at % len(found.examples)] for at in range(options.limit)]
    asked = [replace(one, id=f"{one.id}-{at}") for at, one in enumerate(numbered)]
    delay, recipe = options.delay, options.recipe or "fast"

    def make() -> Pipeline:
        return Pipeline.from_recipe(recipe, FakeModel("SELECT 1", delay=delay))

    print(f"{len(asked)} questions, calls of {delay:g} s, recipe {recipe}")
    print(f"{'workers':>7} {'seconds':>8} {'a second':>8} {'simulated':>9} {'driver, MB: first':>18} {'last':>6}")
    services: list[scaling.Service] = []
    for count in map(int, options.workers.split(",")):
        times, memory = [], []

        def told(_: int, record: Any, times: list[float] = times, memory: list[float] = memory) -> None:
            if record is not None:
                times.append(time.perf_counter())
                memory.append(resident())

        with tempfile.TemporaryDirectory() as folder, closing(Cluster("local", count)) as crew:
            out = (options.out or Path(folder)) / f"workers{count}"
            workers.run(asked, make, out, run.settings(make(), found.settings, options.seed), crew, told)
            services = services or scaling.measured(out)  # all numbers of workers are simulated by the first run
        # the first answer of each worker waits for its start
        seconds, begun = times[-1] - times[2 * count], len(times) - 1 - 2 * count
        expected = len(services) / scaling.run_seconds(services, count)
        print(f"{count:7} {seconds:8.1f} {begun / seconds:8.2f} {expected:9.2f}", end=" ")
        print(f"{memory[2 * count]:18.0f} {memory[-1]:6.0f}", flush=True)


def resident() -> float:
    """Megabytes of memory that this process holds."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def clocks() -> tuple[float, float]:
    """The wall clock, and the processor time of this process: beside other work only that says what a part costs."""
    return time.perf_counter(), time.process_time()


def kills(options: argparse.Namespace) -> None:
    """Print what a run has and has asked that was killed so often, beside one that was not."""
    options.limit, options.delay = options.limit or 200, options.delay or 0.05
    options.recipe = options.recipe or "default"
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, out = Path(folder) / "whole", Path(folder) / "killed"
        if code := start(options, whole).wait():
            raise SystemExit(f"the run that nobody stops ended with exit code {code}; see why with: child --out FOLDER")
        wanted = [asked(line) for line in lines(Path(f"{whole}.log"))]
        moments = sorted(draw.randrange(len(wanted)) for _ in range(options.kills))
        flying, torn = [], 0
        for moment in moments:
            process = start(options, out)
            while process.poll() is None and len(lines(Path(f"{out}.log"))) <= moment:
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 2 * options.delay))
            process.kill()
            process.wait()
            answered = {record["question"] for record in lines(out / "answers.jsonl")}
            flying.append({text for _, text, *_ in lines(Path(f"{out}.log")) if text not in answered})
            raw = (out / "answers.jsonl").read_bytes() if (out / "answers.jsonl").exists() else b""
            torn += bool(raw) and not raw.endswith(b"\n")
        code = start(options, out).wait()
        made = Counter(asked(line) for line in lines(Path(f"{out}.log")))
        repeated = {text for (text, *_), count in made.items() if count > 1}
        answers = lines(out / "answers.jsonl")
        same = {record["id"]: record["sql"] for record in answers} == {
            record["id"]: record["sql"] for record in lines(whole / "answers.jsonl")
        }
    print(f"{len(moments)} kills; the last start ended with {code}; torn last lines found: {torn}")
    print(f"results {len(answers)}, of different questions {len({record['id'] for record in answers})}")
    print(f"the same answers as a run that nobody stopped: {'yes' if same else 'NO'}")
    print(f"calls {sum(made.values())} for {len(wanted)} that are needed; never asked: {len(set(wanted) - set(made))}")
    print(f"questions in flight at a kill {len(set().union(*flying))}, at most {max(map(len, flying))} at once")
    print(f"questions with a repeated call {len(repeated)}, not in flight: {len(repeated - set().union(*flying))}")


def asked(line: list[Any]) -> Asked:
    """A line of the model's log without the process."""
    return (line[1], line[2], line[3])


if __name__ == "__main__":
    main()
