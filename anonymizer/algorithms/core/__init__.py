"""Deals units to classes in which every sensitive value has about its share of the table."""

from __future__ import annotations
