from __future__ import annotations

from importlib.resources import files

import pytest

from sqljury import prompts


def test_slots_are_filled_and_values_left_alone() -> None:
    text = prompts.render("direct/evidence", question="How many {{ evidence }}?", evidence="a \\1 {{ question }}")
    assert text == "How many {{ evidence }}?\nKeep in mind: a \\1 {{ question }}"


@pytest.mark.parametrize("values", [{}, {"question": "q"}, {"question": "q", "evidence": "e", "more": "m"}])
def test_missing_and_surplus_values_raise(values: dict[str, str]) -> None:
    with pytest.raises(KeyError, match="direct/evidence"):
        prompts.render("direct/evidence", **values)


def test_prompts_are_what_they_were(snapshot: object) -> None:
    """A changed prompt changes every figure in docs/log.md, so it should be seen in a diff."""
    folder = files("sqljury") / "prompts"
    texts = {
        f"{step.name}/{prompt.name}": prompt.read_text(encoding="utf-8")
        for step in folder.iterdir()
        if step.is_dir()
        for prompt in step.iterdir()
        if prompt.name.endswith(".md")
    }
    assert dict(sorted(texts.items())) == snapshot
