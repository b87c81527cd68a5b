"""Additions to a copy of the package, as CONTRIBUTING.md describes them."""
