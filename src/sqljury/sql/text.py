"""Names and values as SQL wants them, and texts as they may stand in a prompt.

In SQL a name is bare where that works and quoted where it does not. In a prompt a text is on one line, cut, and unable
to leave its place.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.prompts import unmarked

CELL_CHARS: Final = 40
COMMENT_CHARS: Final = 160
NAME_CHARS: Final = 120

_PLAIN_TYPE: Final = re.compile(r"\w[\w ]{0,38}(\([\w ,]{1,20}\))?(\[\])?")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_SINGLE: Final = re.compile(r"\d|_|[^\w\s]|\n")
_LETTERS_A_TOKEN: Final = 5
_BARE: Final = re.compile(r"[^\W\d]\w*")

# Words that SQLite's grammar, or the parser that guards it, does not take as a bare column or table name.
# SQLite takes many other keywords as names (key, plan, match); quoting those would only puzzle a model.
_WORDS: Final = """
    add all alter and any as autoincrement between case cast check collate commit constraint create cross cube
    current_date current_time current_timestamp default deferrable delete describe distinct drop else escape
    except exists false fetch for foreign from full glob grant group having if ilike in index inner insert
    intersect into is isnull join lateral left like limit lock natural not nothing notnull null offset on or
    order outer primary qualify raise references regexp returning revoke right rlike rollback rollup select
    set table then to transaction true uncache union unique update using values when where window with xor
"""
RESERVED: Final = frozenset(_WORDS.split())

_FOLDED: Final = re.compile(r"[a-z_][a-z0-9_]*")
_BARE_NAMES: Final = {"postgres": _FOLDED, "mysql": re.compile(r"[^\W\d_]\w*")}
"""Where a bare name is folded to lower case, one with a capital must be quoted to be found; in MySQL a word such as
_utf8 says what text after it is made of."""

_DUCKDB: Final = """
    analyse analyze anti array asc asof asymmetric at authorization binary both by collation column concurrently desc
    do end force freeze initially install lambda leading map only overlaps pivot pivot_longer pivot_wider placing
    positional rowid semi show similar some summarize symmetric tablesample trailing unpack unpivot variadic verbose
"""
_POSTGRES: Final = """
    analyse analyze array asc asymmetric authorization binary both collation column concurrently current_catalog
    current_role current_schema current_user desc do end freeze initially leading localtime localtimestamp only
    overlaps partitioned_by placing session_user similar some symmetric system_user tablesample trailing user variadic
    verbose
"""
# What MariaDB 10.11 does not take, and what MySQL 8 and 9 reserve beside it.
_MYSQL: Final = """
    accessible analyze asc asensitive before bigint binary blob both by call cascade change char character charset
    column condition continue convert cume_dist current_role current_user cursor databases day_hour day_microsecond
    day_minute day_second dec decimal declare delayed delete_domain_id dense_rank desc deterministic distinctrow div
    do_domain_ids double dual each elseif empty enclosed escaped exit explain first_value float float4 float8 force
    fulltext function generated get grouping groups high_priority hour_microsecond hour_minute hour_second ignore
    ignore_domain_ids infile inout insensitive int int1 int2 int3 int4 int8 integer interval io_after_gtids
    io_before_gtids iterate json_table key keys kill lag last_value lead leading leave library linear lines load
    localtime localtimestamp long longblob longtext loop low_priority manual master_bind master_demote_to_replica
    master_demote_to_slave master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint
    minute_microsecond minute_second mod modifies no_write_to_binlog nth_value ntile numeric of optimize
    optimizer_costs optionally out outfile over page_checksum parallel parse_vcol_expr partition partitioned_by
    percent_rank portion precision procedure purge range rank read read_write reads real recursive ref_system_id
    release rename repeat replace require resignal restrict return row row_number rows schemas second_microsecond
    sensitive separator show signal smallint spatial specific sql sql_big_result sql_buffer_result sql_cache
    sql_calc_found_rows sql_no_cache sql_small_result sqlexception sqlstate sqlwarning ssl starting
    stats_auto_recalc stats_persistent stats_sample_pages stored straight_join system tablesample terminated tinyblob
    tinyint tinytext trailing trigger undo unlock unsigned usage use utc_date utc_time utc_timestamp varbinary varchar
    varcharacter varying virtual while write year_month zerofill
