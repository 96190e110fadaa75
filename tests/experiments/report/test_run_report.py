"""Reports on runs: figures worked out by hand, and pages on which hostile content stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run
from sqljury.datasets import benchmarks
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation.run_folder import data_of
from sqljury.experiments.report import page, report, text
from sqljury.experiments.report.figures import method_name
from sqljury.llm.ledger import Price
from sqljury.recipes import GeneratePart, Recipe

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> ‮ ]]>--> |`[x](javascript:alert(3))"
RECIPE = Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0)))
RIGHT = {
    "How many cats": "SELECT count(*) FROM cat",
    "old cats": "SELECT name FROM cat WHERE age > 5",
    "by age": f"SELECT '{HOSTILE}' FROM cat",
    "How many dogs": "SELECT age FROM nowhere",
}


def finished(data: Path, out: Path, says: dict[str, str]) -> Path:
    found = benchmarks.load(data)
    pipeline = Pipeline(RECIPE, FakeModel(says))
    run.run(found.examples, pipeline, out, run.settings(pipeline, found.settings, 0))
    return out


@pytest.fixture
def hostile(data: Path) -> Path:
    """A benchmark with a question that would like to be more than text."""
    entries = json.loads((data / "dev.json").read_text())
    entries[2]["question"] = f"Cats by age? {HOSTILE}"
    (data / "dev.json").write_text(json.dumps(entries))
    return data


@pytest.fixture
def two(hostile: Path, tmp_path: Path) -> dict[str, Any]:
    """A report on two runs, the second wrong on the cats and right on the dogs."""
    first = finished(hostile, tmp_path / "first", RIGHT)
    says = {**RIGHT, "How many cats": "SELECT 9", "How many dogs": "SELECT count(*) FROM dog"}
    return report([first, finished(hostile, tmp_path / "<b>second", says)], price=Price(1.0, 1.0))


class Tags(HTMLParser):
    """Every tag and attribute of a page, and what its script elements hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)


def test_the_figures_of_two_runs(two: dict[str, Any]) -> None:
    first, second = two["runs"]
    assert (first["accuracy"]["right"], second["accuracy"]["right"], first["questions"]) == (2, 2, 4)
    assert [one["right"] for one in first["steps"]] == [2, 2, 2, 2, 2, 2]
    assert {one["name"]: one["right"] for one in first["slices"]["database"]} == {"more": 0, "pets": 2}
    assert [(one["kind"], one["questions"]) for one in first["wrong"]] == [("fails", 1), ("cells", 1)]
    (changed,) = two["compared"]
    assert (changed["won"], changed["lost"], changed["difference"]) == (["dev-0003"], ["dev-0000"], 0.0)
    assert first["cost"]["priced"]
    assert first["distributions"]["usd"][0] > 0
    assert [one["label"] for one in first["overlap"]["sources"]] == ["1 direct, greedy", "2 direct, 2 at T 1"]
    assert first["overlap"]["regions"][0]["questions"] == 2


def test_every_question_has_its_candidates_and_verdicts(two: dict[str, Any]) -> None:
    questions = two["questions"]
    assert [one["id"] for one in questions] == [f"dev-000{number}" for number in range(4)]
    ours, theirs = questions[0]["runs"]
    assert (ours["right"], theirs["right"], len(ours["candidates"]), len(ours["queries"])) == (True, False, 3, 1)
    assert theirs["queries"][theirs["answer"]]["deviation"] == "cells"
    failed = questions[3]["runs"][0]
    assert failed["answer"] is None
    assert "no such table" in failed["queries"][0]["error"]


def test_hostile_content_stays_text(two: dict[str, Any]) -> None:
    shown = page.html(two)
    parser = Tags()
    parser.feed(shown)
    assert [attributes.get("type") for tag, attributes in parser.tags if tag == "script"] == ["application/json", None]
    assert not [
        tag for tag, attributes in parser.tags if tag == "img" or any(key.startswith("on") for key in attributes)
    ]
    assert not [name for _, one in parser.tags for name in ("src", "style", "srcset") if name in one]
    assert all((one.get("href") or "#").startswith("#") for _, one in parser.tags)
    data, script = parser.scripts
    assert "‮" not in shown
    assert not set("<>&") & set(data)
    assert HOSTILE.replace("‮", " ") in json.loads(data)["questions"][2]["text"]
    assert "innerHTML" not in script
    assert "&lt;b&gt;second" in shown


