"""Masks: replacements of values before publication."""
