"""Figures of the gold queries' audit (TS-SQL, section 4.1 and appendix C)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqljury.audit import TYPES
from sqljury.audit.run import findings_of, run, settings
from sqljury.datasets.spider import load, sample
from sqljury.evaluation.report import Share
from sqljury.evaluation.run_folder import Record
from sqljury.experiments.papers.inputs import SEED, Inputs, dataset, share
from sqljury.experiments.papers.registry import Figure, Grid, Row

SECONDS: Final = 10.0
"""For one query of the audit."""


def suspected(inputs: Inputs) -> Grid:
    """Gold queries that the program checks suspect (TS-SQL, Table 1)."""
    lines = _audited(inputs)
    wrong = sum(bool(findings_of(line)) for line in lines)
    rows = {"Spider dev": (Figure(wrong), Figure(len(lines)), share(Share(wrong, len(lines)).figures()))}
    return Grid(("gold queries suspected", "of", "%"), rows, ("by checks without a model; no test cases",))


def kinds(inputs: Inputs) -> Grid:
    """Suspected gold queries by the type of their surest finding, in percent (TS-SQL, Figure 7)."""
    surest = [findings[0].type for line in _audited(inputs) if (findings := findings_of(line))]
    counts = Counter(surest)
    rows: dict[str, Row] = {kind: (share(Share(counts[kind], len(surest)).figures()),) for kind in TYPES}
    return Grid(("% of the suspected",), rows, (f"{len(surest)} suspected gold queries",))


def _audited(inputs: Inputs) -> list[Record]:
    """The audit's lines of Spider dev, in a folder that is dropped."""
    data = dataset(inputs)
    examples = sample(load(data, "dev"), inputs.limit, SEED)
    settled = settings({"name": "spider", "data": str(data.resolve()), "split": "dev"}, SECONDS)
    with TemporaryDirectory() as folder:
        lines = run(examples, Path(folder) / "audit.jsonl", settled, processes=inputs.processes)
    inputs.stop_if_cancelled()
    return lines
