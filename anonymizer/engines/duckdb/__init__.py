"""DuckDB, embedded in the process."""

from anonymizer.engines.registry import EngineDescription

ENGINE = EngineDescription("duckdb", libraries=("duckdb", "_duckdb"))
