"""A table of a paper beside its counterpart here, and ``docs/papers.md``, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final

from sqljury.experiments.papers.registry import STATUSES, Entry, Figure, Grid, Paper, Row, papers

BEGINS: Final = "# "
"""How every file of this module begins."""

MOST_COLUMNS: Final = 4
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
    """The paper's figures beside ours, and the differences, as a Markdown file.

    What differs in model, sample and dataset is in the notes of ``grid``, which belongs to the inputs at hand.
    """
    return "\n".join([f"# {entry.id}: {entry.shows}", "", *_beside(entry, grid), *_differences(entry.differs)]) + "\n"


def _paper(paper: Paper) -> str:
    lines = [f"\n## {paper.title}", "", f"{paper.docs}", "", "| place | what it shows | status | how, or why not |"]
    lines += ["|---|---|---|---|"]
    lines += [_row(map(_cell, (entry.place, entry.shows, entry.status, _how(entry)))) for entry in paper.entries]
    for entry in paper.entries:
        if entry.kept:
            lines += ["", f"### {paper.name}: {entry.place}", "", _sentence(entry.shows), ""]
            for number, kept in enumerate(entry.kept):
                lines += [f"{kept.date}, {kept.by}:", "", *_beside(entry, kept.grid, printed=not number), ""]
            lines += _differences((*entry.measured, *entry.differs))
    return "\n".join(_single_blank(lines))


def _how(entry: Entry) -> str:
    command = f"`{entry.command}`" if entry.command else ""
    made = "; from " + ", ".join(f"`{command}`" for command in entry.makes) if entry.makes else ""
    measured = f"; measured {', '.join(dict.fromkeys(kept.date for kept in entry.kept))}" if entry.kept else ""
    missing = "; not measured yet" if entry.method and not entry.kept and entry.status == "in kind" else ""
    return ". ".join(part for part in (f"{command}{made}{measured}{missing}".removeprefix("; "), entry.why) if part)


def _beside(entry: Entry, grid: Grid, *, printed: bool = True) -> Iterator[str]:
    """The paper's figures, where they are to be ``printed``, and ours: in one table where the columns are the same.

    Rows that both have stand beside each other, in tables of many columns one below the other.
    """
    paper = entry.printed if printed else Grid((), {})
    if paper.columns != grid.columns or not paper.rows:
        if paper.rows:
            yield from ("The paper:", "", *_table(paper.columns, list(paper.rows.items())), "", "Here:", "")
        yield from _table(grid.columns, list(grid.rows.items()))
    elif len(grid.columns) <= MOST_COLUMNS and any(label in grid.rows for label in paper.rows):
        columns = [f"{column}, {side}" for column in grid.columns for side in ("paper", "here")]
        none: Row = (None,) * len(grid.columns)
        rows = []
        for label in dict.fromkeys([*paper.rows, *grid.rows]):
            sides = zip(paper.rows.get(label, none), grid.rows.get(label, none), strict=True)
            rows.append((label, [cell for pair in sides for cell in pair]))
        yield from _table(columns, rows)
    else:
        sources = (("paper", paper), ("here", grid))
        listed = dict.fromkeys(label for label in (*paper.rows, *grid.rows))
        both = [(label, side, of) for label in listed for side, of in sources if label in of.rows]
        yield from _table(grid.columns, [(f"{side}: {label}", of.rows[label]) for label, side, of in both])
    notes = (*paper.notes, *grid.notes)
    if notes:
        yield from ("", *(f"- {note}" for note in notes))


def _differences(listed: Sequence[str]) -> list[str]:
    if not listed:
        return []
    return ["", "Differences from the paper:", "", *(f"- {difference}" for difference in listed)]


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
    """On one line, without bars and tags of its own: labels may come from files."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "\\<")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _single_blank(lines: Sequence[str]) -> Iterator[str]:
    """The lines without a blank one after another, and none at the end."""
    before = ""
    for line in lines:
        if line or before:
            yield line
        before = line
