"""What a model's opinion adds to `sqljury choose`, without asking the model again: a run has its queries.

    python benchmarks/opinion.py --pred DAIL.txt --pred DIN.txt --pred C3.txt --questions dev.json \\
        --db-dir spider/database --run runs/dev_early --out runs/opinion
    sqljury eval runs/opinion

The first query that the run has for a question, as it was written, is what the model replies where `choose` asks it.
The run must be by the recipe's own prompt (`direct`) at temperature 0. The folder that is written is a run of `choose`;
`sqljury bench select runs/opinion --selector consistency` has votes on the same candidates.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sqljury.bench import given
from sqljury.evaluation import run_folder
from sqljury.llm.fake import Call, FakeModel


def main() -> None:
    """Choose with the stored queries for the model's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pred", type=Path, action="append", required=True, help="a prediction file, as for `choose`")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--db-dir", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="the run with the model's queries")
    parser.add_argument("--opinion", choices=("votes", "candidate"), default="votes")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    sources = given.read(options.pred, options.questions, options.db_dir)
    model = FakeModel(Stored(written(options.run)))
    pipeline = given.pipeline_for(sources.pool, model, opinion=options.opinion)
    chosen = given.choose(sources, pipeline, options.out)
    print(f"the model was asked on {chosen.asked} of {len(chosen.records)} questions; {options.out} has the choices")


def written(run: Path) -> dict[str, str]:
    """By question the first query of a run, before any repair."""
    queries: dict[str, str] = {}
    for record in run_folder.records(run):
        first = record["candidates"][:1]
        queries[record["question"]] = run_folder.forms_of(first[0])[0] if first else ""
    return queries


class Stored:
    """Replies with the query of the longest question that stands in the prompt."""

    def __init__(self, queries: dict[str, str]) -> None:
        self._queries = sorted(queries.items(), key=lambda pair: -len(pair[0]))

    def __call__(self, call: Call) -> str:
        prompt = call.messages[-1].content
        return next((sql for question, sql in self._queries if question in prompt), "")


if __name__ == "__main__":
    main()
