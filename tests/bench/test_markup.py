from __future__ import annotations

from sqljury.evaluation.charts import Html, element, html, joined, section, table


def test_all_but_markup_is_escaped() -> None:
    assert html('<b> & "') == "&lt;b&gt; &amp; &quot;"
    assert html(html("<")) == "&lt;"
    assert joined(("<", Html("<b>"), 1)) == "&lt;<b>1"
    assert html("a\udcff") == "a?"


def test_elements_and_their_attributes() -> None:
    assert element("p", "a < b", class_="x", text_anchor='"') == '<p class="x" text-anchor="&quot;">a &lt; b</p>'


def test_a_table_of_words_and_numbers() -> None:
    found = table(("a", "b"), [("<", 1)])
    assert '<td class="word">&lt;</td><td class="number">1</td>' in found
    assert table(("a",), []) == ""


def test_no_heading_over_nothing() -> None:
    assert section("Empty", table(("a",), [])) == ""
    assert section("Full", "x") == "<section><h2>Full</h2>x</section>"
