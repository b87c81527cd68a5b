"""Privacy models: SQL rules that judge a class (`rule`), and their descriptors (`guarantee`)."""

from __future__ import annotations
