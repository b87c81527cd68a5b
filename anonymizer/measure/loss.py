"""Information loss and disclosure figures of a release, computed in the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import (
    Layout,
    Originals,
    PublishedColumn,
    Requirement,
    bucket_columns,
    quasi,
    type_sql,
    with_loss,
)
from anonymizer.contract.rounding import coarse, coarse_mean
from anonymizer.errors import NothingToCheckError
from anonymizer.guarantees.requirements import BY_NAME, OF_TABLE, required_guarantees
from anonymizer.measure.proofs import LINKED, RECORDS
from anonymizer.policy.privacy import Privacy
from anonymizer.verification.guarantees import questions

# Descriptions of the main measures.


MEASURES = {
    "rows": "rows published",
    "persons": "persons in the release",
    "suppressed": "rows left out",
    "suppressed_persons": "persons left out",
    "suppressed_share": "share left out, of persons if the policy names them",
    "classes": "classes of equal quasi-identifiers",
    "class_min": "rows in the smallest class",
    "class_mean": "rows in a class, on average",
    "class_max": "rows in the largest class",
    "ncp": "information lost in a cell, 0 (exact) to 1 (nothing left): NCP",
    "ncp_weighted": "the same by the weights of the columns",
    "ncp_weighted_bound": "what any classes of k rows lose at least, by the weights",
    "ncp_bound": "what any classes of k rows lose at least",
    "glm": "the same by the generalized loss metric: GLM",
    "c_dm": "discernibility: the sum of squared class sizes (C_DM)",
}
OF_RUN = {
    RECORDS: "complete records that the cells prove",
    "lattice_nodes": "nodes of the lattice",
    "lattice_judged": "nodes that were judged",
    "lattice_gap": "distance from the optimum, at most",
    "seconds_anonymizing": "seconds for anonymizing",
    "seconds_judging": "seconds for judging",
}
GROUPS = {
    "classes": "groups that share their sensitive values",
    "class_min": "rows in the smallest group",
    "class_mean": "rows in a group, on average",
    "class_max": "rows in the largest group",
    "c_dm": "discernibility: the sum of squared group sizes (C_DM)",
}
"""Descriptions for releases without classes (msb), whose groups have unequal rows."""


def measure_words(layout: Layout) -> dict[str, str]:
    """Descriptions of the main measures of a release."""
    if layout.counts is not None:
        return {"rows": "cells published", "suppressed": "persons left out"}
    return MEASURES if layout.class_id is not None else MEASURES | GROUPS


def run_words(layout: Layout) -> dict[str, str]:
    """Descriptions of the measures of single columns, and of the run."""
    names = [one.column for one in quasi(layout)]
    levels = {f"level.{name}": f"level of {name}" for name in names}
    return {f"ncp.{name}": f"lost in {name}" for name in names} | levels | OF_RUN


def proved_sentence(measures: Mapping[str, Any], unit: str) -> str:
    """Describe what the cells of a release prove of single rows; empty if nothing was measured."""
    found = measures.get(RECORDS)
    if not isinstance(found, int):
        return ""
    if not found:
        return f"Its cells prove no complete record that fewer than k {unit} may share."
    records = f"{found:,} complete records" if found > 1 else "one complete record"
    return (
        f"Its cells prove {records} that fewer than k {unit} may share: the bounds of intervals,"
        " and the members of sets, are values of rows of the class."
    )


def linked_sentence(measures: Mapping[str, Any]) -> str:
    """Describe what rows disclose that belong together; empty if nothing was measured."""
    found = measures.get(LINKED)
    if not isinstance(found, int):
        return ""
    if not found:
        return "An observer who knows how the rows belong together is left with k persons as well."
    return (
        f"To an observer who also knows how the rows belong together, {found:,} of"
        f" {measures['rows']:,} persons are among fewer than k."
    )


def least_sentence(measures: Mapping[str, Any]) -> str:
    """The loss relative to the lower bound for classes of k rows; empty if unknown.

    The bound depends on k alone and ignores the cost of other rules.
    """
    by = "ncp_weighted" if "ncp_weighted" in measures else "ncp"
    bound, ncp = measures.get(f"{by}_bound"), measures.get(by)
    # (a manifest that was tampered with may contain anything)
    if not isinstance(bound, int | float) or not isinstance(ncp, int | float) or bound <= 0:
        return ""
    if not ncp < 100 * bound:  # the bound is too small to be meaningful
        return ""
    # rounded up, so that the statement is true
    times = f"{ceil(10 * ncp / bound) / 10:g}"
    said = f"at most {times} times the smallest that classes of at least k rows could have"
    if by == "ncp_weighted":
        said = f"by the weights of the columns {said}"
    drawn = ""
    if measures.get(f"{by}_bound_sample"):
        drawn = "; the bound is estimated from a sample, less three standard errors"
    return f"{said} (lower bound {bound:.3g}){drawn}"


# Figures of a release whose sensitive columns are separated into groups.


GroupMeasures = dict[str, float | int | None]


def measure_groups(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    *,
    suppressed: int = 0,
) -> GroupMeasures:
    """Measures of the groups, from the release and the l that it guarantees.

    If the release distinguishes persons, they are counted, including `suppressed` ones.

    * `groups`, `group_min`, `group_mean`, `group_max`: their sizes in rows, or persons;
    * `additional_loss`: sum of |G| - l_G over the sum of l_G, where l_G is the largest l of the
      values in G (Xiao and Li 2020, Definition 14);
    * `suppression_ratio`: suppressed rows (persons) divided by all (Definition 15);
    * for every protected column: `worst_share.<column>`, the share in a group of the value nearest
      to its bound, and `share_bound.<column>`, its bound 1/l. Values of l = 1 have no bound; both
      are None if a column has only such values.
    """
    columns = {column.column: column for column in layout.columns}
    judged = [
        _column(view, layout, columns[r.column], r)
        for r in requirements
        if r.scope == "group" and r.column is not None and r.column in layout.tables
    ]
    parameters = {
        "data": view,
        "group": layout.group_id,
        "person": layout.person_id,
        "columns": judged,
        "tables": [column["table"] for column in judged],
    }
    groups, rows, least, most, needed = run_sql(render("measure/groups", parameters).text)[0]
    found: GroupMeasures = {
        "groups": groups,
        "group_min": least,
        "group_mean": rows / groups if groups else None,
        "group_max": most,
        "additional_loss": (rows - needed) / needed if needed else None,
        "suppression_ratio": suppressed / (rows + suppressed) if rows + suppressed else 0.0,
    }
    for column in judged:
        shares = run_sql(render("measure/group_shares", {**parameters, **column}).text)
        share, bound = shares[0] if shares else (None, None)
        found[f"worst_share.{column['source']}"] = share
        found[f"share_bound.{column['source']}"] = bound
    return found


def _column(
    view: Table, layout: Layout, column: PublishedColumn, requirement: Requirement
) -> dict[str, Any]:
    """One column's table, and the l of its values according to the requirement."""
    (ask,) = BY_NAME[requirement.name].asks_in("group")
    assert ask.computed is not None
    weights = ask.computed(requirement)
    return {
        "source": column.column,
        "table": Table(layout.tables[column.column], view.schema, view.catalog),
        "name": column.name,
        "type": Sql(type_sql(column.sql_type).text),
        "levels": weights["levels"],
        "default": weights["default"],
        "nulls_count": bool(requirement.parameters.get("null_as_value", False)),
    }


