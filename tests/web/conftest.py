"""Servers on a small database, with a model that says what it is told."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from starlette.testclient import TestClient
from web_servers import TALL, Open, Serve, running

from sqljury import FakeModel, Session, connect
from sqljury.llm.fake import Script
from sqljury.web.app import create
from sqljury.web.databases import Databases, Served
from sqljury.web.settings import Settings
from sqljury.web.tokens import Tokens
from sqljury.web.walls import Walls

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "secret folder" / "people.db"
    file.parent.mkdir()
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, height INTEGER, salary INTEGER);"
            "INSERT INTO person VALUES (1, 'Ann', 185, 10), (2, '=Bo', 170, 9007199254740993), (3, 'Cy', 190, 30);"
        )
    connection.close()
    return file


@pytest.fixture
def make(people: Path) -> Iterator[Callable[..., Walls]]:
    """An application on ``people`` and a copy of it called ``other``; ``tokens`` is the text of a file of them."""
    with contextlib.ExitStack() as stack:

        def application(script: Script = TALL, *, delay: float = 0.0, tokens: str = "", **settings: Any) -> Walls:
            served = {name: Served(stack.enter_context(connect(people))) for name in ("people", "other")}
            served["people"] = replace(served["people"], privacy=settings.pop("privacy", None))
            recipe = settings.pop("recipe", "fast")
            access = settings.pop("access", None)
            model = FakeModel(script, delay=delay, local=settings.pop("local", True))
            base = stack.enter_context(Session(served["people"].database, recipe=recipe, model=model, cache=False))
            known = None
            if tokens:
                file = people.with_name("tokens.toml")
                file.write_text(tokens)
                known = Tokens.load(str(file), list(served))
            return create(Databases(base, served, access), Settings(**{"grace": 1, **settings}), known)

        yield application


@pytest.fixture
def serve(make: Callable[..., Walls]) -> Iterator[Serve]:
    """A client of such an application."""
    with contextlib.ExitStack() as stack:

        def client(*arguments: Any, **options: Any) -> TestClient:
            application = make(*arguments, **options)
            made = TestClient(application, base_url="http://localhost:8000", raise_server_exceptions=False)
            return stack.enter_context(made)

        yield client


@pytest.fixture
def live(make: Callable[..., Walls]) -> Iterator[Callable[..., str]]:
    """The address of such an application behind a real server on a free port of loopback."""
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(running(make(*arguments, **options)))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; CI has it, elsewhere its tests are skipped without it."""
    program = shutil.which("chromium")
    if program is None and not os.environ.get("CI"):
        pytest.skip("no chromium")
    from playwright import sync_api as sync

    with sync.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, live: Callable[..., str]) -> Iterator[Open]:
    """Opens the page of a server; at the end nothing may have failed in it."""
    faults: list[str] = []
    opened: list[Page] = []

    def go(*arguments: Any, width: int = 1280, dark: bool = False, **options: Any) -> Page:
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        context = chromium.new_context(
            viewport={"width": width, "height": 800}, accept_downloads=True, color_scheme=scheme
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
        page.goto(live(*arguments, **options))
        opened.append(page)
        return page

    yield go
    for page in opened:
        page.context.close()
    assert faults == []
