"""The page: what the server renders, and what people do with it in a browser."""

from __future__ import annotations

import gzip
import hashlib
import re
from importlib import resources

import pytest
from web_servers import TALL, VOTES_OF_EIGHT, Open, Serve, ask, cells, dealt, token_file

from sqljury.web.page import VENDOR, assets

HOSTILE_CELL = "<img src=x onerror=document.title='caught'>"


def test_the_frame_has_the_databases_and_nothing_inline(serve: Serve) -> None:
    page = serve().get("/").text
    assert re.findall(r'<option value="(\w+)"', page) == ["people", "other"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", page)
    assert "secret folder" not in page


def test_assets_are_small_complete_and_kept(serve: Serve) -> None:
    client = serve()
    page = client.get("/").text
    names = set(assets())
    for address in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page):
        response = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert response.status_code == 200, address
        assert "immutable" in response.headers["cache-control"]
        assert response.headers["content-encoding"] == "gzip"
    for name, asset in assets().items():
        assert gzip.decompress(asset.compressed) == asset.content
        for other in re.findall(r'(?:from |import\()"\./([\w.]+)"', asset.content.decode()):
            assert other in names, f"{name} imports {other}"
    first = [asset for name, asset in assets().items() if not name.endswith(".min.js")]
    assert sum(len(asset.compressed) for asset in first) + len(page) < 60_000
    assert client.get("/assets/old/page.css").status_code == 404
    assert client.get(f"/assets/{assets()['page.css'].digest}/..%2f__init__.py").status_code == 404


def test_what_others_wrote_is_as_they_published_it_and_has_its_licence() -> None:
    listed = (resources.files("sqljury.web") / "assets" / VENDOR / "LICENSES.txt").read_text()
    for name, asset in assets().items():
        if name.endswith(".min.js"):
            assert hashlib.sha256(asset.content).hexdigest() in listed, name
    assert "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS" in listed


def test_an_answer_with_its_evidence(open_page: Open) -> None:
    page = open_page(dealt, recipe=VOTES_OF_EIGHT)
    page.get_by_role("button", name=re.compile("How many rows")).wait_for()
    ask(page)
    page.get_by_role("heading", name="Why this answer").wait_for()
    assert cells(page) == ["Ann", "Cy"]
    assert re.fullmatch(r"(Uncertain|[\w ]+ (right|wrong)) · \d+%", page.locator(".badge").first.inner_text())
    assert page.locator(".group").count() >= 2
    assert page.locator(".group.chosen .votes").inner_text() == "5 of 8"
    why = page.get_by_label("Why", exact=True).inner_text()
    assert "1 failed" in why
    assert "nothing, the model is local" in why
    page.get_by_role("button", name="Show this result above").nth(1).click()
    page.get_by_text("result 2 ·").wait_for()
    assert len(cells(page)) == 3
    page.get_by_role("button", name="name").click()
    assert cells(page) == ["=Bo", "Ann", "Cy"]
    page.get_by_role("button", name="name").click()
    assert cells(page) == ["Cy", "Ann", "=Bo"]


def test_a_query_is_edited_run_refused_and_downloaded(open_page: Open) -> None:
    page = open_page()
    ask(page)
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("SQL to run, read-only").fill("DELETE FROM person")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("heading", name="This query is refused").wait_for()
    page.get_by_label("SQL to run, read-only").fill("SELECT count(*) FROM person")
    page.get_by_label("SQL to run, read-only").press("Control+Enter")
    page.locator(".single", has_text="3").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "people.csv"
    assert download.value.path().read_text().split() == ['"count(*)"', "3"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Parquet").click()
    assert download.value.suggested_filename == "people.parquet"
    assert download.value.path().read_bytes()[:4] == b"PAR1"
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name="Who is tall?").click()
    page.get_by_text("rows may have changed since").wait_for()  # the answer as it was given
    page.get_by_role("heading", name="Why this answer").wait_for()
    page.get_by_role("tab", name="History").press("ArrowRight")
    page.get_by_text("person", exact=True).click()
    page.locator("#panel-schema li", has_text="salary").wait_for()


def test_a_chart_is_proposed_changed_and_saved(open_page: Open) -> None:
    page = open_page('SELECT name AS "<b>who</b>", height FROM person')
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    ask(page)
    page.get_by_role("heading", name="Why this answer").wait_for()
    assert "vega.min.js" not in asked
    page.get_by_role("button", name="Chart").click()
    bars = page.locator(".chart [aria-roledescription=bar]")
    bars.first.wait_for()
    assert "vega.min.js" in asked
    assert page.locator(".chart .role-axis-label").first.locator("text").all_text_contents() == ["Cy", "Ann", "=Bo"]
    page.get_by_label("Chart", exact=True).select_option("point")
    page.locator(".chart [aria-roledescription=point]").first.wait_for()
    page.get_by_label("Y axis").select_option(label="<b>who</b>")
    page.locator(".chart .role-axis-title", has_text="<b>who</b>").nth(1).wait_for()
    page.get_by_label("Y axis").select_option(label="height")
    page.locator(".chart .role-axis-title", has_text="height").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download SVG").click()
    assert download.value.path().read_text().startswith("<svg")
    page.get_by_role("button", name="Light or dark").click()
    page.locator(".chart [aria-roledescription=point]").first.wait_for()
    page.get_by_role("button", name="Table").click()
    assert cells(page) == ["Ann", "=Bo", "Cy"]


