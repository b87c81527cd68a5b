"""PostgreSQL: all work is done in the user's database."""

from anonymizer.engines.registry import EngineDescription

LONGEST = 63
"""Longest name in bytes; Postgres truncates longer ones."""
ENGINE = EngineDescription(
    "postgres",
    libraries=("psycopg",),
    addresses=("postgresql://", "postgres://"),
)
