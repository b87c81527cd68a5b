"""Dividing a large table into parts, each of which is solved as a problem of its own."""
