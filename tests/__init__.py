"""Tests of the package. Shared helpers are imported as `tests.…`."""
