"""Engines: where statements run."""
