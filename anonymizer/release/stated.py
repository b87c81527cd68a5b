"""Recomputes the figures of a manifest that is passed on or quoted."""

from __future__ import annotations

from anonymizer.compile import Table
from anonymizer.contract.tables import in_release
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.release.figures import refuse_other_figures
from anonymizer.release.judge import judge
from anonymizer.release.manifest import Manifest
from anonymizer.release.tables import released_tables
from anonymizer.release.tables_judge import judge_tables
from anonymizer.verification.fast.release import fast_release


def refuse_untrue(engine: DuckDBEngine, view: Table, manifest: Manifest) -> None:
    """Raise GuaranteeError unless the release has the figures stated in its manifest.

    A digest shows that nothing changed since the seal, not that the sealed figures were true.
    """
    layout = manifest.layout
    ask = fast_release(view, layout)
    judged = judge(engine, view, layout, manifest.requirements, ask=ask)
    tables = released_tables(manifest)
    if tables is not None:
        judged += judge_tables(engine, tables, in_release(view))
    refuse_other_figures(engine, view, manifest, judged)
