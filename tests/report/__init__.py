"""The report of a release."""
