"""Decide whether a release is the one that a policy describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.contract.counts_layout import Counts
from anonymizer.contract.layout import Layout, PublishedColumn, cell_parts, column_names
from anonymizer.contract.reading import Tables
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy import exchange, tree
from anonymizer.policy import AggregatePolicy, AnyPolicy, Msb, Policy
from anonymizer.policy.columns import MASKS, Column
from anonymizer.policy.fields import published_names, renamed
from anonymizer.policy.hierarchies import Taxonomy
from anonymizer.policy.paths import column_path, table_path
from anonymizer.policy.referenced_files import declared_digests, declared_files
from anonymizer.source.masking.masks import describe_options, mask_options
from anonymizer.source.profile import check_kind
from anonymizer.verification.guarantees import TOGETHER, is_listed

# Compares what a release says of the cells of event columns with the policy's own hierarchy.
#
# A release lists which cells admit one and the same value. Text shows that of prefixes and
# suffixes; of the labels of a given tree only the tree does.


def cells_apart(policy: AnyPolicy, tables: Tables) -> Iterator[Problem]:
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
            rows, lines = exchange.read_rows(file, path)
            if not _agree(tree.nodes(rows, path, lines), listed):
                said = "puts cells above one value that the release takes for disjoint"
                hint = "do not rely on it: the release was changed, or made by another hierarchy"
                yield Problem(path, said, hint=hint)


def _agree(nodes: Sequence[tree.Node], listed: Sequence[Sequence[str]]) -> bool:
    """Return whether all listed labels above a value are in one of the sets."""
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


# Whether a release is the one that a policy describes: the same columns, in the same roles.
#
# A policy may have been edited after the run. If only other settings changed, for example k,
# verification judges the release; with other columns or roles the policy does not describe it.


HINT = "use the policy that the release was made with, or run again"
SEMI = "quasi with sensitive_when"


OTHER_NUMBER = "is of one table, and the release of several, or the other way round"


def refuse_changed_while_read(digests: Mapping[str, str], policy: AnyPolicy) -> None:
    """Raise SourceError if a declared file is not as it was when the run began."""
    now = declared_digests(policy)
    said, hint = "was changed while the run read it", "run again"
    paths = sorted({*digests, *now})
    SourceError.refuse(
        Problem(path, said, hint=hint) for path in paths if digests.get(path) != now.get(path)
    )


def other_files(policy: AnyPolicy, stated: Mapping[str, str]) -> Iterator[Problem]:
    """The files that the policy declares, with another content than the manifest states."""
    said = "has another content than when the release was made: their digests differ"
    for path, digest in declared_digests(policy).items():
        if path in stated and stated[path] != digest:
            yield Problem(path, said, hint="restore the file that the run read, or run again")


def files_not_compared(policy: AnyPolicy, stated: Mapping[str, str]) -> tuple[str, ...]:
    """The declared files that are not at hand, or of which the manifest states no digest."""
    known = declared_digests(policy).keys() & stated.keys()
    return tuple(path for path in declared_files(policy) if path not in known)


def disagreements(policy: Policy, layout: Layout) -> tuple[Problem, ...]:
    """Every published column, role and kind that differs from the policy's."""
    if policy.counts is not None or layout.counts is not None:
        return tuple(_other_counts(policy.counts, layout.counts))
    found = {column.column: column for column in layout.columns}
    problems: dict[str, Problem] = {}
    for name in dict.fromkeys((*policy.columns, *found)):
        problem = _of_column(name, policy.columns.get(name), found.get(name))
        if problem is not None:
            problems[name] = problem
    on_grid = any(column.grid is not None for column in layout.columns)
    for column in layout.columns:
        asked = policy.columns.get(column.column)
        step = asked.bounds.step if asked is not None and asked.bounds is not None else None
        if step is not None and column.grid != step and not policy.algorithm.over_levels:
            path = column_path(column.column, "bounds", "step")
            problems[column.column] = _problem(path, "is not that of the release")
    over = policy.algorithm.over_levels or not policy.quasi
    if not over and (policy.publish.bounds == "grid") != on_grid:
        said = f"is {policy.publish.bounds} in the policy, and the release has other bounds"
        return (*problems.values(), _problem("publish.bounds", said))
    if policy.publish.cells != layout.cells:
        said = f"is {policy.publish.cells} in the policy, and the release has {layout.cells} cells"
        return (*problems.values(), _problem("publish.cells", said))
    return (*problems.values(), *_of_names(policy, layout, set(problems)))


