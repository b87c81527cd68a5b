"""Anonymize tables of people inside the database: policy, compiled SQL, verified release."""

__version__ = "0.1.0"
