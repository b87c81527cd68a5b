"""Divides a large table into parts, which are solved separately."""
