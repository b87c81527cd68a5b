"""The servers of other engines, as for the tests of the backends."""

from tests.backends.conftest import postgres, spark, spark_session

__all__ = ["postgres", "spark", "spark_session"]
