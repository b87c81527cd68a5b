"""Releases of several tables: observers who know rows, and reports."""

from anonymizer.review.tables.observers import TablesAttack, attack_tables

__all__ = ["TablesAttack", "attack_tables"]
