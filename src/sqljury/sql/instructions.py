"""Checks whether a query follows instructions, by its text and its result, and rewrites it where it can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from sqljury.language.instructions import Demands, Instruction
from sqljury.language.words import NUMBER_WORDS, content_words, words
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.types import Result, Schema

_QUOTED: Final = re.compile(r"(?<!\w)'([^']{1,60})'(?!\w)|\"([^\"]{1,60})\"")
_FIGURE: Final = re.compile(r"(?<![\w.,'\"-])\d+(?:\.\d+)?(?![\w'\"]|[.,]\d)")
_NAME: Final = re.compile(r"(?<!['\"\w])(?:\w+\.)?(\w*_\w+|[a-z]+[A-Z]\w*)(?!['\"\w(])")
_EXACT: Final = 1e15
"""Floats beyond have no decimals that could be rounded."""
_WORD: Final = re.compile(r"(?<!\w)(\w+)(?!\w)")
_FORMULA: Final = re.compile(r"\w\)? [-+*/] \(?\w")
_EXCLUDES: Final = re.compile(
    r"\b(?:exclud\w*|ignor\w*|leave (?:\w+ )?out|left out|never count|not count|only|without|skip)\b", re.IGNORECASE
)
_SMALL: Final = 3
"""Figures below this, and 100, are too often part of how an instruction is put to be looked for in the query."""
_FOLDS_CASE: Final = ("mysql",)
"""Dialects whose text comparison ignores case by default."""
_LIKE_FOLDS_CASE: Final = ("sqlite", "mysql")
_COUNTED: Final = re.compile(
    r"\b(?:top|all|every|each)\b|\b(?:first|last|the|which|show|list|give|name|find)\s+(?:me\s+)?(?:the\s+)?"
    rf"(?:\d+|{'|'.join(NUMBER_WORDS[2:])})\b",
    re.IGNORECASE,
)
_AVERAGE: Final = re.compile(r"\b(?:average|mean)\b", re.IGNORECASE)


def unmet(
    sql: str, result: Result, given: Sequence[Instruction], demanded: Demands, schema: Schema, question: str
) -> list[str]:
    """A line for each thing that the instructions ask for and the query does not do.

    Checked are the figures, quoted values and columns that a line names, comparisons regardless of case, decimals,
    numbers of rows, and duplicates. What cannot be checked counts as followed, as
    does everything in a query that cannot be parsed.
    """
    tree = _tree(sql, schema.dialect)
    if tree is None:
        return []
    checked = [line for line in given if line.is_rule or _is_on_a_term(line, schema, question)]
    lines = [f"{_shown(line)}: the query has no {what}" for line in checked for what in _missing(tree, line, schema)]
    if demanded.ignore_case:
        lines += [f"the query compares {name} by case" for name in _by_case(tree, demanded, schema)]
    if demanded.decimals is not None and _unrounded(tree, result, demanded.decimals):
        lines.append(f"the result has figures of more than {demanded.decimals} decimals")
    if (most := _most(demanded, question)) is not None and (len(result.rows) > most or result.truncated):
        lines.append(f"the result has more than {most} rows")
    if demanded.distinct and len(set(map(tuple, result.rows))) < len(result.rows):
        lines.append("the result has equal rows")
    return list(dict.fromkeys(lines))


def repaired(sql: str, result: Result, demanded: Demands, dialect: str, question: str) -> str | None:
    """The query with figures rounded, rows cut and duplicates gone as instructions ask; None if it is as asked."""
    tree = _tree(sql, dialect)
    if not isinstance(tree, exp.Select):
        return None
    changed = False
    if demanded.decimals is not None:
        for item in _unrounded(tree, result, demanded.decimals):
            if not (demanded.distinct or tree.args.get("distinct")):  # there the order is of outputs alone
                _order_by_exact(tree, item)
            _round(item, demanded.decimals, dialect)
            changed = True
    if demanded.distinct and len(set(map(tuple, result.rows))) < len(result.rows) and not tree.args.get("distinct"):
        tree = tree.distinct(copy=False)
        changed = True
    most = _most(demanded, question)
    if most is not None and (len(result.rows) > most or result.truncated) and not tree.args.get("limit"):
        tree = tree.limit(most, copy=False)
        changed = True
    try:
        return tree.sql(dialect=dialect) if changed else None
    except (errors.SqlglotError, RecursionError, ValueError):
        return None


def _unrounded(tree: exp.Expr, result: Result, decimals: int) -> list[exp.Expr]:
    """What the query computes, rather than reads, for its result and the result has with more decimals."""
    if not isinstance(tree, exp.Select) or tree.is_star or len(tree.expressions) != len(result.columns):
        return []
    computed = [item for item in map(_value, tree.expressions) if not isinstance(item, exp.Column)]
    long = {index for row in result.rows for index, value in enumerate(row) if _too_precise(value, decimals)}
    return [item for index, item in enumerate(map(_value, tree.expressions)) if index in long and item in computed]


def _value(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _too_precise(value: object, decimals: int) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and round(value, decimals) != value
    return isinstance(value, float) and abs(value) < _EXACT and round(value, decimals) != value


@quiet()
def _tree(sql: str, dialect: str) -> exp.Expr | None:
    try:
        return parse_one(sql, dialect)
    except (errors.SqlglotError, RecursionError, ValueError):
        return None


def _shown(line: Instruction) -> str:
    return f"'{line.text[:80]}{'…' * (len(line.text) > 80)}'"


def _most(demanded: Demands, question: str) -> int | None:
    """The number of rows that instructions allow, None where the question asks for a number itself."""
    return None if _COUNTED.search(question) else demanded.limit


def _missing(tree: exp.Expr, line: Instruction, schema: Schema) -> Iterator[str]:
    """What a line names and the query lacks or has in its place.

    Figures and quoted values of definitions, statements, and rules that exclude rows; columns of formulas. A rule that
    excludes is looked at only where the query reads a table with a column that it names.
    """
    if line.is_rule and not (_EXCLUDES.search(line.text) and _about_what_is_read(line, tree, schema)):
        return
    text = line.meaning or line.text
    texts, figures = _literals(tree)
    if line.term and line.term.casefold() in texts and line.term.isupper():
        yield f"meaning of {line.term}, only {line.term} itself"
    known = {column.name for table in schema.tables for column in table.columns}
    if line.term:
        used = {column.name.casefold() for column in tree.find_all(exp.Column)}
        pattern = _WORD if _FORMULA.search(text) else _NAME
        named = {match[1] for match in pattern.finditer(_QUOTED.sub(" ", text))} & known
        yield from (f"column {name}" for name in sorted(named) if name.casefold() not in used)
        if _AVERAGE.search(text) and not tree.find(exp.Avg, exp.Div):
            yield "average"
    folded = {name.casefold() for name in known}
    values = [value for match in _QUOTED.finditer(text) if (value := match[1] or match[2]).casefold() not in folded]
    yield from (f"value '{value}'" for value in values if not any(value.casefold() in held for held in texts))
    wanted = [float(figure) for figure in _FIGURE.findall(_QUOTED.sub(" ", text))]
    wanted = [figure for figure in wanted if figure >= _SMALL and figure != 100]
    yield from (f"number {figure:g}" for figure in wanted if not _near(figure, figures))


def _is_on_a_term(line: Instruction, schema: Schema, question: str) -> bool:
    """Whether a line says what a term of the question means, such as ``veterans``, and not what a table is like."""
    subject = line.text.removesuffix(line.meaning).rstrip()
    if line.term and not subject.endswith((" is", " are")):
        return True
    opening, asked = (
        content_words(line.term or line.text)[: None if line.term else 2],
        set(words(question)),
    )
    names = [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]
    named = {word for name in names for word in words(name)}
    if line.term:
        return not named.issuperset(opening)
    return asked.issuperset(opening) or (opening[0] in asked and opening[0] not in named)


def _about_what_is_read(line: Instruction, tree: exp.Expr, schema: Schema) -> bool:
    """Whether a line names a column of a table that the query reads."""
    named = set(words(line.text))
    read = {table.name.casefold() for table in tree.find_all(exp.Table)}
    tables = (table for table in schema.tables if table.name.casefold().rpartition(".")[2] in read)
    return any(named.issuperset(words(column.name)) for table in tables for column in table.columns)


def _near(figure: float, figures: Iterable[float]) -> bool:
    """Whether the query has the figure, or one next to it: ``more than 60`` may be ``>= 61``."""
    return any(abs(figure - other) <= 1 for other in figures)


def _literals(tree: exp.Expr) -> tuple[set[str], set[float]]:
    """The texts of a query, in small letters and without marks of LIKE, and its figures, those within texts too."""
    texts = {literal.name.casefold().strip("%") for literal in tree.find_all(exp.Literal) if literal.is_string}
    figures = {float(literal.name) for literal in tree.find_all(exp.Literal) if literal.is_number}
    figures |= {float(part) for text in texts for part in _FIGURE.findall(text)}
    figures |= {float(part) for text in texts for part in re.findall(r"\d+", text)}
    return texts | {f"{figure:g}" for figure in figures}, figures


def _by_case(tree: exp.Expr, demanded: Demands, schema: Schema) -> list[str]:
    """The columns that the query compares with a text of letters so that case matters."""
    dialect = schema.dialect
    if dialect in _FOLDS_CASE:
        return []
    names = [column.name for table in schema.tables for column in table.columns]
    kinds: tuple[type[exp.Expr], ...] = (exp.EQ, exp.NEQ, exp.In)
    kinds += () if dialect in _LIKE_FOLDS_CASE else (exp.Like,)
    compared = []
    for comparison in tree.find_all(*kinds):
        sides = [comparison.this, *(comparison.expressions or [comparison.args.get("expression")])]
        columns = [side for side in sides if isinstance(side, exp.Column)]
        lettered = any(isinstance(side, exp.Literal) and side.is_string and _letters(side.name) for side in sides)
        if columns and lettered and demanded.folds(columns[0].name, names):
            compared.append(columns[0].name)
    return list(dict.fromkeys(compared))


def _letters(text: str) -> bool:
    return text.lower() != text.upper()


def _order_by_exact(tree: exp.Select, value: exp.Expr) -> None:
    """Let ORDER BY go on with a figure as it is, before it is rounded: rounded figures are equal sooner."""
    order = tree.args.get("order")
    position = next(number for number, item in enumerate(tree.expressions, 1) if _value(item) is value)
    alias = tree.expressions[position - 1].alias.lower()
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        by_name = isinstance(key, exp.Column) and not key.table and key.name.lower() == alias
        if by_name or (isinstance(key, exp.Literal) and not key.is_string and key.name == str(position)):
            key.replace(value.copy())


def _round(value: exp.Expr, decimals: int, dialect: str) -> None:
    """Round a figure of the query's result, in place."""
    number = exp.Literal.number(decimals)
    if isinstance(value, exp.Round):
        value.set("decimals", number)
        return
    inner = exp.cast(value.copy(), "decimal") if dialect == "postgres" else value.copy()
    value.replace(exp.Round(this=inner, decimals=number))
