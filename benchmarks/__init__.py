"""Benchmarks: the papers' experiments rerun, and the tool beside its peers."""
