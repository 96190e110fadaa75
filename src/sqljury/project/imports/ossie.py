"""Reads Apache Ossie (formerly OSI) semantic models, versions 0.1 and 0.2: tables, fields, joins, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqljury.project.imports.notes import Imported, listed, part, text_of
from sqljury.schema.notes import Item

_STANDARD: Final = ("ANSI_SQL", "OSSIE_SQL_2026")
_DIALECTS: Final = {"SNOWFLAKE": "snowflake", "DATABRICKS": "databricks", "BIGQUERY": "bigquery"}
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_PART: Final = re.compile(r'"[^"]+"|`[^`]+`|\[[^\]]+\]|[^\s."`\[\]]+')
_SOURCE: Final = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
"""A table with its schema and its database, each quoted or without blanks."""
_PATH: Final = re.compile(r"\b([A-Za-z_]\w*)\.([A-Za-z_]\w*)\b")


def read(document: Mapping[str, Any], dialect: str = "") -> Imported:
    """What one document says, with one model at its root or several under ``semantic_model``."""
    imported = Imported()
    given = document.get("semantic_model")
    models = [document] if given is None else listed(given if isinstance(given, list) else [given])
    for model in models:
        _read(model, dialect, imported)
    return imported


def _read(model: Mapping[str, Any], dialect: str, imported: Imported) -> None:
    datasets = {text_of(dataset.get("name")): dataset for dataset in listed(model.get("datasets"))}
    tables = {name: table for name, dataset in datasets.items() if (table := _table(dataset))}
    fields = {name: _fields(datasets[name], dialect) for name in tables}
    for name, dataset in datasets.items():
        if name not in tables:
            imported.left_out.append(f"dataset {name}: is a query, not a table")
            continue
        imported.items += _items(name, dataset, tables[name], fields[name], imported)
    for relationship in listed(model.get("relationships")):
        _relationship(relationship, tables, fields, imported)
    for metric in listed(model.get("metrics")):
        _metric(metric, tables, fields, dialect, imported)
    _context(model, f"model {text_of(model.get('name'))}", imported)


def _context(entry: Mapping[str, Any], where: str, imported: Imported) -> None:
    """What is said to models, and is no synonym, is listed: a text, or instructions and examples."""
    given = entry.get("ai_context")
    instructions = text_of(given) or text_of(part(given).get("instructions"))
    if instructions:
        imported.left_out.append(f"instructions of {where}: write what holds always under rules: {instructions[:120]}")
    examples = part(given).get("examples")
    if isinstance(examples, list) and examples:
        imported.left_out.append(f"examples of {where}: add those with a query to examples.jsonl")


def _table(dataset: Mapping[str, Any]) -> str:
    """The table of a dataset, without the database; empty for a query."""
    source = dataset.get("source")
    name = text_of(source if isinstance(source, str) else part(source).get("object"))
    parts = _PART.findall(name) if _SOURCE.fullmatch(name) else []
    return "" if not parts or part(source).get("kind") == "query" else parts[-1].strip('"`[]')


def _fields(dataset: Mapping[str, Any], dialect: str) -> dict[str, str]:
    """The expressions of a dataset's fields by name; empty where there is none in plain SQL."""
    return {text_of(entry.get("name")): _expression(entry, dialect) for entry in listed(dataset.get("fields"))}


def _items(
    name: str, dataset: Mapping[str, Any], table: str, fields: Mapping[str, str], imported: Imported
) -> Iterator[Item]:
    where = f"dataset {name}"
    synonyms = _synonyms(dataset) + ((name,) if name.casefold() != table.casefold() else ())
    yield Item(table, "", text_of(dataset.get("description")), synonyms, where=where)
    _context(dataset, where, imported)
    for entry in listed(dataset.get("fields")):
        field_name, description = text_of(entry.get("name")), text_of(entry.get("description"))
        _context(entry, f"field {name}.{field_name}", imported)
        expression = fields.get(field_name, "")
        if _NAME.fullmatch(expression):
            names = _synonyms(entry) + ((field_name,) if field_name.casefold() != expression.casefold() else ())
            yield Item(table, expression, description, names, where=where)
        elif expression:
            label = text_of(entry.get("label")) or field_name
            imported.formulas.append((label, expression, (table,)))
            if description:
                imported.glossary.append((label, description))
        else:
            imported.left_out.append(f"field {name}.{field_name}: has no expression in plain SQL")


def _relationship(
    given: Mapping[str, Any], tables: Mapping[str, str], fields: Mapping[str, Mapping[str, str]], imported: Imported
) -> None:
    left, right = text_of(given.get("from")), text_of(given.get("to"))
    columns: list[list[Any]] = [
        value if isinstance(value := given.get(key), list) else [] for key in ("from_columns", "to_columns")
    ]
    if left not in tables or right not in tables or not columns[0] or len(columns[0]) != len(columns[1]):
        imported.left_out.append(
            f"relationship {text_of(given.get('name'))}: has no two tables with as many columns each"
        )
        return
    pairs = tuple(
        ((tables[left], _column(fields[left], first)), (tables[right], _column(fields[right], second)))
        for first, second in zip(*columns, strict=True)
    )
    imported.joins.append(pairs)


def _column(fields: Mapping[str, str], name: object) -> str:
    """The column that a field stands for; a name that is not a field's is a column's."""
    return fields.get(text_of(name)) or text_of(name)


def _metric(
    metric: Mapping[str, Any],
    tables: Mapping[str, str],
    fields: Mapping[str, Mapping[str, str]],
    dialect: str,
    imported: Imported,
) -> None:
    name = text_of(metric.get("name"))
    expression = _expression(metric, dialect)
    if not expression:
        imported.left_out.append(f"metric {name}: has no expression in plain SQL")
        return
    used: list[str] = []

    def column(match: re.Match[str]) -> str:
        if match[1] not in tables:
            return match[0]
        used.append(tables[match[1]])
        inner = fields[match[1]].get(match[2], match[2])
        return f"{tables[match[1]]}.{inner}" if _NAME.fullmatch(inner) else f"({inner})"

    label = name.replace("_", " ")
    _context(metric, f"metric {name}", imported)
    imported.formulas.append((label, _PATH.sub(column, expression), tuple(dict.fromkeys(used))))
    for text in filter(None, (text_of(metric.get("description")),)):
        imported.glossary.append((label, text))
    imported.glossary.extend((synonym, label) for synonym in _synonyms(metric))


def _expression(entry: Mapping[str, Any], dialect: str) -> str:
    """The expression in standard SQL or the database's own dialect."""
    if text := text_of(entry.get("expression")):  # not in the specification, but in files
        return text
    texts = {
        text_of(variant.get("dialect")).upper(): text_of(variant.get("expression"))
        for variant in listed(part(entry.get("expression")).get("dialects"))
    }
    dialect_names = [name for name, known in _DIALECTS.items() if known == dialect]
    return next((texts[name] for name in (*dialect_names, *_STANDARD) if texts.get(name)), "")


def _synonyms(entry: Mapping[str, Any]) -> tuple[str, ...]:
    given = part(entry.get("ai_context")).get("synonyms")
    return tuple(filter(None, map(text_of, given if isinstance(given, list) else [given])))
