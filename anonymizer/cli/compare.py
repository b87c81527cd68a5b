"""`anonymizer compare`: the effect of a change of policy, or risk against utility over a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from anonymizer.cli import options
from anonymizer.cli.output import Output
from anonymizer.errors import Problem
from anonymizer.process.files import write_text
from anonymizer.process.text import table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy
    from anonymizer.review.grid import Point

MORE = {"loss_quasi": "of persons", "loss_events": "of events", "rows_left_out": "rows left out"}
"""Figures for several tables, with their column headings."""
DRAWN = (".svg", ".png", ".pdf")


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", required=False)
@options.database_option("Database file of the source; not needed where the policies name a file.")
@click.option(
    "--vary",
    metavar="NAME=V,V",
    multiple=True,
    help="Values of an option: k=2,5,10, l=2,3, t=0.1,0.2, algorithm=mondrian,lgb, or a path"
    " in the policy such as algorithm.split=loss,median.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="Write Markdown as well; with --vary a chart: .html (interactive), .svg, .png, .pdf.",
)
@click.option("--test-seed", metavar="N", type=int, help="Seed for ties and shuffles.")
@options.preset_option
@options.limit_options
@partial(options.output_options, forms=("text", "markdown", "json"))
def compare_command(
    output: Output,
    old: str,
    new: str | None,
    database: str | None,
    vary: Sequence[str],
    target: str | None,
    test_seed: int | None,
    preset: str | None,
    limits: Limits,
) -> None:
    """Run the policies OLD and NEW, publish nothing, and show what changes: roles, guarantees,
    suppression, loss per column, risk.

    Exit code 1 if NEW runs and a guarantee does not hold, 2 if it cannot run, or if a column of
    the source is classified by neither policy.

    With --vary in place of NEW: run OLD with every combination of some options, and show what each
    guarantee costs. Risk is the mean chance of picking a person's row in its class; loss is the
    information lost per quasi-identifying cell (NCP). With several tables, the risk is that of an
    observer who also knows one event (two, if a point promises something for two), and the loss of
    an event cell is added. The Pareto front is marked: points that no other beats in both.
    """
    from anonymizer.cli.failures import UsageError

    if (new is None) == (not vary):
        raise UsageError.at("anonymizer compare", "needs one of two", allowed="NEW, --vary")
    before = options.load_policy(old, preset)
    if new is None:
        _over_grid(output, before, database, vary, target, test_seed or 0, limits, old)
    else:
        after = options.load_policy(new, preset)
        _of_two(output, before, after, database, target, test_seed, limits)


def _of_two(
    output: Output,
    before: AnyPolicy,
    after: AnyPolicy,
    database: str | None,
    target: str | None,
    test_seed: int | None,
    limits: Limits,
) -> None:
    from anonymizer.cli.failures import CANNOT
    from anonymizer.process.secret import Seed
    from anonymizer.review.comparison import compare, markdown_lines, text_lines, verdict

    options.check_target(target, policies=[before, after])
    seed = Seed.test(test_seed) if test_seed is not None else None
    found = compare(before, database, other=after, seed=seed, limits=limits)
    if target is not None:
        write_text(target, "\n".join(markdown_lines(found)) + "\n")
    lines = markdown_lines(found) if output.form == "markdown" else text_lines(found)
    broken = Problem("NEW", verdict(found), hint="the column `reached` shows which one")
    output.verdict(
        found.as_dict(),
        lines,
        found.problems or [broken],
        holds=found.new.holds and not found.problems,
        exit_code=CANNOT if found.problems else 1,
    )


def _over_grid(
    output: Output,
    policy: AnyPolicy,
    database: str | None,
    vary: Sequence[str],
    target: str | None,
    test_seed: int,
    limits: Limits,
    name: str,
) -> None:
    from anonymizer.review.grid import sweep

    options.check_target(target, suffixes=(".html", *DRAWN), policies=[policy])
    points = sweep(policy, database, vary=vary, seed=test_seed, limits=limits)
    if target is not None:
        _draw(points, target, name)
    output.result({"points": [p.as_dict() for p in points], "file": target}, lines(points, target))


def lines(points: Sequence[Point], target: str | None) -> Iterator[str]:
    """Every point on a line; points of the Pareto front are marked with a star."""
    parts = next((p.parts for p in points if p.parts is not None), None)
    more = {} if parts is None else MORE
    rows = [
        (
            "*" if p.best else "",
            p.name,
            p.risk,
            p.loss,
            *((p.parts or {}).get(name) for name in more),
            p.suppressed,
            p.classes,
            p.seconds,
            "cannot work" if p.problem else "" if p.holds else "does not hold",
        )
        for p in points
    ]
    heads = ("", "options", "risk", "loss", *more.values(), "left out", "classes", "CPU s", "")
    yield from table(heads, rows)
    yield ""
    yield "* no other point has less risk and less loss"
    if parts is not None:
        known = f" and {parts['knows']}" if parts["knows"] else ""
        yield f"risk: of somebody whose class{known} are known" if known else "risk: in the class"
    for problem in dict.fromkeys(p.problem for p in points if p.problem):
        yield f"cannot work: {problem}"
    if target is not None:
        yield f"wrote {target}"


def _draw(points: Sequence[Point], target: str, policy: str) -> None:
    if target.lower().endswith(".html"):
        from pathlib import Path

        from anonymizer.process.files import write_text
        from anonymizer.review.grid import page

        write_text(target, page(points, Path(policy).name))
        return
    from anonymizer.review.grid import groups
    from anonymizer.review.report import pictures

    front = [
        (p.risk, p.loss) for p in points if p.best and p.risk is not None and p.loss is not None
    ]
    figure_ = pictures.points(
        "Risk against loss of information",
        "mean risk of re-identification",
        "information lost per cell (NCP)",
        list(groups(points)),
        front,
    )
    pictures.save(figure_, target)
