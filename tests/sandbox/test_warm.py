"""One sandbox for many runs: opened late, shared by threads, closed at the end."""

from __future__ import annotations

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

from sqljury.sandbox import Warm


def test_it_opens_once_and_again_after_it_was_closed() -> None:
    warm = Warm()
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(lambda _: warm(), range(4))
    assert all(other is first for other in others)
    assert first.run("result = 1").result.rows == ((1,),)
    process = first._process
    warm.close()
    assert process.poll() is not None
    assert warm() is not first
    warm.close()


def test_it_closes_when_nobody_holds_it() -> None:
    warm = Warm()
    process = warm()._process
    del warm
    gc.collect()
    assert process.poll() is not None


def test_a_copy_has_a_sandbox_of_its_own() -> None:
    warm = Warm(allow_unisolated=False)
    copy = pickle.loads(pickle.dumps(warm))
    assert isinstance(copy, Warm)
    assert copy is not warm
    assert copy._opened == []
