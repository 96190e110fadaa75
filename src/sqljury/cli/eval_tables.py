"""What the terminal shows of an evaluation of files: gold's faults, scores, comparison, agreement, one pair in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqljury.cli import terminal
from sqljury.evaluation.judge import RETURNS_NOTHING

SHOWN_FAULTS = 10
LISTED = 20
WIDE = 10_000


def console() -> Console:
    """Where to print; for a pipe nothing is wrapped."""
    found = Console(highlight=False, markup=False, emoji=False)
    return found if found.is_terminal else Console(highlight=False, markup=False, emoji=False, width=WIDE)


def hashes(sources: dict[str, Any]) -> str:
    """What the figures rest on, in a line."""
    files = [f"{Path(file).name} {digest[:12]}" for file, digest in sources["files"].items()]
    databases = f"{len(sources['databases'])} databases {sources['all_databases'][:12]}"
    return f"SHA-256: {', '.join([*files, databases])}"


def plain_table(first: str, *numbers: str) -> Table:
    """A table without lines: a column of words, then columns of numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first)
    for title in numbers:
        table.add_column(title, justify="right")
    return table


def print_faults(console: Console, faults: list[dict[str, Any]]) -> None:
    """Gold queries that fail, then the numbers of those that return nothing."""
    if not faults:
        return
    empty = [fault for fault in faults if fault["fault"] == RETURNS_NOTHING]
    failing = [fault for fault in faults if fault not in empty]
    if failing:
        console.print(f"{len(failing)} gold queries cannot be judged by; they are left out:")
    for fault in failing[:SHOWN_FAULTS]:
        console.print(f"{fault['place']}: {fault['fault']}")
    if len(failing) > SHOWN_FAULTS:
        console.print(f"and {len(failing) - SHOWN_FAULTS} more; --output json has all")
    if empty:
        places = ", ".join(fault["id"] for fault in empty[:SHOWN_FAULTS])
        more = ", ..." if len(empty) > SHOWN_FAULTS else ""
        console.print(f"{len(empty)} gold queries return nothing, as many wrong ones do: {places}{more}")
    console.print()


def left_out(faults: Sequence[Sequence[str]], questions: int) -> Iterator[str]:
    """The questions of a run that are left out, by id and reason; ``questions`` are those that are judged."""
    if faults:
        yield f"{len(faults)} of {questions + len(faults)} questions are left out, for nothing can be judged by gold:"
    for name, fault in faults[:SHOWN_FAULTS]:
        yield terminal.clean(f"left out: {name}: {fault}")
    if len(faults) > SHOWN_FAULTS:
        yield f"and {len(faults) - SHOWN_FAULTS} more; JSON has all"


def print_metrics(console: Console, report: dict[str, Any]) -> None:
    """Each metric in percent with its interval, and by hardness."""
    levels = list(dict.fromkeys(level for found in report["metrics"].values() for level in found["hardness"]))
    table = plain_table("metric", "%", "95 % interval", "of", *levels)
    for found in report["metrics"].values():
        cells = [f"{found['hardness'][level]['percent']:.1f}" if level in found["hardness"] else "" for level in levels]
        interval = f"{found['low']:.1f} - {found['high']:.1f}"
        table.add_row(found["title"], f"{found['percent']:.1f}", interval, str(found["judged"]), *cells)
        if "interactions" in found:
            whole = found["interactions"]
            table.add_row("  whole dialogues", f"{whole['percent']:.1f}", "", str(whole["interactions"]))
    console.print(table)


def print_partial(console: Console, clauses: dict[str, Any]) -> None:
    """As Spider's program prints them, a block for each of the three shares."""
    for share in ("precision", "recall", "f1"):
        levels = list(next(iter(clauses.values()), {}))
        table = plain_table(f"\npartial match, {share}", *(f"\n{level}" for level in levels))
        for clause, found in clauses.items():
            table.add_row(clause, *(f"{found[level][share]:.3f}" for level in levels))
        console.print(table)


def print_comparison(console: Console, part: dict[str, Any], other: str) -> None:
    """One metric of two files: both scores, the difference, and which queries were won and lost."""
    low, high = part["interval"]
    console.print(
        f"\n{part['title']}: {100 * part['second']:.1f} against {100 * part['first']:.1f} of {other}, "
        f"{100 * part['difference']:+.2f} points, 95 % interval {100 * low:+.2f} to {100 * high:+.2f}; "
        f"{len(part['wins'])} won, {len(part['losses'])} lost, McNemar p = {part['p']:.3g}"
    )
    for title in ("wins", "losses"):
        places = ", ".join(map(str, part[title][:LISTED])) + (", ..." if len(part[title]) > LISTED else "")
        console.print(f"  {title}: {places or 'none'}")


