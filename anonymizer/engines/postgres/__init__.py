"""PostgreSQL: all work is done in the user's database."""

from anonymizer.engines.registry import EngineDescription

ENGINE = EngineDescription(
    "postgres",
    libraries=("psycopg",),
    addresses=("postgresql://", "postgres://"),
    recursive=False,
    numeric_draws=False,
)
