"""Suggestions of plausible hierarchies for the columns of a table."""
