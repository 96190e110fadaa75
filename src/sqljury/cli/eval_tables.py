"""Tables of an evaluation for the terminal: gold's faults, scores, comparison, agreement, one pair in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sqljury.cli import terminal
from sqljury.evaluation.explain import Explanation, Rewriting
from sqljury.evaluation.findings import AccumulatedRules, Against, Agreement, Findings, GoldFault, Provenance
from sqljury.evaluation.judge import RETURNS_NOTHING
from sqljury.metrics.partial import Shares

SHOWN_FAULTS = 10
LISTED = 20
WIDE = 10_000


def console() -> Console:
    """Where to print; for a pipe nothing is wrapped."""
    opened = Console(highlight=False, markup=False, emoji=False)
    return opened if opened.is_terminal else Console(highlight=False, markup=False, emoji=False, width=WIDE)


def hashes(sources: Provenance) -> str:
    """The hashes that the figures depend on, in a line."""
    files = [f"{Path(file).name} {digest[:12]}" for file, digest in sources.files.items()]
    databases = f"{len(sources.databases)} databases {sources.all_databases[:12]}"
    return f"SHA-256: {', '.join([*files, databases])}"


def print_faults(console: Console, faults: Sequence[GoldFault]) -> None:
    """Gold queries that fail, then the ids of those that return nothing."""
    empty = [fault for fault in faults if fault.fault == RETURNS_NOTHING]
    failing = [fault for fault in faults if fault.fault != RETURNS_NOTHING]
    if failing:
        console.print(f"{len(failing)} gold queries cannot be judged by; they are left out:")
    for fault in failing[:SHOWN_FAULTS]:
        console.print(f"{fault.place}: {fault.fault}")
    if len(failing) > SHOWN_FAULTS:
        console.print(f"and {len(failing) - SHOWN_FAULTS} more; --output json has all")
    if empty:
        ids = ", ".join(fault.id for fault in empty[:SHOWN_FAULTS])
        more = ", ..." if len(empty) > SHOWN_FAULTS else ""
        console.print(f"{len(empty)} gold queries return nothing, as many wrong ones do: {ids}{more}")
    if faults:
        console.print()


def left_out(faults: Sequence[Sequence[str]], questions: int) -> Iterator[str]:
    """The questions of a run that are left out, by id and reason; ``questions`` are those that are judged."""
    if faults:
        yield f"{len(faults)} of {questions + len(faults)} questions are left out, for nothing can be judged by gold:"
    for name, fault in faults[:SHOWN_FAULTS]:
        yield terminal.clean(f"left out: {name}: {fault}")
    if len(faults) > SHOWN_FAULTS:
        yield f"and {len(faults) - SHOWN_FAULTS} more; JSON has all"


def print_metrics(console: Console, findings: Findings) -> None:
    """Each metric in percent with its interval, and by hardness."""
    levels = list(dict.fromkeys(level for metric in findings.metrics.values() for level in metric.hardness))
    table = terminal.figures("metric", "%", "95 % interval", "of", *levels)
    for metric in findings.metrics.values():
        cells = [f"{metric.hardness[level].percent:.1f}" if level in metric.hardness else "" for level in levels]
        interval = f"{metric.low:.1f} - {metric.high:.1f}"
        table.add_row(metric.title, f"{metric.percent:.1f}", interval, str(metric.judged), *cells)
        if metric.interactions is not None:
            whole = metric.interactions
            table.add_row("  whole dialogues", f"{whole.percent:.1f}", "", str(whole.interactions))
    console.print(table)


def print_partial(console: Console, clauses: Mapping[str, Mapping[str, Shares]]) -> None:
    """As Spider's program prints them, a block for each of the three shares."""
    levels = list(next(iter(clauses.values()), {}))
    for share in ("precision", "recall", "f1"):
        table = terminal.figures(f"\npartial match, {share}", *(f"\n{level}" for level in levels))
        for clause, by_level in clauses.items():
            table.add_row(clause, *(f"{getattr(by_level[level], share):.3f}" for level in levels))
        console.print(table)


def print_comparison(console: Console, part: Against, other: str) -> None:
    """One metric of two files: both scores, the difference, and which queries were won and lost."""
    result, (low, high) = part.comparison, part.comparison.interval
    console.print(
        f"\n{part.title}: {100 * result.second:.1f} against {100 * result.first:.1f} of {other}, "
        f"{100 * result.difference:+.2f} points, 95 % interval {100 * low:+.2f} to {100 * high:+.2f}; "
        f"{len(result.wins)} won, {len(result.losses)} lost, McNemar p = {result.p:.3g}"
    )
    for title, indices in (("wins", result.wins), ("losses", result.losses)):
        listed = ", ".join(map(str, indices[:LISTED])) + (", ..." if len(indices) > LISTED else "")
        console.print(f"  {title}: {listed or 'none'}")


