"""Reads dbt's ``manifest.json`` and ``semantic_manifest.json``: descriptions, tests that are joins, and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from sqljury.project.imports.notes import Imported, UnusableError, expression_of, listed, part, text_of
from sqljury.schema.notes import Item
from sqljury.sql.parse import write

_TABLES: Final = ("model", "seed", "snapshot", "source")
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
_CALL: Final = re.compile(r"\b(ref|source)\(([^()]*)\)")
_NAME: Final = re.compile(r"""(?<![=\w])\s*['"]([^'"]+)['"]""")
_VERSION: Final = re.compile(r"""\bv(?:ersion)?\s*=\s*['"]?([\w.]+)""")
_REFERENCES: Final = re.compile(r"(?:references\s+)?([\w.\"`]+)\s*\(([^()]+)\)", re.IGNORECASE)
"""What a foreign key had before dbt 1.9: ``schema.customers (customer_id)``."""
_METRIC: Final = re.compile(r"""\{\{\s*metric\(\s*['"](\w+)['"]\s*\)\s*\}\}""")
"""A metric in the expression of a derived one, up to dbt 1.5."""
_DEPTH: Final = 8
"""Metrics of metrics."""


@dataclass(slots=True)
class _Model:
    """A semantic model: its table, and its dimensions, entities and measures by name."""

    table: str
    entities: dict[str, dict[str, Any]]
    dimensions: dict[str, dict[str, Any]]
    measures: dict[str, dict[str, Any]]


class _Tables:
    """The tables of models, seeds, snapshots and sources: by id, and as ``ref`` and ``source`` call them.

    A source with the name of another schema's model is called by its schema too, since the two are not one.
    """

    def __init__(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        nodes = [node for node in nodes if node.get("resource_type") in _TABLES]
        models = {_table(node).casefold(): node for node in nodes if node.get("resource_type") != "source"}
        self.by_id: dict[str, str] = {}
        self._called: dict[tuple[str, ...], str] = {}
        for node in nodes:
            table, name, schema = _table(node), text_of(node.get("name")), text_of(node.get("schema"))
            called: tuple[str, ...] = ("ref", name)
            if node.get("resource_type") == "source":
                called = ("source", text_of(node.get("source_name")), name)
                other = models.get(table.casefold())
                table = f"{schema}.{table}" if other and schema and text_of(other.get("schema")) != schema else table
            self.by_id[text_of(node.get("unique_id"))] = table
            if (version := node.get("version")) is not None:
                self._called[*called, str(version)] = table
                if str(node.get("latest_version")) != str(version):
                    continue
            self._called[called] = table

    def of(self, node: Mapping[str, Any]) -> str:
        """The table of a node; empty for one without a name."""
        return self.by_id.get(text_of(node.get("unique_id"))) or _table(node)

    def named(self, text: str) -> str:
        """The table that ``ref(...)``, ``source(...)`` or a relation's name means; empty for none."""
        call = _CALL.search(text)
        if call is None:
            return text.replace('"', "").replace("`", "").rpartition(".")[2] if "(" not in text else ""
        names, version = _NAME.findall(call[2]), _VERSION.search(call[2])
        key = (call[1], *names[-(1 if call[1] == "ref" else 2) :], *([version[1]] if version else []))
        return self._called.get(key, names[-1] if names else "")


@dataclass(slots=True)
class _Metrics:
    """All metrics and what they are made of; ``used`` are the measures that a metric reads."""

    dialect: str
    tables: _Tables
    models: dict[str, _Model] = field(default_factory=dict)
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def read(manifest: Mapping[str, Any], dialect: str = "") -> Imported:
    """What either kind of manifest says; parts of an unexpected form are passed over."""
    found = Imported()
    nodes = [*listed(manifest.get("nodes")), *listed(manifest.get("sources"))]
    tables = _Tables(nodes)
    for node in nodes:
        if part(node.get("config")).get("materialized") == "ephemeral":
            found.left_out.append(f"model {text_of(node.get('name'))}: is ephemeral, so there is no table of it")
        elif node.get("resource_type") in _TABLES and tables.of(node):
            found.items += _described(node, tables.of(node))
            _constraints(node, tables, found)
        elif node.get("resource_type") == "test":
            _test(node, tables, found)
    known = _Metrics(dialect, tables)
    for entry in listed(manifest.get("semantic_models")):
        model = known.models[text_of(entry.get("name"))] = _model(entry, tables)
        found.items += _semantic(entry, model)
        _computed(model, dialect, found)
    found.joins += _joins(known.models)
    known.metrics = {
        **{name: metric for model in known.models.values() for name, metric in _measures_that_are_metrics(model)},
        **{text_of(metric.get("name")): metric for metric in listed(manifest.get("metrics"))},
    }
    for name, metric in known.metrics.items():
        _add_metric(name, metric, known, found)
    idle = (name for model in known.models.values() for name in model.measures if name not in known.used)
    found.left_out += [f"measure {name}: no metric reads it" for name in idle]
    found.left_out += [
        f"saved query {text_of(query.get('name'))}: is a query, not a note"
        for query in listed(manifest.get("saved_queries"))
    ]
    return found


def _table(node: Mapping[str, Any]) -> str:
    """The name of a node's table: its alias, or the identifier of a source."""
    return text_of(node.get("identifier")) or text_of(node.get("alias")) or text_of(node.get("name"))


def _described(node: Mapping[str, Any], table: str) -> Iterator[Item]:
    where = f"{node.get('resource_type')} {text_of(node.get('name'))}"
    if description := text_of(node.get("description")):
        yield Item(table, description=description, where=where)
    for column in listed(node.get("columns")):
        name, description = text_of(column.get("name")), text_of(column.get("description"))
        if name and description:
            yield Item(table, name, description=description, where=where)


def _constraints(node: Mapping[str, Any], tables: _Tables, found: Imported) -> None:
    """Foreign keys are joins. Other constraints, and what a source says of all its tables, are listed."""
    table = tables.of(node)
    if described := text_of(node.get("source_description")):
        left_out = f"source {text_of(node.get('source_name'))}: its description is of no single table: {described[:80]}"
        found.left_out += [left_out] if left_out not in found.left_out else []
    of_columns = [
        ({**constraint, "columns": [text_of(column.get("name"))]})
        for column in listed(node.get("columns"))
        for constraint in listed(column.get("constraints"))
    ]
    for constraint in (*listed(node.get("constraints")), *of_columns):
        kind = text_of(constraint.get("type"))
        to = tables.named(text_of(constraint.get("to")))
        own, other = (_texts(constraint.get(key)) for key in ("columns", "to_columns"))
        if not to and (written := _REFERENCES.fullmatch(text_of(constraint.get("expression")))):
            to, other = tables.named(written[1]), [name.strip(' "`') for name in written[2].split(",")]
        if kind == "foreign_key" and to and own and len(own) == len(other):
            found.joins.append(tuple(((table, left), (to, right)) for left, right in zip(own, other, strict=True)))
        elif kind:
            found.left_out.append(f"constraint {kind} on {', '.join(own) or table}: is read from the database itself")


def _texts(value: object) -> list[str]:
    return [text for entry in value if (text := text_of(entry))] if isinstance(value, list) else []


def _test(node: Mapping[str, Any], tables: _Tables, found: Imported) -> None:
    """``relationships`` are joins, ``accepted_values`` say what a column may hold; other tests say nothing."""
    test = part(node.get("test_metadata"))
    arguments = part(test.get("kwargs"))
    arguments = {**arguments, **part(arguments.get("arguments"))}
    attached = tables.by_id.get(text_of(node.get("attached_node")))  # tests of sources have none
    table = attached or tables.named(text_of(arguments.get("model")))
    column = text_of(arguments.get("column_name")) or text_of(node.get("column_name"))
    if not table or not column:
        return
    if test.get("name") == "relationships":
        to, other = tables.named(text_of(arguments.get("to"))), text_of(arguments.get("field"))
        if to and other:
            found.joins.append((((table, column), (to, other)),))
    elif test.get("name") == "accepted_values" and isinstance(values := arguments.get("values"), list):
        shown = ", ".join(text_of(str(value)) for value in values[:30])
        found.items.append(Item(table, column, description=f"one of {shown}", where=f"test on {table}.{column}"))


def _model(model: Mapping[str, Any], tables: _Tables) -> _Model:
    def by_name(key: str) -> dict[str, dict[str, Any]]:
        return {text_of(entry.get("name")): entry for entry in listed(model.get(key))}

    relation = part(model.get("node_relation"))
    # A file of a project, not a manifest, has ``model: ref('orders')`` in place of the relation.
    table = text_of(relation.get("alias")) or tables.named(text_of(model.get("model"))) or text_of(model.get("name"))
    return _Model(table, by_name("entities"), by_name("dimensions"), by_name("measures"))


def _semantic(model: Mapping[str, Any], known: _Model) -> Iterator[Item]:
    """Descriptions of a semantic model and of those of its fields that are columns."""
    where = f"semantic model {text_of(model.get('name'))}"
    if description := text_of(model.get("description")):
        yield Item(known.table, description=description, where=where)
    for entry in (*known.entities.values(), *known.dimensions.values()):
        column = text_of(entry.get("expr")) or text_of(entry.get("name"))
        description = text_of(entry.get("description"))
        if description and column.isidentifier():
            label = text_of(entry.get("label"))
            yield Item(known.table, column, description, (label,) if label else (), where=where)


def _computed(known: _Model, dialect: str, found: Imported) -> None:
    """Dimensions that are expressions are formulas."""
    for name, entry in known.dimensions.items():
        if not (text := text_of(entry.get("expr"))) or text.isidentifier():
            continue
        label = text_of(entry.get("label")) or name.replace("_", " ")
        try:
            found.formulas.append((label, _of_table(text, known.table, dialect), (known.table,)))
        except UnusableError as problem:
            found.left_out.append(f"dimension {name}: {problem}")
            continue
        if description := text_of(entry.get("description")):
            found.glossary.append((label, description))


def _measures_that_are_metrics(model: _Model) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, measure in model.measures.items():
        if measure.get("create_metric") is True:
            said = {key: measure.get(key) for key in ("label", "description")}
            yield name, {"name": name, "type": "simple", "type_params": {"measure": name}, **said}


def _joins(models: Mapping[str, _Model]) -> Iterator[tuple[tuple[tuple[str, str], tuple[str, str]], ...]]:
    """A foreign entity joins the model whose primary or unique entity has its name."""
    keys = {
        name: (model.table, _column(entity))
        for model in models.values()
        for name, entity in model.entities.items()
        if entity.get("type") in ("primary", "unique") and _column(entity).isidentifier()
    }
    for model in models.values():
        for name, entity in model.entities.items():
            if entity.get("type") == "foreign" and name in keys and _column(entity).isidentifier():
                yield (((model.table, _column(entity)), keys[name]),)


def _column(entry: Mapping[str, Any]) -> str:
    return text_of(entry.get("expr")) or text_of(entry.get("name"))


def _add_metric(name: str, metric: Mapping[str, Any], known: _Metrics, found: Imported) -> None:
    label, spoken = text_of(metric.get("label")), name.replace("_", " ")
    if not label or label.casefold() in {other.casefold() for other, _, _ in found.formulas}:
        label = spoken  # names are unique, labels are not
    try:
        formula, tables = _formula(name, known)
    except UnusableError as problem:
        found.left_out.append(f"metric {name}: {problem}")
        return
    found.formulas.append((label, formula, tables))
    if description := text_of(metric.get("description")):
        found.glossary.append((label, description))


def _formula(name: str, known: _Metrics, depth: int = 0, given: object = None) -> tuple[str, tuple[str, ...]]:
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


def _of_dbt_1_5(metric: Mapping[str, Any], known: _Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    """A metric as manifests had them before there were semantic models: an aggregation on a model, with filters."""
    expression, method = text_of(metric.get("expression")), text_of(metric.get("calculation_method"))
    filters = [
        " ".join(text_of(one.get(key)) for key in ("field", "operator", "value"))
        for one in listed(metric.get("filters"))
    ]
    if metric.get("window"):
        raise UnusableError("a metric over a window of time is more than one expression")
    if method != "derived":
        model = _Model(known.tables.named(text_of(metric.get("model"))), {}, {}, {})
        conditions = [_of_table(text, model.table, known.dialect) for text in filters]
        return _aggregated({"agg": method, "expr": expression}, model, conditions, known)
    if filters:
        raise UnusableError("a filter on a metric of metrics cannot be written as one expression")
    inputs = {name: _formula(name, known, depth + 1) for name in _METRIC.findall(expression)}
    text = _METRIC.sub(lambda match: f"({inputs[match[1]][0]})", expression)
    tree = expression_of(text, known.dialect)
    return write(tree, known.dialect), tuple(dict.fromkeys(table for _, own in inputs.values() for table in own))


def _input(entry: object, known: _Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    given = part(entry)
    if given.get("offset_window") or given.get("offset_to_grain"):
        raise UnusableError("it looks at another time than the question's")
    name = text_of(given.get("name")) or text_of(entry)
    if name not in known.metrics:
        return _measured(name, _filters(given.get("filter")), known)
    return _formula(name, known, depth + 1, given.get("filter"))


def _derived(params: Mapping[str, Any], known: _Metrics, depth: int) -> tuple[str, tuple[str, ...]]:
    inputs = {text_of(one.get("alias")) or text_of(one.get("name")): one for one in listed(params.get("metrics"))}
    formulas = {name: _input(one, known, depth) for name, one in inputs.items()}
    tree = expression_of(text_of(params.get("expr")), known.dialect)
    for column in list(tree.find_all(exp.Column)):
        if column.name in formulas and not column.table:
            column.replace(exp.Paren(this=expression_of(formulas[column.name][0], known.dialect)))
        else:
            raise UnusableError(f"its expression names {column.name!r}, which is not one of its metrics")
    tables = dict.fromkeys(table for _, own in formulas.values() for table in own)
    return write(tree, known.dialect), tuple(tables)


def _simple(params: Mapping[str, Any], filters: list[str], known: _Metrics) -> tuple[str, tuple[str, ...]]:
    measure = params.get("measure")
    if measure is not None:
        name = text_of(part(measure).get("name")) or text_of(measure)
        return _measured(name, [*filters, *_filters(part(measure).get("filter"))], known)
    given = part(params.get("metric_aggregation_params"))  # from dbt 1.12 on
    model = known.models.get(text_of(given.get("semantic_model")))
    if model is None:
        raise UnusableError("its measure is not in the file")
    return _aggregated({**given, "expr": params.get("expr") or given.get("expr")}, model, filters, known)


def _measured(name: str, filters: list[str], known: _Metrics) -> tuple[str, tuple[str, ...]]:
    for model in known.models.values():
        if name in model.measures:
            known.used.add(name)
            return _aggregated(model.measures[name], model, filters, known)
    raise UnusableError(f"there is no measure {name!r}")


def _aggregated(
    measure: Mapping[str, Any], model: _Model, filters: list[str], known: _Metrics
) -> tuple[str, tuple[str, ...]]:
    aggregate = _AGGREGATES.get(text_of(measure.get("agg")).lower())
    if narrow := part(measure.get("non_additive_dimension")):
        raise UnusableError(f"it must not be added up over {text_of(narrow.get('name')) or 'one of its dimensions'}")
    if aggregate is None:
        raise UnusableError(f"its aggregation {text_of(measure.get('agg'))!r} has no plain SQL")
    sql = _of_table(_column(measure), model.table, known.dialect)
    if filters:
        resolved = [_resolved(text, model, known) for text in filters]
        conditions = " AND ".join(f"({text})" for text, _ in resolved)
        tables = tuple(dict.fromkeys((model.table, *(table for _, own in resolved for table in own))))
        return aggregate.format(f"CASE WHEN {conditions} THEN {sql} END"), tables
    return aggregate.format(sql), (model.table,)


def _filters(given: object) -> list[str]:
    if isinstance(given, str):
        return [given] if given.strip() else []
    texts = (text_of(entry.get("where_sql_template")) for entry in listed(part(given).get("where_filters")))
    return [text for text in texts if text]


def _resolved(template: str, own: _Model, known: _Metrics) -> tuple[str, list[str]]:
    """A condition with columns in the place of dbt's references, and the tables of these."""
    tables: list[str] = []

    def column(match: re.Match[str]) -> str:
        kind, path = match[1], match[2].split("__")
        for model in (own, *known.models.values()):
            entries = model.dimensions if kind == "Dimension" else model.entities
            if path[-1] in entries and (len(path) == 1 or path[-2] in model.entities):
                tables.append(model.table)
                return _of_table(_column(entries[path[-1]]), model.table, known.dialect)
        raise UnusableError(f"its filter names {match[2]!r}, which is not in the file")

    text = _REFERENCE.sub(column, template)
    if "{{" in text or "{%" in text:
        raise UnusableError("its filter has a template that only dbt can fill in")
    return write(expression_of(text, known.dialect), known.dialect), tables


def _of_table(expression: str, table: str, dialect: str) -> str:
    """An expression whose columns have the name of their table."""
    tree = expression_of(expression, dialect)
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(table))
    return write(tree, dialect)
