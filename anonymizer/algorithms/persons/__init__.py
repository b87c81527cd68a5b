"""Shared parts of algorithms that work on persons: units, boxes, and the judging of groups."""
