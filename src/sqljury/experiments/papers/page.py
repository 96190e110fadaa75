"""A table of a paper beside its counterpart here, and ``docs/papers.md``, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final

from sqljury.experiments.papers.registry import STATUSES, Entry, Figure, Grid, Kept, Paper, papers

BEGINS: Final = "# "
"""How every file of this module begins."""

MOST_COLUMNS: Final = 6
"""Columns that fit beside the paper's in one table."""

COUNTED: Final = "\n| paper | reproduced | in kind | not here | illustration |\n|---|---:|---:|---:|---:|"


def page() -> str:
    """The whole of ``docs/papers.md``."""
    introduction = files(__package__).joinpath("introduction.md").read_text(encoding="utf-8")
    for status, meaning in STATUSES.items():
        introduction = introduction.replace(f"{{{status}}}", meaning)
    counts = [
        _row((_cell(paper.title), *(sum(entry.status == status for entry in paper.entries) for status in STATUSES)))
        for paper in papers()
    ]
    parts = [introduction.rstrip("\n"), "\n".join([COUNTED, *counts]), *map(_paper, papers())]
    return "\n".join(parts) + "\n"


def comparison(entry: Entry, grid: Grid) -> str:
    """The paper's figures beside ours, and the differences, as a Markdown file."""
    kept = Kept("", "", grid)
    return "\n".join([f"# {entry.id}: {entry.shows}", "", *_beside(entry, kept), *_differences(entry)]) + "\n"


def _paper(paper: Paper) -> str:
    lines = [f"\n## {paper.title}", "", f"{paper.docs}", "", "| place | what it shows | status | how, or why not |"]
    lines += ["|---|---|---|---|"]
    lines += [_row(map(_cell, (entry.place, entry.shows, entry.status, _how(entry)))) for entry in paper.entries]
    for entry in paper.entries:
        if entry.kept:
            lines += ["", f"### {paper.name}: {entry.place}", "", _sentence(entry.shows), ""]
            for kept in entry.kept:
                lines += [f"{kept.date}, {kept.by}:", "", *_beside(entry, kept), ""]
            lines += _differences(entry)
    return "\n".join(_single_blank(lines))


def _how(entry: Entry) -> str:
    command = f"`{entry.command}`" if entry.command else ""
    made = "; from " + ", ".join(f"`{command}`" for command in entry.makes) if entry.makes else ""
    measured = f"; measured {', '.join(dict.fromkeys(kept.date for kept in entry.kept))}" if entry.kept else ""
    missing = "; not measured yet" if entry.method and not entry.kept else ""
    return ". ".join(part for part in (f"{command}{made}{measured}{missing}".removeprefix("; "), entry.why) if part)


def _beside(entry: Entry, kept: Kept) -> Iterator[str]:
    """One table where rows and columns are the paper's, else the paper's and ours one after the other."""
    printed, grid = entry.printed, kept.grid
    shared = [label for label in printed.rows if label in grid.rows]
    if printed.columns == grid.columns and shared and len(grid.columns) <= MOST_COLUMNS:
        columns = [f"{column}, {side}" for column in grid.columns for side in ("paper", "here")]
        listed = dict.fromkeys([*printed.rows, *grid.rows])
        none: tuple[Figure | None, ...] = (None,) * len(grid.columns)
        both_sides = ((printed.rows.get(label, none), grid.rows.get(label, none)) for label in listed)
        rows = [[cell for pair in zip(*both, strict=True) for cell in pair] for both in both_sides]
        yield from _table(columns, list(zip(listed, rows, strict=True)))
    elif printed.columns == grid.columns and printed.rows:
        sides = [("paper", printed), ("here", grid)]
        yield from _table(
            grid.columns, [(f"{side}: {label}", of.rows[label]) for side, of in sides for label in of.rows]
        )
    else:
        if printed.rows:
            yield from ("The paper:", "", *_table(printed.columns, list(printed.rows.items())), "", "Here:", "")
        yield from _table(grid.columns, list(grid.rows.items()))
    notes = (*printed.notes, *grid.notes)
    if notes:
        yield from ("", *(f"- {note}" for note in notes))


def _differences(entry: Entry) -> list[str]:
    if not entry.differs:
        return []
    return ["", "Differences from the paper:", "", *(f"- {difference}" for difference in entry.differs)]


def _table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[Figure | None]]]) -> Iterator[str]:
    """Aligned, so that it reads well as text too."""
    lines = [["", *map(_cell, columns)], *([_cell(label), *map(shown, cells)] for label, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, (label, *cells) in enumerate(lines):
        yield _row((label.ljust(widths[0]), *map(str.rjust, cells, widths[1:])))
        if not number:
            yield "|" + "-" * (widths[0] + 2) + "|" + "".join("-" * (width + 1) + ":|" for width in widths[1:])


def shown(figure: Figure | None) -> str:
    """A figure as text: counts as they are, else one or two decimals, with its interval; ``-`` for none."""
    if figure is None:
        return "-"
    value = _number(figure.value)
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({figure.low:.0f} - {figure.high:.0f})"


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    text = f"{value:.2f}"
    return text.removesuffix("0")


def _row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def _cell(text: object) -> str:
    """On one line, without bars of its own: labels may come from files."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _single_blank(lines: Sequence[str]) -> Iterator[str]:
    """The lines without a blank one after another, and none at the end."""
    before = ""
    for line in lines:
        if line or before:
            yield line
        before = line
