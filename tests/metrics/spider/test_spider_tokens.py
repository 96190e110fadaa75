from __future__ import annotations

import pytest

from sqljury.errors import InputError
from sqljury.metrics.spider.parser import tokenize


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT Name FROM T", ["select", "name", "from", "t"]),
        ("SELECT T1.a,T1.b", ["select", "t1.a", ",", "t1.b"]),
        ("count(*)", ["count", "(", "*", ")"]),
        ("a = 'Big Apple'", ["a", "=", '"Big Apple"']),
        ('a = "x (y), z"', ["a", "=", '"x (y), z"']),
        ("a = ''", ["a", "=", '""']),
        ("a >= 1 AND b ! = 2", ["a", ">=", "1", "and", "b", "!=", "2"]),
        ("a>5", ["a", ">", "5"]),
        # Where the tokenizer takes SQL for English.
        ("a=5", ["a=5"]),
        ("a='x'", ["a=__val_0__"]),
        ("a ='x'", ["a", "=__val_0__"]),
        ("a>='x' OR b!='y'", ["a", ">", "=__val_0__", "or", "b", "!", "=__val_1__"]),
        ("a >= 'x' OR b != 'y'", ["a", ">=", '"x"', "or", "b", "!=", '"y"']),
        ("a>=5", ["a", ">", "=5"]),
        ("a <> 1", ["a", "<", ">", "1"]),
        ("LIMIT 1,2", ["limit", "1,2"]),
        ("a,1", ["a,1"]),
        ("1.5", ["1.5"]),
        ("FROM t.", ["from", "t", "."]),
        ("a--b", ["a", "--", "b"]),
        ("a-b", ["a-b"]),
        ("cannot", ["can", "not"]),
        ("a```b", ["a", "``", "`", "b"]),
        ("wanna x", ["wan", "na", "x"]),
        ("", []),
    ],
)
def test_words(sql: str, words: list[str]) -> None:
    assert tokenize(sql) == words


def test_quotation_marks_of_both_kinds_are_one_kind() -> None:
    assert tokenize("""a = "it'""") == ["a", "=", '"it"']


def test_an_odd_number_of_quotation_marks_is_refused() -> None:
    with pytest.raises(InputError, match="not closed"):
        tokenize("a = 'x")
