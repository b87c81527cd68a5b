"""Engines: they execute the statements."""
