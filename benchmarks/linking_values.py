"""Which values relevant linking finds, by our rule and by TS-SQL's (section 3.1.1), without a model.

    python benchmarks/linking_values.py --data ../shared/spider --limit 300 --seed 5 [--typos]

Questions of Spider's train split whose gold query compares with a text that the database holds. Ours takes what
``values.hints.meant`` is sure of. TS-SQL's takes for each keyword the values within 0.3 edits a letter, the
five nearest, and of these the best by vectors if it is 0.6 alike; here with the vectors that the package uses. With
--typos two neighbouring letters of each such text are swapped in the question.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rapidfuzz.distance import Levenshtein
from value_hints import TEXT, drawn

from sqljury import connect
from sqljury.language import embed
from sqljury.language.keywords import by_rules
from sqljury.schema.introspect import introspect
from sqljury.testing.agents.linking import VALUES
from sqljury.values import ValueIndex, open_or_build
from sqljury.values.hints import meant

EDITS, ALIKE, NEAREST, LOOKED_AT = 0.3, 0.6, 5, 40


def main() -> None:
    """Print by rule the share of gold's values that are found, and how many values are told a question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--typos", action="store_true", help="misspell the values in the questions")
    options = parser.parse_args()
    chosen = drawn(options.data, options.limit, options.seed, typos=options.typos)
    wanted, found, told = 0, dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0)
    for one in sorted(chosen, key=lambda one: one["db_id"]):
        with connect(options.data / "database" / one["db_id"] / f"{one['db_id']}.sqlite") as db:
            index = open_or_build(db, introspect(db))
            gold = [value for value in set(TEXT.findall(one["query"])) if held(index, value)]
        wanted += len(gold)
        for name, rule in RULES.items():
            values = rule(index, by_rules(one["question"]))
            told[name] += len(values)
            found[name] += sum(value in values for value in gold)
    for name in RULES:
        share, mean = 100 * found[name] / wanted, told[name] / options.limit
        print(f"{name}: {found[name]} of {wanted} values found ({share:.1f} %), {mean:.2f} told a question")


def held(index: ValueIndex, value: str) -> bool:
    """Whether the database holds this very text."""
    return any(match.value == value for match in index.search(value))


def ours(index: ValueIndex, keywords: Sequence[str]) -> set[str]:
    """What linking takes now."""
    return {one.match.value for one in meant(index, keywords, VALUES)}


def papers(index: ValueIndex, keywords: Sequence[str]) -> set[str]:
    """For each keyword the value that the paper takes."""
    found = set()
    for keyword, near in zip(keywords, nearest(index, keywords), strict=True):
        if near:
            alike = embed.vectors(near) @ embed.vectors([keyword])[0]
            if alike.max() >= ALIKE:
                found.add(near[int(alike.argmax())])
    return found


def by_edits(index: ValueIndex, keywords: Sequence[str]) -> set[str]:
    """The paper's without vectors: for each keyword the nearest value."""
    return {near[0] for near in nearest(index, keywords) if near}


def nearest(index: ValueIndex, keywords: Sequence[str]) -> list[list[str]]:
    """For each keyword the nearest values, capitals aside, of those that the index has for it."""
    found = []
    for keyword, matches in zip(keywords, index.search_many(keywords, LOOKED_AT), strict=True):
        values = dict.fromkeys(match.value for match in matches)
        edits = {
            value: Levenshtein.normalized_distance(keyword.casefold(), value.casefold(), score_cutoff=EDITS)
            for value in values
        }
        found.append(sorted((value for value in values if edits[value] <= EDITS), key=lambda one: edits[one])[:NEAREST])
    return found


RULES = {"ours": ours, "TS-SQL's": papers, "TS-SQL's without vectors": by_edits}


if __name__ == "__main__":
    main()
