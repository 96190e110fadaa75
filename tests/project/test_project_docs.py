"""The settings that docs/project.md shows are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sqljury.project.settings import build

PAGE = Path(__file__).resolve().parents[2] / "docs" / "project.md"


def test_the_settings_of_the_page() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    settings = build(tomllib.loads(text), "the page")
    assert (settings.default, list(settings.databases)) == ("shop", ["shop", "crm"])
    assert settings.databases["crm"].access.deny == ("customer.ssn",)
