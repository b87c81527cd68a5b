"""Spark: rows are processed in a Spark session."""

from anonymizer.engines.registry import EngineDescription

ENGINE = EngineDescription("spark", libraries=("pyspark",))
