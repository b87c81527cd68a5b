"""Recommended next steps, derived from the figures of an assessment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anonymizer.review.assess.combinations import Combinations
from anonymizer.review.assess.figures import ColumnFigures, Sizes
from anonymizer.review.assess.risk import Population, Risk


def advice(
    sizes: Sizes,
    columns: Mapping[str, ColumnFigures],
    risk: Risk,
    together: Combinations | None,
    population: Population | None,
    person: str | None,
) -> tuple[str, ...]:
    """Recommendations as sentences, the most urgent first."""
    found = [*_identity(sizes, risk, together, person), *_values(columns), *_population(population)]
    if not found:
        found = [
            "no class is small and no value stands out; check that no quasi-identifier is missing"
        ]
    return tuple(found)


def _identity(
    sizes: Sizes, risk: Risk, together: Combinations | None, person: str | None
) -> Iterator[str]:
    unit = "rows" if person is None else "persons"
    alone = sizes.uniques if sizes.unique_persons is None else sizes.unique_persons
    if alone:
        yield (
            f"{alone:,} of {sizes.units:,} {unit} are alone with their values: this table is not"
            " anonymous; draft a policy with anonymizer init, and run it"
        )
    elif sizes.units_below:
        yield (
            f"{sizes.units_below:,} of {sizes.units:,} {unit} are in classes with a risk above"
            f" {risk.threshold:g}: generalize, or leave them out"
        )
    if together is not None and alone and together.without:
        best, left = min(together.without.items(), key=lambda item: (item[1].singled_out, item[0]))
        if left.singled_out < alone:
            yield f"{best} does the most damage: without it {left.singled_out:,} {unit} are alone"
        smallest = [s for s in together.subsets if s.minimal]
        if smallest:
            one = min(smallest, key=lambda s: (-(s.minimal or 0), s.columns))
            names = " + ".join(one.columns)
            says = "alone singles out" if len(one.columns) == 1 else "single out"
            yield f"{names} {says} {one.singled_out:,} {unit}"
    if sizes.rows_without_person:
        yield f"{sizes.rows_without_person:,} rows name no person, and count for none"
    if person is None:
        yield "if one person can have several rows, name the column that tells whose: --person"


def _values(columns: Mapping[str, ColumnFigures]) -> Iterator[str]:
    for name, found in columns.items():
        if found.distinct_l <= 1:
            yield (
                f"{name}: {found.homogeneous_units:,} are in classes with a single value of it, so"
                " that finding the class tells the value; protect: {l_diversity: 3}"
            )
        elif found.alpha > 0.8:
            yield (
                f"{name}: one value reaches a share of {found.alpha:.2f} in a class;"
                " protect: {entropy_l: 3} or {alpha: 0.5}"
            )


def _population(population: Population | None) -> Iterator[str]:
    if population is not None and population.unmatched_units:
        yield (
            f"{population.unmatched_units:,} are in classes with fewer members in the population"
            " than in the table: it is not the population of this table"
        )
