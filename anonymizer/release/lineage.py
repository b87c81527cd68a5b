"""OpenLineage run events: the source columns of each published column, and their transformations.

Contains names of tables and columns, no values. https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anonymizer.contract.layout import Layout, PublishedColumn, cell_parts, column_names, quasi
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.values import columns_of, portable
from anonymizer.release.across_tables import released_tables
from anonymizer.release.certificate import mask_words
from anonymizer.release.integrity import seal_of
from anonymizer.release.manifest import Manifest

EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = "https://openlineage.io/spec/facets"
COLUMN_LINEAGE = f"{FACETS}/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
SCHEMA = f"{FACETS}/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet"
RUNS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:sql-anonymizer:run")
"""Namespace of run ids: all events of a run have the same UUID."""
NAMESPACE = "sql-anonymizer"


@dataclass(frozen=True, slots=True)
class Transformation:
    """The transformation of an input into an output, in the terms of OpenLineage."""

    direct: bool
    subtype: str
    masking: bool
    """True if the output reveals less than the input."""
    says: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "type": "DIRECT" if self.direct else "INDIRECT",
            "subtype": self.subtype,
            "description": self.says,
            "masking": self.masking,
        }


IDENTITY = Transformation(True, "IDENTITY", False, "published as it is")
NUMBER = Transformation(True, "TRANSFORMATION", True, "a number drawn for this release")
GROUPS = Transformation(False, "GROUP_BY", True, "the number of the class or group, without order")
BUCKETS = Transformation(False, "GROUP_BY", True, "the number of the bucket, without order")
LEFT_OUT = Transformation(False, "FILTER", True, "rows that no class takes are left out")


@dataclass(frozen=True, slots=True)
class OfTable:
    """A published table and its policy."""

    name: str
    """The name, with its schema."""
    layout: Layout
    policy: Policy
    dataset: dict[str, str]
    """The source, as an input dataset."""
    lifted: dict[str, dict[str, str]]
    """Columns from another source."""

    def field(self, column: str, how: Transformation) -> dict[str, Any]:
        """A source column as the input of an output."""
        dataset = self.lifted.get(column, self.dataset)
        return {**dataset, "field": column, "transformations": [how.as_dict()]}


def run_event(
    policy: AnyPolicy, manifest: Manifest, *, namespace: str = NAMESPACE, sources: str = NAMESPACE
) -> dict[str, Any]:
    """The event of the run that made a release: COMPLETE, at the time of its manifest.

    `namespace`: of the job and the release; `sources`: of the source tables.
    """
    producer = f"urn:sql-anonymizer:{manifest.data['versions']['anonymizer']}"
    tables = list(_tables(policy, manifest, sources))
    types = {f"{o.schema}.{o.name}": o.columns for o in seal_of(manifest).objects}
    inputs = {tuple(one.dataset.items()): one.dataset for one in tables}
    outputs = []
    for one in tables:
        for name, fields in _datasets(one):
            lineage: dict[str, Any] = {
                "_producer": producer,
                "_schemaURL": COLUMN_LINEAGE,
                "fields": fields,
            }
            if known := quasi(one.layout):
                lineage["dataset"] = [one.field(c.column, LEFT_OUT) for c in known]
            schema = {
                "_producer": producer,
                "_schemaURL": SCHEMA,
                "fields": [{"name": n, "type": t} for n, t in types.get(name, ())],
            }
            facets = {"schema": schema, "columnLineage": lineage}
            outputs.append({"namespace": namespace, "name": name, "facets": facets})
    return {
        "eventType": "COMPLETE",
        "eventTime": manifest.data["created"],
        "run": {"runId": str(uuid.uuid5(RUNS, manifest.run_id))},
        "job": {"namespace": namespace, "name": str(manifest.data["view"])},
        "inputs": list(inputs.values()),
        "outputs": outputs,
        "producer": producer,
        "schemaURL": EVENT,
    }


def _tables(policy: AnyPolicy, manifest: Manifest, sources: str) -> Iterator[OfTable]:
    schema = str(manifest.data["view"]).rpartition(".")[0]
    several = released_tables(manifest)
    if several is None:
        lead = policy.lead
        view = str(manifest.data["view"])
        yield OfTable(view, manifest.layout, lead, _source(lead, view, sources), {})
        return
    for one in several.tables:
        name = f"{schema}.{one.name}"
        single = policy.further.get(one.table, policy.lead)
        lifted = {
            column: _source(policy.further[table], table, sources)
            for column, table in (policy.lifted.items() if one is several.persons else ())
        }
        yield OfTable(name, one.layout, single, _source(single, name, sources), lifted)


def _source(policy: Policy, view: str, namespace: str) -> dict[str, str]:
    """The dataset of a source. A query is named after the view: its text may contain values."""
    source = policy.source
    name = f"query of {view}"
    if source.file is not None:
        name = portable(source.file)
    elif source.table is not None:
        name = ".".join(source.parts)
    return {"namespace": namespace, "name": name}


def _datasets(one: OfTable) -> Iterator[tuple[str, dict[str, Any]]]:
    """The published tables with their columns: the view, and the separate tables of values."""
    schema = one.name.rpartition(".")[0]
    described = {
        part: column
        for column in one.layout.columns
        for part in (*cell_parts(column), column.value, column.bucket)
        if part is not None
    }
    yield one.name, {name: _inputs(one, name, described) for name in column_names(one.layout)}
    for column in one.layout.columns:
        if column.column in one.layout.tables and column.name is not None:
            names = [name for name in (one.layout.group_id, column.name) if name is not None]
            fields = {name: _inputs(one, name, described) for name in names}
            yield f"{schema}.{one.layout.tables[column.column]}", fields


def _inputs(one: OfTable, name: str, described: dict[str, PublishedColumn]) -> dict[str, Any]:
    return {"inputFields": list(_input_fields(one, name, described))}


def _input_fields(
    one: OfTable, name: str, described: dict[str, PublishedColumn]
) -> Iterator[dict[str, Any]]:
    layout, policy = one.layout, one.policy
    if name in (layout.class_id, layout.group_id):
        yield from (one.field(column.column, GROUPS) for column in quasi(layout))
    elif name == layout.person_id and policy.person is not None:
        yield from (one.field(column, NUMBER) for column in columns_of(policy.person))
    elif name == layout.key and policy.key is not None:
        yield from (one.field(column, NUMBER) for column in columns_of(policy.key))
    elif name in layout.links:
        yield one.field(name, NUMBER)
    else:
        column = described[name]
        how = BUCKETS if name == column.bucket else _done(one, column)
        yield one.field(column.column, how)


def _done(one: OfTable, column: PublishedColumn) -> Transformation:
    """The transformation of a column's values."""
    masked = mask_words(one.policy, column.column)
    done = [masked] if masked else []
    if column.role in ("quasi", "semi") and not one.policy.algorithm.exact:
        done.append(
            "generalized to the nodes of its hierarchy"
            if column.hierarchy
            else "generalized to the range or set of its class"
        )
    if column.bucket is not None or column.column in one.layout.tables:
        done.append("in a group of values that are not tied to rows")
    if not done:
        return IDENTITY
    return Transformation(True, "TRANSFORMATION", True, "; ".join(done))
