"""The dbt package, in a copy of its integration project."""