Measures = dict[str, float | int | None]
OF_ALL_COLUMNS = ("ncp", "ncp_sum", "ncp_weighted", "glm", "glm_sum")
"""Losses of all columns together."""


def measure_release(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    *,
    link: Table | None = None,
    suppressed: int = 0,
) -> Measures:
    """All measures of a release.

    * `rows`, `persons`, `suppressed` (rows), `classes`, `class_min`, `class_mean`, `class_max`;
    * `c_dm`: sum of squared class sizes, and n for every suppressed row (Bayardo and Agrawal 2005);
    * `ncp_sum`, `ncp`: sum, and mean per quasi-identifying cell, of the normalized certainty
      penalty of the published cells (Xu et al. 2006); `glm_sum`, `glm` likewise for the
      generalized loss metric (Iyengar 2002), in which a set of s of m values costs (s-1)/(m-1);
    * if columns have weights (in the layout), `ncp_weighted`: the mean of the same penalties, with
      each cell weighted by its column's weight;
    * `ncp.<column>`: mean NCP of the published cells of one column, without suppressed rows;
    * with `link` (the staged rows) and a hierarchy: `ncp_nodes`, which is `ncp`, and `ncp_sets`,
      the same with the set of values in each class in place of its node;
    * for every column in buckets: `bucket_range.<column>`, `lemma2_max.<column>` (Li and He 2022,
      Lemma 2, largest probability of one value over all rows), `lemma2_bound.<column>` (as
      printed), `strict_min.<column>` (fewest rows of a class left when one value is known).

    Domains are those of the release (`measure/_losses`). What the release does not show is
    told in steps (`contract.coarse`): `ncp_sets`, and all losses where the nodes of a column hide
    how many values they stand for.

    A suppressed row costs 1 per cell; it has one cell per quasi-identifier.
    """
    found = counts_of(run_sql, view, layout, suppressed)
    if layout.classless:
        return found
    units = int(found["persons"] or found["rows"] or 0)
    lost = suppressed * len(with_loss(layout))
    found |= _losses(run_sql, view, layout, originals, lost, link, units)
    for column in bucket_columns(layout):
        name, common = column.column, _common(column, originals)
        parameters = {**common, "data": view, "group": layout.class_id, "by_class": False}
        (width,) = _row(run_sql, "measure/bucket_ranges", parameters)
        exposure, bound, left = _row(run_sql, "measure/exposure", parameters)
        found[f"bucket_range.{name}"] = width
        found[f"lemma2_max.{name}"] = exposure
        found[f"lemma2_bound.{name}"] = bound
        found[f"strict_min.{name}"] = left
    return found


