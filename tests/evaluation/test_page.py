from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sqljury.evaluation import page as pages
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.page import page
from sqljury.evaluation.scores import findings, provenance
from sqljury.evaluation.targets import Targets
from sqljury.experiments.accumulate import accumulate

Judge = Callable[..., Evaluation]
Files = Mapping[str, Sequence[Path]]

EVIL = "SELECT kind FROM pet WHERE kind = '</code><script>alert(1)</script><img src=//x>'"
QUERIES = (
    ("SELECT breed FROM pet", "SELECT kind FROM pet"),
    ("SELECT kind FROM pet WHERE id = 9", EVIL),
    ("SELECT kind FROM pet", "SELECT kind FROM pet"),
    ("SELECT price FROM item JOIN sale ON item.id = sale.item_id", "SELECT 1", "shop"),
)
METRICS = ("exe", "esm", "esm_plus", "soft_f1")


class _Reader(HTMLParser):
    """Collects tags and what links anywhere; fails where elements do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [name for name, _ in attributes if name in ("src", "href", "onclick")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def written(judge: Judge, files: Files, other: Sequence[tuple[str, ...]] | None = None) -> str:
    found = judge(*QUERIES, metrics=METRICS)
    against = None if other is None else judge(*other, metrics=METRICS)
    report = findings(found, against)
    report = replace(report, accumulated_rules=accumulate(found, Targets(files)), provenance=provenance([], files))
    return page(found, report, "a <b> on gold", "the other & file")


def test_one_file_that_needs_nothing_and_runs_nothing(judge: Judge, files: Files) -> None:
    text = written(judge, files)
    reader = _Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.links == []
    assert not reader.tags & {"script", "img", "link", "iframe", "b", "image", "use", "a"}
    assert "svg" in reader.tags
    assert "url(" not in text
    assert "@import" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<title>a &lt;b&gt; on gold</title>" in text


def test_what_is_wrong_with_gold_comes_first(judge: Judge, files: Files) -> None:
    headings = re.findall("<h2>(.*?)</h2>", written(judge, files))
    assert headings == [
        "Problems of gold",
        "Scores",
        "Agreement of metrics",
        "False negatives in percent as the rules of ESM+ are switched on",
        "By clause of gold",
        "By joins in gold",
        "By database",
        "What the figures rest on",
        "Queries one by one",
    ]


def test_figures_are_those_of_the_report(judge: Judge, files: Files) -> None:
    text = written(judge, files)
    assert '<td class="word">EXE</td><td class="number">66.7</td>' in text
    assert "gold.txt, line 1" in text
    assert "1 gold queries return nothing, as many wrong ones do: 1." in text
    assert provenance([], files).all_databases in text


def test_two_files_with_the_queries_won_and_lost(judge: Judge, files: Files) -> None:
    other = [*QUERIES[:2], ("SELECT kind FROM pet", "SELECT age FROM pet"), QUERIES[3]]
    text = written(judge, files, other)
    assert "Compared with the other &amp; file." in text
    assert "<h3>EXE: won</h3>" in text
    assert "EXE: lost" not in text


def test_long_lists_are_cut_and_say_so(judge: Judge, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LISTED", 1)
    worse = ("SELECT breed FROM pet", "SELECT kind FROM pet")
    found = judge(worse, worse, metrics=METRICS)
    report = replace(findings(found), provenance=provenance([], files))
    assert "The first 1 of 2; --output json has all." in page(found, report, "title")