def test_what_a_query_does_is_told_below_it_until_it_is_changed(open_page: Open) -> None:
    page = open_page(TALL)
    ask(page)
    page.get_by_text("What this query does").click()
    query = page.get_by_label("Query", exact=True)
    query.get_by_text("Keeps rows where height is more than 180.").wait_for()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("SQL to run, read-only").fill("SELECT 1")
    page.get_by_role("button", name="Run").click()
    page.locator(".single", has_text="1").wait_for()
    assert not query.get_by_text("What this query does").is_visible()


def test_content_is_text_never_markup(open_page: Open) -> None:
    literal = HOSTILE_CELL.replace("'", "''")
    page = open_page(f"SELECT '{literal}' AS \"<b>x</b>\", '{literal}' AS y -- <img src=x>")
    ask(page, f"Who? {HOSTILE_CELL}")
    page.get_by_role("heading", name="Why this answer").wait_for()
    assert cells(page) == [HOSTILE_CELL]
    assert page.locator("#view img, #view b, #side b").count() == 0
    assert page.title() == "sqljury"


def test_a_question_is_stopped_with_escape(open_page: Open) -> None:
    page = open_page(TALL, delay=60)
    ask(page)
    page.locator(".steps .now", has_text="Writing queries").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Stopped").wait_for()
    for _ in range(200):  # the page forbids eval, which Playwright's own waiting needs
        if "questions_running 0" in page.evaluate("fetch('/metrics').then(answer => answer.text())"):
            break
        page.wait_for_timeout(50)
    else:
        pytest.fail("the question still runs")


def test_a_question_goes_on_at_a_second_enter_and_at_escape_in_another_field(open_page: Open) -> None:
    page = open_page(TALL, delay=60)
    asked: list[str] = []
    page.on("request", lambda request: asked.extend(["ask"] if request.url.endswith("/v1/ask") else []))
    ask(page)
    page.locator(".steps .now", has_text="Writing queries").wait_for()
    page.locator("#question").press("Enter")
    page.locator("#side input").first.press("Escape")
    page.wait_for_timeout(200)
    assert asked == ["ask"]
    assert page.locator(".steps .now").count() == 1
    page.locator("#question").press("Escape")
    page.get_by_role("heading", name="Stopped").wait_for()


def test_no_answer_says_why(open_page: Open) -> None:
    page = open_page("no idea")
    ask(page)
    page.get_by_role("heading", name="No query could answer this").wait_for()
    page.get_by_role("button", name="Try again").wait_for()


def test_a_query_that_failed_several_times_is_shown_once(open_page: Open) -> None:
    page = open_page(lambda call: ["SELECT name FROM nowhere"] * call.n, recipe=VOTES_OF_EIGHT)
    ask(page)
    page.get_by_text("What was tried (8)").click()
    assert page.locator(".failures li").count() == 1
    assert "(8 times)" in page.locator(".failures").inner_text()


def test_a_question_of_which_no_query_runs_shows_no_rows(open_page: Open) -> None:
    """The database has nothing that is asked for, so the answer is held back; no result may be made up for it."""
    page = open_page("SELECT wingspan FROM dragons", recipe=VOTES_OF_EIGHT)
    ask(page, "What is the wingspan of the dragons?")
    page.get_by_role("heading", name="This database does not seem to hold that").wait_for()
    page.get_by_text("No query that was written could be run.").wait_for()
    why = page.get_by_label("Why", exact=True)
    assert "One query was written, and it could not be run." in why.inner_text()
    why.get_by_text("1 query failed").click()
    why.get_by_text("No such table: dragons.").wait_for()
    assert page.get_by_label("Result", exact=True).count() == 0
    assert "No rows" not in page.locator("#view").inner_text()
    page.get_by_role("tab", name="History").click()
    assert "cannot be answered" in page.locator(".past .meta").inner_text()


