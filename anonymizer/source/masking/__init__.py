"""Masks: what is published in the place of values."""
