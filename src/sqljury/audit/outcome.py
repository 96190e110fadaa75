"""What running the query shows: it fails, returns nothing, or ties decide what it returns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown
from sqljury.sql.emptied import emptied
from sqljury.testing.ties import ranked


def fails(subject: Subject) -> Iterator[Finding]:
    """The query does not run."""
    if not subject.result.ok:
        limit = subject.result.error_kind == "limit"
        yield Finding("semantic logic", "fails", 0.5 if limit else 0.95, shown(subject.sql), str(subject.result.error))


def empty(subject: Subject) -> Iterator[Finding]:
    """The query returns nothing although its tables have rows; what empties it is named."""
    if not subject.result.ok or subject.result.rows:
        return
    tables = {table.name: table for select in subject.selects for table in subject.sources(select).values()}
    if any(not subject.data.size(table) for table in tables.values()):
        return
    why = emptied(subject.sql, subject.schema, lambda sql: bool(subject.data.run(sql).rows))
    nothing = any("finds nothing" in line for line in why)
    clause = "" if subject.tree is None else shown(subject.tree.args.get("where") or subject.tree)
    yield Finding("semantic logic", "returns-nothing", 0.5 if nothing else 0.3, clause, "; ".join(["no row", *why]))


def ties(subject: Subject) -> Iterator[Finding]:
    """LIMIT cuts through rows that are level, so that which ones are returned is a matter of luck."""
    select = subject.outer
    if select is None or select.args.get("limit") is None or select.args.get("order") is None:
        return
    for query in ranked(subject.sql) or ():
        rows = subject.data.rows(query.sql)
        if rows is not None and not query.decides(rows):
            level = [row for row in rows if row[-1] == min(one[-1] for one in rows)]
            evidence = f"{len(level)} rows share the first place" if len(level) > 1 else "rows are level at the cut"
            yield Finding(
                "semantic logic", "ties", 0.3, shown(exp.Limit(expression=select.args["limit"].expression)), evidence
            )
            return