def of_nodes(layout: Layout) -> set[str]:
    """Measures that the release does not show: the values under a node have to be known."""
    names = {column.column for column in with_loss(layout) if column.hierarchy}
    whole = (*OF_ALL_COLUMNS, RECORDS) if names else ()
    return {*whole, *(f"{kind}.{name}" for name in names for kind in ("ncp", "bucket_range"))}


def as_published(view: Table, layout: Layout) -> Originals:
    """The release in the place of the source, without any nodes."""
    names = {column.column: column.column for column in layout.columns}
    return Originals(view, names, published=True)


def exposure_sql(view: Table, layout: Layout, column: PublishedColumn) -> str:
    """Per class: class, exposure, bound of Lemma 2, rows left when one value is known."""
    parameters = {
        "data": view,
        "group": layout.class_id,
        "column": column,
        "type": type_sql(column.sql_type),
        "by_class": True,
    }
    return render("measure/exposure", parameters).text


def counts_of(run_sql: RunSql, view: Table, layout: Layout, suppressed: int) -> Measures:
    """Rows, persons and class sizes, which any recipient can count."""
    group = layout.class_id or layout.group_id
    parameters = {"data": view, "group": group, "person": layout.person_id}
    rows, classes, least, mean, most, squares, persons = _row(run_sql, "measure/counts", parameters)
    told = {"rows": rows, "persons": persons, "suppressed": suppressed}
    if layout.classless:
        return told
    return {
        **told,
        "classes": classes,
        "class_min": least,
        "class_mean": mean,
        "class_max": most,
        "c_dm": squares + (rows + suppressed) * suppressed,
    }


def smallest_class(
    run_sql: RunSql, view: Table, layout: Layout, measures: Mapping[str, Any]
) -> int | None:
    """Persons in the smallest class, or its rows if the release names no persons.

    None without classes.
    """
    if layout.classless:
        return None
    if layout.person_id is None:
        return measures["class_min"] or None
    group = layout.class_id or layout.group_id
    parameters = {"data": view, "group": group, "person": layout.person_id}
    (least,) = _row(run_sql, "measure/smallest", parameters)
    return least if least is None else int(least)


def _losses(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    lost: int,
    link: Table | None,
    units: int,
) -> Measures:
    cells, ncp, glm, sets = lost, float(lost), float(lost), float(lost)
    weights = [column.weight for column in with_loss(layout) if column.weight is not None]
    # (a suppressed row has a cell in every column, so the mean weight applies)
    weighty = weighted = lost * sum(weights) / max(len(weights), 1)
    has_nodes = hidden = False
    of_columns: Measures = {}
    for column, parameters, found in _loss_rows(run_sql, view, layout, originals):
        of_columns[f"ncp.{column.column}"] = _mean_loss(
            found, 0, units if _hides_counts(parameters) else None
        )
        cells, ncp, glm = cells + found[0], ncp + found[1], glm + found[2]
        # (where nothing is lost, or everything, the cells show it)
        hidden |= _hides_counts(parameters) and 0 < found[1] < found[0]
        weighty += found[0] * (column.weight or 0)
        weighted += found[1] * (column.weight or 0)
        as_set = found[1]
        if (
            link is not None
            and layout.class_id is not None
            and column.column in originals.nodes
            and column.kind == "categorical"
            and column.hierarchy
        ):
            has_nodes = True
            linked = {**parameters, "link": link, "row_ref": originals.row_ref}
            (as_set,) = _row(run_sql, "measure/set_losses", linked)
        sets += as_set
    steps = units if hidden else None
    measures: Measures = {}
    for name, total in (("ncp", ncp), ("glm", glm)):
        mean = _mean(total, cells, steps)
        measures[name] = mean
        measures[f"{name}_sum"] = coarse(mean * cells) if hidden else total
    measures["qi_cells"] = cells
    if weights:
        measures["ncp_weighted"] = _mean(weighted, weighty, steps)
    if has_nodes:
        measures |= {"ncp_nodes": measures["ncp"], "ncp_sets": _mean(sets, cells, units)}
    return measures | of_columns


