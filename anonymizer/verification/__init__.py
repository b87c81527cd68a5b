"""Verification: a second code path that reads the release (and, where stated, the source)."""