def print_agreement(console: Console, agreement: Agreement) -> None:
    """How metrics agree with the reference and those of matching with each other, errors, and what is refused."""
    _print_confusion(console, agreement)
    truth = agreement.errors[agreement.reference].title
    table = terminal.figures(f"\nagainst {truth}, %", "\nfalse positives", "\nfalse negatives")
    for name, errors in agreement.errors.items():
        if name != agreement.reference:
            table.add_row(errors.title, f"{errors.false_positives:.1f}", f"{errors.false_negatives:.1f}")
    console.print(table)
    for name, refused in agreement.refused.items():
        clauses = ", ".join(f"{clause} {count}" for clause, count in refused.clauses.items())
        words = f"{truth} accepts and {agreement.errors[name].title} refuses {len(refused.pairs)}"
        console.print(f"\n{words}{': ' + clauses if clauses else ''}")
        for pair in refused.pairs[:LISTED]:
            console.print(f"  {pair.index} ({pair.database}): {pair.reason}", soft_wrap=True)
        if len(refused.pairs) > LISTED:
            console.print(f"  and {len(refused.pairs) - LISTED} more; --output json has all")


def _print_confusion(console: Console, agreement: Agreement) -> None:
    words = ("both accept", "only first", "only second", "neither", "same, %", "kappa")
    table = terminal.figures("\nfirst / second", *("\n" + word for word in words))
    not_shown = 0
    for pair in agreement.confusion:
        if agreement.reference not in pair.metrics and not all(name.startswith("esm") for name in pair.metrics):
            not_shown += 1
            continue
        cells = (pair.both, pair.first_only, pair.second_only, pair.neither)
        kappa = "" if pair.kappa is None else f"{pair.kappa:.3f}"
        table.add_row(f"{pair.first} / {pair.second}", *map(str, cells), f"{pair.agreement:.1f}", kappa)
    console.print(table)
    if not_shown:
        console.print(f"{not_shown} more pairs of metrics: --output json")


def print_accumulated(console: Console, rules: AccumulatedRules) -> None:
    """False negatives as the rules of ESM+ are switched on."""
    table = terminal.figures("\nrules on", "\nfalse negatives", "\n%")
    table.add_column("\nthe last rule", overflow="fold")
    for step in rules.steps:
        label = f"1 to {step.label}" if step.label.isdigit() and int(step.label) > 1 else step.label
        table.add_row(label, str(step.missed), f"{step.percent:.1f}", Text(step.rule))
    console.print(table)
    console.print(f"of {rules.queries} queries, {rules.accepted} right by {rules.title}")


def print_pair(console: Console, pair: Explanation) -> None:
    """One pair in full: both queries, each metric's verdict with its reason, and ESM+'s rewriting."""
    lines = [f"pair {pair.index}: {pair.place}, database {pair.database}, {pair.hardness or 'no level'}"]
    lines += [f"  fault: {pair.fault}"] if pair.fault else []
    lines += [f"  gold       {pair.gold}", f"  predicted  {pair.predicted or '(none)'}", ""]
    for metric in pair.metrics.values():
        score = "-" if metric.score is None else f"{metric.score:g}"
        lines.append(f"{metric.title}: {score}{'; ' + metric.reason if metric.reason else ''}")
    for title, rewriting in (("ESM+", pair.esm_plus), ("ESM+ strict", pair.esm_plus_strict)):
        if rewriting is not None:
            lines += ["", *_rewriting(title, rewriting)]
    for line in lines:
        console.print(line, soft_wrap=True)


def _rewriting(title: str, both: Rewriting) -> list[str]:
    verdict = "match" if both.matches else f"differ in {', '.join(both.differs)}"
    lines = [f"{title}, rewritten: {'cannot be compared' if both.gold.error or both.predicted.error else verdict}"]
    for name, query in (("gold", both.gold), ("predicted", both.predicted)):
        lines.append(f"  {name:<9}  {query.sql or 'not read: ' + query.error}")
        if query.sql and query.error:
            lines.append(f"    refused: {query.error}")
        for fired in query.fired:
            assumed = f"; assumes {', '.join(fired.assumptions)}" if fired.assumptions else ""
            lines.append(f"    rule {fired.rule}: {fired.meaning}{assumed}")
    if both.deciding:
        lines.append(f"  without rule {', or without '.join(map(str, both.deciding))}, no match")
    return lines
