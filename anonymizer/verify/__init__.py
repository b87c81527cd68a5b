"""Verification: a second code path that reads the release (and, where stated, the source)."""

from anonymizer.verify.release import check_sql, verify_release
from anonymizer.verify.requirements import requirements_of, with_paths, with_paths_of
from anonymizer.verify.result import Check, RunSql, Verification

__all__ = [
    "Check",
    "RunSql",
    "Verification",
    "check_sql",
    "requirements_of",
    "verify_release",
    "with_paths",
    "with_paths_of",
]