def test_the_policy_allows_the_pages_own_script_and_style_only(two: dict[str, Any]) -> None:
    shown = page.html(two)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', shown)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for element in ("script", "style"):
        inner = re.search(rf"<{element}>(.*?)</{element}>", shown, re.DOTALL)
        assert inner is not None
        digest = base64.b64encode(hashlib.sha256(inner[1].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}';" in policy[1]


def test_markdown_is_not_steered_by_content(two: dict[str, Any]) -> None:
    shown = text.markdown(two)
    assert shown.startswith(text.BEGINS)
    assert "\\<b\\>second" in shown
    assert not re.search(r"(?<!\\)<(?!!--)", shown)
    assert "| dev-0003 | How many dogs? |" in shown


def test_markdown_has_the_course_of_a_long_curve_alone(two: dict[str, Any]) -> None:
    two["runs"][0]["risk"]["points"] = [(place / 10, 20.0, 1 - place / 1000) for place in range(1, 1001)]
    table = text.markdown(two).partition("| answered, % |")[2].partition("\n\n")[0].splitlines()
    assert len(table) == 2 + 21
    assert (table[2].split()[1], table[-1].split()[1]) == ("0.1", "100.0")


def test_reports_that_cannot_be_made(hostile: Path, tmp_path: Path) -> None:
    first = finished(hostile, tmp_path / "first", RIGHT)
    with pytest.raises(InputError, match="first is named twice"):
        report([first, first])
    with pytest.raises(InputError, match="1 to 6 runs; 7 are named"):
        report([first] * 7)
    entries = json.loads((hostile / "dev.json").read_text())
    (hostile / "dev.json").write_text(json.dumps([{**one, "query": "SELECT 5"} for one in entries]))
    with pytest.raises(DatasetError, match=r"other asks something else as 'dev-0000' than .*first"):
        report([first, finished(hostile, tmp_path / "other", RIGHT)])
    lines = (tmp_path / "other" / "answers.jsonl").read_text().replace('"dev-', '"new-')
    (tmp_path / "other" / "answers.jsonl").write_text(lines)
    with pytest.raises(DatasetError, match="shares no question"):
        report([first, tmp_path / "other"])


def test_databases_are_needed_once(hostile: Path, tmp_path: Path) -> None:
    first = finished(hostile, tmp_path / "first", RIGHT)
    made = report([first])
    (hostile / "database").rename(hostile / "moved")
    assert report([first]) == made
    hostile.rename(tmp_path / "gone")
    assert report([first]) == made
    (first / "verdicts.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"none of its 4 questions .* name the folder that holds database/ with"):
        report([first])
    with pytest.raises(DatasetError, match=r"not there .* name the folder that holds database/ with --data"):
        data_of(first)


def test_ids_that_cannot_be_printed(hostile: Path, tmp_path: Path) -> None:
    says = {**RIGHT, "How many cats": "SELECT 9"}
    runs = [finished(hostile, tmp_path / "first", RIGHT), finished(hostile, tmp_path / "second", says)]
    for run_ in runs:
        for name in ("answers.jsonl", "calls.jsonl"):
            file = run_ / name
            file.write_text(file.read_text().replace('"dev-0000"', '"dev\u00a00000"'))
    found = report(runs)
    assert found["compared"][0]["lost"] == [found["questions"][0]["id"]] == ["dev 0000"]
    assert "| dev 0000 | How many cats? |" in text.markdown(found)


def test_both_forms_name_the_ways_to_choose_alike(two: dict[str, Any]) -> None:
    names = [method_name(one) for one in two["runs"][0]["selectors"]["methods"]]
    assert any(name.startswith("votes without ") for name in names)
    shown = (unescape(page.html(two)), text.markdown(two))
    assert [[name for name in names if name not in one] for one in shown] == [[], []]


CONTRAST = """() => {
  const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (one) => { const own = getComputedStyle(one).backgroundColor;
    return !one.parentElement || !own.endsWith(", 0)") ? own : behind(one.parentElement); };
  const weak = [];
  for (const one of document.querySelectorAll("body *")) {
    const texts = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!texts || !one.getClientRects().length || one.closest(".skip, script, style, option")) continue;
    const style = getComputedStyle(one);
    const [a, b] = [light(one.closest("svg") ? style.fill : style.color), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push(one.outerHTML.slice(0, 80));
  }
  return weak;
}"""
"""Visible texts of less contrast than WCAG's 4.5 to 1."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_report_in_a_browser(
    two: dict[str, Any], tmp_path: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    """Chromium opens the page from disk without an error, a request or a scroll bar below it; every text is readable.

    Tables that are too wide scroll by themselves, and their first column stays with at least one more in sight.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = Path("/usr/bin/chromium")
    if not chromium.is_file():
        pytest.skip("no chromium; run: apt-get install chromium")
    file = tmp_path / "report.html"
    file.write_text(page.html(two))
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        said: list[str] = []
        opened.on("console", lambda message: said.append(message.text))
        opened.on("pageerror", lambda error: said.append(str(error)))
        opened.on("dialog", lambda dialog: said.append(dialog.message))
        opened.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
        opened.goto(file.as_uri())
        assert opened.locator("details.q").count() == 4
        opened.select_option("select[name=outcome]", "changed 0")
        assert opened.locator("details.q").count() == 2
        opened.select_option("select[name=outcome]", "")
        opened.fill("input[name=text]", "alert(1)")
        assert opened.locator("details.q").count() == 1
        opened.locator("details.q summary").first.click()
        assert "</script>" in opened.locator("details.q pre").last.inner_text()
        opened.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.evaluate(CONTRAST) == []
        for table in opened.locator("main > section .scroll").all():
            first, second = (table.locator("thead th").nth(at).bounding_box() for at in (0, 1))
            assert second["x"] + second["width"] <= width
            table.evaluate("one => { one.scrollLeft = 1000 }")
            assert table.locator("thead th").first.bounding_box()["x"] == first["x"]
        assert said == []
        browser.close()
