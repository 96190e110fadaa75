"""Text that looks like SQL, thrown at a database: it never raises, and the file stays as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_corpus import statements

from sqljury.db.sqlite import SQLiteDatabase
from sqljury.types import Limits

CORPUS = [*statements("plain.sql"), *(s for s in statements("hostile.sql") if "2000000000" not in s)]
WORDS = sorted({word for sql in CORPUS for word in sql.split()})
LIMITS = Limits(seconds=0.05, rows=50, bytes=1_000_000)


@pytest.fixture(scope="module")
def fuzzed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteDatabase]:
    path = tmp_path_factory.mktemp("fuzzed") / "shop.db"
    path.write_bytes(template.read_bytes())
    with SQLiteDatabase(path) as db:
        yield db
    assert [file.name for file in path.parent.iterdir()] == ["shop.db"]


def pieces() -> st.SearchStrategy[str]:
    """Sentences of the corpus's words, statements spliced into others, and plain noise."""
    sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
    spliced = st.builds(
        lambda a, b, cut, glue: a[: int(len(a) * cut)] + glue + b,
        st.sampled_from(CORPUS),
        st.sampled_from(CORPUS),
        st.floats(0, 1),
        st.sampled_from(["", " ", ";", "'", '"', "/*", "*/", "--", "\n", "(", ")", "\x00", " UNION ", " WHERE "]),
    )
    noise = st.text(max_size=60)
    return st.one_of(sentence, spliced, noise, noise.map(lambda text: f"SELECT {text}"))


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(sql=pieces())
def test_nothing_raises_and_nothing_changes(fuzzed: SQLiteDatabase, sql: str) -> None:
    before = hashlib.sha256(Path(fuzzed.path).read_bytes()).digest()
    result = fuzzed.execute(sql, LIMITS)
    assert result.seconds < LIMITS.seconds + 0.5
    assert result.ok or (result.error and "\n" not in str(result.error) and not result.rows)
    assert len(result.rows) <= LIMITS.rows
    assert hashlib.sha256(Path(fuzzed.path).read_bytes()).digest() == before
