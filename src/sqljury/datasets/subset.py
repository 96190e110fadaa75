"""Some of a benchmark's databases: named ones, or a share drawn by their names.

A share such as ``1/2`` depends on each database's own name alone, not on which others there are. So a run and a
training set that were made from different questions agree on what the first half is, and ``1/2`` and ``2/2`` share
nothing: a writer trained on one half can write candidates for the other.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from sqljury.datasets.spider import Example
from sqljury.errors import InputError

_SHARE: Final = re.compile(r"(\d+)/(\d+)(?::(\w+))?")
Within = Callable[[str], bool]


def every_database(_: str) -> bool:
    """Every database is among those that are looked at."""
    return True


def within(text: str) -> Within:
    """Whether a database, by its name in any case, is among those that ``text`` describes.

    ``2/5`` is the second of five shares, ``2/5:7`` of another drawing (7 is its seed); else a file with a name a line,
    or names with commas between them. Raises ``InputError`` for a share that does not exist and for no names.
    """
    if match := _SHARE.fullmatch(text.strip()):
        number, count, seed = int(match[1]), int(match[2]), match[3] or ""
        if not 1 <= number <= count:
            raise InputError(f"{text!r} is not a share of the databases; give such as 1/2 or 2/2")
        return lambda name: _share(name, count, seed) == number - 1
    names = frozenset(names_of(text))
    return lambda name: name.casefold() in names


def names_of(text: str) -> list[str]:
    """The case-folded names in a file, one a line, or between commas; raises ``InputError`` for none."""
    is_file = os.path.isfile(text)  # false for a list that is too long for a path, where ``Path.is_file`` raises
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines() if is_file else text.split(",")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text}: the names of databases cannot be read ({error}); write one a line") from None
    names = [line.strip().casefold() for line in lines if line.strip()]
    if not names:
        raise InputError("no database is named; give names with commas between them, a file, or a share such as 1/2")
    return names


def subset(only: str, without: str) -> Within:
    """Whether a database is among ``only``, all if empty, and not among ``without``; raises what ``within`` raises."""
    wanted: Within = within(only) if only else every_database
    left_out: Within = within(without) if without else lambda _: False
    return lambda name: wanted(name) and not left_out(name)


def of_databases(examples: Sequence[Example], only: str = "", without: str = "") -> list[Example]:
    """The examples on a ``subset`` of their databases.

    Raises ``InputError`` where none is left, and for a name that no example is on: it may be misspelt.
    """
    kept = checked({example.db_id for example in examples}, only, without)
    return [example for example in examples if kept(example.db_id)]


def checked(names: Collection[str], only: str = "", without: str = "") -> Within:
    """A ``subset`` of the databases of these ``names``; raises ``InputError`` as ``of_databases``."""
    kept, known = subset(only, without), {name.casefold() for name in names}
    for text in filter(None, (only, without)):
        unknown = [] if _SHARE.fullmatch(text.strip()) else [name for name in names_of(text) if name not in known]
        if unknown:
            raise InputError(f"no question is on the database {unknown[0]!r}; check its name")
    if not any(map(kept, names)):
        listed = sorted(names)
        shown = ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
        which = " without ".join(filter(None, (only or "all", without)))
        raise InputError(
            f"none of the databases ({shown}) is among {which}; give names, or another share or drawing, such as 2/5:1"
        )
    return kept


def _share(name: str, count: int, seed: str) -> int:
    digest = hashlib.sha256(f"{seed}\x1f{count}\x1f{name.casefold()}".encode(errors="backslashreplace")).digest()
    return int.from_bytes(digest[:8], "big") % count
