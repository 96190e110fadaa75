"""Pieces of HTML: what is not ``Html`` already is escaped wherever it is put, so no query can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is markup already; only this package makes it."""

    __slots__ = ()


def html(value: object) -> Html:
    """Any value as markup, characters that only a file with errors holds replaced."""
    if isinstance(value, Html):
        return value
    return Html(escape(str(value).encode("utf-8", "replace").decode("utf-8")))


def joined(parts: Iterable[object]) -> Html:
    """The parts one after another."""
    return Html("".join(html(part) for part in parts))


def element(tag: str, *content: object, **attributes: object) -> Html:
    """An element; underscores in the names of attributes become hyphens, one at the end goes (``class_``)."""
    listed = "".join(f' {name.rstrip("_").replace("_", "-")}="{html(value)}"' for name, value in attributes.items())
    return Html(f"<{tag}{listed}>{joined(content)}</{tag}>")


def table(titles: Sequence[object], rows: Iterable[Sequence[object]], words: int = 1) -> Html:
    """A table whose first ``words`` columns hold words and the others numbers; empty for no rows."""

    def row(tag: str, cells: Sequence[object]) -> Html:
        listed = (element(tag, cell, class_="word" if at < words else "number") for at, cell in enumerate(cells))
        return element("tr", *listed)

    body = [row("td", cells) for cells in rows]
    return element("table", element("thead", row("th", titles)), element("tbody", *body)) if body else Html("")


def section(title: str, *content: object) -> Html:
    """A part of the page with its heading, nothing where there is no content."""
    whole = joined(content)
    return element("section", element("h2", title), whole) if whole else Html("")
