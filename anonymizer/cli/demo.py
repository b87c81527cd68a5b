"""`anonymizer demo`: every step on real data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import output_options
from anonymizer.cli.output import Output
from anonymizer.process.document import block_lines, terminal
from anonymizer.process.text import table

if TYPE_CHECKING:
    from anonymizer.release.published import Release
    from anonymizer.review.counts import CountsAttack
    from anonymizer.review.demo import Demo
    from anonymizer.review.observers import TablesAttack

BEFORE = ("person_id", "age", "hide_age", "sex", "education", "marital_status", "occupation")
AFTER = (
    "class_id",
    "age",
    "age_bucket",
    "sex",
    "education",
    "marital_status",
    "occupation",
    "occupation_bucket",
)
MEASURES = {
    "rows": "rows published",
    "suppressed": "rows suppressed",
    "classes": "classes of equal quasi-identifiers",
    "class_mean": "rows in a class, on average",
    "ncp": "information lost in a quasi-identifying cell, 0 to 1 (ncp)",
    "lemma2_max.occupation": "largest probability of an occupation for anybody",
    "lemma2_max.age": "largest probability of a hidden age for anybody",
}


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--schema", "several", is_flag=True, help="Three tables of a fictitious hospital.")
@click.option("--counts", is_flag=True, help="Counts by group, and the attack on blank cells.")
@output_options
def demo_command(output: Output, folder: str | None, several: bool, counts: bool) -> None:
    """Anonymize a bundled real table in DIR (default: anonymizer-demo), and show every step.

    Writes a source database, its policy and hierarchies; runs, verifies and publishes into a
    second database. An edited policy in the folder of an earlier demo is used as it is. With
    --schema: three tables of one hospital, in anonymizer-hospital. With --counts: a table of counts
    of the same persons, in anonymizer-counts.
    """
    from anonymizer.cli.output import progress
    from anonymizer.review import demo

    if several:
        _hospital(output, folder)
        return
    if counts:
        _counts(output, folder)
        return
    made = demo.write(folder or demo.FOLDER)
    with demo.imports_ahead():
        with progress(output) as listener:
            release = demo.run(made, listener=listener)
        report = demo.report(made)
    _print_result(output, made, release, _story(made, release), report=str(report))


def _hospital(output: Output, folder: str | None) -> None:
    """Several tables of the same persons, released together, and observers who know rows."""
    from anonymizer.cli.output import progress
    from anonymizer.policy import load_policy
    from anonymizer.review import demo
    from anonymizer.review.observers import attack_tables

    made = demo.write_hospital(folder or demo.HOSPITAL_FOLDER)
    with progress(output) as listener:
        release = demo.run(made, listener=listener)
    policy = load_policy(made.policy)
    assert policy.several
    attack = attack_tables(policy, made.database)
    _print_result(
        output, made, release, _hospital_story(made, release, attack), attack=attack.as_dict()
    )


def _counts(output: Output, folder: str | None) -> None:
    """A table of counts, beside the attack on one whose small counts are only blank."""
    from anonymizer.cli.output import progress
    from anonymizer.review import demo

    made = demo.write_counts(folder or demo.COUNTS_FOLDER)
    with progress(output) as listener:
        release = demo.run(made, listener=listener)
    attack = demo.attack_naive(made)
    found = {"attack": attack.as_dict()} if attack is not None else {}
    _print_result(output, made, release, _counts_story(made, release, attack), **found)


def _counts_story(made: Demo, release: Release, attack: CountsAttack | None) -> Iterator[str]:
    from anonymizer.review import demo

    folder = made.folder
    yield f"{folder}/{made.database.name}   the table: UCI Adult, 32,561 people (CC BY 4.0)"
    yield f"{folder}/policy.yml     what is counted"
    yield f"{folder}/{made.release.name}   the release"
    yield ""
    if attack is not None:
        yield "What is usually published: all counts and totals, those below 5 left blank"
        yield f"  {attack.hidden:,} of {attack.cells:,} counts are blank; of these, readers find"
        yield f"  {attack.exact:,} exactly, and {attack.below:,} to be below 5"
        yield ""
    rows = release.measures["rows"]
    yield f"The release: {rows:,} counts that add up, {release.measures['suppressed']:,} persons in"
    yield "one row (other), and five of them"
    found = demo.head(made.release, _quote_view(release.view))
    yield from _rows(found, found[0])
    yield ""
    yield "Guarantees, verified from the release by independent SQL before it was published"
    yield from block_lines(*release.verification.blocks(source=True))
    yield ""
    yield "Next"
    source = made.database.name
    yield f"  cd {shlex.quote(str(folder))}"
    yield "  anonymizer verify policy.yml"
    yield "  anonymizer export policy.yml -o counts.csv"
    yield f"  anonymizer run policy.yml --database {source}     after a change of policy.yml"


def _print_result(
    output: Output, made: Demo, release: Release, story: Iterator[str], **more: object
) -> None:
    """Print the result, with further data in `more`."""
    for warning in release.warnings:
        output.warn(warning)
    result = {
        **release.as_dict(),
        "folder": str(made.folder),
        "source": str(made.database),
        "policy": str(made.policy),
        **more,
        "kept": list(made.kept),
    }
    output.done(result, story)


def _hospital_story(made: Demo, release: Release, attack: TablesAttack) -> Iterator[str]:
    from anonymizer.review import demo

    folder = made.folder
    edited = " (as you edited it)" if "policy.yml" in made.kept else ""
    yield f"{folder}/{made.database.name}   three tables of a fictitious hospital (CC0)"
    yield f"{folder}/policy.yml     their guarantees and roles{edited}"
    yield f"{folder}/{made.release.name}   the release"
    for one in release.manifest.data["tables"]["tables"]:
        yield ""
        yield f"{one['table']}: five rows of the source, and five of the release"
        before = demo.head(made.database, _quote_view(one["table"]))
        after = demo.head(made.release, _quote_view(f"{release.view.split('.')[0]}.{one['name']}"))
        yield from _rows(before, before[0])
        yield from _rows(after, after[0])
    yield ""
    yield "Guarantees, verified from the release by independent SQL before it was published"
    yield from block_lines(*release.verification.blocks(source=True))
    yield ""
    yield from terminal(attack.document())
    yield ""
    yield "Next"
    source = made.database.name
    yield f"  cd {shlex.quote(str(folder))}"
    yield "  anonymizer verify policy.yml"
    yield f"  anonymizer attack policy.yml --database {source}"
    yield f"  anonymizer run policy.yml --database {source}     after a change of policy.yml"


def _story(made: Demo, release: Release) -> Iterator[str]:
    from anonymizer.review import demo
    from anonymizer.review.demo import REPORT

    folder = made.folder
    edited = " (as you edited it)" if "policy.yml" in made.kept else ""
    yield f"{folder}/{made.database.name}   the table: UCI Adult, 32,561 people (CC BY 4.0)"
    yield f"{folder}/policy.yml     its guarantees and roles{edited}"
    if release.database is not None:
        yield f"{folder}/{release.database.name}   the release"
    yield f"{folder}/{REPORT}     for the privacy officer: open it in a browser"
    yield ""
    yield "Before: five rows of the source"
    yield from _rows(demo.head(made.database, "adult"), BEFORE)
    if release.database is not None:
        yield ""
        yield f"After: five rows of {release.view}, in random order"
        yield from _rows(demo.head(release.database, _quote_view(release.view)), AFTER)
    yield ""
    yield "Guarantees, verified from the release by independent SQL before it was published"
    yield from block_lines(*release.verification.blocks(source=True))
    yield ""
    yield "Measures"
    measures = release.measures
    known = [(says, measures[name]) for name, says in MEASURES.items() if name in measures]
    yield from table(("", ""), known)[1:]
    yield ""
    yield "Next"
    yield from _next(made)


def _rows(found: list[list[str]], wanted: Sequence[str]) -> Iterator[str]:
    """The `wanted` columns of the rows, if an edited policy publishes them."""
    head, *rows = found
    shown = [head.index(name) for name in wanted if name in head]
    yield from table([head[i] for i in shown], [[row[i] for i in shown] for row in rows])


def _quote_view(view: str) -> str:
    from anonymizer.compile import quote

    return ".".join(map(quote, view.split(".", 1)))


def _next(made: Demo) -> Iterator[str]:
    source = made.database.name
    commands = {
        f"cd {shlex.quote(str(made.folder))}": "",
        "anonymizer verify policy.yml": "judge the release again",
        f"anonymizer plan policy.yml --database {source}": "what a run does; the source's own k",
        f"anonymizer compile policy.yml --database {source}": "every SQL statement of it",
        "anonymizer export policy.yml -o adult.parquet": "the release as a file, with its manifest",
        f"anonymizer run policy.yml --database {source}": "after a change of policy.yml",
    }
    width = max(map(len, commands))
    for text, says in commands.items():
        yield f"  {text.ljust(width)}  {says}".rstrip()
