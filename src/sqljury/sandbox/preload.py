"""Loads all that code may import, because nothing can be opened once the walls stand."""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import sys
import time
import warnings
import zoneinfo
from typing import Any, Final

_STANDARD: Final = """
_strptime abc array ast base64 bisect calendar cmath collections collections.abc contextlib copy csv ctypes
dataclasses datetime dateutil.easter dateutil.parser dateutil.relativedelta dateutil.rrule dateutil.tz decimal
difflib enum fractions functools hashlib heapq html inspect io itertools json keyword linecache locale math
numbers operator pprint random re resource statistics string struct textwrap time token tokenize traceback types
typing unicodedata uuid warnings weakref zoneinfo
"""

_LEFT_OUT: Final = """
tests conftest testing _testing f2py distutils _pyinstaller cversions clipboard __main__ _numba _matplotlib
style style_render mbcs oem
"""
"""Parts of modules' names that need what is not installed, or are for tests; importing one could start threads."""


def load() -> list[Any]:
    """Import it all, and use it once, so that what is made on first use is made; what must be kept alive."""
    warnings.simplefilter("ignore")
    for name in _STANDARD.split():
        importlib.import_module(name)
    for root in ("encodings", "numpy", "pandas"):
        _import_below(root)
    _rehearse()
    time.tzset()
    zones = [_zone(kind, name) for kind in _zone_classes() for name in zoneinfo.available_timezones()]
    sys.path.clear()
    sys.path_importer_cache.clear()
    warnings.resetwarnings()
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that holds an object
    return zones


def _import_below(root: str) -> None:
    package = importlib.import_module(root)
    for module in pkgutil.walk_packages(package.__path__, f"{root}.", onerror=lambda _: None):
        if not set(module.name.split(".")) & set(_LEFT_OUT.split()):
            with contextlib.suppress(Exception):  # an optional part of theirs without what it needs
                importlib.import_module(module.name)


def _zone_classes() -> list[Any]:
    """Python's, and its twin written in Python, which pandas asks for offsets; each keeps zones of its own."""
    return [zoneinfo.ZoneInfo, importlib.import_module("zoneinfo._zoneinfo").ZoneInfo]


def _zone(kind: Any, name: str) -> Any:
    with contextlib.suppress(OSError, ValueError):
        return kind(name)
    return None


def _rehearse() -> None:
    """What programs do most; each line fills caches that every run would fill anew."""
    import pandas as pd
    import pyarrow as pa

    pa.set_cpu_count(1)  # no thread can be started once the walls stand
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 3], "c": pd.to_datetime(["2024-01-01"] * 3)})
    frame = pa.Table.from_pandas(frame, nthreads=1).to_pandas(use_threads=False)
    frame.groupby("a", as_index=False).agg(total=("b", "sum"), last=("c", "max")).sort_values("total")
    frame.merge(frame, on="a").drop_duplicates().pivot_table(index="a", columns="b_x", values="b_y")
    frame[frame["a"].str.contains("x") & (frame["c"].dt.year > 2000)].query("b > 1").to_string()
    with contextlib.suppress(KeyError):
        frame["none"]
