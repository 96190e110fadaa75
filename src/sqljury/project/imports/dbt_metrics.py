"""Metrics of dbt as expressions: those of semantic models, and those of manifests before there were any."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from sqljury.project.imports.notes import UnusableError, expression_of, listed, part, text_of
from sqljury.sql.parse import write

_AGGREGATES: Final = {
    "sum": "SUM({})",
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "average": "AVG({})",
    "min": "MIN({})",
    "max": "MAX({})",
    "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
}
_REFERENCE: Final = re.compile(r"\{\{\s*(Dimension|Entity)\(\s*['\"]([\w.]+)['\"]\s*\)\s*\}\}")
_METRIC: Final = re.compile(r"""\{\{\s*metric\(\s*['"](\w+)['"]\s*\)\s*\}\}""")
"""A metric in the expression of a derived one, up to dbt 1.5."""
_DEPTH: Final = 8
"""Metrics of metrics."""


@dataclass(slots=True)
class Model:
    """A semantic model: its table, and its dimensions, entities and measures by name."""

    table: str
    entities: dict[str, dict[str, Any]]
    dimensions: dict[str, dict[str, Any]]
    measures: dict[str, dict[str, Any]]


@dataclass(slots=True)
class Metrics:
    """All metrics and what they are made of.

    ``table_named`` gives the table that a text such as ``ref('orders')`` names; ``used`` are the measures that a metric
    reads.
    """

    dialect: str
    table_named: Callable[[str], str]
    models: dict[str, Model] = field(default_factory=dict)
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def formula(name: str, known: Metrics, depth: int = 0, given: object = None) -> tuple[str, tuple[str, ...]]:
    """The expression of a metric and its tables; ``given`` is a filter of the metric that uses it."""
    metric = known.metrics.get(name)
    if metric is None:
        raise UnusableError(f"there is no metric {name!r}")
    if depth > _DEPTH:
        raise UnusableError("its metrics are defined by each other")
    if "calculation_method" in metric:
        return _of_dbt_1_5(metric, known, depth)
    filters = [*_filters(metric.get("filter")), *_filters(given)]
    kind, params = metric.get("type"), part(metric.get("type_params"))
    if kind == "simple":
        return _simple(params, filters, known)
    if filters:
        raise UnusableError("a filter on a metric of metrics cannot be written as one expression")
    if kind == "ratio":
        numerator, first = _input(params.get("numerator"), known, depth)
        denominator, second = _input(params.get("denominator"), known, depth)
        return f"1.0 * {numerator} / NULLIF({denominator}, 0)", tuple(dict.fromkeys(first + second))
    if kind == "derived":
        return _derived(params, known, depth)
    if kind in ("cumulative", "conversion"):
        raise UnusableError(f"a metric of the type {kind} is more than one expression")
    raise UnusableError(f"its type is {str(kind)[:40]!r}, which is not one of dbt 1.5 and later")


def _of_dbt_1_5(metric: Mapping[str, Any], known: Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    """A metric as manifests had them before there were semantic models: an aggregation on a model, with filters."""
    expression, method = text_of(metric.get("expression")), text_of(metric.get("calculation_method"))
    filters = [
        " ".join(text_of(condition.get(key)) for key in ("field", "operator", "value"))
        for condition in listed(metric.get("filters"))
    ]
    if metric.get("window"):
        raise UnusableError("a metric over a window of time is more than one expression")
    if method != "derived":
        model = Model(known.table_named(text_of(metric.get("model"))), {}, {}, {})
        conditions = [of_table(text, model.table, known.dialect) for text in filters]
        return _aggregated({"agg": method, "expr": expression}, model, conditions, known)
    if filters:
        raise UnusableError("a filter on a metric of metrics cannot be written as one expression")
    inputs = {name: formula(name, known, depth + 1) for name in _METRIC.findall(expression)}
    text = _METRIC.sub(lambda match: f"({inputs[match[1]][0]})", expression)
    tree = expression_of(text, known.dialect)
    return write(tree, known.dialect), tuple(dict.fromkeys(table for _, names in inputs.values() for table in names))


def _input(entry: object, known: Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    given = part(entry)
    if given.get("offset_window") or given.get("offset_to_grain"):
        raise UnusableError("it looks at another time than the question's")
    name = text_of(given.get("name")) or text_of(entry)
    if name not in known.metrics:
        return _measured(name, _filters(given.get("filter")), known)
    return formula(name, known, depth + 1, given.get("filter"))


def _derived(params: Mapping[str, Any], known: Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    inputs = {
        text_of(entry.get("alias")) or text_of(entry.get("name")): entry for entry in listed(params.get("metrics"))
    }
    formulas = {name: _input(entry, known, depth) for name, entry in inputs.items()}
    tree = expression_of(text_of(params.get("expr")), known.dialect)
    for column in list(tree.find_all(exp.Column)):
        if column.name in formulas and not column.table:
            column.replace(exp.Paren(this=expression_of(formulas[column.name][0], known.dialect)))
        else:
            raise UnusableError(f"its expression names {column.name!r}, which is not one of its metrics")
    tables = dict.fromkeys(table for _, names in formulas.values() for table in names)
    return write(tree, known.dialect), tuple(tables)


def _simple(params: Mapping[str, Any], filters: list[str], known: Metrics) -> tuple[str, tuple[str, ...]]:
    measure = params.get("measure")
    if measure is not None:
        name = text_of(part(measure).get("name")) or text_of(measure)
        return _measured(name, [*filters, *_filters(part(measure).get("filter"))], known)
    given = part(params.get("metric_aggregation_params"))  # from dbt 1.12 on
    model = known.models.get(text_of(given.get("semantic_model")))
    if model is None:
        raise UnusableError("its measure is not in the file")
    return _aggregated({**given, "expr": params.get("expr") or given.get("expr")}, model, filters, known)


def _measured(name: str, filters: list[str], known: Metrics) -> tuple[str, tuple[str, ...]]:
    for model in known.models.values():
        if name in model.measures:
            known.used.add(name)
            return _aggregated(model.measures[name], model, filters, known)
    raise UnusableError(f"there is no measure {name!r}")


def _aggregated(
    measure: Mapping[str, Any], model: Model, filters: list[str], known: Metrics
) -> tuple[str, tuple[str, ...]]:
    aggregate = _AGGREGATES.get(text_of(measure.get("agg")).lower())
    if narrow := part(measure.get("non_additive_dimension")):
        raise UnusableError(f"it must not be added up over {text_of(narrow.get('name')) or 'one of its dimensions'}")
    if aggregate is None:
        raise UnusableError(f"its aggregation {text_of(measure.get('agg'))!r} has no plain SQL")
    sql = of_table(column_of(measure), model.table, known.dialect)
    if filters:
        resolved = [_resolved(text, model, known) for text in filters]
        conditions = " AND ".join(f"({text})" for text, _ in resolved)
        tables = tuple(dict.fromkeys((model.table, *(table for _, names in resolved for table in names))))
        return aggregate.format(f"CASE WHEN {conditions} THEN {sql} END"), tables
    return aggregate.format(sql), (model.table,)


def _filters(given: object) -> list[str]:
    if isinstance(given, str):
        return [given] if given.strip() else []
    texts = (text_of(entry.get("where_sql_template")) for entry in listed(part(given).get("where_filters")))
    return [text for text in texts if text]


def _resolved(template: str, model: Model, known: Metrics) -> tuple[str, list[str]]:
    """A condition with columns in the place of dbt's references, and the tables of these."""
    tables: list[str] = []

    def column(match: re.Match[str]) -> str:
        kind, path = match[1], match[2].split("__")
        for semantic_model in (model, *known.models.values()):
            entries = semantic_model.dimensions if kind == "Dimension" else semantic_model.entities
            if path[-1] in entries and (len(path) == 1 or path[-2] in semantic_model.entities):
                tables.append(semantic_model.table)
                return of_table(column_of(entries[path[-1]]), semantic_model.table, known.dialect)
        raise UnusableError(f"its filter names {match[2]!r}, which is not in the file")

    text = _REFERENCE.sub(column, template)
    if "{{" in text or "{%" in text:
        raise UnusableError("its filter has a template that only dbt can fill in")
    return write(expression_of(text, known.dialect), known.dialect), tables


def of_table(expression: str, table: str, dialect: str) -> str:
    """An expression whose columns have the name of their table."""
    tree = expression_of(expression, dialect)
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(table))
    return write(tree, dialect)


def column_of(entry: Mapping[str, Any]) -> str:
    return text_of(entry.get("expr")) or text_of(entry.get("name"))
