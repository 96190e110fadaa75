from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.errors import InputError
from sqljury.llm import prices
from sqljury.llm.ledger import Price
from sqljury.types import Cost


def test_a_table_by_model(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '["openai:*"]\ninput = 1\noutput = 2\n["openai:small*"]\ninput = 0.5\noutput = 1.0\ncached_input = 0.1\n'
        '["qwen2.5-coder-1.5b"]\ninput = 0\noutput = 0\nhour = 3.6\n'
    )
    table = prices.load(file)
    assert table.of("openai:large") == Price(1.0, 2.0)
    assert table.of("openai:small-2") == Price(0.5, 1.0, 0.1)
    assert table.of("other") is None
    assert table.of("qwen2.5-coder-1.5b+sqljury-writer@c6c8ad26") == table.of("qwen2.5-coder-1.5b")
    with pytest.raises(InputError, match="none for the model 'other"):
        table.needed("other+adapter")
    local = table.of("qwen2.5-coder-1.5b")
    assert local is not None
    assert local.usd(Cost(prompt_tokens=1000, seconds=2.0)) == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no prices"),
        ("a = 1", "'a' is not a table"),
        ("[a]\ninput = 1", "has no output"),
        ("[a]\ninput = 1\noutput = 1\nprice = 2", "unknown key 'price'"),
        ("[a]\ninput = -1\noutput = 1", "input is -1"),
        ("[a]\ninput = true\noutput = 1", "input is True"),
        ("[a]\ninput = nan\noutput = 1", "input is nan"),
        ("[a", "is not TOML"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        prices.load(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        prices.load(tmp_path / "none.toml")