def print_agreement(console: Console, found: dict[str, Any]) -> None:
    """How metrics agree with the reference and those of matching with each other, errors, and what is refused."""
    _print_confusion(console, found)
    title = found["errors"][found["reference"]]["title"]
    table = plain_table(f"\nagainst {title}, %", "\nfalse positives", "\nfalse negatives")
    for name, errors in found["errors"].items():
        if name != found["reference"]:
            table.add_row(errors["title"], f"{errors['false_positives']:.1f}", f"{errors['false_negatives']:.1f}")
    console.print(table)
    for name, refused in found["refused"].items():
        clauses = ", ".join(f"{clause} {count}" for clause, count in refused["clauses"].items())
        words = f"{title} accepts and {found['errors'][name]['title']} refuses {len(refused['pairs'])}"
        console.print(f"\n{words}{': ' + clauses if clauses else ''}")
        for pair in refused["pairs"][:LISTED]:
            console.print(f"  {pair['index']} ({pair['database']}): {pair['reason']}", soft_wrap=True)
        if len(refused["pairs"]) > LISTED:
            console.print(f"  and {len(refused['pairs']) - LISTED} more; --output json has all")


def _print_confusion(console: Console, found: dict[str, Any]) -> None:
    words = ("both accept", "only first", "only second", "neither", "same, %", "kappa")
    table = plain_table("\nfirst / second", *("\n" + word for word in words))
    left_out = 0
    for pair in found["confusion"]:
        if found["reference"] not in pair["metrics"] and not all(name.startswith("esm") for name in pair["metrics"]):
            left_out += 1
            continue
        cells = (pair["both"], pair["first_only"], pair["second_only"], pair["neither"])
        kappa = "" if pair["kappa"] is None else f"{pair['kappa']:.3f}"
        table.add_row(f"{pair['first']} / {pair['second']}", *map(str, cells), f"{pair['agreement']:.1f}", kappa)
    console.print(table)
    if left_out:
        console.print(f"{left_out} more pairs of metrics: --output json")


def print_accumulated(console: Console, found: dict[str, Any]) -> None:
    """False negatives as the rules of ESM+ are switched on."""
    table = plain_table("\nrules on", "\nfalse negatives", "\n%")
    table.add_column("\nthe last rule", overflow="fold")
    for step in found["steps"]:
        label = f"1 to {step['label']}" if step["label"].isdigit() and int(step["label"]) > 1 else step["label"]
        table.add_row(label, str(step["missed"]), f"{step['percent']:.1f}", Text(step["rule"]))
    console.print(table)
    console.print(f"of {found['queries']} queries, {found['accepted']} right by {found['title']}")


def print_pair(console: Console, found: dict[str, Any]) -> None:
    """One pair in full: both queries, each metric's verdict with its reason, and ESM+'s rewriting."""
    lines = [
        f"pair {found['index']}: {found['place']}, database {found['database']}, {found['hardness'] or 'no level'}"
    ]
    lines += [f"  fault: {found['fault']}"] if found["fault"] else []
    lines += [f"  gold       {found['gold']}", f"  predicted  {found['predicted'] or '(none)'}", ""]
    for metric in found["metrics"].values():
        score = "-" if metric["score"] is None else f"{metric['score']:g}"
        lines.append(f"{metric['title']}: {score}{'; ' + metric['reason'] if metric['reason'] else ''}")
    for name, title in (("esm_plus", "ESM+"), ("esm_plus_strict", "ESM+ strict")):
        if name in found:
            lines += ["", *_rewriting(title, found[name])]
    for line in lines:
        console.print(line, soft_wrap=True)


def _rewriting(title: str, found: dict[str, Any]) -> list[str]:
    verdict = "match" if found["matches"] else f"differ in {', '.join(found['differs'])}"
    unread = any(found[side]["error"] for side in ("gold", "predicted"))
    lines = [f"{title}, rewritten: {'cannot be compared' if unread else verdict}"]
    for side in ("gold", "predicted"):
        own = found[side]
        lines.append(f"  {side:<9}  {own['sql'] or 'not read: ' + own['error']}")
        if own["sql"] and own["error"]:
            lines.append(f"    refused: {own['error']}")
        for fired in own["fired"]:
            assumed = f"; assumes {', '.join(fired['assumptions'])}" if fired["assumptions"] else ""
            lines.append(f"    rule {fired['rule']}: {fired['meaning']}{assumed}")
    if found["deciding"]:
        lines.append(f"  without rule {', or without '.join(map(str, found['deciding']))}, no match")
    return lines
