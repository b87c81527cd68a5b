"""Aggregate releases: tables of counts and sums, and what their figures give away."""
