"""`anonymizer assess`: how anonymous an existing table is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from anonymizer.cli.options import database_option, limit_options, load_policy, output_options
from anonymizer.cli.output import Output
from anonymizer.contract.checks import verdict
from anonymizer.errors import PolicyError, Problem
from anonymizer.process.document import Document, Section, say, table_section, terminal
from anonymizer.process.text import figure, many

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.assess import Assessment
    from anonymizer.review.assess.figures import Combinations, Risk

SHOWN = 8
OF_COUNTS = ("by", "measure", "minimum", "total", "hidden", "rounded", "zeros")
"""Options of --counts."""
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
@click.option("--person", metavar="A,B", help="Identifies the person of a row; counts persons.")
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
@click.option(
    "--counts", is_flag=True, help="TABLE holds published counts: which hidden ones give way?"
)
@click.option("--by", metavar="A,B", help="With --counts: the grouping columns.")
@click.option("--measure", metavar="COLUMN", help="With --counts: the column of the counts.")
@click.option(
    "--minimum",
    metavar="N",
    type=int,
    default=5,
    show_default=True,
    help="With --counts: the smallest count that may be known.",
)
@click.option("--total", metavar="MARK", help="With --counts: label of a total; (all), else NULL.")
@click.option("--hidden", metavar="MARK", help="With --counts: marks a hidden count, as NULL does.")
@click.option("--rounded", metavar="BASE", type=int, help="With --counts: all are multiples of it.")
@click.option("--zeros", is_flag=True, help="With --counts: a hidden count may be zero.")
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

    With --counts, TABLE (or a query) is a published table of counts with a row per cell and totals.
    Exit code 1 if the published figures show a hidden one, or that it is below --minimum.
    """
    from anonymizer.policy.values import Together
    from anonymizer.review.assess import assess, assess_policy
    from anonymizer.review.observers import TablesAssessment

    asked = click.get_current_context().get_parameter_source
    default = ParameterSource.DEFAULT
    counts = options.pop("counts")
    mixed = [name for name in options if (name in OF_COUNTS) is not counts]
    _refuse([name for name in mixed if asked(name) is not default], counts)
    if counts:
        _attack_counts(output, table_name, database, limits, options)
        return
    options = {name: value for name, value in options.items() if name not in OF_COUNTS}
    options |= {name: names(options[name]) for name in ("quasi", "sensitive")}
    persons = tuple(names(options["person"]))
    options["person"] = Together.of(persons) if len(persons) > 1 else options["person"]
    if _is_policy(table_name):
        named = {name: value for name, value in options.items() if asked(name) is not default}
        assessed = assess_policy(load_policy(table_name), database, limits=limits, **named)
        if isinstance(assessed, TablesAssessment):
            output.result(assessed.as_dict(), terminal(assessed.document()))
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
    output.verdict(found.as_dict(), terminal(document(found)), problems, holds=found.passed)


def _refuse(given: Sequence[str], counts: bool) -> None:
    """Raises PolicyError for options that do not go with --counts, or go with it only."""
    said = "does not go with --counts" if counts else "is of --counts only"
    PolicyError.refuse(
        Problem("--combinations" if name == "combined" else f"--{name}", said) for name in given
    )


def _attack_counts(
    output: Output, table: str, database: str | None, limits: Limits, options: dict[str, Any]
) -> None:
    """`assess --counts`."""
    from anonymizer.review.counts import assess_counts

    given = {name: options[name] for name in OF_COUNTS} | {"by": names(options["by"])}
    found = assess_counts(table, database, limits=limits, **given)
    if found.shown_below:
        shown = many(found.shown_below, "published figure is", "published figures are")
        output.warn(f"{shown} below {found.minimum}, and not hidden")
    problems = []
    if found.exact:
        said = many(found.exact, "hidden figure", "hidden figures")
        problems.append(Problem("TABLE", f"{said} can be recomputed from the others"))
    if found.below:
        said = many(found.below, "figure is", "figures are")
        problems.append(Problem("TABLE", f"{said} shown to be below {found.minimum}"))
    output.verdict(found.as_dict(), terminal(found.document()), problems, holds=found.passed)


