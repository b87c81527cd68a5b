"""`anonymizer report`, `export` and `certify`: hand over a release."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from anonymizer.cli import options
from anonymizer.cli.output import Output
from anonymizer.errors import Problem, SourceError, no_file
from anonymizer.policy.paths import name_text
from anonymizer.policy.values import file_format
from anonymizer.process.files import write_bytes, write_text
from anonymizer.process.text import many

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.counts_report import CountsReport
    from anonymizer.review.report.content import Report


# `anonymizer report`: write a report on a release.


@click.command()
@options.policy_argument
@click.option(
    "--source",
    metavar="FILE",
    help="Database of the source, for the figures before; or the file of the run, where the policy"
    " names one.",
)
@options.database_option(
    "Database file of the release; default: publish.database of POLICY.", cls=click.Option
)
@click.option("-o", "--output", "target", metavar="FILE", help="Default: report.html, or by --as.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "docx", "md", "json"]),
    help="Default: by the suffix of FILE. Without -o, md and json go to standard output.",
)
@click.option(
    "--as",
    "standard",
    type=click.Choice(
        ["hipaa-expert", "ema", "gdpr", "iso27559", "sp800-188", "safe-harbor", "openlineage"]
    ),
    help="Arrange the figures by the clauses of a standard; or the lineage of columns, in JSON.",
)
@click.option("--namespace", metavar="NAME", help="With openlineage: of the job and the release.")
@click.option("--source-namespace", metavar="NAME", help="The same of the source.")
@click.option("--attack", "attacks", is_flag=True, help="Run the attacks too; needs the source.")
@click.option(
    "--earlier", metavar="FILE", help="Attack together with this earlier release; needs the source."
)
@click.option(
    "--share",
    metavar="F",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of the source's rows (persons) that are attacked.",
)
@options.preset_option
@options.limit_options
@click.option("--quiet", is_flag=True, help="Print nothing when the report is written.")
@click.option("--debug", is_flag=True, help="Show tracebacks; they may quote data values.")
def report_command(
    policy: str,
    source: str | None,
    database: str | None,
    target: str | None,
    form: str | None,
    standard: str | None,
    namespace: str | None,
    source_namespace: str | None,
    attacks: bool,
    earlier: str | None,
    share: float,
    preset: str | None,
    quiet: bool,
    debug: bool,
    limits: Limits,
) -> int | None:
    """Write a report on the release of POLICY: one HTML file that needs no network.

    It contains the policy in words, guarantees, risk and every column before and after, the cost,
    what is not promised, and the SQL to check the release. The release is judged again; exit code 1
    if a guarantee does not hold, alone or (with --earlier) together with an earlier release.

    With --as the figures are arranged by the clauses of a standard, and what a person has to answer
    is left open and marked. `--as openlineage` makes an OpenLineage run event instead: for every
    published column, the source columns it is derived from, the transformation, and whether that
    masks them. It contains names, no values, and is printed without -o.
    """
    import json
    from pathlib import Path

    from anonymizer.cli.failures import UsageError
    from anonymizer.release.lineage import NAMESPACE
    from anonymizer.review.report import collected, form_of, rendered_bytes
    from anonymizer.run.verify import lineage

    output = Output("text", quiet=quiet, debug=debug)
    if source is not None and not Path(source).is_file():
        raise SourceError.at("--source", no_file(source))
    if (namespace or source_namespace) and standard != "openlineage":
        option = "--namespace" if namespace else "--source-namespace"
        raise UsageError.at(option, "needs --as openlineage")
    chosen = "json" if standard == "openlineage" else form
    chosen = chosen or (form_of(target) if target is not None else "html")
    if target is None and chosen in ("html", "docx"):
        target = f"{standard or 'report'}.{chosen}"
    of_file = source is not None and file_format(source) is not None
    loaded = options.load_policy(policy, preset, source if of_file else None)
    source = None if of_file else source
    options.check_target(target, policies=[loaded])
    if standard == "openlineage":
        event = lineage(
            loaded,
            database,
            namespace=namespace or NAMESPACE,
            sources=source_namespace or namespace or NAMESPACE,
            limits=limits,
        )
        content, broken = f"{json.dumps(event, indent=2)}\n".encode(), None
    else:
        found = collected(
            loaded,
            database,
            source,
            attacks=attacks,
            earlier=earlier,
            share=share,
            limits=limits,
        )
        content, broken = rendered_bytes(found, chosen, standard), _broken(found)
    if target is not None:
        write_bytes(target, content)
        output.say(f"wrote {target}")
    else:
        with nullcontext() if broken is None else output.warn_on_failure():
            output.write(content.decode())
    if broken is None:
        return None
    problem = Problem("release", f"does not hold {broken}", hint="see the report")
    output.fail([problem], Exception())
    return 1


def _broken(report: Report | CountsReport) -> str | None:
    """The guarantees that a release breaks."""
    from anonymizer.review.counts_report import CountsReport

    if isinstance(report, CountsReport):
        return None if report.verification.passed else "what it promises"
    if report.verdict.holds:
        return None
    attacked = report.attacked
    alone = attacked is not None and report.verification.passed and attacked.alone_holds
    return "beside the earlier release" if alone else "what it promises"


# `anonymizer certify`: a signed certificate of a release.


@click.command()
@options.policy_argument
@options.release_option
@options.engine_option
@options.preset_option
@click.option(
    "--sign", metavar="KEYFILE", required=True, help="The private key to sign with (PEM)."
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    default="certificate.json",
    show_default=True,
    help="Where the certificate goes.",
)
@options.population_option
@options.limit_options
@options.output_options
def certify_command(
    output: Output,
    policy: str,
    database: str | None,
    engine: str | None,
    preset: str | None,
    sign: str,
    target: str,
    population: str | None,
    limits: Limits,
) -> None:
    """Judge the release of POLICY again, and sign a certificate of it.

    The certificate is an in-toto statement in a DSSE envelope: the digest of the policy, the
    guarantees required and achieved, versions, and the digests of the published tables. `anonymizer
    verify --certificate FILE --public-key KEY` checks it against the release, offline.
    """
    from anonymizer.run.verify import certify

    loaded = options.load_policy(policy, preset)
    options.check_target(target, policies=[loaded])
    text = certify(loaded, database, sign=sign, engine=engine, population=population, limits=limits)
    write_text(target, text)
    output.done({"certificate": target}, [f"wrote {target}"])


# `anonymizer export`: a release as Parquet or CSV.


@click.command()
@options.policy_argument
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    required=True,
    help="A .parquet or .csv file; from Postgres also a .duckdb file; for several tables a folder,"
    " or the file of the persons.",
)
@options.release_option
@options.preset_option
@options.population_option
@click.option("--force", is_flag=True, help="Replace what is no earlier export of this release.")
@click.option("--sign", metavar="KEYFILE", help="Sign the files with this private key (PEM).")
@options.limit_options
@options.output_options
def export_command(
    output: Output,
    policy: str,
    target: str,
    database: str | None,
    preset: str | None,
    population: str | None,
    force: bool,
    sign: str | None,
    limits: Limits,
) -> None:
    """Write the release of POLICY as a file, and its manifest as <FILE>.manifest.json beside it.

    With several tables, each becomes a file with its published name: Parquet files in a folder, or,
    with -o FOLDER/FILE.csv, CSV files, of which FILE.csv has the persons. With --sign, whoever gets
    the files can check them: `anonymizer verify --database FILE --public-key KEY`.
    """
    from anonymizer.publish.export import export

    loaded = options.load_policy(policy, preset)
    done = export(
        loaded, target, database, force=force, population=population, limits=limits, sign=sign
    )
    lines = []
    for file in done.files:
        lines.append(f"wrote {file.path} ({many(file.rows, 'row')})")
        lines += [f"  {name_text(name)} left as {kind}" for name, kind in file.types.items()]
    output.done(done.as_dict(), [*lines, f"wrote {done.manifest}"])