def test_another_database_is_chosen_and_the_page_says_what_a_service_gets_of_each(open_page: Open) -> None:
    page = open_page(local=False, privacy="schema")
    shared = page.locator("#privacy")
    shared.get_by_text("names and types of this database, no values and no rows").wait_for()
    ask(page)
    page.get_by_role("heading", name="Why this answer").wait_for()
    assert "names and types only" in page.get_by_label("Why", exact=True).inner_text()
    page.locator("#database").select_option("other")
    shared.get_by_text("values and some rows of this database").wait_for()
    assert not page.locator("#thread").is_visible()  # what was asked before was about another database
    ask(page)
    page.get_by_text("names, types and rows", exact=True).wait_for()
    page.get_by_role("tab", name="History").click()
    page.locator(".past .meta").nth(1).wait_for()
    told = page.locator(".past .meta").all_inner_texts()
    assert [text.partition(" ")[0] for text in told] == ["other", "people"]


def test_the_rows_that_tell_the_answer_from_its_rival_and_the_cost(open_page: Open) -> None:
    page = open_page(dealt, recipe=VOTES_OF_EIGHT)
    page.get_by_text("The model runs on this server").wait_for()
    page.get_by_text("Context and options").click()
    page.get_by_label("Look for rows on which the answer and its strongest rival differ").check()
    ask(page)
    why = page.get_by_label("Why", exact=True)
    why.get_by_role("heading", name="Rows that tell the answer from its rival").wait_for()
    results = why.locator(".apart .groups .group")
    assert results.nth(0).inner_text() != results.nth(1).inner_text()
    facts = dict(zip(why.locator("dt").all_inner_texts(), why.locator("dd").all_inner_texts(), strict=True))
    assert facts["Model calls"] == "2"
    assert int(facts["Tokens read"].replace(",", "")) > 0
    assert facts["Time"].endswith(" s")


NUMBERS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1200) SELECT x FROM n"


def test_pages_of_a_long_result_keep_the_focus(open_page: Open) -> None:
    page = open_page(NUMBERS, rows=80)
    ask(page)
    turns = page.locator(".pages")
    turns.get_by_text("Rows 1–50 of 80; the download has 1,200").wait_for()
    turns.get_by_role("button", name="Next").press("Enter")
    turns.get_by_text("Rows 51–80 of 80").wait_for()
    assert cells(page)[0] == "51"
    assert page.evaluate("document.activeElement.innerText") == "Previous"  # the last page: Next is off
    page.keyboard.press("Enter")
    turns.get_by_text("Rows 1–50 of 80").wait_for()
    assert page.evaluate("document.activeElement.innerText") == "Next"


def test_what_is_cancelled_gives_the_focus_back(open_page: Open) -> None:
    page = open_page(TALL)
    ask(page)
    page.get_by_role("button", name="Edit").press("Enter")
    page.get_by_role("button", name="Cancel").press("Enter")
    assert page.evaluate("document.activeElement.innerText") == "Edit"
    page.get_by_role("button", name="Wrong").press("Enter")
    page.get_by_role("button", name="Cancel").press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Wrong"
    page.get_by_role("button", name="Right").press("Enter")
    page.get_by_text("Thank you").wait_for()
    assert "Thank you" in page.evaluate("document.activeElement.innerText")


def test_a_download_that_fails_says_so_once(open_page: Open) -> None:
    page = open_page(TALL)
    ask(page)
    page.get_by_role("button", name="Download CSV").wait_for()
    page.route("**/v1/query", lambda route: route.abort())
    for _ in range(2):
        page.get_by_role("button", name="Download CSV").click()
        page.get_by_text("The download failed: The server does not answer.").wait_for()
    assert page.get_by_role("alert").count() == 1


def test_a_narrow_screen(open_page: Open) -> None:
    page = open_page(dealt, recipe=VOTES_OF_EIGHT, width=360)
    ask(page)
    page.get_by_role("heading", name="Why this answer").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert not page.locator("#side").is_visible()
    page.get_by_role("button", name="Schema and history").click()
    page.locator("#side").get_by_text("person").wait_for()


def test_logging_in_and_out(open_page: Open) -> None:
    file, headers = token_file(ann="")
    page = open_page(tokens=file)
    page.fill("#token", "wrong")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").wait_for()
    page.fill("#token", headers["ann"]["Authorization"].removeprefix("Bearer "))
    page.get_by_role("button", name="Log in").click()
    page.locator("#question").wait_for()
    assert page.locator("#database option").all_text_contents() == ["people"]
    page.get_by_role("button", name=re.compile("How many rows")).wait_for()  # the scripts are there
    ask(page)
    page.get_by_role("heading", name="Why this answer").wait_for()
    page.context.clear_cookies()  # as after a restart of the server
    ask(page, "Who is small?")
    page.fill("#token", headers["ann"]["Authorization"].removeprefix("Bearer "))
    page.get_by_role("button", name="Log in").click()
    from playwright.sync_api import expect

    expect(page.locator("#question")).to_have_value("Who is small?")
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("button", name="Log in").wait_for()
