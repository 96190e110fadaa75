"""Simulations against what is known of queues, and against real runs."""

from __future__ import annotations

import re
import threading
import time
from math import factorial
from pathlib import Path
from statistics import fmean

import pytest

from judging import data as data
from sqljury import FakeModel, Pipeline
from sqljury.bench import run, workers
from sqljury.datasets import spider
from sqljury.errors import DatasetError, InputError
from sqljury.experiments import scaling
from sqljury.experiments.scaling import Load, Service
from sqljury.recipes import GeneratePart, Recipe

EVEN = [Service("a", (1.0,), 0.0)] * 40


def test_a_run_of_even_questions_takes_what_one_would_reckon() -> None:
    assert scaling.run_seconds(EVEN, 1) == pytest.approx(40)
    assert scaling.run_seconds(EVEN, 1, overhead=0.1) == pytest.approx(44)
    assert scaling.run_seconds(EVEN, 1, slots=4) == pytest.approx(10)
    assert scaling.run_seconds(EVEN, 4) == pytest.approx(10, abs=1)
    halves = [Service("a", (1.0,), 0.0)] * 20 + [Service("b", (1.0,), 0.0)] * 20
    assert scaling.run_seconds(halves, 2) == pytest.approx(20)
    uneven = [Service("a", (1.0,), 0.0)] * 36 + [Service("b", (1.0,), 0.0)] * 4
    assert scaling.run_seconds(uneven, 2) == pytest.approx(20, abs=2)  # the second helps the first


def test_waiting_in_a_queue_is_what_theory_says() -> None:
    """Exponential service: Erlang's formula for the wait with c servers, within the noise of the simulation."""
    import random

    draw = random.Random(5)
    services = [Service("a", (draw.expovariate(1.0),), 0.0) for _ in range(4000)]
    mean = fmean(one.seconds for one in services)
    for servers, rate in ((1, 0.7), (8, 5.5)):
        busy = rate * mean
        share = busy / servers
        last = busy**servers / factorial(servers) / (1 - share)
        waiting = last / (sum(busy**k / factorial(k) for k in range(servers)) + last)
        outcomes = [scaling.simulated(services, Load(rate), servers, 50, seed) for seed in range(12)]
        assert fmean(one.busy for one in outcomes) == pytest.approx(share, abs=0.03)
        waited = fmean(one.mean for one in outcomes) - mean
        assert waited == pytest.approx(waiting * mean / (servers - busy), rel=0.25)


def test_a_size_is_the_least_that_is_fast_enough() -> None:
    services = [Service("a", (0.5, 0.5), 0.1), Service("a", (3.0,), 0.1)]
    load = Load(20.0)
    size = scaling.sized(services, load)
    assert size.p50 <= scaling.SLOWER * 3.1
    busy = 20 * 2.0
    assert busy < size.models < 2 * busy
    assert scaling.simulated(services, load, int(busy * 0.9), 9).p95 > 2 * size.p95
    cached = scaling.sized(services, Load(20.0, 0.5))
    assert cached.models < 0.75 * size.models


def test_near_saturation_answers_slow_down() -> None:
    services = [Service("a", (1.0,), 0.0), Service("a", (2.0,), 0.0)]
    points = scaling.saturation(services, scaling.sized(services, Load(5.0)), Load(5.0))
    assert [share for share, _ in points] == sorted(share for share, _ in points)
    assert points[-1][1].p95 > 1.5 * points[0][1].p95


@pytest.mark.parametrize("calls", [(), (1e-6,)])
def test_questions_that_hardly_need_a_model_end_too(calls: tuple[float, ...]) -> None:
    cached = [Service("a", calls, 100.0)] * 4
    load = Load(1.0)
    size = scaling.sized(cached, load)
    assert size.models == 1
    assert scaling.saturation(cached, size, load) == []
    assert "hardly needed" in scaling.page("t", cached, [["a"], ["1"]], {})


def test_what_makes_no_sense_is_refused() -> None:
    for load, slower in ((Load(0.0), 1.2), (Load(1.0), 1.0), (Load(1.0, 1.0), 1.2)):
        with pytest.raises(InputError):
            scaling.sized(EVEN, load, slower)


RECIPE = Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0)))


def test_service_times_come_from_the_journal(data: Path, tmp_path: Path) -> None:
    pipeline = Pipeline(RECIPE, FakeModel("SELECT 1", delay=0.05))
    out = tmp_path / "run"
    with pytest.raises(DatasetError):
        scaling.measured(empty(data, tmp_path, pipeline))
    run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, 0))
    services = scaling.measured(out)
    assert [one.db_id for one in services] == ["pets", "pets", "pets", "more"]
    for one in services:
        assert len(one.calls) == 2
        assert all(0.05 <= seconds < one.seconds for seconds in one.calls)
    page = scaling.page(
        "<b>", services, [["a", "b"], ["1", "2"]], {"x": [(0.5, scaling.simulated(services, Load(1), 2, 2))]}
    )
    assert page.startswith(scaling.BEGINS)
    assert re.search("<b>", page) is None


def empty(data: Path, tmp_path: Path, pipeline: Pipeline) -> Path:
    out = tmp_path / "empty"
    run.run([], pipeline, out, run.settings(pipeline, {"name": "spider"}, 0))
    return out


def test_questions_in_flight_at_once_are_simulated_as_they_are_run(data: Path, tmp_path: Path) -> None:
    """Calls are long beside all else, so that a busy machine changes little."""
    model = FakeModel("SELECT 1", delay=2.0)
    examples = spider.load(data, "dev")
    pipeline = Pipeline(Recipe("test", generate=(GeneratePart(),)), model)
    began = time.monotonic()
    settled = run.settings(pipeline, {"name": "spider"}, 0)
    workers.run_here(examples, pipeline, tmp_path / "run", settled, 4, cancel=threading.Event())
    taken = time.monotonic() - began
    services = scaling.measured(tmp_path / "run")
    assert scaling.run_seconds(services, 1, slots=4) <= taken
    assert sum(one.seconds for one in services) > 1.5 * scaling.run_seconds(services, 1, slots=4)
