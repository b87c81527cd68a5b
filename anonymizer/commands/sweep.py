"""`anonymizer sweep`: risk against utility over a grid of options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.process.text import table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.sweep import Point

MORE = {"loss_quasi": "of persons", "loss_events": "of events", "rows_left_out": "rows left out"}
"""Figures for several tables, with their column headings."""
DRAWN = (".svg", ".png", ".pdf")


@click.command()
@options.policy_argument
@options.database_option("Database file of the source; not needed if the policy names a file.")
@click.option(
    "--vary",
    metavar="NAME=V,V",
    multiple=True,
    required=True,
    help="Values of an option: k=2,5,10, l=2,3, t=0.1,0.2, algorithm=mondrian,lgb, or a path"
    " in the policy such as algorithm.split=loss,median.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="Write a chart: .html (interactive), .svg, .png or .pdf.",
)
@click.option("--test-seed", metavar="N", type=int, default=0, help="Seed for ties and shuffles.")
@options.preset_option
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    vary: Sequence[str],
    target: str | None,
    test_seed: int,
    preset: str | None,
    limits: Limits,
) -> None:
    """Run POLICY with every combination of some options, and show what each guarantee costs.

    Risk is the mean chance of picking a person's row in its class; loss is the information lost per
    quasi-identifying cell (NCP). With several tables, the risk is that of an observer who also
    knows one event (two, if a point promises something for two), and the loss of an event cell is
    added. The Pareto front is marked: points that no other beats in both. Nothing is published.
    """
    from anonymizer.review.sweep import sweep

    loaded = options.load_policy(policy, preset)
    options.check_target(target, suffixes=(".html", *DRAWN), policies=[loaded])
    points = sweep(loaded, database, vary=vary, seed=test_seed, limits=limits)
    if target is not None:
        _draw(points, target, policy)
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
        from anonymizer.review.sweep.page import page

        write_text(target, page(points, Path(policy).name))
        return
    from anonymizer.review.report import pictures
    from anonymizer.review.sweep import groups

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
