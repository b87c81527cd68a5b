"""Additions to a copy of the package, as its pages describe them."""
