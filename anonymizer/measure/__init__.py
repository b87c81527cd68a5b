"""Measures of a release: information loss, disclosure figures, error of queries."""

from anonymizer.measure.release import exposure_sql, measure_release

__all__ = ["exposure_sql", "measure_release"]
