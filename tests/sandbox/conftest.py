from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
if not sys.platform.startswith("linux"):
    pytest.skip("the sandbox isolates on Linux only", allow_module_level=True)

from sqljury.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One warm process for all tests; none of them may harm it."""
    with Sandbox() as warm:
        yield warm
