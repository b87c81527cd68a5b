"""Recomputes the figures of a manifest that is passed on or quoted."""

from __future__ import annotations

from anonymizer.compile import Table
from anonymizer.contract.tables import in_release
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Policy
from anonymizer.release.figures import refuse_other_figures
from anonymizer.release.judge import judge
from anonymizer.release.manifest import Manifest
from anonymizer.release.population import members_at_hand
from anonymizer.release.tables import released_tables
from anonymizer.release.tables_judge import judge_tables
from anonymizer.verification.fast.release import fast_release


def refuse_untrue(engine: DuckDBEngine, view: Table, manifest: Manifest, policy: Policy) -> None:
    """Raise GuaranteeError unless the release has the figures stated in its manifest.

    A digest shows that nothing changed since the seal, not that the sealed figures were true.
    `policy`: with the path of the available population.
    """
    layout = manifest.layout
    ask = fast_release(view, layout)
    members = members_at_hand(policy, engine, layout)
    judged = judge(engine, view, layout, manifest.requirements, members, ask)
    tables = released_tables(manifest)
    if tables is not None:
        judged += judge_tables(engine, tables, in_release(view))
    refuse_other_figures(engine, view, manifest, judged)
    # (in a population that is not that of the run)
    GuaranteeError.refuse(
        Problem(check.name, "does not hold", hint="verify shows the figures")
        for check in judged.failed
    )
