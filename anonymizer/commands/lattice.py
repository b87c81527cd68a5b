"""`anonymizer lattice`: every node of the generalization lattice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.process.files import write_text
from anonymizer.process.text import figure, many, table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.review.lattice import LatticeTable

MOST_LINES = 40


@click.command()
@options.policy_argument
@options.database_option("Database file of the source; not needed where the policy names a file.")
@options.preset_option
@click.option(
    "--measure",
    type=click.Choice(["ncp", "glm", "distortion", "dcp"]),
    help="Measure of the Pareto front and the optimum; default: the policy's, else ncp.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write all nodes (.csv or .json).")
@click.option("--plot", metavar="FILE", help="Draw k against cost (.png, .svg, .pdf).")
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    preset: str | None,
    measure: str | None,
    target: str | None,
    plot: str | None,
    limits: Limits,
) -> None:
    """Judge every node of the generalization lattice of POLICY's hierarchies; publish nothing.

    Shows k against cost of the nodes on the Pareto front, and the node that full_domain would
    publish under the policy's guarantees and suppression limit.
    """
    from anonymizer.commands.progress import progress
    from anonymizer.review.lattice import lattice_table

    loaded = options.load_policy(policy, preset)
    options.check_target(target, suffixes=(".csv", ".json"), policies=[loaded])
    options.check_target(plot, "--plot", suffixes=(".png", ".svg", ".pdf"), policies=[loaded])
    with progress(output) as listener:
        found = lattice_table(loaded, database, measure=measure, limits=limits, listener=listener)
    if target is not None:
        write_text(target, found.json() if target.endswith(".json") else found.csv())
    if plot is not None:
        found.plot(Path(plot))
    output.result(found.as_dict(), _lines(found, target, plot))


def _lines(found: LatticeTable, target: str | None, plot: str | None) -> Iterator[str]:
    front = found.front
    holding = sum(node["holds"] for node in found.nodes)
    yield f"{many(len(found.rows), 'node')}, {holding:,} of them hold the policy's guarantees"
    best = found.optimum
    if best is None:
        yield "no node holds: a run would fail"
    else:
        yield (
            f"optimum by {found.measure}: {_levels(best)}, {many(best['suppressed'], 'row')}"
            f" suppressed, {found.measure} {figure(best[f'published_{found.measure}'])}"
        )
    yield ""
    shown = front[:: max(len(front) // MOST_LINES, 1)]
    yield f"Pareto front, nothing suppressed: {many(len(front), 'node')}"
    head = ["k", "classes", "ncp", "distortion", "dcp", *found.columns]
    yield from table(head, (_row(node) for node in shown))
    for file in (target, plot):
        if file is not None:
            yield f"wrote {file}"


def _levels(node: dict[str, Any]) -> str:
    return ", ".join(f"{column} {level}" for column, level in node["levels"].items())


def _row(node: dict[str, Any]) -> list[str]:
    figures = [figure(node[name]) for name in ("k", "classes", "ncp", "distortion", "dcp")]
    return [*figures, *(str(level) for level in node["levels"].values())]