"""
_MORE_WORDS: Final[dict[str, frozenset[str]]] = {
    "duckdb": frozenset(_DUCKDB.split()),
    "postgres": frozenset(_POSTGRES.split()),
    "mysql": frozenset(_MYSQL.split()),
}
"""Further words, by dialect, that are not bare names there."""


def quote_name(name: str, dialect: str = "sqlite") -> str:
    """The name for use in a query of this dialect, quoted only where it must be."""
    words = RESERVED | _MORE_WORDS.get(dialect, frozenset())
    if _BARE_NAMES.get(dialect, _BARE).fullmatch(name) and name.lower() not in words:
        return name
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def quote_table(name: str, schema: str = "", dialect: str = "sqlite") -> str:
    """A ``Table``'s name for use in a query: ``schema`` and what follows its dot, each quoted where it must be."""
    if not schema:
        return quote_name(name, dialect)
    return f"{quote_name(schema, dialect)}.{quote_name(name.removeprefix(schema + '.'), dialect)}"


def tokens(text: str) -> int:
    """About how many tokens a model reads ``text`` as, rather too many than too few.

    A token for every five letters begun of a word, every digit, mark and line end, and every byte of a word in
    another script; and a twentieth more. On the 130 schemas of Spider in all three forms that is 1.04 to 1.75 times
    what the embedded model counts, and 1.25 times in the middle.
    """
    words = _LETTERS.findall(text)
    letters = sum(-(-len(word) // _LETTERS_A_TOKEN) if word.isascii() else len(word.encode()) for word in words)
    single = sum(len(mark.encode()) for mark in _SINGLE.findall(text))
    return -(-(letters + single) * 21 // 20)


def cell_text(value: object, chars: int = CELL_CHARS) -> str:
    """A value on one line and no longer than ``chars``, unable to end the comment it stands in."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return plain(str(value), chars)


def literal(value: object, chars: int = CELL_CHARS) -> str:
    """A value as a query would write it: text in quotes, numbers bare."""
    if isinstance(value, bool | int | float):
        return plain(str(value), chars)
    return "'" + plain(str(value), chars).replace("'", "''") + "'"


def plain(text: str, chars: int) -> str:
    """Printable, cut, without marks that open or close a comment.

    A database's content may be made to address the model: it must not get out of its line.
    """
    text = text[: chars * 4 + 1]
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("*/", "* /").replace("/*", "/ *")
    text = unmarked(text)
    return text if len(text) <= chars else text[: max(chars - 1, 0)] + "…"


def remark(text: str, chars: int = COMMENT_CHARS) -> str:
    """A comment or description as ``plain`` gives it, its white space made single blanks."""
    return plain(" ".join(text[: chars * 8].split()), chars).strip()


def name(name: str, dialect: str) -> str:
    """A name for use in a query; one with unprintable characters loses them, and cannot be queried anyway."""
    return quote_name(printable(name), dialect)


def table_name(name: str, schema: str, dialect: str) -> str:
    """A table's name for use in a query, as ``name`` treats it."""
    return quote_table(printable(name), printable(schema), dialect)


def names(columns: tuple[str, ...], dialect: str) -> str:
    """Names for use in a query, with commas between them."""
    return ", ".join(name(column, dialect) for column in columns)


def type_text(declared: str) -> str:
    """The declared type where it looks like one: SQLite takes any text for a type, a message too."""
    match = _PLAIN_TYPE.match(" ".join(declared.split()))
    return match.group().strip() if match else ""


def printable(name: str) -> str:
    """A name as prompts show it, before it is quoted: the name itself unless it cannot stand there."""
    as_it_is = name.isprintable() and len(name) <= NAME_CHARS and unmarked(name) == name
    return name if as_it_is else plain(name, NAME_CHARS)
