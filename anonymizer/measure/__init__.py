"""Measures of a release: information loss, disclosure figures, error of queries."""

from anonymizer.measure.queries import QueryError, query_error
from anonymizer.measure.release import exposure_sql, measure_release

__all__ = ["QueryError", "exposure_sql", "measure_release", "query_error"]