def _is_policy(name: str) -> bool:
    """Return whether a file of this name exists that is not a table."""
    path = Path(name)
    return path.suffix.lower() in (".yml", ".yaml") and path.is_file()


def names(text: str | None) -> tuple[str, ...]:
    """The columns of an option: separated by commas, in double quotes where needed."""
    import csv

    if not text:
        return ()
    (row,) = csv.reader([text], skipinitialspace=True)
    return tuple(name.strip() for name in row if name.strip())


def document(found: Assessment) -> Document:
    """An assessment on one page."""
    sizes, columns = found.sizes, found.columns
    unit = "rows" if found.person is None else "persons"
    smallest = sizes.k if found.person is None else sizes.person_k
    classes = many(sizes.classes, "class", "classes")
    alone = many(sizes.uniques, "row is", "rows are")
    identity = [
        f"k = {figure(smallest)} ({unit} in the smallest of {classes})",
        f"{alone} alone in their class ({_share(sizes.uniques, sizes.rows)})",
    ]
    if sizes.unique_persons is not None:
        persons = many(sizes.unique_persons, "person is", "persons are")
        share = _share(sizes.unique_persons, sizes.units)
        identity.append(f"{persons} alone in a class ({share})")
    sections = [Section("Identity", tuple(map(say, identity))), _risk(found.risk, unit)]
    if columns:
        by_model = (
            (says, *values)
            for name, says in MODELS.items()
            for values in ([getattr(column, name) for column in columns.values()],)
            if any(value is not None for value in values)
        )
        title = "Sensitive values: what the worst class reaches"
        sections.append(table_section(title, ("model", *columns), by_model))
    sizes_head = ("size", "classes", "rows")
    worst = (tuple(one[name] for name in sizes_head) for one in found.worst[:SHOWN])
    sections.append(table_section(f"Smallest classes ({unit})", sizes_head, worst))
    if found.combinations is not None:
        sections += _combinations(found.combinations, unit)
    if found.checks:
        head = ("model", "column", "required", "achieved", "classes that fail", "")
        checks = (
            (c.name, c.column or "-", c.required, c.achieved, c.failing, verdict(c))
            for c in found.checks
        )
        sections.append(table_section("Required", head, checks))
    sections.append(Section("Next", tuple(say(f"- {sentence}") for sentence in found.next)))
    persons = f" of {many(sizes.persons, 'person')}" if sizes.persons is not None else ""
    top = (
        say(f"known to others: {', '.join(found.quasi)}"),
        say(f"sensitive: {', '.join(found.sensitive) or '-'}"),
    )
    return Document(f"{found.table}: {many(sizes.rows, 'row')}{persons}", top, tuple(sections))


def _risk(risk: Risk, unit: str) -> Section:
    named = (
        ("prosecutor, largest", risk.prosecutor_max),
        ("prosecutor, mean", risk.prosecutor_average),
        (f"{unit} with more than {risk.threshold:g}", risk.prosecutor_above),
        ("journalist, largest", risk.journalist_max),
        ("journalist, mean", risk.journalist_average),
        ("marketer: share matched", risk.marketer),
        (f"{unit} unique in the table", risk.unique_share),
        (f"{unit} unique in the population", risk.population_unique_share),
    )
    shown = (row for row in named if row[1] is not None)
    return table_section("Risk of re-identification, 0 to 1", (), shown)


def _combinations(together: Combinations, unit: str) -> Iterator[Section]:
    shown = [s for s in together.subsets if s.minimal][:SHOWN]
    rows = ((" + ".join(s.columns), s.singled_out, s.minimal, s.classes, s.k) for s in shown)
    title = f"Columns that single out {unit} (up to {together.size} together)"
    if shown:
        yield table_section(title, ("columns", "alone", "not with fewer", "classes", "k"), rows)
    else:
        yield Section(title, (say("none"),))
    if together.without:
        left = sorted(together.without.items(), key=lambda item: (item[1].singled_out, item[0]))
        yield table_section(
            f"{unit.capitalize()} alone if one column is dropped",
            ("without", "alone", "classes", "k"),
            ((name, s.singled_out, s.classes, s.k) for name, s in left),
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"
