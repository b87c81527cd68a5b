"""`anonymizer report`: write a report on a release."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.errors import Problem, SourceError, no_file
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.report.content import Report
    from anonymizer.review.tables.report import TablesReport


@click.command()
@options.policy_argument
@click.option("--source", metavar="FILE", help="Database of the source, for the figures before.")
@options.database_option("Database file of the release; default: publish.database of POLICY.")
@click.option("-o", "--output", "target", metavar="FILE", help="Default: report.html, or by --as.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "json"]),
    help="Default: by the suffix of FILE. Without -o, md and json go to standard output.",
)
@click.option(
    "--as",
    "standard",
    type=click.Choice(["hipaa-expert", "ema", "iso27559", "sp800-188", "safe-harbor"]),
    help="Arrange the figures by the clauses of a standard.",
)
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
def command(
    policy: str,
    source: str | None,
    database: str | None,
    target: str | None,
    form: str | None,
    standard: str | None,
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
    is left open and marked.
    """
    from pathlib import Path

    from anonymizer.review.report import collected, form_of, rendered

    output = Output("text", quiet=quiet, debug=debug)
    if source is not None and not Path(source).is_file():
        raise SourceError.at("--source", no_file(source))
    chosen = form or (form_of(target) if target is not None else "html")
    if target is None and chosen == "html":
        target = f"{standard or 'report'}.html"
    loaded = options.load_policy(policy, preset)
    options.check_target(target, policies=[loaded])
    found = collected(
        loaded,
        database,
        source,
        attacks=attacks,
        earlier=earlier,
        share=share,
        limits=limits,
    )
    text = rendered(found, chosen, standard)
    broken = _broken(found)
    if target is not None:
        write_text(target, text)
        output.say(f"wrote {target}")
    else:
        with nullcontext() if broken is None else output.outlasted():
            output.written(text)
    if broken is None:
        return None
    problem = Problem("release", f"does not hold {broken}", hint="see the report")
    output.failed([problem], Exception())
    return 1


def _broken(report: Report | TablesReport) -> str | None:
    """What a release breaks, if anything."""
    from anonymizer.review.report.content import Report

    if not isinstance(report, Report):
        return None if report.holds else "what it promises"
    if report.verdict.holds:
        return None
    alone = report.verification.passed and (report.attacked is None or report.attacked.alone_holds)
    return "beside the earlier release" if alone else "what it promises"
