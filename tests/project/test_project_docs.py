"""The settings that docs/project.md shows are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sqljury import recipes
from sqljury.project.settings import build

PAGE = Path(__file__).resolve().parents[2] / "docs" / "project.md"


def test_the_settings_of_the_page() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    settings = build(tomllib.loads(text), "the page")
    assert (settings.default, list(settings.databases)) == ("shop", ["shop", "crm"])
    assert settings.databases["crm"].access.deny == ("customer.ssn",)
    assert settings.recipe in recipes.names()


def test_the_recipes_that_pages_name_in_python_exist() -> None:
    named = {
        (page.name, recipe)
        for page in PAGE.parent.rglob("*.md")
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for recipe in re.findall(r'\brecipe="([^"]+)"', block)
        if not recipe.endswith(".toml")
    }
    assert ("project.md", "fast") in named
    assert [one for one in sorted(named) if one[1] not in recipes.names()] == []
