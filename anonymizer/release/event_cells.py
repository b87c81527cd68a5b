"""Compares what a release says of the cells of event columns with the policy's own hierarchy.

A release lists which cells admit one and the same value. Text shows that of prefixes and suffixes;
of the labels of a given tree only the tree does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anonymizer.contract.tables import Tables
from anonymizer.errors import Problem
from anonymizer.hierarchy import files, tree
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.builders import Taxonomy
from anonymizer.policy.schema.paths import table_path
from anonymizer.verification.event_rules import TOGETHER, is_listed


def cells_apart(policy: SchemaPolicy, tables: Tables) -> Iterator[Problem]:
    """Every rule that would be judged of cells as if they had no value in common.

    Trees are compared whose file is at hand.
    """
    for one in tables.children:
        for item in one.requirements:
            listed = item.parameters.get(TOGETHER)
            column = policy.tables[one.table].columns.get(item.column or "")
            spec = column.hierarchy if column is not None else None
            if listed is None or not isinstance(spec, Taxonomy) or spec.file is None:
                continue
            if not is_listed(listed):
                continue  # what judges the rule says so
            path = table_path(one.table, "columns", item.column, "hierarchy", "file")
            file = policy.resolve(spec.file)
            if not file.is_file():
                continue
            rows, lines = files.read(file, path)
            if not _agree(tree.nodes(rows, path, lines), listed):
                said = "puts cells above one value that the release takes for disjoint"
                hint = "do not rely on it: the release was changed, or made by another hierarchy"
                yield Problem(path, said, hint=hint)


def _agree(nodes: Sequence[tree.Node], listed: Sequence[Sequence[str]]) -> bool:
    """Whether all listed labels above a value are in one of the sets."""
    sets = [{_unquoted(label) for label in labels} for labels in listed]
    places: dict[str, set[int]] = {}
    for place, labels in enumerate(sets):
        for label in labels:
            places.setdefault(label, set()).add(place)
    above: dict[str, set[str]] = {}
    for node in nodes:
        above.setdefault(node.value, {node.value}).add(node.label)
    for labels in above.values():
        found = [places[label] for label in labels if label in places]
        if found and not set.intersection(*found):
            return False
    return True


def _unquoted(label: str) -> str:
    """A label as it stands in a hierarchy, from its published text."""
    return label[1:-1].replace('""', '"') if label.startswith('"') else label
