"""Today and times counted from it, by the clock of the database, as each dialect writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqljury.sql.parse import exp, parse_one

if TYPE_CHECKING:
    from collections.abc import Sequence

TODAY: Final = {"sqlite": "DATE('now')", "postgres": "CURRENT_DATE", "mysql": "CURRENT_DATE", "duckdb": "CURRENT_DATE"}
NOW: Final = {
    "sqlite": "DATETIME('now')",
    "postgres": "CURRENT_TIMESTAMP",
    "mysql": "CURRENT_TIMESTAMP",
    "duckdb": "CAST(CURRENT_TIMESTAMP AS TIMESTAMP)",
}
_SHIFTED: Final = {
    "sqlite": "DATE('now', '{sign}{amount} {unit}')",
    "postgres": "CAST(CURRENT_DATE {sign} INTERVAL '{amount} {unit}' AS DATE)",
    "mysql": "CURRENT_DATE {sign} INTERVAL {amount} {unit}",
    "duckdb": "CAST(CURRENT_DATE {sign} INTERVAL {amount} {unit} AS DATE)",
}
_STARTS: Final = {
    "sqlite": "DATE('now', 'start of {unit}')",
    "postgres": "CAST(DATE_TRUNC('{unit}', CURRENT_DATE) AS DATE)",
    "duckdb": "CAST(DATE_TRUNC('{unit}', CURRENT_DATE) AS DATE)",
}
_SHIFTED_STARTS: Final = {
    "sqlite": "DATE('now', 'start of {unit}', '{sign}{amount} {unit}')",
    "postgres": "CAST(DATE_TRUNC('{unit}', CURRENT_DATE) {sign} INTERVAL '{amount} {unit}' AS DATE)",
    "duckdb": "CAST(DATE_TRUNC('{unit}', CURRENT_DATE) {sign} INTERVAL {amount} {unit} AS DATE)",
}
_MYSQL_STARTS: Final = {"year": "MAKEDATE(YEAR({day}), 1)", "month": "{day} - INTERVAL (DAY({day}) - 1) DAY"}


def today(dialect: str) -> exp.Expr:
    """The day that the database's clock shows."""
    return parse_one(TODAY[dialect], dialect)


def shifted(amount: int, unit: str, dialect: str) -> exp.Expr:
    """The day that is ``amount`` units (day, week, month, year) after today, before it where negative."""
    if not amount:
        return today(dialect)
    if unit == "week":
        amount, unit = 7 * amount, "day"
    sign = "-" if amount < 0 else "+"
    return parse_one(_SHIFTED[dialect].format(sign=sign, amount=abs(amount), unit=unit), dialect)


def start(amount: int, unit: str, dialect: str) -> exp.Expr | None:
    """The first day of the month or year ``amount`` units after this one; None for weeks, which begin on any day."""
    if unit == "day":
        return shifted(amount, unit, dialect)
    if unit == "week":
        return None
    sign = "-" if amount < 0 else "+"
    if dialect == "mysql":
        day = "CURRENT_DATE" if not amount else f"(CURRENT_DATE {sign} INTERVAL {abs(amount)} {unit})"
        return parse_one(_MYSQL_STARTS[unit].format(day=day), dialect)
    forms = _SHIFTED_STARTS if amount else _STARTS
    return parse_one(forms[dialect].format(sign=sign, amount=abs(amount), unit=unit), dialect)


def is_clock(node: exp.Expr) -> bool:
    """Whether an expression reads the clock."""
    if node.find(exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentTime) is not None:
        return True
    if any(isinstance(part, exp.Literal) and part.is_string and part.name == "now" for part in node.walk()):
        return True
    calls = (call for call in node.find_all(exp.Anonymous))
    return any(str(call.this).upper() in ("CURDATE", "NOW", "GETDATE", "TODAY", "SYSDATE") for call in calls)


def from_now_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """SQLite's ``DATE('now', '-30 days')`` and ``STRFTIME('%Y', 'now')``, as its parser reads them, in ``dialect``.

    None for what is neither, and for modifiers other than one amount of days to years or one start of a month or year.
    """
    if isinstance(node, exp.TimeToStr) and _text(node.this) == "now":
        return exp.TimeToStr(this=exp.CurrentTimestamp(), format=node.args["format"].copy())
    if isinstance(node, exp.Date | exp.TsOrDsToDate | exp.Datetime):
        arguments: Sequence[exp.Expr] = [node.this, *filter(None, (node.args.get("zone"),)), *node.expressions]
    elif isinstance(node, exp.Anonymous) and str(node.this).upper() in ("DATE", "DATETIME"):
        arguments = node.expressions
    else:
        return None
    texts = [_text(argument) for argument in arguments]
    if not texts or texts[0] != "now" or None in texts:
        return None
    timed = isinstance(node, exp.Datetime) or (isinstance(node, exp.Anonymous) and str(node.this).upper() == "DATETIME")
    return _modified([str(text).lower() for text in texts[1:] if text != "localtime"], dialect, timed=timed)


def _modified(modifiers: list[str], dialect: str, *, timed: bool) -> exp.Expr | None:
    if not modifiers:
        return parse_one((NOW if timed else TODAY)[dialect], dialect)
    words = modifiers[0].split()
    if len(modifiers) == 1 and len(words) == 3 and words[:2] == ["start", "of"]:
        return start(0, words[2], dialect) if words[2] in ("day", "month", "year") else None
    if len(modifiers) != 1 or len(words) != 2 or words[1].removesuffix("s") not in ("day", "month", "year"):
        return None
    try:
        return shifted(int(words[0]), words[1].removesuffix("s"), dialect)
    except ValueError:
        return None


def _text(node: exp.Expr | None) -> str | None:
    while isinstance(node, exp.TsOrDsToTimestamp | exp.TsOrDsToDate):
        node = node.this
    return node.name if isinstance(node, exp.Literal) and node.is_string else None
