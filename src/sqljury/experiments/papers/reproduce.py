"""Computes a table of a paper here, from prediction files, stored runs or the dataset; no model is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqljury.errors import InputError
from sqljury.experiments.papers import audits, expected, files, refined, reranked, runs
from sqljury.experiments.papers.inputs import Inputs
from sqljury.experiments.papers.registry import PLACEHOLDERS, STATUSES, Entry, Grid, find

METHODS: Final[dict[str, Callable[[Inputs], Grid]]] = {
    "audits.kinds": audits.kinds,
    "audits.suspected": audits.suspected,
    "expected.by_clause": expected.by_clause,
    "expected.by_setting": expected.by_setting,
    "expected.constrained": expected.constrained,
    "files.accuracy": files.accuracy,
    "files.by_corrected_gold": files.by_corrected_gold,
    "files.dialogues": files.dialogues,
    "files.metric_errors": files.metric_errors,
    "files.rules": files.rules,
    "files.rules_accumulated": files.rules_accumulated,
    "files.three_metrics": files.three_metrics,
    "refined.before_after": refined.before_after,
    "refined.boundaries": refined.boundaries,
    "refined.error_types": refined.error_types,
    "refined.tokens": refined.tokens,
    "reranked.reranked": reranked.reranked,
    "runs.by_database": runs.by_database,
    "runs.by_hardness": runs.by_hardness,
    "runs.chosen": runs.chosen,
    "runs.error_kinds": runs.error_kinds,
    "runs.generators": runs.generators,
    "runs.judges": runs.judges,
    "runs.outcomes": runs.outcomes,
    "runs.samples": runs.samples,
    "runs.selectors": runs.selectors,
    "runs.solved_by": runs.solved_by,
    "runs.without_parts": runs.without_parts,
}
"""By the name in an entry: what computes its figures."""


def reproduce(name: str, inputs: Inputs) -> tuple[Entry, Grid]:
    """The entry with this id, such as ``esm+/table2``, and its figures here.

    Raises ``InputError`` for an unknown id, one that cannot be had here, and a missing input: the message has the
    commands that make it. Raises what reading and judging the inputs raises.
    """
    entry = find(name)
    refuse_missing(entry, inputs)
    return entry, METHODS[entry.method](inputs)


def refuse_missing(entry: Entry, inputs: Inputs) -> None:
    """Raise ``InputError`` where an entry cannot be computed from these inputs, or does not read one of them."""
    if not entry.method:
        how = "is not computed by this command" if entry.status == "in kind" else "is not computed here"
        raise InputError(f"{entry.id} ({entry.shows}) {how}: {entry.why or STATUSES[entry.status]}")
    missing = [option for option in entry.needs if not inputs.given(option)]
    if missing:
        options = " and ".join(f"--{option} {PLACEHOLDERS[option]}" for option in missing)
        made = f"; make it with: {'; '.join(entry.makes)}" if entry.makes else ""
        raise InputError(f"{entry.id} needs {options}{made}; then: {entry.command}")
    unread = [option for option in PLACEHOLDERS if inputs.given(option) and option not in (*entry.needs, *entry.also)]
    if unread:
        read = ", ".join(f"--{option}" for option in (*entry.needs, *entry.also)) or "no input"
        raise InputError(f"{entry.id} does not read --{unread[0]}; it reads {read}")