def _other_counts(policy: AggregatePolicy | None, counts: Counts | None) -> Iterator[Problem]:
    """The differences between a policy and a release of which one at least is of counts."""
    if policy is None or counts is None:
        said = "makes a table of rows, and the release is one of counts, or the other way round"
        yield Problem("policy", said, hint=HINT)
        return
    measures = {one.name: (one.of, one.parts, one.nonnegative) for one in counts.measures}
    asked = {
        name: (of.count or ("sum" if of.ratio is None else "ratio"), of.ratio or (), of.nonnegative)
        for name, of in policy.aggregate.measures.items()
    }
    differs = {
        "aggregate.by": [d.name for d in counts.by] != list(policy.by),
        "aggregate.measures": list(measures.items()) != list(asked.items()),
    }
    if not differs["aggregate.by"]:
        levels = tuple(d.levels for d in counts.by)
        differs["aggregate.margins"] = counts.groupings != policy.groupings(levels)
    listed = bool(getattr(policy.options, "list_hidden", False))
    differs[f"{policy.method}.list_hidden"] = counts.list_hidden != listed
    differs["round.base"] = counts.base != policy.rounding_base
    for path in (path for path, other in differs.items() if other):
        yield Problem(path, "is not that of the release", hint=HINT)


def _of_column(name: str, asked: Column | None, released: PublishedColumn | None) -> Problem | None:
    role = None if released is None else SEMI if released.role == "semi" else released.role
    published = asked is not None and asked.role not in ("identifier", "drop")
    if (_stated_role(asked) if asked is not None and published else None) != role:
        wanted = "is not listed" if asked is None else f"is {_stated_role(asked)}"
        said = "does not publish it" if role is None else f"publishes it as {role}"
        return _problem(column_path(name), f"{wanted} in the policy, and the release {said}")
    if asked is None or released is None:
        return None
    if asked.safe_harbor != released.safe_harbor:
        wanted, found = asked.safe_harbor or "not stated", released.safe_harbor or "nothing"
        said = f"is {wanted} in the policy, and the release says {found}"
        return _problem(column_path(name, "safe_harbor"), said)
    masks, others = masks_of(asked, released)
    by, shown = (", ".join(one["mask"] for one in made) for made in (masks, others))
    if by != shown:
        found = shown or "values as they are"
        said = f"the policy masks it by {by or 'none'}, and the release publishes {found}"
        return _problem(column_path(name), said)
    for one, other in zip(masks, others, strict=True):
        if one != other:
            said = f"the policy masks it by {one['mask']} with other options than the release"
            return _problem(column_path(name), said)
    if asked.role != "quasi":
        return None
    try:
        kind = check_kind(name, released.sql_type, asked.kind)
    except SourceError:
        kind = asked.kind or released.kind
    if kind != released.kind:
        said = f"is {kind} in the policy, and the release publishes it as {released.kind}"
        return _problem(column_path(name, "kind"), said)
    if released.hierarchy and asked.hierarchy is None:
        said = "is missing in the policy, and the release publishes nodes of one"
        return _problem(column_path(name, "hierarchy"), said)
    return None


def masks_of(asked: Column, released: PublishedColumn) -> tuple[list[Any], list[Any]]:
    """The masks of a column in the policy and in the release, without a population's content."""
    return (
        [
            {"mask": mask, **describe_options(mask, mask_options(mask, options))}
            for mask, options in asked.masks
        ],
        [{n: v for n, v in mask.items() if n != "restricted"} for mask in released.masks],
    )


def _stated_role(column: Column) -> str:
    if column.role in MASKS:
        return "keep"
    return SEMI if column.role == "quasi" and column.sensitive_when else column.role


def _of_names(policy: Policy, layout: Layout, told: set[str]) -> Iterator[Problem]:
    """Published names that differ: renamed columns, buckets, persons, groups."""
    separate = [c.name for c in layout.columns if c.column in layout.tables and c.name is not None]
    keys = {layout.key, *layout.links}
    present = {*column_names(layout), *separate} - keys
    asked = {renamed(policy, one): one for one in published_names(policy)}
    # a column without values has no nodes, and no column that marks NULLs
    empty = {
        column.column
        for column in layout.columns
        if column.column not in told
        and policy.columns[column.column].hierarchy is not None
        and not column.hierarchy
    }
    for name, one in asked.items():
        if one.certain and name not in present and one.column not in told | empty:
            what = one.what if one.column is None else f"{one.what} {one.column}"
            said = f"{what} is published as {name} by the policy, and the release lacks it"
            yield _problem(_path(one.column, one.name), said)
    owners = {
        name: column.column
        for column in layout.columns
        for name in (*cell_parts(column), column.value, column.bucket)
        if name is not None
    }
    for name in sorted(present - set(asked)):
        if owners.get(name) not in told:
            path = _path(owners.get(name), "person_id" if name == layout.person_id else name)
            yield _problem(path, f"the release publishes {name}, and the policy does not")
    if isinstance(policy.algorithm, Msb) and layout.group_id is not None:
        options = policy.algorithm
        if (options.generalize is None) != (layout.class_id is None):
            has = "exact cells" if layout.class_id is None else "generalized cells"
            said = f"asks for other cells than the release has, which publishes {has}"
            yield _problem("algorithm.generalize", said)


def _path(column: str | None, name: str) -> str:
    if column is not None:
        return column_path(column)
    return "person" if name == "person_id" else "publish"


def _problem(path: str, said: str) -> Problem:
    return Problem(path, said, hint=HINT)
