"""The DuckDB macros that people load by hand."""
