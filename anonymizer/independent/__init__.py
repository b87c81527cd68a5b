"""A second verifier of releases in plain Python, which shares nothing with the verifier in SQL.

It reads a release as rows, decodes every published cell by the published grammar, and judges every
guarantee of the manifest from its definition, with exact fractions and one group after the other.
It is much slower than the verifier's SQL, but short, so that it can be compared with the papers. It
depends on the standard library, on pydantic to read manifests, and on DuckDB to fetch rows.

    python -m anonymizer.independent RELEASE [--view schema.name]
"""

from __future__ import annotations

from anonymizer.independent.fetch import ChangedError, UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.independent.rules import Check, Judgement, NotChecked

__all__ = ["ChangedError", "Check", "Judgement", "NotChecked", "UnreadableError", "judge"]
