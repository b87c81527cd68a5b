"""Every node of a policy's generalization lattice: k, cost, and whether the policy holds.

Yaseen et al. (2018) plot k of every node against its distortion. Here each node has k, its number
of classes, and NCP, GLM, distortion ratio and discernibility penalty without suppression, whether
the policy's guarantees hold within its suppression limit, and its loss in that case. Nothing is
published, and no row leaves the database.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.errors import EngineError, PolicyError, Problem
from anonymizer.policy.paths import column_path
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.engines.execute import Listener
    from anonymizer.engines.session import Database
    from anonymizer.policy import AnyPolicy, Policy

MEASURES = ("ncp", "glm", "distortion", "dcp")
FORMS = (".csv", ".json", ".png", ".svg", ".pdf")


@dataclass(frozen=True, slots=True)
class LatticeTable:
    """All nodes, ordered by their levels."""

    columns: tuple[str, ...]
    """The quasi-identifiers; a node has one level for each, and level 0 is the original values."""
    measure: str
    """The measure that determines the Pareto front and the optimum."""
    names: tuple[str, ...]
    """Names of the figures of a node: its levels, then the columns of `table`."""
    rows: tuple[tuple[Any, ...], ...]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Every node as a mapping from names to figures; `levels` by column."""
        width = len(self.columns)
        return [
            {
                "levels": dict(zip(self.columns, row[:width], strict=True)),
                **dict(zip(self.names[width:], row[width:], strict=True)),
            }
            for row in self.rows
        ]

    @property
    def front(self) -> list[dict[str, Any]]:
        """The nodes that no other node beats in both k and the measure, k ascending."""
        return sorted((n for n in self.nodes if n["pareto"]), key=lambda n: int(n["k"]))

    @property
    def optimum(self) -> dict[str, Any] | None:
        """The node that a run would publish; None if no node holds."""
        return next((node for node in self.nodes if node["optimum"]), None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "measure": self.measure,
            "optimum": self.optimum,
            "pareto": self.front,
            "nodes": self.nodes,
        }

    def write(self, path: Path) -> None:
        """Write one line per node, all figures as JSON, or a plot, by the suffix of the file."""
        form = path.suffix.lower()
        if form == ".json":
            write_text(str(path), json.dumps(self.as_dict(), indent=1) + "\n")
        elif form == ".csv":
            text = StringIO()
            csv.writer(text, lineterminator="\n").writerows([self.names, *self.rows])
            write_text(str(path), text.getvalue())
        else:
            self.plot(path)

    def plot(self, path: Path) -> None:
        """Plot k of every node against its cost. Raises EngineError without matplotlib."""
        try:
            import matplotlib
        except ImportError:
            hint = "pip install 'sql-anonymizer[report]'"
            raise EngineError(Problem("-o", "needs matplotlib", hint=hint)) from None
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        nodes, front = self.nodes, self.front
        cost = self.measure
        axes.scatter([n[cost] for n in nodes], [n["k"] for n in nodes], s=6, alpha=0.4)
        axes.plot([n[cost] for n in front], [n["k"] for n in front], "o-", ms=3, label="front")
        axes.set(xlabel=cost, ylabel="k (smallest class)", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(path, dpi=120)
        plt.close(figure)


def lattice_table(
    policy: AnyPolicy,
    database: Database = None,
    *,
    measure: str | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
) -> LatticeTable:
    """Evaluate every node of the lattice of a policy's hierarchies.

    Any algorithm of the policy is accepted: only the hierarchies of its quasi-identifiers, its
    guarantees and its suppression limit are used. `measure` (ncp, glm, distortion, dcp; default:
    the `optimum` of full_domain, else ncp) decides front and optimum. Raises what `plan` raises.
    """
    from anonymizer.algorithms.full_domain import lattice_stages
    from anonymizer.algorithms.lattice.recode import ONE
    from anonymizer.algorithms.lattice.search import refuse_large
    from anonymizer.compile import lit, render
    from anonymizer.engines.duckdb.source import open_session
    from anonymizer.engines.execute import Executor
    from anonymizer.process.secret import Seed
    from anonymizer.run.prepare import prepare
    from anonymizer.source.masking.masks import bound_values

    policy, by = _over_levels(policy.one_table("plan --lattice"), measure)
    with open_session(policy, database, limits=limits) as session:
        session.engine.binds = bound_values(policy, Seed.fresh().secret)
        executor = Executor(session.engine, listener)
        prepared = prepare(policy, session, executor)
        refuse_large(prepared.profile.shapes)
        context, _, stages = lattice_stages(policy, prepared.profile, prepared.roles, pruned=False)
        executor.run(stages)
        quasi = prepared.roles.quasi
        parameters = {
            **context,
            "cells": lit(float(sum(a.scaled_loss(ONE) for a in quasi))),
            "heights": lit(float(max(sum(a.height * a.scaled_loss(ONE) for a in quasi), ONE))),
            "measure": by,
        }
        text = render("lattice/table", parameters).text
        rows = session.engine.raw(text, "lattice")
        names = [name for name, _ in session.engine.describe(f"({text})", "lattice")]
    columns = tuple(a.column for a in quasi)
    shown = (*(f"level.{column}" for column in columns), *names[len(columns) :])
    return LatticeTable(columns, by, shown, tuple(rows))


def _over_levels(policy: Policy, measure: str | None) -> tuple[Policy, str]:
    """The policy with algorithm full_domain, and the table's name of the measure."""
    from anonymizer.policy import FullDomain

    named = measure or (
        policy.algorithm.optimum if isinstance(policy.algorithm, FullDomain) else "ncp"
    )
    by = "dcp" if named == "c_dm" else named
    if by not in MEASURES:
        raise PolicyError(Problem("--measure", "is not a measure", allowed=", ".join(MEASURES)))
    missing = without_hierarchy(policy)
    if missing:
        raise PolicyError(missing)
    algorithm = FullDomain.model_validate({"name": "full_domain", "optimum": by})
    return policy.model_copy(update={"algorithm": algorithm}), by


def without_hierarchy(policy: Policy) -> Sequence[Problem]:
    """Why a policy has no lattice: quasi-identifiers without a hierarchy; empty if it has one."""
    if not policy.quasi:
        return [Problem("columns", "has no quasi column, so there is no lattice")]
    return [
        Problem(
            column_path(name, "hierarchy"),
            "is missing: the lattice is made of hierarchies",
            hint="hierarchy: {builder: …}, or {file: tree.csv}",
        )
        for name in policy.quasi
        if policy.columns[name].hierarchy is None
    ]
