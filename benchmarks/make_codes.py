"""Writes the table of well-known codes and names that the value index knows, from Unicode's CLDR as Babel carries it.

pip install -r benchmarks/requirements.txt
python benchmarks/make_codes.py src/sqljury/values/codes.tsv
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

STATES = """
AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware,
DC District of Columbia, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas,
KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi,
MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York,
NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island,
SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington,
WV West Virginia, WI Wisconsin, WY Wyoming
"""
HEADER = """\
# Names and codes that mean the same, one thing a line: what it is, then its names, apart by tabs.
# Made by benchmarks/make_codes.py from Unicode CLDR (see codes.license) as of Babel {version}; U.S. states by hand.
"""


def main() -> None:
    """Write the table to the path that is given."""
    import babel

    lines = {"\t".join(line) for line in (*countries(), *languages(), *currencies(), *calendar(), *units(), *states())}
    text = HEADER.format(version=babel.__version__) + "\n".join(sorted(lines)) + "\n"
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


def countries() -> Iterator[list[str]]:
    """Name, two letters, three letters."""
    from babel import Locale
    from babel.core import get_global

    aliases = get_global("territory_aliases")
    for code, name in Locale("en").territories.items():
        if code.isalpha() and code not in ("ZZ", "XA", "XB"):
            three = [old for old, new in aliases.items() if list(new) == [code] and len(old) == 3 and old.isalpha()]
            extra = ["UK"] if code == "GB" else []  # reserved in ISO 3166-1, and the usual one
            yield ["country", name, code, *extra, *sorted(three)]


def languages() -> Iterator[list[str]]:
    """Name, two letters, three letters; those that have two only."""
    from babel import Locale
    from babel.core import get_global

    aliases = get_global("language_aliases")
    for code, name in Locale("en").languages.items():
        if len(code) == 2:
            yield ["language", name, code, *sorted(old for old, new in aliases.items() if new == code)]


def currencies() -> Iterator[list[str]]:
    """Name, plural, ISO code; those in use."""
    from babel import Locale
    from babel.core import get_global
    from babel.numbers import get_currency_name

    in_use = {code for used in get_global("territory_currencies").values() for code, _, end, *_ in used if not end}
    for code, name in Locale("en").currencies.items():
        if code in in_use:
            yield ["currency", name, get_currency_name(code, 2, "en"), code]


def calendar() -> Iterator[list[str]]:
    """Months and days of the week, whole and short."""
    from babel import Locale

    english = Locale("en")
    for kind, names in (("month", english.months), ("weekday", english.days)):
        for number, name in names["format"]["wide"].items():
            yield [kind, *dict.fromkeys((name, names["format"]["abbreviated"][number]))]


def units() -> Iterator[list[str]]:
    """The plural, the singular and the sign of units of measure."""
    from babel import Locale

    for unit, forms in Locale("en")._data["unit_patterns"].items():
        if unit.split("-")[0] in ("power", "times", "per"):
            continue
        patterns = [forms.get(length, {}).get(count, "") for length in ("long", "short") for count in ("other", "one")]
        names = dict.fromkeys(pattern.replace("{0}", "").strip() for pattern in patterns if isinstance(pattern, str))
        names.pop("", None)
        if len(names) > 1:
            yield ["unit", *names]


def states() -> Iterator[list[str]]:
    """Name and two letters."""
    for state in STATES.replace("\n", " ").split(","):
        code, name = state.split(maxsplit=1)
        yield ["state", name.strip(), code]


if __name__ == "__main__":
    main()
