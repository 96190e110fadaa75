"""The probability that a column refers to a key, from what ``pairs`` found, and the evidence in words.

The weights are those of a logistic regression on the 110 training databases of Spider with their keys removed;
``benchmarks/infer_keys.py --fit`` prints them, and their figures on databases that were left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from sqljury.keys import names
from sqljury.keys.pairs import Pair
from sqljury.keys.profile import TableProfile
from sqljury.sql.text import remark


def features(pair: Pair, best: bool) -> list[float]:
    """The numbers that the probability is computed from, in the order of ``FEATURES``.

    ``best``: no other key relates better to the column by name.
    """
    name, related = names.column_name(pair.column.name), pair.relation
    known = pair.looked_up > 0
    lost = 1 - pair.contained if known else 0.0
    evidence = min(-pair.chance, 12.0) / 4 if known and not lost else 0.0
    identifier = names.is_identifier(pair.column.name)
    key_title = names.is_title(pair.key.column)
    used = pair.found / max(pair.key.seen.count, 1) if known else 0.0
    return [
        1.0,
        *(float(related == kind) for kind in names.RELATIONS),
        float(known),
        float(lost > 0),
        min(lost * 5, 4.0),
        evidence,
        evidence if not related else 0.0,
        float(known and pair.looked_up < 3),
        used,
        float(identifier),
        float(pair.is_main),
        float(pair.is_main and not related),
        pair.ownership / names.OWN,
        float(bool(name.tokens) and name.tokens[-1] in names.MEASURES),
        float(pair.key.main),
        pair.key.ownership / names.OWN,
        float(key_title),
        float(pair.seen.unique is True),
        float(pair.key.table is pair.table and related not in ("parent", "person")),
        float(best),
        float(not related and pair.seen.low is not None),
    ]


FEATURES: Final = (
    ("bias", -5.99),
    ("owner", 1.13),
    ("role", -0.89),
    ("entity", 2.02),
    ("role entity", 0.72),
    ("part", -1.56),
    ("same", 0.14),
    ("abbreviation", -0.11),
    ("initials", 0.04),
    ("parent", 0.60),
    ("person", 0.77),
    ("plain", 0.10),
    ("values known", 2.03),
    ("some missing", -1.78),
    ("share missing", -1.67),
    ("not by chance", 1.08),
    ("not by chance, no name", 0.77),
    ("few values", -0.13),
    ("share of key used", -0.57),
    ("identifier", 0.45),
    ("main key itself", -1.09),
    ("main key itself, no name", -1.65),
    ("own key", -2.49),
    ("measure", -1.97),
    ("to main key", 2.95),
    ("to own key", 0.13),
    ("to title", 0.34),
    ("unique", -1.09),
    ("same table", -3.33),
    ("best name", 3.95),
    ("numbers, no name", -4.27),
)
"""The features by name, each with its weight."""

_MOST: Final = 0.99
"""What was not declared is never shown as certain."""

_BY_NAME: Final = 0.8
"""The most where no values were compared, since tables were empty or not read."""

_BY_CHANCE: Final = 0.4
"""The highest score where only values support a key and are likely to be equal by chance: not shown."""

_LIKELY: Final = math.log(0.05)


WEIGHTS: Final = tuple(weight for _, weight in FEATURES)


def probability(pair: Pair, best: bool, weights: Sequence[float] = WEIGHTS) -> float:
    """The probability that the column refers to the key; see ``features``."""
    total = sum(weight * value for weight, value in zip(weights, features(pair, best), strict=True))
    most = _MOST if pair.looked_up else _BY_NAME
    if not pair.relation and pair.chance > _LIKELY:
        most = _BY_CHANCE
    return round(min(1 / (1 + math.exp(-min(total, 30.0))), most) if total > -30 else 0.0, 2)


_RELATION_TEXTS: Final = {
    "owner": "the name {column} points to {table}",
    "role": "the name {column} points to {table}, in a role",
    "entity": "{column} is called like {table}",
    "role entity": "{column} is called like {table}, in a role",
    "part": "the name {column} has a word of {table}",
    "same": "both columns are called {column}",
    "abbreviation": "the name {column} abbreviates {table}",
    "initials": "the name {column} has the initials of {table}",
    "person": "{column} is a role of persons or firms, and {table} holds such",
    "parent": "the name {column} points to another row of {table}",
    "plain": "both columns are called {column}",
}


def evidence(pair: Pair, profile: TableProfile, other: TableProfile) -> tuple[str, ...]:
    """The evidence for the key and what is not known about it, one line each; no line can be left by a name in it.

    ``profile`` is that of the column's table, ``other`` that of the key's.
    """
    table, key = pair.table.name, pair.key
    column, target = f"{table}.{pair.column.name}", f"{key.table.name}.{key.column}"
    lines = (
        [_RELATION_TEXTS[pair.relation].format(column=pair.column.name, table=key.table.name)] if pair.relation else []
    )
    if pair.looked_up and pair.found == pair.looked_up:
        what = "every value" if profile.whole else f"each of {pair.looked_up} values read"
        lines.append(f"{what} of {column} is in {target}")
    elif pair.looked_up:
        lines.append(f"{pair.found} of {pair.looked_up} values of {column} are in {target}")
    else:
        lines.append(_unread(column, target, profile, other))
    if key.seen.unique:
        lines.append(f"{target} is unique" + ("" if other.whole else f" in {other.checked:,} rows"))
    if pair.looked_up and pair.chance > _LIKELY and pair.seen.low is not None:
        lines.append("the values alone prove little: such numbers match by chance")
    return tuple(remark(line) for line in lines)


def _unread(column: str, target: str, profile: TableProfile, key_profile: TableProfile) -> str:
    """Why the values of a pair are not known."""
    for seen, name in ((profile, column), (key_profile, target)):
        if seen.why:
            return f"values of {name} {seen.why}"
        if seen.whole and not seen.rows:
            return f"{name} is empty: only names and types were compared"
    return f"values of {column} are not known"
