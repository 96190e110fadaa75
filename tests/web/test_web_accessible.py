"""Nothing on the page that axe-core finds serious, in any state, light and dark, narrow and wide; and the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from web_servers import ALL, TALL, VOTES_OF_EIGHT, Open, ask, token_file

from sqljury.llm.fake import Call

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHART = "SELECT name, height FROM person"


def script(call: Call) -> list[str]:
    """Three tall or all of eight people, a chart, or no answer, as the question has it."""
    if "draw a chart" in call.prompt:
        return [CHART]
    if "tell me nothing" in call.prompt:
        return ["no idea"]
    return [TALL, TALL, ALL, "SELECT nothing FROM nowhere", TALL, ALL, TALL][: call.n]


def serious(page: Page) -> list[str]:
    """What axe-core finds of serious and critical, with the elements."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("Promise.all(document.getAnimations().map(one => one.finished.catch(() => 0)))")
    found: Any = Axe().run(page).response
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_every_state(open_page: Open, dark: bool, width: int) -> None:
    page = open_page(script, recipe=VOTES_OF_EIGHT, dark=dark, width=width)
    page.locator(".ideas button").first.wait_for()
    states = {"empty": serious(page)}
    ask(page, "Who is tall?")
    page.get_by_role("heading", name="Why this answer").wait_for()
    page.get_by_role("button", name="Wrong").click()
    states["answer"] = serious(page)
    page.get_by_role("button", name="Edit").click()
    states["editing"] = serious(page)
    ask(page, "Please draw a chart of all people and how tall they are")
    page.get_by_role("button", name="Chart").click()
    page.locator(".chart [aria-roledescription=bar]").first.wait_for()
    states["chart"] = serious(page)
    ask(page, "Please tell me nothing at all about these people here")
    page.get_by_role("heading", name="No query could answer this").wait_for()
    states["no answer"] = serious(page)
    if width < 960:
        page.get_by_role("button", name="Schema and history").click()
    page.locator("#panel-schema summary").first.click()
    page.get_by_label("Find a table, a column or a value").fill("Ann")
    page.locator(".values button").first.wait_for()
    states["schema"] = serious(page)
    page.get_by_role("tab", name="History").click()
    page.locator(".past").wait_for()
    states["history"] = serious(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert "\n".join(f"{name}: {one}" for name, found in states.items() for one in found) == ""


def test_the_login(open_page: Open) -> None:
    page = open_page(tokens=token_file(ann="")[0])
    page.fill("#token", "wrong")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").wait_for()
    assert serious(page) == []


def test_everything_is_reached_by_the_keyboard(open_page: Open) -> None:
    page = open_page(CHART)
    page.locator(".ideas button").first.wait_for()
    page.locator("body").press("/")
    page.keyboard.type("Who is tall?")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Why this answer").wait_for()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        label = page.evaluate("document.activeElement.ariaLabel || document.activeElement.innerText || ''").strip()
        if label == "Chart" and label not in reached:
            page.keyboard.press("Space")
            page.locator(".chart [aria-roledescription=bar]").first.wait_for()
        reached.add(label)
        assert page.evaluate("document.activeElement.matches('#question, :focus-visible')"), label
        if label == "Edit":
            break
    assert {"Table", "Chart", "Download CSV", "X axis", "Right", "Wrong", "Copy", "Edit"} <= reached
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "SQL to run, read-only"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit").wait_for()
