"""How well an audit finds wrong gold queries, by the 200 of Spider dev that were read by hand (docs/audit.md, Recall).

    python benchmarks/audit_model.py --data ../shared/spider --ids ids.txt        # the questions that were read
    sqljury audit spider --data ../shared/spider --out audit.jsonl --ids ids.txt --model-checks tests.jsonl \\
        --recipe tssql-small
    python benchmarks/audit_model.py --data ../shared/spider audit.jsonl tests.jsonl

For each file, and for all together, how many gold queries that are wrong by reading and how many that are right it
suspects, finds nothing against, or cannot say anything of (a test that says nothing, a question that failed); recall
and precision with Wilson's intervals of 95 %, which ids were found, missed and suspected wrongly. The paper's own
method (TS-SQL, section 4.1, Table 1) reads only what its tests suspect, so it has precision (120 of 131) and no recall.

The samples are drawn again as they were drawn for reading, and every wrong query of ``audit_read.tsv`` must be in its
sample: A by seed 7 from the questions whose database has rows, B by seed 11 from the others of these, without the
databases ``flight_2`` and ``car_1``.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.datasets import spider
from sqljury.evaluation.report import Share

READ: Final = Path(__file__).parent / "audit_read.tsv"
EMPTY: Final = ("wta_1",)
REPEATED: Final = ("flight_2", "car_1")
"""Databases in which one fault repeats over most queries."""

SAMPLE: Final = 100
STATES: Final = ("suspected", "fine", "silent", "missing")

Lines = Mapping[str, dict[str, Any]]


def main() -> None:
    """Write the ids, or print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, help="files of `sqljury audit`: --out and --model-checks")
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--least", type=float, default=0.5, help="the least confidence of a finding that counts")
    parser.add_argument("--ids", type=Path, help="write the ids of the questions that were read, and do nothing else")
    options = parser.parse_args()
    samples, wrong = drawn(options.data), read_wrong()
    for name, ids in samples.items():
        lost = {id_ for id_, sample in wrong.items() if sample == name} - set(ids)
        if lost:
            raise SystemExit(f"{READ}: {sorted(lost)[0]} is not in the sample {name}; is this Spider's own dev.json?")
    if options.ids:
        options.ids.write_text("".join(f"{id_}\n" for ids in samples.values() for id_ in ids))
        return
    files = {file.name: lines_of(file) for file in options.files}
    for name, lines in files.items():
        report(name, [lines], samples, wrong, options.least)
    if len(files) > 1:
        report("together", list(files.values()), samples, wrong, options.least)


def drawn(data: Path) -> dict[str, list[str]]:
    """The ids of each sample, in the dataset's order."""
    examples = [one for one in spider.load(data, "dev") if one.db_id not in EMPTY]
    first = {one.id for one in spider.sample(examples, SAMPLE, 7)}
    others = [one for one in examples if one.id not in first and one.db_id not in REPEATED]
    return {
        "A": [one.id for one in examples if one.id in first],
        "B": [one.id for one in spider.sample(others, SAMPLE, 11)],
    }


def read_wrong() -> dict[str, str]:
    """By id of a query that is wrong by reading, its sample."""
    with READ.open(encoding="utf-8", newline="") as stream:
        return {row["id"]: row["sample"] for row in csv.DictReader(stream, delimiter="\t")}


def lines_of(file: Path) -> dict[str, dict[str, Any]]:
    """The lines of an audit by question; its first line holds the settings."""
    return {line["id"]: line for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()[1:])}


def state(id_: str, files: Sequence[Lines], least: float) -> str:
    """What the files say of one question, the gravest first."""
    there = [lines[id_] for lines in files if id_ in lines]
    if any(one["confidence"] >= least for line in there for one in line["findings"]):
        return "suspected"
    if not there:
        return "missing"
    return "silent" if all(silent(line) for line in there) else "fine"


def silent(line: Mapping[str, Any]) -> bool:
    """Whether a question failed, or its tests came to no verdict."""
    if line["error"]:
        return True
    return bool("checked" in line and line["checked"]["verdict"] == "unclear")


def report(
    title: str, files: Sequence[Lines], samples: Mapping[str, Sequence[str]], wrong: Mapping[str, str], least: float
) -> None:
    """Print the figures of each sample and of both."""
    print(f"\n{title}")
    for name, ids in (*samples.items(), ("both", [id_ for own in samples.values() for id_ in own])):
        states = {id_: state(id_, files, least) for id_ in ids}
        for label, own in (
            ("wrong", [id_ for id_ in ids if id_ in wrong]),
            ("right", [i for i in ids if i not in wrong]),
        ):
            counts = ", ".join(f"{one} {sum(states[id_] == one for id_ in own)}" for one in STATES)
            print(f"  {name:4} {label} by reading, {len(own):3}: {counts}")
        looked = [id_ for id_ in ids if states[id_] != "missing"]
        suspected = [id_ for id_ in looked if states[id_] == "suspected"]
        hit = [id_ for id_ in suspected if id_ in wrong]
        print(f"       recall {share(len(hit), sum(id_ in wrong for id_ in looked))}")
        print(f"       precision {share(len(hit), len(suspected))}")
    missed = [id_ for id_ in looked if id_ in wrong and states[id_] != "suspected"]
    print(f"  found: {' '.join(hit) or '-'}\n  missed: {' '.join(missed) or '-'}")
    print(f"  suspected, right by reading: {' '.join(id_ for id_ in suspected if id_ not in wrong) or '-'}")


def share(right: int, total: int) -> str:
    """Percent with its interval."""
    low, high = Share(right, total).interval()
    return f"{right}/{total} = {Share(right, total).percent:.1f} % [{low:.1f}, {high:.1f}]" if total else "-"


if __name__ == "__main__":
    main()