def column_losses(
    run_sql: RunSql, view: Table, layout: Layout, originals: Originals, *, suppressed: int = 0
) -> dict[str, float]:
    """Mean NCP of the cells of every quasi-identifier (Xu et al. 2006), 0 to 1.

    Domains are those of the release (`measure/_losses`). Where the nodes of a column hide
    how many values they stand for, its loss is told in steps (`contract.coarse`), by the number
    of its cells.

    A suppressed row costs 1. Cells in buckets, which are not generalized, are not included.
    """
    found: dict[str, float] = {}
    for column, parameters, row in _loss_rows(run_sql, view, layout, originals):
        steps = row[0] if _hides_counts(parameters) else None
        found[column.column] = _mean_loss(row, suppressed, steps)
    return found


def class_losses_sql(layout: Layout, view: Table, originals: Originals) -> list[Sql]:
    """For each quasi-identifier a statement with a line per class: the class (`holder`), its cells,
    and the sums of their NCP and GLM. For the owner of the source: nothing is in steps.
    """
    given = [
        {**_common(c, originals), "data": view, "holder": layout.class_id}
        for c in with_loss(layout)
    ]
    return [Sql(render("measure/losses", parameters).text) for parameters in given]


def _loss_rows(
    run_sql: RunSql, view: Table, layout: Layout, originals: Originals
) -> Iterator[tuple[PublishedColumn, dict[str, Any], tuple[Any, ...]]]:
    """The quasi-identifiers with their parameters, cells, NCP and GLM, from one statement."""
    columns = with_loss(layout)
    given = [
        {**_common(column, originals), "data": view, "group": layout.class_id} for column in columns
    ]
    texts = [render("measure/losses", parameters).text for parameters in given]
    listed = ", ".join(f"({text}) as column_{i}" for i, text in enumerate(texts))
    found = run_sql(f"select * from {listed}")[0] if texts else ()
    for i, (column, parameters) in enumerate(zip(columns, given, strict=True)):
        yield column, parameters, found[3 * i : 3 * i + 3]


def _mean_loss(found: tuple[Any, ...], suppressed: int, units: int | None) -> float:
    """The mean NCP of a column's cells; those of suppressed rows cost 1."""
    cells, ncp, _ = found
    return _mean(float(ncp + suppressed), cells + suppressed, units)


def _mean(total: float, number: float, units: int | None) -> float:
    """A mean; with `units` one that the release does not show, and that is told in their steps."""
    mean = total / number if number else 0.0
    return mean if units is None else coarse_mean(mean, units)


def _common(column: PublishedColumn, originals: Originals) -> dict[str, Any]:
    nodes = originals.nodes.get(column.column) if column.hierarchy else None
    return {
        "column": column,
        "type": type_sql(column.sql_type),
        "original": originals.table,
        "physical": originals.values[column.column],
        "nodes": None if column.column in originals.sets else nodes,
        "leaves": originals.leaves.get(column.column) if column.hierarchy else None,
        "unknown": originals.published and column.hierarchy,
    }


def _hides_counts(parameters: Mapping[str, Any]) -> bool:
    """Return whether the cells hide how many values a node covers, such as codes under a prefix."""
    return parameters["nodes"] is not None and parameters["leaves"] is None


def _row(run_sql: RunSql, template: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    return run_sql(render(template, parameters).text)[0]


# The share of classes that an identity-reserved guarantee accepts and its enhanced form rejects.
#
# A *vulnerable* class satisfies IR (k,l) or IR (alpha,beta), but not EIR l or EIR (alpha,beta): a
# person known to be in it may have a value that everybody in it has (Wang et al. 2018, §5).


def enhanced_forms(privacy: Privacy) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The enhanced forms of the identity-reserved guarantees of a policy: name, parameters."""
    return tuple(
        (guarantee.enhanced[0], {part: getattr(value, part) for part in guarantee.enhanced[1]})
        for guarantee, value in required_guarantees(OF_TABLE, privacy)
        if guarantee.enhanced is not None
    )


def vulnerable_share(
    run_sql: RunSql, view: Table, layout: Layout, column: str, privacy: Privacy
) -> float:
    """Share, 0 to 1, of the classes of a release that are vulnerable in the sensitive `column`.

    The release must satisfy its IR guarantee. Raises `NothingToCheckError` if it has no such
    guarantee, or no classes.
    """
    forms = enhanced_forms(privacy)
    if not forms or layout.class_id is None:
        raise NothingToCheckError.at(
            "privacy", "has no identity-reserved guarantee with an enhanced form"
        )
    broken: set[Any] = set()
    for name, parameters in forms:
        requirement = Requirement(name, column, dict(parameters))
        for question in questions(view, layout, requirement):
            broken |= {row[0] for row in run_sql(question.sql())}
    (row,) = run_sql(f"select count(distinct {ident(layout.class_id)}) from {ident(view)}")
    return len(broken) / row[0] if row[0] else 0.0
