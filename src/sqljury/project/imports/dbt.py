"""Reads dbt's ``manifest.json`` and ``semantic_manifest.json``: descriptions, tests that are joins, and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sqljury.project.imports.dbt_metrics import Metrics, Model, column_of, formula, of_table
from sqljury.project.imports.notes import Imported, UnusableError, listed, part, text_of
from sqljury.schema.notes import Item

_TABLES: Final = ("model", "seed", "snapshot", "source")
_CALL: Final = re.compile(r"\b(ref|source)\(([^()]*)\)")
_NAME: Final = re.compile(r"""(?<![=\w])\s*['"]([^'"]+)['"]""")
_VERSION: Final = re.compile(r"""\bv(?:ersion)?\s*=\s*['"]?([\w.]+)""")
_REFERENCES: Final = re.compile(r"(?:references\s+)?([\w.\"`]+)\s*\(([^()]+)\)", re.IGNORECASE)
"""What a foreign key had before dbt 1.9: ``schema.customers (customer_id)``."""


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
                model = models.get(table.casefold())
                table = f"{schema}.{table}" if model and schema and text_of(model.get("schema")) != schema else table
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


def read(manifest: Mapping[str, Any], dialect: str = "") -> Imported:
    """What either kind of manifest says; parts of an unexpected form are passed over."""
    imported = Imported()
    nodes = [*listed(manifest.get("nodes")), *listed(manifest.get("sources"))]
    tables = _Tables(nodes)
    for node in nodes:
        if part(node.get("config")).get("materialized") == "ephemeral":
            imported.left_out.append(f"model {text_of(node.get('name'))}: is ephemeral, so there is no table of it")
        elif node.get("resource_type") in _TABLES and tables.of(node):
            imported.items += _described(node, tables.of(node))
            _constraints(node, tables, imported)
        elif node.get("resource_type") == "test":
            _test(node, tables, imported)
    known = Metrics(dialect, tables.named)
    for entry in listed(manifest.get("semantic_models")):
        model = known.models[text_of(entry.get("name"))] = _model(entry, tables)
        imported.items += _semantic(entry, model)
        _computed(model, dialect, imported)
    imported.joins += _joins(known.models)
    known.metrics = {
        **{name: metric for model in known.models.values() for name, metric in _measures_that_are_metrics(model)},
        **{text_of(metric.get("name")): metric for metric in listed(manifest.get("metrics"))},
    }
    for name, metric in known.metrics.items():
        _add_metric(name, metric, known, imported)
    idle = (name for model in known.models.values() for name in model.measures if name not in known.used)
    imported.left_out += [f"measure {name}: no metric reads it" for name in idle]
    imported.left_out += [
        f"saved query {text_of(query.get('name'))}: is a query, not a note"
        for query in listed(manifest.get("saved_queries"))
    ]
    return imported


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


def _constraints(node: Mapping[str, Any], tables: _Tables, imported: Imported) -> None:
    """Foreign keys are joins. Other constraints, and what a source says of all its tables, are listed."""
    table = tables.of(node)
    if described := text_of(node.get("source_description")):
        left_out = f"source {text_of(node.get('source_name'))}: its description is of no single table: {described[:80]}"
        imported.left_out += [left_out] if left_out not in imported.left_out else []
    of_columns = [
        ({**constraint, "columns": [text_of(column.get("name"))]})
        for column in listed(node.get("columns"))
        for constraint in listed(column.get("constraints"))
    ]
    for constraint in (*listed(node.get("constraints")), *of_columns):
        kind = text_of(constraint.get("type"))
        to = tables.named(text_of(constraint.get("to")))
        columns, to_columns = (_texts(constraint.get(key)) for key in ("columns", "to_columns"))
        if not to and (written := _REFERENCES.fullmatch(text_of(constraint.get("expression")))):
            to, to_columns = tables.named(written[1]), [name.strip(' "`') for name in written[2].split(",")]
        if kind == "foreign_key" and to and columns and len(columns) == len(to_columns):
            imported.joins.append(
                tuple(((table, left), (to, right)) for left, right in zip(columns, to_columns, strict=True))
            )
        elif kind:
            imported.left_out.append(
                f"constraint {kind} on {', '.join(columns) or table}: is read from the database itself"
            )


def _texts(value: object) -> list[str]:
    return [text for entry in value if (text := text_of(entry))] if isinstance(value, list) else []


def _test(node: Mapping[str, Any], tables: _Tables, imported: Imported) -> None:
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
        to, to_column = tables.named(text_of(arguments.get("to"))), text_of(arguments.get("field"))
        if to and to_column:
            imported.joins.append((((table, column), (to, to_column)),))
    elif test.get("name") == "accepted_values" and isinstance(values := arguments.get("values"), list):
        shown = ", ".join(text_of(str(value)) for value in values[:30])
        imported.items.append(Item(table, column, description=f"one of {shown}", where=f"test on {table}.{column}"))


def _model(model: Mapping[str, Any], tables: _Tables) -> Model:
    def by_name(key: str) -> dict[str, dict[str, Any]]:
        return {text_of(entry.get("name")): entry for entry in listed(model.get(key))}

    relation = part(model.get("node_relation"))
    # A file of a project, not a manifest, has ``model: ref('orders')`` in place of the relation.
    table = text_of(relation.get("alias")) or tables.named(text_of(model.get("model"))) or text_of(model.get("name"))
    return Model(table, by_name("entities"), by_name("dimensions"), by_name("measures"))


def _semantic(model: Mapping[str, Any], known: Model) -> Iterator[Item]:
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


def _computed(known: Model, dialect: str, imported: Imported) -> None:
    """Dimensions that are expressions are formulas."""
    for name, entry in known.dimensions.items():
        if not (text := text_of(entry.get("expr"))) or text.isidentifier():
            continue
        label = text_of(entry.get("label")) or name.replace("_", " ")
        try:
            imported.formulas.append((label, of_table(text, known.table, dialect), (known.table,)))
        except UnusableError as problem:
            imported.left_out.append(f"dimension {name}: {problem}")
            continue
        if description := text_of(entry.get("description")):
            imported.glossary.append((label, description))


def _measures_that_are_metrics(model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, measure in model.measures.items():
        if measure.get("create_metric") is True:
            described = {key: measure.get(key) for key in ("label", "description")}
            yield name, {"name": name, "type": "simple", "type_params": {"measure": name}, **described}


def _joins(models: Mapping[str, Model]) -> Iterator[tuple[tuple[tuple[str, str], tuple[str, str]], ...]]:
    """A foreign entity joins the model whose primary or unique entity has its name."""
    keys = {
        name: (model.table, column_of(entity))
        for model in models.values()
        for name, entity in model.entities.items()
        if entity.get("type") in ("primary", "unique") and column_of(entity).isidentifier()
    }
    for model in models.values():
        for name, entity in model.entities.items():
            if entity.get("type") == "foreign" and name in keys and column_of(entity).isidentifier():
                yield (((model.table, column_of(entity)), keys[name]),)


def _add_metric(name: str, metric: Mapping[str, Any], known: Metrics, imported: Imported) -> None:
    label, spoken = text_of(metric.get("label")), name.replace("_", " ")
    if not label or label.casefold() in {other.casefold() for other, _, _ in imported.formulas}:
        label = spoken  # names are unique, labels are not
    try:
        expression, tables = formula(name, known)
    except UnusableError as problem:
        imported.left_out.append(f"metric {name}: {problem}")
        return
    imported.formulas.append((label, expression, tables))
    if description := text_of(metric.get("description")):
        imported.glossary.append((label, description))
