"""`anonymizer assess`: how anonymous an existing table is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from anonymizer.cli.options import database_option, limit_options, load_policy, output_options
from anonymizer.cli.output import Output
from anonymizer.contract.checks import verdict
from anonymizer.errors import Problem
from anonymizer.process.text import figure, many, table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.assess import Assessment

SHOWN = 8
MODELS = {
    "distinct_l": "distinct l",
    "entropy_l": "entropy l",
    "recursive_c": "recursive c (l=2)",
    "alpha": "alpha",
    "t_equal": "t (equal)",
    "t_ordered": "t (ordered)",
    "beta_likeness": "beta",
    "delta_disclosure": "delta",
}


@click.command()
@click.argument("table_name", metavar="TABLE")
@database_option("Database file of the table; not needed where TABLE is a file.")
@click.option("--quasi", metavar="A,B", help="Columns that others may know; default: a guess.")
@click.option("--sensitive", metavar="C,D", help="Columns that nobody should learn of anyone.")
@click.option("--person", metavar="COLUMN", help="Identifies the person of a row; counts persons.")
@click.option(
    "--require",
    metavar="NAME=N",
    multiple=True,
    help="A requirement, such as k=5, l=3, t:disease=0.2; exit code 1 if it does not hold.",
)
@click.option("--population", metavar="TABLE", help="Table of everybody who could be in TABLE.")
@click.option("--fraction", metavar="F", type=float, help="Share of the population in the table.")
@click.option(
    "--threshold",
    metavar="P",
    type=float,
    default=0.2,
    show_default=True,
    help="Chance of re-identification above which a row is at risk.",
)
@click.option(
    "--combinations",
    "combined",
    metavar="N",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Combine up to N columns to see what singles people out; 0: none.",
)
@limit_options
@output_options
def assess_command(
    output: Output, table_name: str, database: str | None, limits: Limits, **options: Any
) -> None:
    """Assess risk and diversity of TABLE (a table, view, .parquet, .csv or .json file) as it is.

    TABLE may also be a policy (.yml): its source is assessed with its roles, several tables
    together.

    Shows only counts, no values of the table; nothing is written. Separate columns by commas, and
    put a name that contains a comma in double quotes. Exit code 1 if a requirement of --require
    does not hold.
    """
    from anonymizer.review.assess import assess, assess_policy
    from anonymizer.review.observers import TablesAssessment

    options |= {name: names(options[name]) for name in ("quasi", "sensitive")}
    if _is_policy(table_name):
        asked = click.get_current_context().get_parameter_source
        default = ParameterSource.DEFAULT
        named = {name: value for name, value in options.items() if asked(name) is not default}
        assessed = assess_policy(load_policy(table_name), database, limits=limits, **named)
        if isinstance(assessed, TablesAssessment):
            output.result(assessed.as_dict(), assessed.lines())
            return
        found = assessed
    else:
        found = assess(table_name, database, limits=limits, **options)
    if found.guessed:
        output.warn("the columns were guessed; name them with --quasi and --sensitive")
    problems = [
        Problem(
            f"--require {c.name}" + (f":{c.column}" if c.column else ""),
            f"requires {figure(c.required)}, the table reaches {figure(c.achieved)}",
        )
        for c in found.checks
        if not c.passed
    ]
    output.judged(found.as_dict(), lines(found), problems, holds=found.passed)


def _is_policy(name: str) -> bool:
    """Whether a file of this name exists that is not a table."""
    path = Path(name)
    return path.suffix.lower() in (".yml", ".yaml") and path.is_file()


def names(text: str | None) -> tuple[str, ...]:
    """The columns of an option: separated by commas, in double quotes where needed."""
    import csv

    if not text:
        return ()
    (row,) = csv.reader([text], skipinitialspace=True)
    return tuple(name.strip() for name in row if name.strip())


def lines(found: Assessment) -> Iterator[str]:
    """An assessment as text, on one page."""
    sizes, risk = found.sizes, found.risk
    unit = "rows" if found.person is None else "persons"
    yield f"{found.table}: {many(sizes.rows, 'row')}" + (
        f" of {many(sizes.persons, 'person')}" if sizes.persons is not None else ""
    )
    yield f"  known to others: {', '.join(found.quasi)}"
    yield f"  sensitive: {', '.join(found.sensitive) or '-'}"
    yield ""
    smallest = sizes.k if found.person is None else sizes.person_k
    yield "Identity"
    classes = many(sizes.classes, "class", "classes")
    yield f"  k = {figure(smallest)} ({unit} in the smallest of {classes})"
    share = _share(sizes.uniques, sizes.rows)
    yield f"  {many(sizes.uniques, 'row is', 'rows are')} alone in their class ({share})"
    if sizes.unique_persons is not None:
        share = _share(sizes.unique_persons, sizes.units)
        alone = many(sizes.unique_persons, "person is", "persons are")
        yield f"  {alone} alone in a class ({share})"
    yield ""
    yield from _risk_lines(risk, unit)
    if found.columns:
        yield ""
        yield "Sensitive values: what the worst class reaches"
        yield from table(("model", *found.columns), _by_model(found))
    yield ""
    yield f"Smallest classes ({unit})"
    head = ("size", "classes", "rows")
    yield from table(head, [[w[name] for name in head] for w in found.worst[:SHOWN]])
    if found.combinations is not None:
        yield ""
        yield from _combination_lines(found, unit)
    if found.checks:
        yield ""
        yield from _check_lines(found)
    yield ""
    yield "Next"
    for sentence in found.next:
        yield f"  - {sentence}"


def _risk_lines(risk: Any, unit: str) -> Iterator[str]:
    yield "Risk of re-identification, 0 to 1"
    named = [
        ("prosecutor, largest", risk.prosecutor_max),
        ("prosecutor, mean", risk.prosecutor_average),
        (f"{unit} with more than {risk.threshold:g}", risk.prosecutor_above),
        ("journalist, largest", risk.journalist_max),
        ("journalist, mean", risk.journalist_average),
        ("marketer: share matched", risk.marketer),
        (f"{unit} unique in the table", risk.unique_share),
        (f"{unit} unique in the population", risk.population_unique_share),
    ]
    yield from table(("", ""), [(says, value) for says, value in named if value is not None])[1:]


def _by_model(found: Assessment) -> Iterator[list[Any]]:
    for name, says in MODELS.items():
        values = [getattr(column, name) for column in found.columns.values()]
        if any(value is not None for value in values):
            yield [says, *values]


def _combination_lines(found: Assessment, unit: str) -> Iterator[str]:
    together = found.combinations
    assert together is not None
    yield f"Columns that single out {unit} (up to {together.size} together)"
    shown = [s for s in together.subsets if s.minimal][:SHOWN]
    rows = [(" + ".join(s.columns), s.singled_out, s.minimal, s.classes, s.k) for s in shown]
    yield from (
        table(("columns", "alone", "not with fewer", "classes", "k"), rows) if rows else ["  none"]
    )
    if together.without:
        yield ""
        yield f"{unit.capitalize()} alone if one column is dropped"
        left = sorted(together.without.items(), key=lambda item: (item[1].singled_out, item[0]))
        yield from table(
            ("without", "alone", "classes", "k"),
            [(n, s.singled_out, s.classes, s.k) for n, s in left],
        )


def _check_lines(found: Assessment) -> Iterator[str]:
    yield "Required"
    yield from table(
        ("model", "column", "required", "achieved", "classes that fail", ""),
        [
            (c.name, c.column or "-", c.required, c.achieved, c.failing, verdict(c))
            for c in found.checks
        ],
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"
