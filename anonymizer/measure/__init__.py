"""Measures of a release: information loss, disclosure figures, error of queries."""

from anonymizer.measure.loss import exposure_sql, measure_release
from anonymizer.measure.queries import QueryError, query_error

__all__ = ["QueryError", "exposure_sql", "measure_release", "query_error"]
