from __future__ import annotations

import pickle
from typing import get_args

import pytest

from sqljury.db.base import MAX_ERROR_CHARS, failure
from sqljury.types import FailureKind, QueryFailure, Result
from sqljury.types.serialize import result_dict


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_text_is_led_by_the_kind_unless_the_query_is_at_fault(kind: FailureKind) -> None:
    text = "no such column: x" if kind in ("sql", "missing", "code") else f"{kind}: no such column: x"
    assert str(QueryFailure(kind, "no such column: x")) == text


def test_a_result_tells_its_kind() -> None:
    assert (Result().error_kind, Result().ok) == (None, True)
    result = Result(error=QueryFailure("limit", "too slow"))
    assert (result.error_kind, result.ok) == ("limit", False)


def test_json_holds_the_text() -> None:
    assert result_dict(Result(error=QueryFailure("locked", "try again")))["error"] == "locked: try again"
    assert result_dict(Result())["error"] is None


def test_equal_failures_are_one_wherever_they_come_from() -> None:
    first = QueryFailure("sql", "no such table: t")
    assert pickle.loads(pickle.dumps(first)) == first
    assert len({first, QueryFailure("sql", "no such table: t"), QueryFailure("limit", "no such table: t")}) == 2


def test_a_message_that_begins_like_a_kind_is_still_the_querys_own_fault() -> None:
    assert failure("sql", "limit: no such column").kind == "sql"


def test_messages_are_one_printable_line_and_cut() -> None:
    assert failure("sql", "a\n\x1b[31m  b").message == "a [31m b"
    assert len(failure("database", "x" * 2000).message) == MAX_ERROR_CHARS
    assert str(failure("sql", "\n")) == "unknown error"
