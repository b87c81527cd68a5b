"""Tests on DuckDB."""
